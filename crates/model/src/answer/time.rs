//! When a message of any size arrives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unanswered;
use super::beyond::{self, Beyond};
use crate::{CurvePoint, Estimate, Fits};

/// What an answer outside of what was measured rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// The line over all sizes.
    Line,
    /// How time grows over the last decade of sizes: the line does not pass through their times.
    LastSizes,
}

/// The time of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// Size, bytes.
    pub size: u64,
    /// Time of the curve's kind, seconds.
    pub seconds: Estimate,
    /// The measured sizes it rests on, bytes: one, or the two it lies between.
    pub rests_on: Vec<u64>,
    /// What it rests on where it lies outside of what was measured.
    pub outside: Option<Outside>,
    /// The sizes on either side whose intervals bound it, bytes, where too few rounds visited it for one of its own.
    pub bounded: Option<(u64, u64)>,
}

/// When a message of `size` arrives: as measured, between two measured sizes as a straight line on logarithmic axes, and
/// outside of them only with `fits`: by the line, or, beyond the largest and where its times refute the line, by how time grows over
/// the last decade of sizes.
pub fn arrival(points: &[CurvePoint], size: u64, fits: Option<&Fits>) -> Result<Arrival, Unanswered> {
    let mut sorted: Vec<&CurvePoint> = points.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite()).collect();
    sorted.sort_by_key(|p| p.size);
    let (first, last) = match (sorted.first(), sorted.last()) {
        (Some(first), Some(last)) => (first.size, last.size),
        _ => return Err(Unanswered::Nothing),
    };
    let at = sorted.partition_point(|p| p.size < size);
    if let Some(p) = sorted.get(at).filter(|p| p.size == size) {
        let (seconds, bounded) = bounded(&sorted, size, p.estimate());
        return Ok(Arrival { size, seconds, rests_on: vec![size], outside: None, bounded });
    }
    if at == 0 || at == sorted.len() {
        let none = Unanswered::Outside { asked: size, from: first, to: last };
        let fits = fits.ok_or_else(|| none.clone())?;
        let end = if at == 0 { None } else { beyond::by_last_sizes(&sorted, size) };
        // Where the largest sizes contradict the line over all sizes, they count.
        let agrees = |e: &Estimate| match &end {
            Some(Beyond::Told(told, _)) => told.low <= e.value && e.value <= told.high,
            _ => true,
        };
        let line = fits.latency.all.as_ref().filter(|l| !l.misfit.systematic);
        let line = line.filter(|l| at == 0 || beyond::holds(&sorted, l)).map(|l| beyond::by_line(&sorted, l, size));
        let (seconds, from, outside) = match (line.filter(agrees), end) {
            (Some(seconds), _) => (seconds, first, Outside::Line),
            (None, Some(Beyond::Told(seconds, from))) => (seconds, from, Outside::LastSizes),
            (None, Some(Beyond::TooWide)) => return Err(Unanswered::TooFar { asked: size, to: last }),
            (None, None) => return Err(none),
        };
        let too_far = || Unanswered::TooFar { asked: size, to: last };
        let seconds = if at == 0 { seconds } else { beyond::with_distance(seconds, size, last).ok_or_else(too_far)? };
        return Ok(Arrival { size, seconds, rests_on: vec![from, last], outside: Some(outside), bounded: None });
    }
    let (a, b) = (sorted[at - 1], sorted[at]);
    let share = (size.max(1) as f64 / a.size.max(1) as f64).ln() / (b.size as f64 / a.size.max(1) as f64).ln();
    let between =
        |x: f64, y: f64| if x > 0.0 && y.is_finite() { (x.ln() + share * (y.ln() - x.ln())).exp() } else { y };
    let (x, y) = (a.estimate(), b.estimate());
    let seconds = Estimate::new(
        between(x.value, y.value),
        if x.low > 0.0 && y.low > 0.0 { between(x.low, y.low) } else { 0.0 },
        if x.high.is_finite() { between(x.high, y.high) } else { f64::INFINITY },
    );
    // Such a time errs as its sizes do: by the ends of the neighbour's interval that lie farther from its time.
    let part = |pick: fn(f64, f64) -> f64, end: fn(&Estimate) -> f64| {
        let of = |e: &Estimate| if end(e).is_finite() && end(e) > 0.0 { end(e) / e.value } else { 1.0 };
        pick(of(&x), of(&y))
    };
    let (down, up) = (part(f64::min, |e| e.low), part(f64::max, |e| e.high));
    let bent = bends(&sorted, at, size);
    let (low, high) = bent.fold((seconds.low, seconds.high), |(l, h), t| (l.min(t * down), h.max(t * up)));
    let (low, high) = between_two(&sorted, at, size).map_or((low, high), |e| (low.min(e.low), high.max(e.high)));
    let (seconds, bounded) = bounded(&sorted, size, Estimate::new(seconds.value, low, high));
    Ok(Arrival { size, seconds, rests_on: vec![a.size, b.size], outside: None, bounded })
}

/// Times that the size may have where the curve bends between the sizes before and at `at`: the lines through the two sizes on either side,
/// drawn on to this size, clamped to the times of both neighbours. Where these lie far apart, a line is drawn on so far that its own error
/// counts: then it is drawn through the ends of its sizes' intervals, too, and clamped to those of both neighbours.
fn bends(sorted: &[&CurvePoint], at: usize, size: u64) -> impl Iterator<Item = f64> {
    let (a, b) = (sorted[at - 1], sorted[at]);
    let far = b.size as f64 > FAR * a.size.max(1) as f64;
    let ends = move |p: &CurvePoint| {
        let e = p.estimate();
        if far && e.high.is_finite() { [e.low, e.high] } else { [p.seconds; 2] }
    };
    let (low, high) = (ends(a)[0].min(ends(b)[0]), ends(a)[1].max(ends(b)[1]));
    let lines = move |from: &CurvePoint, to: &CurvePoint| {
        let [from_ends, to_ends] = [ends(from), ends(to)];
        let (from, to) = (from.size as f64, to.size as f64);
        [(0, 1), (1, 0)].map(|(f, t)| {
            let slope = (to_ends[t] - from_ends[f]) / (to - from);
            (to_ends[t] + slope * (size as f64 - to)).max(low).min(high)
        })
    };
    let before = at.checked_sub(2).map(|i| lines(sorted[i], a));
    let behind = sorted.get(at + 1).map(|p| lines(p, b));
    before.into_iter().chain(behind).flatten().filter(|t| t.is_finite())
}

/// What a time between two sizes far apart may be where no size behind tells how the curve comes to the second: neither the time nor the
/// throughput goes beyond those of both. The line from the size before, which [`bends`] draws on, is the curve up to its bend, so that bytes that
/// cost more from anywhere between on are held by both together. Where the curve takes a step, it reaches the second size by as much a byte as
/// before: that line is held, too.
fn between_two(sorted: &[&CurvePoint], at: usize, size: u64) -> Option<Estimate> {
    let (a, b) = (sorted[at - 1], sorted[at]);
    let far = b.size as f64 > FAR * a.size.max(1) as f64;
    let (x, y) = (a.estimate(), b.estimate());
    let scaled = |time: f64, of: &CurvePoint| time / of.size.max(1) as f64 * size as f64;
    (far && sorted.get(at + 1).is_none()).then(|| {
        let (least, most) = (x.low.min(y.low), x.high.max(y.high));
        let low = least.max(scaled(x.low, a).min(scaled(y.low, b)));
        let high = most.min(scaled(x.high, a).max(scaled(y.high, b)));
        let step = at.checked_sub(2).map(|i| {
            let (before, back) = (sorted[i].estimate(), (b.size - size) as f64);
            let along = (a.size - sorted[i].size).max(1) as f64;
            let slope = |from: f64, to: f64| ((to - from) / along).max(0.0);
            [y.low - slope(before.low, x.high) * back, y.high - slope(before.high, x.low) * back]
        });
        let step = step
            .filter(|ends| ends.iter().all(|t| t.is_finite()))
            .map_or([low, high], |ends| ends.map(|t| t.max(least).min(most)));
        Estimate { value: low, low: low.min(step[0]), high: high.max(step[1]) }
    })
}

/// How many times as large as the one below a size must be to lie far from it.
const FAR: f64 = 2.0;

/// For a time without an interval: the one that the nearest sizes on either side that have an interval allow, and these sizes. Between two
/// sizes neither the time nor the throughput goes beyond those of both. Where the time itself lies outside, the interval is widened to hold
/// it.
fn bounded(sorted: &[&CurvePoint], size: u64, seconds: Estimate) -> (Estimate, Option<(u64, u64)>) {
    let told = |p: &&&CurvePoint| p.size > 0 && p.estimate().high.is_finite();
    let below = sorted.iter().rev().filter(|p| p.size < size).find(told);
    let above = sorted.iter().filter(|p| p.size > size).find(told);
    let (Some(below), Some(above), false) = (below, above, seconds.high.is_finite()) else { return (seconds, None) };
    let (b, a) = (below.estimate(), above.estimate());
    let scaled = |time: f64, of: &CurvePoint| time / of.size as f64 * size as f64;
    let low = b.low.min(a.low).max(scaled(b.low, below).min(scaled(a.low, above)));
    let high = b.high.max(a.high).min(scaled(b.high, below).max(scaled(a.high, above)));
    (Estimate::new(seconds.value, low, high), Some((below.size, above.size)))
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
    fn a_bend_between_two_sizes_is_in_the_interval() {
        // A byte costs four times as much beyond 100,000 B; forty sizes leave gaps of a third.
        let time = |s: f64| 1e-5 + s * 5e-11 + 1.5e-10 * (s - 1e5).max(0.0);
        let points: Vec<CurvePoint> = (0..40)
            .map(|i| {
                let size = 10f64.powf(0.15 * f64::from(i)).round() as u64;
                let t = time(size as f64);
                CurvePoint::of(size, t, (0..8).map(|b| (b, t)).collect())
            })
            .collect();
        for size in [50_000, 80_000, 90_000, 100_000, 110_000, 120_000, 300_000] {
            let found = arrival(&points, size, None).unwrap().seconds;
            let truth = time(size as f64);
            assert!(
                found.low <= truth * (1.0 + 1e-9) && truth <= found.high * (1.0 + 1e-9),
                "{size}: {truth} {found:?}"
            );
            assert!(found.high < 1.35 * found.low, "{size}: {found:?}");
        }
    }

    #[test]
    fn at_a_bend_the_error_of_the_lines_beside_it_counts() {
        use rand::{Rng, SeedableRng};
        // A byte costs four times as much beyond 256 KiB; forty sizes, each 1.4 times the one before.
        let time = |s: f64| 2e-5 + s * 5e-10 + 1.5e-9 * (s - 262_144.0).max(0.0);
        let mut held = 0;
        for seed in 0..100 {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let mut points = Vec::new();
            for i in 0..40 {
                let size = 1.4f64.powi(i + 10).round() as u64;
                let rounds: Vec<(u32, f64)> =
                    (0..30).map(|round| (round, time(size as f64) * (0.03 * normal()).exp())).collect();
                let middle = stats::median(&rounds.iter().map(|r| r.1).collect::<Vec<_>>());
                points.push(CurvePoint::of(size, middle, rounds));
            }
            for asked in [280_000, 300_000, 320_000] {
                let (found, truth) = (arrival(&points, asked, None).unwrap().seconds, time(f64::from(asked as u32)));
                held += u32::from(found.low <= truth && truth <= found.high);
            }
        }
        assert!(held >= 276, "{held} of 300");
    }

    #[test]
    fn between_sizes_that_lie_far_apart_the_error_of_the_lines_beside_them_counts() {
        use rand::{Rng, SeedableRng};
        let time = |size: f64| 1e-5 + 2e-10 * size;
        let mut held = 0;
        for seed in 0..100 {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let mut points = Vec::new();
            for size in [1u64, 1024, 1 << 20] {
                let rounds: Vec<(u32, f64)> =
                    (0..9).map(|round| (round, time(size as f64) * (0.03 * normal()).exp())).collect();
                let middle = stats::median(&rounds.iter().map(|r| r.1).collect::<Vec<_>>());
                points.push(CurvePoint::of(size, middle, rounds));
            }
            let found = arrival(&points, 30_000, None).unwrap().seconds;
            held += u32::from(found.low <= time(30_000.0) && time(30_000.0) <= found.high);
        }
        assert!(held >= 90, "{held} of 100");
    }

    /// Sizes by a factor from 1 B to 1 MiB in twelve rounds: noise of 3% that a round has at all of them, and of 3% that each has by itself.
    fn sparse(factor: u64, time: impl Fn(f64) -> f64, seed: u64) -> Vec<CurvePoint> {
        use rand::SeedableRng;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let levels: Vec<f64> = (0..12).map(|_| 0.03 * stats::normal(&mut rng)).collect();
        let mut sizes: Vec<u64> =
            std::iter::successors(Some(1 << 20), |s| Some(s / factor)).take_while(|s| *s > 0).collect();
        sizes.reverse();
        let point = |size: u64| {
            let times = levels.iter().map(|l| time(size as f64) * (l + 0.03 * stats::normal(&mut rng)).exp());
            let rounds: Vec<(u32, f64)> = (0..).zip(times).collect();
            CurvePoint::of(size, stats::median(&rounds.iter().map(|r| r.1).collect::<Vec<_>>()), rounds)
        };
        sizes.into_iter().map(point).collect()
    }

    /// What the largest two of few sizes may hide: a curve, and its name.
    type Sparse = (&'static str, fn(f64) -> f64);

    const SPARSE: [Sparse; 5] = [
        ("a line", |s| 1e-5 + 2e-10 * s),
        ("bytes eight times as dear", |s| 1e-5 + 5e-11 * s + 3.5e-10 * (s - 1e5).max(0.0)),
        ("bytes four times as dear", |s| 1e-5 + 5e-11 * s + 1.5e-10 * (s - 1e5).max(0.0)),
        ("10 us more from 9,000 B on", |s| 1e-5 + 2e-10 * s + if s > 9000.0 { 1e-5 } else { 0.0 }),
        ("rendezvous", |s| if s <= 8192.0 { 1e-5 + 3e-10 * s } else { 1.8e-5 + 1e-10 * s }),
    ];

    #[test]
    fn between_the_last_of_few_sizes_a_bend_and_a_step_are_in_the_interval() {
        for (name, time) in SPARSE {
            for factor in [4u64, 8, 16] {
                let (mut held, mut all, mut wide) = (0, 0, Vec::new());
                for seed in 0..40 {
                    let points = sparse(factor, time, seed);
                    for share in [0.3, 0.7] {
                        let asked = ((1 << 20) as f64 * (factor as f64).powf(share - 1.0)) as u64;
                        let (found, truth) = (arrival(&points, asked, None).unwrap().seconds, time(asked as f64));
                        held += u32::from((found.low..=found.high).contains(&truth));
                        all += 1;
                        wide.push(found.high / found.low);
                    }
                }
                println!("{name}, {factor}: {held} of {all}, {:.2}", stats::median(&wide));
                assert!(held * 100 >= 93 * all, "{name}, {factor}: {held} of {all}");
            }
        }
    }

    #[test]
    fn beyond_few_sizes_that_a_step_puts_off_the_line_the_last_two_count() {
        let (_, time) = SPARSE[3];
        for farther in [3, 10, 100] {
            let (mut held, mut told, mut wide) = (0, 0, Vec::new());
            for seed in 0..60 {
                let points = sparse(16, time, seed);
                let fits = Fits::of(&points, 1).unwrap();
                let asked = farther << 20;
                let Ok(found) = arrival(&points, asked, Some(&fits)) else { continue };
                let e = found.seconds;
                told += 1;
                held += u32::from((e.low..=e.high).contains(&time(asked as f64)));
                wide.push(e.high / e.low);
            }
            println!("x{farther}: {held} of {told}, {:.2}", stats::median(&wide));
            assert!(told >= 30 && held * 100 >= 93 * told, "x{farther}: {held} of {told}");
        }
    }

    #[test]
    fn two_sizes_far_apart_tell_little_of_one_between_them() {
        // 64 B "takes 956 ns [907, 1,388]" by 150 ns at 1 B and 72 us at 1 MiB, where it takes 154 ns.
        let time = |size: f64| 150e-9 + 6.9e-11 * size;
        let point =
            |size: u64| CurvePoint::of(size, time(size as f64), (0..8).map(|b| (b, time(size as f64))).collect());
        let curve = [point(1), point(1 << 20)];
        for size in [64, 1024, 1 << 16] {
            let found = arrival(&curve, size, None).unwrap().seconds;
            let truth = time(size as f64);
            assert!(found.low <= truth && truth <= found.high, "{size}: {truth} {found:?}");
        }
    }

    #[test]
    fn beyond_what_was_measured_only_a_line_that_fits_answers() {
        let curve = curve();
        let refused = arrival(&curve, 1 << 30, None).unwrap_err().to_string();
        assert!(refused.contains("1 GiB") && refused.contains("1,000,000 B"), "{refused}");
        let fits = Fits::of(&curve, 1).unwrap();
        let far = arrival(&curve, 10_000_000, Some(&fits)).unwrap();
        assert!(
            far.outside == Some(Outside::Line) && (far.seconds.value / (1e-5 + 1e-2) - 1.0).abs() < 1e-3,
            "{far:?}"
        );
    }

    /// 10 us + 0.58 ns a byte at 154 sizes up to 8 MiB, with noise of a few percent; from 2 MB on `slower` times as long, by turns
    /// one and a half times that.
    fn slower_at_the_end(slower: f64) -> Vec<CurvePoint> {
        (0..154u32)
            .map(|i| {
                let size = 10f64.powf(0.0453 * f64::from(i)) as u64;
                let more = match size {
                    ..2_000_000 => 1.0,
                    _ if i % 2 == 0 => slower,
                    _ => 1.5 * slower,
                };
                let noise = |b: u32| 1.0 + 0.04 * (f64::from((i * 37 + b * 61) % 101) / 50.0 - 1.0);
                let t = (1e-5 + size as f64 * 0.58e-9) * more;
                CurvePoint::of(size, t * noise(4), (0..8).map(|b| (b, t * noise(b))).collect())
            })
            .collect()
    }

    #[test]
    fn a_line_that_the_largest_sizes_refute_is_not_drawn_on() {
        let asked = 20e6;
        for slower in [1.6, 2.0, 3.0] {
            let curve = slower_at_the_end(slower);
            let mut fits = Fits::of(&curve, 1).unwrap();
            // Where noise hides the pattern of the residuals, only the last sizes tell.
            fits.latency.all.as_mut().unwrap().misfit.systematic = false;
            let far = arrival(&curve, asked as u64, Some(&fits)).unwrap();
            for true_cost in [slower, 1.2 * slower, 1.5 * slower] {
                let truth = asked * 0.58e-9 * true_cost;
                assert!((far.seconds.low..=far.seconds.high).contains(&truth), "{slower} {true_cost}: {far:?}");
            }
            assert_eq!(far.outside, Some(Outside::LastSizes), "{far:?}");
            assert!(far.rests_on[0] > 800_000, "{far:?}");
            assert!(far.seconds.high < 10.0 * far.seconds.low, "it still tells something: {far:?}");
        }
        let curve = slower_at_the_end(3.0);
        // An exact line, and one without an interval.
        let exact = slower_at_the_end(1.0);
        let two = exact.iter().map(|p| CurvePoint { rounds: p.rounds[..2].to_vec(), ..p.clone() }).collect::<Vec<_>>();
        for curve in [exact, two] {
            let fits = Fits::of(&curve, 1);
            assert!(arrival(&curve, 20_000_000, fits.as_ref()).is_ok());
            let absurd = arrival(&curve, 100_000_000_000_000, fits.as_ref());
            assert!(matches!(absurd, Err(Unanswered::TooFar { .. })), "{absurd:?}");
        }
        let refused = arrival(&curve, 100_000_000_000, Fits::of(&curve, 1).as_ref()).unwrap_err().to_string();
        assert!(refused.contains("more than a factor of ten") && refused.contains("nearer to it (--to)"), "{refused}");
    }

    #[test]
    fn a_line_that_the_largest_sizes_follow_is_widened_by_how_far_they_lie_from_it() {
        let curve = slower_at_the_end(1.0)
            .into_iter()
            .map(|mut p| {
                p.rounds.iter_mut().for_each(|b| b.1 = 1e-5 + p.size as f64 * 0.58e-9);
                p
            })
            .filter(|p| p.size < 2_000_000)
            .collect::<Vec<_>>();
        let fits = Fits::of(&curve, 1).unwrap();
        let far = arrival(&curve, 100_000_000, Some(&fits)).unwrap();
        assert_eq!(far.outside, Some(Outside::Line), "{far:?}");
        let wide = far.seconds.high / far.seconds.low;
        assert!((1.05..1.4).contains(&wide), "{far:?}");
        assert!((far.seconds.low..=far.seconds.high).contains(&0.058), "{far:?}");
    }

    #[test]
    fn too_few_large_sizes_to_tell_what_a_byte_costs_answer_nothing_beyond_them() {
        let mut curve = curve();
        curve[3].seconds *= 5.0;
        curve[3].rounds.iter_mut().for_each(|b| b.1 *= 5.0);
        let mut fits = Fits::of(&curve, 1).unwrap();
        fits.latency.all.as_mut().unwrap().per_byte.value = 1e-9;
        let refused = arrival(&curve, 10_000_000, Some(&fits));
        assert!(matches!(refused, Err(Unanswered::Outside { .. })), "{refused:?}");
    }

    #[test]
    fn a_size_of_few_rounds_is_bounded_by_those_on_either_side() {
        // 10 us + 1 ns a byte, exactly; the second and the third size were visited once.
        let curve: Vec<CurvePoint> = [1000u64, 10_000, 1_000_000, 4_000_000]
            .iter()
            .enumerate()
            .map(|(i, size)| {
                let t = 1e-5 + *size as f64 * 1e-9;
                CurvePoint::of(*size, t, (0..if i % 3 == 0 { 8 } else { 1 }).map(|b| (b, t)).collect())
            })
            .collect();
        for size in [10_000u64, 50_000, 1_000_000, 2_000_000] {
            let (found, truth) = (arrival(&curve, size, None).unwrap(), 1e-5 + size as f64 * 1e-9);
            assert_eq!(found.bounded, Some((1000, 4_000_000)));
            assert!(found.seconds.low <= truth && truth <= found.seconds.high, "{size}: {found:?}");
            // Neither more than the time of the larger size, nor faster than its throughput.
            assert!(found.seconds.high <= 4.01e-3 && found.seconds.low >= size as f64 * 1e-9, "{size}: {found:?}");
        }
        assert_eq!(arrival(&curve, 1000, None).unwrap().bounded, None);
        // Nothing bounds it where no size beyond has an interval, and a time beyond both sides is held.
        assert_eq!(arrival(&curve[..3], 10_000, None).unwrap().seconds.high, f64::INFINITY);
        let mut odd = curve;
        odd[1].seconds = 1.0;
        assert_eq!(arrival(&odd, 10_000, None).unwrap().seconds.high, 1.0);
    }

    #[test]
    fn nothing_answers_nothing() {
        assert_eq!(arrival(&[], 1, None), Err(Unanswered::Nothing));
    }
}
