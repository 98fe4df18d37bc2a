//! What a machine's drift explains of two sides that were measured one after the other.
//!
//! Where all runs of one side came before all of the other, whatever changed meanwhile lies between the sides as a whole, and the spread of
//! the runs of each side holds only a part of it. How far runs of one side move with time tells how much: the slope of the runs'
//! levels within the sides, over the time between the sides' means. Sides whose runs took turns have no such time between them. Where more time
//! passed between the sides than between the runs of one, the slope is carried on into what nobody measured, and its error with it.

use stats::{StandardError, mean, median};

use super::Circumstances;
use super::align::{Value, levels};

/// Sizes on either side of one whose drift is taken together: one size alone is too noisy.
const NEAR: usize = 4;

/// What drift makes of the second side's time over the first's, as logarithms.
#[derive(Debug, Clone)]
pub(super) struct Drift {
    /// Of the curves as wholes.
    pub whole: f64,
    /// Of each size and those near it.
    pub at: Vec<f64>,
    /// Error of carrying it on over the time in which nothing was measured.
    pub error: StandardError,
    /// Standard error of `whole` where the levels of runs lie 1 apart by chance (a standard deviation).
    of_spread: f64,
}

impl Drift {
    /// None where the runs took turns, where nothing tells their order, and where no side has two runs.
    pub fn of(circumstances: [&[Circumstances]; 2], values: [&[Vec<Value>]; 2]) -> Option<Self> {
        let [first, second] = starts(circumstances)?;
        let times = [&first[..], &second[..]];
        if times.iter().zip(values).any(|(times, runs)| times.len() != runs.len()) {
            return None;
        }
        let middles = times.map(mean);
        let about: [Vec<f64>; 2] = std::array::from_fn(|i| times[i].iter().map(|t| t - middles[i]).collect());
        let squares: f64 = about.iter().flatten().map(|t| t * t).sum();
        if squares <= 0.0 {
            return None;
        }
        let of_sides: [(Vec<f64>, Vec<f64>); 2] = values.map(levels);
        let slope = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
            let products = |side: usize| about[side].iter().enumerate().map(|(run, t)| t * of(side, run)).sum::<f64>();
            (products(0) + products(1)) / squares
        };
        let whole = slope(&|side, run| of_sides[side].1[run]);
        let apart = middles[1] - middles[0];
        let sizes = values[0].first().map_or(0, Vec::len);
        let near = |size: usize, side: usize, run: usize| {
            let all = size.saturating_sub(NEAR)..(size + NEAR + 1).min(sizes);
            median(&all.map(|i| values[side][run][i].ln - of_sides[side].0[i]).collect::<Vec<_>>())
        };
        let at = (0..sizes).map(|size| slope(&|side, run| near(size, side, run)) * apart).collect();
        let degrees = times.iter().map(|t| t.len()).sum::<usize>() as f64 - 3.0;
        let rest: f64 = (0..2)
            .flat_map(|side| (0..times[side].len()).map(move |run| (side, run)))
            .map(|(side, run)| (of_sides[side].1[run] - whole * about[side][run]).powi(2))
            .sum();
        let slope_error = if degrees > 0.0 { (rest / degrees / squares).sqrt() } else { 0.0 };
        let error = StandardError { value: slope_error * unmeasured(times), degrees: degrees.max(1.0) };
        Some(Self { whole: whole * apart, at, error, of_spread: apart.abs() / squares.sqrt() })
    }

    /// Whether the drift is more than runs that lie so far apart by chance show (two standard errors).
    pub fn exceeds(&self, spread: f64) -> bool {
        self.whole.abs() > 2.0 * spread * self.of_spread
    }
}

/// Time between the sides in which nothing was measured, beyond that between two runs of one side.
fn unmeasured(times: [&[f64]; 2]) -> f64 {
    let ends = |side: &[f64]| {
        side.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), t| (low.min(*t), high.max(*t)))
    };
    let (a, b) = (ends(times[0]), ends(times[1]));
    let between = (b.0 - a.1).max(a.0 - b.1);
    let steps: f64 = times.iter().map(|side| side.len() as f64 - 1.0).sum();
    let usual = (a.1 - a.0 + b.1 - b.0) / steps.max(1.0);
    (between - usual).max(0.0)
}

/// When each run began, where the one side's runs all came before the other's.
fn starts(circumstances: [&[Circumstances]; 2]) -> Option<[Vec<f64>; 2]> {
    let of = |side: &[Circumstances]| side.iter().map(|c| c.started).collect::<Option<Vec<f64>>>();
    let [first, second] = circumstances.map(of);
    let (first, second) = (first?, second?);
    let least = |side: &[f64]| side.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |side: &[f64]| side.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let series = most(&first) <= least(&second) || most(&second) <= least(&first);
    (series && !first.is_empty() && !second.is_empty()).then_some([first, second])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, CurvePoint, Finding, Side};

    /// A run of so many sizes at a level, its rounds a little apart.
    fn run(level: f64) -> Vec<CurvePoint> {
        let rounds = |seconds: f64| (0..9).map(|k| (k, seconds * (1.0 + 0.001 * f64::from(k % 3)))).collect();
        (0..40)
            .map(|i| 1e-5 * level * (1.0 + f64::from(i)))
            .zip(1..)
            .map(|(s, i)| CurvePoint::of(64 * i, s, rounds(s)))
            .collect()
    }

    fn started(order: &[usize]) -> Vec<Circumstances> {
        order.iter().map(|at| Circumstances { started: Some(60.0 * *at as f64), ..Default::default() }).collect()
    }

    fn compared(a: (&[f64], &[usize]), b: (&[f64], &[usize])) -> Comparison {
        let runs = |levels: &[f64]| levels.iter().map(|l| run(*l)).collect::<Vec<_>>();
        let (first, second, around_a, around_b) = (runs(a.0), runs(b.0), started(a.1), started(b.1));
        let side = |runs, circumstances| Side { circumstances, ..Side::of(runs) };
        Comparison::of(side(&first, &around_a), side(&second, &around_b)).unwrap()
    }

    #[test]
    fn a_machine_that_drifts_from_run_to_run_is_no_difference_of_sides_that_came_one_after_the_other() {
        let (a, b) = ([1.0, 1.03, 1.06], [1.09, 1.12, 1.15]);
        let series = compared((&a, &[0, 1, 2]), (&b, &[3, 4, 5]));
        assert!((series.drift.unwrap().ln() - 0.085).abs() < 0.005, "{:?}", series.drift);
        assert!(!series.differs_as_whole() && series.finding(true) != Finding::Differ, "{:?}", series.whole);
        assert!(series.sizes.iter().all(|s| !s.significant));
        let back = compared((&b, &[3, 4, 5]), (&a, &[0, 1, 2]));
        assert!((back.drift.unwrap() * series.drift.unwrap() - 1.0).abs() < 1e-9, "the same the other way round");
        // The same levels of runs that took turns, and of runs whose order nothing tells.
        let turns = compared((&a, &[0, 2, 4]), (&b, &[1, 3, 5]));
        assert!(turns.drift.is_none() && turns.differs_as_whole(), "{:?}", turns.whole);
        let (first, second) = (a.map(run), b.map(run));
        assert_eq!(Comparison::of(Side::of(&first), Side::of(&second)).unwrap().drift, None);
    }

    #[test]
    fn a_difference_beyond_the_drift_is_found_all_the_same() {
        let found = compared((&[1.0, 1.01, 1.02], &[0, 1, 2]), (&[1.33, 1.34, 1.35], &[3, 4, 5]));
        assert_eq!(found.finding(true), Finding::Differ, "{:?} {:?}", found.whole, found.drift);
    }

    #[test]
    fn what_a_drift_did_while_nothing_was_measured_is_not_known() {
        let levels = ([1.0, 1.003, 1.005], [1.062, 1.066, 1.07]);
        let gap = compared((&levels.0, &[0, 1, 2]), (&levels.1, &[30, 31, 32]));
        assert!(!gap.differs_as_whole() && gap.sizes.iter().all(|s| !s.significant), "{:?} {:?}", gap.whole, gap.drift);
        let far = compared((&[1.0, 1.003, 1.005], &[0, 1, 2]), (&[3.0, 3.01, 3.02], &[30, 31, 32]));
        assert!(far.differs_as_whole(), "{:?}", far.whole);
    }

    #[test]
    fn a_part_of_the_sizes_may_drift_alone() {
        let part = |level: f64| -> Vec<CurvePoint> {
            let slow = run(level);
            run(1.0).into_iter().zip(slow).enumerate().map(|(i, (a, b))| if i < 25 { a } else { b }).collect()
        };
        let (a, b) = ([1.0, 1.05, 1.1].map(part), [1.15, 1.2, 1.25].map(part));
        let (around_a, around_b) = (started(&[0, 1, 2]), started(&[3, 4, 5]));
        let (first, second) =
            (Side { circumstances: &around_a, ..Side::of(&a) }, Side { circumstances: &around_b, ..Side::of(&b) });
        let found = Comparison::of(first, second).unwrap();
        assert_eq!(found.sizes.iter().filter(|s| s.significant).count(), 0, "{:?}", found.stretches);
    }

    #[test]
    fn single_runs_tell_no_drift() {
        assert_eq!(compared((&[1.0], &[0]), (&[1.1], &[1])).drift, None);
    }
}
