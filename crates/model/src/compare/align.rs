//! Curves that were measured at different sizes: what a curve says between two sizes of its own, and how sure it is there.
//!
//! A time between two measured ones is read off the straight line between them on logarithmic axes. What the gap hides is
//! bounded: time rises with size, and no faster than size, so the curve stays in the parallelogram that its neighbours span with
//! the slopes 0 and 1. The point's error holds that parallelogram beside the errors of both neighbours. Where the neighbours
//! break those bounds the curve jumps between them, and nothing is said; nor across a gap that is wider than what the schedules
//! of all curves bridge, because a narrower schedule would have shown what lies in it.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use stats::{StandardError, mean, median};

/// A run's sizes, each with the logarithm of its median and the error of that.
pub(super) type Sizes = BTreeMap<u64, (f64, StandardError)>;

/// Share of the sizes that one would expect to be common; with fewer, curves are interpolated.
pub(super) const EXPECTED: f64 = 0.8;
/// Share of a run's range of sizes, on a logarithmic axis, that gaps no wider than what its schedule bridges make up: at the
/// smallest sizes whole bytes leave wider ones.
const REGULAR: f64 = 0.75;
/// No gap wider than this ratio of sizes is bridged, whatever the schedules.
const WIDEST: f64 = 2.0;
/// Gaps that differ by less than this share are of one width: schedules round to whole bytes and perturb.
const ALIKE: f64 = 0.1;
/// Standard errors of the difference of two neighbours within which a slope is no jump.
const SURE: f64 = 3.0;

/// A run's value at a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    /// Logarithm of the time.
    pub ln: f64,
    pub error: StandardError,
    /// It was not measured there.
    pub interpolated: bool,
}

/// The sizes at which all runs are compared, ascending, and for each run its values there. The sizes are those that all have; where these
/// are few, also those of the run with the coarsest schedule.
pub(super) fn align(runs: &[&Sizes]) -> (Vec<u64>, Vec<Vec<Value>>) {
    let measured = |run: &Sizes, size: &u64| {
        run.get(size).map(|(ln, error)| Value { ln: *ln, error: *error, interpolated: false })
    };
    let from = runs.iter().filter_map(|r| r.keys().next()).max().copied().unwrap_or(0);
    let to = runs.iter().filter_map(|r| r.keys().next_back()).min().copied().unwrap_or(0);
    let within = |run: &&Sizes| if from <= to { run.range(from..=to).count() } else { 0 };
    let Some(coarsest) = runs.iter().copied().min_by_key(within) else { return Default::default() };
    let common = coarsest.keys().filter(|s| runs.iter().all(|r| r.contains_key(s))).count();
    let few = (common as f64) < EXPECTED * within(&coarsest) as f64;
    let bridged = runs.iter().map(|r| bridge(r)).fold(WIDEST.ln(), f64::min) * (1.0 + ALIKE);
    let at =
        |run: &Sizes, size: &u64| measured(run, size).or_else(|| if few { between(run, *size, bridged) } else { None });
    let rows = coarsest.keys().filter_map(|size| {
        let values: Option<Vec<Value>> = runs.iter().map(|r| at(r, size)).collect();
        Some((*size, values?))
    });
    let (sizes, rows): (Vec<u64>, Vec<Vec<Value>>) = rows.unzip();
    let columns = (0..runs.len()).map(|run| rows.iter().map(|row| row[run]).collect()).collect();
    (sizes, columns)
}

/// The widest gap that a run's schedule leaves as a rule, as a logarithm.
fn bridge(run: &Sizes) -> f64 {
    let logs: Vec<f64> = run.keys().filter(|s| **s > 0).map(|s| (*s as f64).ln()).collect();
    let mut gaps: Vec<f64> = logs.windows(2).map(|w| w[1] - w[0]).collect();
    gaps.sort_by(f64::total_cmp);
    let range: f64 = gaps.iter().sum();
    let mut covered = 0.0;
    let regular = gaps.iter().find(|gap| {
        covered += **gap;
        covered >= REGULAR * range
    });
    regular.copied().unwrap_or(0.0)
}

/// A run's value at a size between two of its own; none beyond its ends, across a jump or a gap wider than `bridged`.
fn between(run: &Sizes, size: u64, bridged: f64) -> Option<Value> {
    let (below, (ln_below, error_below)) = run.range(..size).next_back()?;
    let (above, (ln_above, error_above)) = run.range((Excluded(size), Unbounded)).next()?;
    let gap = (*above as f64 / *below as f64).ln();
    // A message of no bytes has no place on a logarithmic axis: its gap is infinite.
    if gap > bridged {
        return None;
    }
    let (rise, unsure) = (ln_above - ln_below, SURE * error_below.value.hypot(error_above.value));
    if rise < -unsure || rise > gap + unsure {
        return None;
    }
    let from_below = (size as f64 / *below as f64).ln();
    let share = from_below / gap;
    let rise = rise.clamp(0.0, gap);
    let hidden = from_below.min(rise) - (rise - (gap - from_below)).max(0.0);
    // Evenly likely anywhere in the parallelogram, and known for certain to lie there.
    let hidden = (hidden.max(0.0).powi(2) / 12.0, f64::INFINITY);
    let neighbour = |weight: f64, e: &StandardError| ((weight * e.value).powi(2), e.degrees);
    let error = StandardError::of_sum(&[neighbour(1.0 - share, error_below), neighbour(share, error_above), hidden]);
    Some(Value { ln: ln_below + share * (ln_above - ln_below), error, interpolated: true })
}

/// Of the runs of one side: the mean at each size, and the level of each run about that, the median over the sizes; all as logarithms.
pub(super) fn levels(runs: &[Vec<Value>]) -> (Vec<f64>, Vec<f64>) {
    let sizes = runs.first().map_or(0, Vec::len);
    // Once for all runs: with a hundred of them, a mean for each would be ten thousand.
    let middles: Vec<f64> = (0..sizes).map(|i| mean(&runs.iter().map(|run| run[i].ln).collect::<Vec<_>>())).collect();
    let about = |run: &Vec<Value>| -> Vec<f64> { run.iter().zip(&middles).map(|(v, m)| v.ln - m).collect() };
    let levels = runs.iter().map(|run| median(&about(run))).collect();
    (middles, levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(sizes: &[u64], time: impl Fn(f64) -> f64) -> Sizes {
        let error = StandardError { value: 0.001, degrees: 9.0 };
        sizes.iter().map(|s| (*s, (time(*s as f64).ln(), error))).collect()
    }

    fn grid(step: f64, from: f64, to: f64) -> Vec<u64> {
        let many = ((to / from).ln() / step.ln()) as i32;
        let mut all: Vec<u64> = (0..=many).map(|i| (from * step.powi(i)).round() as u64).collect();
        all.dedup();
        all
    }

    fn line(x: f64) -> f64 {
        1e-5 + 2e-10 * x
    }

    #[test]
    fn common_sizes_are_enough_where_most_are_common() {
        let (a, mut b) = (run(&grid(1.1, 64.0, 1e6), line), run(&grid(1.1, 64.0, 1e6), line));
        b.extend(run(&[1000, 100_001], line));
        let removed: Vec<u64> = b.keys().copied().step_by(10).collect();
        b.retain(|s, _| !removed.contains(s));
        let (sizes, values) = align(&[&a, &b]);
        assert!(sizes.len() > 80 && values.iter().flatten().all(|v| !v.interpolated));
    }

    #[test]
    fn between_its_sizes_a_curve_lies_where_its_error_says() {
        for time in
            [line as fn(f64) -> f64, |x| 1e-5 + 1e-12 * x, |x| 1e-9 * x, |x| 1e-6 * x.sqrt(), |x| line(x).max(4e-5)]
        {
            let (a, b) = (run(&grid(1.1, 64.0, 1e6), time), run(&grid(1.1, 67.0, 1e6), time));
            let (sizes, values) = align(&[&a, &b]);
            assert!(sizes.len() > 90, "{}", sizes.len());
            for (size, v) in sizes.iter().zip(&values[1]).filter(|(_, v)| v.interpolated) {
                let off = (v.ln - time(*size as f64).ln()).abs();
                assert!(off <= 3f64.sqrt() * v.error.value, "{size}: {off} {v:?}");
                assert!(v.error.value < 0.02, "{size}: {v:?}");
            }
        }
    }

    #[test]
    fn a_wide_gap_hides_more_than_a_narrow_one() {
        let at = |step: f64| {
            let run = run(&grid(step, 64.0, 1e7), line);
            between(&run, 49_000, f64::INFINITY).unwrap().error.value
        };
        assert!(at(1.05) < at(1.2) && at(1.2) < at(1.9), "{} {} {}", at(1.05), at(1.2), at(1.9));
    }

    #[test]
    fn nothing_is_said_across_a_jump() {
        let jump = |x: f64| if x > 50_000.0 { 3.0 * line(x) } else { line(x) };
        let dip = |x: f64| if (50_000.0..80_000.0).contains(&x) { 3.0 * line(x) } else { line(x) };
        for time in [jump as fn(f64) -> f64, dip] {
            let (a, b) = (run(&grid(1.3, 64.0, 1e6), line), run(&grid(1.3, 75.0, 1e6), time));
            let (sizes, _) = align(&[&a, &b]);
            let edges: Vec<u64> = b.keys().copied().collect();
            for pair in edges.windows(2).filter(|w| (w[0] as f64) < 50_000.0 && w[1] as f64 > 50_000.0) {
                assert!(!sizes.iter().any(|s| pair[0] < *s && *s < pair[1]), "{pair:?} {sizes:?}");
            }
            assert!(sizes.len() > 28, "{}", sizes.len());
        }
    }

    #[test]
    fn no_gap_is_bridged_that_the_finer_schedule_would_have_filled() {
        let (coarse, fine) = (run(&grid(1.9, 64.0, 1e6), line), run(&grid(1.1, 64.5, 1e6), line));
        let (sizes, values) = align(&[&fine, &coarse]);
        assert!(sizes.iter().all(|s| coarse.contains_key(s)), "the coarse curve is never guessed at");
        assert!(sizes.len() >= coarse.len() - 2 && values[1].iter().all(|v| !v.interpolated));
        // A hole in a fine curve is none of its schedule.
        let mut holed = fine.clone();
        holed.retain(|s, _| !(10_000..20_000).contains(s));
        let (sizes, _) = align(&[&coarse, &holed]);
        assert!(!sizes.iter().any(|s| (10_000..20_000).contains(s)), "{sizes:?}");
    }

    #[test]
    fn curves_side_by_side_and_empty_ones_have_nothing() {
        let (low, high) = (run(&[1, 2, 4], line), run(&[8, 16], line));
        assert!(align(&[&low, &high]).0.is_empty());
        assert!(align(&[&low, &Sizes::new()]).0.is_empty());
        assert!(align(&[]).0.is_empty());
        assert!(between(&low, 5, 9.0).is_none() && between(&low, 0, 9.0).is_none());
        let nothing = Sizes::from([(0, low[&1]), (4, low[&4])]);
        assert!(between(&nothing, 2, 9.0).is_none() && between(&low, u64::MAX, 9.0).is_none());
    }
}
