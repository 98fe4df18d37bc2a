//! How fast time grows beside a span of sizes, and how far it jumps over the span beyond that.
//!
//! Where a cache ends, a curve bends: from there on each byte costs several times as much, and on logarithmic axes the first sizes after it
//! climb as steeply as a step. In time over size such a bend is two lines that meet. So the growth over a span is compared with the growth
//! on both of its sides, each as a line in time over size and as one on logarithmic axes: of a curve that bends, sharply or gradually, one
//! of the four explains it.

use super::rough::Place;

/// The stretch on one side of a span from which the growth is taken, as a logarithm of size; places that it holds at least, and
/// that are looked at at most.
const SIDE: f64 = 0.4;
const LEAST: usize = 3;
const USUAL: usize = 6;
const MOST: usize = 10;

/// The growth over a span that a side predicts: the factor by which time grows, and its error, as logarithms.
#[derive(Debug, Clone, Copy)]
struct Growth {
    value: f64,
    error: f64,
}

/// How far time jumps over a span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Surprise {
    /// Logarithm of the jump; 0 where growth as on either side explains it.
    pub height: f64,
    /// Its standard error.
    pub error: f64,
}

/// The jump from the place `from` to the later one `to`. None where one side has too few places to tell a jump from a bend.
pub(super) fn surprise(places: &[Place], span: (usize, usize)) -> Option<Surprise> {
    surprise_at(places, span, span)
}

/// [`surprise`] over a span at the growth beside another one.
pub(super) fn surprise_at(places: &[Place], (from, to): (usize, usize), beside: (usize, usize)) -> Option<Surprise> {
    let (a, b) = (&places[from], &places[to]);
    let sides = [before(places, beside.0), after(places, beside.1)];
    let mut growths = Vec::with_capacity(4);
    for side in &sides {
        growths.extend(growths_at(side, a, b)?);
    }
    let by_value = |a: &&Growth, b: &&Growth| a.value.total_cmp(&b.value);
    let (slow, fast) = (growths.iter().min_by(by_value)?, growths.iter().max_by(by_value)?);
    let rise = b.y - a.y;
    // A rise within the clock's resolution is no jump.
    let hidden = a.rounding + b.rounding;
    let (height, growth) = match rise {
        _ if rise > fast.value => (rise - fast.value, fast),
        _ if rise < slow.value => (rise - slow.value, slow),
        _ => (0.0, fast),
    };
    let height = height.signum() * (height.abs() - hidden).max(0.0);
    let error = a.error.value.hypot(b.error.value).hypot(growth.error);
    error.is_finite().then_some(Surprise { height, error })
}

/// Places up to this one, this one first.
fn before(places: &[Place], from: usize) -> Vec<&Place> {
    let all = places[..=from].iter().rev();
    let near = all.clone().take_while(|p| places[from].x - p.x <= SIDE).count();
    thinned(all.take(near.max(USUAL)).collect())
}

fn after(places: &[Place], to: usize) -> Vec<&Place> {
    let all = places[to..].iter();
    let near = all.clone().take_while(|p| p.x - places[to].x <= SIDE).count();
    thinned(all.take(near.max(USUAL)).collect())
}

/// At most [`MOST`] of them, the first and the last among them.
fn thinned(all: Vec<&Place>) -> Vec<&Place> {
    if all.len() <= MOST {
        return all;
    }
    (0..MOST).map(|i| all[i * (all.len() - 1) / (MOST - 1)]).collect()
}

/// The growth from `a` to `b` that a side predicts, by a line in time over size and by one on logarithmic axes. Time does not fall as size
/// grows.
fn growths_at(side: &[&Place], a: &Place, b: &Place) -> Option<[Growth; 2]> {
    let noise = stats::median(&side.iter().map(|p| p.error.value).collect::<Vec<_>>());
    let power = slope(side, |p| (p.x, p.y))?;
    let wide = b.x - a.x;
    let log = Growth { value: power.slope.max(0.0) * wide, error: noise / power.spread * wide };
    // In units of `a`, so that neither sizes nor times are too large to be squared.
    let (size, time) = (a.size as f64, a.y);
    let line = slope(side, |p| (p.size as f64 / size, (p.y - time).exp()))?;
    let wide = (b.size as f64 - size) / size;
    let grown = 1.0 + line.slope.max(0.0) * wide;
    let level = stats::median(&side.iter().map(|p| (p.y - time).exp()).collect::<Vec<_>>());
    let straight = Growth { value: grown.ln(), error: noise * level / line.spread * wide / grown };
    Some([log, straight])
}

/// A line through a side.
struct Line {
    slope: f64,
    /// Root of the sum of squares of the places' distances from their middle: what a slope's error is divided by.
    spread: f64,
}

/// The weighted median of the slopes between all pairs of places, by their width (Theil 1950; Sen 1968): a place or two beyond another
/// break do not move it.
fn slope(side: &[&Place], at: impl Fn(&Place) -> (f64, f64)) -> Option<Line> {
    if side.len() < LEAST {
        return None;
    }
    let points: Vec<(f64, f64)> = side.iter().map(|p| at(p)).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        slopes.extend(points[i + 1..].iter().map(|b| ((b.1 - a.1) / (b.0 - a.0), (b.0 - a.0).abs())));
    }
    let slope = stats::weighted_median(&mut slopes);
    let middle = points.iter().map(|p| p.0).sum::<f64>() / points.len() as f64;
    let spread = points.iter().map(|p| (p.0 - middle).powi(2)).sum::<f64>().sqrt();
    slope.is_finite().then_some(Line { slope, spread })
}
