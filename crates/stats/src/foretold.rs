//! How far a further value may lie from the mean of a few: a machine's level in a run to come, from those of the runs so far.
//!
//! Two or three values estimate their spread so poorly that a range by Student's t is too wide to be of use. But the spread between runs of
//! one path is known of machines in general: mostly 5 to 25%. So it has a prior distribution, half-t as is usual for the spread between
//! groups (Gelman 2006, *Prior distributions for variance parameters in hierarchical models*, Bayesian Analysis 1:515-534). With few values
//! the prior decides, with many it hardly matters; and since its tail is heavy, values that lie further apart than usual outweigh it.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::STATES;
use crate::spread::StandardError;

/// Scale of the prior, as a logarithm, and its degrees of freedom, which say how heavy its tail is. Ten default TCP runs lay
/// within x1.24 one after another, which is a standard deviation of about 7%, since ten normal values lie 3.1 of them apart. Over an hour ten
/// lay within x1.63 (`bench/RESULTS.md`): 16%; at other times within x1.52 and x2.12: 14% and 24%. With these constants ranges hold at least 90 of 100 further runs for spreads of 3 to 40%, from one earlier
/// run on (`tests/between.rs`).
const USUAL: f64 = 0.22;
const DEGREES: f64 = 2.0;

/// Most degrees of freedom that the spreads of other paths of the same machine count for, each alone and all together. Paths of one machine
/// have the same neighbours and frequencies, but not the same spread: it is taken to differ by a factor of 1.65 from one to the next (a
/// logarithm's standard deviation of a half, which is that of a spread known with two degrees of freedom). Those of one command ran in the
/// same minutes and are not independent. Others count only where their spread is larger: a quiet path says nothing of one that is not.
const ALIKE: f64 = 2.0;

/// Grid of spreads on which the posterior is computed: so many, evenly on a logarithmic scale between these ends.
const LEAST: f64 = 1e-5;
const MOST: f64 = 20.0;
const STEPS: usize = 200;

/// Up to so many values the range reaches at least to a second state. Of a machine in one of two states, each as likely as the other, three
/// values are all of one state with probability 1/4, and a further one is then of the other with 1/2: a miss in more than one of ten.
/// States may lie as far apart as [`STATES`]. With four values, 94 of 100 further ones lie within what was seen.
const FEW: usize = 3;

/// Half-width, as a logarithm, of the range about the mean of `values` values in which a further one lies at `confidence`, where the
/// values' spread is `seen` (logarithms) and other paths of the machine have the spreads `alike`. Up to three values it is a factor of two
/// at least, also where they are equal: two runs timed by a coarse clock may be. 0 where more values do not differ at all; infinite where
/// nothing bounds it.
pub(crate) fn reach(confidence: f64, seen: StandardError, values: usize, alike: &[StandardError]) -> f64 {
    let least = if (1..=FEW).contains(&values) { STATES } else { 0.0 };
    if seen.value <= 0.0 || values == 0 {
        // Many equal values are those of a path without noise.
        return least;
    }
    if !seen.value.is_finite() || confidence.is_nan() || confidence >= 1.0 {
        return f64::INFINITY;
    }
    let spreads = weighed(seen, alike);
    let normal = Normal::standard();
    let wider = (1.0 + 1.0 / values as f64).sqrt();
    let beyond = |reach: f64| -> f64 {
        spreads.iter().map(|(spread, weight)| weight * 2.0 * normal.cdf(-reach / (spread * wider))).sum()
    };
    let (mut low, mut high) = (0.0, 4.0 * MOST * wider);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if beyond(middle) > 1.0 - confidence { low = middle } else { high = middle }
    }
    high.max(least)
}

/// Posterior of the spread, prior times likelihood: each spread of the grid with its probability; these sum to 1.
fn weighed(seen: StandardError, alike: &[StandardError]) -> Vec<(f64, f64)> {
    let log_p = |spread: f64, of: StandardError| -of.degrees * (spread.ln() + (of.value / spread).powi(2) / 2.0);
    let mut others: Vec<StandardError> = alike
        .iter()
        .filter(|o| o.degrees > 0.0 && o.value.is_finite() && o.value > seen.value)
        .map(|o| StandardError { degrees: 1.0 / (1.0 / o.degrees + 1.0 / ALIKE), ..*o })
        .collect();
    let all: f64 = others.iter().map(|o| o.degrees).sum();
    others.iter_mut().for_each(|o| o.degrees *= (ALIKE / all).min(1.0));
    let log_weight = |spread: f64| {
        let prior = -(DEGREES + 1.0) / 2.0 * ((spread / USUAL).powi(2) / DEGREES).ln_1p();
        // Steps of a logarithmic scale grow with the spread.
        spread.ln() + prior + log_p(spread, seen) + others.iter().map(|o| log_p(spread, *o)).sum::<f64>()
    };
    let step = (MOST / LEAST).ln() / (STEPS - 1) as f64;
    let all: Vec<(f64, f64)> =
        (0..STEPS).map(|i| LEAST * (i as f64 * step).exp()).map(|spread| (spread, log_weight(spread))).collect();
    let most = all.iter().map(|a| a.1).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = all.iter().map(|a| (a.1 - most).exp()).sum();
    all.into_iter().map(|(spread, log)| (spread, (log - most).exp() / sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64) -> StandardError {
        StandardError { value, degrees: 1.0 }
    }

    #[test]
    fn a_range_that_nothing_bounds_has_infinite_ends_and_never_none() {
        for unbounded in [f64::INFINITY, f64::NAN] {
            assert_eq!(reach(0.95, of(unbounded), 2, &[]), f64::INFINITY, "{unbounded}");
        }
        for certain in [1.0, 2.0, f64::NAN] {
            assert_eq!(reach(certain, of(0.1), 2, &[]), f64::INFINITY, "{certain}");
        }
        for other in [f64::INFINITY, f64::NAN] {
            let (with, without) = (reach(0.95, of(0.1), 2, &[of(other)]), reach(0.95, of(0.1), 2, &[]));
            assert_eq!(with, without, "what is not known of another path counts for nothing");
        }
        // No two times lie further apart than logarithms of doubles do.
        let widest = reach(0.95, of(1500.0), 2, &[]);
        assert!(widest.is_finite() && widest > 10.0, "a spread beyond all that are weighed: {widest}");
    }

    #[test]
    fn two_or_three_equal_values_reach_a_factor_of_two_as_values_that_hardly_differ_do() {
        for values in 2..=3 {
            let (equal, near) = (reach(0.95, of(0.0), values, &[]), reach(0.95, of(1e-6), values, &[]));
            assert_eq!((equal, near), (STATES, STATES), "{values}");
        }
        assert_eq!((reach(0.95, of(0.0), 4, &[]), reach(0.95, of(0.0), 0, &[])), (0.0, 0.0));
    }
}
