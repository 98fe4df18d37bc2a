//! Intervals of fitted figures: the figures are fitted again to drawn rounds, and their spread gives the interval.

use rand_chacha::ChaCha8Rng;
use stats::{StandardError, mean, median, student_t, variance};

use crate::curve::{Curve, Drawn, Point};
use crate::{CONFIDENCE, Estimate};

/// Share of a figure's variance beyond which it moves with the level of the whole curve.
const MOVED_WITH: f64 = 0.25;

/// Power of the level above which a figure moves with it.
const FOLLOWS: f64 = 0.1;

/// Logarithm by which the whole curve is moved to see how far a figure follows.
const SHIFT: f64 = 0.01;

/// On which scale a figure's interval is symmetric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Plus and minus: figures that may be negative.
    Plain,
    /// Times and divided by: figures that are positive.
    Ratio,
}

/// The figures that `fit` reads off the curve's medians, each with its 95% interval. None where the curve itself can't be fitted. With
/// fewer than four rounds every interval is unbounded, and so is that of a figure that moves with a machine whose states outlast the run,
/// and one whose ends would lie a thousandfold apart.
///
/// Three errors add up, each with degrees of freedom of its own (`reached`). The sizes' own noise, of which there are many independent
/// values: figures are refitted on rounds that each size draws by itself. What a round does to several sizes alike: the variance of rounds
/// drawn whole, less that. And the level of the whole curve: its error ([`stats::Moves`]) times the power of the level by which the figure
/// follows it. What the clock's resolution may hide is added to the sum and not in quadrature: no number of rounds averages it away.
pub(crate) fn estimates<const N: usize>(
    curve: &Curve,
    scales: [Scale; N],
    resamples: usize,
    rng: &mut ChaCha8Rng,
    fit: impl Fn(&[f64]) -> Option<[f64; N]>,
) -> Option<[Estimate; N]> {
    let found = estimates_of(curve, &scales, resamples, rng, |seconds| fit(seconds).map(Vec::from))?;
    found.try_into().ok()
}

/// [`estimates`] of as many figures as there are scales; `fit` returns as many.
pub(crate) fn estimates_of(
    curve: &Curve,
    scales: &[Scale],
    resamples: usize,
    rng: &mut ChaCha8Rng,
    fit: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Option<Vec<Estimate>> {
    let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
    let found = fit(&seconds)?;
    let on = |scale: Scale, v: f64| if scale == Scale::Ratio { v.ln() } else { v };
    let off = |scale: Scale, v: f64| if scale == Scale::Ratio { v.exp() } else { v };
    let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
    let resamples = if curve.moves.few() { 0 } else { resamples };
    let mut refitted = |apart: bool| {
        let mut values: Vec<Vec<f64>> = scales.iter().map(|_| Vec::with_capacity(resamples)).collect();
        for _ in 0..resamples {
            if apart {
                curve.resample_apart(rng, &mut drawn, &mut medians);
            } else {
                curve.resample(rng, &mut drawn, &mut medians);
            }
            for ((values, scale), v) in values.iter_mut().zip(scales).zip(fit(&medians).into_iter().flatten()) {
                values.push(on(*scale, v));
            }
        }
        values
    };
    let (whole, apart) = (refitted(false), refitted(true));
    let rounds = typical_rounds(curve.points.iter());
    let shifted = fit(&seconds.iter().map(|s| s * SHIFT.exp()).collect::<Vec<_>>());
    let follows = |i: usize, scale: Scale| {
        let moved = shifted.as_ref().map_or(found[i], |s| s[i]);
        (on(scale, moved) - on(scale, found[i])) / SHIFT
    };
    let held = |s: &[f64]| fit(s).map(|f| f.iter().zip(scales).map(|(v, scale)| on(*scale, *v)).collect::<Vec<f64>>());
    let rounded = roundings(curve, &seconds, scales.len(), held);
    let one = |(i, scale): (usize, &Scale)| {
        let follows = follows(i, *scale);
        // So few rounds that they may all be of one state don't tell how far levels lie apart.
        let of_one =
            curve.moves.split && follows.abs() > FOLLOWS * if *scale == Scale::Plain { found[i].abs() } else { 1.0 };
        match spread(on(*scale, found[i]), &whole[i], &apart[i], follows, rounds, curve) {
            Some(reach) if rounded[i].is_finite() && !of_one => {
                let at = on(*scale, found[i]);
                let (below, above) = curve.moves.held(follows, reach.own, reach.all);
                let (low, high) = (at + below - rounded[i], at + above + rounded[i]);
                let e = Estimate::new(found[i], off(*scale, low), off(*scale, high));
                let says = *scale == Scale::Plain || e.high <= units::WIDEST * e.low;
                if says { e } else { Estimate::unbounded(found[i]) }
            }
            _ => Estimate::unbounded(found[i]),
        }
    };
    Some(scales.iter().enumerate().map(one).collect())
}

/// Most splits that are tried: a fit is made for each.
const SPLITS: usize = 32;

/// How far the clock's resolution may put each of so many figures off: the most that rounding the points to one side below a size and to
/// the other from there on moves it, for up to [`SPLITS`] such sizes. Neighbouring sizes are rounded alike, and what a size does to a
/// line's figures changes its sign once. Infinite where points may be so far off that nothing can be fitted.
fn roundings(curve: &Curve, seconds: &[f64], figures: usize, fit: impl Fn(&[f64]) -> Option<Vec<f64>>) -> Vec<f64> {
    let mut most = vec![0.0; figures];
    // Too few rounds for an interval: nothing to add it to.
    let coarse: Vec<usize> =
        (0..seconds.len()).filter(|i| curve.points[*i].rounding > 0.0 && !curve.moves.few()).collect();
    let Some(found) = fit(seconds).filter(|_| !coarse.is_empty()) else { return most };
    let splits = (0..coarse.len()).step_by(coarse.len().div_ceil(SPLITS));
    for (split, side) in splits.flat_map(|split| [(split, 1.0), (split, -1.0)]) {
        let mut moved = seconds.to_vec();
        for (place, i) in coarse.iter().enumerate() {
            let by = if place < split { -side } else { side };
            moved[*i] = (moved[*i] + by * curve.points[*i].rounding).max(0.0);
        }
        let fitted = fit(&moved);
        for (f, most) in most.iter_mut().enumerate() {
            let far = fitted.as_ref().map_or(f64::INFINITY, |v| (v[f] - found[f]).abs());
            *most = if far.is_nan() { f64::INFINITY } else { far.max(*most) };
        }
    }
    most
}

/// Half-widths of 95% intervals.
struct Reach {
    /// Of all errors, that of the mean level among them.
    all: f64,
    /// Of all but the level's.
    own: f64,
}

/// From both kinds of refits, of a figure that follows the level by the power `follows`.
fn spread(found: f64, whole: &[f64], apart: &[f64], follows: f64, rounds: usize, curve: &Curve) -> Option<Reach> {
    if rounds < 2 || whole.len() < 2 || apart.len() < 2 || !mean(whole).is_finite() || !mean(apart).is_finite() {
        return None;
    }
    let own = variance(apart);
    // Rounds drawn whole are drawn as if they were independent: where states last, their variance is larger by that.
    let alike = (variance(whole) - own).max(0.0) * curve.lasting;
    let own = own * curve.own_lasting.powi(2);
    // Noise moves some figures to one side on average (the highest of some sizes, the first of some): the figure itself is off by as much.
    let own = own / inflation(rounds) + (median(apart) - found).powi(2);
    let level = (follows * curve.moves.error.value).powi(2);
    let total = own + alike + level;
    // Levels that moved once or twice do not bound a figure that moves with them.
    let moved_with = |part: f64, slow: bool| slow && part > MOVED_WITH * total;
    if moved_with(level, curve.moves.slow(curve.sigma)) || moved_with(alike, curve.outlasting) {
        return None;
    }
    let few = (rounds - 1) as f64;
    // A figure rests on some of the sizes, whose noise is not all alike: three times the degrees of freedom of one size.
    let many = 3.0 * few;
    let parts = [(own, many), (alike, few), (level, curve.moves.error.degrees.max(1.0))];
    Some(Reach { all: reached(&parts), own: reached(&parts[..2]) })
}

/// Half-width of the 95% interval of a sum of errors, each with its variance and degrees of freedom: by pooled degrees (Satterthwaite
/// 1946), but no narrower than that of any of them alone, which pooled degrees would allow where few values estimate the largest error and
/// many a smaller one.
fn reached(parts: &[(f64, f64)]) -> f64 {
    let total: f64 = parts.iter().map(|p| p.0).sum();
    if total <= 0.0 {
        return 0.0;
    }
    let degrees = total * total / parts.iter().map(|(variance, degrees)| variance * variance / degrees).sum::<f64>();
    let reach =
        |(variance, degrees): (f64, f64)| StandardError { value: variance.max(0.0).sqrt(), degrees }.reach(CONFIDENCE);
    parts.iter().copied().map(reach).fold(reach((total, degrees)), f64::max)
}

/// Ratio by which redrawing few rounds overestimates the variance of a median: exact to 4% for normal noise and three rounds or more (a
/// simulation of 3,000 times 300 draws).
fn inflation(rounds: usize) -> f64 {
    let few = if rounds % 2 == 1 { 0.28 } else { 0.20 };
    1.0 + few * (12.0 / rounds.max(1) as f64).min(1.0).sqrt()
}

/// How many rounds the points typically have: it decides how well a spread is known.
pub(crate) fn typical_rounds<'a>(points: impl Iterator<Item = &'a Point>) -> usize {
    let counts: Vec<f64> = points.map(|p| p.rounds.len() as f64).collect();
    // The cast takes the NaN of no points as 0 and a half down.
    median(&counts) as usize
}

/// Half-width of the 95% interval, from resampled figures. None with fewer than two rounds or resamples.
pub(crate) fn reach(resampled: &[f64], rounds: usize) -> Option<f64> {
    if rounds < 2 || resampled.len() < 2 || !mean(resampled).is_finite() {
        return None;
    }
    Some(student_t(CONFIDENCE, (rounds - 1) as f64) * variance(resampled).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_error_makes_no_interval_narrower() {
        let level = (1.0, 3.0);
        let alone = reached(&[level]);
        assert!((alone - student_t(CONFIDENCE, 3.0)).abs() < 1e-12);
        for own in [0.0, 0.1, 0.3, 1.0] {
            assert!(reached(&[(own, 24.0), (0.0, 8.0), level]) >= alone, "{own}");
        }
        assert_eq!(reached(&[(0.0, 24.0), (0.0, 8.0), (0.0, 1.0)]), 0.0);
    }
}
