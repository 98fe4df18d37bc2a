//! The first long trial of a size, on a path whose typical iteration does not tell what most of the time goes to: both sides spin,
//! and other programs hold the CPUs. A mock session with a clock of its own.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, Plan, Trial};
use measure::session::Party;
use measure::{Event, Session, SessionError, TrialReport, TrialSpec};
use transport::Capabilities;

/// Seconds of a wait for a CPU.
const WAIT: f64 = 10e-3;

/// A path: what takes how long on it, and how often it was used.
struct Path {
    /// Seconds of a typical round trip, and those of a byte.
    typical: f64,
    byte: f64,
    /// From the round trip of this number on, one of `every` waits for a CPU; none where that is 0.
    from: u64,
    every: u64,
    made: u64,
    now: f64,
}

/// Both sides spin, and nobody disturbs them.
const SPINS: Path = Path { typical: 2e-7, byte: 0.0, from: 0, every: 0, made: 0, now: 0.0 };

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
        let of = |made: u64| made.saturating_sub(self.from).checked_div(self.every).unwrap_or(0);
        let waits = of(self.made) - of(before);
        let typical = self.typical + spec.size as f64 * self.byte;
        let seconds = spec.repeats as f64 * typical + waits as f64 * WAIT;
        self.now += seconds;
        let max = if waits > 0 { WAIT } else { typical };
        Ok(TrialReport { repeats: spec.repeats, seconds, median: typical, min: typical, max, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

/// The trials of a run over a path.
fn run(plan: &Plan, path: Path) -> Vec<Trial> {
    let calibration = Calibration { clock_cost_ns: 25.0, clock_step_ns: 1.0, loop_cost_ns: 2.0 };
    let mut trials = Vec::new();
    let mut tell = |e: &Event| {
        if let Event::Trial(trial) = e {
            trials.push(trial.clone());
        }
        Ok(())
    };
    measure::run(plan, calibration, vec![Box::new(path)], &mut tell, &AtomicBool::new(false));
    trials
}

/// Seconds until the end of the only trial that counts, and those of the trial.
fn lone(budget: f64, path: Path) -> (f64, f64) {
    let trials = run(&Plan { sizes: Some(vec![64]), trials: Some(1), budget, ..Plan::default() }, path);
    assert_eq!(trials.iter().filter(|t| !t.warmup).count(), 1);
    let last = trials.last().unwrap();
    assert!(!last.warmup);
    (last.at + last.report.seconds, last.report.seconds)
}

#[test]
fn a_run_on_a_busy_machine_takes_little_longer_than_was_asked_for() {
    // Waits that the survey sees, and such as begin after it: of these the trial of 4 million round trips would have its full share.
    for from in [0, 60_000] {
        for every in [500, 2_000, 10_000, 50_000] {
            let (took, counted) = lone(1.0, Path { from, every, ..SPINS });
            assert!(took < 6.0, "from {from} on one of {every} waits: {took} s");
            assert!(counted > 0.3, "from {from} on one of {every}: {counted} s");
        }
    }
}

#[test]
fn a_trial_that_is_to_take_less_than_a_tenth_of_a_second_is_worked_up_to_as_well() {
    let (took, _) = lone(0.1, Path { from: 60_000, every: 500, ..SPINS });
    assert!(took < 3.0, "{took} s");
}

#[test]
fn a_quiet_machine_pays_at_most_a_third_of_the_trial_for_the_look() {
    for budget in [0.1, 0.2, 1.0, 2.0, 16.0] {
        for typical in [2e-7, 1e-6, 1e-5, 1e-4] {
            let (took, counted) = lone(budget, Path { typical, ..SPINS });
            let beside = took - counted;
            assert!(beside < 0.05 + counted / 3.0, "{budget} s, {typical} s: {beside} s beside a trial of {counted} s");
        }
    }
}

#[test]
fn a_default_run_has_no_trials_for_the_look() {
    for (typical, byte) in [(2e-7, 1e-10), (1e-5, 5e-10), (1e-3, 1e-9)] {
        let trials = run(&Plan::default(), Path { typical, byte, ..SPINS });
        let counted: BTreeSet<u64> = trials.iter().filter(|t| !t.warmup).map(|t| t.size).collect();
        assert!(counted.len() > 100, "{} sizes", counted.len());
        // Each round's connection is warmed up at one size.
        let warmed: BTreeSet<u64> = trials.iter().filter(|t| t.warmup && t.round > 0).map(|t| t.size).collect();
        assert_eq!(warmed.len(), 1, "{typical} s: {warmed:?}");
    }
}

#[test]
fn iterations_that_were_asked_for_are_made() {
    let plan = Plan { sizes: Some(vec![64]), trials: Some(1), budget: 1.0, ..Plan::default() };
    let trials = run(&Plan { repeats: Some(1_000_000), ..plan }, Path { every: 2_000, ..SPINS });
    assert_eq!(trials.iter().filter(|t| !t.warmup).map(|t| t.report.repeats).collect::<Vec<_>>(), [1_000_000]);
}
