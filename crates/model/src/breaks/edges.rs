//! Edges: sizes between which time jumps.

use stats::{holm, student_p};

use super::luck::believed;
use super::pace::{Surprise, surprise};
use super::rough::Rough;
use super::{Edge, SHALLOWEST};

/// A jump is looked for over at most this stretch, as a logarithm of size (a twentieth of a decade), and so many gaps:
/// an edge that a coarse or unlucky schedule met half-way.
pub(super) const STRETCH: f64 = 0.115;
const SPAN: usize = 4;

/// Places on each side of an edge that tell of it.
const PLACES: usize = 6;

/// Chance of a single false edge on a whole curve.
const LEVEL: f64 = 0.003;

/// What a knee may bend the curve within a gap, as a slope.
const BEND: f64 = 0.2;

/// An edge and how far time jumps there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Jump {
    /// Index of the last place before, and of the first after.
    pub between: (usize, usize),
    /// Logarithm of the jump.
    pub height: f64,
}

impl Jump {
    pub fn edge(&self, rough: &Rough) -> Edge {
        Edge { below: rough.places[self.between.0].size, above: rough.places[self.between.1].size }
    }
}

/// The spans of a curve over which a jump is looked for.
pub(super) fn spans(rough: &Rough) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for from in 0..rough.places.len().saturating_sub(1) {
        for to in from + 1..rough.places.len().min(from + 1 + SPAN) {
            if to == from + 1 || rough.places[to].x - rough.places[from].x <= STRETCH {
                spans.push((from, to));
            }
        }
    }
    spans
}

/// The edges of a curve, ascending, whatever the others explain.
pub(super) fn edges(rough: &Rough) -> Vec<Jump> {
    if rough.places.len() < 5 {
        return Vec::new();
    }
    let spans = spans(rough);
    let surprises: Vec<Option<Surprise>> = spans.iter().map(|span| surprise(&rough.places, *span)).collect();
    let chances: Vec<f64> = spans.iter().zip(&surprises).map(|(span, s)| chance(rough, *span, *s)).collect();
    let mut found: Vec<Jump> = (spans.iter().zip(holm(&chances)).zip(&surprises))
        .filter(|((_, chance), _)| *chance < LEVEL)
        .filter_map(|((span, _), s)| (s.as_ref()?.height.abs() > least(rough, *span)).then_some(*span))
        .map(|span| Jump { between: span, height: rough.excess(span.0, span.1) })
        .collect();
    // The shortest span that holds a jump says best where it is; of equals, the highest.
    let gaps = |j: &Jump| j.between.1 - j.between.0;
    found.sort_by(|a, b| gaps(a).cmp(&gaps(b)).then(b.height.abs().total_cmp(&a.height.abs())));
    let mut kept: Vec<Jump> = Vec::new();
    for jump in found {
        if kept.iter().all(|k| k.between.1 <= jump.between.0 || jump.between.1 <= k.between.0) {
            kept.push(jump);
        }
    }
    kept.sort_by_key(|j| j.between);
    believed(rough, merged(rough, kept))
}

/// Places on each side of an edge, within this stretch, none beyond the next edge, nearest first.
pub(super) fn sides(rough: &Rough, jumps: &[Jump], i: usize, stretch: f64) -> (Vec<usize>, Vec<usize>) {
    let (before, after) = jumps[i].between;
    let first = if i == 0 { 0 } else { jumps[i - 1].between.1 };
    let last = jumps.get(i + 1).map_or(rough.places.len() - 1, |next| next.between.0);
    let x = |p: usize| rough.places[p].x;
    let left = (first.min(before)..=before).rev().take(PLACES).filter(|p| x(before) - x(*p) <= stretch);
    let right = (after..=last.max(after)).take(PLACES).filter(|p| x(*p) - x(after) <= stretch);
    (left.collect(), right.collect())
}

/// Neighbouring jumps in one direction within the stretch are one edge that takes a few sizes.
fn merged(rough: &Rough, jumps: Vec<Jump>) -> Vec<Jump> {
    let mut all: Vec<Jump> = Vec::new();
    for jump in jumps {
        let near = |last: &Jump| rough.places[jump.between.1].x - rough.places[last.between.0].x <= STRETCH;
        match all.last_mut() {
            Some(last) if last.height * jump.height > 0.0 && near(last) => {
                last.between.1 = jump.between.1;
                last.height = rough.excess(last.between.0, last.between.1);
            }
            _ => all.push(jump),
        }
    }
    all
}

/// What a jump over this span must come to: more than what decides nothing, and than a bend of the curve explains.
pub(super) fn least(rough: &Rough, (from, to): (usize, usize)) -> f64 {
    SHALLOWEST.ln_1p() + BEND * (rough.places[to].x - rough.places[from].x)
}

/// The chance of a jump as high on a smooth curve.
fn chance(rough: &Rough, (from, to): (usize, usize), surprise: Option<Surprise>) -> f64 {
    let degrees = rough.places[from].error.degrees.min(rough.places[to].error.degrees).max(1.0);
    match surprise {
        None => 1.0,
        Some(s) if s.error > 0.0 => student_p(s.height / s.error, degrees),
        Some(s) if s.height == 0.0 => 1.0,
        Some(_) => 0.0,
    }
}

/// Whether a jump over a span is found, if it is one of so many.
pub(super) fn is_found(rough: &Rough, span: (usize, usize), many: usize) -> bool {
    let s = surprise(&rough.places, span);
    s.is_some_and(|s| s.height.abs() > least(rough, span)) && chance(rough, span, s) * (many as f64) < LEVEL
}
