//! Latency lines: what a message costs to start, and what each byte adds (`seeds/000`, table 1).

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use super::start::{STARTS, starts, widened};
use super::{Misfit, Piece, REFITS, line, noise, pieces};
use crate::curve::{Curve, Point};
use crate::resampled::{Scale, estimates_of};
use crate::shape::is_small;
use crate::{CurvePoint, Estimate};

/// A straight line of time over size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyLine {
    /// Start-up cost that the line says a message of no bytes has, seconds of the curve's time kind. Where the line is refuted, its
    /// interval holds what the smallest sizes say of a message of no bytes, too.
    pub t0: Estimate,
    /// Seconds that each byte adds.
    pub per_byte: Estimate,
    /// Smallest and largest size it was fitted to, bytes.
    pub sizes: (u64, u64),
    /// How well it fits.
    pub misfit: Misfit,
}

/// The lines of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyLines {
    /// What the smallest message really takes, seconds: the actual start-up cost beside the lines' `t0`.
    pub startup: f64,
    /// The smallest message, bytes.
    pub startup_size: u64,
    /// Over all sizes; none with fewer than three.
    pub all: Option<LatencyLine>,
    /// Over sizes below 1 KiB; none with fewer than three.
    pub small: Option<LatencyLine>,
    /// Lines of stretches of sizes, where one line over all of them lies; empty where it does not.
    pub pieces: Vec<Piece>,
}

impl LatencyLine {
    /// The line over all sizes of a curve, as [`super::Fits::of`] finds it; none with fewer than three sizes.
    pub fn of(points: &[CurvePoint], seed: u64) -> Option<Self> {
        derived_line(points, seed, 0, |_, _, _| Vec::new()).map(|found| found.0)
    }
}

impl LatencyLines {
    pub(super) fn of(curve: &Curve, seed: u64, rng: &mut ChaCha8Rng, warnings: &mut Vec<String>) -> Self {
        let noise = noise(curve);
        let all = over(curve, |_| true, noise, rng);
        let small = small_line(curve, seed);
        let mut found = Vec::new();
        match &all {
            None => warnings.push("a line needs at least three sizes".to_owned()),
            Some(line) => {
                if line.misfit.systematic {
                    found = pieces::pieces(curve, noise, seed);
                    warnings.push(format!(
                        "one line over all sizes misses the measured times by {} (root mean square), and by {} at {}{}",
                        Share(line.misfit.typical),
                        Share(line.misfit.worst),
                        Bytes(line.misfit.worst_size),
                        if found.len() > 1 { "; the pieces below follow the path" } else { "" },
                    ));
                }
                if line.per_byte.high <= 0.0 {
                    warnings.push(
                        "larger messages take less time here: a line in size says nothing of this path".to_owned(),
                    );
                }
            }
        }
        if let Some(line) = small.as_ref().filter(|l| l.misfit.systematic) {
            warnings.push(format!(
                "the line over sizes below 1 KiB misses the measured times by {} (root mean square)",
                Share(line.misfit.typical)
            ));
        }
        Self {
            startup: curve.points.first().map_or(0.0, |p| p.seconds),
            startup_size: curve.points.first().map_or(0, |p| p.size),
            all,
            small,
            pieces: found,
        }
    }
}

/// The line over sizes below 1 KiB, whose slope is the time per byte of the summary, too. It draws from a generator of its own (ChaCha8
/// from `seed`), so that every caller gets the same figures.
pub(crate) fn small_line(curve: &Curve, seed: u64) -> Option<LatencyLine> {
    over(curve, |p| is_small(p.size), noise(curve), &mut ChaCha8Rng::seed_from_u64(seed))
}

fn over(curve: &Curve, which: impl Fn(&Point) -> bool, noise: f64, rng: &mut ChaCha8Rng) -> Option<LatencyLine> {
    derived(curve, which, noise, rng, 0, |_, _, _| Vec::new()).map(|found| found.0)
}

/// The line over all sizes of a curve, and `many` figures that `derive` makes of its start-up cost (seconds), its slope (seconds a byte)
/// and the medians behind both (bytes, seconds; ascending), each with the interval that their noise gives it. With the seed of
/// [`super::Fits::of`] the line's intervals are the same.
pub(crate) fn derived_line(
    points: &[CurvePoint],
    seed: u64,
    many: usize,
    derive: impl Fn(f64, f64, &[(f64, f64)]) -> Vec<f64>,
) -> Option<(LatencyLine, Vec<Estimate>)> {
    let curve = Curve::of(points);
    derived(&curve, |_| true, noise(&curve), &mut ChaCha8Rng::seed_from_u64(seed), many, derive)
}

fn derived(
    curve: &Curve,
    which: impl Fn(&Point) -> bool,
    noise: f64,
    rng: &mut ChaCha8Rng,
    many: usize,
    derive: impl Fn(f64, f64, &[(f64, f64)]) -> Vec<f64>,
) -> Option<(LatencyLine, Vec<Estimate>)> {
    let chosen: Vec<usize> = (0..curve.points.len()).filter(|i| which(&curve.points[*i])).collect();
    let mut sizes: Vec<u64> = chosen.iter().map(|i| curve.points[*i].size).collect();
    sizes.dedup();
    if sizes.len() < 3 {
        return None;
    }
    let fit = |seconds: &[f64]| {
        let points: Vec<(f64, f64)> = chosen.iter().map(|i| (curve.points[*i].size as f64, seconds[*i])).collect();
        let line = line::line(&points)?;
        let starts = starts(line.t0, &points).unwrap_or([f64::NAN; STARTS]);
        Some([&[line.t0, line.per_byte], &starts[..], &derive(line.t0, line.per_byte, &points)].concat())
    };
    let mut figures = estimates_of(curve, &vec![Scale::Plain; 2 + STARTS + many], REFITS, rng, fit)?;
    let rest = figures.split_off(2 + STARTS);
    let (t0, per_byte, starts) = (figures[0], figures[1], [figures[2], figures[3], figures[4]]);
    let fitted = line::Fitted { t0: t0.value, per_byte: per_byte.value };
    let residuals: Vec<(u64, f64)> = chosen
        .iter()
        .map(|i| &curve.points[*i])
        .map(|p| (p.size, (p.seconds / fitted.at(p.size as f64).max(p.seconds / 100.0)).ln()))
        .collect();
    let (sizes, misfit) = ((*sizes.first()?, *sizes.last()?), Misfit::of(&residuals, noise));
    let t0 = widened(t0, starts);
    Some((LatencyLine { t0, per_byte, sizes, misfit }, rest))
}
