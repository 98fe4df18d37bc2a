//! How the whole curve moves over a run.
//!
//! A machine that wanders ends a run at another level than it began, and a line through levels taken as independent would claim a drift. So
//! the line is fitted on a background that wanders and returns. A few rounds hardly show how much it wanders, so many backgrounds are tried
//! and the lines on them averaged, each weighted by the likelihood of the levels on its background.
//!
//! A round that strays far from all others must not make a drift: it is clamped to [`FAR`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{mean, median, round_levels};

use super::Moment;
use super::background::{Background, Line};
use crate::Estimate;

/// Prior odds that levels do not wander at all against that they wander in any way; and, of those ways, of one that hardly returns within
/// the run against one that does.
const STEADY: f64 = 0.2;
const LASTING: f64 = 5.0;

/// Levels are clamped to so many typical distances from the median one.
const FAR: f64 = 3.0;

/// Levels closer together than this, as logarithms, are equal: the rest is rounding.
const EQUAL: f64 = 1e-9;

/// A drift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// How many times as long rounds of all sizes take at the end of the run as at its start, along a straight line
    /// through the levels of its rounds.
    pub ratio: Estimate,
    /// From the first to the last round, seconds.
    pub seconds: f64,
}

impl Drift {
    /// Of the intervals of one connection, as [`super::Jitter::of_intervals`] has it.
    pub fn of_intervals(intervals: &[Moment]) -> Option<Self> {
        let usable = |t: &&Moment| t.seconds > 0.0 && t.seconds.is_finite() && t.at.is_finite();
        Self::of(&super::stretches(intervals).iter().filter(usable).collect::<Vec<_>>())
    }

    /// None with fewer than four rounds, or all at one moment: a line through three has no known error.
    pub(super) fn of(trials: &[&Moment]) -> Option<Self> {
        let mut of_size = BTreeMap::<u64, BTreeMap<u32, Vec<f64>>>::new();
        let mut times = BTreeMap::<u32, Vec<f64>>::new();
        for t in trials {
            of_size.entry(t.size).or_default().entry(t.round).or_default().push(t.seconds);
            times.entry(t.round).or_default().push(t.at);
        }
        let points: Vec<Vec<(u32, f64)>> =
            of_size.into_values().map(|rounds| rounds.into_iter().map(|(b, t)| (b, median(&t))).collect()).collect();
        let levels: Vec<(f64, f64)> =
            round_levels(&points).into_iter().filter_map(|(b, level)| Some((mean(times.get(&b)?), level))).collect();
        Self::through(levels)
    }

    /// The drift of rounds' levels: (seconds, level as a logarithm).
    fn through(mut levels: Vec<(f64, f64)>) -> Option<Self> {
        if levels.len() < 4 {
            return None;
        }
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let seconds = levels[levels.len() - 1].0 - levels[0].0;
        let levels = clipped(&levels);
        if levels.iter().all(|l| (l.1 - levels[0].1).abs() <= EQUAL) {
            return (seconds > 0.0).then_some(Self { ratio: Estimate { value: 1.0, low: 1.0, high: 1.0 }, seconds });
        }
        let degrees = (levels.len() - 2) as f64;
        let moments: Vec<f64> = levels.iter().map(|l| l.0).collect();
        let backgrounds = Background::all(&moments);
        let lines: Vec<(Line, f64)> = (backgrounds.iter().enumerate())
            .filter_map(|(i, b)| Some((b.line(&levels)?, prior(i, backgrounds.len(), b.wanders(seconds / 3.0)))))
            .collect();
        if lines.is_empty() {
            return None;
        }
        let most = lines.iter().map(|(l, _)| l.likelihood).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = lines.iter().map(|(l, prior)| prior * (l.likelihood - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let say: Vec<(&Line, f64)> =
            lines.iter().map(|(line, _)| line).zip(weights).filter(|(_, w)| *w > 1e-5 * sum).collect();
        // Share of the lines' distributions below a slope, over all backgrounds by their weights.
        let below = |slope: f64| -> f64 {
            let of = |(line, weight): &(&Line, f64)| {
                let t = (slope - line.slope) / line.error;
                let tail = stats::student_p(t, degrees) / 2.0;
                weight * if t > 0.0 { 1.0 - tail } else { tail }
            };
            say.iter().map(of).sum::<f64>() / sum
        };
        let most = lines.iter().map(|(l, _)| l.slope.abs() + 100.0 * l.error).fold(0.0, f64::max);
        let at = |share: f64| {
            let (mut low, mut high) = (-most, most);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if below(middle) < share { low = middle } else { high = middle }
            }
            high * seconds
        };
        let ratio = Estimate { value: at(0.5).exp(), low: at(0.025).exp(), high: at(0.975).exp() };
        ratio.value.is_finite().then_some(Self { ratio, seconds })
    }

    /// Whether it is more than levels that wander as these do explain.
    pub fn sure(&self) -> bool {
        self.ratio.low > 1.0 || self.ratio.high < 1.0
    }
}

/// Levels, clamped to [`FAR`] typical distances from the median one. Where more than half of them are equal, as a coarse clock reads them, the
/// typical distance is that of the others; a single one that differs strays, and is clamped to the rest.
fn clipped(levels: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let middle = median(&levels.iter().map(|l| l.1).collect::<Vec<_>>());
    let distances: Vec<f64> = levels.iter().map(|l| (l.1 - middle).abs()).collect();
    let off: Vec<f64> = distances.iter().copied().filter(|d| *d > EQUAL).collect();
    let typical = match median(&distances) {
        equal if equal <= EQUAL && off.len() > 1 => median(&off),
        typical => typical,
    };
    let far = FAR * typical / 0.6745;
    levels.iter().map(|(at, level)| (*at, level.clamp(middle - far, middle + far))).collect()
}

/// Prior weight of the background at this index of so many; the first is the one that does not wander.
fn prior(i: usize, many: usize, wanders: bool) -> f64 {
    match i {
        0 => STEADY * many as f64,
        _ if wanders => LASTING,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use stats::normal;

    use super::*;

    const RUNS: u32 = 200;

    /// Of all runs, how many are sure of a drift, and how many intervals hold it: levels that keep this share of
    /// themselves from round to round (1: a random walk) with white noise of `white` times that, and drift by so much
    /// over the run, in units of the white noise.
    fn sure(rounds: u32, kept: f64, wander: f64, drift: f64) -> (u32, u32) {
        let (mut sure, mut held) = (0, 0);
        for seed in 0..u64::from(RUNS) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut state = normal(&mut rng);
            let level = |k| {
                let new = if kept < 1.0 { (1.0 - kept * kept).sqrt() } else { 1.0 };
                state = kept * state + new * normal(&mut rng);
                let at = f64::from(k) / f64::from(rounds - 1);
                (1.2 * f64::from(k), 0.01 * (wander * state + normal(&mut rng) + drift * at))
            };
            let found = Drift::through((0..rounds).map(level).collect()).unwrap();
            sure += u32::from(found.sure());
            let truth = (0.01 * drift).exp();
            held += u32::from(found.ratio.low <= truth && truth <= found.ratio.high);
        }
        (sure, held)
    }

    #[test]
    fn levels_that_wander_are_seldom_sure_of_a_drift_and_steady_ones_are() {
        for (rounds, kept, wander, most) in [
            (10, 0.0, 0.0, 10),
            (30, 0.0, 0.0, 10),
            (10, 0.8, 2.0, 20),
            (30, 0.95, 2.0, 30),
            (10, 1.0, 3.0, 50),
            (30, 1.0, 3.0, 40),
        ] {
            let (sure, _) = sure(rounds, kept, wander, 0.0);
            assert!(sure <= most, "{rounds} rounds, {kept} kept: {sure} of {RUNS}");
        }
        let (found, held) = sure(30, 0.0, 0.0, 5.0);
        assert!(found >= RUNS * 9 / 10 && held >= RUNS * 93 / 100, "sure {found}, held {held} of {RUNS}");
    }

    #[test]
    fn one_wild_round_moves_no_drift_out_of_its_interval_and_leaves_that_bounded() {
        for outlier in [2.3, 7.0, 300.0] {
            for at in [0, 4, 9] {
                let mut held = 0;
                for seed in 0..40 {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    let level = |k: u32| (1.2 * f64::from(k), 0.03 * normal(&mut rng) + 0.01 * f64::from(k));
                    let mut levels: Vec<(f64, f64)> = (0..10).map(level).collect();
                    levels[at].1 += outlier;
                    let ratio = Drift::through(levels).unwrap().ratio;
                    held += u32::from(ratio.low <= 1.094 && 1.094 <= ratio.high);
                    assert!(ratio.low > 0.2 && ratio.high < 5.0, "{outlier} at {at}: {ratio:?}");
                }
                assert!(held >= 36, "{outlier} at {at}: {held} of 40");
            }
        }
    }

    /// A coarse clock reads more than half of the rounds alike.
    #[test]
    fn levels_that_tie_hide_no_change_of_the_others() {
        let step: Vec<(f64, f64)> = (0..10).map(|k| (f64::from(k), if k < 6 { 0.0 } else { 1.5f64.ln() })).collect();
        let found = Drift::through(step).unwrap();
        assert!(found.ratio.value > 1.1 && found.ratio.high > 1.5, "no round took the same time: {found:?}");
        // One grain up and down again.
        let wandering: Vec<(f64, f64)> = (0..10).map(|k| (f64::from(k), if k % 3 == 1 { 0.1 } else { 0.0 })).collect();
        let found = Drift::through(wandering).unwrap();
        assert!(!found.sure() && found.ratio.low < 1.0 && found.ratio.high > 1.0, "{found:?}");
    }

    #[test]
    fn levels_that_are_all_equal_did_not_drift() {
        let level = |k: u32, outlier: f64| (f64::from(k), if k == 3 { outlier } else { 1e-17 * f64::from(k) });
        for outlier in [0.0, 5.0] {
            let found = Drift::through((0..10).map(|k| level(k, outlier)).collect()).unwrap();
            assert!(found.ratio == Estimate { value: 1.0, low: 1.0, high: 1.0 } && !found.sure(), "{found:?}");
        }
        assert_eq!(Drift::through(vec![(1.0, 0.0); 10]), None);
    }
}
