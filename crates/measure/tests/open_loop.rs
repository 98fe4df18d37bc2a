//! An open loop charges a pause to every send that it held up. A far side that stands still once, on a link whose time passes only
//! as the model says: what each send must be charged is known.

use std::collections::VecDeque;
use std::time::Duration;

use measure::{Pattern, TrialReport, TrialSpec, Workspace, near};
use transport::clock::{Clock, Virtual};
use transport::{Capabilities, End, Link, LinkError};

const MS: u64 = 1_000_000;
/// A send each millisecond; an answer takes 10 us.
const RATE: f64 = 1e3;
const SERVICE: u64 = 10_000;

/// A far side that answers one message after the other, and stands still for `stall` before the answer to message `at`.
struct Modelled {
    clock: Virtual,
    stall: (u64, u64),
    came: u64,
    free: u64,
    answers: VecDeque<u64>,
}

impl Link for Modelled {
    fn capabilities(&self) -> Capabilities {
        Capabilities::plain()
    }
    fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
        let (at, stall) = self.stall;
        let begin = self.free.max(self.clock.now()) + if self.came == at { stall } else { 0 };
        self.free = begin + SERVICE;
        self.answers.push_back(self.free);
        self.came += 1;
        Ok(())
    }
    fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
        self.clock.wait_until(self.answers.pop_front().expect("an answer is due"));
        Ok(())
    }
    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        Err(LinkError::Unsupported("exchange"))
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let until = self.clock.now() + wait.as_nanos() as u64;
        let next = self.answers.front().copied();
        // Looking takes a little: time must pass where nothing is waited for.
        self.clock.wait_until(next.unwrap_or(until).min(until).max(self.clock.now() + 100));
        Ok(next.is_some_and(|at| at <= self.clock.now()))
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

fn run(stall: (u64, u64)) -> TrialReport {
    let clock = Virtual::default();
    let mut link = End::new(Modelled { clock: clock.clone(), stall, came: 0, free: 0, answers: VecDeque::new() });
    let spec = TrialSpec { rate: Some(RATE), seed: 1, ..TrialSpec::plain(Pattern::PingPong, 64, 1000) };
    near::run(&mut link, &clock, &spec, &mut Workspace::new(true)).unwrap()
}

/// How many sends took longer than `ns`.
fn longer(report: &TrialReport, ns: u64) -> u64 {
    report.histogram.iter().filter(|(at, _)| *at > ns).map(|(_, n)| n).sum()
}

#[test]
fn a_stall_is_charged_to_every_send_that_it_held_up() {
    let report = run((500, 50 * MS));
    assert_eq!(report.repeats, 1000);
    assert_eq!(report.histogram.iter().map(|(_, n)| n).sum::<u64>(), 1000);
    // Sends 500, 501, ... of one a millisecond wait 50, 49, ... ms: of a stall of 50 ms, 45 sends wait for more than 5 ms.
    for (ms, expected) in [(5, 45), (20, 30), (40, 10)] {
        let found = longer(&report, ms * MS);
        assert!(found.abs_diff(expected) <= 1, "{found} sends took longer than {ms} ms, not {expected}");
    }
    assert!((report.max - 0.05).abs() < 1e-3, "{}", report.max);
    assert!(report.median < 20e-6, "most sends met no stall: {}", report.median);
    // No more than 32 messages are under way: the others left late, and are charged from their schedule all the same.
    assert!((17..=19).contains(&report.late), "{}", report.late);
}

#[test]
fn without_a_stall_nothing_is_late() {
    let report = run((u64::MAX, 0));
    assert_eq!((longer(&report, MS / 10), report.late), (0, 0));
}
