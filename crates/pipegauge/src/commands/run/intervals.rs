//! A soak's lines: one for each interval, while it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use measure::Event;
use measure::event::{Plan, RoundTaken, Trial};
use report::table;

use super::Front;
use crate::config::RunConfig;
use crate::out;

/// Prints each interval on standard output, so that it can be piped on; where a document is printed there, on standard error.
pub struct Intervals {
    plan: Plan,
    to: To,
    /// Asks the run to stop.
    stop: Arc<AtomicBool>,
    /// Whether the head stands above the lines.
    begun: bool,
    /// What was taken of the CPUs is told after the trials of its interval.
    waiting: Vec<Trial>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Nobody,
    Stdout,
    Stderr,
}

impl Intervals {
    /// The lines of a run that prints a document at its end, or not; nobody reads them where `--quiet` says so.
    pub fn new(config: &RunConfig, json: bool, stop: Arc<AtomicBool>) -> Self {
        let to = match (config.progress, json) {
            (false, _) => To::Nobody,
            (true, true) => To::Stderr,
            (true, false) => To::Stdout,
        };
        Self { plan: config.plan.clone(), to, stop, begun: false, waiting: Vec::new() }
    }

    fn print(&mut self, line: &str) {
        match self.to {
            To::Nobody => {}
            To::Stderr => out::tell(line),
            // As of any command in a pipe: who reads no more wants no more.
            To::Stdout if out::text(line).is_err() => {
                self.to = To::Nobody;
                self.stop.store(true, Ordering::Relaxed);
            }
            To::Stdout => {}
        }
    }

    fn waiting(&mut self, taken: Option<&RoundTaken>) {
        let others = taken.map(|t| t.taken.processes + t.taken.steal);
        for trial in std::mem::take(&mut self.waiting) {
            if !std::mem::replace(&mut self.begun, true) {
                self.print(&table::interval_head(&self.plan));
            }
            let kind = self.plan.paths[trial.path as usize].transport;
            self.print(&table::interval_line(&self.plan, kind, &trial, others));
        }
    }
}

impl Front for Intervals {
    fn take_event(&mut self, event: &Event) {
        match event {
            Event::Trial(trial) if !trial.warmup => {
                if self.waiting.last().is_some_and(|last| last.round != trial.round) {
                    self.waiting(None);
                }
                self.waiting.push(trial.clone());
            }
            Event::Taken(taken) => self.waiting(Some(taken)),
            Event::Trial(_) => {}
            _ => self.waiting(None),
        }
    }

    fn done(&mut self) {
        self.waiting(None);
        if self.begun {
            self.print("");
        }
    }
}
