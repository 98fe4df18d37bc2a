//! Percentiles of single iterations.

use std::collections::BTreeMap;

use transport::Kind;

use super::{Common, transfers};
use crate::event::{Percentiles, Plan, Trial};

/// Iterations that a percentile needs: one beyond it, at least.
const FOR_P90: u64 = 10;
const FOR_P99: u64 = 100;
const FOR_P999: u64 = 1000;

/// Each round weighs as much as any other, as in the median over rounds, however many iterations it timed.
const WEIGHT: u64 = 1_000_000;

/// Percentiles over all single iterations of the counted trials, where every one of them timed single iterations: those that
/// so many iterations can tell, none above the longest.
///
/// The 50th answers the same question as the median, so it is told at the run's typical level, too: each trial's iterations
/// are divided by the level of its moment, or the two would differ by as much as the machine's states. The others are for
/// the tail, of which a slow state is a part that users wait for: they are of the iterations as they were, and at least
/// the 50th.
pub(super) fn percentiles(plan: &Plan, kind: Kind, used: &[&Trial], common: &Common) -> Option<Percentiles> {
    if used.iter().any(|t| t.report.histogram.is_empty()) {
        return None;
    }
    let iterations = |t: &Trial| t.report.histogram.iter().map(|(_, n)| n).sum::<u64>();
    let mut of_round = BTreeMap::<u32, u64>::new();
    used.iter().for_each(|t| *of_round.entry(t.block).or_default() += iterations(t));
    let (mut all, mut at_level) = (stats::Histogram::new(), stats::Histogram::new());
    for t in used {
        let weight = (WEIGHT / of_round[&t.block].max(1)).max(1);
        let level = (common.level(t.block) + common.within(t)).exp();
        let weighed = |ns: f64, n: u64| (ns.round() as u64, n.saturating_mul(weight));
        let pairs = |level: f64| -> Vec<(u64, u64)> {
            t.report.histogram.iter().map(|(ns, n)| weighed(*ns as f64 / level, *n)).collect()
        };
        all.add_pairs(&pairs(1.0));
        at_level.add_pairs(&pairs(level));
    }
    let each = transfers(plan, kind, used[0]);
    let longest = used.iter().map(|t| t.report.max).fold(0.0, f64::max) / each;
    let total: u64 = of_round.values().sum();
    let at = |all: &stats::Histogram, q: f64| (all.quantile(q) as f64 * 1e-9 / each).min(longest);
    let p50 = at(&at_level, 0.5);
    let told = |q: f64, needed: u64| (total >= needed).then(|| at(&all, q).max(p50));
    Some(Percentiles {
        p50,
        p90: told(0.9, FOR_P90),
        p99: told(0.99, FOR_P99),
        p999: told(0.999, FOR_P999),
        max: longest,
    })
}
