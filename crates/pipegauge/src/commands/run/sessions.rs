//! One session for each path, in the order of the plan.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use measure::Session;
use measure::event::Plan;
use measure::solo::Solo;
use transport::{Ends, registry};

use crate::config::RunConfig;

/// Meets the far side for the two-ended transports of each side, and makes the others here. The sides have the same transports and
/// far side.
pub fn open(sides: &[&RunConfig], stop: &Arc<AtomicBool>) -> Result<Vec<Vec<Box<dyn Session>>>> {
    let Some(first) = sides.first() else { return Ok(Vec::new()) };
    let plans: Vec<&Plan> = sides.iter().map(|side| &side.plan).collect();
    let met = rendezvous::meet(&first.far, &plans, first.far_pin, Arc::clone(stop))?;
    plans.into_iter().zip(met).map(|(plan, met)| all(plan, met.into(), stop)).collect()
}

fn all(plan: &Plan, mut met: VecDeque<Box<dyn Session>>, stop: &Arc<AtomicBool>) -> Result<Vec<Box<dyn Session>>> {
    plan.paths
        .iter()
        .map(|path| -> Result<Box<dyn Session>> {
            if registry::find(path.transport).is_some_and(|t| t.ends() == Ends::Two) {
                met.pop_front()
                    .ok_or_else(|| anyhow!("no session was opened for {}; this is a bug in pipegauge", path.name()))
            } else {
                Ok(Box::new(Solo::new(path, Arc::clone(stop))?))
            }
        })
        .collect()
}
