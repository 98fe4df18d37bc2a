//! The least and the most that is measured: constants that several modules share.

use crate::event::{Plan, Schedule};

/// Fewest iterations of a trial.
pub(crate) const FEWEST: u64 = 3;

/// Shortest trial at an offered rate, seconds: all of a shorter one would fit into the buffers of a path that can't carry the rate, and
/// nothing would be lost.
pub(crate) const LOAD: f64 = 0.1;

/// Largest message with which a connection is warmed up, and which every round visits where the time allows it, bytes.
pub(crate) const MIDDLING: u64 = 65_536;

/// Rounds that a run plans, unless the plan names the number of trials: thirty in the default budget, so that states of the
/// machine that last for a tenth of the run are averaged over, and enough in a short one for an interval.
pub(crate) fn rounds(plan: &Plan) -> u32 {
    const EACH: f64 = 0.38;
    match (plan.trials, plan.schedule) {
        (Some(trials), _) => trials,
        // One HINT answer may take as long as all rounds of another pattern.
        (None, Schedule::Hint) => 10,
        (None, _) => (plan.budget / EACH).clamp(8.0, 100.0) as u32,
    }
}
