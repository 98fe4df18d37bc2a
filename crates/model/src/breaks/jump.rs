//! A place at which time jumps, and its sides.

use super::Edge;
use super::rough::Rough;

/// Places on each side of an edge, at most, from which its height is estimated.
const PLACES: usize = 6;

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
