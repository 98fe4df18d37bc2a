//! Where a repeat run's median is expected to fall.

use crate::basic::{median, median_in_place, variance};
use crate::common::Shared;
use crate::interval::{Interval, student_t};

/// Degrees of freedom that the pooled spread of the neighbouring sizes counts for.
const SHARED_DEGREES: f64 = 8.0;

/// The range in which the median of a repeat run with as many blocks is expected to fall, at `confidence` (0.95).
///
/// The range is the median of the blocks, times and divided by `exp(t * s * sqrt(2) * c)`: `c` is the standard error
/// of the median of k normal values of spread 1, and both runs have that error, which makes it `sqrt(2)` wider than
/// an interval of the median. The spread `s` is that of the logarithms:
///
/// - the point's own, with the one block that lies farthest from the median counted only
///   as far out as the next one if there are five blocks or more: a lone outlier does not move a median, so it must
///   not widen the range of one;
/// - pooled with `shared.sigma`, the log standard deviation of the path's points ([`pooled_log_sigma`]; 0 if unknown),
///   which counts as 8 degrees and less the more the point's own spread exceeds it: a point may be noisier than the
///   others (at a buffer's edge it is), and its own blocks then speak for it;
/// - but never below `shared.sigma`: three blocks that happen to agree do not make a quiet point.
///
/// To that comes, in quadrature, what moves the whole curve: `t * shared.between * sqrt(2)`, with no division by the
/// number of blocks. Machines drift on every scale of time (1/f noise): the levels of two runs lie as far apart as those
/// of two blocks of one run, however many blocks each of them averages. (Where blocks are independent, this makes the range
/// wider than it need be, never narrower.)
///
/// What it can't foretell: a change of the machine between the runs that no block of the first run saw.
///
/// Without any block, or with one and no shared spread, or with values of 0 or less: [`Interval::UNBOUNDED`].
pub fn repeat_range(blocks: &[f64], shared: Shared, confidence: f64) -> Interval {
    let moves = match shared.between {
        b if b > 0.0 && shared.levels > 1 => {
            student_t(confidence, f64::from(shared.levels - 1)) * b * std::f64::consts::SQRT_2
        }
        _ => 0.0,
    };
    let Some(error) = median_log_error(blocks, shared.sigma) else { return Interval::UNBOUNDED };
    let middle = median(blocks);
    let reach = match error.value {
        // Equal blocks and no shared spread: nothing was seen to vary (and 0 * infinity would be NaN).
        0.0 => 0.0,
        e => student_t(confidence, error.degrees) * e * std::f64::consts::SQRT_2,
    };
    let reach = reach.hypot(moves);
    Interval { low: middle * (-reach).exp(), high: middle * reach.exp() }
}

/// A standard error and how well it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StandardError {
    /// The standard error.
    pub value: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

/// Standard error of the logarithm of the median of `blocks`, from their own spread and that of all points of the path
/// (`shared_sigma`, [`pooled_log_sigma`]; 0 if unknown), as [`repeat_range`] weighs them. None without any block, with
/// one and no shared spread, or with values of 0 or less.
pub fn median_log_error(blocks: &[f64], shared_sigma: f64) -> Option<StandardError> {
    let k = blocks.len();
    let shared = if shared_sigma.is_finite() { shared_sigma.max(0.0) } else { 0.0 };
    if k == 0 || blocks.iter().any(|b| b.is_nan() || *b <= 0.0) || (k == 1 && shared == 0.0) {
        return None;
    }
    let logs: Vec<f64> = blocks.iter().map(|b| b.ln()).collect();
    let (own, own_degrees) = own_spread(logs);
    let shared_degrees = match shared {
        0.0 => 0.0,
        s if own <= s => SHARED_DEGREES,
        s => SHARED_DEGREES * (s / own).powi(2),
    };
    let degrees = own_degrees + shared_degrees;
    let pooled = ((own_degrees * own * own + shared_degrees * shared * shared) / degrees).sqrt();
    Some(StandardError { value: pooled.max(shared) * median_error(k), degrees })
}

/// Standard deviation of one point's log blocks and its degrees of freedom; from five blocks on, with the farthest from
/// the median drawn in. A single block has none of either.
fn own_spread(mut logs: Vec<f64>) -> (f64, f64) {
    let k = logs.len();
    if k < 5 {
        return (variance(&logs).sqrt(), (k - 1) as f64);
    }
    let middle = median_in_place(&mut logs);
    logs.sort_unstable_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    let limit = (logs[k - 2] - middle).abs();
    logs[k - 1] = logs[k - 1].clamp(middle - limit, middle + limit);
    // Drawing in makes the spread of normal values smaller, and less is left to tell it by. Both corrections fit a
    // simulation (factor within 0.5% and degrees within 0.3 for 5 to 50 blocks).
    let k = k as f64;
    (variance(&logs).sqrt() * (1.0 + 0.85 / k + 2.2 / (k * k)), k - 2.4)
}

/// Standard deviation of the median of k independent normal values of standard deviation 1. Exact to 1% (a test
/// simulates it); for large k it tends to sqrt(pi / 2k).
pub(crate) fn median_error(k: usize) -> f64 {
    match k {
        0 | 1 => 1.0,
        2 => std::f64::consts::FRAC_1_SQRT_2,
        k => {
            let more = if k % 2 == 1 { 0.45 } else { 1.35 };
            (std::f64::consts::FRAC_PI_2 / (k as f64 + more)).sqrt()
        }
    }
}

/// The standard deviation of log blocks that several points have in common, robustly: `blocks_by_point` holds the
/// block medians of one size each.
///
/// It is the median distance of a block from its own point's median, over all points, each distance measured in units
/// of its expected median for normal noise and that number of blocks. So a few outlying blocks, and a few points that
/// are wild throughout, leave it alone, and points of two blocks count rightly beside points of twelve. Values of 0 or
/// less and points of fewer than two blocks are left out; 0 if nothing is left.
pub fn pooled_log_sigma(blocks_by_point: &[Vec<f64>]) -> f64 {
    let mut distances = Vec::new();
    for blocks in blocks_by_point {
        let mut logs: Vec<f64> = blocks.iter().filter(|b| **b > 0.0 && b.is_finite()).map(|b| b.ln()).collect();
        let k = logs.len();
        if k < 2 {
            continue;
        }
        let middle = median_in_place(&mut logs);
        let unit = typical_distance(k);
        let mut own: Vec<f64> = logs.iter().map(|l| (l - middle).abs() / unit).collect();
        if k % 2 == 1 {
            // Of an odd number, one is the median itself: its distance is 0 whatever the noise.
            own.sort_unstable_by(f64::total_cmp);
            own.remove(0);
        }
        distances.append(&mut own);
    }
    if distances.is_empty() { 0.0 } else { median_in_place(&mut distances) }
}

/// Median distance of k normal values of standard deviation 1 from their own median (of an odd number, without the
/// one that is the median). Exact to 1.5% (a test simulates it); for large k it tends to 0.6745.
fn typical_distance(k: usize) -> f64 {
    match k {
        0..=2 => 0.4769,
        4 => 0.4865,
        6 => 0.5282,
        k if k % 2 == 1 => 0.6745 + 0.05 / k as f64,
        k => 0.6745 - 0.86 / k as f64,
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn noise(sigma: f64) -> Shared {
        Shared { sigma, ..Shared::default() }
    }

    #[test]
    fn the_constants_of_normal_noise_agree_with_a_simulation() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut normal = || {
            let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
            radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
        };
        for k in (1..=12).chain([20, 31, 50]) {
            let runs = 1_000_000 / k;
            let (mut squares, mut distances, mut spread) = (0.0, Vec::new(), 0.0);
            for _ in 0..runs {
                let values: Vec<f64> = (0..k).map(|_| normal()).collect();
                let middle = median(&values);
                squares += middle * middle;
                distances.extend(values.iter().map(|v| (v - middle).abs()).filter(|d| k % 2 == 0 || *d > 0.0));
                spread += own_spread(values).0.powi(2);
            }
            let error = (squares / runs as f64).sqrt();
            assert!((median_error(k) / error - 1.0).abs() < 0.015, "{k}: {error}");
            if k > 1 {
                let distance = median(&distances);
                assert!((typical_distance(k) / distance - 1.0).abs() < 0.02, "{k}: {distance}");
                let spread = (spread / runs as f64).sqrt();
                assert!((spread - 1.0).abs() < 0.015, "{k}: {spread}");
            }
        }
    }

    #[test]
    fn a_repeat_range_is_symmetric_in_ratio_about_the_median() {
        let range = repeat_range(&[1.0, 1.1, 0.9, 1.05], noise(0.05), 0.95);
        let middle = median(&[1.0, 1.1, 0.9, 1.05]);
        assert!((range.low * range.high / (middle * middle) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_shared_spread_is_a_floor_for_blocks_that_happen_to_agree() {
        let range = repeat_range(&[1.0, 1.0, 1.0], noise(0.05), 0.95);
        assert!(range.high > 1.0 + 1.96 * 0.05 * std::f64::consts::SQRT_2 * median_error(3), "{range:?}");
        let wider = repeat_range(&[1.0, 1.0, 1.0], noise(0.10), 0.95);
        assert!(wider.high > range.high);
    }

    #[test]
    fn what_moves_the_whole_curve_is_not_averaged_away() {
        let blocks = [1.0, 1.001, 0.999, 1.0, 1.001, 0.999, 1.0, 1.0, 1.001, 0.999];
        let still = repeat_range(&blocks, noise(0.001), 0.95);
        assert!(still.high < 1.005, "{still:?}");
        let drifting = Shared { sigma: 0.001, between: 0.02, levels: 10, ..Shared::default() };
        let range = repeat_range(&blocks, drifting, 0.95);
        let reach = student_t(0.95, 9.0) * 0.02 * std::f64::consts::SQRT_2;
        assert!((range.high.ln() / reach - 1.0).abs() < 0.01, "{range:?}");
    }

    #[test]
    fn one_far_block_of_many_hardly_widens_the_range() {
        let calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.015, 0.985, 1.005];
        let mut stray = calm;
        stray[3] = 10.0;
        let (calm, stray) = (repeat_range(&calm, noise(0.0), 0.95), repeat_range(&stray, noise(0.0), 0.95));
        assert!((stray.high / stray.low).ln() < 1.5 * (calm.high / calm.low).ln(), "{calm:?} {stray:?}");
    }

    #[test]
    fn too_little_evidence_is_unbounded() {
        assert_eq!(repeat_range(&[], noise(0.1), 0.95), Interval::UNBOUNDED);
        assert_eq!(repeat_range(&[1.0], noise(0.0), 0.95), Interval::UNBOUNDED);
        assert_eq!(repeat_range(&[1.0], noise(f64::NAN), 0.95), Interval::UNBOUNDED);
        assert_eq!(repeat_range(&[1.0, 0.0, 2.0], noise(0.1), 0.95), Interval::UNBOUNDED);
        let one = repeat_range(&[2.0], noise(0.1), 0.95);
        assert!(one.low < 1.6 && one.high > 2.5 && one.high.is_finite(), "{one:?}");
        assert_eq!(repeat_range(&[2.0, 2.0], noise(0.0), 0.95), Interval { low: 2.0, high: 2.0 });
        let certain = repeat_range(&[2.0, 2.1, 2.2], noise(0.0), 1.0);
        assert_eq!((certain.low, certain.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn pooled_sigma_of_nothing_is_zero() {
        assert_eq!(pooled_log_sigma(&[]), 0.0);
        assert_eq!(pooled_log_sigma(&[vec![], vec![1.0], vec![0.0, -1.0]]), 0.0);
    }
}
