//! When a block of any size arrives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unanswered;
use crate::{CurvePoint, Estimate, Fits};

/// The time of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// Size, bytes.
    pub size: u64,
    /// Time of the curve's kind, seconds.
    pub seconds: Estimate,
    /// The measured sizes it rests on, bytes: one, or the two it lies between.
    pub rests_on: Vec<u64>,
    /// It lies beyond what was measured and rests on the fitted line.
    pub extrapolated: bool,
}

/// When a block of `size` arrives: as measured, between two measured sizes as a straight line on logarithmic axes, and
/// beyond them only by a line that `fits`.
pub fn arrival(points: &[CurvePoint], size: u64, fits: Option<&Fits>) -> Result<Arrival, Unanswered> {
    let mut sorted: Vec<&CurvePoint> = points.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    let (first, last) = match (sorted.first(), sorted.last()) {
        (Some(first), Some(last)) => (first.size, last.size),
        _ => return Err(Unanswered::Nothing),
    };
    let at = sorted.partition_point(|p| p.size < size);
    if let Some(p) = sorted.get(at).filter(|p| p.size == size) {
        return Ok(Arrival { size, seconds: point(p), rests_on: vec![size], extrapolated: false });
    }
    if at == 0 || at == sorted.len() {
        let line = fits.and_then(|f| f.latency.all.as_ref()).filter(|l| !l.misfit.systematic);
        let Some(line) = line else { return Err(Unanswered::Outside { asked: size, from: first, to: last }) };
        let time = |t0: f64, b: f64| (t0 + b * size as f64).max(0.0);
        let seconds = Estimate::new(
            time(line.t0.value, line.per_byte.value),
            time(line.t0.low, line.per_byte.low),
            time(line.t0.high, line.per_byte.high),
        );
        return Ok(Arrival { size, seconds, rests_on: vec![first, last], extrapolated: true });
    }
    let (a, b) = (sorted[at - 1], sorted[at]);
    let share = (size.max(1) as f64 / a.size.max(1) as f64).ln() / (b.size as f64 / a.size.max(1) as f64).ln();
    let between =
        |x: f64, y: f64| if x > 0.0 && y.is_finite() { (x.ln() + share * (y.ln() - x.ln())).exp() } else { y };
    let (x, y) = (point(a), point(b));
    let seconds = Estimate::new(
        between(x.value, y.value),
        if x.low > 0.0 && y.low > 0.0 { between(x.low, y.low) } else { 0.0 },
        if x.high.is_finite() { between(x.high, y.high) } else { f64::INFINITY },
    );
    Ok(Arrival { size, seconds, rests_on: vec![a.size, b.size], extrapolated: false })
}

/// A measured point's time with its interval.
pub(crate) fn point(p: &CurvePoint) -> Estimate {
    p.estimate()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Vec<CurvePoint> {
        [1u64, 100, 10_000, 1_000_000]
            .map(|size| {
                let t = 1e-5 + size as f64 * 1e-9;
                CurvePoint::of(size, t, (0..8).map(|b| (b, t)).collect())
            })
            .to_vec()
    }

    #[test]
    fn measured_sizes_answer_for_themselves_and_others_lie_between() {
        let curve = curve();
        let exact = arrival(&curve, 100, None).unwrap();
        assert_eq!((exact.rests_on, exact.seconds.value), (vec![100], 1e-5 + 1e-7));
        let between = arrival(&curve, 1000, None).unwrap();
        assert_eq!(between.rests_on, [100, 10_000]);
        assert!(between.seconds.value > 1.01e-5 && between.seconds.value < 2e-5);
    }

    #[test]
    fn beyond_what_was_measured_only_a_line_that_fits_answers() {
        let curve = curve();
        let refused = arrival(&curve, 1 << 30, None).unwrap_err().to_string();
        assert!(refused.contains("1 GiB") && refused.contains("1,000,000 B"), "{refused}");
        let fits = Fits::of(&curve, 1).unwrap();
        let far = arrival(&curve, 10_000_000, Some(&fits)).unwrap();
        assert!(far.extrapolated && (far.seconds.value / (1e-5 + 1e-2) - 1.0).abs() < 1e-3, "{far:?}");
    }

    #[test]
    fn nothing_answers_nothing() {
        assert_eq!(arrival(&[], 1, None), Err(Unanswered::Nothing));
    }
}
