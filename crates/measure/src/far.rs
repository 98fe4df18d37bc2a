//! The far side of a trial: answers, and sees what the near side can't.

use transport::clock::{Clock, Monotonic};
use transport::{Acceptor, AnyLink, Link, LinkError, Proof, Semantics, Visit};

use crate::buffers::{Buffers, Halt, Slots};
use crate::content::{self, Writer};
use crate::{FarReport, Pattern, SessionError, TrialSpec, hint};

/// Receive time-outs one after another until an unreliable path's trial counts as over. Long before, the near side says when
/// its half is over; this is for one that can't.
const SILENCES: u32 = 50;

/// Runs the far half of `spec` on `link`.
pub fn trial(link: &mut AnyLink, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
    let before = link.datagrams().unwrap_or_default();
    let report = link.visit(OnAnyLink { spec, buffers })?;
    let after = link.datagrams().unwrap_or_default();
    Ok(FarReport {
        reordered: after.reordered.saturating_sub(before.reordered),
        duplicated: after.duplicated.saturating_sub(before.duplicated),
        ..report
    })
}

struct OnAnyLink<'a> {
    spec: &'a TrialSpec,
    buffers: &'a mut Buffers,
}

impl Visit for OnAnyLink<'_> {
    type Out = Result<FarReport, SessionError>;
    fn visit<L: Link>(self, link: &mut L) -> Self::Out {
        let spec = self.spec;
        if spec.pattern == Pattern::Hint {
            return hint::far(link, spec, self.buffers);
        }
        let answer = match spec.pattern {
            Pattern::Request => spec.response,
            Pattern::Burst => 1,
            _ => spec.size,
        };
        let halt = self.buffers.halt();
        let (out, into) = self.buffers.slots(link, spec, answer, spec.size)?;
        let capabilities = link.capabilities();
        let check = Check { on: spec.check, seed: spec.seed, reliable: capabilities.reliable, wrong: None };
        let mut side = Side { link, spec, halt, out, into, check, report: FarReport::default(), silences: 0 };
        match spec.pattern {
            Pattern::PingPong => side.echo()?,
            Pattern::Request => side.answer()?,
            Pattern::Burst => side.burst()?,
            Pattern::Bidirectional => side.mirror()?,
            Pattern::Stream => side.sink(capabilities.semantics)?,
            Pattern::Connect => return Err(LinkError::Unsupported("run transactions on a kept connection").into()),
            // It has loops of its own, above.
            Pattern::Hint => {}
        }
        Ok(FarReport { corrupt: side.check.wrong, ..side.report })
    }
}

/// Verifies what arrives, where asked, and remembers the first wrong byte.
struct Check {
    on: bool,
    seed: u64,
    reliable: bool,
    wrong: Option<(u64, u64)>,
}

impl Check {
    /// Contents don't change with the iteration where losses leave the sides at different ones.
    fn number(&self, i: u64) -> u64 {
        if self.reliable { i } else { 0 }
    }

    fn verify(&mut self, block: &[u8], i: u64) {
        if self.on && self.wrong.is_none() {
            let skip = if self.reliable { 0 } else { 4 };
            self.wrong = content::first_wrong(block, self.seed, self.number(i), Writer::Near, skip).map(|at| (i, at));
        }
    }

    fn fill(&self, block: &mut [u8], i: u64) {
        if self.on {
            content::fill(block, self.seed, self.number(i), Writer::Far);
        }
    }
}

struct Side<'a, L> {
    link: &'a mut L,
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
    check: Check,
    report: FarReport,
    silences: u32,
}

impl<L: Link> Side<'_, L> {
    fn iterations(&self) -> u64 {
        self.spec.warmup + self.spec.repeats
    }

    /// What a failed receive means: `true`, an unreliable path's trial is over, since the near side said so or has been silent
    /// for long; `false`, go on; anything but a loss ends the trial with an error.
    fn over(&mut self, error: LinkError) -> Result<bool, SessionError> {
        match error {
            LinkError::Lost => {
                self.silences += 1;
                Ok(self.silences >= SILENCES)
            }
            // What is missing won't come: it is lost, and the trial is as complete as it gets.
            LinkError::Interrupted if !self.check.reliable => Ok(true),
            e => Err(e.into()),
        }
    }

    /// An error once the trial should end. On an unreliable path what has arrived is taken first: its receives say when
    /// nothing is left.
    fn go_on(&self) -> Result<(), LinkError> {
        if self.check.reliable { self.halt.check() } else { Ok(()) }
    }

    fn came(&mut self) {
        self.silences = 0;
        self.report.received += 1;
    }

    fn echo(&mut self) -> Result<(), SessionError> {
        while self.report.received < self.iterations() {
            self.go_on()?;
            let block = self.into.slot();
            if let Err(e) = self.link.recv(block) {
                if self.over(e)? {
                    break;
                }
                continue;
            }
            self.check.verify(block, self.report.received);
            self.link.send(block)?;
            self.came();
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<(), SessionError> {
        while self.report.received < self.iterations() {
            self.go_on()?;
            let block = self.into.slot();
            if let Err(e) = self.link.recv(block) {
                if self.over(e)? {
                    break;
                }
                continue;
            }
            self.check.verify(block, self.report.received);
            let response = self.out.slot();
            self.check.fill(response, self.report.received);
            self.link.send(response)?;
            self.came();
        }
        Ok(())
    }

    fn burst(&mut self) -> Result<(), SessionError> {
        let burst = self.spec.burst;
        for i in 0..self.iterations() {
            for b in 0..burst {
                self.go_on()?;
                let block = self.into.slot();
                self.link.recv(block)?;
                self.check.verify(block, i * burst + b);
                self.came();
            }
            self.link.send(self.out.slot())?;
            self.link.flush()?;
        }
        Ok(())
    }

    fn mirror(&mut self) -> Result<(), SessionError> {
        for i in 0..self.iterations() {
            self.go_on()?;
            let response = self.out.slot();
            self.check.fill(response, i);
            let block = self.into.slot();
            match self.link.exchange(response, block) {
                Ok(()) => {
                    self.check.verify(block, i);
                    self.came();
                }
                Err(e) => {
                    if self.over(e)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Receives a stream and times it from its first to its last byte. On a stream the first byte is received alone; where
    /// blocks are messages the clock starts when the first one is here, and its bytes don't count.
    fn sink(&mut self, semantics: Semantics) -> Result<(), SessionError> {
        let clock = Monotonic;
        let (mut first, mut last, mut bytes) = (None, 0, 0);
        let all = self.iterations();
        while self.report.received < all {
            self.go_on()?;
            let block = self.into.slot();
            let begins = first.is_none() && self.report.received >= self.spec.warmup;
            let outcome = if begins && semantics == Semantics::Stream {
                let (head, tail) = block.split_at_mut(1);
                self.link.recv(head).and_then(|()| {
                    first = Some(clock.now());
                    bytes += tail.len() as u64;
                    if tail.is_empty() { Ok(()) } else { self.link.recv(tail) }
                })
            } else {
                self.link.recv(block)
            };
            if let Err(e) = outcome {
                if self.over(e)? {
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
            if !self.check.reliable {
                last = clock.now();
            }
            self.check.verify(block, self.report.received);
            self.came();
        }
        if self.check.reliable {
            last = clock.now();
        }
        if let Some(first) = first {
            self.report.seconds = last.saturating_sub(first) as f64 * 1e-9;
            self.report.bytes = bytes;
        }
        self.report.lost = all - self.report.received;
        Ok(())
    }
}

/// Accepts, answers and closes one connection an iteration.
pub fn transactions(
    acceptor: &mut Acceptor,
    proof: &Proof,
    spec: &TrialSpec,
    halt: &Halt,
) -> Result<FarReport, SessionError> {
    let mut request = vec![0; spec.size as usize];
    let mut response = vec![0; spec.response as usize];
    let mut check = Check { on: spec.check, seed: spec.seed, reliable: true, wrong: None };
    let mut report = FarReport::default();
    for i in 0..spec.warmup + spec.repeats {
        halt.check()?;
        check.fill(&mut response, i);
        acceptor.transaction(proof, &mut request, &response)?;
        check.verify(&request, i);
        report.received += 1;
    }
    Ok(FarReport { corrupt: check.wrong, ..report })
}
