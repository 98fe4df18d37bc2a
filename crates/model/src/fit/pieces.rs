//! Several lines where one misses the path: copies through a cache and beyond it each have their own (`seeds/003`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line::{Fitted, line};
use crate::curve::Curve;

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
    pub t0: f64,
    /// Seconds that each byte adds within it.
    pub per_byte: f64,
}

/// The fewest lines that follow the curve: pieces are added while they explain more than noise would (Schwarz's
/// criterion), found together by dynamic programming over relative squared errors. `noise` is the standard error of a
/// point's median, as a share.
pub(super) fn pieces(curve: &Curve, noise: f64) -> Vec<Piece> {
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
    ends.windows(2)
        .filter_map(|w| {
            let Fitted { t0, per_byte } = line(&points[w[0]..w[1]])?;
            Some(Piece { from: curve.points[w[0]].size, to: curve.points[w[1] - 1].size, t0, per_byte })
        })
        .collect()
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
        assert_eq!(pieces(&curve(|b| 1e-5 + 2e-10 * b), 0.001).len(), 1);
    }

    #[test]
    fn a_cache_that_ends_makes_two_and_says_where() {
        let broken = |b: f64| 1e-6 + 1e-10 * b + 4e-10 * (b - 100_000.0).max(0.0);
        let found = pieces(&curve(broken), 0.001);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((80_000..130_000).contains(&found[0].to), "{found:?}");
        assert!((found[0].per_byte / 1e-10 - 1.0).abs() < 0.02 && (found[1].per_byte / 5e-10 - 1.0).abs() < 0.02);
    }

    #[test]
    fn few_points_are_one_piece() {
        let mut few = curve(|b| 1e-5 + 2e-10 * b);
        few.points.truncate(4);
        assert_eq!(pieces(&few, 0.0).len(), 1);
    }
}
