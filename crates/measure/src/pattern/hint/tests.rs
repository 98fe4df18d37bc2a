//! Both halves against each other over a wire that may change what it carries.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use transport::LinkError;
use workload::hint::Precision;

use super::*;
use crate::Pattern;

/// What a wire does to the messages that it takes.
type Spoil = fn(&mut Sums);

/// One end of a path between two threads.
struct Wire {
    out: Sender<Vec<u8>>,
    into: Receiver<Vec<u8>>,
    spoil: Spoil,
}

impl Wire {
    fn pair(near: Spoil, far: Spoil) -> (Wire, Wire) {
        let ((there, from_near), (back, from_far)) = (channel(), channel());
        (Wire { out: there, into: from_far, spoil: near }, Wire { out: back, into: from_near, spoil: far })
    }
}

impl Link for Wire {
    fn capabilities(&self) -> Capabilities {
        Capabilities::plain()
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let mut sums = Sums::read(message);
        (self.spoil)(&mut sums);
        self.out.send(sums.bytes().to_vec()).map_err(|_| LinkError::Closed { doing: "sending" })
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let came = self.into.recv().map_err(|_| LinkError::Closed { doing: "receiving" })?;
        message.copy_from_slice(&came);
        Ok(())
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(true)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

fn spec(n: u64) -> TrialSpec {
    TrialSpec { warmup: 2, chunk: 3, seed: 1, ..TrialSpec::plain(Pattern::Hint, n, 10) }
}

/// A trial of both halves, each on its wire.
fn both(
    n: u64,
    near_sends: Spoil,
    far_sends: Spoil,
) -> (Result<TrialReport, SessionError>, Result<FarReport, SessionError>) {
    let (here, there) = Wire::pair(near_sends, far_sends);
    let (mut here, mut there) = (End::new(here), End::new(there));
    let other = std::thread::spawn(move || far(&mut there, &spec(n), &mut Workspace::new(false)));
    let report = near(&mut here, &Monotonic, &spec(n), &mut Workspace::new(true));
    drop(here);
    (report, other.join().unwrap())
}

fn faithful(_: &mut Sums) {}

#[test]
fn both_sides_have_the_same_bounds_and_the_near_one_times_them() {
    for n in [4, 7, 1000] {
        let (report, far) = both(n, faithful, faithful);
        let (report, far) = (report.unwrap(), far.unwrap());
        assert_eq!((report.repeats, far.received), (10, 12), "{n}");
        assert!(report.seconds > 0.0 && report.median > 0.0);
        let mut kernel = Kernel::new(Precision::DOUBLE);
        kernel.reserve(n).unwrap();
        let sums = kernel.run(Team::of_two(0), n).plus(kernel.run(Team::of_two(1), n));
        assert_eq!(report.bounds, Some((sums.low as u64, sums.high as u64)));
        assert_eq!(far.bounds, report.bounds);
        agree(&report, &far).unwrap();
    }
}

#[test]
fn numbers_that_the_work_does_not_give_are_noticed_by_either_side() {
    let spoils: [Spoil; 6] = [
        |s| s.low = f64::NAN,
        |s| *s = Sums { low: f64::NEG_INFINITY, high: f64::INFINITY },
        |s| *s = Sums::default(),
        // Bounds that still hold the truth, and claim to know it better.
        |s| s.high = s.low + 1.0,
        |s| s.low -= 1.0,
        |s| s.high = -s.high,
    ];
    for spoil in spoils {
        let (near, _) = both(100, faithful, spoil);
        let said = near.unwrap_err().to_string();
        assert!(said.contains("HINT") && said.contains("other work"), "{said}");
        let (_, far) = both(100, spoil, faithful);
        let said = far.unwrap_err().to_string();
        assert!(said.contains("HINT") && said.contains("other work"), "{said}");
    }
}

#[test]
fn sides_with_different_bounds_do_not_agree() {
    let (report, far) = both(50, faithful, faithful);
    let (report, far) = (report.unwrap(), far.unwrap());
    let other = FarReport { bounds: report.bounds.map(|(low, high)| (low, high + 1)), ..far.clone() };
    assert!(agree(&report, &other).unwrap_err().to_string().contains("different bounds"));
    let none = FarReport { bounds: None, ..far };
    assert!(agree(&report, &none).unwrap_err().to_string().contains("none on the far side"));
}

#[test]
fn a_process_alone_answers_without_a_link() {
    let report = alone(&Monotonic, &spec(64), &mut Workspace::new(true)).unwrap();
    let mut kernel = Kernel::new(Precision::DOUBLE);
    kernel.reserve(64).unwrap();
    let sums = kernel.run(Team::ALONE, 64);
    assert_eq!(report.bounds, Some((sums.low as u64, sums.high as u64)));
    let messages = TrialSpec { pattern: Pattern::PingPong, ..spec(64) };
    assert!(
        (Pattern::PingPong.facts().alone)(&Monotonic, &messages, &mut Workspace::new(true))
            .unwrap_err()
            .to_string()
            .contains("no path")
    );
}
