//! HINT over a path (`workload::hint`): both sides work out their share of an answer, then exchange two numbers of 8 bytes
//! and add them up. "The communication in HINT is a global sum collapse of two double precision floating point numbers"
//! (`seeds/004`, section 3): of two processes an exchange is that sum, and costs one way of the path, not two.
//!
//! The exchange is within the time, as in the original. What is not: before the first answer each side works out what the
//! other one must find. The numbers are whole and the same on every machine, so a far side that does other work, less work
//! or none, and a path that changes what it carries, are noticed at the first answer.

use std::hint::black_box;

use transport::clock::{Clock, Monotonic, Virtual};
use transport::theory::TheoryLink;
use transport::{Link, LinkError};
use workload::hint::{Bounds, Kernel, Sums, Team};

use crate::buffers::{Buffers, Halt};
use crate::near::sampled;
use crate::samples::Samples;
use crate::{FarReport, Pattern, SessionError, TrialReport, TrialSpec};

/// Bytes that each side sends for an answer.
pub const BLOCK: u64 = 16;

/// The near half of a trial.
pub(crate) fn near<L: Link, C: Clock>(
    link: &mut L,
    clock: &C,
    spec: &TrialSpec,
    buffers: &mut Buffers,
) -> Result<TrialReport, SessionError> {
    let mut kernel = buffers.kernel(spec.size)?;
    let halt = buffers.halt();
    let (mut out, mut into) = buffers.slots(link, spec, BLOCK, BLOCK)?;
    let theirs = kernel.run(Team::of_two(1), spec.size);
    let report = timed(clock, spec, &halt, || {
        answer(link, &mut kernel, Team::of_two(0), spec.size, theirs, out.slot(), into.slot())
    });
    buffers.keep(kernel);
    report
}

/// The far half of a trial.
pub(crate) fn far<L: Link>(link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
    let mut kernel = buffers.kernel(spec.size)?;
    let halt = buffers.halt();
    let (mut out, mut into) = buffers.slots(link, spec, BLOCK, BLOCK)?;
    let theirs = kernel.run(Team::of_two(0), spec.size);
    let mut report = FarReport::default();
    let mut sums = Sums::default();
    for _ in 0..spec.warmup + spec.repeats {
        halt.check()?;
        sums = answer(link, &mut kernel, Team::of_two(1), spec.size, theirs, out.slot(), into.slot())?;
        report.received += 1;
    }
    buffers.keep(kernel);
    Ok(FarReport { bounds: Some(bounds(sums)?), ..report })
}

/// One answer of one side: its share of the work, and the sum.
#[inline(always)]
fn answer<L: Link>(
    link: &mut L,
    kernel: &mut Kernel,
    team: Team,
    n: u64,
    theirs: Sums,
    out: &mut [u8],
    into: &mut [u8],
) -> Result<Sums, SessionError> {
    let mine = kernel.run(team, black_box(n));
    out.copy_from_slice(&mine.bytes());
    link.exchange(out, into)?;
    if into[..] != theirs.bytes() {
        return Err(wrong(n, theirs, Sums::read(into)));
    }
    Ok(mine.plus(Sums::read(into)))
}

#[cold]
fn wrong(n: u64, right: Sums, came: Sums) -> SessionError {
    SessionError::Hint(format!(
        "the other side's share of {n} subintervals lies between {} and {} squares, and {} and {} came: it does other work, or \
         the path changes what it carries (pipegauge run --check looks for that)",
        right.low, right.high, came.low, came.high
    ))
}

/// A trial on the modelled path: a process works for `work` seconds at each subinterval, and the sum crosses the link.
pub(crate) fn modelled(
    link: &mut TheoryLink,
    clock: &Virtual,
    spec: &TrialSpec,
    work: f64,
    buffers: &mut Buffers,
) -> Result<TrialReport, SessionError> {
    let mut kernel = buffers.kernel(spec.size)?;
    let halt = buffers.halt();
    let sums = kernel.run(Team::of_two(0), spec.size).plus(kernel.run(Team::of_two(1), spec.size));
    buffers.keep(kernel);
    let (mut out, mut into) = buffers.slots(link, spec, BLOCK, BLOCK)?;
    let works = (work * spec.size as f64 * 1e9).round() as u64;
    let report = timed(clock, spec, &halt, || {
        clock.advance(works);
        link.exchange(out.slot(), into.slot())?;
        Ok(sums)
    })?;
    let received = link.far_report().received;
    Ok(TrialReport { far: FarReport { received, bounds: report.bounds, ..FarReport::default() }, ..report })
}

/// A trial without a path: one process that does it all (`seeds/004`, figure 12).
pub(crate) fn alone(clock: &Monotonic, spec: &TrialSpec, buffers: &mut Buffers) -> Result<TrialReport, SessionError> {
    if spec.pattern != Pattern::Hint {
        return Err(LinkError::Unsupported("carry blocks: it is no path").into());
    }
    let mut kernel = buffers.kernel(spec.size)?;
    let halt = buffers.halt();
    let report = timed(clock, spec, &halt, || Ok(kernel.run(Team::ALONE, black_box(spec.size))));
    buffers.keep(kernel);
    report
}

/// Times answers, chunk by chunk, as every closed pattern is timed.
fn timed<C: Clock>(
    clock: &C,
    spec: &TrialSpec,
    halt: &Halt,
    mut answer: impl FnMut() -> Result<Sums, SessionError>,
) -> Result<TrialReport, SessionError> {
    let entered = clock.now();
    let mut sums = Sums::default();
    for _ in 0..spec.warmup {
        halt.check()?;
        sums = answer()?;
    }
    let (repeats, chunk) = (spec.repeats, spec.chunk.max(1));
    let samples = Samples::new(repeats.div_ceil(chunk), chunk);
    let start = clock.now();
    let mut samples = samples.following(start.saturating_sub(entered));
    let (mut last, mut left) = (start, repeats);
    while left > 0 {
        halt.check()?;
        let many = left.min(chunk);
        for _ in 0..many {
            sums = black_box(answer()?);
        }
        left -= many;
        let now = clock.now();
        samples.push(now - last, many);
        last = now;
    }
    Ok(TrialReport { bounds: Some(bounds(sums)?), ..sampled(samples, repeats, last - start) })
}

fn bounds(sums: Sums) -> Result<(u64, u64), SessionError> {
    let Bounds { low, high } = Bounds::of(sums).map_err(|e| SessionError::Hint(e.to_string()))?;
    Ok((low, high))
}

/// Whether both sides have the same bounds after a trial: what the near side found, and what the far side says.
pub fn agree(report: &TrialReport, far: &FarReport) -> Result<(), SessionError> {
    if report.bounds == far.bounds {
        return Ok(());
    }
    let words = |bounds: Option<(u64, u64)>| bounds.map_or("none".to_owned(), |(low, high)| format!("{low} to {high}"));
    Err(SessionError::Hint(format!(
        "the sides have different bounds after the same answers: {} here, {} on the far side",
        words(report.bounds),
        words(far.bounds)
    )))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use transport::Capabilities;
    use workload::hint::Precision;

    use super::*;
    use crate::Cache;

    /// What a wire does to the blocks that it takes.
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
        fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
            let mut sums = Sums::read(block);
            (self.spoil)(&mut sums);
            self.out.send(sums.bytes().to_vec()).map_err(|_| LinkError::Closed { doing: "sending" })
        }
        fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
            let came = self.into.recv().map_err(|_| LinkError::Closed { doing: "receiving" })?;
            block.copy_from_slice(&came);
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
        TrialSpec {
            pattern: Pattern::Hint,
            size: n,
            response: 0,
            burst: 0,
            repeats: 10,
            warmup: 2,
            chunk: 3,
            rate: None,
            check: false,
            align: 64,
            offset: (0, 0),
            cache: Cache::Warm,
            pool: 0,
            seed: 1,
        }
    }

    /// A trial of both halves, each on its wire.
    fn both(
        n: u64,
        near_sends: Spoil,
        far_sends: Spoil,
    ) -> (Result<TrialReport, SessionError>, Result<FarReport, SessionError>) {
        let (mut here, mut there) = Wire::pair(near_sends, far_sends);
        let other = std::thread::spawn(move || far(&mut there, &spec(n), &mut Buffers::new(false)));
        let report = near(&mut here, &Monotonic, &spec(n), &mut Buffers::new(true));
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
        let report = alone(&Monotonic, &spec(64), &mut Buffers::new(true)).unwrap();
        let mut kernel = Kernel::new(Precision::DOUBLE);
        kernel.reserve(64).unwrap();
        let sums = kernel.run(Team::ALONE, 64);
        assert_eq!(report.bounds, Some((sums.low as u64, sums.high as u64)));
        let blocks = TrialSpec { pattern: Pattern::PingPong, ..spec(64) };
        assert!(alone(&Monotonic, &blocks, &mut Buffers::new(true)).unwrap_err().to_string().contains("no path"));
    }
}
