//! The summary figures and their intervals.

use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::curve::{Curve, Drawn};
use crate::maximum::{held_out, throughput, top};
use crate::resampled::{Scale, estimates, reach, typical_blocks};
use crate::shape::{half_power, last_decade, per_byte, places, rise};
use crate::{CurvePoint, Estimate, Summary};

/// Resamples of the bootstrap. The standard deviation of 500 values is itself known to 3%.
const RESAMPLES: usize = 500;

/// Rise of throughput from the lower to the upper half of the last decade that is worth telling. On the ideal curve
/// `B / (t0 + b B)`, 5% here leaves about 1.3% to be gained beyond the largest size.
const WORTH: f64 = 0.05;

impl Summary {
    /// Reads the figures off a curve, in any order of sizes. None without a single point that has a time.
    ///
    /// Intervals are at 95%. Latency and maximum throughput are those of their points. The others come from a bootstrap over
    /// blocks, drawn whole across all sizes (ChaCha8 from `seed`): the figure plus and minus Student's t times the standard
    /// deviation of the resampled figures, widened as far as blocks are alike. The percentiles of a bootstrap over a few
    /// blocks would be too narrow by a third or more. With fewer than four blocks every interval is unbounded: 0 to infinity.
    pub fn of(points: &[CurvePoint], seed: u64) -> Option<Self> {
        let curve = Curve::of(points);
        let smallest = curve.points.first()?;
        let latency = smallest.estimate;

        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let places = places(&curve);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let held_out = held_out(&curve, &places, &mut rng);
        let top = top(&curve, &held_out)?;
        let max_throughput = throughput(&curve.points[top]);
        let found = estimates(&curve, [Scale::Plain], RESAMPLES / 2, &mut rng, |seconds| {
            per_byte(&curve, seconds).map(|s| [s])
        });
        let per_byte = found.map(|[slope]| slope);
        // Reached at the very first place: the half-power point lies below what was measured.
        let half = half_power(&curve, &places, &seconds, max_throughput.value / 2.0).filter(|(_, place)| *place > 0);
        let decade = last_decade(&curve);
        let risen = rise(&curve, &decade, &seconds);

        let (mut halves, mut rises) = (Vec::new(), Vec::new());
        let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
        let resamples = if curve.moves.few() { 0 } else { RESAMPLES };
        for _ in 0..resamples {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            if half.is_some() {
                // The row that stands for the maximum errs as any row does, and so does its choice.
                let row = held_out.chosen.choose(&mut rng).map_or(top, |place| places[*place].points.0);
                let maximum = curve.points[row].throughput(medians[row]);
                halves.extend(half_power(&curve, &places, &medians, maximum / 2.0).map(|(size, _)| size));
            }
            rises.push(rise(&curve, &decade, &medians));
        }

        let half_power = half.map(|(ln_size, place)| {
            let around = &curve.points[places[place - 1].points.0..places[place].points.1];
            let blocks = typical_blocks(around.iter()).min(held_out.blocks.len());
            match reach(&halves, blocks) {
                Some(reach) => Estimate::new(ln_size.exp(), (ln_size - reach).exp(), (ln_size + reach).exp()),
                None => Estimate::unbounded(ln_size.exp()),
            }
        });
        let end_blocks = typical_blocks(decade.0.iter().chain(&decade.1).map(|i| &curve.points[*i]));
        // A curve whose highest point lies well before its end has come down again.
        let at_end = curve.points[top].size as f64 * 10f64.sqrt() >= curve.points.last().map_or(0.0, |p| p.size as f64);
        let still_rising =
            at_end && risen > WORTH.ln_1p() && reach(&rises, end_blocks).is_none_or(|reach| risen > reach);

        Some(Self {
            latency,
            latency_size: smallest.size,
            per_byte,
            max_throughput,
            max_size: curve.points[top].size,
            half_power,
            still_rising,
        })
    }
}
