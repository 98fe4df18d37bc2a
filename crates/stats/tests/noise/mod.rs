//! Seeded noise for the simulations.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct Noise(ChaCha8Rng);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        stats::normal(&mut self.0)
    }

    /// Log-normal about 1.
    pub fn log_normal(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal()).exp()
    }

    /// Log-normal about 1, but one in ten lies 3 to 9 sigma too high: what a busy machine does.
    #[allow(dead_code, reason = "not every test program draws from it")]
    pub fn contaminated(&mut self, sigma: f64) -> f64 {
        let clean = self.log_normal(sigma);
        if self.uniform() < 0.1 { clean * (1.0 + sigma * (3.0 + 6.0 * self.uniform())) } else { clean }
    }
}
