//! The first long trial of a size, on a path whose typical iteration does not tell what most of the time goes to: both sides spin,
//! and other programs hold the CPUs. A mock session with a clock of its own.

use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, Plan, Trial};
use measure::session::Party;
use measure::{Event, Session, SessionError, TrialReport, TrialSpec};
use transport::Capabilities;

/// Seconds of a typical round trip.
const TYPICAL: f64 = 2e-7;
/// Seconds of a wait for a CPU.
const WAIT: f64 = 10e-3;

/// A path on which one round trip of `every` waits for a CPU; none where that is 0.
struct Path {
    every: u64,
    made: u64,
    now: f64,
}

impl Session for Path {
    fn capabilities(&self) -> Capabilities {
        transport::shm::NAME.capabilities()
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        self.now += 5e-3;
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let before = self.made;
        self.made += spec.repeats;
        let of = |made: u64| made.checked_div(self.every).unwrap_or(0);
        let waits = of(self.made) - of(before);
        let seconds = spec.repeats as f64 * TYPICAL + waits as f64 * WAIT;
        self.now += seconds;
        let max = if waits > 0 { WAIT } else { TYPICAL };
        Ok(TrialReport { repeats: spec.repeats, seconds, median: TYPICAL, min: TYPICAL, max, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

/// Seconds that a run of one trial of one size takes, and its trials.
fn run(plan: &Plan, every: u64) -> (f64, Vec<Trial>) {
    let calibration = Calibration { clock_cost_ns: 25.0, clock_step_ns: 1.0, loop_cost_ns: 2.0 };
    let path = Path { every, made: 0, now: 0.0 };
    let mut trials = Vec::new();
    let mut tell = |e: &Event| {
        if let Event::Trial(trial) = e {
            trials.push(trial.clone());
        }
        Ok(())
    };
    measure::run(plan, calibration, vec![Box::new(path)], &mut tell, &AtomicBool::new(false));
    let took = trials.last().map_or(0.0, |t| t.at + t.report.seconds);
    (took, trials)
}

fn one_trial() -> Plan {
    Plan { sizes: Some(vec![64]), trials: Some(1), budget: 1.0, ..Plan::default() }
}

#[test]
fn a_run_on_a_busy_machine_takes_little_longer_than_was_asked_for() {
    for every in [500, 2_000, 10_000, 50_000] {
        let (took, trials) = run(&one_trial(), every);
        let counted: Vec<_> = trials.iter().filter(|t| !t.warmup).collect();
        assert_eq!(counted.len(), 1);
        // Without a look at what long trials take, 4 million round trips took 84 s where one of 500 waits.
        assert!(took < 6.0, "one of {every} waits: {took} s");
        assert!(counted[0].report.seconds > 0.3, "{every}: {} s", counted[0].report.seconds);
    }
}

#[test]
fn a_quiet_machine_pays_little_for_the_look() {
    let (took, trials) = run(&one_trial(), 0);
    let counted: f64 = trials.iter().filter(|t| !t.warmup).map(|t| t.report.seconds).sum();
    assert!(counted > 0.5, "{counted} s");
    assert!(took - counted < 0.25, "{} s beside the trial", took - counted);
}

#[test]
fn iterations_that_were_asked_for_are_made() {
    let plan = Plan { repeats: Some(1_000_000), ..one_trial() };
    let (_, trials) = run(&plan, 2_000);
    assert_eq!(trials.iter().filter(|t| !t.warmup).map(|t| t.report.repeats).collect::<Vec<_>>(), [1_000_000]);
}
