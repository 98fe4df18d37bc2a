//! Rounds, their order, the time each point gets, and when to stop.
//!
//! The error that matters lies between runs, not within one, so the curve is not measured point after point: all sizes are visited in each
//! round, in random order, over a fresh connection (and process, where that is cheap), and rounds of the paths that are compared take
//! turns. A point's interval comes from its rounds.
//!
//! Two sides of one run measure the same paths at other settings. Rounds of one number are neighbours in time, which side goes first is
//! random, and both visit the same sizes in the same order, so that what the machine does affects both.

use std::sync::atomic::AtomicBool;

use host::Taken;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::amounts::rounds;
use crate::event::{Calibration, End, Event, Plan, Schedule};
use crate::path::PathRun;
pub use crate::teller::{RunError, Tell, Teller};
use crate::{Session, netpipe, round, soak, survey};

/// How a run ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What ended it early, if anything.
    pub error: Option<RunError>,
    /// Trials that counted.
    pub trials: u64,
    /// Points whose interval is wider than asked.
    pub unsettled: usize,
}

impl Outcome {
    /// Measured, but something fell short.
    pub fn short(&self) -> bool {
        self.error.is_some() && self.trials > 0
    }
}

/// One side of a run: the same paths as the others have, at settings of its own.
pub struct Side<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// One a path, in the plan's order.
    pub sessions: Vec<Box<dyn Session + 'a>>,
    /// Receives its events.
    pub tell: &'a mut Tell<'a>,
}

/// Measures what `plan` asks over `sessions` (one a path, in the plan's order) and tells every event but the header.
pub fn run<'a>(
    plan: &'a Plan,
    calibration: Calibration,
    sessions: Vec<Box<dyn Session + 'a>>,
    tell: &'a mut Tell<'a>,
    stop: &AtomicBool,
) -> Outcome {
    run_sides(vec![Side { plan, sessions, tell }], calibration, stop).pop().unwrap_or_default()
}

/// Measures the sides of one run in turns and passes each side's events but the header to its own listener. Their plans have the same
/// paths, sizes and effort; random orders come from the first side's seed. What ends one side early ends all.
pub fn run_sides(sides: Vec<Side<'_>>, calibration: Calibration, stop: &AtomicBool) -> Vec<Outcome> {
    let mut sessions = Vec::new();
    let mut tellers = Vec::new();
    // Paths may differ in the offered rate.
    let plans = |side: &Side<'_>| (0..side.sessions.len() as u32).map(|path| side.plan.of_path(path)).collect();
    let plans: Vec<Vec<Plan>> = sides.iter().map(plans).collect();
    for (side, plans) in sides.into_iter().zip(&plans) {
        sessions.push((plans, side.sessions));
        tellers.push(Teller::new(side.tell));
    }
    // Paths of one number take turns: one of each side.
    let mut paths: Vec<Vec<PathRun<'_>>> = Vec::new();
    for ((plans, of_side), teller) in sessions.into_iter().zip(&tellers) {
        for (number, (session, plan)) in of_side.into_iter().zip(plans).enumerate() {
            let path = PathRun::new(plan, calibration, number as u32, session, teller);
            match paths.get_mut(number) {
                Some(sides) => sides.push(path),
                None => paths.push(vec![path]),
            }
        }
    }
    let mut failed = measure(&mut paths, stop).err();
    let reason = failed.as_ref().map(|(_, e)| e.to_string());
    let mut outcomes = Vec::new();
    for (number, teller) in tellers.iter().enumerate() {
        let own = failed.take_if(|(side, _)| *side == number).map(|(_, e)| e);
        let error = own.or_else(|| reason.clone().map(RunError::OtherSide));
        let of_side: Vec<&mut PathRun<'_>> = paths.iter_mut().filter_map(|sides| sides.get_mut(number)).collect();
        outcomes.push(end(of_side, teller, error));
    }
    outcomes
}

/// Closes the paths of one side, adds the warnings of each, and ends the side's events.
fn end(mut paths: Vec<&mut PathRun<'_>>, teller: &Teller<'_>, error: Option<RunError>) -> Outcome {
    // A path that failed by itself did not end those that went on.
    let apart = error.is_none();
    let error = error.or_else(|| failures(&mut paths));
    let mut outcome = Outcome { error, ..Outcome::default() };
    for path in &mut paths {
        if let Err(e) = path.close() {
            outcome.error.get_or_insert(e);
        }
        outcome.trials += path.counted();
        match path.finish(path.gone || (outcome.error.is_some() && !apart)) {
            Ok(open) => outcome.unsettled += open,
            Err(e) => outcome.error = outcome.error.or(Some(e)),
        }
    }
    let taken: Vec<_> = paths.iter().flat_map(|p| p.taken().iter().copied()).collect();
    let taken = Taken::over(&taken);
    let end = Event::End(End {
        at: paths.iter().map(|p| p.at()).fold(0.0, f64::max),
        error: outcome.error.as_ref().map(ToString::to_string),
        cpu_interference: taken.map(|t| t.processes),
        taken,
    });
    if let Err(e) = teller.tell(&end) {
        outcome.error = outcome.error.or(Some(e));
    }
    outcome
}

/// The failures of paths that left the run, as one error.
fn failures(paths: &mut [&mut PathRun<'_>]) -> Option<RunError> {
    let mut all: Vec<RunError> = paths.iter_mut().filter_map(|path| path.failed.take()).collect();
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(RunError::Paths(all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))),
    }
}

/// A path that fails leaves the run, which goes on with the others. What concerns all ends it: an interrupt, an event that can't be
/// written, and a failure of a run of several sides, which are compared.
fn go_on(done: Result<(), (usize, RunError)>, sides: &mut [PathRun<'_>]) -> Result<(), (usize, RunError)> {
    match (done, sides) {
        (Err((_, e)), [path]) if matches!(e, RunError::Session { .. }) && !e.interrupted() => {
            path.leave(e);
            Ok(())
        }
        (done, _) => done,
    }
}

/// Does `what` with each side of a path; an error comes with the number of its side.
fn each<'a>(
    sides: &mut [PathRun<'a>],
    mut what: impl FnMut(&mut PathRun<'a>) -> Result<(), RunError>,
) -> Result<(), (usize, RunError)> {
    sides.iter_mut().enumerate().try_for_each(|(number, side)| what(side).map_err(|e| (number, e)))
}

/// Runs all rounds. `paths` holds, for each path, its sides; an error comes with the number of the side that it is of.
fn measure(paths: &mut [Vec<PathRun<'_>>], stop: &AtomicBool) -> Result<(), (usize, RunError)> {
    let Some(plan) = paths.first().and_then(|sides| sides.first()).map(|side| side.plan) else { return Ok(()) };
    if plan.schedule == Schedule::Netpipe {
        return paths.iter_mut().try_for_each(|sides| go_on(each(sides, netpipe::measure), sides));
    }
    if plan.soaks() {
        return paths.iter_mut().try_for_each(|sides| go_on(each(sides, |side| soak::measure(side, stop)), sides));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let hint = plan.schedule == Schedule::Hint;
    for sides in paths.iter_mut() {
        let done = if hint { each(sides, PathRun::hint_survey) } else { survey::sides(sides) };
        go_on(done, sides)?;
    }
    let planned = rounds(plan);
    for number in 1.. {
        let mut turn: Vec<usize> = (0..paths.len()).filter(|&i| !paths[i].iter().all(PathRun::done)).collect();
        if turn.is_empty() {
            break;
        }
        turn.shuffle(&mut rng);
        for i in turn {
            let sides = &mut paths[i];
            let done = turn_of(sides, number, planned, &mut rng, stop);
            go_on(done, sides)?;
        }
    }
    Ok(())
}

/// The turn of a path in a round: all its sides, in an order that is drawn.
fn turn_of(
    sides: &mut [PathRun<'_>],
    number: u32,
    planned: u32,
    rng: &mut ChaCha8Rng,
    stop: &AtomicBool,
) -> Result<(), (usize, RunError)> {
    let Some(plan) = sides.first().map(|side| side.plan) else { return Ok(()) };
    let hint = plan.schedule == Schedule::Hint;
    let next = round::next(sides, number, planned);
    if hint {
        each(sides, |side| side.hint_round(number, next.time, rng, stop))?;
    } else {
        let order = round::order(sides, next, rng);
        // Larger sizes save up for a later round: this one would be opened for nothing. Where no round is left, or no size is still wanted
        // on all sides, nothing is worth waiting for: without rounds no time would pass, and this would not end.
        if order.is_empty() && plan.trials.is_none() {
            if next.still <= 1.0 || !round::open(sides) {
                sides.iter_mut().for_each(|side| side.done = true);
                each(sides, |side| side.sustain_rest(number))?;
            }
            return Ok(());
        }
        // Drawn anew in each round, so that what the machine does in step with the turns, too, makes a round longer on either side as often,
        // and each round is a draw of its own: the verdict counts those that go one way.
        let mut turns: Vec<usize> = (0..sides.len()).collect();
        if turns.len() > 1 {
            turns.shuffle(rng);
        }
        for side in turns {
            sides[side].round(number, next.time, &order, stop).map_err(|e| (side, e))?;
        }
        // All sides at once, since they are compared.
        if sides.iter().any(|side| side.sustain_due(number)) {
            each(sides, |side| side.sustain(number))?;
        }
    }
    // A size that is found late would get fewer trials than were asked for.
    if number <= 3 && !hint && plan.sizes.is_none() && plan.step.is_none() && plan.trials.is_none() {
        each(sides, |side| side.refine(number, 3))?;
        survey::share(sides, number)?;
    }
    round::settle(sides, number)?;
    if sides.iter().all(PathRun::done) {
        // Settled before the long trials were due, or out of time for rounds.
        each(sides, |side| side.sustain_rest(number))?;
    }
    Ok(())
}
