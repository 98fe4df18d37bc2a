//! Whether a path is faster than the wire that is said to be in it.

use stats::{mean, student_t, variance};

use super::{NEGLIGIBLE, Wire};
use crate::CONFIDENCE;
use crate::CurvePoint;
use crate::fit::line_beside;

/// Whether rounds agree that a byte costs less than the wire takes for it: each has a slope of its own beside the wire's, and Student's t
/// over these slopes is exact however few they are, which intervals by drawing rounds anew are not. None where fewer than two rounds
/// visited half of the sizes: then noise can't be told apart.
pub(super) fn surely(points: &[CurvePoint], wire: &Wire) -> Option<bool> {
    let usable = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let mut blocks = std::collections::BTreeMap::<u32, Vec<(f64, f64)>>::new();
    for p in points {
        for (block, seconds) in p.blocks.iter().filter(|b| usable(b.1)) {
            blocks.entry(*block).or_default().push((p.size as f64, *seconds));
        }
    }
    let enough = (points.len() / 2).max(3);
    let slopes: Vec<f64> = (blocks.values().filter(|r| r.len() >= enough))
        .filter_map(|r| line_beside(r, |x| wire.seconds(x)))
        .map(|rest| rest.per_byte)
        .collect();
    if slopes.len() < 2 {
        return None;
    }
    let error = (variance(&slopes) / slopes.len() as f64).sqrt();
    let most = mean(&slopes) + student_t(CONFIDENCE, (slopes.len() - 1) as f64) * error;
    Some(most < -NEGLIGIBLE * wire.per_byte())
}
