//! Ratios of two sides at each size, their errors, and their significance.

use stats::{CONFIDENCE, FEWEST_ROUNDS, StandardError, holm, mean, median, student_p};

use super::align::{Value, align};
use super::apart::Apart;
use super::between::BetweenRuns;
use super::drift::Drift;
use super::machine::{Disturbed, Explained, Shift, shifts};
use super::ready::Ready;
use super::{Compared, LEVEL, Side};
use crate::Estimate;

/// What [`super::Comparison`] is made of.
pub(super) struct Ratios {
    pub sizes: Vec<Compared>,
    pub left_out: usize,
    pub machine: Vec<Shift>,
    pub drift: Option<f64>,
    pub disturbed: Option<Disturbed>,
    pub between: Option<BetweenRuns>,
    pub few_rounds: Option<u32>,
    pub whole: Estimate,
    pub throughput: Option<Estimate>,
}

/// Compares two sides size by size. `taken` of a ratio's logarithm others may explain, either way; where that is infinite, all errors are.
pub(super) fn ratios(first: Side<'_>, second: Side<'_>, taken: f64) -> Option<Ratios> {
    let known = taken.is_finite();
    let by_others = if known { taken } else { 0.0 };
    let ready = |side: Side<'_>| -> Vec<Ready> { side.runs.iter().map(|r| Ready::of(r)).collect() };
    let (a, b) = (ready(first), ready(second));
    let all = || a.iter().chain(&b);
    let (common, values) = align(&all().map(|r| &r.sizes).collect::<Vec<_>>());
    if common.is_empty() || a.is_empty() || b.is_empty() {
        return None;
    }
    let sides = values.split_at(a.len());
    let mut seen: Vec<u64> = all().flat_map(|r| r.sizes.keys().copied()).collect();
    seen.sort_unstable();
    seen.dedup();

    let machine = shifts(first.circumstances, second.circumstances);
    let disturbed = Disturbed::of(first.circumstances, second.circumstances);
    let rounds = [&a, &b].map(|side| side.iter().map(|r| r.rounds).sum::<u32>());
    let few_rounds = rounds.into_iter().min().filter(|rounds| (*rounds as usize) < FEWEST_ROUNDS);
    let apart = Apart::of((&a, sides.0, first), (&b, sides.1, second), &common);
    // Earlier runs that the sides carry have what the machine usually does from run to run in their spread.
    let usual = apart.between.filter(|_| apart.carried).map(|b| b.spread);
    let drift = Drift::of([first.circumstances, second.circumstances], sides.into())
        .filter(|drift| usual.is_none_or(|spread| drift.exceeds(spread)));
    let explained = Explained::by(&machine).and(drift.as_ref().map(|d| d.whole));
    let explained = explained.and(Some(by_others)).and(Some(-by_others));
    let explained_at = |i: usize| explained.and(drift.as_ref().map(|d| d.at[i]));
    let carried_on = drift.as_ref().filter(|_| usual.is_none()).map_or(StandardError::default(), |d| d.error);
    let with_drift = |e: StandardError| {
        StandardError::of_sum(&[(e.value.powi(2), e.degrees), (carried_on.value.powi(2), carried_on.degrees)])
    };
    let unknown = StandardError { value: f64::INFINITY, degrees: 1.0 };
    let known = known && few_rounds.is_none();
    let whole = if known { with_drift(apart.whole) } else { unknown };
    let at = |side: &[Vec<Value>], i: usize| mean(&side.iter().map(|r| r[i].ln).collect::<Vec<_>>());
    let guessed = |side: &[Vec<Value>], i: usize| side.iter().any(|r| r[i].interpolated);
    let differences: Vec<f64> = (0..common.len()).map(|i| at(sides.1, i) - at(sides.0, i)).collect();
    let tests: Vec<StandardError> = (0..common.len())
        .map(|i| {
            let enough =
                |side: &[Ready]| side.iter().map(|r| r.rounds_at(common[i])).sum::<u32>() as usize >= FEWEST_ROUNDS;
            if !known || !enough(&a) || !enough(&b) {
                return unknown;
            }
            let own = [sides.0, sides.1].map(|side| side.iter().map(|r| r[i].error).collect::<Vec<_>>());
            with_drift(together(apart.at[i], &own))
        })
        .collect();
    let plain: Vec<f64> = (differences.iter().zip(&tests).enumerate())
        .map(|(i, (d, test))| match test.value {
            e if e > 0.0 => student_p(explained_at(i).beyond(*d) / e, test.degrees),
            // Without any noise, equal is equal and everything else differs.
            _ if explained_at(i).beyond(*d) == 0.0 => 1.0,
            _ => 0.0,
        })
        .collect();
    let noise = mean(&all().map(|r| r.shared.sigma.hypot(r.shared.between)).collect::<Vec<_>>());
    let compared = (common.iter().zip(&differences).enumerate()).zip(tests.iter().zip(holm(&plain))).map(
        |((i, (size, d)), (test, probability))| Compared {
            size: *size,
            first: at(sides.0, i).exp(),
            second: at(sides.1, i).exp(),
            ratio: estimate(*d, *test, explained_at(i)),
            effect: if noise > 0.0 { explained_at(i).beyond(*d) / noise } else { 0.0 },
            probability,
            significant: probability < LEVEL,
            by_order: false,
            first_interpolated: guessed(sides.0, i),
            second_interpolated: guessed(sides.1, i),
        },
    );
    let tops = [&a, &b].map(|side| side.iter().filter_map(|r| Some(r.top?.0)).collect::<Vec<_>>());
    let throughput = tops.iter().all(|t| !t.is_empty()).then(|| {
        let level = |side: usize| mean(&tops[side].iter().map(|t| t.0).collect::<Vec<_>>());
        let own = [0, 1].map(|side: usize| tops[side].iter().map(|t| t.1).collect::<Vec<_>>());
        // Throughput falls where time rises.
        let explained = Explained { low: -explained.high, high: -explained.low };
        let error = if known { with_drift(together(apart.tops, &own)) } else { unknown };
        estimate(level(1) - level(0), error, explained)
    });
    Some(Ratios {
        sizes: compared.collect(),
        left_out: seen.len() - common.len(),
        machine,
        drift: drift.map(|d| d.whole.exp()),
        disturbed,
        between: apart.between,
        few_rounds,
        whole: estimate(median(&differences), whole, explained),
        throughput,
    })
}

/// A ratio from its logarithm, the error of that, and what of it the machine may have added.
fn estimate(ln_ratio: f64, error: StandardError, explained: Explained) -> Estimate {
    let reach = error.reach(CONFIDENCE);
    Estimate::new(ln_ratio.exp(), (ln_ratio - explained.high - reach).exp(), (ln_ratio - explained.low + reach).exp())
}

/// The error of a difference of two sides' means: that of what each side's sizes share (`apart`), and those of the runs' own medians.
fn together(apart: StandardError, own: &[Vec<StandardError>; 2]) -> StandardError {
    let mut parts = vec![(apart.value.powi(2), apart.degrees)];
    for side in own {
        parts.extend(side.iter().map(|e| ((e.value / side.len() as f64).powi(2), e.degrees)));
    }
    StandardError::of_sum(&parts)
}
