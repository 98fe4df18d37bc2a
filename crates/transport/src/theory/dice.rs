//! Noise and loss from a seed. The same seed and the same operations give the same draws on every machine.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Theory;

/// Streams of the generator, so that turning noise on doesn't change which messages are lost.
const NOISE: u64 = 0;
const LOSS: u64 = 1;
const CONNECTIONS: u64 = 2;

/// What chance decides about a path.
#[derive(Debug, Clone)]
pub(super) struct Dice {
    seed: u64,
    sigma: f64,
    round_sigma: f64,
    loss: f64,
    noise_draws: ChaCha8Rng,
    loss_draws: ChaCha8Rng,
    connection: f64,
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

impl Dice {
    /// Fresh dice; the connection is number 0.
    pub fn new(theory: &Theory) -> Self {
        let mut dice = Self {
            seed: theory.seed,
            sigma: theory.noise,
            round_sigma: theory.block_noise,
            loss: theory.loss,
            noise_draws: stream(theory.seed, NOISE),
            loss_draws: stream(theory.seed, LOSS),
            connection: 1.0,
        };
        dice.connect(0);
        dice
    }

    /// Draws what connection `number` has in common, from the seed and the number alone. The noise of single messages
    /// goes on from where it was, so a number used twice doesn't repeat it.
    pub fn connect(&mut self, number: u64) {
        self.connection = if self.round_sigma > 0.0 {
            let mut rng = stream(self.seed, CONNECTIONS.wrapping_add(number));
            (self.round_sigma * normal(&mut rng)).exp()
        } else {
            1.0
        };
    }

    /// The factor of the next message's time: log-normal with median 1, times the connection's.
    #[inline]
    pub fn factor(&mut self) -> f64 {
        if self.sigma > 0.0 {
            (self.sigma * normal(&mut self.noise_draws)).exp() * self.connection
        } else {
            self.connection
        }
    }

    /// Whether the next message is lost.
    #[inline]
    pub fn lost(&mut self) -> bool {
        self.loss > 0.0 && self.loss_draws.random::<f64>() < self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of the logarithms.
    fn log_moments(draws: impl Iterator<Item = f64>) -> (f64, f64) {
        let logs: Vec<f64> = draws.map(f64::ln).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (logs.len() - 1) as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn block_noise_has_the_spread_asked_for_and_median_one() {
        let mut dice = Dice::new(&Theory { noise: 0.02, ..Theory::default() });
        let (mean, sigma) = log_moments((0..20_000).map(|_| dice.factor()));
        assert!(mean.abs() < 0.001 && (sigma - 0.02).abs() < 0.001, "{mean} {sigma}");
    }

    #[test]
    fn connections_differ_by_the_spread_asked_for_and_keep_their_factor() {
        let mut dice = Dice::new(&Theory { block_noise: 0.05, ..Theory::default() });
        let (mean, sigma) = log_moments((0..5_000).map(|number| {
            dice.connect(number);
            let factor = dice.factor();
            assert_eq!(dice.factor(), factor, "one connection has one factor");
            factor
        }));
        assert!(mean.abs() < 0.005 && (sigma - 0.05).abs() < 0.005, "{mean} {sigma}");
        dice.connect(17);
        let first = dice.factor();
        dice.connect(18);
        assert_ne!(dice.factor(), first);
        dice.connect(17);
        assert_eq!(dice.factor(), first, "the number alone decides");
    }

    #[test]
    fn the_share_of_losses_is_the_one_asked_for_and_noise_does_not_change_which() {
        let quiet = Theory { loss: 0.03, seed: 5, ..Theory::default() };
        let noisy = Theory { noise: 0.1, ..quiet.clone() };
        let fates = |theory: &Theory| {
            let mut dice = Dice::new(theory);
            (0..50_000)
                .map(|_| {
                    dice.factor();
                    dice.lost()
                })
                .collect::<Vec<_>>()
        };
        let (a, b) = (fates(&quiet), fates(&noisy));
        assert_eq!(a, b);
        let share = a.iter().filter(|l| **l).count() as f64 / a.len() as f64;
        assert!((share - 0.03).abs() < 0.003, "{share}");
        assert_ne!(a, fates(&Theory { seed: 6, ..quiet }));
    }
}
