//! Figures read off one set of medians: slope of the small messages, rise at the end.

use stats::{median, robust_line};

use crate::curve::Curve;

/// Small messages are those below this size, bytes (`seeds/000`, table 1; `seeds/004`, section 1).
const SMALL: u64 = 1024;

/// Whether the point with this size is a small message.
pub(crate) fn is_small(size: u64) -> bool {
    size < SMALL
}

/// Seconds for each further byte of a small message; none with fewer than three such sizes. `seconds` are the medians
/// of the curve's points.
pub(crate) fn per_byte(curve: &Curve, seconds: &[f64]) -> Option<f64> {
    let small: Vec<(f64, f64)> = (curve.points.iter().zip(seconds))
        .filter(|(p, _)| is_small(p.size))
        .map(|(p, seconds)| (p.size as f64, *seconds))
        .collect();
    let mut sizes: Vec<u64> = small.iter().map(|p| p.0 as u64).collect();
    sizes.dedup();
    if sizes.len() < 3 { None } else { Some(robust_line(&small)?.slope) }
}

/// Indices of the points of the last decade of sizes, split in its middle: (below, above). Both are empty if the
/// decade has no point in one of the halves and nothing before it to compare with.
pub(crate) fn last_decade(curve: &Curve) -> (Vec<usize>, Vec<usize>) {
    let top = curve.points.last().map_or(0.0, |p| p.size as f64);
    let at_least = |from: f64| (0..curve.points.len()).filter(move |i| curve.points[*i].size as f64 >= from);
    let above: Vec<usize> = at_least(top / 10f64.sqrt()).collect();
    let first_above = above.first().copied().unwrap_or(0);
    let mut below: Vec<usize> = at_least(top / 10.0).filter(|i| *i < first_above).collect();
    if below.is_empty() {
        // A coarse schedule: the next smaller size stands in.
        below.extend(first_above.checked_sub(1));
    }
    if below.is_empty() { (below, Vec::new()) } else { (below, above) }
}

/// Natural logarithm of how much higher the throughput is in the upper half of the last decade than in the lower.
pub(crate) fn rise(curve: &Curve, halves: &(Vec<usize>, Vec<usize>), seconds: &[f64]) -> f64 {
    let level = |half: &[usize]| {
        median(&half.iter().map(|i| curve.points[*i].throughput(seconds[*i]).ln()).collect::<Vec<_>>())
    };
    let rise = level(&halves.1) - level(&halves.0);
    // No points, or no throughput in either half: nothing rises.
    if rise.is_nan() { 0.0 } else { rise }
}
