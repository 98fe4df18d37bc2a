//! Answers to what readers ask of a curve (`seeds/004`, sections 1 and 4): when a block arrives, the most a path moves, the
//! size to use, whether frames can be kept up. Every answer carries its interval and the sizes it rests on.

mod beyond;
mod frames;
mod reached;
mod time;

pub use frames::{Frames, largest_within};
pub use reached::{Kept, Reached};
pub(crate) use time::point;
pub use time::{Arrival, Outside, arrival};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::{Scaled, Target, Unscaled, Wire};
use crate::{CurvePoint, Estimate, Summary};

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
    /// Bytes cost less than the start at the largest size measured, so that nothing tells of much larger blocks.
    #[error("{} is the largest size measured, and the path does not saturate by there: bytes still cost less than the start, and larger blocks can't be foretold; measure them", units::Bytes(*.0))]
    Unsaturated(
        /// Largest size measured, bytes.
        u64,
    ),
    /// The question needs a model that does not fit.
    #[error("this needs a model of the path, and {0}")]
    Misfit(String),
    /// The scaling model has no answer.
    #[error("{0}")]
    Unscaled(#[from] Unscaled),
    /// What was measured is no sum of costs.
    #[error("{0}")]
    NoSum(String),
    /// Too little was measured.
    #[error("{0}")]
    TooLittle(&'static str),
}

/// The most a path moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Most {
    /// Effective maximum throughput, bits a second.
    pub throughput: Estimate,
    /// Size at which it was seen, bytes.
    pub at: u64,
    /// Size from which on 95% of it is reached.
    pub from: Reached,
    /// Throughput is known still to rise at the largest size: more may be had beyond.
    pub rising: bool,
}

/// Share of the maximum that counts as reaching it.
const REACHED: f64 = 0.95;
/// Share of the maximum at which a larger block is hardly worth its wait.
const WORTH: f64 = 0.90;

/// The sizes from this share of the largest on, three octaves, tell whether bytes prevail there.
const END: u64 = 8;
/// Slope of time over size, on logarithmic axes, from which on bytes cost more than the start.
const SATURATED: f64 = 0.5;

/// Whether bytes cost more than the start at the largest sizes measured, so that larger blocks hardly move more. None where a
/// single size was measured.
pub fn saturates(points: &[CurvePoint]) -> Option<bool> {
    let mut sorted: Vec<(u64, f64)> = points
        .iter()
        .filter(|p| p.size > 0 && p.seconds > 0.0 && p.seconds.is_finite())
        .map(|p| (p.size, p.seconds))
        .collect();
    sorted.sort_by_key(|p| p.0);
    let largest = sorted.last()?.0;
    let from = sorted.partition_point(|p| p.0 < largest / END).min(sorted.len().saturating_sub(2));
    let end: Vec<(f64, f64, f64)> = sorted[from..].iter().map(|(s, t)| ((*s as f64).ln(), t.ln(), 1.0)).collect();
    Some(stats::weighted_line(&end).filter(|_| end.len() > 1)?.slope >= SATURATED)
}

/// The most a path moves, and from which size; `seed` drives the interval of the size.
pub fn most(points: &[CurvePoint], summary: &Summary, seed: u64) -> Result<Most, Unanswered> {
    let from = Reached::of(points, REACHED, seed)?;
    Ok(Most {
        throughput: summary.max_throughput,
        at: summary.max_size,
        from,
        rising: summary.still_rising == Some(true),
    })
}

/// The smallest size that moves nine tenths of the most: larger ones wait longer for little.
pub fn size_to_use(points: &[CurvePoint], seed: u64) -> Result<Reached, Unanswered> {
    Reached::of(points, WORTH, seed)
}

/// Throughput with blocks of a size, bits a second: what was measured there or, between two sizes, what the time there
/// makes of it. None beyond what was measured.
pub fn throughput(points: &[CurvePoint], size: u64) -> Result<(Estimate, Vec<u64>), Unanswered> {
    let found = arrival(points, size, None)?;
    // Both directions may carry data: what a point's bits are to its size, they are between points, too.
    let near = points.iter().min_by_key(|p| p.size.abs_diff(size)).ok_or(Unanswered::Nothing)?;
    let bits = size as f64 * near.throughput * near.seconds / (near.size.max(1) as f64);
    let t = found.seconds;
    let low = if t.high.is_finite() { bits / t.high } else { 0.0 };
    let high = if t.low > 0.0 { bits / t.low } else { f64::INFINITY };
    Ok((Estimate::new(bits / t.value, low, high), found.rests_on))
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

/// A path over a link of another rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtRate {
    /// Time of a block, seconds. Where the wire that it was measured over is not known, the least that it can take, and an
    /// interval up to the most.
    pub seconds: Estimate,
    /// The most it can take, where the least and the most differ.
    pub most: Option<Estimate>,
    /// Smallest and largest size that it rests on, bytes.
    pub sizes: (u64, u64),
}

/// What the same path over the wire `to` would take for a block, by the scaling model ([`crate::scale`]); `from` is the wire
/// that it was measured over, where that is known. Where it is not, or beyond what was measured, only where one line follows
/// the path.
pub fn at_rate(
    points: &[CurvePoint],
    size: u64,
    from: Option<Wire>,
    to: Wire,
    seed: u64,
) -> Result<AtRate, Unanswered> {
    let asked = [size];
    let (least, most) = match from {
        Some(from) => (Scaled::of(points, &Target::wire(from, to), &asked, seed)?, None),
        None => Scaled::bounds(points, to, &asked, seed).map(|(least, most)| (least, Some(most)))?,
    };
    let misfit = least.measured.misfit;
    let by_line = most.is_some() || !(least.measured.sizes.0..=least.measured.sizes.1).contains(&size);
    if misfit.systematic && by_line {
        return Err(Unanswered::Misfit(format!("one line lies by {} typically", units::Share(misfit.typical))));
    }
    let mut sorted: Vec<&CurvePoint> = points.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    if size > least.measured.sizes.1 && !beyond::holds(&sorted, &least.measured) {
        return Err(Unanswered::Misfit("the largest sizes measured do not follow the line over all sizes".to_owned()));
    }
    let of = |s: &Scaled| s.at(size).ok_or(Unanswered::Nothing);
    let (sizes, seconds) = (least.measured.sizes, of(&least)?);
    let most = most.as_ref().map(of).transpose()?;
    let high = most.map_or(seconds.high, |m| m.high);
    Ok(AtRate { seconds: Estimate { high, ..seconds }, most, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_saturates_where_its_largest_blocks_cost_more_than_their_start() {
        let curve = |largest: f64| -> Vec<CurvePoint> {
            let sizes = (0..).map(|i| 1.11f64.powi(i)).take_while(|s| *s <= largest);
            let time = |s: f64| CurvePoint::of(s as u64, 1e-5 + 8e-10 * s, Vec::new());
            sizes.map(time).collect()
        };
        assert_eq!(saturates(&curve(13.0)), Some(false));
        assert_eq!(saturates(&curve(12_500.0)), Some(false));
        assert_eq!(saturates(&curve(60_000.0)), Some(true));
        assert_eq!(saturates(&curve(1.0)), None);
        assert_eq!(saturates(&[]), None);
    }
}
