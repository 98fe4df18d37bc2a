//! Ratios of two sides at each size, their errors, and their significance.

use stats::{Shared, StandardError, holm, mean, median, median_log_error, student_p, student_t, variance};

use super::align::{Sizes, Value, align, total};
use super::between::{BetweenRuns, pooled};
use super::machine::{Disturbed, Explained, Shift, shifts};
use super::{Compared, Side};
use crate::{CurvePoint, Estimate};

/// Significance of a family of sizes.
const LEVEL: f64 = 0.05;

/// A run made ready: for each size the logarithm of its median and the error of that, and the spread of its block levels.
struct Ready {
    sizes: Sizes,
    shared: Shared,
    /// Logarithm of the highest throughput, and the error of the median it comes from.
    top: Option<(f64, StandardError)>,
}

impl Ready {
    fn of(points: &[CurvePoint]) -> Self {
        let usable = |p: &&CurvePoint| p.seconds > 0.0 && p.seconds.is_finite();
        let blocks = |p: &CurvePoint| -> Vec<(u32, f64)> {
            p.blocks.iter().copied().filter(|(_, t)| *t > 0.0 && t.is_finite()).collect()
        };
        let shared = Shared::of(&points.iter().filter(usable).map(blocks).collect::<Vec<_>>());
        let error = |p: &CurvePoint| {
            let times: Vec<f64> = blocks(p).into_iter().map(|(_, t)| t).collect();
            let unknown = StandardError { value: f64::INFINITY, degrees: 1.0 };
            median_log_error(&times, shared.sigma).unwrap_or(unknown)
        };
        let sizes = points.iter().filter(usable).map(|p| (p.size, (p.seconds.ln(), error(p)))).collect();
        let fast = points.iter().filter(usable).filter(|p| p.throughput > 0.0 && p.throughput.is_finite());
        let top = fast.max_by(|a, b| a.throughput.total_cmp(&b.throughput)).map(|p| (p.throughput.ln(), error(p)));
        Self { sizes, shared, top }
    }
}

/// What [`super::Comparison`] is made of.
pub(super) struct Ratios {
    pub sizes: Vec<Compared>,
    pub left_out: usize,
    pub machine: Vec<Shift>,
    pub disturbed: Option<Disturbed>,
    pub between: Option<BetweenRuns>,
    pub whole: Estimate,
    pub throughput: Option<Estimate>,
}

/// Compares two sides size by size. Where it is not `known` how far curves lie apart by chance, everything is possible.
pub(super) fn ratios(first: Side<'_>, second: Side<'_>, known: bool) -> Option<Ratios> {
    let ready = |side: Side<'_>| -> Vec<Ready> { side.runs.iter().map(|r| Ready::of(r)).collect() };
    let (a, b) = (ready(first), ready(second));
    let all = || a.iter().chain(&b);
    let (common, values) = align(&all().map(|r| &r.sizes).collect::<Vec<_>>());
    if common.is_empty() || a.is_empty() || b.is_empty() {
        return None;
    }
    let sides = values.split_at(a.len());
    let mut seen: Vec<u64> = all().flat_map(|r| r.sizes.keys().copied()).collect();
    seen.sort_unstable();
    seen.dedup();

    let machine = shifts(first.circumstances, second.circumstances);
    let disturbed = Disturbed::of(first.circumstances, second.circumstances);
    let explained = Explained::by(&machine);
    let repeats = pooled([sides.0, sides.1].into_iter().filter_map(repeats));
    // Repeats are among the earlier runs of the later ones: what rests on more runs counts, and none counts twice.
    let carried = BetweenRuns::carried(first, second).filter(|c| repeats.is_none_or(|r| r.degrees <= c.degrees));
    let between = carried.or(repeats);
    let apart = match known {
        true => apart(&a, &b, carried, repeats),
        false => StandardError { value: f64::INFINITY, degrees: 1.0 },
    };
    let at = |side: &[Vec<Value>], i: usize| mean(&side.iter().map(|r| r[i].ln).collect::<Vec<_>>());
    let guessed = |side: &[Vec<Value>], i: usize| side.iter().any(|r| r[i].interpolated);
    let differences: Vec<f64> = (0..common.len()).map(|i| at(sides.1, i) - at(sides.0, i)).collect();
    let tests: Vec<StandardError> = (0..common.len())
        .map(|i| {
            let own = [sides.0, sides.1].map(|side| side.iter().map(|r| r[i].error).collect::<Vec<_>>());
            together(apart, &own)
        })
        .collect();
    let plain: Vec<f64> = (differences.iter().zip(&tests))
        .map(|(d, test)| match test.value {
            e if e > 0.0 => student_p(explained.beyond(*d) / e, test.degrees),
            // Without any noise, equal is equal and everything else differs.
            _ if explained.beyond(*d) == 0.0 => 1.0,
            _ => 0.0,
        })
        .collect();
    let noise = mean(&all().map(|r| r.shared.sigma).collect::<Vec<_>>());
    let compared = (common.iter().zip(&differences).enumerate()).zip(tests.iter().zip(holm(&plain))).map(
        |((i, (size, d)), (test, probability))| Compared {
            size: *size,
            first: at(sides.0, i).exp(),
            second: at(sides.1, i).exp(),
            ratio: estimate(*d, *test, explained),
            effect: if noise > 0.0 { explained.beyond(*d) / noise } else { 0.0 },
            probability,
            significant: probability < LEVEL,
            first_interpolated: guessed(sides.0, i),
            second_interpolated: guessed(sides.1, i),
        },
    );
    let tops = [&a, &b].map(|side| side.iter().filter_map(|r| r.top).collect::<Vec<_>>());
    let level = |tops: &[(f64, StandardError)]| mean(&tops.iter().map(|t| t.0).collect::<Vec<_>>());
    let throughput = (tops.iter().all(|t| !t.is_empty())).then(|| {
        let own = [0, 1].map(|i: usize| tops[i].iter().map(|t| t.1).collect::<Vec<_>>());
        // Throughput falls where time rises.
        let explained = Explained { low: -explained.high, high: -explained.low };
        estimate(level(&tops[1]) - level(&tops[0]), together(apart, &own), explained)
    });
    Some(Ratios {
        sizes: compared.collect(),
        left_out: seen.len() - common.len(),
        machine,
        disturbed,
        between,
        whole: estimate(median(&differences), apart, explained),
        throughput,
    })
}

/// A ratio from its logarithm, the error of that, and what of it the machine may have added.
fn estimate(ln_ratio: f64, error: StandardError, explained: Explained) -> Estimate {
    let reach = if error.value > 0.0 { student_t(0.95, error.degrees) * error.value } else { 0.0 };
    Estimate::new(ln_ratio.exp(), (ln_ratio - explained.high - reach).exp(), (ln_ratio - explained.low + reach).exp())
}

/// The error of a difference of two sides' means: of the curves as wholes, and of the runs' own medians.
fn together(apart: StandardError, own: &[Vec<StandardError>; 2]) -> StandardError {
    let mut parts = vec![(apart.value.powi(2), apart.degrees)];
    for side in own {
        parts.extend(side.iter().map(|e| ((e.value / side.len() as f64).powi(2), e.degrees)));
    }
    total(&parts)
}

/// How far the curves of two sides as wholes lie apart by chance: the standard error of their shift. One run knows something
/// of it from the levels of its blocks, which time does not average away (machines drift on every scale of time); whole runs,
/// `carried` or repeated here, know it themselves. The larger counts.
fn apart(a: &[Ready], b: &[Ready], carried: Option<BetweenRuns>, repeats: Option<BetweenRuns>) -> StandardError {
    let levels = pooled(
        a.iter()
            .chain(b)
            .filter(|r| r.shared.levels > 1)
            .map(|r| StandardError { value: r.shared.between, degrees: f64::from(r.shared.levels - 1) }),
    );
    let unknown = BetweenRuns { spread: 0.0, degrees: 0.0 };
    let (l, r) = (levels.unwrap_or(unknown), repeats.unwrap_or(unknown));
    let one = match carried {
        // Few runs that happen to agree know no better than their number allows.
        Some(c) => BetweenRuns { spread: c.spread.max(l.spread), ..c },
        None if r.spread > l.spread => r,
        None => BetweenRuns { spread: l.spread, degrees: l.degrees + r.degrees },
    };
    let runs = 1.0 / a.len() as f64 + 1.0 / b.len() as f64;
    StandardError { value: one.spread * runs.sqrt(), degrees: one.degrees.max(1.0) }
}

/// How far repeats of one side lie apart as wholes; none of a single run.
fn repeats(side: &[Vec<Value>]) -> Option<StandardError> {
    if side.len() < 2 {
        return None;
    }
    // Once for all runs: with a hundred of them, a mean for each would be ten thousand.
    let middles: Vec<f64> =
        (0..side[0].len()).map(|i| mean(&side.iter().map(|r| r[i].ln).collect::<Vec<_>>())).collect();
    let level = |r: &Vec<Value>| -> f64 {
        median(&r.iter().zip(&middles).map(|(v, middle)| v.ln - middle).collect::<Vec<_>>())
    };
    let levels: Vec<f64> = side.iter().map(level).collect();
    Some(StandardError { value: variance(&levels).sqrt(), degrees: (side.len() - 1) as f64 })
}
