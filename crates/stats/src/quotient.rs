//! The ratio of two figures of which each has an interval of its own.

use crate::Interval;

/// The interval of `second` over `first`, two positive figures with independent errors, at the confidence of their own intervals.
///
/// How far each figure's logarithm may err towards either side is what its own interval says; the two are added in quadrature, towards each
/// side by itself (the method of variance estimates recovery: Zou and Donner 2008, *Construction of confidence limits about effect
/// measures*, Statistics in Medicine 27:1693-1702). Unbounded towards a side where one of the intervals is. Where both figures share an
/// error, the interval is wider than need be.
pub fn quotient_interval(first: (f64, Interval), second: (f64, Interval)) -> Interval {
    let ratio = second.0 / first.0;
    if !(ratio > 0.0 && ratio.is_finite()) {
        return Interval::UNBOUNDED;
    }
    // Both are 0 or more, or without bound.
    let below = |(value, interval): (f64, Interval)| (value / interval.low).ln().max(0.0);
    let above = |(value, interval): (f64, Interval)| (interval.high / value).ln().max(0.0);
    let reach = |a: f64, b: f64| if a.is_finite() && b.is_finite() { a.hypot(b) } else { f64::INFINITY };
    Interval {
        low: ratio * (-reach(below(second), above(first))).exp(),
        high: ratio * reach(above(second), below(first)).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: f64, high: f64) -> (f64, Interval) {
        (value, Interval { low, high })
    }

    #[test]
    fn errors_add_as_errors_do_towards_each_side() {
        let sure = of(2.0, 2.0, 2.0);
        let found = quotient_interval(sure, of(6.0, 5.0, 8.0));
        assert!(
            (found.low - 2.5).abs() < 1e-12 && (found.high - 4.0).abs() < 1e-12,
            "a sure figure adds nothing: {found:?}"
        );
        let found = quotient_interval(of(6.0, 5.0, 8.0), sure);
        assert!(
            (found.low - 0.25).abs() < 1e-12 && (found.high - 0.4).abs() < 1e-12,
            "its ends change places: {found:?}"
        );
        let e = |x: f64| x.exp();
        let found = quotient_interval(of(1.0, e(-3.0), e(3.0)), of(1.0, e(-4.0), e(4.0)));
        assert!((found.low - e(-5.0)).abs() < 1e-12 && (found.high - e(5.0)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_is_not_bounded_stays_so() {
        let open = quotient_interval(of(1.0, 0.5, f64::INFINITY), of(2.0, 1.0, 3.0));
        assert!(open.low == 0.0 && open.high.is_finite(), "{open:?}");
        let open = quotient_interval(of(1.0, 0.5, 2.0), of(2.0, 1.0, f64::INFINITY));
        assert!(open.low > 0.0 && open.high == f64::INFINITY, "{open:?}");
        for wrong in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(quotient_interval(of(wrong, wrong, wrong), of(1.0, 1.0, 1.0)), Interval::UNBOUNDED, "{wrong}");
        }
    }
}
