//! The far side of a trial: it answers, and counts what the near side can't see. What the patterns' far halves share.

use transport::clock::Monotonic;
use transport::{AnyLink, End, Link, LinkError, Visit};

use crate::buffers::Slots;
use crate::content::{self, Writer};
use crate::level::level;
use crate::meter::Meter;
use crate::workspace::{Halt, Workspace};
use crate::{FarReport, SessionError, TrialSpec};

/// Successive receive time-outs after which an unreliable path's trial counts as over. Usually the near side has said so long before; this
/// is for one that can't.
const SILENCES: u32 = 50;

/// Runs the far half of `spec` on `link`.
pub fn trial(link: &mut AnyLink, spec: &TrialSpec, workspace: &mut Workspace) -> Result<FarReport, SessionError> {
    let before = link.datagrams().unwrap_or_default();
    let report = link.visit(OnAnyLink { spec, workspace })?;
    let after = link.datagrams().unwrap_or_default();
    Ok(FarReport {
        reordered: after.reordered.saturating_sub(before.reordered),
        duplicated: after.duplicated.saturating_sub(before.duplicated),
        strangers: after.strangers.saturating_sub(before.strangers),
        ..report
    })
}

struct OnAnyLink<'a> {
    spec: &'a TrialSpec,
    workspace: &'a mut Workspace,
}

impl Visit for OnAnyLink<'_> {
    type Out = Result<FarReport, SessionError>;
    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out {
        run(end, self.spec, self.workspace)
    }
}

/// Runs the far half of `spec` on a link of a known type.
pub fn run<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Result<FarReport, SessionError> {
    let answered = level(end, spec, |end| spec.pattern.far(end, spec, workspace))?;
    // A link may hold back its last answer to send it with the next message, which does not come.
    end.flush()?;
    Ok(answered)
}

/// Verifies what arrives, where asked, and remembers the first wrong byte.
pub(crate) struct Check {
    on: bool,
    seed: u64,
    pub(crate) reliable: bool,
    pub(crate) wrong: Option<(u64, u64)>,
}

impl Check {
    pub(crate) fn new(spec: &TrialSpec, reliable: bool) -> Self {
        Self { on: spec.check, seed: spec.seed, reliable, wrong: None }
    }

    /// Where losses may leave the sides at different iterations, contents don't change with the iteration.
    fn number(&self, i: u64) -> u64 {
        if self.reliable { i } else { 0 }
    }

    pub(crate) fn verify(&mut self, message: &[u8], i: u64) {
        if self.on && self.wrong.is_none() {
            let skip = if self.reliable { 0 } else { 4 };
            self.wrong = content::first_wrong(message, self.seed, self.number(i), Writer::Near, skip).map(|at| (i, at));
        }
    }

    pub(crate) fn fill(&self, message: &mut [u8], i: u64) {
        if self.on {
            content::fill(message, self.seed, self.number(i), Writer::Far);
        }
    }
}

/// What an iteration of [`Side::each`] may answer with.
pub(crate) struct Answer<'s, 'm> {
    out: &'s mut Slots<'m>,
    check: &'s Check,
    number: u64,
}

impl<'s> Answer<'s, '_> {
    /// A message of this side's own, with contents where they are checked.
    #[inline(always)]
    pub(crate) fn filled(self) -> &'s [u8] {
        let message = self.out.slot();
        self.check.fill(message, self.number);
        message
    }
}

/// What the far halves share.
pub(crate) struct Side<'a, L> {
    pub(crate) link: &'a mut L,
    pub(crate) out: Slots<'a>,
    pub(crate) into: Slots<'a>,
    pub(crate) check: Check,
    pub(crate) report: FarReport,
    spec: &'a TrialSpec,
    halt: Halt,
    silences: u32,
    meter: Meter,
    /// Messages that had arrived when the meter began.
    before: u64,
}

impl<'a, L: Link> Side<'a, L> {
    pub(crate) fn new(end: &'a mut End<L>, spec: &'a TrialSpec, workspace: &Workspace) -> Result<Self, LinkError> {
        let (there, back) = (spec.pattern.facts().messages)(spec);
        let (link, out, into) = workspace.slots(end, spec, back, there)?;
        Ok(Self::on(link, spec, workspace.halt(), out, into))
    }

    /// The far half on a link with the memory it was lent.
    pub(crate) fn on(link: &'a mut L, spec: &'a TrialSpec, halt: Halt, out: Slots<'a>, into: Slots<'a>) -> Self {
        let check = Check::new(spec, link.capabilities().reliable);
        let meter = Meter::new(&Monotonic, spec);
        let report = FarReport::default();
        Self { link, spec, halt, out, into, check, report, silences: 0, meter, before: 0 }
    }

    /// What was seen, once the trial is over.
    pub(crate) fn done(mut self) -> Result<FarReport, SessionError> {
        let messages = self.report.received - self.before;
        // Where this side sends the burst, one request an iteration arrived.
        let each = if self.spec.reverse { 1 } else { self.spec.pattern.facts().sends(self.spec).max(1) };
        self.meter.end(messages / each);
        let spilled = self.into.spilled();
        Ok(FarReport { corrupt: self.check.wrong, spilled, cost: self.meter.cost(), ..self.report })
    }

    pub(crate) fn iterations(&self) -> u64 {
        self.spec.warmup + self.spec.repeats
    }

    /// Iterations at which the warm-up ends, and at which those end that the near side times: [`Side::begin`] comes before each part.
    pub(crate) fn parts(&self) -> [u64; 2] {
        [self.spec.warmup, self.iterations()]
    }

    /// What comes from here on counts in what the trial cost.
    pub(crate) fn begin(&mut self) {
        self.before = self.report.received;
        self.meter.begin();
    }

    /// What a failed receive means. `true`: an unreliable path's trial is over, since the near side said so or has been silent for too
    /// long; `false`: go on. Anything but a loss ends the trial with an error.
    pub(crate) fn over(&mut self, error: LinkError) -> Result<bool, SessionError> {
        match error {
            LinkError::Lost => {
                self.silences += 1;
                Ok(self.silences >= SILENCES)
            }
            // What is missing is lost, and the trial is as complete as it will be.
            LinkError::Interrupted if !self.check.reliable => Ok(true),
            e => Err(e.into()),
        }
    }

    /// An error once the trial should end. On an unreliable path what has arrived is received first: a receive then shows that nothing is
    /// left.
    pub(crate) fn go_on(&self) -> Result<(), LinkError> {
        if self.check.reliable { self.halt.check() } else { Ok(()) }
    }

    pub(crate) fn came(&mut self) {
        self.silences = 0;
        self.report.received += 1;
    }

    /// Receives every message of the trial, or those that arrive, and calls `then` with each.
    pub(crate) fn each(
        self,
        mut then: impl FnMut(&mut L, &[u8], Answer<'_, 'a>) -> Result<(), LinkError>,
    ) -> Result<FarReport, SessionError> {
        self.each_as(|link, message| link.recv(message), |link, message, (), answer| then(link, message, answer))
    }

    /// The same with a receive that returns something of each message.
    pub(crate) fn each_as<T>(
        mut self,
        recv: impl Fn(&mut L, &mut [u8]) -> Result<T, LinkError>,
        mut then: impl FnMut(&mut L, &[u8], T, Answer<'_, 'a>) -> Result<(), LinkError>,
    ) -> Result<FarReport, SessionError> {
        'parts: for end in self.parts() {
            self.begin();
            while self.report.received < end {
                self.go_on()?;
                let message = self.into.slot();
                let came = match recv(self.link, message) {
                    Ok(came) => came,
                    Err(e) => match self.over(e)? {
                        true => break 'parts,
                        false => continue,
                    },
                };
                self.check.verify(message, self.report.received);
                let answer = Answer { out: &mut self.out, check: &self.check, number: self.report.received };
                then(self.link, message, came, answer)?;
                self.came();
            }
        }
        self.done()
    }
}
