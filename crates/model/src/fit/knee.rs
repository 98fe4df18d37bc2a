//! The knee of a curve: where its local slope on logarithmic axes passes a half.

use crate::smooth::split;

/// Half of the window over which the local slope is taken, as a logarithm of size: half a decade.
const WINDOW: f64 = 1.15;

/// The slope, on logarithmic axes, at which a start and bytes cost the same: on `t0 + b B` it is reached where the curve bends most.
const KNEE: f64 = 0.5;

/// Growth of the time from a size to the next, as a logarithm, that is more than noise: a factor of two.
const GROWS: f64 = 0.693;

/// Why a curve has no knee.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Knee {
    /// Too few sizes, or over too short a range.
    #[error("too few sizes for a saturation point: at least five over a decade")]
    Few,
    /// Steep from the first size on.
    #[error("time grows with size from the smallest message on: the saturation point lies below all sizes")]
    Below,
    /// Flat up to the last.
    #[error("starts cost more than bytes up to the largest message: the path does not saturate here")]
    Beyond,
    /// Between two sizes that lie too far apart, bytes.
    #[error(
        "sizes lie too far apart for a saturation point, which lies between {} and {}; measure sizes there a factor of 3 apart or less",
        units::Bytes(*.0), units::Bytes(*.1)
    )]
    Apart(u64, u64),
}

/// Logarithm of the size at which the local slope passes a half for good, or why there is none.
pub(super) fn knee(logs: &[f64], times: &[f64]) -> Result<f64, Knee> {
    if logs.len() < 5 || logs[logs.len() - 1] - logs[0] < 2.0 * WINDOW {
        return Err(Knee::Few);
    }
    let slopes: Vec<f64> = logs.iter().map(|x| slope(logs, times, *x)).collect();
    // The split that leaves the least on the wrong side: flat above it, steep below it, each by the stretch it covers. A
    // chasm on either side costs its own width and does not move the split.
    let steep: Vec<bool> = slopes.iter().map(|slope| *slope >= KNEE).collect();
    let wide = |i: &usize| logs[*i] - logs[i - 1] > WINDOW;
    // A wide gap may hide the knee: time grows over it, though its slope is below a half.
    let hidden = |i: &usize| wide(i) && times[*i] - times[i - 1] > GROWS;
    match split(logs, &steep) {
        0 => Err(Knee::Below),
        i if i == logs.len() => Err((1..i).find(hidden).map_or(Knee::Beyond, |i| apart(logs, i))),
        i if wide(&i) => Err(apart(logs, i)),
        i => {
            let (a, b) = (slopes[i - 1], slopes[i]);
            let share = if b > a { ((KNEE - a) / (b - a)).clamp(0.0, 1.0) } else { 0.5 };
            Ok(logs[i - 1] + share * (logs[i] - logs[i - 1]))
        }
    }
}

/// There is no knee where the size before the one at `i` lies too far from it.
fn apart(logs: &[f64], i: usize) -> Knee {
    let size = |i: usize| logs[i].exp().round() as u64;
    Knee::Apart(size(i - 1), size(i))
}

/// Least-squares slope of the points within the window about `x`, weighted less towards its ends (tricube, as in local
/// regression: Cleveland 1979). At the ends of the curve the window is one-sided.
fn slope(logs: &[f64], times: &[f64], x: f64) -> f64 {
    let (from, to) = (logs.partition_point(|l| *l < x - WINDOW), logs.partition_point(|l| *l <= x + WINDOW));
    // A size without others in its window has the slope from the one before it to the one after.
    if to - from < 2 {
        let (before, after) = (from.saturating_sub(1), to.min(logs.len() - 1));
        return (times[after] - times[before]) / (logs[after] - logs[before]);
    }
    let points: Vec<(f64, f64, f64)> = (from..to)
        .map(|i| (logs[i], times[i], (1.0 - ((logs[i] - x).abs() / (WINDOW * 1.001)).powi(3)).powi(3)))
        .collect();
    stats::weighted_line(&points).map_or(0.0, |l| l.slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(time: impl Fn(f64) -> f64) -> Result<f64, String> {
        let sizes: Vec<f64> = (0..160).map(|i| 1.105f64.powi(i)).collect();
        let logs: Vec<f64> = sizes.iter().map(|s| s.ln()).collect();
        let times: Vec<f64> = sizes.iter().map(|s| time(*s).ln()).collect();
        knee(&logs, &times).map(f64::exp).map_err(|why| why.to_string())
    }

    #[test]
    fn on_a_line_the_knee_is_where_start_and_bytes_cost_the_same() {
        let at = found(|b| 1e-5 + 1e-9 * b).unwrap();
        assert!((at / 10_000.0 - 1.0).abs() < 0.02, "{at}");
    }

    #[test]
    fn a_chasm_beyond_the_knee_does_not_move_it() {
        let chasm = |b: f64| if (200_000.0..250_000.0).contains(&b) { 3.0 } else { 1.0 };
        let at = found(|b| (1e-5 + 1e-9 * b) * chasm(b)).unwrap();
        assert!((at / 10_000.0 - 1.0).abs() < 0.02, "{at}");
    }

    #[test]
    fn sizes_far_apart_say_so_and_claim_no_flat_path() {
        let of = |sizes: &[f64], time: &dyn Fn(f64) -> f64| {
            knee(
                &sizes.iter().map(|s| s.ln()).collect::<Vec<_>>(),
                &sizes.iter().map(|s| time(*s).ln()).collect::<Vec<_>>(),
            )
            .map_err(|why| why.to_string())
        };
        let line = |b: f64| 1e-5 + 8e-10 * b;
        let steps = |factor: f64| (0..9).map(|i| factor.powi(i)).take_while(|s| *s < 3e6).collect::<Vec<_>>();
        for factor in [4.0, 8.0, 16.0] {
            let said = of(&steps(factor), &line).unwrap_err();
            assert!(said.contains("too far apart") && said.contains("factor of 3"), "{factor}: {said}");
            assert!(of(&steps(factor), &|_| 1e-5).unwrap_err().contains("does not saturate"));
        }
        assert!(of(&steps(8.0), &line).unwrap_err().contains("between 4 KiB and 32 KiB"));
        // A lone size beyond does not hide the knee among those that lie near each other.
        let mut sizes: Vec<f64> = (0..100).map(|i| 1.15f64.powi(i)).collect();
        sizes.push(sizes[99] * 10.0);
        let at = of(&sizes, &line).unwrap().exp();
        assert!((at / 12_500.0 - 1.0).abs() < 0.05, "{at}");
        let last = [1.0, 2.0, 4.0, 8.0, 16.0, 1e6];
        assert!(of(&last, &line).unwrap_err().contains("between 16 B and"), "{:?}", of(&last, &line));
    }

    #[test]
    fn paths_without_a_knee_say_so() {
        assert!(found(|b| 1e-9 * b).unwrap_err().contains("below all sizes"));
        assert!(found(|_| 1e-5).unwrap_err().contains("does not saturate"));
        assert!(knee(&[0.0, 1.0], &[0.0, 1.0]).unwrap_err().to_string().contains("too few sizes"));
    }
}
