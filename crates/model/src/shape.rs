//! Figures read off one set of medians: slope of the small messages, half-power point, rise at the end.

use stats::{median, robust_line};

use crate::curve::Curve;

/// Small messages are those below this size, bytes (`seeds/000`, table 1; `seeds/004`, section 1).
const SMALL: u64 = 1024;

/// Sizes within this ratio count as one for the half-power point: the perturbed neighbours c - p, c, c + p measure the
/// same place of the curve, and the first of them to pass the half by luck must not decide.
const SAME_PLACE: f64 = 1.05;

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

/// A place of the curve: one size or a few close ones.
pub(crate) struct Place {
    /// Indices of its points: first, and one past the last.
    pub points: (usize, usize),
    /// Natural logarithm of the middle size.
    ln_size: f64,
}

/// The places of the curve, ascending. Points of size 0 carry nothing and have no place.
pub(crate) fn places(curve: &Curve) -> Vec<Place> {
    let mut places = Vec::new();
    let mut first = curve.points.iter().take_while(|p| p.size == 0).count();
    while first < curve.points.len() {
        let limit = curve.points[first].size as f64 * SAME_PLACE;
        let count = curve.points[first..].iter().take_while(|p| p.size as f64 <= limit).count();
        let sizes: Vec<f64> = curve.points[first..first + count].iter().map(|p| (p.size as f64).ln()).collect();
        places.push(Place { points: (first, first + count), ln_size: median(&sizes) });
        first += count;
    }
    places
}

/// The half-power point: natural logarithm of the smallest size at which `half` bits a second are reached,
/// interpolated log-log, and the index of the place at or after it. None if no place reaches it.
pub(crate) fn half_power(curve: &Curve, places: &[Place], seconds: &[f64], half: f64) -> Option<(f64, usize)> {
    let ln_throughput = |place: &Place| {
        let range = place.points.0..place.points.1;
        median(&range.map(|i| curve.points[i].throughput(seconds[i]).ln()).collect::<Vec<_>>())
    };
    let target = half.ln();
    let mut before: Option<(f64, f64)> = None;
    for (i, place) in places.iter().enumerate() {
        let reached = ln_throughput(place);
        if reached >= target {
            let size = match before {
                // A place before it with no throughput at all gives nothing to interpolate from.
                Some((ln_size, lower)) if lower.is_finite() => {
                    ln_size + (place.ln_size - ln_size) * (target - lower) / (reached - lower)
                }
                _ => place.ln_size,
            };
            return Some((size, i));
        }
        before = Some((place.ln_size, reached));
    }
    None
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
