//! Straight lines through points.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn lines_without_noise_are_exact() {
        let points = [1.0, 2.0, 3.0, 512.0, 1000.0].map(|x| (x, 5.0 + 0.25 * x, x));
        let weighted = weighted_line(&points).unwrap();
        assert!(near(weighted.slope, 0.25) && near(weighted.intercept, 5.0) && near(weighted.at(4.0), 6.0));
    }

    #[test]
    fn too_little_for_a_line_is_none() {
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
