//! Curves with known truth and known noise.

use model::CurvePoint;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// About `many` sizes from 1 to `to`, evenly on a logarithmic axis.
pub fn sizes(to: f64, many: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..many).map(|i| to.powf(i as f64 / (many - 1) as f64).round() as u64).collect();
    all.dedup();
    all
}

/// A curve in 10 rounds: noise that a round has at all sizes, and noise of each point.
pub struct Noisy {
    rng: ChaCha8Rng,
    /// Log standard deviation of a round, at all sizes alike.
    pub common: f64,
    /// Log standard deviation of each size by itself.
    pub own: f64,
}

impl Noisy {
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), common: 0.02, own: 0.01 }
    }

    pub fn normal(&mut self) -> f64 {
        stats::normal(&mut self.rng)
    }

    pub fn curve(&mut self, sizes: &[u64], time: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
        let levels: Vec<f64> = (0..10).map(|_| (self.common * self.normal()).exp()).collect();
        sizes
            .iter()
            .map(|&size| {
                let rounds: Vec<(u32, f64)> = (0..10)
                    .map(|b| (b, time(size as f64) * levels[b as usize] * (self.own * self.normal()).exp()))
                    .collect();
                let seconds = stats::median(&rounds.iter().map(|b| b.1).collect::<Vec<_>>());
                CurvePoint::of(size, seconds, rounds)
            })
            .collect()
    }
}
