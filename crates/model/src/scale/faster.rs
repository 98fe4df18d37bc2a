//! Whether a path is faster than the wire that is said to be in it.

use stats::{StandardError, mean};

use super::{NEGLIGIBLE, Wire};
use crate::CONFIDENCE;
use crate::CurvePoint;
use crate::fit::line_beside;

/// Whether rounds agree that a byte costs less than the wire takes for it: each has a slope of its own beside the wire's, and Student's t
/// over these slopes is exact however few they are, which intervals by drawing rounds anew are not. None where fewer than two rounds
/// visited half of the sizes: then noise can't be told apart.
pub(super) fn surely(points: &[CurvePoint], wire: &Wire) -> Option<bool> {
    let usable = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let mut rounds = std::collections::BTreeMap::<u32, Vec<(f64, f64)>>::new();
    for p in points {
        for (round, seconds) in p.rounds.iter().filter(|b| usable(b.1)) {
            rounds.entry(*round).or_default().push((p.size as f64, *seconds));
        }
    }
    let enough = (points.len() / 2).max(3);
    let slopes: Vec<f64> = (rounds.values().filter(|r| r.len() >= enough))
        .filter_map(|r| line_beside(r, |x| wire.seconds(x)))
        .map(|rest| rest.per_byte)
        .collect();
    if slopes.len() < 2 {
        return None;
    }
    let most = mean(&slopes) + StandardError::of_mean(&slopes).reach(CONFIDENCE);
    Some(most < -NEGLIGIBLE * wire.per_byte())
}
