//! Whether a step or a dip is not the path's, but a level that the sizes on one of its sides, or within it, had in this run.
//!
//! A state of the machine may touch a part of the sizes only (what each message costs, another user of the memory's bandwidth): these are
//! then slower or faster than the others, in each round by another amount. Where such states last, their mean over a run's rounds lies
//! farther off than that of independent rounds would, and the curve jumps where the touched sizes end. The level of one side less that of
//! the other is a series over rounds, like the levels of the whole curve, and its mean has an error of the same kind.

use std::collections::BTreeSet;

use stats::{Local, Moves};

use super::jump::Jump;
use super::rough::Rough;

/// Confidence with which a jump must exceed the error of its sides' levels; not corrected for many sizes, since such states end at one
/// place of a curve or a few.
const SURE: f64 = 0.99;

/// A step must be so many times the spread of its sides' levels within the run: states that last for some rounds move less within nine
/// rounds than from one run to the next. With a correlation of 0.8 they lie five times their spread off, alike in all nine rounds as a step
/// does, in 1 of 200 runs (a simulation of 20,000).
const APART: f64 = 5.0;

/// How far from a jump a place lies whose neighbours ([`stats::local`]) are all on its side: next to where states end, a size that they do
/// not touch has seven neighbours that they do.
const ASIDE: usize = 7;

/// How the level of the sizes after a jump moved, from round to round, against that of those before it, over the rounds that measured both
/// sides; none where neither shares one.
pub(super) fn moves(rough: &Rough, (before, after): (usize, usize)) -> Option<Moves> {
    let last = rough.places.len() - 1;
    let sides =
        [before.saturating_sub(ASIDE), (after + ASIDE).min(last)].map(|place| rough.places[place].local.as_ref());
    if sides.iter().all(Option::is_none) {
        return None;
    }
    Some(Moves::of(&series(sides, rough.rounds as u32)))
}

/// The level of the second side less that of the first in each round that measured both. A side that shares none has level 0 in every
/// round.
fn series(sides: [Option<&Local>; 2], rounds: u32) -> Vec<f64> {
    let measured: [BTreeSet<u32>; 2] =
        sides.map(|side| side.map_or_else(|| (0..rounds).collect(), |local| local.rounds().collect()));
    let [a, b] = sides.map(|side| move |round| side.map_or(0.0, |local| local.level(round)));
    measured[0].intersection(&measured[1]).map(|round| b(*round) - a(*round)).collect()
}

/// Whether the levels of its sides in this run may account for a jump.
pub(super) fn explains(rough: &Rough, jump: &Jump) -> bool {
    let Some(moves) = moves(rough, jump.between) else { return false };
    let reach = moves.error.reach(SURE);
    jump.height.abs() <= reach.max(APART * moves.spread)
}

/// A level counts for so few of its rounds, as a share, that it lasts: of independent rounds the share is larger.
const LASTS: f64 = 0.6;

/// Confidence with which a dip must exceed the error of its level: of the many narrow ranges of a curve the one farthest off is looked at.
const OF_MANY: f64 = 0.999;

/// Most places on either side of a dip that tell what it is compared with.
const BESIDE: usize = 4;

/// Whether the sizes within a dip had a level of their own that lasted for some rounds, and may account for it. Their mean in each round less
/// that of the sizes on either side is a series over rounds: what a dip is made of that is there in every round does not move in it.
pub(super) fn fills(rough: &Rough, up: &Jump, down: &Jump) -> bool {
    let within: Vec<usize> = (up.between.1..=down.between.0).collect();
    let beside = within.len().clamp(1, BESIDE);
    let before = (0..=up.between.0).rev().take(beside);
    let outside: Vec<usize> = before.chain((down.between.1..rough.places.len()).take(beside)).collect();
    let mean = |places: &[usize], round: u32| {
        let levels: Vec<f64> = places.iter().filter_map(|p| rough.places[*p].numbered.get(&round).copied()).collect();
        (!levels.is_empty()).then(|| stats::mean(&levels))
    };
    let level = |round: u32| Some(mean(&within, round)? - mean(&outside, round)?);
    let moves = Moves::of(&(0..rough.rounds as u32).filter_map(level).collect::<Vec<_>>());
    let height = (up.height - down.height) / 2.0;
    moves.effective < LASTS * f64::from(moves.rounds) && height <= moves.error.reach(OF_MANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_did_not_visit_a_side_tells_nothing_of_its_level() {
        // Two kinds of sizes, of which the large ones were left out of every third round, and lie 0.2 higher or lower in the others.
        let left_out = |round: u32| round % 3 == 2;
        let state = |round: u32| if round.is_multiple_of(2) { 0.1 } else { -0.1 };
        let noise = |size: u32, round: u32| 0.002 * f64::from((size * 7 + round * 5) % 11) - 0.01;
        let size = |size: u32, large: bool| -> Vec<(u32, f64)> {
            let rounds = (0..24).filter(|round| !(large && left_out(*round)));
            rounds.map(|k| (k, (noise(size, k) + if large { state(k) } else { 0.0 }).exp())).collect()
        };
        let points: Vec<Vec<(u32, f64)>> = (0..20).map(|i| size(i, i >= 10)).collect();
        let local = stats::local(&points, |_| 0.0);
        let (small, large) = (local[0].as_ref(), local[19].as_ref());
        assert!(large.is_some());
        let found = series([small, large], 24);
        assert_eq!(found.len(), 16, "{found:?}");
        assert!(found.iter().all(|level| level.abs() > 0.08), "{found:?}");
        assert_eq!(series([None, None], 24), [0.0; 24], "sides that share no level are at the curve's in every round");
    }
}
