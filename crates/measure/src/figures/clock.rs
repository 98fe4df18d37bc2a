//! The error that a coarse clock adds.

use super::{timed_there, transfers};
use crate::event::{Calibration, Plan, Trial};

/// Rounds this near to each other, as a share of a grain, read the same; so many of them, and at least this share of all, show that
/// readings lie on the clock's grid.
const SAME: f64 = 0.1;
const TIED: usize = 4;
const SHARE: f64 = 1.0 / 3.0;

/// The clock's resolution in a trial's typical time, seconds of the point's kind; 0 where the clock's step is not known.
pub(super) fn grain(plan: &Plan, used: &[&Trial], clock: &Calibration) -> f64 {
    if !(clock.clock_step_ns > 0.0 && clock.clock_step_ns.is_finite()) {
        return 0.0;
    }
    let step = clock.clock_step_ns * 1e-9;
    let of = |t: &&Trial| {
        let r = &t.report;
        if let Some(flows) = &r.flows {
            // The clock is read at both ends of the time in which all ran.
            return step / flows.iterations().max(1.0) / transfers(plan, t);
        }
        if timed_there(t) {
            // A stream's receiver reads it once before and once after all messages.
            return step * t.size as f64 / r.far.bytes as f64;
        }
        // Trials of single iterations have a histogram; else a chunk is as long as it takes for reading the clock to be cheap.
        let chunk = match r.histogram.is_empty() && r.median > 0.0 {
            true => (clock.clock_cost_ns * 1e-9 * 100.0 / r.median).ceil().clamp(1.0, r.repeats.max(1) as f64),
            false => 1.0,
        };
        step / chunk / transfers(plan, t)
    };
    let grains: Vec<f64> = used.iter().map(of).collect();
    if grains.is_empty() { 0.0 } else { stats::median(&grains) }
}

/// How far the truth may lie off all rounds, seconds. Where they read the same to within a `grain`, all of them are rounded the same way,
/// half a grain at most, however many there are. The same holds where they spread over some grains and many read what their median does
/// (`at_level`: at the run's typical level): the median of values on a grid is the nearest place of the grid, whichever side of it the
/// truth lies on. Where the levels of rounds differ, each is rounded another way, and their spread holds that error already: 0.
pub(super) fn rounding(median: f64, rounds: &[f64], at_level: &[f64], grain: f64) -> f64 {
    if grain > 0.0 && (span(rounds, median) <= grain * 1.25 || stands_on(at_level, median, grain)) {
        grain / 2.0
    } else {
        0.0
    }
}

/// Whether so many rounds read the same as their median (of an even number, as either of the two about it) that the clock's grid decides
/// it: more than if noise as wide as the grid moved them off it.
fn stands_on(at_level: &[f64], median: f64, grain: f64) -> bool {
    let mut off: Vec<f64> = at_level.iter().map(|t| (t - median).abs()).collect();
    off.sort_unstable_by(f64::total_cmp);
    let Some(nearest) = off.first() else { return false };
    let same = off.iter().filter(|off| **off - nearest <= SAME * grain).count();
    same >= TIED.max((off.len() as f64 * SHARE).ceil() as usize)
}

/// The interval about a median, no narrower than what the clock's rounding ([`super::rounding`]) hides; one without an upper end as it is.
pub fn widened(found: stats::Interval, median: f64, rounding: f64) -> stats::Interval {
    if !found.high.is_finite() || rounding <= 0.0 {
        return found;
    }
    stats::Interval { low: found.low.min(median - rounding).max(0.0), high: found.high.max(median + rounding) }
}

/// Distance from the shortest to the longest round, seconds; of five and more without the one that lies farthest off.
fn span(rounds: &[f64], median: f64) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(|a, b| (a - median).abs().total_cmp(&(b - median).abs()));
    if sorted.len() >= 5 {
        sorted.pop();
    }
    let ends = |pick: fn(f64, f64) -> f64, from: f64| sorted.iter().copied().fold(from, pick);
    ends(f64::max, f64::NEG_INFINITY) - ends(f64::min, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_that_stands_on_the_grid_is_rounded_however_far_the_rounds_spread() {
        let grid = [50.0, 55.0, 55.0, 60.0, 60.0, 60.0, 60.0, 65.0, 65.0, 70.0];
        assert_eq!(rounding(60.0, &grid, &grid, 5.0), 2.5, "levels tell none of them apart");
        // Of two places by turns the median lies between them.
        let two = [60.0, 65.0, 60.0, 65.0, 60.0, 65.0, 60.0, 65.0, 50.0, 75.0];
        assert_eq!(rounding(62.5, &two, &two, 5.0), 2.5);
        let told: Vec<f64> = grid.iter().zip(0..).map(|(t, i)| t * (1.0 + 0.02 * f64::from(i * 7 % 10 - 5))).collect();
        assert_eq!(rounding(60.0, &grid, &told, 5.0), 0.0, "each by a level of its own: {told:?}");
        assert_eq!(rounding(60.0, &[60.0; 3], &[58.0, 60.0, 61.0], 5.0), 2.5, "all rounded alike");
        assert_eq!(rounding(60.0, &grid, &grid, 0.0), 0.0);
    }
}
