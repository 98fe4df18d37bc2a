//! A plan measured on the theoretical link, whose truth is known.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, PathPlan, Plan, Run, SCHEMA};
use measure::solo::Solo;
use measure::{Event, Session};
use record::{Fold, RunFile};

/// The run of all paths of the plan.
pub fn measured(plan: &Plan) -> RunFile {
    let stop = Arc::new(AtomicBool::new(false));
    let session = |path: &PathPlan| -> Box<dyn Session> { Box::new(Solo::new(path, stop.clone()).unwrap()) };
    let sessions = plan.paths.iter().map(session).collect();
    let calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };
    let mut fold = Fold::new();
    fold.event(&Event::Run(Run {
        schema: SCHEMA.to_owned(),
        version: String::new(),
        started: String::new(),
        command: Vec::new(),
        plan: plan.clone(),
        near: host::Environment::default(),
        calibration,
        side: None,
    }));
    let mut tell = |e: &Event| {
        fold.event(e);
        Ok(())
    };
    let outcome = measure::run(plan, calibration, sessions, &mut tell, &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    fold.run().unwrap().clone()
}
