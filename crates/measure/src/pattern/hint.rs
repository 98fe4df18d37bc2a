//! HINT over a path (`workload::hint`): both sides work out their share of an answer, then exchange two numbers of 8 bytes
//! and add them up. "The communication in HINT is a global sum collapse of two double precision floating point numbers"
//! (`seeds/004`, section 3): of two processes an exchange is that sum, and costs one way of the path, not two.
//!
//! The exchange is within the time, as in the original. Outside of it, before the first answer, each side computes what the other one must
//! find. The numbers are whole and the same on every machine, so a far side that does other work, less work or none, and a path that
//! changes what it carries, are noticed at the first answer.

mod schedule;

use std::hint::black_box;

use transport::clock::{Clock, Monotonic};
use transport::theory::{FarRole, TheoryLink};
use transport::{Capabilities, End, Link};
use units::format::thousands;
use workload::hint::{BYTES, Bounds, Kernel, Sums, Team, steps};

use super::facts::one_process;
use super::{Answered, Facts, Sizes, Timed};
use crate::event::{Plan, TimeKind, Trial};
use crate::near::sampled;
use crate::samples::Samples;
use crate::workspace::{Halt, Workspace};
use crate::{FarReport, SessionError, TrialReport, TrialSpec};

/// Bytes that each side sends for an answer.
const MESSAGE: u64 = 16;

const ALONE: &str = "it is one process, so there is nobody to share the work with (--alone is HINT without a path)";
const LOST: &str = "a message of the sum may be lost, and the answer would never be complete";

pub(super) const FACTS: Facts = Facts {
    refuses: |can| match () {
        () if one_process(can).is_some() => Some(ALONE),
        () if !can.reliable => Some(LOST),
        () => (!can.duplex).then_some("both ends can't send at once"),
    },
    room,
    whole: |spec| match Team::of_two(0).fewest() {
        fewest if spec.size < fewest => {
            Err(format!("HINT of two starts from {fewest} subintervals, not {}", spec.size))
        }
        _ => Ok(()),
    },
    flows: false,
    messages: |_| (MESSAGE, MESSAGE),
    memory: |spec| u128::from(spec.size) * u128::from(BYTES),
    // No processor divides as often as this; the work has a division a subinterval.
    least_work: |spec| spec.size as f64 * 1e-10,
    largest: |plan, _| steps::most(Team::of_two(0), plan.to, plan.memory.unwrap_or(u64::MAX)).0,
    // An answer may take all the time that a trial has.
    fewest: 1,
    beside: schedule::BESIDE,
    modelled,
    alone,
    agree,
    bytes: |_, _| 0,
    // Its rule repeats trials that were slow, which a median would still count.
    keeps_best: true,
    score: Some(score),
    size: Sizes {
        title: "n",
        unit: " subintervals",
        takes: Some(BYTES),
        cell: thousands,
        brief: |size| format!("n = {}", thousands(size)),
        list: ("n = ", "; "),
    },
    paused: Some(("HINT", "answers took that much longer there; the best of a round's trials passes most of it by")),
    ..Facts::new(None, TimeKind::Answer, |_| FarRole::Mirror)
};

fn room(plan: &Plan, can: &Capabilities) -> Result<(), String> {
    let (to, fewest) = ((FACTS.largest)(plan, can), Team::of_two(0).fewest());
    if to < fewest {
        return Err(format!(
            "there is room for {to} subintervals (--to, --memory), and HINT starts from {fewest} over a path; each takes {BYTES} bytes"
        ));
    }
    Ok(())
}

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    let mut kernel = workspace.kernel(spec.size)?;
    let halt = workspace.halt();
    let (link, mut out, mut into) = workspace.slots(end, spec, MESSAGE, MESSAGE)?;
    let theirs = kernel.run(Team::of_two(1), spec.size);
    let report = timed(clock, spec, &halt, || {
        answer(link, &mut kernel, Team::of_two(0), spec.size, theirs, out.slot(), into.slot())
    });
    workspace.keep(kernel);
    report
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    let mut kernel = workspace.kernel(spec.size)?;
    let halt = workspace.halt();
    let (link, mut out, mut into) = workspace.slots(end, spec, MESSAGE, MESSAGE)?;
    let theirs = kernel.run(Team::of_two(0), spec.size);
    let mut report = FarReport::default();
    let mut sums = Sums::default();
    for _ in 0..spec.warmup + spec.repeats {
        halt.check()?;
        sums = answer(link, &mut kernel, Team::of_two(1), spec.size, theirs, out.slot(), into.slot())?;
        report.received += 1;
    }
    workspace.keep(kernel);
    Ok(FarReport { bounds: Some(bounds(sums)?), ..report })
}

/// A process works for `work` seconds at each subinterval, and the sum crosses the link.
fn modelled(end: &mut End<TheoryLink>, spec: &TrialSpec, work: f64, workspace: &mut Workspace) -> Timed {
    let clock = end.clock();
    let mut kernel = workspace.kernel(spec.size)?;
    let halt = workspace.halt();
    let sums = kernel.run(Team::of_two(0), spec.size).plus(kernel.run(Team::of_two(1), spec.size));
    workspace.keep(kernel);
    let (link, mut out, mut into) = workspace.slots(end, spec, MESSAGE, MESSAGE)?;
    let works = (work * spec.size as f64 * 1e9).round() as u64;
    let report = timed(&clock, spec, &halt, || {
        clock.advance(works);
        link.exchange(out.slot(), into.slot())?;
        Ok(sums)
    })?;
    let far = FarReport { received: link.far_report().received, bounds: report.bounds, ..FarReport::default() };
    Ok(report.with_far(far))
}

/// One process that does all the work (`seeds/004`, figure 12).
fn alone(clock: &Monotonic, spec: &TrialSpec, workspace: &mut Workspace) -> Timed {
    let mut kernel = workspace.kernel(spec.size)?;
    let halt = workspace.halt();
    let report = timed(clock, spec, &halt, || Ok(kernel.run(Team::ALONE, black_box(spec.size))));
    workspace.keep(kernel);
    report
}

/// Both sides have the same bounds after a trial.
fn agree(near: &TrialReport, far: &FarReport) -> Result<(), SessionError> {
    if near.bounds == far.bounds {
        return Ok(());
    }
    let words = |bounds: Option<(u64, u64)>| bounds.map_or("none".to_owned(), |(low, high)| format!("{low} to {high}"));
    Err(SessionError::Hint(format!(
        "the sides have different bounds after the same answers: {} here, {} on the far side",
        words(near.bounds),
        words(far.bounds)
    )))
}

fn score(trials: &[&Trial], median: f64) -> Option<(f64, f64)> {
    let quality = trials.iter().find_map(|t| {
        let (low, high) = t.report.bounds?;
        Bounds::of(Sums { low: low as f64, high: high as f64 }).ok().map(Bounds::quality)
    })?;
    Some((quality, (quality - 1.0) / median))
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

/// Times answers, chunk by chunk, as every closed pattern is timed.
fn timed<C: Clock>(
    clock: &C,
    spec: &TrialSpec,
    halt: &Halt,
    mut answer: impl FnMut() -> Result<Sums, SessionError>,
) -> Timed {
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

#[cfg(test)]
mod tests;
