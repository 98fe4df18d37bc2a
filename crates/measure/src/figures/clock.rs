//! What a coarse clock allows to be known.

use super::{timed_there, transfers};
use crate::event::{Calibration, Plan, Trial};

/// The smallest difference that the clock can tell in a trial's typical time, seconds of the point's kind; 0 where the clock's
/// step is not known.
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
            // A stream's receiver reads it once before and once after all blocks.
            return step * t.size as f64 / r.far.bytes as f64;
        }
        // Single iterations leave a histogram; chunks are as long as reading the clock is cheap beside them.
        let chunk = match r.histogram.is_empty() && r.median > 0.0 {
            true => (clock.clock_cost_ns * 1e-9 * 100.0 / r.median).ceil().clamp(1.0, r.repeats.max(1) as f64),
            false => 1.0,
        };
        step / chunk / transfers(plan, t)
    };
    let grains: Vec<f64> = used.iter().map(of).collect();
    if grains.is_empty() { 0.0 } else { stats::median(&grains) }
}

/// How far the truth may lie off all rounds, seconds: where they read the same to within a `grain`, all of them are rounded the
/// same way, half a grain at most, however many there are. Where noise spreads them over more, each is rounded another way, and
/// their spread holds that error already: 0.
pub(super) fn rounding(median: f64, rounds: &[f64], grain: f64) -> f64 {
    if grain > 0.0 && span(rounds, median) <= grain * 1.25 { grain / 2.0 } else { 0.0 }
}

/// The interval, no narrower than the clock allows.
pub(super) fn widened(found: stats::Interval, median: f64, rounding: f64) -> stats::Interval {
    if !found.high.is_finite() || rounding <= 0.0 {
        return found;
    }
    stats::Interval { low: found.low.min(median - rounding).max(0.0), high: found.high.max(median + rounding) }
}

/// Distance from the shortest to the longest round; of five and more without the one that lies farthest off.
fn span(rounds: &[f64], median: f64) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(|a, b| (a - median).abs().total_cmp(&(b - median).abs()));
    if sorted.len() >= 5 {
        sorted.pop();
    }
    let ends = |pick: fn(f64, f64) -> f64, from: f64| sorted.iter().copied().fold(from, pick);
    ends(f64::max, f64::NEG_INFINITY) - ends(f64::min, f64::INFINITY)
}
