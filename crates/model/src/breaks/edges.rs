//! Edges: sizes between which time jumps.

use stats::{holm, student_p};

use super::SHALLOWEST;
use super::growth::{Surprise, surprise};
use super::jump::Jump;
use super::luck::believed;
use super::rough::Rough;

/// A jump is looked for over at most this stretch, as a logarithm of size (a twentieth of a decade), and so many gaps:
/// an edge that a coarse or unlucky schedule met half-way.
pub(super) const STRETCH: f64 = 0.115;
const SPAN: usize = 4;

/// A rise that takes a few sizes is looked for over so many gaps, two at least, and over this stretch: a seventh of a decade.
const RISE: usize = 3;
const RISE_STRETCH: f64 = 0.33;

/// A rise over more gaps counts where it is `MORE` times as high as its steepest gap or a shorter rise within, and at most `OVER` times as
/// high when it is taken [`FARTHER`] gaps farther on either side: a step is over where it ends, and what goes on rising is a bend. Its ends
/// may err by the share `CLEAR` of its height for that.
const MORE: f64 = 1.25;
const OVER: f64 = 1.15;
const FARTHER: usize = 2;
const CLEAR: f64 = 0.1;

/// Chance of a single false edge on a whole curve.
const LEVEL: f64 = 0.003;

/// Most by which a knee changes the slope within a gap, on logarithmic axes.
const BEND: f64 = 0.2;

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
    let mut found = found(rough, &spans(rough));
    // The shortest span that holds a jump says best where it is; of equals, the highest.
    let gaps = |j: &Jump| j.between.1 - j.between.0;
    found.sort_by(|a, b| gaps(a).cmp(&gaps(b)).then(b.height.abs().total_cmp(&a.height.abs())));
    let mut kept: Vec<Jump> = Vec::new();
    for jump in found {
        if kept.iter().all(|k| k.between.1 <= jump.between.0 || jump.between.1 <= k.between.0) {
            kept.push(jump);
        }
    }
    for rise in rises(rough, &kept) {
        kept.retain(|k| k.between.1 <= rise.between.0 || rise.between.1 <= k.between.0);
        kept.push(rise);
    }
    kept.sort_by_key(|j| j.between);
    believed(rough, merged(rough, kept))
}

/// Those of the spans over which time jumps by more than chance explains, of all that are tested (Holm).
fn found(rough: &Rough, spans: &[(usize, usize)]) -> Vec<Jump> {
    let surprises: Vec<Option<Surprise>> = spans.iter().map(|span| surprise(&rough.places, *span)).collect();
    let chances: Vec<f64> = spans.iter().zip(&surprises).map(|(span, s)| chance(rough, *span, *s)).collect();
    (spans.iter().zip(holm(&chances)).zip(&surprises))
        .filter(|((_, chance), _)| *chance < LEVEL)
        .filter_map(|((span, _), s)| (s.as_ref()?.height.abs() > least(rough, *span)).then_some(*span))
        .map(|span| Jump { between: span, height: rough.excess(span.0, span.1) })
        .collect()
}

/// Jumps that a few neighbouring sizes take, where no jump among `edges` within makes up most of it: the highest first, without overlap.
fn rises(rough: &Rough, edges: &[Jump]) -> Vec<Jump> {
    let last = rough.places.len() - 1;
    let near = |(from, to): &(usize, usize)| rough.places[*to].x - rough.places[*from].x <= RISE_STRETCH;
    let spans: Vec<(usize, usize)> =
        (2..=RISE).flat_map(|gaps| (0..=last.saturating_sub(gaps)).map(move |i| (i, i + gaps))).filter(near).collect();
    let apart = |a: &Jump, b: &Jump| a.between.1 <= b.between.0 || b.between.1 <= a.between.0;
    let is_step = |jump: &Jump| {
        let (from, to) = jump.between;
        let farther = rough.excess(from.saturating_sub(FARTHER), (to + FARTHER).min(last));
        let error = rough.places[from].error.value.hypot(rough.places[to].error.value);
        let mut within = edges.iter().filter(|e| !apart(e, jump));
        error <= CLEAR * jump.height.abs()
            && (1.0 / OVER..=OVER).contains(&(farther / jump.height))
            && within.all(|e| jump.height / e.height > MORE)
    };
    let mut all: Vec<Jump> = found(rough, &spans).into_iter().filter(is_step).collect();
    // A rise over fewer gaps counts as much higher, so that a gap that adds little to it is left out.
    let rank = |j: &Jump| j.height.abs() * MORE.powi((RISE - (j.between.1 - j.between.0)) as i32);
    all.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let mut kept: Vec<Jump> = Vec::new();
    for jump in all {
        if kept.iter().all(|k| apart(k, &jump)) {
            kept.push(jump);
        }
    }
    kept
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

/// Whether a jump over a span is found where so many spans are tested.
pub(super) fn is_found(rough: &Rough, span: (usize, usize), many: usize) -> bool {
    let s = surprise(&rough.places, span);
    s.is_some_and(|s| s.height.abs() > least(rough, span)) && chance(rough, span, s) * (many as f64) < LEVEL
}
