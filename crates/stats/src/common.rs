//! What the points of a path have in common: the noise of a round, and how far whole rounds lie apart.

use std::collections::BTreeMap;

use crate::basic::{mean, median, variance};
use crate::lasting::lasting;
use crate::moves::Moves;
use crate::spread::pooled_log_sigma;

/// What a path's points share, from their rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// Log standard deviation between rounds, pooled over the points ([`pooled_log_sigma`]); 0 if unknown.
    pub sigma: f64,
    /// Log standard deviation of the rounds' levels ([`round_levels`]): how far the whole curve moves from round to round; 0 if unknown.
    pub between: f64,
    /// Levels that `between` rests on.
    pub levels: u32,
    /// How the rounds' levels moved, in order of time.
    pub moves: Moves,
    /// Standard error of a median over that under normal noise of the same spread, because few rounds lie near the middle: 1 or more. Where
    /// trials alternate between two states, the median of a few is one of the two and never a value between them.
    pub hollow: f64,
    /// Standard error of a median over that of independent rounds, because each size has states of its own that last for some rounds: 1 or
    /// more.
    pub lasting: f64,
}

impl Default for Shared {
    fn default() -> Self {
        Self { sigma: 0.0, between: 0.0, levels: 0, moves: Moves::default(), hollow: 1.0, lasting: 1.0 }
    }
}

impl Shared {
    /// From each point's round medians with the number of their round. The same number at two points must mean the same round.
    pub fn of(points: &[Vec<(u32, f64)>]) -> Self {
        let levels: Vec<f64> = round_levels(points).into_iter().map(|(_, level)| level).collect();
        let between = if levels.len() > 1 { variance(&levels).sqrt() } else { 0.0 };
        Self { between, levels: levels.len() as u32, moves: Moves::of(&levels), ..Self::noise_of(points) }
    }

    /// Only the noise, for points whose rounds have numbers that mean nothing.
    pub fn noise_of(points: &[Vec<(u32, f64)>]) -> Self {
        let times: Vec<Vec<f64>> = points.iter().map(|p| p.iter().map(|(_, t)| *t).collect()).collect();
        Self { sigma: pooled_log_sigma(&times), hollow: hollow(&times), lasting: lasting(&times), ..Self::default() }
    }
}

/// Half a standard deviation about the mean holds this share of normal values.
const NORMAL_SHARE: f64 = 0.3829;
/// Normal values that are added to those seen, so that a few values show no shape by chance.
const ADDED: f64 = 100.0;
/// Factors below this count as that of normal noise: a few hundred values do not tell them apart.
const TELLING: f64 = 1.3;

/// [`Shared::hollow`]: the error of a median is inverse to the share of values near the middle (Kendall and Stuart, The Advanced Theory of
/// Statistics 1, 10.10). The points' logarithms are pooled, each about its point's mean and divided by its point's spread.
fn hollow(points: &[Vec<f64>]) -> f64 {
    let (mut near, mut all) = (0.0, 0.0);
    for times in points.iter().filter(|t| t.len() >= 4 && t.iter().all(|t| *t > 0.0)) {
        let logs: Vec<f64> = times.iter().map(|t| t.ln()).collect();
        let (middle, spread) = (mean(&logs), variance(&logs).sqrt());
        near += logs.iter().filter(|l| (*l - middle).abs() < spread / 2.0).count() as f64;
        all += logs.len() as f64;
    }
    let factor = NORMAL_SHARE * (all + ADDED) / (near + NORMAL_SHARE * ADDED);
    if factor > TELLING { factor } else { 1.0 }
}

/// The level of each round (number, level), in their order, as a logarithm: the median over the points of a round's distance from its
/// point's median. What single sizes do cancels out; what moves the whole curve stays. Values of 0 or less are left out.
///
/// [`Levels`](crate::Levels) estimates the same from single trials where it is known when each was measured. It removes states shorter than
/// a round, too, which medians of rounds no longer show.
pub fn round_levels(points: &[Vec<(u32, f64)>]) -> Vec<(u32, f64)> {
    let distances = round_distances(points.iter().map(Vec::as_slice), |_| 0.0);
    distances.into_iter().map(|(round, d)| (round, median(&d))).collect()
}

/// Log distances of each round from the medians of its points, a list a round: the median of a list is the round's level. Points' medians
/// are taken after `level`, an estimate of a round's level so far, is subtracted; the distances still hold it. Values of 0 or less, and
/// points of a single round, are left out.
pub fn round_distances<'a>(
    points: impl Iterator<Item = &'a [(u32, f64)]>,
    level: impl Fn(u32) -> f64,
) -> BTreeMap<u32, Vec<f64>> {
    let mut distances = BTreeMap::<u32, Vec<f64>>::new();
    for point in points {
        let good: Vec<(u32, f64)> =
            point.iter().filter(|(_, t)| *t > 0.0 && t.is_finite()).map(|(b, t)| (*b, t.ln())).collect();
        if good.len() < 2 {
            continue;
        }
        let middle = median(&good.iter().map(|(b, l)| l - level(*b)).collect::<Vec<_>>());
        for (round, log) in good {
            distances.entry(round).or_default().push(log - middle);
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points whose sizes differ a hundredfold and wobble each on their own, in rounds at these levels.
    fn points(levels: &[f64]) -> Vec<Vec<(u32, f64)>> {
        (0..40)
            .map(|s| {
                let own = |b: usize| 1.0 + 0.01 * ((s * 7 + b * 3) % 5) as f64;
                levels.iter().enumerate().map(|(b, l)| (b as u32, 1e-6 * (1 + s) as f64 * l * own(b))).collect()
            })
            .collect()
    }

    #[test]
    fn levels_are_what_all_sizes_have_in_common() {
        let found = round_levels(&points(&[1.0, 1.0, 3.0, 1.0]));
        let slow = found[2].1 - found[0].1;
        assert!((slow - 3f64.ln()).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn a_steady_machine_has_no_spread_between_levels_though_its_points_are_noisy() {
        let shared = Shared::of(&points(&[1.0; 8]));
        assert!(shared.between < 0.012 && shared.sigma > 0.005, "{shared:?}");
        assert!(Shared::of(&points(&[1.0, 1.1, 0.9, 1.0, 1.1, 0.9])).between > 0.07);
    }

    #[test]
    fn two_states_by_turns_leave_the_middle_empty_and_normal_noise_does_not() {
        use rand::{Rng, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut of = |spread: f64, apart: f64| {
            let mut one = || {
                let normal: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                (spread * normal + if rng.random::<bool>() { apart } else { 0.0 }).exp()
            };
            (0..40).map(|_| (0..9).map(|_| one()).collect()).collect::<Vec<Vec<f64>>>()
        };
        assert_eq!((hollow(&of(0.03, 0.0)), hollow(&of(0.5, 0.0)), hollow(&[])), (1.0, 1.0, 1.0));
        assert!(hollow(&of(0.03, 0.4)) > 1.8);
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert_eq!(Shared::of(&[]), Shared::default());
        assert_eq!(Shared::of(&[vec![(1, 2.0)], vec![(1, 0.0), (2, -1.0)]]), Shared::default());
    }
}
