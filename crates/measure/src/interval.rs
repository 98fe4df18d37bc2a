//! Intervals of a soak as trials: several trials made one, and as many of them as memory may hold. Pure.
//!
//! An interval is a trial whose `round` is the interval's number, from 1. Successive trials on one connection are merged into one: their
//! counts and times add up, their histograms merge, and their pauses keep their moments. So are the intervals of a stretch, where a soak
//! has more than [`MOST`]: each row then stands for a power of two of them, and memory does not grow with the length of the soak.

use std::collections::BTreeMap;

use host::Taken;

use crate::event::{RoundTaken, Trial};
use crate::report::copies;
use crate::{Cost, FarReport, Tcp, TrialReport};

/// Most rows of a size, beside those of the last, incomplete stretch.
pub const MOST: u32 = 2048;

/// Pauses that an interval keeps: the longest.
const PAUSES: usize = 64;

/// These trials of one size, in order of time, as one; none of no trial. The median is the mean of theirs, weighted by iterations: a
/// histogram is exact to 1%, which would hide a drift of less.
pub fn merged(trials: &[Trial]) -> Option<Trial> {
    let (first, last) = (trials.first()?, trials.last()?);
    if trials.len() == 1 {
        return Some(first.clone());
    }
    let reports = || trials.iter().map(|t| &t.report);
    let sum = |of: fn(&TrialReport) -> u64| reports().map(of).fold(0, u64::saturating_add);
    let timed = || reports().filter(|r| r.repeats > 0);
    let weight: f64 = timed().filter(|r| r.median > 0.0).map(|r| r.repeats as f64).sum();
    let medians: f64 = timed().map(|r| r.median * r.repeats as f64).sum();
    let singles = timed().all(|r| !r.histogram.is_empty());
    let mut counts = BTreeMap::<u64, u64>::new();
    for (ns, n) in reports().filter(|_| singles).flat_map(|r| &r.histogram) {
        let count = counts.entry(*ns).or_default();
        *count = count.saturating_add(*n);
    }
    let since = |t: &Trial| ((t.at - first.at).max(0.0) * 1e9) as u64;
    let mut pauses: Vec<(u64, u64)> = trials
        .iter()
        .flat_map(|t| t.report.pauses.iter().map(move |(at, ns)| (since(t).saturating_add(*at), *ns)))
        .collect();
    if pauses.len() > PAUSES {
        pauses.sort_unstable_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        pauses.truncate(PAUSES);
        pauses.sort_unstable();
    }
    let report = TrialReport {
        repeats: sum(|r| r.repeats),
        seconds: reports().map(|r| r.seconds).sum(),
        median: if weight > 0.0 { medians / weight } else { 0.0 },
        min: timed().map(|r| r.min).filter(|min| *min > 0.0).reduce(f64::min).unwrap_or(0.0),
        max: reports().map(|r| r.max).fold(0.0, f64::max),
        histogram: counts.into_iter().collect(),
        pauses,
        late: sum(|r| r.late),
        lost: sum(|r| r.lost),
        reordered: sum(|r| r.reordered),
        duplicated: sum(|r| r.duplicated),
        bounds: last.report.bounds,
        cost: Cost::of_all(reports().map(|r| r.cost)),
        tcp: last.report.tcp.map(|tcp| Tcp {
            retransmits: reports().filter_map(|r| r.tcp).fold(0, |sum, t| sum.saturating_add(t.retransmits)),
            ..tcp
        }),
        copied: copies(reports().map(|r| r.copied)),
        // A soak has one flow, and nothing loads its path.
        flows: None,
        course: None,
        load: None,
        far: far(trials),
    };
    Some(Trial { warmup: trials.iter().all(|t| t.warmup), report, ..first.clone() })
}

/// The far side's reports of them as one.
fn far(trials: &[Trial]) -> FarReport {
    let each = || trials.iter().map(|t| &t.report.far);
    let sum = |of: fn(&FarReport) -> u64| each().map(of).fold(0, u64::saturating_add);
    FarReport {
        seconds: each().map(|f| f.seconds).sum(),
        bytes: sum(|f| f.bytes),
        received: sum(|f| f.received),
        lost: sum(|f| f.lost),
        reordered: sum(|f| f.reordered),
        duplicated: sum(|f| f.duplicated),
        strangers: sum(|f| f.strangers),
        corrupt: each().find_map(|f| f.corrupt),
        spilled: each().find_map(|f| f.spilled),
        bounds: each().find_map(|f| f.bounds),
        cost: Cost::of_all(each().map(|f| f.cost)),
        course: None,
        // Both halves of a recorded trial are one report, which has it.
        copied: None,
    }
}

/// Adds an interval, and merges rows into stretches where there are more than [`MOST`].
pub fn keep(rows: &mut Vec<Trial>, interval: Trial) {
    // What came before the first interval warmed the connection up.
    let number = |t: &Trial| if t.warmup { 0 } else { t.round };
    kept(rows, interval, number, |stretch| merged(&stretch));
}

/// The same of what others took of the CPUs.
pub fn keep_taken(rows: &mut Vec<RoundTaken>, taken: RoundTaken) {
    let together = |stretch: Vec<RoundTaken>| {
        let taken = Taken::over(&stretch.iter().map(|t| t.taken).collect::<Vec<_>>())?;
        Some(RoundTaken { taken, ..stretch.into_iter().next()? })
    };
    kept(rows, taken, |t| t.round, together);
}

/// The rows with those of the last, incomplete stretch as one: in pictures they would be the only single intervals.
pub fn whole(rows: Vec<Trial>) -> Vec<Trial> {
    let Some(stretch) = rows.last().map(|last| stretch(last.round)) else { return rows };
    let same = |a: &Trial, b: &Trial| a.warmup == b.warmup && a.round.div_ceil(stretch) == b.round.div_ceil(stretch);
    rows.chunk_by(same).filter_map(merged).collect()
}

fn kept<T>(rows: &mut Vec<T>, row: T, number: impl Fn(&T) -> u32, together: impl Fn(Vec<T>) -> Option<T>) {
    let (round, before) = (number(&row), rows.last().map_or(0, &number));
    let stretch = stretch(round);
    let place = |round: u32| round.div_ceil(stretch);
    let whole = place(round) != place(before);
    // Stretches have the length of the row that comes: one of half that length now has a neighbour to merge with.
    let from = if stretch > self::stretch(before) {
        0
    } else if stretch > 1 && whole {
        rows.iter().rposition(|r| place(number(r)) != place(before)).map_or(0, |last| last + 1)
    } else {
        rows.len()
    };
    if from < rows.len() {
        let mut open: Vec<T> = Vec::new();
        for row in rows.split_off(from) {
            if open.last().is_some_and(|last| place(number(last)) != place(number(&row))) {
                rows.extend(together(std::mem::take(&mut open)));
            }
            open.push(row);
        }
        rows.extend(together(open));
    }
    rows.push(row);
}

/// Intervals that a row stands for, once there are so many.
fn stretch(intervals: u32) -> u32 {
    intervals.div_ceil(MOST).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(round: u32) -> Trial {
        let each = 1e-5 * (1.0 + 0.01 * f64::from(round % 7));
        let ns = (each * 1e9) as u64;
        let report = TrialReport {
            repeats: 100,
            seconds: 100.0 * each,
            median: each,
            min: each * 0.9,
            max: each * 3.0,
            histogram: vec![(ns, 99), (3 * ns, 1)],
            pauses: vec![(1000, 3 * ns)],
            lost: u64::from(round.is_multiple_of(10)),
            cost: Some(Cost { iterations: 100, cpu_ns: 500, step_ns: 4, ..Cost::default() }),
            ..TrialReport::default()
        };
        Trial { path: 0, round, at: f64::from(round - 1), size: 64, response: 0, burst: 0, warmup: false, report }
    }

    #[test]
    fn trials_that_follow_each_other_add_up() {
        let all: Vec<Trial> = (1..=10).map(interval).collect();
        let one = merged(&all).unwrap();
        let r = &one.report;
        assert_eq!((one.round, one.at, r.repeats, r.lost), (1, 0.0, 1000, 1));
        assert_eq!(r.histogram.iter().map(|(_, n)| n).sum::<u64>(), 1000);
        assert!(r.histogram.windows(2).all(|w| w[0].0 < w[1].0));
        let medians: f64 = all.iter().map(|t| t.report.median).sum::<f64>() / 10.0;
        assert!((r.median / medians - 1.0).abs() < 1e-12);
        assert_eq!((r.pauses.len(), r.pauses[9].0), (10, 9_000_001_000));
        assert_eq!(r.cost.map(|c| (c.iterations, c.cpu_ns, c.step_ns)), Some((1000, 5000, 4)));
        assert_eq!((merged(&[]), merged(&all[..1])), (None, Some(all[0].clone())));
    }

    #[test]
    fn a_trial_that_timed_no_single_iterations_leaves_no_histogram_of_the_others() {
        let mut all: Vec<Trial> = (1..=2).map(interval).collect();
        all[1].report.histogram.clear();
        all[1].report.cost = None;
        let one = merged(&all).unwrap().report;
        assert!(one.histogram.is_empty() && one.cost.is_none() && one.repeats == 200);
        // One of which nothing completed says nothing of times.
        all[1].report = TrialReport { lost: 3, ..TrialReport::default() };
        let one = merged(&all).unwrap().report;
        assert_eq!((one.repeats, one.lost, one.histogram.len()), (100, 3, 2));
        assert!((one.median / all[0].report.median - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_soak_of_any_length_holds_a_bounded_number_of_rows_and_loses_nothing() {
        let (mut rows, mut taken, mut most) = (Vec::new(), Vec::new(), 0);
        for round in 1..=50_000 {
            keep(&mut rows, interval(round));
            let share = Taken { processes: 0.5, ..Taken::default() };
            keep_taken(&mut taken, RoundTaken { path: 0, round, taken: share });
            most = most.max(rows.len()).max(taken.len());
        }
        assert!(most <= MOST as usize + 32, "{most}");
        assert!(rows.len() > MOST as usize / 2 && taken.len() == rows.len(), "{}", rows.len());
        assert_eq!(rows.iter().map(|t| t.report.repeats).sum::<u64>(), 5_000_000);
        assert_eq!(rows.iter().map(|t| t.report.lost).sum::<u64>(), 5_000);
        assert!(rows.windows(2).all(|w| w[0].round < w[1].round && w[0].at < w[1].at));
        // All but the last stretch stand for as many intervals.
        assert!(rows[..rows.len() - 32].iter().all(|t| t.report.repeats == 3200), "32 of 100 iterations");
        assert!(taken.iter().all(|t| t.taken.processes == 0.5));
        let whole = whole(rows);
        assert_eq!((whole.len(), whole.last().map(|t| t.round)), (50_000usize.div_ceil(32), Some(49_985)));
    }

    #[test]
    fn up_to_the_bound_each_interval_is_a_row() {
        let mut rows = Vec::new();
        let warm = Trial { warmup: true, ..interval(1) };
        keep(&mut rows, warm);
        (1..=MOST).for_each(|round| keep(&mut rows, interval(round)));
        assert_eq!(rows.len(), 1 + MOST as usize);
        keep(&mut rows, interval(MOST + 1));
        assert_eq!(rows.len(), 2 + MOST as usize / 2);
        assert!(rows[0].warmup && rows[1].report.repeats == 200);
    }
}
