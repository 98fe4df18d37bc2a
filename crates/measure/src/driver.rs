//! Blocks, their order, the time each point gets, and when to stop.
//!
//! The error that matters lies between runs, not within one, so the curve is not measured point after point: all sizes
//! are visited in each block, in random order, over a fresh connection (and process, where that is cheap), and blocks of
//! the paths that are compared take turns. A point's interval comes from its blocks.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::AtomicBool;

use host::Taken;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use transport::Kind;

use crate::event::{Calibration, End, Event, Plan, Schedule};
use crate::path::PathRun;
use crate::{Pattern, Session, SessionError, netpipe, sustained};

/// Rounds that a run plans, unless the plan names the number of trials: thirty in the default budget, so that states of the
/// machine that last for a tenth of the run are averaged over, and enough in a short one for an interval.
pub(crate) fn rounds(plan: &Plan) -> u32 {
    const EACH: f64 = 0.38;
    match (plan.trials, plan.schedule) {
        (Some(trials), _) => trials,
        // An answer may take as long as all rounds of another pattern.
        (None, Schedule::Hint) => 10,
        (None, _) => (plan.budget / EACH).clamp(8.0, 100.0) as u32,
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A path failed.
    #[error("{kind}: {source}")]
    Session {
        /// Transport.
        kind: Kind,
        /// What happened.
        #[source]
        source: SessionError,
    },
    /// An event could not be told (the run file could not be written).
    #[error("{0}")]
    Tell(#[from] io::Error),
}

impl RunError {
    /// Whether the run was asked to stop, rather than failed.
    pub fn interrupted(&self) -> bool {
        use transport::LinkError;
        matches!(
            self,
            RunError::Session { source: SessionError::Interrupted | SessionError::Link(LinkError::Interrupted), .. }
        )
    }
}

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

/// Whoever hears what happens; an error ends the run.
pub type Tell<'a> = dyn FnMut(&Event) -> io::Result<()> + 'a;

/// The listener, shared by the paths of a run, which take turns.
pub struct Teller<'a>(RefCell<&'a mut Tell<'a>>);

impl Teller<'_> {
    /// Tells one event.
    pub fn tell(&self, event: &Event) -> Result<(), RunError> {
        (self.0.borrow_mut())(event).map_err(RunError::Tell)
    }
}

/// Measures what `plan` asks over `sessions` (one a transport, in the plan's order) and tells every event but the header.
pub fn run<'a>(
    plan: &'a Plan,
    calibration: Calibration,
    sessions: Vec<Box<dyn Session + 'a>>,
    tell: &'a mut Tell<'a>,
    stop: &AtomicBool,
) -> Outcome {
    let teller = Teller(RefCell::new(tell));
    let mut paths: Vec<PathRun<'_>> = sessions
        .into_iter()
        .zip(0..)
        .map(|(session, number)| PathRun::new(plan, calibration, number, session, &teller))
        .collect();
    let mut outcome = Outcome { error: measure(plan, &mut paths, stop).err(), ..Outcome::default() };
    for path in &mut paths {
        if let Err(e) = path.close() {
            outcome.error.get_or_insert(e);
        }
        outcome.trials += path.counted();
        match path.finish(outcome.error.is_some()) {
            Ok(open) => outcome.unsettled += open,
            Err(e) => outcome.error = outcome.error.or(Some(e)),
        }
    }
    let taken: Vec<_> = paths.iter().flat_map(|p| p.taken().iter().copied()).collect();
    let taken = Taken::over(&taken);
    let end = Event::End(End {
        at: paths.iter().map(PathRun::at).fold(0.0, f64::max),
        error: outcome.error.as_ref().map(ToString::to_string),
        foreign_cpu: taken.map(|t| t.processes),
        taken,
    });
    if let Err(e) = teller.tell(&end) {
        outcome.error = outcome.error.or(Some(e));
    }
    outcome
}

fn measure(plan: &Plan, paths: &mut [PathRun<'_>], stop: &AtomicBool) -> Result<(), RunError> {
    if plan.schedule == Schedule::Netpipe {
        return paths.iter_mut().try_for_each(netpipe::measure);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let hint = plan.pattern == Pattern::Hint;
    for path in paths.iter_mut() {
        if hint { path.hint_survey()? } else { path.survey()? }
    }
    let blocks = rounds(plan);
    for block in 1.. {
        let mut turn: Vec<usize> = (0..paths.len()).filter(|&i| !paths[i].done()).collect();
        if turn.is_empty() {
            break;
        }
        turn.shuffle(&mut rng);
        for i in turn {
            let path = &mut paths[i];
            let left = (blocks + 1).saturating_sub(block).max(1);
            let time = path.left() / f64::from(left);
            if hint {
                path.hint_block(block, time, &mut rng, stop)?;
            } else {
                path.block(block, time, &mut rng, stop)?;
                if sustained::moment(block, blocks) {
                    path.sustain(block)?;
                }
            }
            // A size found late could not get as many trials as were asked for.
            if block <= 3 && !hint && plan.sizes.is_none() && plan.step.is_none() && plan.trials.is_none() {
                path.refine(block, 3)?;
            }
            path.settle(block)?;
            if path.done() {
                // Settled before its moment came, or out of time for rounds.
                path.sustain_rest(block)?;
            }
        }
    }
    Ok(())
}
