//! Whether a path keeps up with frames: so many a second, of so many bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Unanswered, arrival, largest_within};
use crate::{CurvePoint, Estimate};

/// Frames over a path, one at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frames {
    /// Time of one frame, seconds of the curve's kind.
    pub seconds: Estimate,
    /// Time that each frame has, seconds.
    pub period: f64,
    /// Whether every frame is through before the next is due; none where the interval does not say.
    pub sustained: Option<bool>,
    /// Frames of this size that the path moves a second.
    pub most_frames: Estimate,
    /// Largest frame that the path moves at this rate, bytes; none where even the smallest takes longer.
    pub largest: Option<u64>,
    /// The largest size measured is still fast enough: larger frames may be, too.
    pub largest_is_end: bool,
    /// The measured sizes it rests on, bytes.
    pub rests_on: Vec<u64>,
}

impl Frames {
    /// Can the path move `rate` frames a second of `size` bytes, one after another?
    pub fn of(points: &[CurvePoint], size: u64, rate: f64) -> Result<Self, Unanswered> {
        let found = arrival(points, size, None)?;
        let period = 1.0 / rate;
        let t = found.seconds;
        let sustained = match () {
            () if t.high < period => Some(true),
            () if t.low > period => Some(false),
            () => None,
        };
        let (largest, largest_is_end) = largest_within(points, period, |t| t.value);
        Ok(Self {
            seconds: t,
            period,
            sustained,
            most_frames: Estimate::new(
                1.0 / t.value,
                1.0 / t.high,
                if t.low > 0.0 { 1.0 / t.low } else { f64::INFINITY },
            ),
            largest,
            largest_is_end,
            rests_on: found.rests_on,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Vec<CurvePoint> {
        (0..24)
            .map(|i| 1u64 << i)
            .map(|size| {
                let t = 1e-5 + size as f64 * 8e-9;
                let rounds = (0..8).map(|b| (b, t * (1.0 + 0.001 * f64::from(b)))).collect();
                CurvePoint::of(size, t, rounds)
            })
            .collect()
    }

    #[test]
    fn frames_fit_into_their_period_or_not() {
        // 1 MiB takes about 8.4 ms.
        assert_eq!(Frames::of(&curve(), 1 << 20, 60.0).unwrap().sustained, Some(true));
        let over = Frames::of(&curve(), 1 << 20, 200.0).unwrap();
        assert_eq!(over.sustained, Some(false));
        assert!((over.most_frames.value - 119.0).abs() < 1.0, "{over:?}");
        // (5 ms - 10 us) / 8 ns a byte.
        let largest = over.largest.unwrap() as f64;
        assert!((largest / 623_750.0 - 1.0).abs() < 0.02, "{largest}");
    }

    #[test]
    fn the_ends_of_what_was_measured_are_said() {
        assert!(Frames::of(&curve(), 64, 0.1).unwrap().largest_is_end);
        let never = Frames::of(&curve(), 64, 1e6).unwrap();
        assert_eq!((never.largest, never.sustained), (None, Some(false)));
    }
}
