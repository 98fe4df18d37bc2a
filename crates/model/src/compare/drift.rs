//! What a machine's drift explains of two sides that were measured one after the other.
//!
//! Where all runs of one side came before all of the other, whatever changed meanwhile lies between the sides as a whole, and the spread of
//! the runs of each side holds only a part of it. How far runs of one side move from one to the next tells how much: the slope of the runs'
//! levels within the sides, over the distance of the sides' means. Sides whose runs took turns have no such distance.

use stats::mean;

use super::Circumstances;
use super::align::{Value, levels};

/// Logarithm of the second side's time over that of the first by drift alone. None where the runs took turns, where nothing tells their order,
/// and where no side has two runs.
pub(super) fn between(circumstances: [&[Circumstances]; 2], values: [&[Vec<Value>]; 2]) -> Option<f64> {
    let places = places(circumstances)?;
    let (mut products, mut squares) = (0.0, 0.0);
    for (places, runs) in places.iter().zip(values).filter(|(places, runs)| places.len() == runs.len()) {
        let (_, levels) = levels(runs);
        let middle = mean(places);
        products += places.iter().zip(&levels).map(|(x, y)| (x - middle) * y).sum::<f64>();
        squares += places.iter().map(|x| (x - middle).powi(2)).sum::<f64>();
    }
    (squares > 0.0).then(|| products / squares * (mean(&places[1]) - mean(&places[0])))
}

/// The place of each run among all by its start, where the one side's runs all came before the other's.
fn places(circumstances: [&[Circumstances]; 2]) -> Option<[Vec<f64>; 2]> {
    let starts = circumstances.map(|side| side.iter().map(|c| c.started.as_str()).collect::<Vec<_>>());
    let mut all: Vec<&str> = starts.iter().flatten().copied().collect();
    all.sort_unstable();
    if all.contains(&"") || all.windows(2).any(|two| two[0] == two[1]) {
        return None;
    }
    let [first, second] = &starts;
    let (last, next) = (first.iter().max()?, second.iter().min()?);
    let (others_last, others_next) = (second.iter().max()?, first.iter().min()?);
    let place = |start: &&str| all.partition_point(|s| s < start) as f64;
    (last < next || others_last < others_next).then(|| starts.each_ref().map(|side| side.iter().map(place).collect()))
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
        order
            .iter()
            .map(|at| Circumstances { started: format!("2026-01-01T00:00:{at:02}Z"), ..Default::default() })
            .collect()
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
    fn single_runs_tell_no_drift() {
        assert_eq!(compared((&[1.0], &[0]), (&[1.1], &[1])).drift, None);
    }
}
