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
mod tests;
