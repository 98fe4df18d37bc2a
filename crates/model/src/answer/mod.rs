//! Answers to what readers ask of a curve (`seeds/004`, sections 1 and 4): when a message arrives, the most a path moves, the
//! size to use, whether frames can be kept up. Every answer carries its interval and the sizes it rests on.

mod beyond;
mod frames;
mod overtaken;
mod power;
mod reached;
mod round_range;
mod time;
mod within;

pub use frames::Frames;
pub use overtaken::{Faster, Overtaken};
pub use reached::{Kept, Reached, reaching};
pub use round_range::RoundRange;
pub use time::{Arrival, Outside, arrival};
pub use within::{largest_within, longer_below};

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
    /// The size lies so far beyond what was measured that the range would be wider than a factor of ten.
    #[error("{} lies too far beyond {}, the largest size measured: how time grows up to there leaves more than a factor of ten; measure up to it, or nearer to it (--to)", units::Bytes(*.asked), units::Bytes(*.to))]
    TooFar {
        /// Size asked about, bytes.
        asked: u64,
        /// Largest size measured, bytes.
        to: u64,
    },
    /// Bytes cost less than the start at the largest size measured, so that nothing tells of much larger messages.
    #[error("{} is the largest size measured, and the path does not saturate by there: bytes still cost less than the start, and larger messages can't be foretold; measure them", units::Bytes(*.0))]
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
/// Share of the maximum at which a larger message is hardly worth its wait.
const WORTH: f64 = 0.90;

/// Sizes from this share of the largest on, three octaves, decide whether bytes prevail there.
const END: u64 = 8;
/// Slope of time over size, on logarithmic axes, from which on bytes cost more than the start.
const SATURATED: f64 = 0.5;

/// Where half of the most throughput is reached below this share of the largest size, bytes prevail at the largest: on a line, they cost
/// four times what the start does there.
const WELL_BELOW: f64 = 1.0 / 6.0;

/// Whether bytes cost more than the start at the largest sizes measured, so that larger messages hardly move more. None where a
/// single size was measured. `half_power` is the size that reaches half of the most, bytes, as the summary has it.
///
/// They do where half of the most is reached far below the largest size, or where the slope of time over the last sizes, on logarithmic
/// axes, may be a half or more. Each size is weighted by its rounds; the slope's error comes from how far the sizes lie from their line.
pub fn saturates(points: &[CurvePoint], half_power: Option<f64>) -> Option<bool> {
    let mut sorted: Vec<&CurvePoint> =
        points.iter().filter(|p| p.size > 0 && p.seconds > 0.0 && p.seconds.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    let largest = sorted.last()?.size;
    let from = sorted.partition_point(|p| p.size < largest / END).min(sorted.len().saturating_sub(2));
    let end: Vec<(f64, f64, f64)> =
        sorted[from..].iter().map(|p| ((p.size as f64).ln(), p.seconds.ln(), p.rounds.len().max(1) as f64)).collect();
    let slope = stats::weighted_line(&end).filter(|_| end.len() > 1)?.slope;
    let early = half_power.is_some_and(|size| size < WELL_BELOW * largest as f64);
    Some(early || slope + 2.0 * slope_error(&end) >= SATURATED)
}

/// Standard error of the slope of a line through points (x, y, weight), by how far these lie from it; 0 of less than four.
fn slope_error(points: &[(f64, f64, f64)]) -> f64 {
    let Some(line) = stats::weighted_line(points).filter(|_| points.len() > 3) else { return 0.0 };
    let weight: f64 = points.iter().map(|p| p.2).sum();
    let mean = points.iter().map(|p| p.2 * p.0).sum::<f64>() / weight;
    let spread: f64 = points.iter().map(|p| p.2 * (p.0 - mean).powi(2)).sum();
    let missed: f64 = points.iter().map(|p| p.2 * (p.1 - line.at(p.0)).powi(2)).sum();
    (missed / (points.len() - 2) as f64 / spread).sqrt()
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

/// Throughput with messages of a size, bits a second: what was measured there or, between two sizes, what the time there
/// makes of it. None beyond what was measured.
pub fn throughput(points: &[CurvePoint], size: u64) -> Result<(Estimate, Vec<u64>), Unanswered> {
    let found = arrival(points, size, None)?;
    Ok((carried(points, size, found.seconds)?, found.rests_on))
}

/// Throughput with messages of a size that take so many seconds, bits a second.
pub fn carried(points: &[CurvePoint], size: u64, seconds: Estimate) -> Result<Estimate, Unanswered> {
    // Both directions may carry data: the bits that a point carries for its size are scaled to other sizes.
    let near = points.iter().min_by_key(|p| p.size.abs_diff(size)).ok_or(Unanswered::Nothing)?;
    let bits = size as f64 * near.throughput * near.seconds / (near.size.max(1) as f64);
    let low = if seconds.high.is_finite() { bits / seconds.high } else { 0.0 };
    let high = if seconds.low > 0.0 { bits / seconds.low } else { f64::INFINITY };
    Ok(Estimate::new(bits / seconds.value, low, high))
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
    /// Time of a message, seconds. Where the wire that it was measured over is not known, the least that it can take, and an
    /// interval up to the most.
    pub seconds: Estimate,
    /// The most it can take, where the least and the most differ.
    pub most: Option<Estimate>,
    /// Smallest and largest size that it rests on, bytes.
    pub sizes: (u64, u64),
}

/// What the same path over the wire `to` would take for a message, by the scaling model ([`crate::scale`]); `from` is the wire
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
        return Err(Unanswered::Misfit(format!(
            "a straight line misses the measured times by {} (root mean square)",
            units::Share(misfit.typical)
        )));
    }
    let mut sorted: Vec<&CurvePoint> = points.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    if size > least.measured.sizes.1 && !beyond::holds(&sorted, &least.measured) {
        return Err(Unanswered::Misfit("the largest sizes measured do not follow the line over all sizes".to_owned()));
    }
    let of = |s: &Scaled| s.at(size).ok_or(Unanswered::Nothing);
    let sizes = least.measured.sizes;
    let too_far = || Unanswered::TooFar { asked: size, to: sizes.1 };
    let reached = |e: Estimate| beyond::with_distance(e, size, sizes.1).ok_or_else(too_far);
    let seconds = reached(of(&least)?)?;
    let most = most.as_ref().map(of).transpose()?.map(reached).transpose()?;
    let high = most.map_or(seconds.high, |m| m.high);
    Ok(AtRate { seconds: Estimate { high, ..seconds }, most, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_saturates_where_its_largest_messages_cost_more_than_their_start() {
        let curve = |largest: f64| -> Vec<CurvePoint> {
            let sizes = (0..).map(|i| 1.11f64.powi(i)).take_while(|s| *s <= largest);
            let time = |s: f64| CurvePoint::of(s as u64, 1e-5 + 8e-10 * s, Vec::new());
            sizes.map(time).collect()
        };
        let saturates = |points: &[CurvePoint]| super::saturates(points, None);
        assert_eq!(saturates(&curve(13.0)), Some(false));
        assert_eq!(saturates(&curve(12_000.0)), Some(false));
        assert_eq!(saturates(&curve(60_000.0)), Some(true));
        assert_eq!(saturates(&curve(1.0)), None);
        assert_eq!(saturates(&[]), None);
    }

    #[test]
    fn a_noisy_end_of_single_rounds_does_not_hide_that_bytes_prevail() {
        // 10 us + 0.8 ns a byte up to 8 MiB; of the last three octaves only 1.5 MB and the largest have rounds, and single visits to the
        // sizes between met a machine that was several times slower at first.
        let size = |i: i32| 1.11f64.powi(i) as u64;
        let curve: Vec<CurvePoint> = (0..153)
            .map(|i| {
                let slow = if (134..152).contains(&i) { 6.0 - f64::from(i - 134) * 0.28 } else { 1.0 };
                let time = (1e-5 + 8e-10 * size(i) as f64) * slow;
                CurvePoint::of(size(i), time, (0..if slow > 1.0 { 1 } else { 5 }).map(|b| (b, time)).collect())
            })
            .collect();
        assert_eq!(saturates(&curve, None), Some(true));
        // Even where the end alone says otherwise, half of the most was reached long before.
        let flat: Vec<CurvePoint> = (0..40).map(|i| CurvePoint::of(size(100 + i), 1e-3, Vec::new())).collect();
        let largest = size(139) as f64;
        assert_eq!(saturates(&flat, Some(0.5 * largest)), Some(false));
        assert_eq!(saturates(&flat, Some(0.1 * largest)), Some(true));
    }
}
