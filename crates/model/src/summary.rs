//! The summary figures and their intervals.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::curve::{Curve, Point};
use crate::fit::small_line;
use crate::resampled::{Scale, estimates};
use crate::smooth::Smooth;
use crate::{CurvePoint, Estimate, Summary};

/// Refits for the interval of the half-power point. The standard deviation of 250 values is itself known to 4.5%.
const REFITS: usize = 250;
/// Neighbouring sizes whose ratio is larger say nothing of the curve between them.
const FAR_APART: f64 = 2.0;

impl Summary {
    /// Reads the figures off a curve, in any order of sizes. None without a single point that has a time.
    ///
    /// Intervals are at 95%. Latency and maximum throughput are those of their points; the maximum is that of the size at which
    /// the smoothed curve (`smooth.rs`) is highest, because the largest of many noisy points is large by luck. Half of it is looked for on
    /// the smoothed curve, too. The others are
    /// refitted on drawn rounds (`resampled.rs`; ChaCha8 from `seed`): the percentiles of a bootstrap over a few rounds would be
    /// too narrow by a third or more. With fewer than four rounds every interval is unbounded: 0 to infinity.
    pub fn of(points: &[CurvePoint], seed: u64) -> Option<Self> {
        let curve = Curve::of(points);
        let smallest = curve.points.first()?;
        let latency = smallest.estimate;

        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let smooth = Smooth::of(&curve);
        // Where nothing carries anything, the first point stands for the maximum: 0.
        let top = smooth.headline(&curve, &seconds).unwrap_or(0);
        let top = &curve.points[smooth.points.get(top).copied().unwrap_or(0)];
        let per_byte = small_line(&curve, seed).map(|line| line.per_byte);
        let max_throughput = throughput(top);
        let half = |seconds: &[f64]| smooth.half(&curve, seconds).map(|(half, _)| [half.exp()]);
        let half_power = estimates(&curve, [Scale::Ratio], REFITS, &mut rng, half).map(|[size]| size);
        // The figure is of the maximum that stands beside it, one size's own; how far that errs is told best by all sizes about the top.
        let rates = smooth.rates(&curve, &seconds);
        let peak = smooth.most(&smooth.read(&curve, &seconds), &rates).map(|most| most.peak);
        let told = peak.and_then(|peak| smooth.reached((&curve, &seconds), &rates, 0.5, peak));
        let half_power = half_power.zip(told).map(|(all, (size, _))| Estimate::new(size.exp(), all.low, all.high));
        // Reached at the very first size: the half-power point lies below what was measured.
        let first = smooth.points.first().map_or(0.0, |i| curve.points[*i].size as f64);
        let half_power = half_power.filter(|size| size.value > first * (1.0 + 1e-9));
        let sizes: Vec<f64> = smooth.points.iter().map(|i| curve.points[*i].size as f64).collect();
        let half_power = half_power.map(|size| up_to_neighbours(size, &sizes));

        let still_rising = match max_throughput.high.is_finite() {
            true => smooth.still_rising(&curve, &mut rng).or(Some(false)),
            false => None,
        };

        Some(Self {
            latency,
            latency_size: smallest.size,
            per_byte,
            max_throughput,
            max_size: top.size,
            half_power,
            still_rising,
        })
    }
}

/// A size that was interpolated, bytes, with an interval that reaches to both of its neighbours among the measured `sizes` (ascending) where
/// these lie far apart: noise tells how well the interpolation is known, and not how the curve runs between them.
fn up_to_neighbours(size: Estimate, sizes: &[f64]) -> Estimate {
    let next = sizes.partition_point(|s| *s < size.value);
    match (sizes.get(next.wrapping_sub(1)), sizes.get(next)) {
        (Some(below), Some(above)) if *above > FAR_APART * below => {
            Estimate::new(size.value, size.low.min(*below), size.high.max(*above))
        }
        _ => size,
    }
}

/// A point's throughput with the interval of its time.
fn throughput(point: &Point) -> Estimate {
    let e = point.estimate;
    if e.high.is_finite() && e.low > 0.0 {
        Estimate::new(point.throughput(e.value), point.throughput(e.high), point.throughput(e.low))
    } else {
        Estimate::unbounded(point.throughput(e.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_sizes_far_apart_nothing_is_known_of_the_half_power_point() {
        let size = Estimate::new(26e3, 25e3, 27e3);
        let wide = up_to_neighbours(size, &[64.0, 1024.0, 65_536.0]);
        assert_eq!((wide.low, wide.high), (1024.0, 65_536.0));
        assert_eq!(up_to_neighbours(size, &[20e3, 24e3, 30e3]), size);
        assert_eq!(up_to_neighbours(size, &[]), size);
    }
}
