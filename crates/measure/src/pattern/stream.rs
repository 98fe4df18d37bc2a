//! Stream: messages one after another without any answer, timed at the receiver. Reversed, the far side sends and the near side is the
//! receiver. At an offered rate each message leaves on a schedule, whether or not the last one was late.
//!
//! The receiver's clock runs from the moment when the last message of the warm-up had arrived whole to the moment when the last of all had,
//! which is the time of as many messages as came between. From the first byte on it would be the time of one message fewer wherever
//! messages arrive whole, as behind a shaper or out of a large buffer: n messages would show n/(n-1) of the rate, and a single one the
//! speed of a copy.

use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::theory::{FarRole, TheoryLink};
use transport::{End, Link};

use super::facts::answered;
use super::{Answered, Facts, InGroup, LogGpPart, NetPipe, Seen, Timed};
use crate::buffers::Slots;
use crate::content::Writer;
use crate::cost::Cost;
use crate::event::TimeKind;
use crate::far::Side;
use crate::flows::{Course, Step};
use crate::near::{self, Loops};
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

/// No path that exists moves bytes faster (bytes a second), and none hands over messages in less time (seconds).
const FASTEST: f64 = 1e12;
const SHORTEST: f64 = 1e-10;
/// How far the far side's clock may run ahead of this one's, as a share, and how coarse either may be, seconds.
const DRIFT: f64 = 0.01;
const COARSE: f64 = 1e-3;
/// Resolution of the far side's clock, seconds: a short time may be off by as much.
const STEP: f64 = 1e-6;
/// Parts of a trial of several flows whose moments the receiver keeps: the time in which all flows ran begins and ends within a part, and
/// is known to a fraction of it.
const MARKS: u64 = 256;
/// Most bytes that buffers between the sides hold; at 1 MB/s there must be time to drain them.
const HELD: u64 = 16 << 20;

/// Fewest messages of a trial: with three, one message that lies in a buffer would be a third.
const FEWEST: u64 = 8;

const HELP: &str = "Messages one after another without any answer, timed at the receiver";

pub(super) const FACTS: Facts = Facts {
    refuses: |_| None,
    reverses: true,
    unanswered: true,
    in_group: Some(InGroup::Each),
    messages: |spec| if spec.reverse { (0, spec.size) } else { (spec.size, 0) },
    ways: |_| 1,
    fewest: FEWEST,
    modelled,
    seen,
    drain: |spec| {
        let bytes = spec.size.saturating_mul(spec.repeats.saturating_add(spec.warmup)).min(HELD);
        Duration::from_micros(bytes)
    },
    bandwidth: Some("streams"),
    loggp: Some(LogGpPart::Gap),
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
    SessionError::contents("the near side", spec.size, seen.corrupt, seen.spilled)?;
    // What the receiver saw is the path's; the cost is this side's.
    let (cost, course) = (seen.cost.take(), seen.course.take());
    Ok(TrialReport { repeats: spec.repeats, cost, course, ..TrialReport::default() }.with_far(seen))
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    if !spec.reverse {
        return receive(end, spec, workspace);
    }
    let (seconds, cost) = send(end, &Monotonic, &turned(spec), workspace)?;
    Ok(handed_over(spec, seconds, cost))
}

/// Report of a far side that sends: in how many seconds it handed over how much.
pub(super) fn handed_over(spec: &TrialSpec, seconds: f64, cost: Option<Cost>) -> FarReport {
    FarReport { seconds, cost, bytes: spec.repeats.saturating_mul(spec.size), ..FarReport::default() }
}

/// The trial with near and far side exchanged: a reversed stream is one that is not reversed, run by the other sides.
pub(super) fn turned(spec: &TrialSpec) -> TrialSpec {
    TrialSpec { reverse: false, ..spec.clone() }
}

/// Sends the stream; returns the seconds from the end of the warm-up until the last message was handed over, and the cost. At an offered
/// rate it is the time up to when the message after the last would leave, so that a rate that was kept is the one that was asked for. What
/// is then still under way (queued sends, or held for a latency) does not count in the sender's time, which must never be longer than that
/// of so many messages on the path.
fn send<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Result<(f64, Option<Cost>), SessionError> {
    let (link, out, _) = workspace.slots(end, spec, spec.size, 0)?;
    sent(link, clock, spec, workspace.halt(), out)
}

/// The same on a link with the memory it was lent.
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
        let message = out.slot();
        loops.fill(message, i);
        loops.link.send(message)?;
    }
    if let Some(gap) = gap {
        leave(spec.warmup + spec.repeats, gap);
    }
    let took = (clock.now() - start) as f64 * 1e-9;
    loops.link.flush()?;
    loops.meter.end(spec.repeats);
    Ok((took, loops.meter.cost()))
}

/// Receives a stream and times it.
fn receive<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    match spec.flows {
        0 | 1 => received::<L, _, false>(end, &Monotonic, spec, workspace),
        _ => received::<L, _, true>(end, &Monotonic, spec, workspace),
    }
}

/// Messages that have arrived when the receiver's clock starts: those of the warm-up; without any, the first message.
fn before(spec: &TrialSpec) -> u64 {
    spec.warmup.max(1)
}

/// Receives a stream and times it from its last message of the warm-up on. One of several flows also keeps its course, which costs a
/// reading of the clock in each of [`MARKS`] parts of the trial.
fn received<L: Link, C: Clock, const SEVERAL: bool>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Answered {
    let mut side = Side::new(end, spec, workspace)?;
    let (mut first, mut last, mut done) = (None, 0, 0);
    let (all, before) = (side.iterations(), before(spec));
    let part = (spec.repeats / MARKS).max(1);
    let (mut steps, mut marked) = (Vec::with_capacity(if SEVERAL { 2 * MARKS as usize } else { 0 }), 0);
    if spec.warmup == 0 {
        side.begin();
    }
    while side.report.received < all {
        side.go_on()?;
        let message = side.into.slot();
        if let Err(e) = side.link.recv(message) {
            if side.over(e)? {
                break;
            }
            continue;
        }
        // A reading for each message would be a large part of a small message's time: only a path that loses messages needs to know when
        // the last one came before the silence.
        if !side.check.reliable {
            last = clock.now();
        }
        side.check.verify(message, side.report.received);
        side.came();
        if first.is_some() {
            done += 1;
            if SEVERAL && done - marked >= part {
                let end = if side.check.reliable { clock.now() } else { last };
                steps.push(Step { end, iterations: done - marked, took: 0 });
                marked = done;
            }
        } else if side.report.received == before {
            if spec.warmup > 0 {
                side.begin();
            }
            first = Some(if side.check.reliable { clock.now() } else { last });
        }
    }
    if side.check.reliable {
        last = clock.now();
    }
    if let Some(first) = first {
        side.report.seconds = last.saturating_sub(first) as f64 * 1e-9;
        side.report.bytes = done.saturating_mul(spec.size);
    }
    if SEVERAL {
        match steps.last_mut() {
            // The time after the last message that was still received belongs to the trial, and so to its last part.
            Some(step) if done == marked => step.end = last,
            _ if done > marked => steps.push(Step { end: last, iterations: done - marked, took: 0 }),
            _ => {}
        }
        // What is missing at the end of a path that loses messages took no time; where nothing came, no time passed at all.
        side.report.course = Some(Course { begin: first.unwrap_or_else(|| clock.now()), steps });
    }
    side.report.lost = all - side.report.received;
    side.done()
}

fn modelled(end: &mut End<TheoryLink>, spec: &TrialSpec, _: f64, workspace: &mut Workspace) -> Timed {
    let clock = end.clock();
    let report = near::run(end, &clock, spec, workspace)?;
    let seen = end.far_report();
    let (from, bytes) = match seen.skipped_ns {
        0 => (seen.first_message_ns, seen.bytes.saturating_sub(spec.size)),
        skipped => (skipped, seen.bytes),
    };
    let seconds = seen.last_byte_ns.saturating_sub(from) as f64 * 1e-9;
    Ok(report.with_far(FarReport { seconds, bytes, ..answered(end) }))
}

/// What did not come is lost. The time covers, as the far half counts, all messages but those that had arrived when its clock starts. A far
/// side that sends counts every byte after the warm-up, and receives nothing.
fn seen(far: &FarReport, spec: &TrialSpec, elapsed: f64) -> Seen {
    let messages = if spec.reverse { spec.repeats } else { far.received.saturating_sub(before(spec)) };
    let bytes = messages.saturating_mul(spec.size);
    let waited = spec.gap().filter(|_| spec.reverse).map_or(0.0, |gap| messages as f64 * gap * (1.0 - DRIFT) - COARSE);
    let least = (bytes as f64 / FASTEST).max((messages as f64 - 1.0) * SHORTEST) - STEP;
    Seen {
        lost: if spec.reverse { 0 } else { spec.repeats.saturating_add(spec.warmup).saturating_sub(far.received) },
        bytes,
        shortest: if bytes > 0 { least.max(waited) } else { 0.0 },
        longest: elapsed * (1.0 + DRIFT) + COARSE,
    }
}

#[cfg(test)]
mod tests {
    use transport::clock::Virtual;
    use transport::{Capabilities, LinkError, Semantics};

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

    /// A path on which whole messages arrive, each at its moment: earlier ones lie in a buffer until they are asked for.
    struct Whole {
        clock: Virtual,
        at: std::vec::IntoIter<u64>,
    }

    impl Link for Whole {
        fn capabilities(&self) -> Capabilities {
            Capabilities::plain()
        }
        fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
            Ok(())
        }
        fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
            self.clock.wait_until(self.at.next().ok_or(LinkError::Lost)?);
            Ok(())
        }
        fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
            Err(LinkError::Lost)
        }
        fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
            Ok(true)
        }
        fn close(&mut self) -> Result<(), LinkError> {
            Ok(())
        }
    }

    /// What the receiver reports of messages that arrive whole every microsecond.
    fn every_microsecond<const SEVERAL: bool>(spec: &TrialSpec) -> FarReport {
        let clock = Virtual::default();
        let at: Vec<u64> = (1..=spec.warmup + spec.repeats).map(|i| 5000 + i * 1000).collect();
        let mut end = End::new(Whole { clock: clock.clone(), at: at.into_iter() });
        received::<_, _, SEVERAL>(&mut end, &clock, spec, &mut Workspace::new(false)).unwrap()
    }

    #[test]
    fn messages_that_arrive_whole_show_the_rate_however_few_they_are() {
        for (warmup, repeats) in [(1, 1), (1, 2), (1, 3), (2, 20), (50, 1000)] {
            let spec = TrialSpec { warmup, ..TrialSpec::plain(Pattern::Stream, 1000, repeats) };
            let far = every_microsecond::<false>(&spec);
            assert_eq!(far.bytes, repeats * 1000);
            assert!((far.seconds - repeats as f64 * 1e-6).abs() < 1e-12, "{warmup} {repeats}: {far:?}");
            let bounds = seen(&far, &spec, 1.0);
            assert!(bounds.bytes == far.bytes && bounds.shortest <= far.seconds, "{bounds:?}");
        }
    }

    #[test]
    fn without_a_warm_up_the_first_message_starts_the_clock_and_does_not_count() {
        for (repeats, seconds) in [(1, 0.0), (2, 1e-6), (100, 99e-6)] {
            let spec = TrialSpec::plain(Pattern::Stream, 1000, repeats);
            let far = every_microsecond::<false>(&spec);
            assert_eq!((far.received, far.bytes), (repeats, (repeats - 1) * 1000));
            assert!((far.seconds - seconds).abs() < 1e-12, "{far:?}");
            assert_eq!(seen(&far, &spec, 1.0).bytes, far.bytes);
        }
    }

    #[test]
    fn the_course_of_a_flow_begins_when_the_warm_up_is_here() {
        let spec = TrialSpec { warmup: 3, flows: 2, ..TrialSpec::plain(Pattern::Stream, 1000, 2000) };
        let far = every_microsecond::<true>(&spec);
        let course = far.course.unwrap();
        assert_eq!((course.begin, course.steps.last().unwrap().end), (8000, 2_008_000));
        assert_eq!(course.steps.iter().map(|step| step.iterations).sum::<u64>(), 2000);
        assert_eq!((far.bytes, far.seconds), (2_000_000, 2e-3));
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
