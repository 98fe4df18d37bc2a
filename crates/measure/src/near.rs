//! The near side of a trial: the timed loops that patterns share. Nothing in them allocates, prints or talks to the far side.

use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::{AnyLink, End, Link, LinkError, Visit};

use crate::buffers::Slots;
use crate::content::{self, Writer};
use crate::level::level;
use crate::meter::Meter;
use crate::samples::Samples;
use crate::workspace::{Halt, Workspace};
use crate::{SessionError, Tcp, TrialReport, TrialSpec};

/// Successive lost datagrams after which a trial is given up: the far side is gone, or nothing gets through.
pub(crate) const LOST_IN_A_ROW: u32 = 10;

/// Most late answers that are discarded at once: a peer that sends for ever must not hold this side.
const LATE_MOST: u32 = 10_000;

/// Most bytes and messages under way in an open loop: beyond what a path holds in each direction (64 KiB in a pipe, 64 messages in a
/// shared-memory lane), both sides could wait for each other to read. A send that the window holds back is timed from its schedule, as any
/// late one.
const OPEN_LOOP_BYTES: u64 = 32 * 1024;
const OPEN_LOOP_MESSAGES: u64 = 32;

/// Runs the near half of `spec` on `link`, against the monotonic clock.
pub fn trial(link: &mut AnyLink, spec: &TrialSpec, workspace: &mut Workspace) -> Result<TrialReport, SessionError> {
    let before = link.datagrams().unwrap_or_default();
    let connection = link.tcp_state();
    let report = link.visit(OnAnyLink { spec, workspace })?;
    let tcp = connection.and_then(|before| Some(Tcp::between(before, link.tcp_state()?)));
    let after = link.datagrams().unwrap_or_default();
    Ok(TrialReport {
        reordered: after.reordered.saturating_sub(before.reordered),
        duplicated: after.duplicated.saturating_sub(before.duplicated),
        tcp,
        ..report
    })
}

struct OnAnyLink<'a> {
    spec: &'a TrialSpec,
    workspace: &'a mut Workspace,
}

impl Visit for OnAnyLink<'_> {
    type Out = Result<TrialReport, SessionError>;
    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out {
        run(end, &Monotonic, self.spec, self.workspace)
    }
}

/// Runs the near half of `spec` on a link of a known type, against any clock.
pub fn run<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Result<TrialReport, SessionError> {
    level(end, spec, |end| spec.pattern.near(end, clock, spec, workspace))
}

/// The near half of a pattern whose messages are each answered by one, which `writer` filled: a closed loop, or an open one.
pub(crate) fn round_trips<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
    writer: Writer,
) -> Result<TrialReport, SessionError> {
    let (mut loops, mut out, mut into) = Loops::new(end, clock, spec, workspace, writer)?;
    match spec.rate {
        Some(rate) => loops.open_loop(&mut out, &mut into, rate),
        None => loops.closed(&RoundTrip, &mut out, &mut into),
    }
}

/// One iteration of a closed pattern.
pub(crate) trait Turn<L: Link> {
    /// Whether the answer has contents that can be verified.
    const CONTENTS: bool = true;
    /// Whether those contents differ from one iteration to the next.
    const MOVING: bool = true;

    /// Messages of an iteration.
    fn messages(&self) -> u64 {
        1
    }

    /// Does what belongs to message `number` of the iteration: sends `message`, receives `answer`, or both.
    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], number: u64) -> Result<(), LinkError>;

    /// Fetches an answer that the iteration itself did not bring, after it was timed.
    fn fetch(&self, _link: &mut L, _answer: &mut [u8]) -> Result<(), LinkError> {
        Ok(())
    }

    /// The whole iteration, without checking.
    #[inline(always)]
    fn once(&self, link: &mut L, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        self.step(link, out.slot(), into.slot(), 0)
    }
}

/// A message there, a message back.
struct RoundTrip;

impl<L: Link> Turn<L> for RoundTrip {
    #[inline(always)]
    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], _: u64) -> Result<(), LinkError> {
        link.send(message)?;
        link.recv(answer)
    }

    // Nothing of the answer's memory is worked out between the last answer and the send.
    #[inline(always)]
    fn once(&self, link: &mut L, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        link.send(out.slot())?;
        link.recv(into.slot())
    }
}

/// What a trial's loop counts besides its times.
#[derive(Default)]
struct Tally {
    lost: u64,
    late: u64,
    /// First wrong byte: iteration, offset.
    wrong: Option<(u64, u64)>,
}

/// What the near halves share.
pub(crate) struct Loops<'a, L, C> {
    pub(crate) link: &'a mut L,
    pub(crate) halt: Halt,
    pub(crate) meter: Meter,
    clock: &'a C,
    spec: &'a TrialSpec,
    tally: Tally,
    /// First bytes of a message, which its path writes and which are not checked.
    skip: usize,
    /// Whether contents change with the iteration: not where losses may leave the sides at different iterations.
    moving: bool,
    writer: Writer,
}

impl<'a, L: Link, C: Clock> Loops<'a, L, C> {
    /// The loops of a trial, with its memory to send from and to receive into. `writer` fills what is received.
    pub(crate) fn new(
        end: &'a mut End<L>,
        clock: &'a C,
        spec: &'a TrialSpec,
        workspace: &Workspace,
        writer: Writer,
    ) -> Result<(Self, Slots<'a>, Slots<'a>), LinkError> {
        let (there, back) = (spec.pattern.facts().messages)(spec);
        let (link, out, into) = workspace.slots(end, spec, there, back)?;
        Ok((Self::on(link, clock, spec, workspace.halt(), writer), out, into))
    }

    /// The loops of a trial on a link with the memory it was lent.
    pub(crate) fn on(link: &'a mut L, clock: &'a C, spec: &'a TrialSpec, halt: Halt, writer: Writer) -> Self {
        let moving = link.capabilities().reliable;
        let skip = if moving { 0 } else { 4 };
        let meter = Meter::new(clock, spec);
        Self { link, halt, meter, clock, spec, tally: Tally::default(), skip, moving, writer }
    }

    /// Fills a message that iteration `i` sends, where contents are checked.
    #[inline(always)]
    pub(crate) fn fill(&self, message: &mut [u8], i: u64) {
        if self.spec.check {
            content::fill(message, self.spec.seed, if self.moving { i } else { 0 }, Writer::Near);
        }
    }

    /// Discards answers that arrive after they were given up, so that they aren't taken for the next one's.
    fn drain(&mut self, into: &mut Slots<'_>) -> Result<(), LinkError> {
        for _ in 0..LATE_MOST {
            if !self.link.ready(Duration::ZERO)? || self.link.recv(into.slot()).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// One iteration of `turn` after another.
    pub(crate) fn closed<T: Turn<L>>(
        &mut self,
        turn: &T,
        out: &mut Slots<'_>,
        into: &mut Slots<'_>,
    ) -> Result<TrialReport, SessionError> {
        if !self.moving {
            self.drain(into)?;
        }
        if self.spec.check {
            return self.checked(turn, out, into);
        }
        let mut in_a_row = 0;
        let entered = self.clock.now();
        for _ in 0..self.spec.warmup {
            let outcome = turn.once(self.link, out, into);
            if self.survived(outcome, &mut in_a_row)? {
                self.drain(into)?;
            }
        }
        self.tally.lost = 0;
        let (repeats, chunk) = (self.spec.repeats, self.spec.chunk.max(1));
        let samples = Samples::new(repeats.div_ceil(chunk), chunk).of_flows(self.spec.flows);
        self.meter.begin();
        let start = self.clock.now();
        let mut samples = samples.following(start.saturating_sub(entered));
        let mut last = start;
        let (mut left, mut total, mut whole_ones) = (repeats, 0, 0);
        while left > 0 {
            self.halt.check()?;
            let now_many = left.min(chunk);
            let mut whole = true;
            for _ in 0..now_many {
                // Errors are handled out of line: a whole iteration must cost nothing but itself.
                match turn.once(self.link, out, into) {
                    Ok(()) => in_a_row = 0,
                    Err(e) => {
                        self.survived(Err(e), &mut in_a_row)?;
                        self.drain(into)?;
                        whole = false;
                    }
                }
            }
            left -= now_many;
            let now = self.clock.now();
            // A chunk with a loss in it holds a time-out, not a time.
            if whole {
                samples.push_at(now, now - last, now_many);
                total += now - last;
                whole_ones += now_many;
            }
            last = now;
        }
        self.meter.end(repeats);
        let course = samples.course(start, last, whole_ones);
        Ok(TrialReport { course, ..self.report(samples, whole_ones, total) })
    }

    /// With `--check` every message is filled outside the time and verified as it arrives: iterations are timed one by one.
    fn checked<T: Turn<L>>(
        &mut self,
        turn: &T,
        out: &mut Slots<'_>,
        into: &mut Slots<'_>,
    ) -> Result<TrialReport, SessionError> {
        let spec = self.spec;
        let mut samples = Samples::new(spec.repeats, 1).of_flows(spec.flows);
        let (mut total, mut whole_ones, mut in_a_row) = (0, 0, 0);
        let mut start = 0;
        for i in 0..spec.warmup + spec.repeats {
            self.halt.check()?;
            if i == spec.warmup {
                self.tally.lost = 0;
                start = self.clock.now();
            }
            let iteration = if self.moving { i } else { 0 };
            let messages = turn.messages();
            let mut took = 0;
            let mut outcome = Ok(());
            for b in 0..messages {
                let number = iteration.wrapping_mul(messages).wrapping_add(b);
                let message = out.slot();
                content::fill(message, spec.seed, number, Writer::Near);
                let answer = into.slot();
                if !T::MOVING {
                    // The contents of the last answer must not pass for those of the next.
                    answer.iter_mut().for_each(|byte| *byte = !*byte);
                }
                let begin = self.clock.now();
                outcome = turn.step(self.link, message, answer, b);
                took += self.clock.now() - begin;
                outcome = outcome.and_then(|()| turn.fetch(self.link, answer));
                if outcome.is_err() {
                    break;
                }
                let number = if T::MOVING { number } else { 0 };
                if T::CONTENTS && self.tally.wrong.is_none() {
                    let wrong = content::first_wrong(answer, spec.seed, number, self.writer, self.skip);
                    self.tally.wrong = wrong.map(|at| (i, at));
                }
            }
            if self.survived(outcome, &mut in_a_row)? {
                self.drain(into)?;
            } else if i >= spec.warmup {
                samples.push_at(self.clock.now(), took, 1);
                total += took;
                whole_ones += 1;
            }
        }
        let course = samples.course(start, self.clock.now(), whole_ones);
        self.verdict(into)?;
        Ok(TrialReport { course, ..self.report(samples, whole_ones, total) })
    }

    /// Sends on schedule without waiting for answers; an answer's time counts from the schedule, so that a pause is part of the time of
    /// every send that it delayed (no coordinated omission).
    fn open_loop(&mut self, out: &mut Slots<'_>, into: &mut Slots<'_>, rate: f64) -> Result<TrialReport, SessionError> {
        let spec = self.spec;
        let all = spec.warmup + spec.repeats;
        let gap = 1e9 / rate;
        let window = (OPEN_LOOP_BYTES / spec.size.max(spec.response).max(1)).clamp(1, OPEN_LOOP_MESSAGES);
        let mut samples = Samples::new(spec.repeats, 1);
        // Sends of the warm-up and answers to them overlap with those that are timed: all of them count.
        self.meter.begin();
        let start = self.clock.now();
        let due = |i: u64| start + (i as f64 * gap) as u64;
        let (mut sent, mut done) = (0, 0);
        let mut end = start;
        while done < all {
            self.halt.check()?;
            let now = self.clock.now();
            let may_send = sent < all && sent - done < window;
            // Answers that have arrived are received first: a peer that can't hand over its answers stops reading.
            let wait = if sent == done {
                None
            } else if !may_send {
                // The window is full or all is sent: wait for an answer, up to the link's time-out.
                Some(None)
            } else if now >= due(sent) {
                Some(Some(Duration::ZERO))
            } else {
                // A sleep is too coarse close to the next send.
                Some(Some(Duration::from_nanos((due(sent) - now).saturating_sub(2_000_000))))
            };
            let answered = match wait {
                None => false,
                Some(None) => true,
                Some(Some(wait)) => self.link.ready(wait)?,
            };
            if answered {
                let answer = into.slot();
                self.link.recv(answer)?;
                end = self.clock.now();
                if spec.check && self.tally.wrong.is_none() {
                    let wrong = content::first_wrong(answer, spec.seed, done, self.writer, self.skip);
                    self.tally.wrong = wrong.map(|at| (done, at));
                }
                if done >= spec.warmup {
                    samples.push(end - due(done), 1);
                }
                done += 1;
            } else if may_send && now >= due(sent) {
                self.tally.late += u64::from(sent >= spec.warmup && (now - due(sent)) as f64 > gap * 0.05);
                let message = out.slot();
                if spec.check {
                    content::fill(message, spec.seed, sent, Writer::Near);
                }
                self.link.send(message)?;
                sent += 1;
            } else if sent == done {
                // Nothing is under way: the next thing to happen is a send.
                self.clock.wait_unless(due(sent), || self.halt.check().is_err());
            }
        }
        self.meter.end(all);
        self.verdict(into)?;
        let begun = due(spec.warmup);
        Ok(self.report(samples, spec.repeats, end.saturating_sub(begun)))
    }

    /// Whether the iteration was not lost; a loss is counted, and anything but a loss ends the trial.
    fn survived(&mut self, outcome: Result<(), LinkError>, in_a_row: &mut u32) -> Result<bool, SessionError> {
        match outcome {
            Ok(()) => {
                *in_a_row = 0;
                Ok(false)
            }
            Err(LinkError::Lost) if *in_a_row + 1 < LOST_IN_A_ROW => {
                *in_a_row += 1;
                self.tally.lost += 1;
                Ok(true)
            }
            Err(LinkError::Lost) => Err(SessionError::NothingArrives { in_a_row: LOST_IN_A_ROW }),
            Err(e) => Err(e.into()),
        }
    }

    /// What was wrong with what was received into this memory.
    fn verdict(&self, into: &Slots<'_>) -> Result<(), SessionError> {
        SessionError::contents("the near side", into.size(), self.tally.wrong, into.spilled())
    }

    /// `repeats` iterations completed in `nanoseconds`.
    fn report(&self, samples: Samples, repeats: u64, nanoseconds: u64) -> TrialReport {
        TrialReport {
            late: self.tally.late,
            lost: self.tally.lost,
            cost: self.meter.cost(),
            ..sampled(samples, repeats, nanoseconds)
        }
    }
}

/// The report of one iteration of which nothing else is known yet.
pub(crate) fn once() -> TrialReport {
    TrialReport { repeats: 1, ..TrialReport::default() }
}

/// What the times of `repeats` iterations come to, which took `nanoseconds` in all.
pub(crate) fn sampled(samples: Samples, repeats: u64, nanoseconds: u64) -> TrialReport {
    let figures = samples.figures();
    TrialReport {
        repeats,
        seconds: nanoseconds as f64 * 1e-9,
        median: figures.median,
        min: figures.min,
        max: figures.max,
        histogram: figures.histogram,
        pauses: figures.pauses,
        ..TrialReport::default()
    }
}
