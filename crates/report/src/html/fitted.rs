//! The models fitted to a path, as `web/src/fitted.ts` draws them over its curves (and dips and steps, which are marks of
//! [`crate::overlay`]).

use model::{Estimate, Fits};
use serde::Serialize;

/// The models of one path, with plain numbers.
#[derive(Serialize)]
pub struct Models {
    /// Lines of time over size, ascending: the pieces where one line misses the path, else the line over all sizes.
    lines: Vec<Line>,
    bandwidth: Option<Bandwidth>,
    saturation: Option<Knee>,
    /// What a reader of the models must know.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Line {
    from: u64,
    to: u64,
    t0: f64,
    per_byte: f64,
}

#[derive(Serialize)]
struct Bandwidth {
    r_max: f64,
    n_half: f64,
}

#[derive(Serialize)]
struct Knee {
    point: f64,
    /// Ends of its interval; none where an end is open.
    interval: Option<(f64, f64)>,
    seconds: f64,
}

/// The models of a path as the page draws them.
pub fn models(fits: &Fits) -> Models {
    let lines = if fits.latency.pieces.is_empty() {
        let all = fits.latency.all.iter();
        all.map(|l| Line { from: l.sizes.0, to: l.sizes.1, t0: l.t0.value, per_byte: l.per_byte.value }).collect()
    } else {
        let pieces = fits.latency.pieces.iter();
        pieces.map(|p| Line { from: p.from, to: p.to, t0: p.t0.value, per_byte: p.per_byte.value }).collect::<Vec<_>>()
    };
    Models {
        lines: lines.into_iter().filter(|l: &Line| l.t0.is_finite() && l.per_byte.is_finite()).collect(),
        bandwidth: (fits.bandwidth.as_ref().map(|b| Bandwidth { r_max: b.r_max.value, n_half: b.n_half.value }))
            .filter(|b| b.r_max.is_finite() && b.n_half.is_finite()),
        saturation: fits.saturation.as_ref().and_then(|s| knee(s.point, s.seconds)),
        notes: fits.warnings.clone(),
    }
}

fn knee(point: Estimate, seconds: f64) -> Option<Knee> {
    let usable = point.value > 0.0 && point.value.is_finite() && seconds > 0.0 && seconds.is_finite();
    let interval = (point.low > 0.0 && point.high.is_finite()).then_some((point.low, point.high));
    usable.then_some(Knee { point: point.value, interval, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_interval_is_none_and_a_knee_that_is_no_number_is_not_drawn() {
        let open = Estimate { value: 100.0, low: 50.0, high: f64::INFINITY };
        assert!(knee(open, 1e-6).is_some_and(|k| k.interval.is_none()));
        assert!(knee(open, f64::NAN).is_none());
        assert!(knee(Estimate { value: f64::NAN, ..open }, 1e-6).is_none());
    }
}
