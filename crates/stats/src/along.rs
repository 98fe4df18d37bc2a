//! Whether readings of something else move as the levels of rounds do.

use crate::basic::mean;
use crate::moves::FEWEST_ROUNDS;
use crate::spread::StandardError;

/// How far readings move where the levels move by one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Along {
    /// Rise of the readings for each unit of the levels: 1 where they move alike, 0 where they do not follow the levels.
    pub slope: f64,
    /// Its error, with the degrees of freedom of so many independent rounds.
    pub error: StandardError,
}

/// From levels and readings of the same rounds in order of time, both logarithms. None of fewer than four rounds, or where all levels are alike.
///
/// Two series that both last for some rounds seem to go along by chance, as few independent pairs are in them: their number is that
/// of Bartlett (1935, *Some aspects of the time-correlation problem in regard to tests of significance*, Journal of the Royal Statistical Society 98:536-543), from
/// the correlation of neighbouring rounds in each.
pub fn along(levels: &[f64], readings: &[f64]) -> Option<Along> {
    let k = levels.len().min(readings.len());
    if k < FEWEST_ROUNDS {
        return None;
    }
    let centred = |series: &[f64]| -> Vec<f64> {
        let middle = mean(&series[..k]);
        series[..k].iter().map(|v| v - middle).collect()
    };
    let (levels, readings) = (centred(levels), centred(readings));
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let squares = product(&levels, &levels);
    let slope = product(&levels, &readings) / squares;
    if !(squares > 0.0 && slope.is_finite()) {
        return None;
    }
    let rounds = k as f64;
    let rest: f64 = levels.iter().zip(&readings).map(|(l, r)| (r - slope * l).powi(2)).sum();
    let alike = |series: &[f64]| {
        let all = product(series, series);
        let raw = if all > 0.0 { product(series, &series[1..]) / all } else { 0.0 };
        // Taking the mean off makes neighbours look less alike (Kendall 1954).
        (raw + (1.0 + 3.0 * raw) / rounds).clamp(0.0, 1.0)
    };
    let both = alike(&levels) * alike(&readings);
    let independent = rounds * (1.0 - both) / (1.0 + both);
    let value = (rest / (rounds - 2.0) / squares * rounds / independent.max(1.0)).sqrt();
    Some(Along { slope, error: StandardError { value, degrees: (independent - 2.0).max(0.1) } })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::normal;

    /// Autoregressive rounds of spread 1.
    fn series(rng: &mut impl Rng, rounds: usize, alike: f64) -> Vec<f64> {
        let mut level = normal(rng);
        (0..rounds)
            .map(|_| {
                let now = level;
                level = alike * now + (1.0 - alike * alike).sqrt() * normal(rng);
                now
            })
            .collect()
    }

    /// Of 1000 pairs of series that know nothing of each other, how many seem to go along, either way, with 95% confidence.
    fn by_chance(rounds: usize, alike: [f64; 2]) -> usize {
        let mut rng = ChaCha8Rng::seed_from_u64(rounds as u64);
        let seems = |_: &usize| {
            let [levels, readings] = alike.map(|alike| series(&mut rng, rounds, alike));
            along(&levels, &readings).is_some_and(|a| a.slope.abs() > a.error.reach(0.95))
        };
        (0..1000).filter(seems).count()
    }

    #[test]
    fn what_does_not_go_along_seems_to_in_one_of_twenty_at_most() {
        for rounds in [4, 5, 9, 12, 30] {
            for alike in [[0.0, 0.0], [0.7, 0.0], [0.0, 0.7]] {
                let seen = by_chance(rounds, alike);
                assert!(seen < 75, "{rounds} rounds, {alike:?}: {seen} of 1000");
            }
            let seen = by_chance(rounds, [0.7, 0.7]);
            assert!(seen < 110, "{rounds} rounds that last: {seen} of 1000");
        }
    }

    #[test]
    fn readings_that_follow_the_levels_have_their_slope() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut held = 0;
        for _ in 0..500 {
            let levels = series(&mut rng, 12, 0.0);
            let readings: Vec<f64> = levels.iter().map(|l| 7.0 + 0.8 * l + 0.2 * normal(&mut rng)).collect();
            let a = along(&levels, &readings).unwrap();
            held += usize::from((a.slope - 0.8).abs() <= a.error.reach(0.95));
        }
        assert!((460..=500).contains(&held), "{held} of 500");
    }

    /// By hand: levels -1, -1, 1, 1 and readings -2, 0, 0, 2 have a slope of 1 and a rest of 4; no correlation of neighbours in the readings (raw 0, corrected
    /// 1/4), and 1/4 in the levels (corrected 0.6875).
    #[test]
    fn the_error_is_that_of_as_many_independent_rounds() {
        let a = along(&[-1.0, -1.0, 1.0, 1.0], &[-2.0, 0.0, 0.0, 2.0]).unwrap();
        let both: f64 = 0.25 * 0.6875;
        let independent = 4.0 * (1.0 - both) / (1.0 + both);
        // The rest over its two degrees, over the squares of the levels, as of so many rounds.
        let value = (4.0 / 2.0 / 4.0 * 4.0 / independent).sqrt();
        assert!((a.slope - 1.0).abs() < 1e-12, "{a:?}");
        assert!((a.error.value - value).abs() < 1e-12, "{a:?}");
        assert!((a.error.degrees - (independent - 2.0)).abs() < 1e-12, "{a:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(along(&[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0]), None);
        assert_eq!(along(&[1.0; 9], &[0.0; 9]), None);
        assert_eq!(along(&[], &[1.0; 9]), None);
        assert_eq!(along(&[0.0, 1.0, 0.0, 1.0], &[f64::NAN; 4]), None);
        let still = along(&[0.0, 1.0, 0.0, 1.0, 2.0], &[3.0; 5]).unwrap();
        assert_eq!((still.slope, still.error.reach(0.95)), (0.0, 0.0));
    }
}
