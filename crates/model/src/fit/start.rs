//! The start-up cost by the smallest sizes, for curves that one line does not follow.
//!
//! A line is fitted to all of its sizes, and its start-up cost is the one that suits these best. Where time has a part that is no line (a
//! root of the size, a cache, steps), that is not the time of no bytes, and the noise of the fit does not show how far it lies off. The
//! smallest sizes do: by a line through them alone, and by one over the root of their size, for time that grows fastest at its beginning.

use super::line::line;
use crate::Estimate;

/// Sizes up to so many times the smallest estimate the time of no bytes.
const NEAR: f64 = 32.0;
/// Fewest sizes for that.
const FEWEST: usize = 5;
/// Share of the 95% reach of the difference from which on the line counts as refuted at its beginning: about one standard error. Even a
/// difference that may be chance shows how far the line may lie off, and the wider interval costs plain lines little.
const DOUBT: f64 = 0.5;

/// Figures that [`starts`] adds to a fit.
pub(super) const STARTS: usize = 3;

/// The time of no bytes by the smallest of these points (bytes, seconds; ascending), as a line over their sizes and over their roots, and how far
/// the first lies from `t0`. None where they are too few.
pub(super) fn starts(t0: f64, points: &[(f64, f64)]) -> Option<[f64; STARTS]> {
    let first = points.first()?.0.max(1.0);
    let near = points.get(..points.partition_point(|p| p.0 <= NEAR * first).max(FEWEST))?;
    let roots: Vec<(f64, f64)> = near.iter().map(|(size, seconds)| (size.sqrt(), *seconds)).collect();
    let (straight, root) = (line(near)?.t0, line(&roots)?.t0);
    Some([straight, root, t0 - straight])
}

/// The start-up cost of a line, with an interval that holds what the smallest sizes say as well where these refute it.
pub(super) fn widened(t0: Estimate, [straight, root, apart]: [Estimate; STARTS]) -> Estimate {
    let bounded = |e: &Estimate| e.low.is_finite() && e.high.is_finite();
    if ![t0, straight, root, apart].iter().all(bounded) {
        return t0;
    }
    let reach = (apart.high - apart.low) / 2.0;
    if apart.value.abs() <= DOUBT * reach {
        return t0;
    }
    let (low, high) = (straight.low.min(root.low), straight.high.max(root.high));
    Estimate { value: t0.value, low: t0.low.min(low), high: t0.high.max(high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_sizes_lead_to_the_time_of_no_bytes_with_a_root_and_without() {
        let points = |time: fn(f64) -> f64| (0..20).map(|i| 2f64.powi(i)).map(|x| (x, time(x))).collect::<Vec<_>>();
        let [straight, root, apart] = starts(1.5, &points(|x| 1.0 + 0.1 * x.sqrt())).unwrap();
        assert!(
            (root - 1.0).abs() < 1e-9 && straight > 1.05 && (apart - (1.5 - straight)).abs() < 1e-12,
            "{straight} {root}"
        );
        let [straight, root, _] = starts(1.0, &points(|x| 1.0 + 1e-3 * x)).unwrap();
        assert!((straight - 1.0).abs() < 1e-9 && (root - 1.0).abs() < 0.02, "{straight} {root}");
        assert_eq!(starts(1.0, &points(|x| x)[..4]), None, "too few to tell");
    }

    #[test]
    fn a_line_that_its_smallest_sizes_bear_out_keeps_its_interval() {
        let e = |value: f64, by: f64| Estimate { value, low: value - by, high: value + by };
        let t0 = e(10.0, 0.1);
        assert_eq!(widened(t0, [e(10.02, 0.2), e(10.0, 0.3), e(-0.02, 0.2)]), t0);
        let wide = widened(t0, [e(9.0, 0.2), e(8.9, 0.3), e(1.0, 0.2)]);
        assert_eq!((wide.value, wide.low, wide.high), (10.0, 8.9 - 0.3, 10.1));
        assert_eq!(widened(t0, [e(9.0, 0.2), e(8.9, 0.3), Estimate::unbounded(1.0)]), t0, "no interval to widen");
    }
}
