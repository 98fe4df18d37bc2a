//! Straight lines through points.

use crate::basic::{median_in_place, weighted_median};

/// `y = intercept + slope * x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Value at x = 0.
    pub intercept: f64,
    /// Rise for each unit of x.
    pub slope: f64,
}

impl Line {
    /// Value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The weighted least-squares line through (x, y, weight). None without two different x of positive weight.
pub fn weighted_line(points: &[(f64, f64, f64)]) -> Option<Line> {
    let counted = || points.iter().filter(|p| p.2 > 0.0);
    let weight: f64 = counted().map(|p| p.2).sum();
    let (x, y) = counted().fold((0.0, 0.0), |(x, y), p| (x + p.0 * p.2, y + p.1 * p.2));
    let (x, y) = (x / weight, y / weight);
    // Sums about the means: sums about 0 lose the digits of small differences at large x.
    let (xx, xy) =
        counted().fold((0.0, 0.0), |(xx, xy), p| (xx + p.2 * (p.0 - x).powi(2), xy + p.2 * (p.0 - x) * (p.1 - y)));
    let slope = xy / xx;
    (xx > 0.0 && slope.is_finite()).then_some(Line { intercept: y - slope * x, slope })
}

/// Points beyond which neighbours are merged before their pairs are formed: 64 points make 2,016 pairs.
const MOST: usize = 64;

/// A line that up to a quarter of wild points does not move: the median of the slopes of all pairs of points (Theil
/// 1950, Sen 1968), each pair weighted by its distance in x (Jaeckel 1972), since two sizes three bytes apart say
/// little about a slope. More than 64 points are first merged with their neighbours in x, by medians, which keeps
/// the work bounded. None without two different x.
pub fn robust_line(points: &[(f64, f64)]) -> Option<Line> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let merged = merge(&sorted);
    let mut slopes = Vec::with_capacity(merged.len() * merged.len().saturating_sub(1) / 2);
    for (i, a) in merged.iter().enumerate() {
        slopes.extend(merged[i + 1..].iter().filter(|b| b.0 > a.0).map(|b| ((b.1 - a.1) / (b.0 - a.0), b.0 - a.0)));
    }
    let slope = weighted_median(&mut slopes);
    let mut rests: Vec<f64> = merged.iter().map(|p| p.1 - slope * p.0).collect();
    slope.is_finite().then(|| Line { intercept: median_in_place(&mut rests), slope })
}

fn merge(sorted: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if sorted.len() <= MOST {
        return sorted.to_vec();
    }
    (0..MOST)
        .map(|i| {
            let group = &sorted[i * sorted.len() / MOST..(i + 1) * sorted.len() / MOST];
            let middle =
                |pick: fn(&(f64, f64)) -> f64| median_in_place(&mut group.iter().map(pick).collect::<Vec<_>>());
            (middle(|p| p.0), middle(|p| p.1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn lines_without_noise_are_exact() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 3.0, 512.0, 1000.0].map(|x| (x, 5.0 + 0.25 * x)).to_vec();
        let robust = robust_line(&points).unwrap();
        assert!(near(robust.slope, 0.25) && near(robust.intercept, 5.0), "{robust:?}");
        let weighted = weighted_line(&points.iter().map(|p| (p.0, p.1, p.0)).collect::<Vec<_>>()).unwrap();
        assert!(near(weighted.slope, 0.25) && near(weighted.intercept, 5.0) && near(weighted.at(4.0), 6.0));
    }

    #[test]
    fn wild_points_move_least_squares_and_leave_the_robust_line() {
        let points: Vec<(f64, f64)> =
            (0..40).map(|i| (f64::from(i), f64::from(i) * 2.0 + if i % 5 == 4 { 1000.0 } else { 0.0 })).collect();
        let robust = robust_line(&points).unwrap();
        assert!((robust.slope - 2.0).abs() < 0.05, "{robust:?}");
        let plain = weighted_line(&points.iter().map(|p| (p.0, p.1, 1.0)).collect::<Vec<_>>()).unwrap();
        assert!((plain.slope - 2.0).abs() > 0.5, "{plain:?}");
    }

    #[test]
    fn many_points_are_merged_and_still_exact() {
        let points: Vec<(f64, f64)> = (0..1023).map(|i| (f64::from(i), 3.0 - 0.5 * f64::from(i))).collect();
        let robust = robust_line(&points).unwrap();
        assert!(near(robust.slope, -0.5) && near(robust.intercept, 3.0), "{robust:?}");
    }

    #[test]
    fn too_little_for_a_line_is_none() {
        assert_eq!(robust_line(&[]), None);
        assert_eq!(robust_line(&[(1.0, 1.0)]), None);
        assert_eq!(robust_line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(weighted_line(&[]), None);
        assert_eq!(weighted_line(&[(1.0, 1.0, 1.0), (1.0, 2.0, 1.0)]), None);
        assert_eq!(weighted_line(&[(1.0, 1.0, 1.0), (2.0, 2.0, 0.0)]), None);
    }

    #[test]
    fn weights_count_as_repeated_points() {
        let repeated = [(0.0, 0.0, 1.0), (1.0, 3.0, 1.0), (1.0, 3.0, 1.0), (2.0, 2.0, 1.0)];
        let weighted = [(0.0, 0.0, 1.0), (1.0, 3.0, 2.0), (2.0, 2.0, 1.0)];
        let (a, b) = (weighted_line(&repeated).unwrap(), weighted_line(&weighted).unwrap());
        assert!(near(a.slope, b.slope) && near(a.intercept, b.intercept));
    }
}
