//! Percentiles of single iterations: one rule for a point's row and for every other figure of them.

use std::collections::BTreeMap;

use stats::Interval;
use transport::Name;

use super::tail::{Beside, Tail, many, quantile};
use super::{Common, clock, counted, figures, transfers, typical};
use crate::event::{Percentiles, Plan, Trial};

/// Times of single iterations of a point's counted trials, seconds of the point's kind. Each round weighs as much as any other, as
/// in the median over rounds, however many iterations it timed. Of a soak all are of one connection, and each iteration weighs alike: an interval
/// in which the path stood still has few, and the last one may be short.
#[derive(Debug, Clone, PartialEq)]
pub struct Singles {
    /// (seconds, iterations) of each round, ascending.
    rounds: Vec<Vec<(f64, u64)>>,
    /// What each of them weighs, a share of all.
    weights: Vec<f64>,
    /// (seconds, share of all) over the rounds, ascending.
    all: Vec<(f64, f64)>,
    p50: f64,
    longest: f64,
    /// Interval of the point's median, where `p50` is that.
    median: Option<Interval>,
    /// What the intervals of the others need besides the iterations.
    beside: Beside,
}

impl Singles {
    /// Of a point's trials; none where any of those that count timed no single iterations, or where the point has no figures.
    pub fn of(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Option<Self> {
        let row = figures(plan, kind, trials, common)?;
        let used = counted(trials);
        let mut found = Self::about(plan, &used, row.median)?;
        let mut times: Vec<f64> = used.iter().filter_map(|t| typical(plan, kind, t)).collect();
        times.sort_unstable_by(f64::total_cmp);
        let mut nearby = common.nearby(used[0].size);
        nearby.sort_unstable_by(f64::total_cmp);
        found.median = (found.p50 == row.median).then_some(Interval { low: row.low, high: row.high });
        found.beside = Beside { rounding: clock::grain(plan, &used, &common.clock) / 2.0, typical: times, nearby };
        Some(found)
    }

    /// Of the trials that count, of a point with this median.
    ///
    /// The 50th percentile is the same figure as the median, at the run's typical level. (A median over the best of each round is another
    /// figure.) The others are for the tail, and a slow state of the machine is a part of it that users wait for: they are of the
    /// iterations as they were timed.
    pub(super) fn about(plan: &Plan, used: &[&Trial], median: f64) -> Option<Self> {
        if used.is_empty() || used.iter().any(|t| t.report.histogram.iter().all(|(_, n)| *n == 0)) {
            return None;
        }
        let each = transfers(plan, used[0]);
        let mut rounds = BTreeMap::<u32, Vec<(f64, u64)>>::new();
        for t in used {
            let pairs = t.report.histogram.iter().map(|(ns, n)| (*ns as f64 * 1e-9 / each, *n));
            rounds.entry(t.round).or_default().extend(pairs);
        }
        let mut rounds: Vec<_> = rounds.into_values().collect();
        rounds.iter_mut().for_each(|r| r.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let timed = rounds.iter().fold(0, |all: u64, r| all.saturating_add(many(r))) as f64;
        let weight = |r: &Vec<(f64, u64)>| match plan.soaks() {
            true => many(r) as f64 / timed,
            false => 1.0 / rounds.len() as f64,
        };
        let weights: Vec<f64> = rounds.iter().map(weight).collect();
        let mut all = Vec::with_capacity(rounds.iter().map(Vec::len).sum());
        for (round, weight) in rounds.iter().zip(&weights) {
            let each = weight / many(round) as f64;
            all.extend(round.iter().map(|(t, n)| (*t, *n as f64 * each)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let longest = used.iter().map(|t| t.report.max).fold(0.0, f64::max) / each;
        // The median of several flows is the time between two transfers of any of them, not the time of one flow.
        let several = used.iter().any(|t| t.report.flows.is_some());
        let p50 = if plan.pattern.facts().keeps_best || several { quantile(&all, 0.5) } else { median };
        Some(Self { rounds, weights, all, p50: p50.min(longest), longest, median: None, beside: Beside::default() })
    }

    /// The time that a share `q` (0 to 1) of single iterations stays within, seconds, and its 95% interval. None where so few were timed
    /// that none may lie beyond it, on the side that has fewer: the longest, or the shortest, would pass for a percentile that it is not. Nothing
    /// bounds an interval above whose ends would lie a thousandfold apart: tables print none of those. Above the 50th percentile it is no less than
    /// that, below no more, and none is above the longest, which is that of `q` = 1.
    pub fn at(&self, q: f64) -> Option<(f64, Interval)> {
        let value = self.value(q)?;
        if q >= 1.0 {
            // Longer ones may come: no upper bound.
            return Some((value, Interval { low: value, high: f64::INFINITY }));
        }
        if q <= 0.0 {
            return Some((value, Interval { low: 0.0, high: value }));
        }
        let of_row = self.median.filter(|_| q == 0.5);
        let told = of_row.or_else(|| self.tail().interval(q)).unwrap_or(Interval::UNBOUNDED);
        let (low, high) = (told.low.min(value), told.high.max(value));
        let open = low > 0.0 && high > units::WIDEST * low;
        Some((value, Interval { low, high: if open { f64::INFINITY } else { high } }))
    }

    fn tail(&self) -> Tail<'_> {
        Tail { rounds: &self.rounds, weights: &self.weights, all: &self.all, beside: &self.beside }
    }

    /// [`Singles::at`] without the interval, which takes a pass over every round.
    fn value(&self, q: f64) -> Option<f64> {
        let beyond = 1.0 - q;
        if beyond <= 0.0 {
            return Some(self.longest);
        }
        if q <= 0.0 {
            return Some(quantile(&self.all, 0.0).min(self.p50));
        }
        let enough = |n: u64| n as f64 * beyond.min(q) >= 1.0 - 1e-9;
        if !enough(self.timed()) {
            return None;
        }
        let (least, most) = match () {
            () if q < 0.5 => (0.0, self.p50),
            () if q > 0.5 => (self.p50, self.longest),
            () => (self.p50, self.p50),
        };
        Some(quantile(&self.all, q).clamp(least, most))
    }

    /// How many single iterations were timed.
    pub fn timed(&self) -> u64 {
        self.rounds.iter().fold(0, |all, r| all.saturating_add(many(r)))
    }

    /// Share of single iterations that took longer than so many seconds.
    pub fn beyond(&self, seconds: f64) -> f64 {
        let late: f64 = self.all.iter().filter(|(t, _)| *t > seconds).map(|(_, share)| share).sum();
        late.clamp(0.0, 1.0)
    }

    /// The percentiles of a row.
    pub(super) fn row(&self) -> Percentiles {
        let [p90, p99, p999] = [0.9, 0.99, 0.999].map(|q| self.value(q));
        Percentiles { p50: self.p50, p90, p99, p999, max: self.longest }
    }
}
