//! The meaning of a curve's numbers: its summary figures with their intervals, fitted models, breaks, jitter, comparisons and answers.
//!
//! A curve is a list of [`CurvePoint`]s, one for each message size measured. [`Summary::of`] reads four figures off it, those by which the
//! papers compare paths: latency, time for each further byte of a small message (`seeds/000`, table 1, "Small Packets"), maximum throughput
//! and the half-power point (`seeds/000`, 4.2.2, table 2).
//!
//! [`answer`] holds answers to readers' questions. [`Comparison::of`] compares two paths, and [`Comparison::finding`] says whether they differ.
//! [`Fits::of`] fits models: lines, the bandwidth curve, the saturation point. [`Breaks::of`] finds dips and steps,
//! [`Jitter::of`] outliers, drift and periods, [`LogGp::of`] LogGP parameters, [`Quips::of`] HINT's figures. [`scale`] is the model
//! of other rates and machines. [`sweep`] is what settings do, and which to take.
//!
//! `curve` cleans and resamples, `resampled` turns resamples into intervals, `shape` tells which messages are small, `smooth` averages a
//! curve over neighbouring sizes so that no single size decides, `summary` gives all figures their intervals. All of it is pure: no I/O, no
//! clock, and the seed is an argument.

pub mod answer;
mod breaks;
mod compare;
mod curve;
mod fit;
mod hint;
mod jitter;
mod layers;
mod loggp;
mod resampled;
pub mod scale;
mod shape;
mod smooth;
mod summary;
pub mod sweep;

pub use breaks::{Break, Breaks, Dip, Edge, Fact, Fate, Knob, Sight, Step, Suspect, counterpart, fate, suspects};
pub use compare::is_vague;
pub use compare::{
    BetweenRuns, Circumstances, Compared, Comparison, Disturbed, Disturber, EveryRound, Finding, History,
    MachineReadings, Paired, Shift, Side, Stretch,
};
pub use fit::{BandwidthCurve, Fits, LatencyLine, LatencyLines, Misfit, Piece, Saturation};
pub use hint::Quips;
pub use jitter::{Drift, Jitter, Moment, Periodic, Source};
pub use layers::{Overhead, difference, overheads};
pub use loggp::{LogGp, Patterns, Sender};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{CONFIDENCE, Interval};

/// One size of a measured curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Message size, bytes (HINT: subintervals).
    pub size: u64,
    /// Median time of one transfer, seconds.
    pub seconds: f64,
    /// Medians of the rounds that visited the size: (number of the round, seconds of one transfer). The same number at two sizes means that
    /// both were measured on the same connections.
    pub rounds: Vec<(u32, f64)>,
    /// What the median stands for, bits a second (HINT: QUIPS). Need not be `size * 8 / seconds`: both directions may carry data.
    pub throughput: f64,
    /// The median's 95% interval in its run, seconds, where it was computed elsewhere; none has it computed here from the rounds.
    pub interval: Option<Interval>,
    /// How far the clock's resolution may put all rounds off the truth to the same side, seconds: half of it where they read the same to
    /// that, else 0.
    pub rounding: f64,
}

impl CurvePoint {
    /// A size of `size` bytes that takes `seconds` one way, with its rounds as [`CurvePoint::rounds`] has them: one direction carries data,
    /// the interval is computed from the rounds, and the clock's resolution hides nothing.
    pub fn of(size: u64, seconds: f64, rounds: Vec<(u32, f64)>) -> Self {
        Self { size, seconds, throughput: size as f64 * 8.0 / seconds, rounds, interval: None, rounding: 0.0 }
    }

    /// The same with all times multiplied by a factor: median, rounds and interval.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            seconds: self.seconds * factor,
            rounds: self.rounds.iter().map(|(round, t)| (*round, t * factor)).collect(),
            interval: self.interval.map(|i| Interval { low: i.low * factor, high: i.high * factor }),
            rounding: self.rounding * factor,
            ..self.clone()
        }
    }

    /// The median with its interval.
    pub fn estimate(&self) -> Estimate {
        let times = || self.rounds.iter().map(|b| b.1).collect::<Vec<_>>();
        let interval =
            self.interval.or_else(|| stats::rounds_interval(&times(), CONFIDENCE)).unwrap_or(Interval::UNBOUNDED);
        Estimate::new(self.seconds, interval.low, interval.high)
    }
}

/// A figure and the 95% interval in which its true value lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Ends", from = "Ends")]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95% interval.
    pub low: f64,
    /// Upper end; infinite where nothing bounds it (a single round says nothing of how far rounds lie apart).
    pub high: f64,
}

/// An estimate in JSON, where a row's interval and a figure's read alike.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Estimate")]
struct Ends {
    /// The figure.
    value: f64,
    /// Lower end of its 95% interval; `null` where nothing bounds it, or where there is no interval.
    low: Option<f64>,
    /// Upper end; `null` where nothing bounds it, or where there is no interval (a single round says nothing of how far rounds lie
    /// apart).
    high: Option<f64>,
}

impl From<Estimate> for Ends {
    fn from(e: Estimate) -> Self {
        let none = e.high == f64::INFINITY && e.low <= 0.0;
        Self {
            value: e.value,
            low: (!none && e.low.is_finite()).then_some(e.low),
            high: e.high.is_finite().then_some(e.high),
        }
    }
}

impl From<Ends> for Estimate {
    fn from(e: Ends) -> Self {
        let floor = if e.value < 0.0 || e.high.is_some() { f64::NEG_INFINITY } else { 0.0 };
        Self { value: e.value, low: e.low.unwrap_or(floor), high: e.high.unwrap_or(f64::INFINITY) }
    }
}

impl Estimate {
    /// A figure whose interval is widened, if need be, to hold it.
    pub(crate) fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low: low.min(value), high: high.max(value) }
    }

    /// A positive figure of which the error is unknown.
    pub fn unbounded(value: f64) -> Self {
        Self::new(value, stats::Interval::UNBOUNDED.low, stats::Interval::UNBOUNDED.high)
    }
}

/// What a path's curve comes down to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Time of one transfer of the smallest message, seconds, of the curve's time kind. Value and interval are those of
    /// the point.
    pub latency: Estimate,
    /// The smallest message, bytes.
    pub latency_size: u64,
    /// Seconds that each further byte of a small message costs: slope of [`LatencyLines::small`], the line over the sizes below 1 KiB.
    /// None with fewer than three such sizes.
    #[serde(default)]
    pub per_byte: Option<Estimate>,
    /// Largest throughput, bits a second: that of the size at which the curve, smoothed over its neighbours, is highest. The
    /// largest of many noisy medians is too high by luck alone; the value can lie a little below the highest point.
    pub max_throughput: Estimate,
    /// Its size, bytes.
    pub max_size: u64,
    /// Size that parts those below half of the maximum throughput from those above, bytes, interpolated log-log between the
    /// measured sizes. None if even the smallest size reaches it.
    #[serde(default)]
    pub half_power: Option<Estimate>,
    /// The smoothed curve is highest at the largest size, no size measured lies higher, and it still rises over the last decade of
    /// sizes, by more than 5% and by more than its noise: larger messages would likely show a higher maximum. Absent where nothing tells
    /// the noise, as where the maximum has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_rising: Option<bool>,
}
