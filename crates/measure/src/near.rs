//! The near side of a trial: the loops that are timed. Nothing in them allocates, prints or talks to the far side.

use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::{AnyLink, Connector, Link, LinkError, Proof, Visit};

use crate::buffers::{Buffers, Halt, Slots};
use crate::content::{self, Writer};
use crate::samples::Samples;
use crate::{Pattern, SessionError, TrialReport, TrialSpec};

/// Datagrams lost one after another before a trial is given up: the far side is gone, or nothing gets through.
const LOST_IN_A_ROW: u32 = 10;

/// Late answers thrown away at most in one go: a peer that sends for ever must not hold this side.
const LATE_MOST: u32 = 10_000;

/// Bytes under way at most in an open loop: beyond, both sides could wait for each other to read.
const OPEN_LOOP_WINDOW: u64 = 256 * 1024;

/// Runs the near half of `spec` on `link`, against the monotonic clock.
pub fn trial(link: &mut AnyLink, spec: &TrialSpec, buffers: &mut Buffers) -> Result<TrialReport, SessionError> {
    link.visit(OnAnyLink { spec, buffers })
}

struct OnAnyLink<'a> {
    spec: &'a TrialSpec,
    buffers: &'a mut Buffers,
}

impl Visit for OnAnyLink<'_> {
    type Out = Result<TrialReport, SessionError>;
    fn visit<L: Link>(self, link: &mut L) -> Self::Out {
        run(link, &Monotonic, self.spec, self.buffers)
    }
}

/// Runs the near half of `spec` on a link of a known type, against any clock.
pub fn run<L: Link, C: Clock>(
    link: &mut L,
    clock: &C,
    spec: &TrialSpec,
    buffers: &mut Buffers,
) -> Result<TrialReport, SessionError> {
    let answer = match spec.pattern {
        Pattern::Request => spec.response,
        Pattern::Burst => 1,
        _ => spec.size,
    };
    let capabilities = link.capabilities();
    let skip = if capabilities.reliable { 0 } else { 4 };
    // An unreliable path leaves the sides at different iterations: its contents don't change with them.
    let moving = capabilities.reliable;
    let halt = buffers.halt();
    let (mut out, mut into) = buffers.slots(link, spec, spec.size, answer)?;
    let mut loops = Loops {
        link,
        halt,
        clock,
        spec,
        tally: Tally::default(),
        skip,
        moving,
        writer: if spec.pattern == Pattern::PingPong { Writer::Near } else { Writer::Far },
    };
    if !capabilities.reliable && spec.pattern != Pattern::Stream {
        loops.drain(&mut into)?;
    }
    match (spec.pattern, spec.rate) {
        (Pattern::PingPong | Pattern::Request, Some(rate)) => loops.open_loop(&mut out, &mut into, rate),
        (Pattern::Stream, _) => loops.stream(&mut out),
        _ => loops.closed(&mut out, &mut into),
    }
}

/// What a trial's loop counts beside its times.
#[derive(Default)]
struct Tally {
    lost: u64,
    late: u64,
    /// First wrong byte: iteration, offset, block size.
    wrong: Option<(u64, u64, u64)>,
}

struct Loops<'a, L, C> {
    link: &'a mut L,
    halt: Halt,
    clock: &'a C,
    spec: &'a TrialSpec,
    tally: Tally,
    skip: usize,
    moving: bool,
    writer: Writer,
}

impl<L: Link, C: Clock> Loops<'_, L, C> {
    /// One iteration of a closed pattern, without checking.
    #[inline(always)]
    fn once(&mut self, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        match self.spec.pattern {
            Pattern::Bidirectional => self.link.exchange(out.slot(), into.slot()),
            Pattern::Burst => {
                for _ in 0..self.spec.burst {
                    self.link.send(out.slot())?;
                }
                self.link.flush()?;
                self.link.recv(into.slot())
            }
            _ => {
                self.link.send(out.slot())?;
                self.link.recv(into.slot())
            }
        }
    }

    /// Throws away answers that come after they were given up, so that they aren't taken for the next one's.
    fn drain(&mut self, into: &mut Slots<'_>) -> Result<(), LinkError> {
        for _ in 0..LATE_MOST {
            if !self.link.ready(Duration::ZERO)? || self.link.recv(into.slot()).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn closed(&mut self, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<TrialReport, SessionError> {
        if self.spec.check {
            return self.checked(out, into);
        }
        let mut in_a_row = 0;
        for _ in 0..self.spec.warmup {
            let outcome = self.once(out, into);
            self.survived(outcome, &mut in_a_row)?;
        }
        let (repeats, chunk) = (self.spec.repeats, self.spec.chunk.max(1));
        let mut samples = Samples::new(repeats.div_ceil(chunk), chunk);
        let start = self.clock.now();
        let mut last = start;
        let mut left = repeats;
        while left > 0 {
            self.halt.check()?;
            let now_many = left.min(chunk);
            let mut whole = true;
            for _ in 0..now_many {
                if let Err(e) = self.once(out, into) {
                    self.survived(Err(e), &mut in_a_row)?;
                    self.drain(into)?;
                    whole = false;
                } else {
                    in_a_row = 0;
                }
            }
            left -= now_many;
            let now = self.clock.now();
            // A chunk with a loss in it holds a time-out, not a time.
            if whole {
                samples.push(now - last, now_many);
            }
            last = now;
        }
        Ok(self.report(samples, last - start))
    }

    /// With `--check` every block is filled outside the time and verified as it arrives: iterations are timed one by one.
    fn checked(&mut self, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<TrialReport, SessionError> {
        let spec = self.spec;
        let mut samples = Samples::new(spec.repeats, 1);
        let (mut total, mut in_a_row) = (0, 0);
        for i in 0..spec.warmup + spec.repeats {
            self.halt.check()?;
            let iteration = if self.moving { i } else { 0 };
            let blocks = if spec.pattern == Pattern::Burst { spec.burst } else { 1 };
            let mut took = 0;
            let mut outcome = Ok(());
            for b in 0..blocks {
                let block = out.slot();
                content::fill(block, spec.seed, iteration.wrapping_mul(blocks).wrapping_add(b), Writer::Near);
                let answer = into.slot();
                let begin = self.clock.now();
                outcome = match spec.pattern {
                    Pattern::Bidirectional => self.link.exchange(block, answer),
                    Pattern::Burst if b + 1 < blocks => self.link.send(block),
                    _ => self.link.send(block).and_then(|()| self.link.recv(answer)),
                };
                took += self.clock.now() - begin;
                if outcome.is_err() {
                    break;
                }
                if spec.pattern != Pattern::Burst && self.tally.wrong.is_none() {
                    self.tally.wrong = content::first_wrong(answer, spec.seed, iteration, self.writer, self.skip)
                        .map(|at| (i, at, answer.len() as u64));
                }
            }
            let lost = outcome.is_err();
            self.survived(outcome, &mut in_a_row)?;
            if i >= spec.warmup && !lost {
                samples.push(took, 1);
                total += took;
            }
        }
        self.verdict()?;
        Ok(self.report(samples, total))
    }

    /// Sends without waiting for answers, on schedule; an answer's time counts from the schedule, so that a pause is
    /// charged to every send it held up (no coordinated omission).
    fn open_loop(&mut self, out: &mut Slots<'_>, into: &mut Slots<'_>, rate: f64) -> Result<TrialReport, SessionError> {
        let spec = self.spec;
        let all = spec.warmup + spec.repeats;
        let gap = 1e9 / rate;
        let window = (OPEN_LOOP_WINDOW / (spec.size + spec.response).max(1)).max(1);
        let mut samples = Samples::new(spec.repeats, 1);
        let start = self.clock.now();
        let due = |i: u64| start + (i as f64 * gap) as u64;
        let (mut sent, mut done, mut in_a_row) = (0, 0, 0);
        let mut end = start;
        while done < all {
            self.halt.check()?;
            let now = self.clock.now();
            if sent < all && sent - done < window && now >= due(sent) {
                self.tally.late += u64::from((now - due(sent)) as f64 > gap * 0.05);
                let block = out.slot();
                if spec.check {
                    content::fill(block, spec.seed, if self.moving { sent } else { 0 }, Writer::Near);
                }
                self.link.send(block)?;
                sent += 1;
                continue;
            }
            let wait = if sent == done {
                // Nothing is under way: the next thing to happen is a send.
                if sent < all {
                    self.clock.wait_until(due(sent));
                }
                continue;
            } else if sent < all && sent - done < window {
                // A sleep is too coarse close to the next send.
                Duration::from_nanos(due(sent).saturating_sub(now).saturating_sub(2_000_000))
            } else {
                Duration::from_millis(100)
            };
            let outcome = match self.link.ready(wait) {
                Ok(true) => {
                    let answer = into.slot();
                    self.link.recv(answer).map(|()| {
                        if spec.check && self.tally.wrong.is_none() {
                            let iteration = if self.moving { done } else { 0 };
                            self.tally.wrong =
                                content::first_wrong(answer, spec.seed, iteration, self.writer, self.skip)
                                    .map(|at| (done, at, answer.len() as u64));
                        }
                        true
                    })
                }
                Ok(false) if sent == all || sent - done >= window => {
                    // The window is full or all is sent: wait for an answer, as patiently as the link is.
                    let answer = into.slot();
                    self.link.recv(answer).map(|()| true)
                }
                Ok(false) => Ok(false),
                Err(e) => Err(e),
            };
            match outcome {
                Ok(true) => {
                    end = self.clock.now();
                    if done >= spec.warmup {
                        samples.push(end - due(done), 1);
                    }
                    done += 1;
                }
                Ok(false) => {}
                Err(e) => {
                    self.survived(Err(e), &mut in_a_row)?;
                    done += 1;
                }
            }
        }
        self.verdict()?;
        let begun = due(spec.warmup);
        Ok(self.report(samples, end.saturating_sub(begun)))
    }

    fn stream(&mut self, out: &mut Slots<'_>) -> Result<TrialReport, SessionError> {
        let spec = self.spec;
        let mut start = self.clock.now();
        for i in 0..spec.warmup + spec.repeats {
            self.halt.check()?;
            if i == spec.warmup {
                start = self.clock.now();
            }
            let block = out.slot();
            if spec.check {
                content::fill(block, spec.seed, if self.moving { i } else { 0 }, Writer::Near);
            }
            self.link.send(block)?;
        }
        self.link.flush()?;
        let took = self.clock.now() - start;
        Ok(TrialReport { repeats: spec.repeats, seconds: took as f64 * 1e-9, ..TrialReport::default() })
    }

    /// Counts a loss and goes on; anything else ends the trial.
    fn survived(&mut self, outcome: Result<(), LinkError>, in_a_row: &mut u32) -> Result<(), SessionError> {
        match outcome {
            Ok(()) => {
                *in_a_row = 0;
                Ok(())
            }
            Err(LinkError::Lost) if *in_a_row < LOST_IN_A_ROW => {
                *in_a_row += 1;
                self.tally.lost += 1;
                Ok(())
            }
            Err(LinkError::Lost) => Err(SessionError::Link(LinkError::Stalled {
                doing: "waiting for datagrams, ten of which were lost in a row",
                waited: Duration::ZERO,
            })),
            Err(e) => Err(e.into()),
        }
    }

    fn verdict(&self) -> Result<(), SessionError> {
        match self.tally.wrong {
            None => Ok(()),
            Some((iteration, offset, size)) => {
                Err(SessionError::Corrupt { side: "the near side", size, iteration, offset })
            }
        }
    }

    fn report(&self, samples: Samples, nanoseconds: u64) -> TrialReport {
        let figures = samples.figures();
        TrialReport {
            repeats: self.spec.repeats.saturating_sub(self.tally.lost),
            seconds: nanoseconds as f64 * 1e-9,
            median: figures.median,
            min: figures.min,
            max: figures.max,
            histogram: figures.histogram,
            late: self.tally.late,
            lost: self.tally.lost,
            far: Default::default(),
        }
    }
}

/// Connect, request, response, close, once an iteration (or on schedule, with a rate).
pub fn transactions(
    connector: &mut Connector,
    proof: &Proof,
    spec: &TrialSpec,
    halt: &Halt,
) -> Result<TrialReport, SessionError> {
    transact(&Monotonic, spec, halt, |request, response| connector.transaction(proof, request, response))
}

/// Transactions of whatever makes them, against any clock.
pub fn transact<C: Clock>(
    clock: &C,
    spec: &TrialSpec,
    halt: &Halt,
    mut transaction: impl FnMut(&[u8], &mut [u8]) -> Result<(), LinkError>,
) -> Result<TrialReport, SessionError> {
    let mut request = vec![0; spec.size as usize];
    let mut response = vec![0; spec.response as usize];
    let mut samples = Samples::new(spec.repeats, 1);
    let (mut late, mut lost, mut wrong) = (0, 0, None);
    let mut start = clock.now();
    let mut total = 0;
    for i in 0..spec.warmup + spec.repeats {
        halt.check()?;
        if i == spec.warmup {
            start = clock.now();
        }
        if spec.check {
            content::fill(&mut request, spec.seed, i, Writer::Near);
        }
        let mut begin = clock.now();
        if let Some(rate) = spec.rate.filter(|_| i >= spec.warmup) {
            let due = start + ((i - spec.warmup) as f64 * 1e9 / rate) as u64;
            late += u64::from(begin > due + (5e7 / rate) as u64);
            clock.wait_until(due);
            begin = due;
        }
        match transaction(&request, &mut response) {
            Err(LinkError::Lost) => {
                lost += 1;
                continue;
            }
            outcome => outcome?,
        }
        let end = clock.now();
        if i >= spec.warmup {
            samples.push(end - begin, 1);
            total += end - begin;
        }
        if spec.check && wrong.is_none() {
            wrong = content::first_wrong(&response, spec.seed, i, Writer::Far, 0).map(|at| (i, at));
        }
    }
    if let Some((iteration, offset)) = wrong {
        return Err(SessionError::Corrupt { side: "the near side", size: spec.response, iteration, offset });
    }
    let figures = samples.figures();
    Ok(TrialReport {
        repeats: spec.repeats.saturating_sub(lost),
        seconds: total as f64 * 1e-9,
        median: figures.median,
        min: figures.min,
        max: figures.max,
        histogram: figures.histogram,
        late,
        lost,
        ..TrialReport::default()
    })
}
