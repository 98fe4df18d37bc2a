//! From edges to dips and steps.

use stats::{CONFIDENCE, StandardError};

use super::edges::{STRETCH, least};
use super::growth::surprise_at;
use super::jump::{Jump, sides};
use super::rough::Rough;
use super::shared;
use super::{Break, Dip, Edge, Step};
use crate::Estimate;

/// A dip is no wider than this, as a logarithm of size (a decade): two edges farther apart are two steps.
const WIDEST: f64 = 2.303;

/// Assumed error of the slope about a gap.
const SLOPE_ERROR: f64 = 0.05;

/// A dip comes back to within this share of its depth.
const BACK: f64 = 0.4;

/// Pairs each edge down in time with the last one up before it, where the curve comes back to where it was; what is left are
/// steps.
pub(super) fn pair(rough: &Rough, jumps: &[Jump]) -> (Vec<Dip>, Vec<Step>) {
    let heights: Vec<(f64, StandardError)> = (0..jumps.len()).map(|i| height(rough, jumps, i)).collect();
    let (mut dips, mut open, mut alone) = (Vec::new(), Vec::<usize>::new(), Vec::new());
    for (i, jump) in jumps.iter().enumerate() {
        if jump.height > 0.0 {
            open.push(i);
            continue;
        }
        let Some(&up) = open.last() else {
            alone.push(i);
            continue;
        };
        let (rise, fall) = (heights[up].0, -heights[i].0);
        let wide = rough.places[jump.between.0].x - rough.places[jumps[up].between.1].x;
        if wide > WIDEST || (rise - fall).abs() > BACK * rise.max(fall) {
            alone.push(i);
            continue;
        }
        open.pop();
        if shared::fills(rough, &jumps[up], jump) {
            continue;
        }
        dips.push(Dip { from: jumps[up].edge(rough), to: jump.edge(rough), factor: depth(heights[up], heights[i]) });
    }
    alone.extend(open);
    alone.sort_unstable();
    let steps =
        alone.into_iter().filter(|i| stands(rough, jumps, *i) && !shared::explains(rough, &jumps[*i])).map(|i| Step {
            at: jumps[i].edge(rough),
            factor: estimate(heights[i].0, with_levels(rough, &jumps[i], heights[i].1)),
        });
    dips.sort_by_key(|d| d.from.above);
    (dips, steps.collect())
}

/// How many times as long messages take at the edges of a break of another curve, as far as this one tells, whether it has a break there or
/// not. None where it has no size beside an edge, or none within a dip.
pub(super) fn depth_at(rough: &Rough, of: &Break) -> Option<Estimate> {
    let jump = |edge: &Edge| {
        let before = rough.places.partition_point(|p| p.size <= edge.below).checked_sub(1)?;
        let after = rough.places.partition_point(|p| p.size < edge.above);
        let there = after > before && after < rough.places.len();
        there.then(|| Jump { between: (before, after), height: rough.excess(before, after) })
    };
    let jumps = of.edges().iter().map(jump).collect::<Option<Vec<Jump>>>()?;
    let heights: Vec<(f64, StandardError)> = (0..jumps.len()).map(|i| height(rough, &jumps, i)).collect();
    match (&jumps[..], &heights[..]) {
        ([up, down], [rise, fall]) if up.between.1 <= down.between.0 => Some(depth(*rise, *fall)),
        ([jump], [one]) => Some(estimate(one.0, with_levels(rough, jump, one.1))),
        _ => None,
    }
}

/// The mean of both edges' heights; where they differ by more than their errors, the interval holds both.
fn depth(up: (f64, StandardError), down: (f64, StandardError)) -> Estimate {
    let (a, b) = (up.0, -down.0);
    let value = up.1.value.hypot(down.1.value).max((a - b).abs() / 2.0) / 2.0;
    estimate((a + b) / 2.0, StandardError { value, degrees: up.1.degrees.min(down.1.degrees) })
}

fn estimate(ln: f64, error: StandardError) -> Estimate {
    let reach = error.reach(CONFIDENCE);
    Estimate::new(ln.exp(), (ln - reach).exp(), (ln + reach).exp())
}

/// An edge's height from a few places on either side, none beyond the next edge: it errs less than that from two places.
fn height(rough: &Rough, jumps: &[Jump], i: usize) -> (f64, StandardError) {
    let (before, after) = jumps[i].between;
    let (left, right) = sides(rough, jumps, i, STRETCH);
    let x = |p: usize| rough.places[p].x;
    // The mean over all pairs of a left and a right place, with the growth between them subtracted.
    let of_left: Vec<f64> = left.iter().map(|p| rough.excess(*p, before)).collect();
    let of_right: Vec<f64> = right.iter().map(|p| rough.excess(after, *p)).collect();
    let height = rough.excess(before, after) + stats::mean(&of_left) + stats::mean(&of_right);
    let degrees = rough.places[before].error.degrees.min(rough.places[after].error.degrees).max(1.0);
    let value = |side: &[usize]| {
        (side.iter().map(|p| rough.places[*p].error.value.powi(2)).sum::<f64>()).sqrt() / side.len() as f64
    };
    // The error of the growth between the sides' middles.
    let middle = |side: &[usize]| stats::mean(&side.iter().map(|p| x(*p)).collect::<Vec<_>>());
    let bent = SLOPE_ERROR * (middle(&right) - middle(&left));
    (height, StandardError { value: value(&left).hypot(value(&right)).hypot(bent), degrees })
}

/// The error of a step's height, with that of the levels that its sides have in this run.
fn with_levels(rough: &Rough, jump: &Jump, own: StandardError) -> StandardError {
    let Some(moves) = shared::moves(rough, jump.between) else { return own };
    let levels = moves.error;
    StandardError::of_sum(&[(own.value.powi(2), own.degrees), (levels.value.powi(2), levels.degrees)])
}

/// Places on each side of a step that must show it, beside those next to it.
const STANDS: usize = 4;

/// Standard errors that a step must come to between places that do not lie next to it.
const SURE: f64 = 3.0;

/// Whether time stays at its new level: a step shows between the places beyond those next to it, too. A jump that does not is one edge of a
/// dip whose other edge was not found.
fn stands(rough: &Rough, jumps: &[Jump], i: usize) -> bool {
    let (before, after) = jumps[i].between;
    let first = if i == 0 { 0 } else { jumps[i - 1].between.1 };
    let last = jumps.get(i + 1).map_or(rough.places.len() - 1, |next| next.between.0);
    let left: Vec<usize> = (first.min(before)..before).rev().take(STANDS).collect();
    let right: Vec<usize> = (after + 1..=last.max(after)).take(STANDS).collect();
    if left.is_empty() || right.is_empty() {
        return false;
    }
    let mut all: Vec<f64> = Vec::new();
    let mut errors = Vec::new();
    for l in &left {
        for r in &right {
            // At the growth next to the jump: farther out another jump may follow, as on a staircase.
            let Some(s) = surprise_at(&rough.places, (*l, *r), jumps[i].between) else { return false };
            all.push(s.height * jumps[i].height.signum());
            errors.push(s.error);
        }
    }
    let (height, error) = (stats::median(&all), stats::median(&errors));
    height > SURE * error && height > least(rough, jumps[i].between)
}
