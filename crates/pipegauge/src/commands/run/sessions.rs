//! What a run has before its first trial: a session for each path, in the order of the plan, and what the near host is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use host::Environment;
use measure::Session;
use measure::event::{Calibration, Plan, Run};
use measure::solo::Solo;
use rendezvous::{Far, FarPin, Nears};
use transport::{Ends, registry};

/// A run that is about to begin on this host.
pub struct Ready {
    /// The sessions of each side, whose plans these are.
    pub sessions: Vec<Vec<Box<dyn Session>>>,
    /// This host.
    pub near: Environment,
    /// What the calibration found.
    pub calibration: Calibration,
}

impl Ready {
    /// A header with what this host is.
    pub fn filled(&self, header: Run) -> Run {
        Run { near: self.near.clone(), calibration: self.calibration, ..header }
    }
}

/// Keeps this thread to its CPU, meets the far side for the two-ended transports of each side, and makes the other sessions here. The sides have
/// the same transports, near CPU and far side. `nears` are other hosts that near processes run on.
pub fn ready(
    plans: &[&Plan],
    (far, far_pin): (&Far, FarPin),
    nears: Option<Nears>,
    stop: &Arc<AtomicBool>,
) -> Result<Ready> {
    let cpu = plans.first().and_then(|plan| plan.pin).map(|(near, _)| near);
    // Pinning narrows the CPUs that this process sees: the environment is read first.
    let near = Environment::here(cpu);
    if let Some(cpu) = cpu {
        host::pin_this_thread(cpu).with_context(|| format!("keeping to CPU {cpu} (--pin none does without)"))?;
    }
    let met = rendezvous::meet_spread(far, nears, plans, far_pin, Arc::clone(stop))?;
    let sessions = plans.iter().zip(met).map(|(plan, met)| all(plan, met.into(), stop)).collect::<Result<_>>()?;
    Ok(Ready { sessions, near, calibration: measure::calibrate() })
}

fn all(plan: &Plan, mut met: VecDeque<Box<dyn Session>>, stop: &Arc<AtomicBool>) -> Result<Vec<Box<dyn Session>>> {
    plan.paths
        .iter()
        .map(|path| -> Result<Box<dyn Session>> {
            if registry::find(path.transport).is_some_and(|t| t.ends() == Ends::Two) {
                met.pop_front()
                    .ok_or_else(|| anyhow!("no session was opened for {}; this is a bug in pipegauge", path.name()))
            } else {
                let limit = Duration::try_from_secs_f64(plan.patience).unwrap_or(Duration::from_secs(10));
                Ok(Box::new(Solo::patient(path, Arc::clone(stop), limit)?))
            }
        })
        .collect()
}
