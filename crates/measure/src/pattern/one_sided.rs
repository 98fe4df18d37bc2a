//! What put and get share: the far side exposes memory and sleeps until the near side leaves it.

use std::cell::Cell;
use std::time::Duration;

use transport::clock::Clock;
use transport::{Capabilities, End, Link, LinkError, OneSided, VisitOneSided};

use super::facts::one_process;
use super::{Answered, Timed};
use crate::buffers::{Layout, Slots, layout};
use crate::content::{self, Writer};
use crate::near::{Loops, Turn};
use crate::workspace::Halt;
use crate::{FarReport, TrialSpec, Workspace};

/// Time between two checks of the far side, which takes no part and must use no CPU time beside the near side's.
const LOOK: Duration = Duration::from_micros(200);

const LACKS: &str = "it has no memory that one side could expose to the other (list says which transports have)";
const LOST: &str = "what is put may be lost, and nobody would know";

/// Why a path can't be accessed from one side; none where it can.
pub(super) fn refuses(can: &Capabilities) -> Option<&'static str> {
    one_process(can).or((!can.one_sided).then_some(LACKS)).or((!can.reliable).then_some(LOST))
}

/// Bytes that the far side exposes.
pub(super) fn exposed(spec: &TrialSpec) -> u128 {
    layout(spec, spec.size).room
}

/// Where messages lie in the exposed memory: in turns, as those of this side do.
struct Places {
    stride: usize,
    count: usize,
    at: Cell<usize>,
}

impl Places {
    fn of(spec: &TrialSpec) -> Self {
        let Layout { stride, count, .. } = layout(spec, spec.size);
        Self { stride: stride as usize, count: count as usize, at: Cell::new(0) }
    }

    #[inline(always)]
    fn next(&self) -> usize {
        let at = self.at.get();
        if self.count > 1 {
            let next = at + self.stride;
            self.at.set(if next >= self.stride * self.count { 0 } else { next });
        }
        at
    }
}

/// What one iteration does with the exposed memory.
pub(super) trait Access {
    /// Which side writes the contents that come back.
    const WRITER: Writer;

    /// Puts `message` at `at`, or gets what is there into `answer`.
    fn act<L: OneSided>(link: &mut L, at: usize, message: &[u8], answer: &mut [u8]) -> Result<(), LinkError>;
}

/// One access after another.
struct Accesses<A> {
    places: Places,
    last: Cell<usize>,
    of: std::marker::PhantomData<A>,
}

impl<A: Access, L: OneSided> Turn<L> for Accesses<A> {
    const MOVING: bool = matches!(A::WRITER, Writer::Near);

    #[inline(always)]
    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], _: u64) -> Result<(), LinkError> {
        let at = self.places.next();
        self.last.set(at);
        A::act(link, at, message, answer)
    }

    /// What was put is read back.
    fn fetch(&self, link: &mut L, answer: &mut [u8]) -> Result<(), LinkError> {
        if <Self as Turn<L>>::MOVING { link.get(self.last.get(), answer) } else { Ok(()) }
    }
}

/// The near half.
pub(super) fn near<A: Access, L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &Workspace,
) -> Timed {
    let (there, back) = (spec.pattern.facts().messages)(spec);
    let (link, out, into) = workspace.slots(end, spec, there, back)?;
    let of = std::marker::PhantomData::<A>;
    link.visit_one_sided(Near { clock, spec, halt: workspace.halt(), out, into, of }).unwrap_or(Err(LACKING.into()))
}

/// The far half.
pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &Workspace, writer: Writer) -> Answered {
    end.visit_one_sided(Far { spec, halt: workspace.halt(), writer }).unwrap_or(Err(LACKING.into()))
}

const LACKING: LinkError = LinkError::Unsupported("expose memory to the other side");

struct Near<'a, C, A> {
    clock: &'a C,
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
    of: std::marker::PhantomData<A>,
}

impl<C: Clock, A: Access> VisitOneSided for Near<'_, C, A> {
    type Out = Timed;

    fn visit<L: OneSided>(mut self, link: &mut L) -> Timed {
        let places = Places::of(self.spec);
        link.reach(layout(self.spec, self.spec.size).need as usize)?;
        let mut loops = Loops::on(link, self.clock, self.spec, self.halt, A::WRITER);
        let accesses = Accesses::<A> { places, last: Cell::new(0), of: self.of };
        let report = loops.closed(&accesses, &mut self.out, &mut self.into)?;
        loops.link.leave()?;
        Ok(report)
    }
}

struct Far<'a> {
    spec: &'a TrialSpec,
    halt: Halt,
    writer: Writer,
}

impl VisitOneSided for Far<'_> {
    type Out = Answered;

    fn visit<L: OneSided>(self, link: &mut L) -> Answered {
        let spec = self.spec;
        let Layout { stride, count, .. } = layout(spec, spec.size);
        let mut message = vec![0; if spec.check { spec.size as usize } else { 0 }];
        link.reserve(exposed(spec) as usize)?;
        if spec.check && self.writer == Writer::Far {
            content::fill(&mut message, spec.seed, 0, Writer::Far);
            (0..count).try_for_each(|place| link.fill((place * stride) as usize, &message))?;
        }
        // The near side begins at once: the contents that it reads must be there before.
        link.expose(exposed(spec) as usize)?;
        while !link.withdraw(Duration::ZERO)? {
            self.halt.check()?;
            std::thread::sleep(LOOK);
        }
        let mut corrupt = None;
        if spec.check && self.writer == Writer::Near {
            let all = spec.warmup + spec.repeats;
            // The last iteration that put something in each place.
            for last in all.saturating_sub(count as u64)..all {
                link.read((u128::from(last) % count * stride) as usize, &mut message)?;
                let wrong = content::first_wrong(&message, spec.seed, last, Writer::Near, 0);
                corrupt = corrupt.or(wrong.map(|at| (last, at)));
            }
        }
        Ok(FarReport { corrupt, ..FarReport::default() })
    }
}
