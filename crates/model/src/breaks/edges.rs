//! Edges: sizes between which time jumps.

use stats::{StandardError, holm, student_p, student_t};

use super::rough::Rough;
use super::{Edge, SHALLOWEST};

/// A jump is looked for over at most this stretch, as a logarithm of size (a twentieth of a decade), and so many gaps:
/// an edge that a coarse or unlucky schedule met half-way.
const STRETCH: f64 = 0.115;
const SPAN: usize = 4;

/// Places on each side of an edge that its height is read from.
const PLACES: usize = 6;

/// Chance that a jump anywhere on the curve is made of wild blocks alone.
const LUCK: f64 = 0.01;

/// Chance of a single false edge on a whole curve.
const LEVEL: f64 = 0.003;

/// How well a slope is known about a gap: its error, beyond which a wide gap hides as much of a jump.
pub(super) const SLOPE_ERROR: f64 = 0.05;

/// What a knee may bend the curve within its own window, as a slope.
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

/// The edges of a curve, ascending.
pub(super) fn edges(rough: &Rough) -> Vec<Jump> {
    if rough.places.len() < 5 {
        return Vec::new();
    }
    let mut spans = Vec::new();
    for from in 0..rough.places.len() - 1 {
        for to in from + 1..rough.places.len().min(from + 1 + SPAN) {
            if to == from + 1 || rough.places[to].x - rough.places[from].x <= STRETCH {
                spans.push((from, to));
            }
        }
    }
    let chances: Vec<f64> = spans.iter().map(|span| chance(rough, *span)).collect();
    let mut found: Vec<Jump> = (spans.iter().zip(holm(&chances)))
        .filter(|(span, chance)| *chance < LEVEL && rough.surprise(span.0, span.1).abs() > least(rough, **span))
        .map(|(span, _)| Jump { between: *span, height: rough.excess(span.0, span.1) })
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

/// The jumps that no few wild blocks explain, whatever the noise looks like: on a path with two levels, all blocks that
/// visited one size may have met the slow one. Where all points have single blocks there is nothing to tell that by.
fn believed(rough: &Rough, mut jumps: Vec<Jump>) -> Vec<Jump> {
    let mut strays: Vec<f64> = rough.places.iter().flat_map(|p| strays(&p.blocks)).collect();
    strays.sort_unstable_by(f64::total_cmp);
    if strays.is_empty() {
        return jumps;
    }
    loop {
        let luck = (0..jumps.len()).map(|i| (i, luck(rough, &jumps, i, &strays)));
        match luck.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((i, chance)) if chance * rough.slopes.len() as f64 > LUCK => jumps.remove(i),
            _ => return jumps,
        };
    }
}

/// How far each block of a place strays from their median.
fn strays(blocks: &[f64]) -> Vec<f64> {
    if blocks.len() < 2 {
        return Vec::new();
    }
    let middle = stats::median(blocks);
    blocks.iter().map(|b| (b - middle).abs()).collect()
}

/// The chance that all blocks on the side of a jump that fewer visited are wild: the share of all blocks that stray by as
/// much as half of the jump, for each of them. `strays` ascend.
fn luck(rough: &Rough, jumps: &[Jump], i: usize, strays: &[f64]) -> f64 {
    let (left, right) = sides(rough, jumps, i);
    let blocks = |side: &[usize]| side.iter().map(|p| rough.places[*p].blocks.len()).sum::<usize>();
    let wild = strays.len() - strays.partition_point(|s| *s < 0.45 * jumps[i].height.abs());
    let share = (1.0 + wild as f64) / (1.0 + strays.len() as f64);
    share.powi(blocks(&left).min(blocks(&right)) as i32)
}

/// Places on each side of an edge from which its height is read, none beyond the next edge.
pub(super) fn sides(rough: &Rough, jumps: &[Jump], i: usize) -> (Vec<usize>, Vec<usize>) {
    let (before, after) = jumps[i].between;
    let first = if i == 0 { 0 } else { jumps[i - 1].between.1 };
    let last = jumps.get(i + 1).map_or(rough.places.len() - 1, |next| next.between.0);
    let x = |p: usize| rough.places[p].x;
    let left = (first.min(before)..=before).rev().take(PLACES).filter(|p| x(before) - x(*p) <= STRETCH);
    let right = (after..=last.max(after)).take(PLACES).filter(|p| x(*p) - x(after) <= STRETCH);
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
fn least(rough: &Rough, (from, to): (usize, usize)) -> f64 {
    SHALLOWEST.ln_1p() + BEND * (rough.places[to].x - rough.places[from].x)
}

/// The error of the jump over a span.
pub(super) fn error(rough: &Rough, (from, to): (usize, usize)) -> StandardError {
    let (a, b) = (&rough.places[from], &rough.places[to]);
    let value = a.error.value.hypot(b.error.value).hypot(SLOPE_ERROR * (b.x - a.x));
    StandardError { value, degrees: a.error.degrees.min(b.error.degrees).max(1.0) }
}

/// The chance of a jump as high on a smooth curve.
fn chance(rough: &Rough, span: (usize, usize)) -> f64 {
    let error = error(rough, span);
    match rough.surprise(span.0, span.1) {
        height if error.value > 0.0 => student_p(height / error.value, error.degrees),
        0.0 => 1.0,
        _ => 0.0,
    }
}

/// The smallest jump between typical neighbours that is found for sure, as a share of time.
pub(super) fn sensitivity(rough: &Rough) -> f64 {
    let gaps = rough.places.len().saturating_sub(1);
    if gaps < 4 {
        return f64::INFINITY;
    }
    let mut each: Vec<(StandardError, f64)> =
        (0..gaps).map(|gap| (error(rough, (gap, gap + 1)), least(rough, (gap, gap + 1)))).collect();
    let middle = gaps / 2;
    let (_, (error, least), _) = each.select_nth_unstable_by(middle, |a, b| a.0.value.total_cmp(&b.0.value));
    (student_t(1.0 - LEVEL / gaps as f64, error.degrees) * error.value).max(*least).exp_m1()
}
