//! States that each size has of its own and that last for some rounds: how much they add to the standard error of medians.
//!
//! The rounds of one size estimate the correlation of neighbours poorly; those of all sizes together do it well. Each size's rounds are
//! taken about their own mean, which makes neighbours look less alike than they are (Kendall 1954) and hides the variance of the mean
//! itself. So the correlations seen are compared with those that a first-order autoregression among independent noise would show about its
//! own mean. Rounds that are as alike at a distance of two rounds as of one are states among much noise, and such states last longer than
//! the correlation of neighbours alone says.

use crate::basic::{mean, median};
use crate::spread::pooled_log_sigma;

/// Standard errors beyond which a pooled correlation is not taken for chance, and the largest correlation that is used.
const SURE: f64 = 3.0;
const MOST_ALIKE: f64 = 0.95;

/// A round farther from its median than so many standard deviations of all sizes' noise is clamped to that distance.
const FAR: f64 = 3.0;

/// Lags, in rounds, at which the correlation is computed: one and two.
const LAGS: usize = 2;

/// Bisection steps of the search for a correlation.
const HALVINGS: usize = 30;

/// Standard error of the medians of such values, in order of time, over that of independent rounds
/// ([`Shared::lasting`](crate::Shared::lasting)): by the correlation of a size's neighbouring rounds, pooled over all sizes. 1 where that
/// may be chance.
pub(crate) fn lasting(points: &[Vec<f64>]) -> f64 {
    let scale = pooled_log_sigma(points);
    if scale <= 0.0 {
        return 1.0;
    }
    let (mut products, mut squares, mut pairs, mut rounds, mut sizes) = ([0.0; LAGS], 0.0, 0.0, 0.0, 0.0);
    let mut of_squares = 0.0;
    for times in points.iter().filter(|t| t.len() >= 4 && t.iter().all(|t| *t > 0.0)) {
        let series = about_mean(times, FAR * scale);
        for (sum, lag) in products.iter_mut().zip(1..) {
            *sum += series.iter().zip(&series[lag..]).map(|(a, b)| a * b).sum::<f64>();
        }
        let own: f64 = series.iter().map(|l| l * l).sum();
        (squares, of_squares) = (squares + own, of_squares + own * own);
        pairs += (series.len() - 1) as f64;
        rounds += series.len() as f64;
        sizes += 1.0;
    }
    if squares <= 0.0 {
        return 1.0;
    }
    let seen = products.map(|sum| sum / squares);
    let first_order = seen[0] + (1.0 + 3.0 * seen[0]) * sizes / rounds;
    // Effective number of pairs: where a few sizes vary more than the others, the sums are mostly theirs.
    let telling = pairs * squares * squares / (sizes * of_squares);
    if first_order <= SURE / telling.sqrt() {
        return 1.0;
    }
    let rounds = (rounds / sizes).round() as i32;
    Mixed::of(seen, rounds).lasting(rounds)
}

/// The logarithms of a size's rounds about their mean, after clamping to `far` about their median: one very long delay must count as one
/// round.
fn about_mean(times: &[f64], far: f64) -> Vec<f64> {
    let logs: Vec<f64> = times.iter().map(|t| t.ln()).collect();
    let middle = median(&logs);
    let near: Vec<f64> = logs.iter().map(|l| (l - middle).clamp(-far, far)).collect();
    let centre = mean(&near);
    near.into_iter().map(|l| l - centre).collect()
}

/// Expected sums of a stationary series of variance 1 that is taken about its own mean.
#[derive(Debug, Clone, Copy)]
struct Shown {
    /// Variance of the mean.
    of_mean: f64,
    /// Expected sum of the products at each lag, and of the squares.
    products: [f64; LAGS],
    squares: f64,
}

impl Shown {
    /// Of a first-order autoregression with correlation `alike` over so many rounds; independent where it is 0.
    fn of(alike: f64, rounds: i32) -> Self {
        let n = f64::from(rounds);
        let with_mean = |t: i32| (1.0 + alike - alike.powi(t + 1) - alike.powi(rounds - t)) / (1.0 - alike) / n;
        let of_mean = (0..rounds).map(with_mean).sum::<f64>() / n;
        let product = |lag: i32, t: i32| alike.powi(lag) - with_mean(t) - with_mean(t + lag) + of_mean;
        let products = std::array::from_fn(|i| {
            let lag = i as i32 + 1;
            (0..rounds - lag).map(|t| product(lag, t)).sum()
        });
        Self { of_mean, products, squares: n * (1.0 - of_mean) }
    }

    /// Of the sum of two independent series, of which the second has this share of the variance.
    fn with(self, other: Self, share: f64) -> Self {
        let mix = |a: f64, b: f64| a + share * (b - a);
        Self {
            of_mean: mix(self.of_mean, other.of_mean),
            products: std::array::from_fn(|i| mix(self.products[i], other.products[i])),
            squares: mix(self.squares, other.squares),
        }
    }

    fn correlation(&self, lag: usize) -> f64 {
        self.products[lag - 1] / self.squares
    }
}

/// States among independent noise.
#[derive(Debug, Clone, Copy)]
struct Mixed(Shown);

impl Mixed {
    /// The mixture that shows the correlation seen at lag one, and comes nearest to the one seen at lag two.
    fn of(seen: [f64; LAGS], rounds: i32) -> Self {
        let noise = Shown::of(0.0, rounds);
        let without_noise = bisected(0.0, |alike| Shown::of(alike, rounds).correlation(1) < seen[0]);
        let among_noise = |alike: f64| {
            let states = Shown::of(alike, rounds);
            // The share of states at which the first correlation is the one seen.
            let excess = |s: &Shown| s.products[0] - seen[0] * s.squares;
            let share = excess(&noise) / (excess(&noise) - excess(&states));
            noise.with(states, if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 })
        };
        Self(among_noise(bisected(without_noise, |alike| among_noise(alike).correlation(2) < seen[1])))
    }

    /// Standard error of the mean over that of independent rounds of the same spread.
    fn lasting(&self, rounds: i32) -> f64 {
        // The spread about the mean lacks the variance of the mean.
        (f64::from(rounds - 1) * self.0.of_mean / (1.0 - self.0.of_mean)).max(1.0).sqrt()
    }
}

/// By bisection: the correlation, from `least` on, up to which `more` holds.
fn bisected(least: f64, more: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (least, MOST_ALIKE);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if more(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Forty sizes of so many rounds, each an autoregression of its own, and independent noise of so many times its spread.
    fn sizes(rng: &mut ChaCha8Rng, n: usize, alike: f64, noise: f64) -> Vec<Vec<f64>> {
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let mut one = || {
            let mut state = normal();
            let mut next = || {
                state = alike * state + (1.0 - alike * alike).sqrt() * normal();
                (0.05 * (state + noise * normal())).exp()
            };
            (0..n).map(|_| next()).collect::<Vec<f64>>()
        };
        (0..40).map(|_| one()).collect()
    }

    #[test]
    fn states_that_each_size_has_of_its_own_are_told_where_they_last() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for n in [9, 30] {
            assert!((0..100).filter(|_| lasting(&sizes(&mut rng, n, 0.0, 0.0)) > 1.0).count() <= 2, "{n}");
        }
        assert_eq!(lasting(&[]), 1.0);
    }

    #[test]
    fn nine_rounds_tell_as_much_as_thirty_of_how_far_medians_err() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for (n, alike, noise) in
            [(9, 0.5, 0.0), (9, 0.8, 0.0), (30, 0.5, 0.0), (30, 0.8, 0.0), (9, 0.8, 0.5), (30, 0.8, 1.0)]
        {
            // What is asked for: how far means stray, beside what the rounds of one size say of it.
            let (mut strayed, mut told) = (0.0, 0.0);
            for point in (0..100).flat_map(|_| sizes(&mut rng, n, alike, noise)) {
                let logs: Vec<f64> = point.iter().map(|t| t.ln()).collect();
                strayed += crate::mean(&logs).powi(2);
                told += crate::variance(&logs) / n as f64;
            }
            let truth = (strayed / told).sqrt();
            let all: Vec<f64> = (0..100).map(|_| lasting(&sizes(&mut rng, n, alike, noise))).collect();
            let found = crate::median(&all);
            println!("{n} rounds, {alike}, {noise}: {found:.2} of {truth:.2}");
            assert!((0.85..1.2).contains(&(found / truth)), "{n} rounds, {alike}, {noise}: {found:.2} of {truth:.2}");
        }
    }
}
