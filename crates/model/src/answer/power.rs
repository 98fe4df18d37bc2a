//! Fits `t0 + c size^p` to times over sizes, and gives the time of a larger size by each power `p` that the sizes do not refute.

use crate::fit::line_beside;
use crate::{CurvePoint, Estimate};

/// Powers that are tried, in twentieths: from the root of the size to its power of one and a half.
const POWERS: std::ops::RangeInclusive<u32> = 10..=30;
/// The straight line among them.
const LINE: u32 = 20;
/// Fewest sizes for a line and its error.
const FEWEST: usize = 4;
/// Relative residuals below this are rounding.
const EXACT: f64 = 1e-6;
/// A start-up cost may come out below 0 by this share of the smallest time, by noise.
const BELOW: f64 = 0.05;

/// The time of a larger size and its range, seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forecast {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Whether any size has an interval: without one the error that all sizes share is unknown.
    pub bounded: bool,
}

/// One power's curve at the size asked about.
struct Curve {
    /// Twentieths.
    power: u32,
    time: f64,
    /// Its standard error as a share.
    error: f64,
    /// Sum of the squares of the relative residuals.
    residuals: f64,
}

/// The time of a larger size by these, ascending. None with fewer than four sizes, or where time does not grow with size.
pub(super) fn forecast(sizes: &[&CurvePoint], size: f64) -> Option<Forecast> {
    if sizes.len() < FEWEST {
        return None;
    }
    let curves: Vec<Curve> = POWERS.filter_map(|power| curve(sizes, size, power)).collect();
    let least = curves.iter().map(|c| c.residuals).fold(f64::INFINITY, f64::min);
    let many = sizes.len() as f64;
    // Whether a power fits as well as the best one: an F test for one more free parameter.
    let free = many - 3.0;
    let likely = |c: &&Curve| c.residuals / least - 1.0 <= stats::student_t(stats::CONFIDENCE, free).powi(2) / free;
    let line = curves.iter().find(|c| c.power == LINE);
    let best = curves.iter().min_by(|a, b| a.residuals.total_cmp(&b.residuals))?;
    let value = line.filter(likely).unwrap_or(best).time;
    // The error that all sizes share is taken to be as large as that of a typical size.
    let known: Vec<Estimate> =
        sizes.iter().map(|p| p.estimate()).filter(|e| e.high.is_finite() && e.low > 0.0).collect();
    let typical = |of: fn(&Estimate) -> f64| match known.is_empty() {
        true => 0.0,
        false => stats::median(&known.iter().map(of).collect::<Vec<_>>()),
    };
    let (below, above) = (typical(|e| (e.value / e.low).ln()), typical(|e| (e.high / e.value).ln()));
    // The larger size may lie as far off the curve as these do beyond their noise.
    let noise = (below + above) / 4.0;
    let scatter = (least / (many - 2.0) - noise.powi(2)).max(0.0).sqrt();
    let t = stats::student_t(stats::CONFIDENCE, many - 2.0);
    let (mut low, mut high) = (value, value);
    for c in curves.iter().filter(|c| c.power == LINE || likely(c)) {
        let own = t * c.error.hypot(scatter);
        (low, high) = (low.min(c.time * (-own.hypot(below)).exp()), high.max(c.time * own.hypot(above).exp()));
    }
    Some(Forecast { value, low, high, bounded: !known.is_empty() })
}

/// The curve of one power through these sizes. None where time does not grow along it, or where it begins below 0: only a straight line
/// may, since a line through sizes on both sides of a cache's end does.
fn curve(sizes: &[&CurvePoint], size: f64, power: u32) -> Option<Curve> {
    let p = f64::from(power) / f64::from(LINE);
    let largest = sizes.last()?.size.max(1) as f64;
    let x = |size: f64| (size / largest).powf(p);
    let points: Vec<(f64, f64)> = sizes.iter().map(|s| (x(s.size as f64), s.seconds)).collect();
    let line = line_beside(&points, |_| 0.0).filter(|l| l.per_byte > 0.0)?;
    let fitted: Vec<f64> = points.iter().map(|p| line.at(p.0)).collect();
    if fitted.iter().any(|f| *f <= 0.0) || (power != LINE && line.t0 < -BELOW * points[0].1) {
        return None;
    }
    let missed = |(p, f): (&(f64, f64), &f64)| (p.1 / f).ln().powi(2).max(EXACT.powi(2));
    let residuals: f64 = points.iter().zip(&fitted).map(missed).sum();
    // Errors are relative: a point weighs by the inverse square of its time.
    let weights: Vec<f64> = fitted.iter().map(|f| f.powi(-2)).collect();
    let weight: f64 = weights.iter().sum();
    let middle = points.iter().zip(&weights).map(|(p, w)| w * p.0).sum::<f64>() / weight;
    let spread: f64 = points.iter().zip(&weights).map(|(p, w)| w * (p.0 - middle).powi(2)).sum();
    let (at, time) = (x(size), line.at(x(size)));
    let one = residuals / (points.len() - 2) as f64;
    let error = (one * (1.0 / weight + (at - middle).powi(2) / spread)).sqrt() / time;
    (time > 0.0 && error.is_finite()).then_some(Curve { power, time, error, residuals })
}
