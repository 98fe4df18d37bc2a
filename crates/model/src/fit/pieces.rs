//! Several lines where one misses the path: copies through a cache and beyond it each have their own (`seeds/003`).

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::REFITS;
use super::line::line;
use crate::Estimate;
use crate::curve::Curve;
use crate::resampled::{Scale, estimates_of};

/// Most pieces of a curve.
const MOST: usize = 5;
/// Fewest sizes of a piece.
const LEAST: usize = 5;

/// A line over a stretch of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    /// Smallest size of the stretch, bytes.
    pub from: u64,
    /// Largest size of the stretch, bytes.
    pub to: u64,
    /// Start-up cost of its line, seconds; may be negative far from the origin.
    pub t0: Estimate,
    /// Seconds that each byte adds within it.
    pub per_byte: Estimate,
}

/// The fewest lines that follow the curve: pieces are added while they explain more than noise would (Schwarz's
/// criterion), found together by dynamic programming over relative squared errors. `noise` is the standard error of a
/// point's median, as a share. The intervals are of the lines over these stretches, from a generator of their own (ChaCha8 from `seed`);
/// where a stretch ends has none.
pub(super) fn pieces(curve: &Curve, noise: f64, seed: u64) -> Vec<Piece> {
    let stretches = stretches(curve, noise);
    let lines = |seconds: &[f64]| {
        let of = |(from, to): (usize, usize)| {
            let points: Vec<(f64, f64)> = (from..to).map(|i| (curve.points[i].size as f64, seconds[i])).collect();
            line(&points).map(|line| [line.t0, line.per_byte])
        };
        stretches.iter().map(|stretch| of(*stretch)).collect::<Option<Vec<_>>>().map(|found| found.concat())
    };
    let scales = vec![Scale::Plain; 2 * stretches.len()];
    let found = estimates_of(curve, &scales, REFITS, &mut ChaCha8Rng::seed_from_u64(seed), lines).unwrap_or_default();
    let size = |i: usize| curve.points[i].size;
    let piece = |((from, to), line): (&(usize, usize), &[Estimate])| Piece {
        from: size(*from),
        to: size(to - 1),
        t0: line[0],
        per_byte: line[1],
    };
    stretches.iter().zip(found.chunks_exact(2)).map(piece).collect()
}

/// Where the pieces begin and until before which point each goes, leaving out what has too few sizes for a line.
fn stretches(curve: &Curve, noise: f64) -> Vec<(usize, usize)> {
    let points: Vec<(f64, f64)> = curve.points.iter().map(|p| (p.size as f64, p.seconds)).collect();
    let n = points.len();
    let sums = Sums::of(&points);
    // best[k][j]: least error of the first j points in k + 1 pieces, and where the last of them begins.
    let mut best: Vec<Vec<(f64, usize)>> = vec![(0..=n).map(|j| (sums.error(0, j), 0)).collect()];
    for k in 1..MOST.min(n / LEAST) {
        let row = (0..=n)
            .map(|j| {
                (k * LEAST..=j.saturating_sub(LEAST))
                    .map(|i| (best[k - 1][i].0 + sums.error(i, j), i))
                    .min_by(|a, b| a.0.total_cmp(&b.0))
                    .unwrap_or((f64::INFINITY, 0))
            })
            .collect();
        best.push(row);
    }
    // Errors below the noise are no reason for another piece.
    let floor = n as f64 * noise.max(1e-4).powi(2);
    let score = |k: usize| n as f64 * (best[k][n].0.max(floor) / n as f64).ln() + (3 * k) as f64 * (n as f64).ln();
    let k = (0..best.len()).min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(0);
    let mut ends = vec![n];
    for k in (0..=k).rev() {
        ends.push(best[k][ends[ends.len() - 1]].1);
    }
    ends.reverse();
    ends.windows(2).map(|w| (w[0], w[1])).filter(|(from, to)| line(&points[*from..*to]).is_some()).collect()
}

/// Running sums of the parts of relative errors: the least error of any stretch is then a few subtractions.
struct Sums(Vec<[f64; 6]>);

impl Sums {
    fn of(points: &[(f64, f64)]) -> Self {
        let mut sums = vec![[0.0; 6]];
        for (x, y) in points {
            let w = y.powi(-2);
            let last = sums[sums.len() - 1];
            let add = [w, w * x, w * y, w * x * x, w * x * y, w * y * y];
            sums.push(std::array::from_fn(|i| last[i] + add[i]));
        }
        Self(sums)
    }

    /// Least sum of squared relative errors of one line through the points from `i` until before `j`.
    fn error(&self, i: usize, j: usize) -> f64 {
        if j < i + LEAST {
            return f64::INFINITY;
        }
        let [w, x, y, xx, xy, yy]: [f64; 6] = std::array::from_fn(|s| self.0[j][s] - self.0[i][s]);
        let (sxx, sxy, syy) = (xx - x * x / w, xy - x * y / w, yy - y * y / w);
        if sxx <= 0.0 { syy.max(0.0) } else { (syy - sxy * sxy / sxx).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;
    use crate::CurvePoint;

    fn curve(time: impl Fn(f64) -> f64) -> Curve {
        let points: Vec<CurvePoint> = (0..120)
            .map(|i| {
                let size = 1.14f64.powi(i).round() as u64 + i as u64;
                let seconds = time(size as f64) * (1.0 + 0.001 * f64::from(i * 37 % 11 - 5) / 5.0);
                CurvePoint::of(size, seconds, vec![(0, seconds)])
            })
            .collect();
        Curve::of(&points)
    }

    #[test]
    fn a_straight_path_is_one_piece() {
        assert_eq!(pieces(&curve(|b| 1e-5 + 2e-10 * b), 0.001, 1).len(), 1);
    }

    #[test]
    fn a_cache_that_ends_makes_two_and_says_where() {
        let broken = |b: f64| 1e-6 + 1e-10 * b + 4e-10 * (b - 100_000.0).max(0.0);
        let found = pieces(&curve(broken), 0.001, 1);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((80_000..130_000).contains(&found[0].to), "{found:?}");
        let slope = |i: usize| found[i].per_byte.value;
        assert!((slope(0) / 1e-10 - 1.0).abs() < 0.02 && (slope(1) / 5e-10 - 1.0).abs() < 0.02);
        assert!(found.iter().all(|piece| piece.per_byte.high.is_infinite()), "one round says nothing of the spread");
    }

    /// The intervals are of the lines that were chosen. Each slope's holds the truth about as often as it says.
    #[test]
    fn the_intervals_of_pieces_hold_the_truth() {
        let mut noise = ChaCha8Rng::seed_from_u64(7);
        let (mut held, mut all) = (0, 0);
        for run in 0..60 {
            let points: Vec<CurvePoint> = (0..100)
                .map(|i| {
                    let size = 1.17f64.powi(i).round() + f64::from(i);
                    let truth = 1e-6 + 1e-10 * size + 4e-10 * (size - 50_000.0).max(0.0);
                    let rounds: Vec<(u32, f64)> =
                        (0..12).map(|round| (round, truth * (1.0 + 0.06 * (noise.random::<f64>() - 0.5)))).collect();
                    let median = stats::median(&rounds.iter().map(|(_, t)| *t).collect::<Vec<_>>());
                    CurvePoint::of(size as u64, median, rounds)
                })
                .collect();
            let found = pieces(&Curve::of(&points), 0.01, run);
            if let [below, above] = &found[..] {
                let of = |piece: &Piece, slope| piece.per_byte.low <= slope && slope <= piece.per_byte.high;
                held += u32::from(of(below, 1e-10)) + u32::from(of(above, 5e-10));
                all += 2;
                assert!(below.per_byte.high < 2.0 * below.per_byte.low, "{below:?}");
            }
        }
        assert!(all > 90 && 100 * held >= 87 * all, "{held} of {all}");
    }

    #[test]
    fn few_points_are_one_piece() {
        let mut few = curve(|b| 1e-5 + 2e-10 * b);
        few.points.truncate(4);
        assert_eq!(pieces(&few, 0.0, 1).len(), 1);
    }
}
