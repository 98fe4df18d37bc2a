//! The bootstrap (Efron 1979, Annals of Statistics 7:1-26): how far an estimate varies when its pairs or rounds are drawn again with
//! replacement.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::CONFIDENCE;
use crate::basic::{median, median_in_place, quantile};
use crate::interval::{Interval, median_interval};

/// Draws `n` of `n` things with replacement: fills `drawn` with that many indices below `n`.
pub fn draw(rng: &mut impl Rng, n: usize, drawn: &mut Vec<usize>) {
    drawn.clear();
    drawn.extend((0..n).map(|_| rng.random_range(0..n)));
}

/// A normal value of mean 0 and standard deviation 1 (Box and Muller 1958).
pub fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// How two interleaved series compare: the median of first / second over the pairs, and its 95% interval by
/// bootstrap over the pairs (percentiles of `resamples` medians, at least 100 of them, ChaCha8 from `seed`). Pairing
/// cancels drift that both sides saw.
///
/// Fewer than six pairs cannot bound a median at 95% by resampling, so theirs is [`median_interval`]. Pairs without a
/// finite positive ratio are left out; without any: NaN and [`Interval::UNBOUNDED`].
pub fn bootstrap_ratio(pairs: &[(f64, f64)], resamples: u32, seed: u64) -> (f64, Interval) {
    let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).filter(|r| r.is_finite() && *r > 0.0).collect();
    let middle = median(&ratios);
    if ratios.len() < 6 {
        return (middle, median_interval(&ratios, CONFIDENCE));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(ratios.len());
    let mut values = Vec::with_capacity(ratios.len());
    let medians: Vec<f64> = (0..resamples.max(100))
        .map(|_| {
            draw(&mut rng, ratios.len(), &mut drawn);
            values.clear();
            values.extend(drawn.iter().map(|i| ratios[*i]));
            median_in_place(&mut values)
        })
        .collect();
    (middle, Interval { low: quantile(&medians, 0.025).min(middle), high: quantile(&medians, 0.975).max(middle) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paired_ratios_survive_a_drift_of_both_sides() {
        let pairs: Vec<(f64, f64)> = (1..=20).map(|i| (1.1 * f64::from(i), f64::from(i))).collect();
        let (ratio, interval) = bootstrap_ratio(&pairs, 1000, 1);
        assert!((ratio - 1.1).abs() < 1e-12);
        assert!((interval.low - 1.1).abs() < 1e-12 && (interval.high - 1.1).abs() < 1e-12);
    }

    #[test]
    fn the_seed_decides_the_draws() {
        let pairs: Vec<(f64, f64)> = (0..30).map(|i| (1.0 + f64::from(i * 7 % 30) / 100.0, 1.0)).collect();
        assert_eq!(bootstrap_ratio(&pairs, 500, 3), bootstrap_ratio(&pairs, 500, 3));
        let ends: Vec<Interval> = (0..20).map(|seed| bootstrap_ratio(&pairs, 100, seed).1).collect();
        assert!(ends.iter().any(|e| *e != ends[0]), "every seed drew the same");
    }

    #[test]
    fn few_or_unusable_pairs_bound_little() {
        let (ratio, interval) = bootstrap_ratio(&[], 1000, 1);
        assert!(ratio.is_nan() && interval == Interval::UNBOUNDED);
        let (ratio, interval) = bootstrap_ratio(&[(1.0, 0.0), (0.0, 0.0), (3.0, 2.0)], 1000, 1);
        assert_eq!((ratio, interval), (1.5, Interval::UNBOUNDED));
        let (_, three) = bootstrap_ratio(&[(1.0, 1.0), (1.1, 1.0), (1.2, 1.0)], 1000, 1);
        assert!(three.low < 0.9 && three.high > 1.3, "three pairs looked too sure: {three:?}");
    }
}
