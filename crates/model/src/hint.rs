//! The figures of a HINT curve: its first, its highest and its Net QUIPS, with their intervals.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::resampled::{Scale, estimates};
use crate::{CurvePoint, Estimate};

/// Resamples of each figure.
const REFITS: usize = 400;

/// The figures of a HINT curve (`seeds/004`, appendix A). All are quality improvements a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quips {
    /// QUIPS of the fewest subintervals: how soon it comes up to speed.
    pub first: Estimate,
    /// Those subintervals, of each process.
    pub first_size: u64,
    /// Highest QUIPS.
    pub peak: Estimate,
    /// Subintervals there, of each process.
    pub peak_size: u64,
    /// Net QUIPS: the area below QUIPS over logarithmic time.
    pub net: Estimate,
}

impl Quips {
    /// Reads the figures off a curve whose sizes are subintervals and whose throughputs are QUIPS. None without a point. Intervals are at
    /// 95%, from rounds drawn again (ChaCha8 from `seed`); with a single round they are unbounded.
    pub fn of(points: &[CurvePoint], seed: u64) -> Option<Self> {
        let curve = Curve::of(points);
        let quips = |seconds: &[f64]| -> Vec<f64> {
            curve.points.iter().zip(seconds).map(|(p, seconds)| p.throughput(*seconds)).collect()
        };
        let all = quips(&curve.points.iter().map(|p| p.seconds).collect::<Vec<_>>());
        let highest = (0..all.len()).max_by(|a, b| all[*a].total_cmp(&all[*b]))?;
        let fit = |seconds: &[f64]| {
            let found = quips(seconds);
            let points: Vec<(f64, f64)> = seconds.iter().copied().zip(found.iter().copied()).collect();
            let peak = found.iter().copied().fold(0.0, f64::max);
            Some([*found.first()?, peak, workload::hint::net(&points).filter(|net| *net > 0.0)?])
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let [first, peak, net] = estimates(&curve, [Scale::Ratio; 3], REFITS, &mut rng, fit)?;
        let size = |at: usize| curve.points[at].size;
        Some(Self { first, first_size: size(0), peak, peak_size: size(highest), net })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that works at a subinterval for `each` seconds and waits `latency` for each sum, `rounds` rounds that lie
    /// `spread` apart.
    fn curve(latency: f64, each: f64, rounds: u32, spread: f64) -> Vec<CurvePoint> {
        (2..20)
            .map(|e| {
                let size = 1u64 << e;
                let seconds = latency + each * size as f64;
                let middle = f64::from(rounds + 1) / 2.0;
                let medians = (1..=rounds).map(|b| (b, seconds * (1.0 + spread * (f64::from(b) - middle)))).collect();
                CurvePoint {
                    size,
                    seconds,
                    rounds: medians,
                    throughput: size as f64 / seconds,
                    interval: None,
                    rounding: 0.0,
                }
            })
            .collect()
    }

    #[test]
    fn figures_are_those_of_the_curve() {
        let q = Quips::of(&curve(1e-5, 1e-8, 7, 0.01), 1).unwrap();
        assert_eq!((q.first_size, q.peak_size), (4, 1 << 19));
        let first = 4.0 / (1e-5 + 4e-8);
        assert!((q.first.value / first - 1.0).abs() < 1e-12);
        assert!((q.peak.value * (1e-5 + 1e-8 * 524_288.0) / 524_288.0 - 1.0).abs() < 1e-12);
        assert!(q.first.low < first && first < q.first.high && q.first.high < 1.2 * first);
        assert!(q.net.low < q.net.value && q.net.value < q.net.high);
    }

    #[test]
    fn the_lower_latency_has_the_higher_net_quips() {
        let net = |latency| Quips::of(&curve(latency, 1e-8, 3, 0.0), 1).unwrap().net.value;
        assert!(net(7e-4) > net(9e-4), "the paper's Ethernet and ATM");
    }

    #[test]
    fn one_round_says_nothing_of_the_spread_and_no_point_nothing_at_all() {
        let q = Quips::of(&curve(1e-5, 1e-8, 1, 0.0), 1).unwrap();
        assert!(q.net.high.is_infinite() && q.net.value.is_finite());
        assert_eq!(Quips::of(&[], 1), None);
    }
}
