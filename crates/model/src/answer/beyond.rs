//! How long a message takes that is larger than all that were measured.

use super::time::point;
use crate::fit::line_beside;
use crate::{CurvePoint, Estimate, LatencyLine};

/// Sizes from this share of the largest on are its last decade: a line must follow these to be drawn on.
const DECADE: u64 = 10;
/// Sizes from this share of the largest on say what a byte costs at the end.
const END: u64 = 3;
/// A line that passes an interval's end by no more than this share passes near it.
const NEAR: f64 = 0.1;
/// Share of the last decade's sizes that the line must pass near.
const MOST: f64 = 0.75;
/// Fewest sizes that tell what a byte costs at the end.
const FEWEST: usize = 3;

/// Whether the line passes near the times of the last decade's sizes, and of the largest: that it fits the whole curve says
/// nothing of its end, where a few sizes can be several times slower. `sorted` ascends in size.
pub(super) fn holds(sorted: &[&CurvePoint], line: &LatencyLine) -> bool {
    let near = |p: &CurvePoint| {
        let (e, said) = (point(p), at(line, p.size));
        // Without an interval the median stands for itself.
        let (low, high) = if e.high.is_finite() { (e.low, e.high) } else { (e.value, e.value) };
        (low * (1.0 - NEAR)..=high * (1.0 + NEAR)).contains(&said)
    };
    let tail = last(sorted, DECADE);
    let passed = tail.iter().filter(|p| near(p)).count();
    sorted.last().is_some_and(|p| near(p)) && passed as f64 >= MOST * tail.len() as f64
}

/// The time by a line that holds, its interval widened by how far the last decade's sizes lie from it.
pub(super) fn by_line(sorted: &[&CurvePoint], line: &LatencyLine, size: u64) -> Estimate {
    let time = |t0: f64, b: f64| (t0 + b * size as f64).max(0.0);
    let wide = twice_rms(last(sorted, DECADE).iter().map(|p| (p.seconds / at(line, p.size)).ln()));
    Estimate::new(
        time(line.t0.value, line.per_byte.value),
        time(line.t0.low, line.per_byte.low) * (-wide).exp(),
        time(line.t0.high, line.per_byte.high) * wide.exp(),
    )
}

/// The time by what a byte costs at the largest sizes, and the smallest of these, bytes. The interval holds what each of them
/// makes of it, and the line through them where it rises. None where they are too few, or where they take hardly longer than
/// the smallest message: their bytes' cost is not seen.
pub(super) fn by_last_sizes(sorted: &[&CurvePoint], size: u64) -> Option<(Estimate, u64)> {
    let (start, end) = (sorted.first()?.seconds, last(sorted, END));
    if end.len() < FEWEST || end.iter().any(|p| p.seconds < 2.0 * start) {
        return None;
    }
    let scaled = |seconds: f64, p: &CurvePoint| start + (seconds - start).max(0.0) / p.size as f64 * size as f64;
    let each: Vec<f64> = end.iter().map(|p| scaled(p.seconds, p)).collect();
    let middle = stats::median(&each);
    let points: Vec<(f64, f64)> = end.iter().map(|p| (p.size as f64, p.seconds)).collect();
    let line = line_beside(&points, |_| 0.0).filter(|l| l.per_byte > 0.0).map(|l| l.at(size as f64));
    let bounded = || end.iter().map(|p| (point(p), p)).filter(|(e, _)| e.high.is_finite());
    if bounded().next().is_none() {
        return Some((Estimate::unbounded(middle), end[0].size));
    }
    let ends =
        bounded().flat_map(|(e, p)| [scaled(e.low, p), scaled(e.high, p)]).chain(each.iter().copied()).chain(line);
    let (low, high) = ends.fold((middle, middle), |(low, high), t| (low.min(t), high.max(t)));
    Some((Estimate::new(middle, low, high), end[0].size))
}

fn at(line: &LatencyLine, size: u64) -> f64 {
    (line.t0.value + line.per_byte.value * size as f64).max(f64::MIN_POSITIVE)
}

/// The sizes from a share of the largest on.
fn last<'a, 'b>(sorted: &'b [&'a CurvePoint], share: u64) -> &'b [&'a CurvePoint] {
    let largest = sorted.last().map_or(0, |p| p.size);
    &sorted[sorted.partition_point(|p| p.size < largest / share)..]
}

/// Two root mean squares: the half-width that holds 95% of normal residuals.
fn twice_rms(residuals: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = residuals.collect();
    2.0 * (all.iter().map(|r| r * r).sum::<f64>() / all.len().max(1) as f64).sqrt()
}
