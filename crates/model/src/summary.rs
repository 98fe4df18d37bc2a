//! The summary figures and their intervals.

use std::f64::consts::LN_2;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::curve::{Curve, Drawn, Point};
use crate::fit::small_line;
use crate::resampled::{Scale, estimates, reach, typical_blocks};
use crate::shape::{last_decade, rise};
use crate::smooth::{Most, Smooth, crossing, highest};
use crate::{CurvePoint, Estimate, Summary};

/// Resamples of the bootstrap. The standard deviation of 500 values is itself known to 3%.
const RESAMPLES: usize = 500;

/// Rise of throughput from the lower to the upper half of the last decade that is worth telling. On the ideal curve
/// `B / (t0 + b B)`, 5% here leaves about 1.3% to be gained beyond the largest size.
const WORTH: f64 = 0.05;

impl Summary {
    /// Reads the figures off a curve, in any order of sizes. None without a single point that has a time.
    ///
    /// Intervals are at 95%. Latency and maximum throughput are those of their points; the maximum is that of the size at which
    /// the smoothed curve (`smooth.rs`) is highest, because the largest of many noisy points is large by luck. The others are
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
        let rates = smooth.rates(&curve, &seconds);
        let top = highest(&rates).map_or(0, |(at, _)| at);
        // Only a curve that is highest at its end may rise beyond it.
        let at_end = top + 1 == smooth.points.len();
        let top = &curve.points[smooth.points.get(top).copied().unwrap_or(0)];
        let per_byte = small_line(&curve, seed).map(|line| line.per_byte);
        let rate = |p: &Point| p.throughput(p.seconds);
        let at_end = at_end && curve.points.iter().all(|p| p.size <= top.size && rate(p) <= rate(top));
        let max_throughput = throughput(top);
        let told = max_throughput.high.is_finite();
        let half = |seconds: &[f64]| {
            let rates = smooth.rates(&curve, seconds);
            let Most { top, peak, .. } = smooth.most(&smooth.read(&curve, seconds), &rates)?;
            Some([crossing(&smooth.logs[..=top], &rates[..=top], peak - LN_2).exp()])
        };
        let half_power = estimates(&curve, [Scale::Ratio], RESAMPLES / 2, &mut rng, half).map(|[size]| size);
        // Reached at the very first size: the half-power point lies below what was measured.
        let first = smooth.points.first().map_or(0.0, |i| curve.points[*i].size as f64);
        let half_power = half_power.filter(|size| size.value > first * (1.0 + 1e-9));

        let halves = last_decade(&smooth.logs);
        let risen = rise(&halves, &rates);
        let (mut drawn, mut medians, mut rises) = (Drawn::default(), Vec::new(), Vec::new());
        let resamples = if !told || !at_end || risen <= WORTH.ln_1p() { 0 } else { RESAMPLES };
        for _ in 0..resamples {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            rises.push(rise(&halves, &smooth.rates(&curve, &medians)));
        }
        let end_blocks = typical_blocks(smooth.points[halves.0.start..].iter().map(|i| &curve.points[*i]));
        let still_rising = told.then(|| reach(&rises, end_blocks).is_some_and(|reach| risen > reach));

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

/// A point's throughput with the interval of its time.
fn throughput(point: &Point) -> Estimate {
    let e = point.estimate;
    if e.high.is_finite() && e.low > 0.0 {
        Estimate::new(point.throughput(e.value), point.throughput(e.high), point.throughput(e.low))
    } else {
        Estimate::unbounded(point.throughput(e.value))
    }
}
