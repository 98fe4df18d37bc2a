//! Percentiles of single iterations: one rule for a point's row and for every other figure that is told of them.

use std::collections::BTreeMap;

use stats::{Interval, Moves};
use transport::Name;

use super::{Common, counted, figures, transfers};
use crate::event::{Percentiles, Plan, Trial};

/// Times of single iterations of a point's counted trials, seconds of the point's kind. Each round weighs as much as any other, as
/// in the median over rounds, however many iterations it timed.
#[derive(Debug, Clone, PartialEq)]
pub struct Singles {
    /// (seconds, iterations) of each round, ascending.
    rounds: Vec<Vec<(f64, u64)>>,
    /// (seconds, share of all) over the rounds, ascending.
    all: Vec<(f64, f64)>,
    p50: f64,
    longest: f64,
}

impl Singles {
    /// Of a point's trials; none where any of those that count timed no single iterations, or where the point has no figures.
    pub fn of(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Option<Self> {
        let median = figures(plan, kind, trials, common)?.median;
        Self::about(plan, &counted(trials), median)
    }

    /// Of the trials that count, of a point with this median.
    ///
    /// The 50th percentile answers the median's question and is the same figure, at the run's typical level. (A median over
    /// the best of each round is another question.) The others are for the tail, of which a slow state of the
    /// machine is a part that users wait for: they are of the iterations as they were.
    pub(super) fn about(plan: &Plan, used: &[&Trial], median: f64) -> Option<Self> {
        if used.is_empty() || used.iter().any(|t| t.report.histogram.iter().all(|(_, n)| *n == 0)) {
            return None;
        }
        let each = transfers(plan, used[0]);
        let mut rounds = BTreeMap::<u32, Vec<(f64, u64)>>::new();
        for t in used {
            let pairs = t.report.histogram.iter().map(|(ns, n)| (*ns as f64 * 1e-9 / each, *n));
            rounds.entry(t.block).or_default().extend(pairs);
        }
        let mut rounds: Vec<_> = rounds.into_values().collect();
        rounds.iter_mut().for_each(|r| r.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let share = |r: &[(f64, u64)]| 1.0 / (many(r) as f64 * rounds.len() as f64);
        let mut all: Vec<(f64, f64)> =
            rounds.iter().flat_map(|r| r.iter().map(|(t, n)| (*t, *n as f64 * share(r)))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let longest = used.iter().map(|t| t.report.max).fold(0.0, f64::max) / each;
        // The median of several flows is the time between two transfers of any of them, and no flow's own time.
        let several = used.iter().any(|t| t.report.flows.is_some());
        let p50 = if plan.pattern.facts().keeps_best || several { quantile(&all, 0.5) } else { median };
        Some(Self { rounds, all, p50: p50.min(longest), longest })
    }

    /// The time that a share `q` (0 to 1) of single iterations stays within, and its 95% interval. None where so few were timed that none
    /// may lie beyond it, or the longest would stand for a percentile that it is not. Above the 50th no less than it, below no more, and
    /// none above the longest, which is that of `q` = 1.
    pub fn at(&self, q: f64) -> Option<(f64, Interval)> {
        let value = self.value(q)?;
        if q >= 1.0 {
            // Longer ones may come.
            return Some((value, Interval { low: value, high: f64::INFINITY }));
        }
        let told = self.interval(q, value).unwrap_or(Interval::UNBOUNDED);
        Some((value, Interval { low: told.low.min(value), high: told.high.max(value) }))
    }

    /// [`Singles::at`] without the interval, which costs a look at every round.
    fn value(&self, q: f64) -> Option<f64> {
        let beyond = 1.0 - q;
        if beyond <= 0.0 {
            return Some(self.longest);
        }
        let enough = |n: u64| n as f64 * beyond >= 1.0 - 1e-9;
        if !enough(self.rounds.iter().fold(0, |all, r| all.saturating_add(many(r)))) {
            return None;
        }
        let (least, most) = match () {
            () if q < 0.5 => (0.0, self.p50),
            () if q > 0.5 => (self.p50, self.longest),
            () => (self.p50, self.p50),
        };
        Some(quantile(&self.all, q).clamp(least, most))
    }

    /// Where the true time lies that a share `q` stays within: those of the times whose share beyond is as near to `1 - q` as the share
    /// beyond `value` may err (Woodruff 1952, *Confidence Intervals for Medians and Other Position Measures*, Journal of the American
    /// Statistical Association 47:635-646). How far it errs the rounds tell, as a series in time, and never less than so many independent
    /// iterations would. None as of [`stats::point_interval`].
    fn interval(&self, q: f64, value: f64) -> Option<Interval> {
        let within = |r: &Vec<(f64, u64)>| {
            let inside = r.iter().take_while(|(t, _)| *t <= value).fold(0, |all, (_, n)| n.saturating_add(all));
            inside as f64 / many(r) as f64
        };
        let shares: Vec<f64> = self.rounds.iter().map(within).collect();
        let moves = Moves::of(&shares);
        if moves.few() || moves.slow(0.0) {
            return None;
        }
        let iterations = self.rounds.iter().map(|r| many(r) as f64).sum::<f64>();
        let independent = q * (1.0 - q) / iterations;
        let seen = stats::variance(&shares) / shares.len() as f64;
        let error = moves.error.value.powi(2).max(independent).max(seen).sqrt();
        // On the scale of odds, so that no share lies below 0 or above 1.
        let reach = stats::student_t(0.95, moves.error.degrees.max(1.0)) * error / (q * (1.0 - q));
        let odds = (1.0 - q) / q;
        let beyond = |moved: f64| odds * moved / (1.0 + odds * moved);
        let (most, least) = (beyond(reach.exp()), beyond((-reach).exp()));
        // Where not one iteration would lie beyond, the longest bounds nothing.
        let high = if least * iterations < 1.0 { f64::INFINITY } else { quantile(&self.all, 1.0 - least) };
        Some(Interval { low: quantile(&self.all, 1.0 - most), high })
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

/// How many iterations there are.
fn many(pairs: &[(f64, u64)]) -> u64 {
    pairs.iter().fold(0, |all, (_, n)| all.saturating_add(*n))
}

/// The smallest time with at least a share `q` at or below it; the pairs ascend and their shares add up to 1.
fn quantile(pairs: &[(f64, f64)], q: f64) -> f64 {
    let mut seen = 0.0;
    // A sum of shares is exact to some 1e-13.
    let found = pairs.iter().find(|(_, share)| {
        seen += share;
        seen >= q - 1e-9
    });
    found.or(pairs.last()).map_or(0.0, |(t, _)| *t)
}
