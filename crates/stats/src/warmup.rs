//! How many leading trials are warm-up.

use crate::basic::{median, median_in_place};
use crate::interval::student_t;
use crate::spread::median_error;

/// Share of flat series from which something may be discarded by chance.
const FALSE_ALARMS: f64 = 0.01;

/// Trials farther than this many standard deviations from the steady level count as if at that distance.
const FAR: f64 = 5.0;

/// Shortest series that is judged: below, nothing tells a warm-up from noise.
const SHORTEST: usize = 5;

/// How many leading values of a series of trial times are warm-up; at most half of them, and 0 for a series of fewer
/// than five.
///
/// The cut is the one that leaves the mean of the rest best known: the smallest squared error of the rest divided by
/// the square of its length (MSER, White 1997, Simulation 69:323-334). MSER alone also cuts flat noise, so a cut is
/// only considered if the median of what it discards differs from the mean of the rest by more than Student's t
/// allows, with the risk of 1% shared among all cuts (Bonferroni). Times are compared as logarithms where all are
/// positive, and stray trials are drawn in to five standard deviations, so that one late outlier neither hides nor
/// makes a warm-up. Warm-up may be slow or fast.
///
/// Over 1000 flat series each of 5, 20, 50 and 200 trials, at most 1% lose anything, and never more than half
/// (`tests/warmup.rs`). With one trial in ten an outlier, the first trial itself may be one and be discarded.
pub fn warmup_end(series: &[f64]) -> usize {
    let n = series.len();
    if n < SHORTEST {
        return 0;
    }
    let positive = series.iter().all(|v| *v > 0.0);
    let raw: Vec<f64> = series.iter().map(|v| if positive { v.ln() } else { *v }).collect();
    let steady = draw_in(&raw);
    let most = n / 2;
    // Sums over the rest after each cut, from the end; about the steady level, so that no digits are lost.
    let level = median(&steady[most..]);
    let mut rest = vec![(0.0, 0.0); n + 1];
    for i in (0..n).rev() {
        let (sum, squares): (f64, f64) = rest[i + 1];
        let off = steady[i] - level;
        rest[i] = (sum + off, squares + off * off);
    }
    let error = |cut: usize| {
        let (sum, squares) = rest[cut];
        (squares - sum * sum / (n - cut) as f64).max(0.0)
    };
    let mut best = (0, error(0) / (n * n) as f64);
    for cut in 1..=most {
        let left = (n - cut) as f64;
        let mser = error(cut) / (left * left);
        if mser < best.1 {
            let difference = (median(&raw[..cut]) - level - rest[cut].0 / left).abs();
            let deviation = (error(cut) / (left - 1.0)).sqrt();
            let unit = deviation * (median_error(cut).powi(2) + 1.0 / left).sqrt();
            if difference > student_t(1.0 - FALSE_ALARMS / most as f64, left - 1.0) * unit {
                best = (cut, mser);
            }
        }
    }
    best.0
}

/// The series with stray values drawn in towards the level of its second half, whose spread says what is stray.
fn draw_in(series: &[f64]) -> Vec<f64> {
    let steady = &series[series.len() / 2..];
    let level = median(steady);
    let spread = 1.4826 * median_in_place(&mut steady.iter().map(|v| (v - level).abs()).collect::<Vec<_>>());
    // Fewer than six steady trials, or most of them equal (a coarse clock), give no measure of what is stray.
    let reach = if spread > 0.0 && steady.len() >= 6 { FAR * spread } else { f64::INFINITY };
    series.iter().map(|v| v.clamp(level - reach, level + reach)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_constant_series_are_not_cut() {
        assert_eq!(warmup_end(&[]), 0);
        assert_eq!(warmup_end(&[9.0, 1.0, 1.0, 1.0]), 0);
        for n in 5..50 {
            assert_eq!(warmup_end(&vec![3.0; n]), 0);
        }
    }

    #[test]
    fn a_step_of_a_noiseless_series_is_cut_exactly() {
        for n in [5usize, 10, 50, 200] {
            for cut in 1..=n / 2 {
                let series: Vec<f64> = (0..n).map(|i| if i < cut { 2.0 } else { 1.0 }).collect();
                assert_eq!(warmup_end(&series), cut, "{n} trials, step at {cut}");
            }
        }
    }

    #[test]
    fn never_more_than_half_is_discarded() {
        let falling: Vec<f64> = (0..60).map(|i| 100.0 - f64::from(i)).collect();
        assert!(warmup_end(&falling) <= 30);
        let late_step: Vec<f64> = (0..60).map(|i| if i < 50 { 2.0 } else { 1.0 }).collect();
        assert!(warmup_end(&late_step) <= 30);
    }

    #[test]
    fn zero_and_negative_values_are_compared_as_they_are() {
        let series: Vec<f64> = (0..40).map(|i| if i < 4 { 5.0 } else { f64::from(i % 3) - 1.0 }).collect();
        assert_eq!(warmup_end(&series), 4);
    }
}
