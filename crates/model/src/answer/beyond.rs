//! The time of a message larger than all that were measured.
//!
//! Extrapolation rests on the assumption that the curve goes on as it is. Where the line over all sizes passes the largest sizes, the time
//! is that line's. Else `t0 + c size^p` is fitted to the last decade of sizes: the range holds every power `p` that these sizes do not
//! refute, the straight line among them, each with its error (`power.rs`). The same rule is then tried at earlier places of this curve: how
//! far the sizes beyond these lay outside its range widens the range.

use super::power::{self, Forecast};
use crate::{CurvePoint, Estimate, LatencyLine};

/// Sizes from this share of the largest on are its last decade: a line must follow these to be drawn on.
const DECADE: u64 = 10;
/// Sizes from this share of the largest on must all take twice what the smallest message takes: else their bytes' cost is not seen.
const END: u64 = 3;
/// A line that passes an interval's end by no more than this share passes near it.
const NEAR: f64 = 0.1;
/// Share of the last decade's sizes that the line must pass near.
const MOST: f64 = 0.75;
/// Sizes of the last decade from which on how far they lie from a line shows whether they follow it: two are passed by a line of any slope.
const FEW: usize = 3;
/// An earlier place of the curve tries the rule only where sizes were measured at least this factor beyond it, or the root of the distance
/// asked about where that is less.
const TRIED: f64 = 3.0;
/// Places of the curve that are tried at most.
const PLACES: usize = 24;
/// Error of a slope on logarithmic axes that is assumed where no place of the curve tries the rule.
const UNTRIED: f64 = 0.1;
/// Distance beyond the largest size, as a factor, up to which measured sizes are taken to tell of larger ones; beyond it the error
/// [`UNTRIED`] is added, since no place of the curve was tried at a like distance.
const FAR: f64 = 100.0;
/// A range whose ends lie farther apart is no answer.
const WIDEST: f64 = 10.0;

/// The time of a larger size, as the largest sizes give it.
pub(super) enum Beyond {
    /// Its time, seconds, and the smallest size that it rests on, bytes.
    Told(Estimate, u64),
    /// The range would be wider than a factor of ten.
    TooWide,
}

/// A time beyond the largest size, with the error of a great distance: [`UNTRIED`] of a slope on logarithmic axes, from [`FAR`] on. None
/// where the ends then lie more than a factor of ten apart; a time without an interval is judged by that error alone.
pub(super) fn with_distance(time: Estimate, size: u64, largest: u64) -> Option<Estimate> {
    let off = UNTRIED * (size as f64 / largest.max(1) as f64 / FAR).ln().max(0.0);
    let alone = time.low <= 0.0 || !time.high.is_finite();
    let ratio = if alone { 1.0 } else { time.high / time.low };
    let told = off == 0.0 || ratio * (2.0 * off).exp() <= WIDEST;
    told.then(|| Estimate::new(time.value, time.low * (-off).exp(), time.high * off.exp()))
}

/// Whether the line passes near the times of the last decade's sizes, and of the largest: that it fits the whole curve says
/// nothing of its end, where a few sizes can be several times slower. `sorted` ascends in size.
pub(super) fn holds(sorted: &[&CurvePoint], line: &LatencyLine) -> bool {
    let near = |p: &CurvePoint| {
        let (e, said) = (p.estimate(), at(line, p.size));
        // Without an interval the median stands for itself.
        let (low, high) = if e.high.is_finite() { (e.low, e.high) } else { (e.value, e.value) };
        (low * (1.0 - NEAR)..=high * (1.0 + NEAR)).contains(&said)
    };
    let tail = last(sorted, DECADE);
    let passed = tail.iter().filter(|p| near(p)).count();
    sorted.last().is_some_and(|p| near(p)) && passed as f64 >= MOST * tail.len() as f64
}

/// The time by a line that holds, its interval widened by how far the last decade's sizes lie from it.
pub(super) fn by_line(sorted: &[&CurvePoint], line: &LatencyLine, size: u64) -> Estimate {
    let time = |t0: f64, b: f64| (t0 + b * size as f64).max(0.0);
    let wide = twice_rms(last(sorted, DECADE).iter().map(|p| (p.seconds / at(line, p.size)).ln()));
    // The line may pass below the largest size's own median, which a larger message does not. One that is smaller than all says nothing of it.
    let largest = sorted.last().filter(|p| p.size < size).map_or(0.0, |p| p.seconds);
    let value = time(line.t0.value, line.per_byte.value).max(largest);
    let low = time(line.t0.low, line.per_byte.low) * (-wide).exp();
    let high = (time(line.t0.high, line.per_byte.high) * wide.exp()).max(value);
    let (least, most) = by_last_two(sorted, size).unwrap_or((low, high));
    Estimate::new(value, low.min(least), high.max(most))
}

/// Between which times the line through the last two sizes comes, by the ends of their intervals. None where the last decade has sizes enough to
/// show how far they lie from the line over all sizes. One or two do not: that line may pass a single size with a wrong slope, as behind a step,
/// and its slope is then what smaller sizes say. A larger message takes no less time than the largest one does.
fn by_last_two(sorted: &[&CurvePoint], size: u64) -> Option<(f64, f64)> {
    let largest = *sorted.last().filter(|p| p.size < size)?;
    let before = sorted[..sorted.len() - 1].last().filter(|p| p.size < largest.size)?;
    let (a, b) = (before.estimate(), largest.estimate());
    let told = last(sorted, DECADE).len() < FEW && a.high.is_finite() && b.high.is_finite();
    let farther = (size - largest.size) as f64 / (largest.size - before.size) as f64;
    let on = |from: f64, to: f64| to + (to - from).max(0.0) * farther;
    told.then(|| (on(a.high, b.low), on(a.low, b.high)))
}

/// The time by the last decade of sizes. None where they are too few, or where the largest take hardly longer than the smallest message.
pub(super) fn by_last_sizes(sorted: &[&CurvePoint], size: u64) -> Option<Beyond> {
    let (found, from) = extrapolated(sorted, size)?;
    if !found.bounded {
        return Some(Beyond::Told(Estimate::unbounded(found.value), from));
    }
    // The error of the fit and that of the rule are independent.
    let (below, above) = missed(sorted, size);
    let low = found.value * (-(found.value / found.low).ln().hypot(below)).exp();
    let e = Estimate::new(found.value, low, found.value * (found.high / found.value).ln().hypot(above).exp());
    let e = from_the_largest(e, sorted, size);
    Some(if e.high > WIDEST * e.low { Beyond::TooWide } else { Beyond::Told(e, from) })
}

/// The part of a range that the largest size itself leaves: a larger message takes no less time than the largest one does, and no more than
/// in proportion to the square of its size.
fn from_the_largest(e: Estimate, sorted: &[&CurvePoint], size: u64) -> Estimate {
    let Some(largest) = sorted.last() else { return e };
    let known = largest.estimate();
    if known.low <= 0.0 || !known.high.is_finite() {
        return e;
    }
    let (least, most) = (known.low, known.high * (size as f64 / largest.size.max(1) as f64).powi(2));
    if most < least || e.high < least || e.low > most {
        return e;
    }
    Estimate::new(e.value.clamp(least, most), e.low.max(least), e.high.min(most))
}

/// The time of a larger size as the last decade of these gives it, and the smallest of them, bytes.
fn extrapolated(sorted: &[&CurvePoint], size: u64) -> Option<(Forecast, u64)> {
    let decade = last(sorted, DECADE);
    let found = tells(sorted).then(|| power::forecast(decade, size as f64))??;
    Some((found, decade.first()?.size))
}

/// Whether the largest of these sizes all take so much longer than the smallest that their bytes' cost is seen.
fn tells(sorted: &[&CurvePoint]) -> bool {
    let start = sorted.first().map_or(0.0, |p| p.seconds);
    last(sorted, END).iter().all(|p| p.seconds >= 2.0 * start)
}

/// Error of the rule, from trying it at earlier places of the curve: how far times lay below and above the range that it gave there, as
/// logarithms (two root mean squares), scaled to the distance of the size asked about from the largest.
fn missed(sorted: &[&CurvePoint], size: u64) -> (f64, f64) {
    let largest = sorted.last().map_or(1, |p| p.size.max(1));
    let distance = size as f64 / largest as f64;
    let least = distance.sqrt().min(TRIED);
    let farthest = |k: usize| sorted[sorted.partition_point(|p| p.size as f64 <= sorted[k].size as f64 * distance) - 1];
    let gone = |k: usize| farthest(k).size as f64 / sorted[k].size.max(1) as f64;
    let told: Vec<usize> = (0..sorted.len()).filter(|k| gone(*k) >= least && tells(&sorted[..=*k])).collect();
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for k in told.iter().step_by(told.len().div_ceil(PLACES).max(1)) {
        let Some((said, _)) = extrapolated(&sorted[..=*k], farthest(*k).size) else { continue };
        let (farther, came) = (distance.ln() / gone(*k).ln(), farthest(*k).seconds);
        let outside = |by: f64| farther * by.ln().max(0.0);
        below.push(outside(said.low / came));
        above.push(outside(came / said.high));
    }
    if below.is_empty() {
        return (UNTRIED * distance.ln(), UNTRIED * distance.ln());
    }
    (twice_rms(below.into_iter()), twice_rms(above.into_iter()))
}

fn at(line: &LatencyLine, size: u64) -> f64 {
    (line.t0.value + line.per_byte.value * size as f64).max(f64::MIN_POSITIVE)
}

/// The sizes from a share of the largest on.
fn last<'a, 'b>(sorted: &'b [&'a CurvePoint], share: u64) -> &'b [&'a CurvePoint] {
    let largest = sorted.last().map_or(0, |p| p.size);
    &sorted[sorted.partition_point(|p| p.size < largest / share)..]
}

/// Two root mean squares: the half-width that holds 95% of normal residuals.
fn twice_rms(residuals: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = residuals.collect();
    2.0 * (all.iter().map(|r| r * r).sum::<f64>() / all.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use stats::{Interval, normal};

    use super::*;

    /// Seconds over bytes.
    type Path = fn(f64) -> f64;

    const CURVES: [(&str, Path); 8] = [
        ("line", |s| 1e-5 + 8e-10 * s),
        ("knee", |s| (1e-9 * s).max(1e-5)),
        ("packets", |s| 1e-5 + 1e-10 * s + 3e-7 * (s / 1448.0).ceil()),
        ("segments of 64 KiB", |s| 1e-5 + 2e-10 * s + 2e-5 * (s / 65_536.0).ceil()),
        ("rendezvous", |s| if s <= 8192.0 { 1e-5 + 3e-10 * s } else { 1.8e-5 + 1e-10 * s }),
        ("a cache that ends", |s| 5e-6 + 1e-10 * s + 3e-10 * (s - 1e5).max(0.0)),
        ("root and line", |s| 1e-5 + 1e-8 * s.sqrt() + 1e-10 * s),
        ("power", |s| 5e-6 * (1.0 + (s / 3000.0).powf(0.8))),
    ];

    /// Twelve rounds of a curve up to 1 MiB: log-normal noise of each size, and rounds that are in one of two states so far from the middle.
    fn measured(curve: Path, step: f64, own: f64, state: f64, seed: u64) -> Vec<CurvePoint> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let levels: Vec<f64> = (0..12).map(|_| if rng.random::<bool>() { state } else { -state }).collect();
        let mut sizes: Vec<u64> =
            (0..).map(|i| 10f64.powf(step * f64::from(i)) as u64).take_while(|s| *s <= 1 << 20).collect();
        sizes.dedup();
        let point = |size: u64| {
            let times = levels.iter().map(|l| curve(size as f64) * (l + own * normal(&mut rng)).exp());
            let rounds: Vec<(u32, f64)> = (0..).zip(times).collect();
            CurvePoint::of(size, stats::median(&rounds.iter().map(|b| b.1).collect::<Vec<_>>()), rounds)
        };
        let points: Vec<CurvePoint> = sizes.into_iter().map(point).collect();
        // Medians and intervals at the level of the run, as a run has them.
        let levelled = crate::curve::Curve::of(&points).points.into_iter().zip(points);
        levelled
            .map(|(l, p)| CurvePoint {
                seconds: l.seconds,
                interval: Some(Interval { low: l.estimate.low, high: l.estimate.high }),
                ..p
            })
            .collect()
    }

    /// However far the sizes before it scatter, a size hardly beyond the largest takes about what the largest takes.
    #[test]
    fn a_size_just_beyond_the_largest_takes_about_as_long_as_the_largest() {
        for seed in 0..20 {
            let points = measured(CURVES[0].1, 0.3, 0.8, 0.0, seed);
            let sorted: Vec<&CurvePoint> = points.iter().collect();
            let largest = sorted[sorted.len() - 1];
            let asked = largest.size + largest.size / 20;
            let Some(Beyond::Told(e, _)) = by_last_sizes(&sorted, asked) else { continue };
            let known = largest.estimate();
            assert!(e.low >= known.low && e.high <= known.high * 1.11, "{seed}: {e:?} beyond {known:?}");
            assert!(e.low <= e.value && e.value <= e.high, "{seed}: {e:?}");
        }
    }

    #[test]
    fn a_larger_message_is_held_on_curves_whose_slope_changes() {
        const RUNS: u64 = 20;
        const ASKED: f64 = 8e6;
        for (own, state, widest) in [(0.03, 0.0, 2.0), (0.15, 0.0, 2.8), (0.03, 0.1, 2.2)] {
            let mut all_held = 0;
            for (name, curve) in CURVES {
                let (mut held, mut wide) = (0, Vec::new());
                for seed in 0..RUNS {
                    let points = measured(curve, 0.045, own, state, seed);
                    let sorted: Vec<&CurvePoint> = points.iter().collect();
                    let Some(Beyond::Told(e, _)) = by_last_sizes(&sorted, ASKED as u64) else {
                        panic!("{name} {own} {state} {seed}: no answer")
                    };
                    held += u64::from((e.low..=e.high).contains(&curve(ASKED)));
                    wide.push(e.high / e.low);
                }
                all_held += held;
                assert!(held * 100 >= RUNS * 90, "{name} {own} {state}: {held} of {RUNS}");
                assert!(stats::median(&wide) < widest, "{name} {own} {state}: {}", stats::median(&wide));
            }
            assert!(all_held * 100 >= RUNS * CURVES.len() as u64 * 95, "{own} {state}: {all_held}");
        }
    }

    #[test]
    fn the_range_widens_with_the_distance_until_there_is_no_answer() {
        let points = measured(CURVES[7].1, 0.045, 0.15, 0.0, 3);
        let sorted: Vec<&CurvePoint> = points.iter().collect();
        let wide = |size: u64| match by_last_sizes(&sorted, size) {
            Some(Beyond::Told(e, _)) => e.high / e.low,
            Some(Beyond::TooWide) => f64::INFINITY,
            None => panic!("it tells something"),
        };
        let all = [2_000_000, 8_000_000, 100_000_000, 100_000_000_000_000].map(wide);
        assert!(all.windows(2).all(|w| w[0] < w[1]) && all[3] == f64::INFINITY, "{all:?}");
    }
}
