//! The saturation point: the knee of the size-time curve on logarithmic axes (`seeds/004`, section 3, figure 3).

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::REFITS;
use super::knee::{Knee, knee};
use crate::Estimate;
use crate::curve::Curve;
use crate::resampled::{Scale, estimates};
use crate::smooth::Smooth;

/// How far apart the two estimates of the saturation point may lie, as a factor, before a curve that still rises has none: slopes over half
/// a decade and smoothed rates each err by some per cent near a curve's end.
const ALIKE: f64 = 1.25;
/// The same where no interval tells how far the estimates err.
const ALIKE_UNTOLD: f64 = 2.0;

/// Where a path saturates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// Saturation point: the size after which time grows nearly in step with size, bytes. Read off the local slope of the
    /// curve, which passes a half there; on a straight line `t0 + b B` that is `t0 / b`. Where no line follows the curve up to its largest
    /// throughput, the interval holds the size by which half of that is reached, too, and the larger of both is the figure.
    pub point: Estimate,
    /// Time of one message at that point, seconds.
    pub seconds: f64,
    /// Saturation interval: from the point's time to that of the largest message, seconds.
    pub interval: (f64, f64),
}

impl Saturation {
    /// Two estimates of one point. The bend: where the slope on logarithmic axes passes a half. The throughput: on a line half of what the
    /// size N reaches is reached at `h = s N / (N + 2 s)`, which is solved for `s`, so that both are `t0 / b` on any line, up to whatever
    /// size it was measured. Where they differ beyond their noise, no line follows the path, and neither estimate alone would be right.
    pub(super) fn of(curve: &Curve, rng: &mut ChaCha8Rng, warnings: &mut Vec<String>) -> Option<Self> {
        let used: Vec<usize> = (0..curve.points.len()).filter(|i| curve.points[*i].size > 0).collect();
        let logs: Vec<f64> = used.iter().map(|i| (curve.points[*i].size as f64).ln()).collect();
        let bends = |seconds: &[f64]| {
            let times: Vec<f64> = used.iter().map(|i| seconds[*i].ln()).collect();
            knee(&logs, &times)
        };
        let smooth = Smooth::of(curve);
        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let half = smooth.half(curve, &seconds);
        let by_throughput = half.and_then(|(half, top)| of_line(half, top));
        let mut refused = |why: String| {
            warnings.push(why);
            None
        };
        let (bend, by_throughput) = match (bends(&seconds), by_throughput) {
            (Ok(bend), Some(other)) => (bend, other),
            (Ok(bend), None) => return refused(unsettled(bend, half)),
            (Err(Knee::Below), _) if half.is_some_and(|(half, _)| half > logs[0] + ALIKE_UNTOLD.ln()) => {
                return refused(unsettled(logs[0], half));
            }
            (Err(why), _) => return refused(why.to_string()),
        };
        let fit = |seconds: &[f64]| {
            let (bend, (half, top)) = (bends(seconds).ok()?, smooth.half(curve, seconds)?);
            let other = of_line(half, top)?;
            Some([bend.exp(), other.exp(), (other - bend).exp()])
        };
        let [mut point, other, apart] = estimates(curve, [Scale::Ratio; 3], REFITS, rng, fit)?;
        if differs(apart, 1.0) {
            if differs(apart, ALIKE) && smooth.still_rising(curve, rng).unwrap_or(true) && other.value > point.value {
                return refused(unsettled(bend, half));
            }
            let value = point.value.max(other.value);
            point = either(value, point, other);
            if value > units::RESOLVED * bend.exp().min(by_throughput.exp()) {
                return refused(unsettled(bend, half));
            }
        }
        // A path is saturated by the size that moves the most.
        if half.is_some_and(|(_, top)| point.value > top.exp()) {
            return refused(unsettled(bend, half));
        }
        let times: Vec<f64> = used.iter().map(|i| seconds[*i].ln()).collect();
        let time = between(&logs, &times, point.value.ln()).exp();
        let last = curve.points.last()?.seconds;
        Some(Self { point, seconds: time, interval: (time, last) })
    }
}

/// The saturation point of a line that reaches half of its rate at the size `top` at the size `half`; logarithms of sizes. None where half
/// is only reached within the last factor of two: no line does that.
fn of_line(half: f64, top: f64) -> Option<f64> {
    let left = 1.0 - 2.0 * (half - top).exp();
    (left > 0.0).then(|| half - left.ln())
}

/// A figure whose interval holds both estimates'; none where the ends of both together lie a thousandfold apart, as of any figure.
fn either(value: f64, a: Estimate, b: Estimate) -> Estimate {
    let (low, high) = (a.low.min(b.low), a.high.max(b.high));
    if high <= units::WIDEST * low { Estimate { value, low, high } } else { Estimate::unbounded(value) }
}

/// Whether two estimates of one point, whose ratio this is, lie farther apart than this factor beyond their error.
fn differs(apart: Estimate, factor: f64) -> bool {
    match apart.high.is_finite() {
        true => apart.low > factor || apart.high < 1.0 / factor,
        false => !(1.0 / ALIKE_UNTOLD..=ALIKE_UNTOLD).contains(&apart.value),
    }
}

/// Why there is no saturation point where time bends at one size and half of the most throughput is reached at another.
fn unsettled(bend: f64, half: Option<(f64, f64)>) -> String {
    let size = |log: f64| units::format::significant(log.exp(), units::Kind::Bytes);
    let (half, top) = half.unwrap_or((bend, bend));
    format!(
        "the path does not saturate within the sizes measured: time grows with size from {} on, but half of the most throughput is \
         reached at {} and the most at {}, as on no straight line; larger sizes may settle it (--to)",
        size(bend),
        size(half),
        size(top)
    )
}

fn between(logs: &[f64], times: &[f64], x: f64) -> f64 {
    let i = logs.partition_point(|l| *l < x).clamp(1, logs.len() - 1);
    let share = ((x - logs[i - 1]) / (logs[i] - logs[i - 1])).clamp(0.0, 1.0);
    times[i - 1] + share * (times[i] - times[i - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_saturation_point_by_its_throughput_however_far_it_was_measured() {
        let line = |b: f64| 1e-5 + 1e-9 * b;
        for top in [3e4f64, 1e5, 1e6, 1e9] {
            // Where a line reaches half of its throughput at `top`.
            let half = top * line(0.0) / (2.0 * line(top) - 1e-9 * top);
            let found = of_line(half.ln(), top.ln()).unwrap().exp();
            assert!((found / 10_000.0 - 1.0).abs() < 1e-9, "{top}: {found}");
        }
        assert_eq!(of_line(0.6f64.ln(), 0.0), None, "throughput that grows as the size and faster");
    }
}
