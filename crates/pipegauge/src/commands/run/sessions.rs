//! One session for each transport, in the order of the plan.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use measure::Session;
use measure::solo::Solo;

use crate::config::RunConfig;

/// Meets the far side for the two-ended transports and makes the others here.
pub fn open(config: &RunConfig, stop: &Arc<AtomicBool>) -> Result<Vec<Box<dyn Session>>> {
    let plan = &config.plan;
    let mut met = VecDeque::new();
    if plan.transports.iter().any(|k| k.capabilities().two_ended) {
        met.extend(rendezvous::meet(&config.far, plan, config.far_pin, Arc::clone(stop))?);
    }
    plan.transports
        .iter()
        .map(|kind| -> Result<Box<dyn Session>> {
            if kind.capabilities().two_ended {
                met.pop_front().ok_or_else(|| anyhow!("no session was opened for {kind}; this is a bug in pipegauge"))
            } else {
                Ok(Box::new(Solo::new(*kind, &plan.settings, Arc::clone(stop))?))
            }
        })
        .collect()
}
