//! From edges to dips and steps.

use stats::{StandardError, student_t};

use super::edges::{Jump, error, sides};
use super::rough::Rough;
use super::{Dip, Step};
use crate::Estimate;

/// A dip is no wider than this, as a logarithm of size (a decade): two edges farther apart are two steps.
const WIDEST: f64 = 2.303;

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
        dips.push(Dip { from: jumps[up].edge(rough), to: jump.edge(rough), factor: depth(heights[up], heights[i]) });
    }
    alone.extend(open);
    alone.sort_unstable();
    let steps =
        alone.into_iter().map(|i| Step { at: jumps[i].edge(rough), factor: estimate(heights[i].0, heights[i].1) });
    dips.sort_by_key(|d| d.from.above);
    (dips, steps.collect())
}

/// The mean of both edges' heights; where they differ by more than their errors, the interval holds both.
fn depth(up: (f64, StandardError), down: (f64, StandardError)) -> Estimate {
    let (a, b) = (up.0, -down.0);
    let value = up.1.value.hypot(down.1.value).max((a - b).abs() / 2.0) / 2.0;
    estimate((a + b) / 2.0, StandardError { value, degrees: up.1.degrees.min(down.1.degrees) })
}

fn estimate(ln: f64, error: StandardError) -> Estimate {
    let reach = if error.value > 0.0 { student_t(0.95, error.degrees) * error.value } else { 0.0 };
    Estimate::new(ln.exp(), (ln - reach).exp(), (ln + reach).exp())
}

/// An edge's height from a few places on either side, none beyond the next edge: surer than that of two places.
fn height(rough: &Rough, jumps: &[Jump], i: usize) -> (f64, StandardError) {
    let (before, after) = jumps[i].between;
    let (left, right) = sides(rough, jumps, i);
    let x = |p: usize| rough.places[p].x;
    // Every pair of a left and a right place tells the height; growth in between is taken off each.
    let of_left: Vec<f64> = left.iter().map(|p| rough.excess(*p, before)).collect();
    let of_right: Vec<f64> = right.iter().map(|p| rough.excess(after, *p)).collect();
    let height = rough.excess(before, after) + stats::mean(&of_left) + stats::mean(&of_right);
    let one = error(rough, (before, after));
    let value = |side: &[usize]| {
        (side.iter().map(|p| rough.places[*p].error.value.powi(2)).sum::<f64>()).sqrt() / side.len() as f64
    };
    // What the slope's error makes of the distance between the sides' middles.
    let middle = |side: &[usize]| stats::mean(&side.iter().map(|p| x(*p)).collect::<Vec<_>>());
    let bent = super::edges::SLOPE_ERROR * (middle(&right) - middle(&left));
    (height, StandardError { value: value(&left).hypot(value(&right)).hypot(bent), degrees: one.degrees })
}
