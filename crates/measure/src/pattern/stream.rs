//! Stream: blocks one after another without any answer, timed at the receiver from the first to the last byte. Reversed, the far side
//! sends and the near side is the receiver. At a rate that is offered each message leaves on a schedule, however the last one fared.

use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::theory::{FarRole, TheoryLink};
use transport::{End, Link, Semantics};

use super::facts::answered;
use super::{Answered, Facts, InGroup, LogGp, NetPipe, Seen, Timed};
use crate::buffers::Slots;
use crate::content::Writer;
use crate::cost::Cost;
use crate::event::TimeKind;
use crate::far::Side;
use crate::flows::{Course, Step};
use crate::near::{self, Loops};
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

/// No path that exists moves bytes faster (bytes a second), and none hands over blocks in less time (seconds).
const FASTEST: f64 = 1e12;
const SHORTEST: f64 = 1e-10;
/// How far the far side's clock may run ahead of this one's, as a share, and how coarse either may be, seconds.
const DRIFT: f64 = 0.01;
const COARSE: f64 = 1e-3;
/// The step of the far side's clock may hide so much of a short time, seconds.
const STEP: f64 = 1e-6;
/// Parts of a trial of several flows of which the receiver keeps when they were here: an edge of the time in which all flows ran falls into
/// one, and is known to a part of a part.
const MARKS: u64 = 256;
/// What buffers between the sides hold at most, bytes, which an empty one must have time for at 1 MB/s.
const HELD: u64 = 16 << 20;

const HELP: &str = "Messages one after another without any answer, timed at the receiver";

pub(super) const FACTS: Facts = Facts {
    refuses: |_| None,
    reverses: true,
    unanswered: true,
    in_group: Some(InGroup::Each),
    blocks: |spec| if spec.reverse { (0, spec.size) } else { (spec.size, 0) },
    ways: |_| 1,
    modelled,
    seen,
    drain: |spec| {
        let bytes = spec.size.saturating_mul(spec.repeats.saturating_add(spec.warmup)).min(HELD);
        Duration::from_micros(bytes)
    },
    bandwidth: Some("streams"),
    loggp: Some(LogGp::Gap),
    netpipe: Some(NetPipe {
        counts: 1,
        in_five: true,
        report: |bytes, seconds| {
            near::once().with_far(FarReport { seconds, bytes, received: 1, ..FarReport::default() })
        },
    }),
    ..Facts::new(Some(HELP), TimeKind::OneWay, |_| FarRole::Sink)
};

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    if !spec.reverse {
        let (took, cost) = send(end, clock, spec, workspace)?;
        return Ok(TrialReport { repeats: spec.repeats, seconds: took, cost, ..TrialReport::default() });
    }
    let mut seen = receive(end, &turned(spec), workspace)?;
    match seen.corrupt {
        Some((iteration, offset)) => {
            Err(SessionError::Corrupt { side: "the near side", size: spec.size, iteration, offset })
        }
        None => {
            // What the receiver saw is the path's; what it cost is this side's.
            let (cost, course) = (seen.cost.take(), seen.course.take());
            Ok(TrialReport { repeats: spec.repeats, cost, course, ..TrialReport::default() }.with_far(seen))
        }
    }
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    if !spec.reverse {
        return receive(end, spec, workspace);
    }
    let (seconds, cost) = send(end, &Monotonic, &turned(spec), workspace)?;
    Ok(FarReport { seconds, cost, bytes: spec.repeats.saturating_mul(spec.size), ..FarReport::default() })
}

/// The trial as the other side has it: each half is the other one of a stream that is not reversed.
fn turned(spec: &TrialSpec) -> TrialSpec {
    TrialSpec { reverse: false, ..spec.clone() }
}

/// Sends the stream, and says how many seconds it took after the warm-up, and what it cost: at an offered rate the time up to when the message after the
/// last would leave, so that a rate that was kept is the one that was asked for.
fn send<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Result<(f64, Option<Cost>), SessionError> {
    let (link, out, _) = workspace.slots(end, spec, spec.size, 0)?;
    sent(link, clock, spec, workspace.halt(), out)
}

/// The same on a link whose memory is lent.
pub(super) fn sent<L: Link, C: Clock>(
    link: &mut L,
    clock: &C,
    spec: &TrialSpec,
    halt: Halt,
    mut out: Slots<'_>,
) -> Result<(f64, Option<Cost>), SessionError> {
    let mut loops = Loops::on(link, clock, spec, halt, Writer::Far);
    let gap = spec.gap().map(|seconds| seconds * 1e9);
    let entered = clock.now();
    let halt = loops.halt.clone();
    let leave = |i: u64, gap: f64| {
        let due = entered.saturating_add((i as f64 * gap) as u64);
        clock.wait_unless(due, || halt.check().is_err());
        due
    };
    let mut start = entered;
    for i in 0..spec.warmup + spec.repeats {
        let due = gap.map(|gap| leave(i, gap));
        loops.halt.check()?;
        if i == spec.warmup {
            loops.meter.begin();
            start = due.unwrap_or_else(|| clock.now());
        }
        let block = out.slot();
        loops.fill(block, i);
        loops.link.send(block)?;
    }
    // A schedule is over when the next message would be due: what is then still under way (of queued sends) is none of its time.
    let scheduled = gap.map(|gap| {
        leave(spec.warmup + spec.repeats, gap);
        clock.now()
    });
    loops.link.flush()?;
    let took = (scheduled.unwrap_or_else(|| clock.now()) - start) as f64 * 1e-9;
    loops.meter.end(spec.repeats);
    Ok((took, loops.meter.cost()))
}

/// Receives a stream and times it from its first to its last byte.
fn receive<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    match spec.flows {
        0 | 1 => received::<L, false>(end, spec, workspace),
        _ => received::<L, true>(end, spec, workspace),
    }
}

/// Whether the receiver's clock starts at the first byte, so that all but it counts. Where blocks are messages it starts when the first one is
/// here, whose bytes don't count; and so it does at an offered rate, where the time from a first byte to a last one holds one gap less than
/// messages.
fn from_first_byte(spec: &TrialSpec, semantics: Semantics) -> bool {
    semantics == Semantics::Stream && spec.offered.is_none()
}

/// On a stream the first byte is received alone ([`from_first_byte`]). One of several flows also keeps how it went on, which costs a reading of the clock in [`MARKS`] parts of the trial.
fn received<L: Link, const SEVERAL: bool>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    let clock = Monotonic;
    let from_byte = from_first_byte(spec, end.capabilities().semantics);
    let mut side = Side::new(end, spec, workspace)?;
    let (mut first, mut last, mut bytes) = (None, 0, 0);
    let all = side.iterations();
    let part = (spec.repeats / MARKS).max(1);
    let (mut steps, mut marked) = (Vec::with_capacity(if SEVERAL { 2 * MARKS as usize } else { 0 }), 0);
    while side.report.received < all {
        side.go_on()?;
        let begins = first.is_none() && side.report.received >= spec.warmup;
        if begins {
            side.begin();
        }
        let block = side.into.slot();
        let outcome = if begins && from_byte {
            let (head, tail) = block.split_at_mut(1);
            side.link.recv(head).and_then(|()| {
                first = Some(clock.now());
                bytes += tail.len() as u64;
                if tail.is_empty() { Ok(()) } else { side.link.recv(tail) }
            })
        } else {
            side.link.recv(block)
        };
        if let Err(e) = outcome {
            if side.over(e)? {
                break;
            }
            continue;
        }
        if begins {
            first.get_or_insert_with(|| clock.now());
        } else if first.is_some() {
            bytes += block.len() as u64;
        }
        // One reading a block would cost a small block dearly: only a path that loses blocks needs to know when the
        // last one came before the silence.
        if !side.check.reliable {
            last = clock.now();
        }
        if SEVERAL && first.is_some() {
            // A byte of the first block of a stream came before the clock started, and nothing of a message after it.
            let done = bytes.div_ceil(spec.size.max(1));
            if done - marked >= part {
                let end = if side.check.reliable { clock.now() } else { last };
                steps.push(Step { end, iterations: done - marked, took: 0 });
                marked = done;
            }
        }
        side.check.verify(block, side.report.received);
        side.came();
    }
    if side.check.reliable {
        last = clock.now();
    }
    if let Some(first) = first {
        side.report.seconds = last.saturating_sub(first) as f64 * 1e-9;
        side.report.bytes = bytes;
    }
    if SEVERAL {
        let done = bytes.div_ceil(spec.size.max(1));
        match steps.last_mut() {
            // What was looked at after the last block belongs to the trial's time, and so to its last part's.
            Some(step) if done == marked => step.end = last,
            _ if done > marked => steps.push(Step { end: last, iterations: done - marked, took: 0 }),
            _ => {}
        }
        // What is missing at the end of a path that loses blocks took no time; where nothing came, no time passed at all.
        side.report.course = Some(Course { begin: first.unwrap_or_else(|| clock.now()), steps });
    }
    side.report.lost = all - side.report.received;
    side.done()
}

fn modelled(end: &mut End<TheoryLink>, spec: &TrialSpec, _: f64, workspace: &mut Workspace) -> Timed {
    let clock = end.clock();
    let report = near::run(end, &clock, spec, workspace)?;
    let seen = end.far_report();
    let (from, bytes) = match spec.offered {
        Some(_) => (seen.first_message_ns, seen.bytes.saturating_sub(spec.size)),
        None => (seen.first_byte_ns, seen.bytes),
    };
    let seconds = seen.last_byte_ns.saturating_sub(from) as f64 * 1e-9;
    Ok(report.with_far(FarReport { seconds, bytes, ..answered(end) }))
}

/// What did not come is lost. The time covers, as the far half counts, all but the first byte after the warm-up, or all but the first
/// block ([`from_first_byte`]). A far side that sends counts every byte after the warm-up, and receives nothing.
fn seen(far: &FarReport, spec: &TrialSpec, semantics: Semantics, elapsed: f64) -> Seen {
    let blocks = if spec.reverse { spec.repeats } else { far.received.saturating_sub(spec.warmup) };
    let bytes = match from_first_byte(spec, semantics) {
        _ if spec.reverse => blocks.saturating_mul(spec.size),
        true => blocks.saturating_mul(spec.size).saturating_sub(1),
        false => blocks.saturating_sub(1).saturating_mul(spec.size),
    };
    let waited = spec.gap().filter(|_| spec.reverse).map_or(0.0, |gap| blocks as f64 * gap * (1.0 - DRIFT) - COARSE);
    let least = (bytes as f64 / FASTEST).max((blocks as f64 - 1.0) * SHORTEST) - STEP;
    Seen {
        lost: if spec.reverse { 0 } else { spec.repeats.saturating_add(spec.warmup).saturating_sub(far.received) },
        bytes,
        shortest: if bytes > 0 { least.max(waited) } else { 0.0 },
        longest: elapsed * (1.0 + DRIFT) + COARSE,
    }
}

#[cfg(test)]
mod tests {
    use transport::{Capabilities, LinkError};

    use super::*;
    use crate::Pattern;

    /// A path on which nothing arrives.
    struct Silent;

    impl Link for Silent {
        fn capabilities(&self) -> Capabilities {
            Capabilities { reliable: false, semantics: Semantics::Message, ..Capabilities::plain() }
        }
        fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
            Ok(())
        }
        fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
            Err(LinkError::Lost)
        }
        fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
            Err(LinkError::Lost)
        }
        fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
            Ok(false)
        }
        fn close(&mut self) -> Result<(), LinkError> {
            Ok(())
        }
    }

    #[test]
    fn a_flow_of_which_nothing_came_still_says_that_it_had_no_time() {
        let spec = TrialSpec { flows: 2, ..TrialSpec::plain(Pattern::Stream, 100, 20) };
        let report = crate::far::run(&mut End::new(Silent), &spec, &mut Workspace::new(false)).unwrap();
        assert_eq!((report.lost, report.seconds), (20, 0.0));
        assert_eq!(report.course.map(|course| course.steps.len()), Some(0));
        let alone = TrialSpec { flows: 1, ..spec };
        assert_eq!(crate::far::run(&mut End::new(Silent), &alone, &mut Workspace::new(false)).unwrap().course, None);
    }
}
