//! Trials of several flows that begin far apart: a mock session with a clock of its own, so that nothing here depends on the machine.

use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, PathPlan, Plan, Trial};
use measure::session::Party;
use measure::{Event, FarReport, FlowReport, Flows, Pattern, Session, SessionError, Topology, TrialReport, TrialSpec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use transport::Capabilities;

/// What an iteration of a flow takes, and what each flow's beginning costs it besides, seconds.
const EACH: f64 = 1e-6;
const BEGINS: f64 = 50e-6;

/// Flows that begin one after another: in a short trial each is done before the next begins, in a longer one the CPUs are taken.
/// Processes that wake up late do so however short a trial is.
struct Late {
    late_anyway: bool,
    now: f64,
    /// Seconds between two beginnings at most.
    turn: f64,
    rng: ChaCha8Rng,
}

impl Session for Late {
    fn capabilities(&self) -> Capabilities {
        transport::tcp::NAME.capabilities()
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        self.now += 0.02;
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let own = BEGINS + spec.repeats as f64 * EACH;
        let soon = own < 2e-3 && !self.late_anyway;
        let turn = if soon { 1.2 * own } else { self.turn * self.rng.random_range(0.5..1.0) };
        let apart = turn * f64::from(spec.flows - 1);
        let (seconds, span) = ((own - apart).max(0.0), apart + own);
        let each = vec![FlowReport { iterations: seconds / EACH, ..FlowReport::default() }; spec.flows as usize];
        self.now += span + 3e-3;
        let flows = Some(Flows { seconds, span, apart, each });
        Ok(TrialReport { repeats: spec.repeats, seconds, flows, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

fn run(plan: &Plan, turn: f64, late_anyway: bool) -> (Vec<Trial>, f64, Vec<String>) {
    let mut events = Vec::new();
    let session = Late { late_anyway, now: 0.0, turn, rng: ChaCha8Rng::seed_from_u64(7) };
    let mut tell = |e: &Event| {
        events.push(e.clone());
        Ok(())
    };
    let calibration = Calibration { clock_cost_ns: 25.0, clock_step_ns: 1.0, loop_cost_ns: 2.0 };
    let outcome = measure::run(plan, calibration, vec![Box::new(session)], &mut tell, &AtomicBool::new(false));
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    let trials = events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t.clone()) } else { None });
    let warnings =
        events.iter().filter_map(|e| if let Event::Warning(w) = e { Some(w.code.to_string()) } else { None });
    (trials.filter(|t| !t.warmup).collect(), end.at, warnings.collect())
}

fn plan(budget: f64) -> Plan {
    let path = PathPlan { flows: 8, topology: Topology::Pairs, ..transport::tcp::NAME.into() };
    Plan { paths: vec![path], pattern: Pattern::Stream, sizes: Some(vec![64]), budget, ..Plan::default() }
}

#[test]
fn trials_become_so_long_that_all_run_at_once() {
    for (turn, late_anyway) in [(0.2e-3, false), (4e-3, false), (12e-3, false), (1e-3, true), (4e-3, true)] {
        let (trials, at, warnings) = run(&plan(2.0), turn, late_anyway);
        let common: Vec<f64> = trials.iter().filter_map(|t| t.report.flows.as_ref()).map(|f| f.seconds).collect();
        let with = common.iter().filter(|seconds| **seconds > 0.0).count();
        assert!(with >= 4 && with * 3 >= common.len() * 2, "{turn}: {common:?}");
        assert!(!warnings.iter().any(|code| code == "no-figure"), "{warnings:?}");
        assert!(at < 2.4, "{turn}: took {at} s of 2");
    }
}

/// What was asked for is what is measured, whatever becomes of it.
#[test]
fn a_number_of_iterations_that_was_asked_for_stays() {
    let plan = Plan { repeats: Some(500), ..plan(2.0) };
    assert!(run(&plan, 12e-3, false).0.iter().all(|trial| trial.report.repeats == 500));
}

/// Senders that hand a message over every ten microseconds, of which receivers see none or a few at one moment, as where all were sent before they
/// were given their CPUs.
struct Lost {
    now: f64,
}

impl Session for Lost {
    fn capabilities(&self) -> Capabilities {
        transport::udp::NAME.capabilities()
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        self.now += 0.02;
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        self.now += 1e-5 * spec.repeats as f64 + 0.1;
        let each = FlowReport { lost: spec.repeats, sent: 1e5, ..FlowReport::default() };
        let flows = Flows { seconds: 0.0, span: 0.03, apart: 0.03, each: vec![each; spec.flows as usize] };
        let far = FarReport { received: 1, lost: 2 * spec.repeats, ..FarReport::default() };
        Ok(TrialReport { flows: Some(flows), far, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

/// What took receivers no time says nothing of how long a trial lasts.
#[test]
fn messages_that_are_lost_make_no_trial_without_end() {
    let plan = Plan { both: true, paths: vec![transport::udp::NAME.into()], ..plan(2.0) };
    let mut events = Vec::new();
    let mut tell = |e: &Event| {
        events.push(e.clone());
        Ok(())
    };
    let stop = AtomicBool::new(false);
    let outcome = measure::run(&plan, Calibration::default(), vec![Box::new(Lost { now: 0.0 })], &mut tell, &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 2.8, "took {} s of 2", end.at);
    let said: Vec<&str> =
        events.iter().filter_map(|e| if let Event::Warning(w) = e { Some(&*w.code) } else { None }).collect();
    assert!(said.contains(&"no-figure"), "{said:?}");
}
