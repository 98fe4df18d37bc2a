//! Group: the performance test of Horus (`seeds/002`, figure 3). Each of n members casts m messages, then waits until it has all n times m of the round, and so on.
//!
//! The time is that of a round at the near member, from before its first cast until it has delivered the last message of all: with m = 1 it is what the seed calls one-way
//! latency, as it divides the time of all rounds by their number. Throughput counts what one member delivers, its own messages included.
//!
//! What a group promises is held against it while it is measured. Each message begins with as many bytes of its number among its sender's as it has
//! room for, 8 at most. Where all casts have one order ([`Order::Total`]) a member hears its own, too, and makes a digest of whose cast came when; the
//! digests of all are compared as the trial ends. Else the casts of each sender come in their order. On a path that loses, numbers that are left out are lost
//! messages: a round of which some do not come in time counts as lost, and the next one begins.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{Capabilities, Delivered, End, Group, Link, LinkError, Order, VisitGroup};

use super::collective::{members, took_part};
use super::facts::one_process;
use super::{Answered, Facts, InGroup, Timed};
use crate::buffers::Slots;
use crate::content::{self, Writer};
use crate::event::TimeKind;
use crate::near::{self, LOST_IN_A_ROW};
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const HELP: &str = "Each member of a group casts messages, then waits for those of all";
const LACKS: &str = "it has no group whose members a message could go to at once (list says which transports have)";
const MODELLED: &str = "the members of the modelled group only answer, and don't cast";
const LACKING: LinkError = LinkError::Unsupported("cast to a group");
/// Rounds in a row of which something is missing after which a far half counts as over.
const SILENCES: u32 = 50;
/// Most bytes of a message that are its number.
const NUMBER: usize = 8;

pub(super) const FACTS: Facts = Facts {
    refuses: |can: &Capabilities| {
        one_process(can).or((!can.group).then_some(LACKS)).or(can.virtual_time.then_some(MODELLED))
    },
    whole: |spec| if spec.burst == 0 { Err("a member casts at least 1 message a round".into()) } else { Ok(()) },
    in_group: Some(InGroup::Whole),
    together: true,
    bursts: true,
    undecorated: true,
    ways: |_| 1,
    bytes: |trial, _| trial.size.saturating_mul(trial.burst.max(1)).saturating_mul(took_part(trial)),
    rates: |trial| Some(trial.burst.max(1).saturating_mul(took_part(trial))),
    modelled: |_, _, _, _| Err(LACKING.into()),
    ..Facts::new(Some(HELP), TimeKind::Round, |_| FarRole::Answer { response: 1 })
};

/// What has come of one member's casts.
#[derive(Clone, Copy, Default)]
struct Came {
    /// Messages.
    count: u64,
    /// Its casts up to the last that came, those that did not come included.
    upto: u64,
}

/// A member's part of a trial.
struct Member<'a, L> {
    link: &'a mut L,
    spec: &'a TrialSpec,
    halt: Halt,
    rank: u32,
    /// Whether what is cast arrives.
    reliable: bool,
    /// Whether its own casts are delivered to it.
    hears: bool,
    one_order: bool,
    came: Vec<Came>,
    /// Numbers of each member's casts before this trial: all have cast the same.
    before: Option<u32>,
    /// Which members' casts were delivered, in their order.
    digest: u64,
    /// Whether a message of this round was left out.
    gap: bool,
    /// First wrong byte: message, offset.
    wrong: Option<(u64, u64)>,
}

impl<'a, L: Group> Member<'a, L> {
    fn new(link: &'a mut L, spec: &'a TrialSpec, halt: Halt) -> Result<Self, LinkError> {
        let all = link.members();
        if u64::from(all) != members(spec) {
            let why = format!("a group of {} members is measured, and this one has {all}", members(spec));
            return Err(LinkError::Protocol(why));
        }
        let one_order = link.order() == Order::Total;
        let hears = link.hears_itself(true);
        if one_order && !hears {
            let why = "all casts have one order, and a member does not hear where its own are in it".to_owned();
            return Err(LinkError::Protocol(why));
        }
        let (rank, reliable) = (link.rank(), link.capabilities().reliable);
        let came = vec![Came::default(); all as usize];
        Ok(Self {
            link,
            spec,
            halt,
            rank,
            reliable,
            hears,
            one_order,
            came,
            before: None,
            digest: 0,
            gap: false,
            wrong: None,
        })
    }

    /// The number of the contents of a message.
    fn contents(&self, from: u32, number: u64) -> u64 {
        number.wrapping_mul(self.came.len() as u64).wrapping_add(u64::from(from))
    }

    /// Casts this member's messages of a round.
    fn cast(&mut self, round: u64, out: &mut Slots<'_>) -> Result<(), LinkError> {
        for i in 0..self.spec.burst {
            let number = round * self.spec.burst + i;
            let block = out.slot();
            if self.spec.check {
                content::fill(block, self.spec.seed, self.contents(self.rank, number), Writer::Near);
            }
            let room = block.len().min(NUMBER);
            block[..room].copy_from_slice(&number.to_le_bytes()[..room]);
            let of_link = self.link.queue(block)?;
            self.before.get_or_insert(of_link.wrapping_sub(1));
        }
        self.link.flush()?;
        if !self.hears {
            let (own, upto) = (&mut self.came[self.rank as usize], (round + 1) * self.spec.burst);
            *own = Came { count: upto, upto };
        }
        Ok(())
    }

    /// Takes what comes until all messages of the round are here; false where some are missing.
    fn wait(&mut self, round: u64, into: &mut Slots<'_>) -> Result<bool, LinkError> {
        let all = (round + 1) * self.spec.burst;
        self.gap = false;
        while self.came.iter().any(|of| of.upto < all) {
            let block = into.slot();
            match self.link.deliver(block) {
                Ok(delivered) => self.delivered(delivered, block)?,
                Err(LinkError::Lost) => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(!self.gap)
    }

    /// Holds a message against what the group promises.
    #[inline]
    fn delivered(&mut self, Delivered { from, number }: Delivered, block: &[u8]) -> Result<(), LinkError> {
        let Some(came) = self.came.get_mut(from as usize) else {
            return Err(LinkError::Protocol(format!("a message came of a member {from}, which there is none of")));
        };
        // From 0: which of its sender's messages of this trial it is, as the link counts them.
        let number = u64::from(number.wrapping_sub(self.before.unwrap_or(0)).wrapping_sub(1));
        let room = block.len().min(NUMBER);
        if block[..room] != number.to_le_bytes()[..room] || (self.reliable && number != came.upto) || number < came.upto
        {
            let mut told = [0; NUMBER];
            told[..room].copy_from_slice(&block[..room]);
            return Err(LinkError::Protocol(format!(
                "the order of casts is broken: of member {from}, message {} was due, and the one that came says to be number {} \
                 of them, in its lowest {room} bytes",
                came.upto,
                u64::from_le_bytes(told)
            )));
        }
        self.gap |= number > came.upto;
        *came = Came { count: came.count + 1, upto: number + 1 };
        if self.one_order {
            // FNV-1a, turned so that also its high bits depend on what came early.
            self.digest = (self.digest ^ u64::from(from + 1)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        }
        if self.spec.check && self.wrong.is_none() {
            let contents = self.contents(from, number);
            self.wrong =
                content::first_wrong(block, self.spec.seed, contents, Writer::Near, room).map(|at| (number, at));
        }
        Ok(())
    }

    /// Of the member of which fewest came, how many.
    fn fewest(&self) -> u64 {
        let others = self.came.iter().zip(0..).filter(|(_, rank)| *rank != self.rank);
        others.map(|(of, _)| of.count).min().unwrap_or(0)
    }

    fn rounds(&self) -> u64 {
        self.spec.warmup + self.spec.repeats
    }
}

struct Near<'a, C> {
    clock: &'a C,
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
}

impl<C: Clock> VisitGroup for Near<'_, C> {
    type Out = Timed;

    fn visit<L: Group>(mut self, link: &mut L) -> Timed {
        let Self { clock, spec, halt, .. } = self;
        let mut member = Member::new(link, spec, halt)?;
        let (mut samples, mut total, mut whole, mut in_a_row) = (Samples::new(spec.repeats, 1), 0, 0, 0);
        for round in 0..member.rounds() {
            member.halt.check()?;
            let began = clock.now();
            member.cast(round, &mut self.out)?;
            let complete = member.wait(round, &mut self.into)?;
            let took = clock.now() - began;
            in_a_row = if complete { 0 } else { in_a_row + 1 };
            if in_a_row >= LOST_IN_A_ROW {
                return Err(SessionError::NothingArrives { in_a_row });
            }
            if round >= spec.warmup && complete {
                samples.push(took, 1);
                total += took;
                whole += 1;
            }
        }
        if member.one_order {
            let mut told = [0; 8];
            for _ in 1..member.came.len() {
                let from = member.link.answered(&mut told)?;
                if told != member.digest.to_le_bytes() {
                    let messages = member.came.iter().map(|of| of.upto).sum::<u64>();
                    return Err(LinkError::Protocol(format!(
                        "the stack promises one order of all casts, and members 0 and {from} delivered the {messages} messages of a trial in two"
                    ))
                    .into());
                }
            }
        }
        member.link.hears_itself(false);
        if let Some((iteration, offset)) = member.wrong {
            return Err(SessionError::Corrupt { side: "the near side", size: spec.size, iteration, offset });
        }
        Ok(TrialReport { lost: spec.repeats - whole, ..near::sampled(samples, whole, total) })
    }
}

struct Far<'a> {
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
    into: Slots<'a>,
}

impl VisitGroup for Far<'_> {
    type Out = Answered;

    fn visit<L: Group>(mut self, link: &mut L) -> Answered {
        let mut member = Member::new(link, self.spec, self.halt)?;
        let mut silences = 0;
        for round in 0..member.rounds() {
            if member.reliable {
                member.halt.check()?;
            }
            let outcome = member.cast(round, &mut self.out).and_then(|()| member.wait(round, &mut self.into));
            match outcome {
                Ok(true) => silences = 0,
                Ok(false) if silences < SILENCES => silences += 1,
                // The near member has all that it gets.
                Ok(false) => break,
                Err(LinkError::Interrupted) if !member.reliable => break,
                Err(e) => return Err(e.into()),
            }
        }
        if member.one_order {
            member.link.answer(0, &member.digest.to_le_bytes())?;
        }
        member.link.hears_itself(false);
        Ok(FarReport { received: member.fewest(), corrupt: member.wrong, ..FarReport::default() })
    }
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    let halt = side.halt();
    let (link, out, into) = side.slots(end, spec, spec.size, spec.size)?;
    link.visit_group(Near { clock, spec, halt, out, into }).unwrap_or(Err(LACKING.into()))
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    let halt = side.halt();
    let (link, out, into) = side.slots(end, spec, spec.size, spec.size)?;
    link.visit_group(Far { spec, halt, out, into }).unwrap_or(Err(LACKING.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::*;
    use crate::Pattern;

    /// Rank 0 of a group of three that plays back what it was given: one order of all casts.
    struct Played {
        casts: u32,
        order: Order,
        reliable: bool,
        delivers: VecDeque<(u32, u32, u64)>,
        answers: VecDeque<(u32, u64)>,
    }

    impl Link for Played {
        fn capabilities(&self) -> Capabilities {
            Capabilities { group: true, reliable: self.reliable, ..Capabilities::plain() }
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
        fn group(&mut self) -> Option<&mut dyn Group> {
            Some(self)
        }
    }

    impl Group for Played {
        fn members(&self) -> u32 {
            3
        }
        fn rank(&self) -> u32 {
            0
        }
        fn cast(&mut self, _: &[u8]) -> Result<u32, LinkError> {
            self.casts += 1;
            Ok(self.casts)
        }
        fn order(&self) -> Order {
            self.order
        }
        fn hears_itself(&mut self, asked: bool) -> bool {
            asked && self.order == Order::Total
        }
        fn deliver(&mut self, block: &mut [u8]) -> Result<Delivered, LinkError> {
            let (from, number, says) = self.delivers.pop_front().ok_or(LinkError::Lost)?;
            block.copy_from_slice(&says.to_le_bytes()[..block.len()]);
            Ok(Delivered { from, number })
        }
        fn answer(&mut self, _: u32, _: &[u8]) -> Result<(), LinkError> {
            Ok(())
        }
        fn answered(&mut self, block: &mut [u8]) -> Result<u32, LinkError> {
            let (from, digest) = self.answers.pop_front().ok_or(LinkError::Lost)?;
            block.copy_from_slice(&digest.to_le_bytes());
            Ok(from)
        }
    }

    fn digest(order: &[u32]) -> u64 {
        order.iter().fold(0, |all: u64, from| (all ^ u64::from(from + 1)).wrapping_mul(0x0100_0000_01b3).rotate_left(5))
    }

    /// Two rounds of one message each, after 40 casts of earlier trials.
    fn run(order: Order, reliable: bool, delivers: &[(u32, u32, u64)], answers: &[(u32, u64)]) -> Timed {
        let (delivers, answers) = (delivers.iter().copied().collect(), answers.iter().copied().collect());
        let mut end = End::new(Played { casts: 40, order, reliable, delivers, answers });
        let spec = TrialSpec { burst: 1, flows: 2, ..TrialSpec::plain(Pattern::Group, 1, 2) };
        super::near(&mut end, &transport::clock::Monotonic, &spec, &mut Workspace::new(true))
    }

    #[test]
    fn one_order_of_all_casts_is_compared_with_what_the_others_delivered() {
        let casts = [(1, 41, 0), (0, 41, 0), (2, 41, 0), (0, 42, 1), (2, 42, 1), (1, 42, 1)];
        let right = digest(&[1, 0, 2, 0, 2, 1]);
        let report = run(Order::Total, true, &casts, &[(1, right), (2, right)]).unwrap();
        assert_eq!((report.repeats, report.lost), (2, 0));
        let other = digest(&[0, 1, 2, 0, 2, 1]);
        let e = run(Order::Total, true, &casts, &[(1, right), (2, other)]).unwrap_err().to_string();
        assert!(e.contains("one order") && e.contains("members 0 and 2 delivered the 6 messages"), "{e}");
    }

    #[test]
    fn a_message_that_is_missing_twice_or_out_of_order_is_told() {
        // Twice, left out, and of another number than is due.
        for casts in [[(1, 41, 0), (1, 42, 0)], [(1, 41, 0), (1, 42, 2)], [(2, 41, 1), (1, 41, 0)]] {
            let e = run(Order::Sender, true, &casts, &[]).unwrap_err().to_string();
            assert!(e.contains("the order of casts is broken"), "{casts:?}: {e}");
        }
        let e = run(Order::Sender, true, &[(7, 41, 0)], &[]).unwrap_err().to_string();
        assert!(e.contains("which there is none of"), "{e}");
    }

    #[test]
    fn rounds_of_which_something_is_lost_do_not_count_and_the_others_do() {
        let whole = [(1, 41, 0), (2, 41, 0), (2, 42, 1), (1, 42, 1)];
        let report = run(Order::Sender, false, &whole, &[]).unwrap();
        assert_eq!((report.repeats, report.lost), (2, 0));
        // Of member 1 the first is left out, of member 2 the last does not come.
        let report = run(Order::Sender, false, &[(2, 41, 0), (1, 42, 1)], &[]).unwrap();
        assert_eq!((report.repeats, report.lost), (0, 2));
        let report = run(Order::Sender, false, &[(2, 41, 0), (1, 41, 0), (1, 42, 1)], &[]).unwrap();
        assert_eq!((report.repeats, report.lost), (1, 1));
    }
}
