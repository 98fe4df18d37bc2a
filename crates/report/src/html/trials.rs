//! The trials behind the points: each trial's typical time, and the times of single iterations merged into one histogram a point.
//! `web/src/trials.ts` reads both.

use measure::event::Plan;
use measure::figures;
use record::{PathRun, Point};
use serde::Serialize;

use super::columns::{self, base64, varint};

/// Steps of the histogram to a doubling of time: 2% to 3% each. The recorded values lie on a grid of 128 steps to a doubling
/// (`stats::Histogram`), so that four of those make one of these exactly and no step gets more of them than its neighbour.
const STEPS: u32 = 32;

/// Every trial of a path, point by point.
#[derive(Serialize)]
pub struct Trials {
    /// Trials of each point.
    count: String,
    /// Start, seconds since the run's start.
    at: String,
    /// Typical time, seconds of the point's kind.
    seconds: String,
    /// Round.
    #[serde(rename = "block")]
    round: String,
    /// Kept, not counted.
    warmup: String,
}

/// The trials of a path as columns.
pub fn trials(plan: &Plan, path: &PathRun) -> Trials {
    let kind = path.opened.transport;
    let all = || path.points.iter().flat_map(|p| &p.trials);
    Trials {
        count: columns::counts(path.points.iter().map(|p| p.trials.len() as u64)),
        at: columns::floats(all().map(|t| Some(t.at))),
        seconds: columns::floats(all().map(|t| figures::typical(plan, kind, &t))),
        round: columns::counts(all().map(|t| u64::from(t.round))),
        warmup: columns::flags(all().map(|t| t.warmup)),
    }
}

/// The histograms of a path, point by point: how many of the counted trials timed single iterations, and if any did, the divisor of an
/// iteration's time, the number of steps, and for each the distance from the step before and the count (all LEB128).
pub fn histograms(plan: &Plan, path: &PathRun) -> String {
    let mut out = Vec::new();
    let mut any = false;
    for point in &path.points {
        any |= histogram(plan, point, &mut out);
    }
    if any { base64(&out) } else { String::new() }
}

fn histogram(plan: &Plan, point: &Point, out: &mut Vec<u8>) -> bool {
    let trials = point.trials.all();
    let refs: Vec<_> = trials.iter().collect();
    let used: Vec<_> = figures::counted(&refs).into_iter().filter(|t| !t.report.histogram.is_empty()).collect();
    varint(used.len() as u64, out);
    let Some(first) = used.first() else { return false };
    let divisor = figures::transfers(plan, first);
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for trial in &used {
        let to_first = divisor / figures::transfers(plan, trial);
        let times = trial.report.histogram.iter();
        pairs.extend(times.map(|(ns, n)| (step((*ns as f64 * to_first).round() as u64), *n)));
    }
    pairs.sort_unstable_by_key(|(step, _)| *step);
    let merged: Vec<(u64, u64)> =
        pairs.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|(_, n)| n).sum())).collect();
    varint(divisor as u64, out);
    varint(merged.len() as u64, out);
    let mut before = 0;
    for (step, count) in merged {
        varint(step - before, out);
        varint(count, out);
        before = step;
    }
    true
}

/// Number of the step in which a time lies: nanoseconds one by one below 64, then 32 steps to each doubling.
fn step(ns: u64) -> u64 {
    let doublings = (ns.max(1).ilog2()).saturating_sub(STEPS.ilog2());
    u64::from(doublings * STEPS) + (ns >> doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_are_unions_of_what_was_recorded() {
        let mut last = 0;
        for ns in 1..100_000u64 {
            let at = step(ns);
            assert!(at == last || at == last + 1, "{ns}: {last} {at}");
            last = at;
        }
        assert_eq!((step(63), step(64), step(65), step(66)), (63, 64, 64, 65));
        // Four of the recorder's steps (2^(k-7) wide) to one of these (2^(k-5) wide), all the way up.
        for k in 12..40u32 {
            let base = 1u64 << k;
            let (fine, wide) = (base >> 7, base >> 5);
            assert_eq!(step(base), step(base + 4 * fine - 1));
            assert_eq!(step(base) + 1, step(base + wide));
        }
    }
}
