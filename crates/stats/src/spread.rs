//! The spread of a point's rounds and the standard error of its median: from its own rounds and those of all points.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::basic::{median_in_place, variance};
use crate::student::student_t;

/// Degrees of freedom that the pooled spread of the neighbouring sizes counts for.
const SHARED_DEGREES: f64 = 8.0;

/// A standard error and how well it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StandardError {
    /// The standard error.
    pub value: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

impl StandardError {
    /// The error of a sum of independent parts, each a variance and its degrees of freedom: it is as well known as its least known
    /// large part (Satterthwaite 1946).
    pub fn of_sum(parts: &[(f64, f64)]) -> Self {
        let variance: f64 = parts.iter().map(|p| p.0).sum();
        let degrees = variance * variance / parts.iter().map(|p| p.0 * p.0 / p.1.max(1.0)).sum::<f64>();
        // Certain parts have unlimited degrees of freedom; an unknown one counts as one.
        let degrees = match degrees {
            d if d.is_finite() => d,
            _ if variance.is_finite() && variance > 0.0 => 1e9,
            _ => 1.0,
        };
        Self { value: variance.sqrt(), degrees }
    }

    /// This standard deviation, a point's own, pooled with `shared`, that of its neighbours or of all points. `shared` counts for some
    /// degrees of freedom, and for fewer the more the own one exceeds it; the result is never below `shared`.
    pub(crate) fn beside(self, shared: f64) -> Self {
        let shared_degrees = match shared {
            0.0 => 0.0,
            s if self.value <= s => SHARED_DEGREES,
            s => SHARED_DEGREES * (s / self.value).powi(2),
        };
        let degrees = self.degrees + shared_degrees;
        if degrees <= 0.0 {
            return Self::default();
        }
        let squares = self.degrees * self.value * self.value + shared_degrees * shared * shared;
        Self { value: (squares / degrees).sqrt().max(shared), degrees }
    }

    /// What is left after `variance`, a part of this one's, is subtracted: the smaller the rest, the fewer its degrees of freedom.
    pub fn without(self, variance: f64) -> Self {
        let all = self.value * self.value;
        let rest = (all - variance).max(0.0);
        let share = if all > 0.0 { rest / all } else { 0.0 };
        Self { value: rest.sqrt(), degrees: self.degrees * share * share }
    }

    /// The error of the mean of independent values: unknown of one, and of none.
    pub fn of_mean(values: &[f64]) -> Self {
        let k = values.len() as f64;
        Self { value: (variance(values) / k).sqrt(), degrees: k - 1.0 }
    }

    /// How far the truth may lie off at `confidence` (0 to 1, either way, Student's t). 0 where there is no error, however well it is known.
    pub fn reach(self, confidence: f64) -> f64 {
        if self.value == 0.0 { 0.0 } else { student_t(confidence, self.degrees) * self.value }
    }

    /// Upper limit of this error at `confidence` (0 to 1, one-sided, chi-squared): an error known with few degrees of freedom may have come
    /// out too small by chance. Infinite where nothing bounds it.
    pub fn at_most(self, confidence: f64) -> f64 {
        if self.value <= 0.0 {
            return 0.0;
        }
        let least = ChiSquared::new(self.degrees).map_or(0.0, |chi| chi.inverse_cdf(1.0 - confidence.clamp(0.0, 1.0)));
        if least > 0.0 { self.value * (self.degrees / least).sqrt() } else { f64::INFINITY }
    }
}

/// Standard error of the logarithm of the median of `rounds`, from their own spread and that of all points of the path
/// (`shared_sigma`, [`pooled_log_sigma`]; 0 if unknown): [`log_spread`] times the standard error of the median of as many
/// normal values of spread 1. None without any round, with one and no shared spread, or with values of 0 or less.
pub fn median_log_error(rounds: &[f64], shared_sigma: f64) -> Option<StandardError> {
    let spread = log_spread(rounds, shared_sigma)?;
    Some(StandardError { value: spread.value * median_error(rounds.len()), ..spread })
}

/// The standard deviation of the logarithms of `rounds`:
///
/// - the point's own, with the one round that lies farthest from the median counted only as far out as the next one if there
///   are five rounds or more: a lone outlier does not move a median, so it must not widen an interval of one;
/// - pooled with `shared_sigma`, which counts as 8 degrees and less the more the point's own spread exceeds it: a point may be
///   noisier than the others (at a buffer's edge it is), and its own rounds then speak for it;
/// - but never below `shared_sigma`: three rounds that happen to agree do not make a quiet point.
///
/// None as of [`median_log_error`].
pub(crate) fn log_spread(rounds: &[f64], shared_sigma: f64) -> Option<StandardError> {
    let k = rounds.len();
    let shared = if shared_sigma.is_finite() { shared_sigma.max(0.0) } else { 0.0 };
    if k == 0 || rounds.iter().any(|b| b.is_nan() || *b <= 0.0) || (k == 1 && shared == 0.0) {
        return None;
    }
    let (value, degrees) = own_spread(rounds.iter().map(|b| b.ln()).collect());
    Some(StandardError { value, degrees }.beside(shared))
}

/// Standard deviation of one point's log rounds and its degrees of freedom; from five rounds on, with the farthest from
/// the median drawn in. A single round has none of either.
fn own_spread(mut logs: Vec<f64>) -> (f64, f64) {
    let k = logs.len();
    if k < 5 {
        return (variance(&logs).sqrt(), (k - 1) as f64);
    }
    let middle = median_in_place(&mut logs);
    logs.sort_unstable_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    let limit = (logs[k - 2] - middle).abs();
    logs[k - 1] = logs[k - 1].clamp(middle - limit, middle + limit);
    // Clamping leaves fewer degrees of freedom (within 0.3 of a simulation for 5 to 50 rounds).
    (variance(&logs).sqrt() * drawn_in(k), k as f64 - 2.4)
}

/// Correction of the standard deviation of so many normal values after the one farthest from the median is clamped to the next one's
/// distance (within 0.5% of a simulation for 5 to 50 values).
fn drawn_in(values: usize) -> f64 {
    let k = values as f64;
    1.0 + 0.85 / k + 2.2 / (k * k)
}

/// Standard deviation of the median of k independent normal values of standard deviation 1. Exact to 1% (a test
/// simulates it); for large k it tends to sqrt(pi / 2k).
pub(crate) fn median_error(k: usize) -> f64 {
    match k {
        0 | 1 => 1.0,
        2 => std::f64::consts::FRAC_1_SQRT_2,
        k => {
            let more = if k % 2 == 1 { 0.45 } else { 1.35 };
            (std::f64::consts::FRAC_PI_2 / (k as f64 + more)).sqrt()
        }
    }
}

/// The standard deviation of log rounds that several points have in common, robustly: `rounds_by_point` holds the
/// round medians of one size each.
///
/// It is the median distance of a round from its own point's median, over all points, each distance measured in units
/// of its expected median for normal noise and that number of rounds. So a few outlying rounds, and a few points that
/// are outliers throughout, leave it alone, and points of two rounds count rightly beside points of twelve. Values of 0 or
/// less and points of fewer than two rounds are left out; 0 if nothing is left.
pub fn pooled_log_sigma(rounds_by_point: &[Vec<f64>]) -> f64 {
    let mut distances = Vec::new();
    for rounds in rounds_by_point {
        let mut logs: Vec<f64> = rounds.iter().filter(|b| **b > 0.0 && b.is_finite()).map(|b| b.ln()).collect();
        let k = logs.len();
        if k < 2 {
            continue;
        }
        let middle = median_in_place(&mut logs);
        let unit = typical_distance(k);
        let mut own: Vec<f64> = logs.iter().map(|l| (l - middle).abs() / unit).collect();
        if k % 2 == 1 {
            // Of an odd number, one is the median itself: its distance is 0 whatever the noise.
            own.sort_unstable_by(f64::total_cmp);
            own.remove(0);
        }
        distances.append(&mut own);
    }
    if distances.is_empty() { 0.0 } else { median_in_place(&mut distances) }
}

/// Median distance of k normal values of standard deviation 1 from their own median (of an odd number, without the
/// one that is the median). Exact to 1.5% (a test simulates it); for large k it tends to 0.6745.
fn typical_distance(k: usize) -> f64 {
    match k {
        0..=2 => 0.4769,
        4 => 0.4865,
        6 => 0.5282,
        k if k % 2 == 1 => 0.6745 + 0.05 / k as f64,
        k => 0.6745 - 0.86 / k as f64,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::basic::median;

    #[test]
    fn the_constants_of_normal_noise_agree_with_a_simulation() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut normal = || crate::normal(&mut rng);
        for k in (1..=12).chain([20, 31, 50]) {
            let runs = 1_000_000 / k;
            let (mut squares, mut distances, mut spread) = (0.0, Vec::new(), 0.0);
            for _ in 0..runs {
                let values: Vec<f64> = (0..k).map(|_| normal()).collect();
                let middle = median(&values);
                squares += middle * middle;
                distances.extend(values.iter().map(|v| (v - middle).abs()).filter(|d| k % 2 == 0 || *d > 0.0));
                spread += own_spread(values).0.powi(2);
            }
            let error = (squares / runs as f64).sqrt();
            assert!((median_error(k) / error - 1.0).abs() < 0.015, "{k}: {error}");
            if k > 1 {
                let distance = median(&distances);
                assert!((typical_distance(k) / distance - 1.0).abs() < 0.02, "{k}: {distance}");
                let spread = (spread / runs as f64).sqrt();
                assert!((spread - 1.0).abs() < 0.015, "{k}: {spread}");
            }
        }
    }

    #[test]
    fn an_error_of_few_degrees_may_be_larger_than_it_seems() {
        // The tenth percentiles of chi-squared: 2.833 with 7 degrees, 82.36 with 100.
        for (degrees, percentile) in [(7.0, 2.833_f64), (100.0, 82.358)] {
            let found = StandardError { value: 0.02, degrees }.at_most(0.9);
            assert!((found / (0.02 * (degrees / percentile).sqrt()) - 1.0).abs() < 1e-3, "{degrees}: {found}");
        }
        assert_eq!(StandardError { value: 0.0, degrees: 3.0 }.at_most(0.9), 0.0);
        assert_eq!(StandardError { value: 0.1, degrees: 0.0 }.at_most(0.9), f64::INFINITY);
        assert_eq!(StandardError { value: 0.1, degrees: 5.0 }.at_most(1.0), f64::INFINITY);
    }

    fn error(rounds: &[f64], shared: f64) -> f64 {
        median_log_error(rounds, shared).unwrap().value
    }

    #[test]
    fn the_shared_spread_is_a_floor_for_rounds_that_happen_to_agree() {
        assert!(error(&[1.0, 1.0, 1.0], 0.05) >= 0.05 * median_error(3));
        assert!(error(&[1.0, 1.0, 1.0], 0.10) > error(&[1.0, 1.0, 1.0], 0.05));
    }

    #[test]
    fn one_far_round_of_many_hardly_counts() {
        let calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.015, 0.985, 1.005];
        let mut stray = calm;
        stray[3] = 10.0;
        assert!(error(&stray, 0.0) < 1.5 * error(&calm, 0.0));
    }

    #[test]
    fn too_little_evidence_has_no_error() {
        for rounds in [&[][..], &[1.0], &[1.0, 0.0, 2.0], &[1.0, -1.0], &[f64::NAN, 1.0]] {
            assert_eq!(median_log_error(rounds, 0.0), None, "{rounds:?}");
        }
        assert_eq!(median_log_error(&[1.0], f64::NAN), None);
        assert_eq!(median_log_error(&[2.0], 0.1), Some(StandardError { value: 0.1, degrees: 8.0 }));
        assert_eq!(error(&[2.0, 2.0], 0.0), 0.0);
    }

    #[test]
    fn pooled_sigma_of_nothing_is_zero() {
        assert_eq!(pooled_log_sigma(&[]), 0.0);
        assert_eq!(pooled_log_sigma(&[vec![], vec![1.0], vec![0.0, -1.0]]), 0.0);
    }
}
