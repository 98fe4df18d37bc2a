//! Paths at several offered rates: lost messages over the offered rate, and the highest rate without loss.

use std::collections::BTreeSet;

use measure::event::{PathPlan, TimeKind};
use measure::figures::{Lost, arrived_a_second};
use model::Estimate;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Analysis, PathRun, RunFile};

/// Share of an offered rate that may be missing while it counts as offered, as in the run's warning.
const MISSED: f64 = 0.05;

/// Paths that are the same but for the rate that is offered, at one of their sizes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OverRates {
    /// Index of the path of the lowest rate among the run's.
    pub path: usize,
    /// Size of the messages, bytes.
    pub size: u64,
    /// By ascending rate.
    pub rows: Vec<AtRate>,
    /// The highest rate without loss, as a row: there and at any lower rate the sender offered what it was to, messages came, and none was lost
    /// (RFC 2544, section 26.1, calls it the throughput of a device). None where that is not so of the lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless: Option<usize>,
}

/// What came of one rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AtRate {
    /// Index of the path among the run's.
    pub path: usize,
    /// Bits a second that were to be offered, of both directions together where both sides send, as what arrived and what was lost is.
    pub offered: f64,
    /// Bits a second that the sender sent; less than was to be offered where the path held it up or it can't make messages so fast. None where
    /// no time of the sender is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<f64>,
    /// Bits a second that arrived, with the 95% interval, of the losses and of the sender's rate: of what was sent the share that was not lost, a
    /// mean as that is. (Where no time of the
    /// sender is known, the median over rounds.) None where too little came to tell; without ends where the loss has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived: Option<Estimate>,
    /// Messages that were sent to be received.
    pub messages: u64,
    /// Messages of them that never came.
    pub lost: u64,
    /// Share of them, with its 95% interval from rounds; the interval has no ends of fewer than four rounds, and where none or all were lost.
    pub loss: Estimate,
}

impl AtRate {
    /// Whether the rate was offered, messages came, and none was lost.
    fn lossless(&self) -> bool {
        self.kept() && self.messages > 0 && self.lost == 0
    }

    /// Whether the sender offered the rate.
    pub fn kept(&self) -> bool {
        self.sent.is_none_or(|sent| sent >= (1.0 - MISSED) * self.offered)
    }
}

impl RunFile {
    /// Whether what came of offered rates is what it tells: two of its paths differ only in the rate, or all paths have a rate and one size.
    pub fn has_rates(&self) -> bool {
        self.rate_groups().iter().any(|group| group.len() > 1) || self.has_one_rate()
    }

    /// Whether each path has one rate and one size at most, so that there is nothing to draw over sizes or rates.
    pub fn has_one_rate(&self) -> bool {
        let offered = |path: &PathRun| self.run.plan.offered_on(path.opened.path).is_some();
        let plan = &self.run.plan;
        !plan.soaks()
            && self.rate_groups().iter().all(|group| group.len() == 1)
            && !self.has_flows()
            && plan.sizes.as_ref().is_some_and(|sizes| sizes.len() == 1)
            && self.paths.iter().any(|path| !path.points.is_empty())
            && self.paths.iter().all(|path| offered(path) && path.points.len() <= 1)
    }

    /// Indices of paths that differ only in the offered rate, by ascending rate.
    fn rate_groups(&self) -> Vec<Vec<usize>> {
        self.alike_but(|path| self.run.plan.offered_on(path), |plan| PathPlan { offered: None, ..plan })
    }
}

impl Analysis<'_> {
    /// Its paths that differ in the offered rate, a group for each size of the lowest one's, by ascending size. Empty of a run for which
    /// [`RunFile::has_rates`] does not hold.
    pub fn over_rates(&self) -> Vec<OverRates> {
        let (groups, one) = (self.rate_groups(), self.has_one_rate());
        let mut found = Vec::new();
        for group in groups.iter().filter(|group| one || group.len() > 1) {
            let points = group.iter().flat_map(|index| &self.paths[*index].points);
            let sizes: BTreeSet<u64> = points.filter(|p| p.time == TimeKind::OneWay).map(|p| p.size).collect();
            for size in sizes {
                let rows: Vec<AtRate> = group.iter().filter_map(|index| self.at_rate(*index, size)).collect();
                let lossless = rows.iter().take_while(|row| row.lossless()).count().checked_sub(1);
                found.push(OverRates { path: group[0], size, rows, lossless });
            }
        }
        found
    }

    /// In how many directions each path sends.
    fn directions(&self) -> f64 {
        if self.run().run.plan.both { 2.0 } else { 1.0 }
    }

    /// The figures of a path at its rate; a row without figures where none of its trials of this size has any.
    fn at_rate(&self, index: usize, size: u64) -> Option<AtRate> {
        let path = &self.paths[index];
        let point = path.points.iter().find(|point| point.size == size && point.time == TimeKind::OneWay);
        // The survey's few messages show nothing of a rate.
        let trials: Vec<_> = point.into_iter().flat_map(|point| &point.trials).filter(|t| !t.warmup).collect();
        let point = point.filter(|_| !trials.is_empty());
        let trials: Vec<_> = trials.iter().map(|t| &**t).collect();
        let Lost { lost, sent, share } = Lost::of_stream(&trials);
        let rate = |seconds: f64| size as f64 * 8.0 / seconds;
        let value = if sent > 0 { lost as f64 / sent as f64 } else { 0.0 };
        let (low, high) = share.map_or((0.0, f64::INFINITY), |i| (i.low, i.high));
        let mean = point.and_then(|point| point.figures.sender_throughput);
        Some(AtRate {
            path: index,
            offered: self.run().run.plan.offered_on(path.opened.path)? * self.directions(),
            sent: mean,
            arrived: point.map(|point| match mean.filter(|_| sent > 0) {
                Some(mean) if high.is_finite() => {
                    // The losses' error and that of the sender's rate, whichever is larger at an end.
                    let bits = |messages: f64| messages * size as f64 * 8.0;
                    let seen = arrived_a_second(&trials).map_or((0.0, f64::INFINITY), |i| (bits(i.low), bits(i.high)));
                    Estimate {
                        value: mean * (1.0 - value),
                        low: (mean * (1.0 - high)).min(seen.0),
                        high: (mean * (1.0 - low)).max(seen.1),
                    }
                }
                Some(mean) => Estimate { value: mean * (1.0 - value), low: 0.0, high: f64::INFINITY },
                None => {
                    let f = &point.figures;
                    Estimate { value: rate(f.median), low: rate(f.high), high: rate(f.low) }
                }
            }),
            messages: sent,
            lost,
            loss: Estimate { value, low, high },
        })
    }
}
