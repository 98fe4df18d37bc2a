//! What each layer adds to the one below it: overhead over size, in time and per cent (`seeds/004`, section 4, figure 8).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CurvePoint, Estimate};

/// Overhead at one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// Message size, bytes.
    pub size: u64,
    /// Time of the layer below, seconds.
    pub below: f64,
    /// Time of the layer above, seconds.
    pub above: f64,
    /// What the layer above adds, seconds; below 0 it is the faster of the two.
    pub extra: Estimate,
    /// The same as a share of the layer below.
    pub share: f64,
}

/// What `above` adds to `below` at every size that both have, ascending ([`difference`]).
pub fn overheads(below: &[CurvePoint], above: &[CurvePoint]) -> Vec<Overhead> {
    let usable = |p: &&CurvePoint| p.seconds > 0.0 && p.seconds.is_finite();
    let lower: BTreeMap<u64, &CurvePoint> = below.iter().filter(usable).map(|p| (p.size, p)).collect();
    let upper: BTreeMap<u64, &CurvePoint> = above.iter().filter(usable).map(|p| (p.size, p)).collect();
    upper
        .iter()
        .filter_map(|(size, a)| Some((*size, *lower.get(size)?, *a)))
        .map(|(size, b, a)| Overhead {
            size,
            below: b.seconds,
            above: a.seconds,
            extra: difference(a.estimate(), b.estimate()),
            share: (a.seconds - b.seconds) / b.seconds,
        })
        .collect()
}

/// One figure less another, in their unit. The two errors are independent: half-widths of the intervals add in quadrature.
pub fn difference(more: Estimate, less: Estimate) -> Estimate {
    // Without an upper end there is no interval, and its lower one says nothing.
    let reach = |e: Estimate| match e.high.is_finite() {
        true => ((e.value - e.low).max(0.0), (e.high - e.value).max(0.0)),
        false => (f64::INFINITY, f64::INFINITY),
    };
    let ((less_down, less_up), (more_down, more_up)) = (reach(less), reach(more));
    let value = more.value - less.value;
    Estimate { value, low: value - more_down.hypot(less_up), high: value + more_up.hypot(less_down) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(t0: f64, sizes: &[u64]) -> Vec<CurvePoint> {
        let point = |&size: &u64| {
            let t = t0 + size as f64 * 1e-9;
            let rounds = (0..8).map(|b| (b, t * (1.0 + 0.01 * (f64::from(b) - 3.5)))).collect();
            CurvePoint { size, seconds: t, rounds, throughput: 1.0, interval: None, rounding: 0.0 }
        };
        sizes.iter().map(point).collect()
    }

    #[test]
    fn a_layer_costs_what_it_adds() {
        let found = overheads(&curve(5e-6, &[1, 64, 4096]), &curve(8e-6, &[64, 4096, 9999]));
        assert_eq!(found.iter().map(|o| o.size).collect::<Vec<_>>(), [64, 4096]);
        for o in found {
            assert!((o.extra.value - 3e-6).abs() < 1e-12 && o.extra.low < 3e-6 && 3e-6 < o.extra.high, "{o:?}");
            assert!((o.share - 3e-6 / o.below).abs() < 1e-9);
        }
    }

    #[test]
    fn a_figure_without_an_interval_gives_its_difference_none() {
        let none = Estimate { value: 2.0, low: 0.0, high: f64::INFINITY };
        let known = Estimate { value: 5.0, low: 4.0, high: 6.0 };
        for found in [difference(known, none), difference(none, known), difference(none, none)] {
            assert!(found.low == f64::NEG_INFINITY && found.high == f64::INFINITY, "{found:?}");
        }
    }

    #[test]
    fn what_has_no_size_in_common_has_no_overhead() {
        assert!(overheads(&curve(5e-6, &[1]), &curve(5e-6, &[2])).is_empty());
        assert!(overheads(&[], &[]).is_empty());
    }
}
