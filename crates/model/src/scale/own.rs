//! What estimated figures inherit of the intervals that were measured.
//!
//! The estimate of a single size is what was measured there with the wire's part exchanged: it errs as that median does. Medians of rounds drawn
//! again do not tell of it where a size has two levels, as the interval of the size itself does: few rounds hold few different medians. And the
//! line's start-up cost may be off by more than the noise of its fit, which the cost that is left of it then is, too.

use crate::Estimate;
use crate::curve::Curve;

/// How far the time at a size may lie below and above what was measured there, seconds; between two sizes, of the straight line between them,
/// whose errors are independent at least in part. None outside of the sizes, or where a size that counts has no interval.
pub(super) fn reach(curve: &Curve, size: u64) -> Option<[f64; 2]> {
    let at = curve.points.partition_point(|p| p.size < size);
    let of = |i: usize| {
        let e = curve.points.get(i)?.estimate;
        e.high.is_finite().then(|| [e.value - e.low, e.high - e.value].map(|r| r.max(0.0)))
    };
    let above = curve.points.get(at)?;
    if above.size == size {
        return of(at);
    }
    let below = curve.points.get(at.checked_sub(1)?)?;
    let share = (size - below.size) as f64 / (above.size - below.size) as f64;
    let (first, second) = (of(at - 1)?, of(at)?);
    Some([0, 1].map(|end: usize| ((1.0 - share) * first[end]).hypot(share * second[end])))
}

/// The estimate with ends that lie at least so far below and above it.
pub(super) fn no_narrower(e: Estimate, [below, above]: [f64; 2]) -> Estimate {
    Estimate::new(e.value, e.low.min(e.value - below), e.high.max(e.value + above))
}

/// How far `told` reaches below and above `plain`, an interval of the same figure: nothing where one of both has none.
pub(super) fn widened_by(plain: Estimate, told: Estimate) -> [f64; 2] {
    let by = [plain.low - told.low, told.high - plain.high];
    by.map(|by| if by.is_finite() { by.max(0.0) } else { 0.0 })
}

/// The estimate with its ends so far out.
pub(super) fn wider(e: Estimate, [below, above]: [f64; 2]) -> Estimate {
    Estimate::new(e.value, e.low - below, e.high + above)
}
