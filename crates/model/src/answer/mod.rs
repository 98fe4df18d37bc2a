//! Answers to what readers ask of a curve (`seeds/004`, sections 1 and 4): when a block arrives, the most a path moves, the
//! size to use, whether frames can be kept up. Every answer carries its interval and the sizes it rests on.

mod frames;
mod time;

pub use frames::Frames;
pub use time::{Arrival, arrival};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CurvePoint, Estimate, Fits, Summary};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unanswered {
    /// The curve has no point.
    #[error("nothing was measured on this path")]
    Nothing,
    /// The size lies outside what was measured, and no model that fits reaches there.
    #[error("{} lies outside what was measured ({} to {}), and no fitted model reaches there", units::Bytes(*.asked), units::Bytes(*.from), units::Bytes(*.to))]
    Outside {
        /// Size asked about, bytes.
        asked: u64,
        /// Smallest size measured, bytes.
        from: u64,
        /// Largest size measured, bytes.
        to: u64,
    },
    /// The question needs a model that does not fit.
    #[error("this needs a model of the path, and {0}")]
    Misfit(String),
    /// Too little was measured.
    #[error("{0}")]
    TooLittle(&'static str),
}

/// The most a path moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Most {
    /// Effective maximum throughput, bits a second.
    pub throughput: Estimate,
    /// Size at which it was seen, bytes.
    pub at: u64,
    /// Smallest size from which 95% of it is reached, bytes.
    pub from: u64,
    /// Throughput still rises at the largest size: more may be had beyond.
    pub rising: bool,
}

/// Share of the maximum that counts as reaching it.
const REACHED: f64 = 0.95;
/// Share of the maximum at which a larger block is hardly worth its wait.
const WORTH: f64 = 0.90;

/// The most a path moves, and from which size.
pub fn most(points: &[CurvePoint], summary: &Summary) -> Result<Most, Unanswered> {
    let from = first_reaching(points, REACHED * summary.max_throughput.value).ok_or(Unanswered::Nothing)?;
    Ok(Most { throughput: summary.max_throughput, at: summary.max_size, from, rising: summary.still_rising })
}

/// The smallest size that moves nine tenths of the most: larger ones wait longer for little.
pub fn size_to_use(points: &[CurvePoint], summary: &Summary) -> Result<u64, Unanswered> {
    first_reaching(points, WORTH * summary.max_throughput.value).ok_or(Unanswered::Nothing)
}

fn first_reaching(points: &[CurvePoint], throughput: f64) -> Option<u64> {
    let mut sorted: Vec<&CurvePoint> = points.iter().filter(|p| p.throughput.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    sorted.iter().find(|p| p.throughput >= throughput).map(|p| p.size)
}

/// How fast control messages (below 1 KiB) arrive: the least and the greatest of their times, seconds, with the intervals of
/// both, and the sizes at which they lie.
pub fn control(points: &[CurvePoint]) -> Result<(Arrival, Arrival), Unanswered> {
    let small = points.iter().filter(|p| crate::shape::is_small(p.size));
    let mut found: Vec<Arrival> = small.filter_map(|p| arrival(points, p.size, None).ok()).collect();
    found.sort_by(|a, b| a.seconds.value.total_cmp(&b.seconds.value));
    match (found.first(), found.last()) {
        (Some(least), Some(greatest)) => Ok((least.clone(), greatest.clone())),
        _ => Err(Unanswered::TooLittle("no size below 1 KiB was measured")),
    }
}

/// What the same path over a link of `rate` bits a second would take for a block: start-up cost as fitted, bytes at that
/// rate. Only where one line follows the path.
pub fn at_rate(fits: &Fits, size: u64, rate: f64) -> Result<Estimate, Unanswered> {
    if rate.is_nan() || rate <= 0.0 {
        return Err(Unanswered::TooLittle("a link of no rate brings nothing"));
    }
    let Some(line) = &fits.latency.all else { return Err(Unanswered::TooLittle("a line needs at least three sizes")) };
    if line.misfit.systematic {
        let typical = units::Share(line.misfit.typical);
        return Err(Unanswered::Misfit(format!("one line lies by {typical} typically")));
    }
    let bytes = size as f64 * 8.0 / rate;
    let off = |t0: f64| (t0 + bytes).max(0.0);
    Ok(Estimate::new(off(line.t0.value), off(line.t0.low), off(line.t0.high)))
}
