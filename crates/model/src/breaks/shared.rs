//! Whether a step is a level that the sizes on one of its sides share in this run, and none of the path.
//!
//! A state of the machine that only a part of the sizes feels (what each message costs, a neighbour on the memory's bandwidth) lays them all
//! higher or lower than the others, in each round by another amount. Where such states last, a run's rounds have them higher on average by
//! more than independent rounds would, and the curve jumps where the states' reach ends. How far the one side lies above the other in each round
//! is a series in time like the levels of the whole curve, and the mean of it errs as theirs does.

use stats::{Moves, student_t};

use super::jump::Jump;
use super::rough::Rough;

/// Confidence with which a jump is more than what its sides' levels err by: there is one place on a curve where such states end, or a few.
const SURE: f64 = 0.99;

/// How many times as far as the sides' levels lie apart within the run a step must reach: states that last for some rounds move less within nine
/// rounds than from one run to the next. With a correlation of 0.8 they lie five times as far off as they spread, and so far alike in all nine
/// rounds as a step does, in 1 of 200 runs (a simulation of 20,000).
const APART: f64 = 5.0;

/// How far from a jump a place lies whose neighbours ([`stats::local`]) are all on its side: next to where states end, sizes that don't feel them have
/// seven neighbours that do.
const ASIDE: usize = 7;

/// How the level of the sizes after a jump moved, from round to round, against that of those before it; none where neither shares one.
pub(super) fn moves(rough: &Rough, (before, after): (usize, usize)) -> Option<Moves> {
    let last = rough.places.len() - 1;
    let sides =
        [before.saturating_sub(ASIDE), (after + ASIDE).min(last)].map(|place| rough.places[place].local.as_ref());
    if sides.iter().all(Option::is_none) {
        return None;
    }
    let [a, b] = sides.map(|side| move |round| side.map_or(0.0, |local| local.level(round)));
    let series: Vec<f64> = (0..rough.rounds as u32).map(|round| b(round) - a(round)).collect();
    Some(Moves::of(&series))
}

/// Whether a jump is no higher than the levels that its sides have in this run may make it.
pub(super) fn explains(rough: &Rough, jump: &Jump) -> bool {
    let Some(moves) = moves(rough, jump.between) else { return false };
    let reach = student_t(SURE, moves.error.degrees.max(1.0)) * moves.error.value;
    jump.height.abs() <= reach.max(APART * moves.spread)
}
