//! Least squares of relative errors, robust to outliers.

/// Weights within this many standard deviations count in full (Huber 1964: 95% efficient on normal noise).
const HUBER: f64 = 1.345;
/// Iterations of reweighting; they converge long before.
const ROUNDS: usize = 25;

/// `seconds = t0 + per_byte * bytes`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fitted {
    pub t0: f64,
    pub per_byte: f64,
}

impl Fitted {
    pub fn at(&self, size: f64) -> f64 {
        self.t0 + self.per_byte * size
    }
}

/// Huber weights of residuals: 1 within the noise, less beyond. The scale is the residuals' own median distance.
pub(super) fn huber(residuals: &[f64]) -> Vec<f64> {
    let scale = stats::median(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>()) / 0.6745;
    let limit = HUBER * scale.max(1e-9);
    residuals.iter().map(|r| if r.abs() <= limit { 1.0 } else { limit / r.abs() }).collect()
}

/// The line through (bytes, seconds) whose relative errors are least: noise grows with time, and absolute errors would leave
/// the start-up cost to the largest sizes alone. Outliers weigh less the farther they lie. None without two sizes.
pub(super) fn line(points: &[(f64, f64)]) -> Option<Fitted> {
    line_beside(points, |_| 0.0)
}

/// The line through the seconds less `known`, a part of them that is known for each size. Errors are relative to all the seconds, so that a
/// known part that is itself a line changes nothing of the fit.
pub(crate) fn line_beside(points: &[(f64, f64)], known: impl Fn(f64) -> f64) -> Option<Fitted> {
    let rests: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1 - known(p.0))).collect();
    let mut weights: Vec<f64> = points.iter().map(|p| p.1.powi(-2)).collect();
    let mut found = solve(&rests, &weights)?;
    for _ in 0..ROUNDS {
        // An outlying line may pass below zero: a quarter of what was measured keeps relative errors finite.
        let of = |(p, rest): (&(f64, f64), &(f64, f64))| (found.at(p.0) + (p.1 - rest.1)).max(p.1 / 4.0);
        let fitted: Vec<f64> = points.iter().zip(&rests).map(of).collect();
        let residuals: Vec<f64> = points.iter().zip(&fitted).map(|(p, f)| p.1 / f - 1.0).collect();
        weights = huber(&residuals).iter().zip(&fitted).map(|(w, f)| w / (f * f)).collect();
        let next = solve(&rests, &weights)?;
        let same = (next.t0 - found.t0).abs() <= 1e-10 * found.t0.abs()
            && (next.per_byte - found.per_byte).abs() <= 1e-10 * found.per_byte.abs();
        found = next;
        if same {
            break;
        }
    }
    Some(found)
}

/// The line through (bytes, seconds) with the weight that each has. None without two sizes.
pub(crate) fn solve(points: &[(f64, f64)], weights: &[f64]) -> Option<Fitted> {
    let weighted: Vec<(f64, f64, f64)> = points.iter().zip(weights).map(|(p, w)| (p.0, p.1, *w)).collect();
    let line = stats::weighted_line(&weighted)?;
    (line.intercept.is_finite() && line.slope.is_finite())
        .then_some(Fitted { t0: line.intercept, per_byte: line.slope })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_leave_the_line_where_it_was() {
        let mut points: Vec<(f64, f64)> = (0..60).map(|i| (1.25f64.powi(i), 1e-5 + 2e-10 * 1.25f64.powi(i))).collect();
        for i in [3, 20, 41, 55] {
            points[i].1 *= 4.0;
        }
        let found = line(&points).unwrap();
        assert!((found.t0 / 1e-5 - 1.0).abs() < 0.01 && (found.per_byte / 2e-10 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_known_part_that_is_no_line_leaves_the_line_beside_it_exact() {
        let known = |x: f64| 4e-6 * (x / 1448.0).ceil();
        let points: Vec<(f64, f64)> =
            (0..50).map(|i| 1.25f64.powi(i).round()).map(|x| (x, 1e-5 + 2e-9 * x + known(x))).collect();
        let found = line_beside(&points, known).unwrap();
        assert!((found.t0 / 1e-5 - 1.0).abs() < 1e-9 && (found.per_byte / 2e-9 - 1.0).abs() < 1e-9, "{found:?}");
        assert!((line(&points).unwrap().t0 / 1e-5 - 1.0).abs() > 0.1, "what one line makes of it");
    }

    #[test]
    fn one_size_has_no_line() {
        assert_eq!(line(&[(4.0, 1.0), (4.0, 2.0)]), None);
        assert_eq!(line(&[]), None);
    }
}
