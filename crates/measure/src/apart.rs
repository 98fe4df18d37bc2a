//! Whole rounds of a path that lie far apart: which, and why. Pure.

use host::Taken;
use stats::Saw;
use transport::Name;

use crate::figures::Common;
use crate::place::Place;
use crate::taken_by;

/// The whole curve moved between rounds by more than this: a quarter.
const MOVED: f64 = 0.223;

/// Rounds that lie apart, (number, level) each; levels are logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Apart {
    pub slowest: (u32, f64),
    pub fastest: (u32, f64),
}

/// The slowest and the fastest round, where whole rounds lie so far apart that a warning says so. It is decided by [`stats::Moves::saw`], as the
/// line of the rounds is, so that the two can't contradict each other.
pub(crate) fn apart(common: &Common) -> Option<Apart> {
    let slowest = common.levels().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let fastest = common.levels().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let one = common.shared.moves.saw(common.shared.sigma) == Saw::One;
    let far = common.levels().count() >= 3 && slowest.1 - fastest.1 >= MOVED && !one;
    far.then_some(Apart { slowest, fastest })
}

/// Why some rounds took `ratio` times as long as others, in words: whoever took enough of the CPUs for that, else where it lies. All warnings of
/// rounds that lie apart name the cause by this.
pub(crate) fn why(kind: Name, taken: Option<&Taken>, ratio: f64, place: Place) -> String {
    match taken_by::enough(taken, ratio) {
        Ok(found) => taken_by::likely(found),
        Err(nobody) => format!("{}; {nobody}", place.words(kind)),
    }
}
