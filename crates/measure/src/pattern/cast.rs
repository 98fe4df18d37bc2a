//! Cast: a message to all other members of a group, each of which answers when it has arrived. The time is that until the slowest has
//! answered (`seeds/002`, section 10, measures a group by casts). One-way times need no answers: that is [`super::stream`], which casts in
//! a group, too.

use transport::clock::Clock;
use transport::theory::{FarRole, TheoryLink};
use transport::{Capabilities, End, Group, Link, LinkError, VisitGroup};

use super::facts::one_process;
use super::{Answered, Facts, InGroup, Timed};
use crate::buffers::Slots;
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::near::{self, Loops, Turn};
use crate::workspace::Halt;
use crate::{FarReport, TrialSpec, Workspace, flows};

const HELP: &str = "A message to all members of a group, until the slowest has answered";
const LACKS: &str = "it has no group whose members a message could go to at once (list says which transports have)";
const LACKING: LinkError = LinkError::Unsupported("cast to a group");

/// Bytes of an answer: which cast it answers.
const ANSWER: u64 = 4;

pub(super) const FACTS: Facts = Facts {
    refuses: |can: &Capabilities| one_process(can).or((!can.group).then_some(LACKS)),
    in_group: Some(InGroup::Whole),
    undecorated: true,
    messages: |spec| (spec.size, ANSWER),
    bytes: |trial, _| trial.size.saturating_mul(trial.report.flows.as_ref().map_or(1, |flows| flows.each.len() as u64)),
    startup: Some("casts"),
    paused: Some(("the group", "casts follow each other, so that one of them alone is charged with each pause")),
    modelled,
    ..Facts::new(Some(HELP), TimeKind::RoundTrip, |_| FarRole::Answer { response: ANSWER })
};

/// A cast, and an answer to it of each other member.
struct Cast;

impl<L: Group> Turn<L> for Cast {
    /// An answer holds a number.
    const CONTENTS: bool = false;

    #[inline(always)]
    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], _: u64) -> Result<(), LinkError> {
        let number = link.cast(message)?.to_le_bytes();
        let mut awaited = all_others(link.members());
        while awaited != 0 {
            let from = link.answered(answer)?;
            // An answer to an earlier cast, which was given up, does not answer this one.
            if *answer == number {
                awaited &= !bit(from);
            }
        }
        Ok(())
    }
}

/// A bit for each member but the one of rank 0, which casts.
fn all_others(members: u32) -> u128 {
    let others = members.saturating_sub(1);
    if others >= u128::BITS { u128::MAX } else { (1 << others) - 1 }
}

fn bit(rank: u32) -> u128 {
    rank.checked_sub(1).and_then(|place| 1u128.checked_shl(place)).unwrap_or(0)
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
        let mut loops = Loops::on(link, self.clock, self.spec, self.halt, Writer::Far);
        loops.closed(&Cast, &mut self.out, &mut self.into)
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

    fn visit<L: Group>(self, link: &mut L) -> Answered {
        let Self { spec, halt, out, into } = self;
        let came = |link: &mut L, message: &mut [u8]| link.deliver(message);
        Side::on(link, spec, halt, out, into)
            .each_as(came, |link, _, came, _| link.answer(came.from, &came.number.to_le_bytes()))
    }
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    let halt = side.halt();
    let (link, out, into) = side.slots(end, spec, spec.size, ANSWER)?;
    link.visit_group(Near { clock, spec, halt, out, into }).unwrap_or(Err(LACKING.into()))
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    let halt = side.halt();
    let (link, out, into) = side.slots(end, spec, ANSWER, spec.size)?;
    link.visit_group(Far { spec, halt, out, into }).unwrap_or(Err(LACKING.into()))
}

/// A trial on the modelled group, whose other members don't report their warm-up.
fn modelled(end: &mut End<TheoryLink>, spec: &TrialSpec, _: f64, workspace: &mut Workspace) -> Timed {
    let clock = end.clock();
    let report = near::run(end, &clock, spec, workspace)?;
    let each =
        end.member_reports().into_iter().map(|seen| FarReport { received: seen.received, ..FarReport::default() });
    flows::of_group(&TrialSpec { warmup: 0, ..spec.clone() }, report, each.collect(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_waits_for_every_other_member_of_the_largest_group() {
        for members in [2, 3, 128, crate::flows::MOST + 1] {
            let left = (1..members).fold(all_others(members), |awaited, rank| {
                assert_ne!(awaited, 0, "{members}");
                awaited & !bit(rank)
            });
            assert_eq!(left, 0, "{members}");
        }
        assert_eq!(bit(0), 0, "its own");
        assert_eq!(bit(u32::MAX), 0);
    }
}
