//! How the whole curve moves over a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{block_levels, mean, median, student_t, weighted_line};

use super::Moment;
use crate::Estimate;

/// A drift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// How many times as long blocks of all sizes take at the end of the run as at its start, along a straight line through
    /// the levels of its blocks.
    pub ratio: Estimate,
    /// From the first to the last block, seconds.
    pub seconds: f64,
}

impl Drift {
    /// None with fewer than four blocks: a line through three says nothing of its error.
    pub(super) fn of(trials: &[&Moment]) -> Option<Self> {
        let mut of_size = BTreeMap::<u64, BTreeMap<u32, Vec<f64>>>::new();
        let mut times = BTreeMap::<u32, Vec<f64>>::new();
        for t in trials {
            of_size.entry(t.size).or_default().entry(t.block).or_default().push(t.seconds);
            times.entry(t.block).or_default().push(t.at);
        }
        let points: Vec<Vec<(u32, f64)>> =
            of_size.into_values().map(|blocks| blocks.into_iter().map(|(b, t)| (b, median(&t))).collect()).collect();
        let levels: Vec<(f64, f64)> =
            block_levels(&points).into_iter().filter_map(|(b, level)| Some((mean(times.get(&b)?), level))).collect();
        if levels.len() < 4 {
            return None;
        }
        let line = weighted_line(&levels.iter().map(|(x, y)| (*x, *y, 1.0)).collect::<Vec<_>>())?;
        let middle = mean(&levels.iter().map(|l| l.0).collect::<Vec<_>>());
        let spread: f64 = levels.iter().map(|l| (l.0 - middle).powi(2)).sum();
        let degrees = (levels.len() - 2) as f64;
        let noise = levels.iter().map(|l| (l.1 - line.at(l.0)).powi(2)).sum::<f64>() / degrees;
        let first = levels.iter().map(|l| l.0).fold(f64::INFINITY, f64::min);
        let seconds = levels.iter().map(|l| l.0).fold(0.0, f64::max) - first;
        let (rise, reach) = (line.slope * seconds, student_t(0.95, degrees) * (noise / spread).sqrt() * seconds);
        let ratio = Estimate { value: rise.exp(), low: (rise - reach).exp(), high: (rise + reach).exp() };
        (ratio.low.is_finite() && ratio.high.is_finite()).then_some(Self { ratio, seconds })
    }

    /// Whether it is more than the levels of single blocks explain.
    pub fn sure(&self) -> bool {
        self.ratio.low > 1.0 || self.ratio.high < 1.0
    }
}
