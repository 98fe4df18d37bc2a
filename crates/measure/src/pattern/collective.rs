//! What the collective patterns share: an operation that all members of a group do together, and its time.
//!
//! Each member times its own call, from entering it to leaving it, and the time of an operation is that of the slowest member. The OSU micro-benchmarks
//! (`osu_bcast -f`: the maximum) and the Intel MPI Benchmarks (`t_max`) take the mean of each member over all operations first, and the longest of these.
//! After each operation the members tell each other their times by an allgather, which is outside of the time. So all enter the next one together, as far
//! as they leave that allgather together: what they leave it apart is in the time of the next operation. What an operation costs a member is read before
//! the first and after the last that is timed, so that those allgathers are in it.
//!
//! How long the trial has gone on by each member's clock goes along in that allgather, so that all end a trial together that takes longer than it may
//! (`TrialSpec::within`): members that share CPUs may take a thousand times as long for an operation as they did in the trial before.

use transport::clock::{Clock, Monotonic};
use transport::theory::FarRole;
use transport::{Capabilities, Collective, End, Link, LinkError, VisitCollective, WORD};

use super::facts::one_process;
use super::{Answered, Facts, InGroup, Timed};
use crate::buffers::Slots;
use crate::cost::Cost;
use crate::event::{TimeKind, Trial};
use crate::meter::Meter;
use crate::near;
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const LACKS: &str =
    "it has no operations that all members of a group do together (list says which transports have collectives)";
const LACKING: LinkError = LinkError::Unsupported("do what all members of a group do together");

/// The facts of a collective pattern, of which each says its help, messages and bytes.
pub(super) const fn facts(help: &'static str) -> Facts {
    Facts {
        refuses: |can: &Capabilities| one_process(can).or((!can.collective).then_some(LACKS)),
        in_group: Some(InGroup::Whole),
        collective: true,
        together: true,
        undecorated: true,
        ways: |_| 1,
        paused: Some((
            "the group",
            "its members wait for each other, so that one operation alone is charged with each pause",
        )),
        modelled: |_, _, _, _| Err(LACKING.into()),
        ..Facts::new(Some(help), TimeKind::Slowest, |_| FarRole::Answer { response: 1 })
    }
}

/// What a member reserves beside two messages of the trial's size where it has messages for each other member: at most.
pub(super) fn for_all(spec: &TrialSpec) -> u128 {
    let each = u128::from(spec.size) + u128::from(spec.align) + 128;
    4 * each * u128::from(members(spec)) + 2 * u128::from(spec.pool)
}

/// Members of a trial's group.
pub(super) fn members(spec: &TrialSpec) -> u64 {
    u64::from(spec.flows) + 1
}

/// Members that a trial had.
pub(super) fn took_part(trial: &Trial) -> u64 {
    trial.report.flows.as_ref().map_or(1, |flows| flows.each.len() as u64).saturating_add(1)
}

/// Which of a group's members it is, in which iteration.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub rank: u64,
    pub members: u64,
    pub iteration: u64,
    pub seed: u64,
}

impl Place {
    /// The number of the contents that the member of this rank has for the one of another.
    pub fn number(&self, from: u64, to: u64) -> u64 {
        self.iteration.wrapping_mul(self.members).wrapping_add(from).wrapping_mul(self.members).wrapping_add(to)
    }
}

/// One operation.
pub(super) trait Operation {
    /// Bytes that a member gives, and that it gets.
    fn messages(spec: &TrialSpec) -> (u64, u64) {
        (spec.pattern.facts().messages)(spec)
    }

    /// All members do it. `out` is what this one gives, `into` what it gets, as long as the pattern's messages are.
    fn step<L: Collective>(link: &mut L, out: &mut [u8], into: &mut [u8]) -> Result<(), LinkError>;

    /// Fills what this member gives.
    fn fill(out: &mut [u8], place: Place);

    /// The first wrong byte of what it got, within its message.
    fn wrong(into: &[u8], place: Place) -> Option<u64>;
}

/// A member's part of a trial.
struct Member<'a, L, C> {
    link: &'a mut L,
    clock: &'a C,
    spec: &'a TrialSpec,
    halt: Halt,
    /// When the trial began.
    began: u64,
    /// The times of all, as they tell each other: of the operation, and since the beginning.
    told: Vec<u8>,
    meter: Meter,
    /// First wrong byte: iteration, offset.
    wrong: Option<(u64, u64)>,
    /// How far behind the memory of what it got something was written.
    spilled: Option<u64>,
}

impl<'a, L: Collective, C: Clock> Member<'a, L, C> {
    fn new(link: &'a mut L, clock: &'a C, spec: &'a TrialSpec, halt: Halt) -> Result<Self, LinkError> {
        let members = link.members();
        if u64::from(members) != self::members(spec) {
            let why = format!("a group of {} members is measured, and this one has {members}", self::members(spec));
            return Err(LinkError::Protocol(why));
        }
        let (told, meter) = (vec![0; 2 * members as usize * WORD], Meter::new(clock, spec));
        Ok(Self { link, clock, spec, halt, began: clock.now(), told, meter, wrong: None, spilled: None })
    }

    /// The longest of all members' times of an operation, and the longest since the beginning: the same to all.
    fn slowest(&mut self, own: u64) -> Result<(u64, u64), LinkError> {
        let passed = self.clock.now().saturating_sub(self.began);
        let mut mine = [0; 2 * WORD];
        mine[..WORD].copy_from_slice(&own.to_ne_bytes());
        mine[WORD..].copy_from_slice(&passed.to_ne_bytes());
        self.link.allgather(&mine, &mut self.told)?;
        let word = |word: &[u8]| word.try_into().map_or(0, u64::from_ne_bytes);
        let longest = |(slowest, passed): (u64, u64), times: &[u8]| {
            (slowest.max(word(&times[..WORD])), passed.max(word(&times[WORD..])))
        };
        Ok(self.told.chunks_exact(2 * WORD).fold((0, 0), longest))
    }

    /// Does the operations of the trial, all or those that it has time for; `each` is told the number and the time of every one. What those that are timed
    /// cost this member; none where it can't be told.
    fn run<O: Operation>(
        &mut self,
        out: &mut Slots<'_>,
        into: &mut Slots<'_>,
        mut each: impl FnMut(u64, u64),
    ) -> Result<Option<Cost>, LinkError> {
        let (rank, members) = (u64::from(self.link.rank()), u64::from(self.link.members()));
        // Members begin at different moments; from here on none is ahead.
        self.slowest(0)?;
        let (warmup, most) = (self.spec.warmup, self.spec.within.unwrap_or(u64::MAX));
        let mut done = 0;
        for iteration in 0..warmup + self.spec.repeats {
            self.halt.check()?;
            if iteration == warmup {
                self.meter.begin();
            }
            let (give, get) = (out.slot(), into.slot());
            let place = Place { rank, members, iteration, seed: self.spec.seed };
            if self.spec.check {
                O::fill(give, place);
                // What the last operation brought must not pass for what this one does.
                get.iter_mut().for_each(|byte| *byte = !*byte);
                self.link.barrier()?;
            }
            let began = self.clock.now();
            O::step(self.link, give, get)?;
            let took = self.clock.now() - began;
            if self.spec.check && self.wrong.is_none() {
                self.wrong = O::wrong(get, place).map(|at| (iteration, at));
            }
            let (slowest, passed) = self.slowest(took)?;
            each(iteration, slowest);
            done = (iteration + 1).saturating_sub(warmup);
            if done > 0 && passed > most {
                break;
            }
        }
        self.meter.end(done);
        self.spilled = into.spilled();
        Ok(self.meter.cost())
    }
}

/// What the members told the near one of their operations.
struct Near<'a, C, O> {
    clock: &'a C,
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
    of: std::marker::PhantomData<O>,
}

impl<C: Clock, O: Operation> VisitCollective for Near<'_, C, O> {
    type Out = Timed;

    fn visit<L: Collective>(mut self, link: &mut L) -> Timed {
        let Self { clock, spec, halt, .. } = self;
        let (mut samples, mut total, mut done) = (Samples::new(spec.repeats, 1), 0, 0);
        let mut member = Member::new(link, clock, spec, halt)?;
        let cost = member.run::<O>(&mut self.out, &mut self.into, |iteration, slowest| {
            if iteration >= spec.warmup {
                samples.push(slowest, 1);
                total += slowest;
                done += 1;
            }
        })?;
        SessionError::contents("the near side", spec.size, member.wrong, member.spilled)?;
        Ok(TrialReport { cost, ..near::sampled(samples, done, total) })
    }
}

struct Far<'a, O> {
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
    of: std::marker::PhantomData<O>,
}

impl<O: Operation> VisitCollective for Far<'_, O> {
    type Out = Answered;

    fn visit<L: Collective>(mut self, link: &mut L) -> Answered {
        let mut member = Member::new(link, &Monotonic, self.spec, self.halt)?;
        let mut received = 0;
        let cost = member.run::<O>(&mut self.out, &mut self.into, |_, _| received += 1)?;
        Ok(FarReport { received, corrupt: member.wrong, spilled: member.spilled, cost, ..FarReport::default() })
    }
}

/// The near half of a trial of this operation: that of rank 0.
pub(super) fn near_half<O: Operation, L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    side: &mut Workspace,
) -> Timed {
    let halt = side.halt();
    let (gives, gets) = O::messages(spec);
    let (link, out, into) = side.slots(end, spec, gives, gets)?;
    let of = std::marker::PhantomData::<O>;
    link.visit_collective(Near { clock, spec, halt, out, into, of }).unwrap_or(Err(LACKING.into()))
}

/// The half of any other member.
pub(super) fn far_half<O: Operation, L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    let halt = side.halt();
    let (gives, gets) = O::messages(spec);
    let (link, out, into) = side.slots(end, spec, gives, gets)?;
    let of = std::marker::PhantomData::<O>;
    link.visit_collective(Far { spec, halt, out, into, of }).unwrap_or(Err(LACKING.into()))
}

/// The two halves of a pattern's file.
macro_rules! halves {
    ($operation:ident) => {
        pub(super) fn near<L: transport::Link, C: transport::clock::Clock>(
            end: &mut transport::End<L>,
            clock: &C,
            spec: &$crate::TrialSpec,
            side: &mut $crate::Workspace,
        ) -> super::Timed {
            super::collective::near_half::<$operation, L, C>(end, clock, spec, side)
        }

        pub(super) fn far<L: transport::Link>(
            end: &mut transport::End<L>,
            spec: &$crate::TrialSpec,
            side: &mut $crate::Workspace,
        ) -> super::Answered {
            super::collective::far_half::<$operation, L>(end, spec, side)
        }
    };
}

pub(super) use halves;
