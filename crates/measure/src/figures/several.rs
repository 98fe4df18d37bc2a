//! What several flows did beside each other: the slowest's and the fastest's throughput and the fairness, with their intervals.

use std::collections::BTreeMap;

use stats::{CONFIDENCE, Interval, median, rounds_interval};

use super::resolved;
use crate::event::{FlowFigures, Trial};

/// Throughput of all flows of a point, bits a second.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfAll {
    /// The figure.
    pub throughput: f64,
    /// Its 95% interval.
    pub interval: Interval,
}

/// What the flows of a point did in the time that all ran, each figure the median over its trials; none of one flow.
///
/// Shares and fairness are ratios within a trial, which the machine's level does not move: their intervals rest on the rounds' medians. A
/// single flow's throughput is its share of that of all; both errors add up, on the scale of ratios.
pub(super) fn of_flows(used: &[&Trial], all: OfAll) -> Option<FlowFigures> {
    let count = used.iter().find_map(|t| t.report.flows.as_ref())?.each.len() as u32;
    let mut rounds = BTreeMap::<u32, Vec<[f64; 4]>>::new();
    for (round, f) in used.iter().filter_map(|t| Some((t.round, t.report.flows.as_ref()?))) {
        if let (Some((least, most)), Some(fairness)) = (f.shares(), f.fairness()) {
            rounds.entry(round).or_default().push([least, most, fairness, f.seconds / f.span]);
        }
    }
    let over = |trials: &mut dyn Iterator<Item = &[f64; 4]>, figure: usize| {
        median(&trials.map(|trial| trial[figure]).collect::<Vec<_>>())
    };
    let of_trials = |figure| over(&mut rounds.values().flatten(), figure);
    let between = |figure| {
        let each: Vec<f64> = rounds.values().map(|trials| over(&mut trials.iter(), figure)).collect();
        rounds_interval(&each, CONFIDENCE)
    };
    let rate = |figure| {
        let share = of_trials(figure);
        ends(between(figure).and_then(|i| product((share, i), (all.throughput, all.interval))), share * all.throughput)
    };
    let fairness = of_trials(2);
    (!rounds.is_empty()).then(|| FlowFigures {
        count,
        slowest: of_trials(0) * all.throughput,
        slowest_ends: rate(0),
        fastest: of_trials(1) * all.throughput,
        fastest_ends: rate(1),
        fairness,
        // No index is above 1.
        fairness_ends: ends(between(2), fairness).map(|(low, high)| (low, high.min(1.0))),
        together: of_trials(3),
    })
}

/// Interval of the product of two positive figures with intervals of their own, whose errors are independent.
fn product((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Option<Interval> {
    let known = a > 0.0 && b > 0.0 && of_a.low > 0.0 && of_b.low > 0.0 && of_b.high.is_finite();
    let reach = |far_a: f64, far_b: f64| (far_a / a).ln().hypot((far_b / b).ln());
    known.then(|| Interval {
        low: a * b * (-reach(of_a.low, of_b.low)).exp(),
        high: a * b * reach(of_a.high, of_b.high).exp(),
    })
}

/// Ends of an interval that hold the figure, too; none of one that says nothing.
fn ends(found: Option<Interval>, figure: f64) -> Option<(f64, f64)> {
    let told = resolved(found);
    told.high.is_finite().then(|| (told.low.min(figure), told.high.max(figure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_product_add_up_on_the_scale_of_ratios() {
        let of = |reach: f64| Interval { low: (-reach).exp(), high: reach.exp() };
        let both = product((1.0, of(0.3)), (1.0, of(0.4))).unwrap();
        assert!((both.low - (-0.5f64).exp()).abs() < 1e-12 && (both.high - 0.5f64.exp()).abs() < 1e-12);
        assert_eq!(product((0.0, of(0.3)), (1.0, of(0.4))), None, "a flow that carried nothing");
        assert_eq!(product((1.0, of(0.3)), (1.0, Interval::UNBOUNDED)), None, "all flows without an interval");
    }
}
