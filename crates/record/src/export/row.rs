//! A point with its units in the names: what CSV, JSON and Parquet share.

use measure::Pattern;
use measure::event::{Figures, TimeKind, Why};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::Name;

use crate::{PathRun, Point, RunFile};

/// A point as it is exported. `_s` are seconds of the kind that `time` names, `_bytes` bytes, `_bits_per_s` bits a second,
/// `_share` a share between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Number of the path within the run.
    pub path: u32,
    /// Transport.
    pub transport: Name,
    /// Pattern.
    pub pattern: Pattern,
    /// Block size, bytes (HINT: subintervals of a process).
    pub size_bytes: u64,
    /// Which time the times are.
    pub time: TimeKind,
    /// Why the point ended; none where the run was cut off before.
    pub why: Option<Why>,
    /// Blocks that visited the point.
    pub blocks: u32,
    /// Trials counted.
    pub trials: u32,
    /// Iterations counted.
    pub iterations: u64,
    /// Mean time of the shortest trial, seconds: the figure that NetPIPE reports. A mean counts interruptions, so it may lie above the
    /// median.
    pub min_s: f64,
    /// Median of the blocks' medians, seconds.
    pub median_s: f64,
    /// Lower end of the median's 95% interval, seconds.
    pub low_s: Option<f64>,
    /// Upper end of the median's 95% interval, seconds; none where nothing bounds it.
    pub high_s: Option<f64>,
    /// Mean, weighted by iterations, seconds.
    pub mean_s: f64,
    /// Variance of the trials' times, seconds squared.
    pub variance_s2: f64,
    /// Lower end of the range in which the median of a repeat on this machine falls, 95%, seconds; none where no earlier run
    /// is known.
    pub repeat_low_s: Option<f64>,
    /// Upper end of the range in which the median of a repeat on this machine falls, 95%, seconds; none likewise.
    pub repeat_high_s: Option<f64>,
    /// Median of single iterations, seconds, where they were timed.
    pub p50_s: Option<f64>,
    /// 90% of single iterations, seconds, where they were timed.
    pub p90_s: Option<f64>,
    /// 99% of single iterations, seconds, where they were timed.
    pub p99_s: Option<f64>,
    /// 99.9% of single iterations, seconds, where they were timed.
    pub p999_s: Option<f64>,
    /// Longest single iteration, seconds, where they were timed.
    pub max_s: Option<f64>,
    /// Throughput that the median stands for, bits a second.
    pub throughput_bits_per_s: f64,
    /// The sender's own rate, bits a second (stream).
    pub sender_throughput_bits_per_s: Option<f64>,
    /// Mean rate: transactions a second that were achieved, pauses included (request; connect: connections a second).
    pub transactions_per_s: Option<f64>,
    /// Share of blocks lost.
    pub loss_share: f64,
    /// Share of blocks out of order.
    pub reordering_share: f64,
    /// Quality of an answer (HINT).
    pub quality: Option<f64>,
    /// Quality improvement a second (HINT).
    pub quips: Option<f64>,
}

impl Row {
    pub(super) fn new(run: &RunFile, path: &PathRun, point: &Point) -> Self {
        let Figures { blocks, trials, iterations, percentiles, .. } = point.figures;
        let f = &point.figures;
        Self {
            path: path.opened.path,
            transport: path.opened.transport,
            pattern: run.run.plan.pattern,
            size_bytes: point.size,
            time: point.time,
            why: point.why,
            blocks,
            trials,
            iterations,
            min_s: f.min,
            median_s: f.median,
            low_s: Some(f.low).filter(|_| f.high.is_finite()),
            high_s: Some(f.high).filter(|v| v.is_finite()),
            mean_s: f.mean,
            variance_s2: f.variance,
            repeat_low_s: f.repeat_low,
            repeat_high_s: f.repeat_high,
            p50_s: percentiles.map(|p| p.p50),
            p90_s: percentiles.and_then(|p| p.p90),
            p99_s: percentiles.and_then(|p| p.p99),
            p999_s: percentiles.and_then(|p| p.p999),
            max_s: percentiles.map(|p| p.max),
            throughput_bits_per_s: f.throughput,
            sender_throughput_bits_per_s: f.sender_throughput,
            transactions_per_s: f.transactions,
            loss_share: f.loss,
            reordering_share: f.reordering,
            quality: f.quality,
            quips: f.quips,
        }
    }
}

/// Every point of every path, path by path, ascending by size.
pub fn rows(run: &RunFile) -> impl Iterator<Item = Row> + '_ {
    run.paths.iter().flat_map(move |path| path.points.iter().map(move |point| Row::new(run, path, point)))
}
