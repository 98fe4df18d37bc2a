//! From which size on a share of the largest throughput is reached, and which sizes can't be told from the best.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unanswered;
use crate::curve::Curve;
use crate::resampled::{Scale, estimates_of};
use crate::smooth::{Smooth, crossing, highest};
use crate::{CurvePoint, Estimate};

/// Refits for an interval. The standard deviation of 200 values is itself known to 5%.
const REFITS: usize = 200;

/// Sizes whose throughput is so near to the best are as good.
const AS_GOOD: f64 = 0.99;

/// Where a path reaches a share of its largest throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// Size from which on the share is reached, bytes.
    pub size: Estimate,
    /// The share.
    pub share: f64,
    /// Smallest and largest of the measured sizes about the best one whose throughput can't be told from the best, bytes.
    pub best: (u64, u64),
    /// The largest of these is the largest measured: larger ones may do as well.
    pub open: bool,
}

impl Reached {
    /// Finds the size that parts those below `share` of the largest throughput from those above, on the smoothed curve
    /// (`smooth.rs`). `seed` drives the bootstrap over rounds.
    pub fn of(points: &[CurvePoint], share: f64, seed: u64) -> Result<Self, Unanswered> {
        let curve = Curve::of(points);
        let smooth = Smooth::of(&curve);
        let read = |seconds: &[f64]| {
            let rates = smooth.rates(&curve, seconds);
            let (top, most) = highest(&rates)?;
            let mut figures = vec![crossing(&smooth.logs[..=top], &rates[..=top], most + share.ln()).exp()];
            figures.extend(rates.iter().map(|s| (s - most).exp()));
            Some(figures)
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scales = vec![Scale::Ratio; smooth.points.len() + 1];
        let found = estimates_of(&curve, &scales, REFITS, &mut rng, read).ok_or(Unanswered::Nothing)?;
        let (size, shares) = found.split_first().ok_or(Unanswered::Nothing)?;
        let good = |e: &Estimate| e.value >= AS_GOOD || e.high >= AS_GOOD;
        let top = (0..shares.len()).max_by(|a, b| shares[*a].value.total_cmp(&shares[*b].value)).unwrap_or(0);
        let first = (0..=top).rev().take_while(|i| good(&shares[*i])).last().unwrap_or(top);
        let last = (top..shares.len()).take_while(|i| good(&shares[*i])).last().unwrap_or(top);
        let at = |i: usize| curve.points[smooth.points[i]].size;
        Ok(Self { size: *size, share, best: (at(first), at(last)), open: last + 1 == shares.len() })
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::Summary;

    /// Ten blocks of t0 + b B with noise of `sigma` at each size and in common, 0.045 decades apart, 1 B to 8 MiB.
    fn line(sigma: f64, seed: u64) -> Vec<CurvePoint> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = move || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let common: Vec<f64> = (0..10).map(|_| sigma * normal()).collect();
        (0..154)
            .map(|i| 10f64.powf(0.045 * f64::from(i)) as u64)
            .map(|size| {
                let t = 1e-5 + size as f64 * 1e-9;
                let blocks: Vec<(u32, f64)> =
                    (0..10).map(|b| (b, t * (common[b as usize] + sigma * normal()).exp())).collect();
                let seconds = stats::median(&blocks.iter().map(|b| b.1).collect::<Vec<_>>());
                CurvePoint::of(size, seconds, blocks)
            })
            .collect()
    }

    /// Where 90% of the throughput at the largest size is reached: x / (n + x) = 0.9 s / (n + s), with n = 10,000.
    fn truth(points: &[CurvePoint]) -> f64 {
        let s = points.last().unwrap().size as f64;
        let share = 0.9 * s / (1e4 + s);
        1e4 * share / (1.0 - share)
    }

    #[test]
    fn the_size_to_use_is_found_within_its_interval_in_most_of_many_noisy_runs() {
        let (mut covered, mut near) = (0, 0);
        for seed in 0..40 {
            let points = line(0.03, seed);
            let (found, truth) = (Reached::of(&points, 0.9, seed).unwrap(), truth(&points));
            covered += usize::from((found.size.low..=found.size.high).contains(&truth));
            near += usize::from((found.size.value / truth - 1.0).abs() < 0.25);
        }
        assert!(covered >= 35 && near >= 35, "covered {covered}, within 25% {near}, of 40");
    }

    #[test]
    fn an_exact_line_is_read_exactly_and_sizes_as_good_as_the_best_are_told() {
        let points = line(0.0, 1);
        let found = Reached::of(&points, 0.9, 1).unwrap();
        assert!((found.size.value / truth(&points) - 1.0).abs() < 0.02, "{found:?}");
        // 99% of the most, from 99 n on.
        assert!(found.open && (800_000..1_000_000).contains(&found.best.0), "{found:?}");
    }

    #[test]
    fn a_share_of_the_most_is_reached_no_later_than_the_most_was_seen() {
        for seed in 0..30 {
            let points = line(0.1, seed);
            let (found, most) = (Reached::of(&points, 0.95, seed).unwrap(), Summary::of(&points, seed).unwrap());
            assert!(found.size.value <= most.max_size as f64 * 1.001, "{seed}: {found:?}, seen at {}", most.max_size);
            assert!((found.best.0..=found.best.1).contains(&most.max_size), "{seed}: {found:?} {}", most.max_size);
        }
    }

    #[test]
    fn few_sizes_and_single_blocks_answer_without_claiming_an_interval() {
        let one = CurvePoint {
            size: 64,
            seconds: 1e-6,
            blocks: vec![(0, 1e-6)],
            throughput: 5e8,
            interval: None,
            rounding: 0.0,
        };
        let found = Reached::of(&[one], 0.9, 1).unwrap();
        assert_eq!((found.size.value.round(), found.size.high, found.best), (64.0, f64::INFINITY, (64, 64)));
        assert_eq!(Reached::of(&[], 0.9, 1), Err(Unanswered::Nothing));
    }
}
