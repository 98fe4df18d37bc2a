//! The idealised bandwidth curve (`seeds/000`, 4.2.2, tables 2 and 3).

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use super::line::huber;
use super::{Misfit, REFITS, noise};
use crate::Estimate;
use crate::curve::Curve;
use crate::resampled::{Scale, estimates};

/// Iterations of Gauss-Newton; it converges long before.
const ROUNDS: usize = 100;

/// `y = Rmax x / (n_half + x)`: throughput over size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BandwidthCurve {
    /// Throughput that ever larger messages would approach, bits a second.
    pub r_max: Estimate,
    /// Half-power point of the curve: the size that reaches half of `r_max`, bytes. The empirical one, read off the
    /// points, is [`crate::Summary::half_power`].
    pub n_half: Estimate,
    /// How well it fits.
    pub misfit: Misfit,
}

/// Fewest sizes whose spread about the curve tells the error of its half-power point.
const TELLING: usize = 4;

impl BandwidthCurve {
    pub(super) fn of(curve: &Curve, rng: &mut ChaCha8Rng, warnings: &mut Vec<String>) -> Option<Self> {
        let used: Vec<usize> =
            (0..curve.points.len()).filter(|i| curve.points[*i].size > 0 && curve.points[*i].bits > 0.0).collect();
        let mut sizes: Vec<u64> = used.iter().map(|i| curve.points[*i].size).collect();
        sizes.dedup();
        if sizes.len() < 3 {
            warnings.push("a bandwidth curve needs at least three sizes".to_owned());
            return None;
        }
        let fit = |seconds: &[f64]| {
            let points: Vec<(f64, f64)> = used
                .iter()
                .map(|i| (curve.points[*i].size as f64, curve.points[*i].throughput(seconds[*i]).ln()))
                .collect();
            least_squares(&points)
        };
        let [r_max, n_half] = estimates(curve, [Scale::Ratio; 2], REFITS, rng, fit)?;
        let least_and_most = bounds(sizes[0] as f64, *sizes.last()? as f64);
        let (r_max, mut n_half) = open_ended(r_max, n_half, least_and_most);
        if sizes.len() < TELLING {
            // Its interval holds it in two of three cases.
            n_half = Estimate::unbounded(n_half.value);
        }
        let residuals: Vec<(u64, f64)> = used
            .iter()
            .map(|i| &curve.points[*i])
            .map(|p| (p.size, p.throughput(p.seconds).ln() - model(p.size as f64, r_max.value.ln(), n_half.value.ln())))
            .collect();
        if n_half.value >= least_and_most.1 * EDGE {
            warnings.push(
                "throughput grows in proportion to size up to the largest message: nothing bounds Rmax and n1/2 of the fitted curve, which \
                 are left out"
                    .to_owned(),
            );
            return None;
        }
        let misfit = Misfit::of(&residuals, noise(curve));
        if misfit.systematic {
            warnings.push(format!(
                "the bandwidth curve Rmax x / (n1/2 + x) misses the measured times by {} (root mean square), and by {} at {}",
                Share(misfit.typical),
                Share(misfit.worst),
                Bytes(misfit.worst_size),
            ));
        }
        let largest = *sizes.last()? as f64;
        if n_half.value > largest {
            warnings.push(format!(
                "the half-power point of the fitted curve ({}) lies beyond the largest message: Rmax is extrapolated",
                Bytes(n_half.value as u64)
            ));
        }
        if n_half.value < sizes[0] as f64 / 4.0 {
            warnings
                .push("throughput hardly depends on size here: the half-power point lies below all sizes".to_owned());
        }
        Some(Self { r_max, n_half, misfit })
    }
}

/// How close to the edge of the search a value counts as at it: edges are met to the rounding of an exponential.
const EDGE: f64 = 0.999;

/// The half-power points that are searched: curves beyond them differ by a thousandth at the sizes measured.
fn bounds(smallest: f64, largest: f64) -> (f64, f64) {
    (smallest / 1e3, largest * 1e3)
}

/// A half-power point at the edge of the search may as well lie beyond it: it has no bound there, nor has what larger messages would reach.
fn open_ended(mut r_max: Estimate, mut n_half: Estimate, (least, most): (f64, f64)) -> (Estimate, Estimate) {
    if n_half.low.min(n_half.value) <= least / EDGE {
        n_half.low = 0.0;
    }
    if n_half.high.max(n_half.value) >= most * EDGE {
        (n_half.high, r_max.high) = (f64::INFINITY, f64::INFINITY);
    }
    (r_max, n_half)
}

/// Logarithm of the curve at `x`.
fn model(x: f64, ln_r: f64, ln_n: f64) -> f64 {
    ln_r + x.ln() - (ln_n.exp() + x).ln()
}

/// Rmax and n1/2 with the least squared relative errors, outliers weighing less: Gauss-Newton with damping on both
/// logarithms. `points` are (bytes, logarithm of throughput).
fn least_squares(points: &[(f64, f64)]) -> Option<[f64; 2]> {
    let (first, last) = (points.first()?, points.last()?);
    let (least, most) = bounds(first.0, last.0);
    let bounds = (least.ln(), most.ln());
    let top = points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let half = points.iter().find(|p| p.1 >= top - std::f64::consts::LN_2).map_or(last.0, |p| p.0);
    let (mut ln_r, mut ln_n) = (top, half.ln().clamp(bounds.0, bounds.1));
    let residuals = |r: f64, n: f64| -> Vec<f64> { points.iter().map(|p| p.1 - model(p.0, r, n)).collect() };
    let mut damping = 1e-3;
    for _ in 0..ROUNDS {
        let rest = residuals(ln_r, ln_n);
        let weights = huber(&rest);
        let cost = |rest: &[f64]| rest.iter().zip(&weights).map(|(r, w)| w * r * r).sum::<f64>();
        let before = cost(&rest);
        let (mut a, mut b, mut c, mut u, mut v) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for ((point, r), w) in points.iter().zip(&rest).zip(&weights) {
            let by_n = -1.0 / (1.0 + point.0 / ln_n.exp());
            (a, b, c) = (a + w, b + w * by_n, c + w * by_n * by_n);
            (u, v) = (u + w * r, v + w * by_n * r);
        }
        let (a, c) = (a * (1.0 + damping), c * (1.0 + damping) + 1e-300);
        let determinant = a * c - b * b;
        let (step_r, step_n) = ((c * u - b * v) / determinant, (a * v - b * u) / determinant);
        if !step_r.is_finite() || !step_n.is_finite() {
            return None;
        }
        let next = (ln_r + step_r, (ln_n + step_n.clamp(-2.0, 2.0)).clamp(bounds.0, bounds.1));
        if cost(&residuals(next.0, next.1)) <= before * (1.0 + 1e-12) {
            let moved = (next.0 - ln_r).abs() + (next.1 - ln_n).abs();
            (ln_r, ln_n) = next;
            damping = (damping / 4.0).max(1e-12);
            if moved < 1e-9 {
                break;
            }
        } else {
            damping *= 8.0;
            if damping > 1e9 {
                break;
            }
        }
    }
    let found = [ln_r.exp(), ln_n.exp()];
    found.iter().all(|v| v.is_finite() && *v > 0.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_its_own_points_comes_back() {
        for (r, n) in [(32.9e6, 441.0), (45e6, 1.8), (1e10, 3e7)] {
            let points: Vec<(f64, f64)> =
                (0..70).map(|i| 1.25f64.powi(i)).map(|x| (x, (r * x / (n + x)).ln())).collect();
            let [found_r, found_n] = least_squares(&points).unwrap();
            assert!((found_r / r - 1.0).abs() < 1e-6 && (found_n / n - 1.0).abs() < 1e-6, "{found_r} {found_n}");
        }
    }

    #[test]
    fn outliers_leave_it_where_it_was() {
        let mut points: Vec<(f64, f64)> =
            (0..70).map(|i| 1.25f64.powi(i)).map(|x| (x, (1e9 * x / (2000.0 + x)).ln())).collect();
        for i in [5, 30, 62] {
            points[i].1 -= 2.0;
        }
        let [r, n] = least_squares(&points).unwrap();
        assert!((r / 1e9 - 1.0).abs() < 0.01 && (n / 2000.0 - 1.0).abs() < 0.01, "{r} {n}");
    }

    #[test]
    fn a_half_power_point_at_the_edge_of_the_search_is_not_bounded_there() {
        let same = |value: f64| Estimate { value, low: value, high: value };
        // Throughput that grows as the size: any large half-power point does.
        let points: Vec<(f64, f64)> = (0..40).map(|i| 2f64.powf(f64::from(i) / 4.0)).map(|x| (x, x.ln())).collect();
        let [r, n] = least_squares(&points).unwrap();
        let edges = bounds(1.0, points[39].0);
        let (r, n) = open_ended(same(r), same(n), edges);
        assert!(n.high.is_infinite() && r.high.is_infinite() && n.low.is_finite(), "{r:?} {n:?} {edges:?}");
        let (r, n) = open_ended(same(1e9), same(edges.0), edges);
        assert!(n.low == 0.0 && n.high == edges.0 && r == same(1e9));
        assert_eq!(open_ended(same(1e9), same(50.0), edges), (same(1e9), same(50.0)));
    }

    #[test]
    fn a_flat_curve_has_its_half_power_point_below_all_sizes() {
        let points: Vec<(f64, f64)> = (1..40).map(|i| (f64::from(i * 100), 1e9f64.ln())).collect();
        let [r, n] = least_squares(&points).unwrap();
        assert!((r / 1e9 - 1.0).abs() < 0.01 && n < 10.0, "{r} {n}");
    }
}
