//! One sender: the near member of a group casts m messages a round, and each other member tells it when the last of them was delivered there (`seeds/002` has total
//! order with one sender beside that with all).
//!
//! The time is from before the first cast until the last message was delivered at the slowest other member. Members of a group are processes of one host, whose
//! monotonic clock all of them read; a time that is told is refused where it lies outside of its round. The next round begins when all have told theirs, which is outside of
//! the time. What is delivered is checked as in [`super::group`].

use transport::clock::{Clock, Monotonic};
use transport::theory::FarRole;
use transport::{Capabilities, End, Group, Link, LinkError, VisitGroup};

use super::facts::one_process;
use super::member::{LACKING, LACKS, Member, SILENCES, Waited};
use super::{Answered, Facts, InGroup, Timed};
use crate::buffers::Slots;
use crate::event::TimeKind;
use crate::near::{self, LOST_IN_A_ROW};
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const HELP: &str = "One member of a group casts messages, and the others tell when the last was there";
const MODELLED: &str = "the members of the modelled group answer, but don't tell when a cast was there";
/// Bytes that a member tells: the round, and when its last message was there.
const TOLD: usize = 16;

pub(super) const FACTS: Facts = Facts {
    refuses: |can: &Capabilities| {
        one_process(can).or((!can.group).then_some(LACKS)).or(can.virtual_time.then_some(MODELLED))
    },
    whole: |spec| if spec.burst == 0 { Err("a member casts at least 1 message a round".into()) } else { Ok(()) },
    in_group: Some(InGroup::Whole),
    together: true,
    bursts: true,
    undecorated: true,
    messages: |spec| (spec.size, TOLD as u64),
    ways: |_| 1,
    paused: Some(("the group", "its members wait for each other, so that one round alone is charged with each pause")),
    bytes: |trial, _| trial.size.saturating_mul(trial.burst.max(1)),
    rates: |trial| Some(trial.burst.max(1)),
    modelled: |_, _, _, _| Err(LACKING.into()),
    ..Facts::new(Some(HELP), TimeKind::Delivery, |_| FarRole::Answer { response: TOLD as u64 })
};

/// What a member tells of a round.
fn told(round: u64, at: u64) -> [u8; TOLD] {
    let mut bytes = [0; TOLD];
    bytes[..8].copy_from_slice(&round.to_le_bytes());
    bytes[8..].copy_from_slice(&at.to_le_bytes());
    bytes
}

/// The round and the time that a member told.
fn read(bytes: &[u8]) -> (u64, u64) {
    let word = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
    (word(0), word(8))
}

/// When the last message of a round that began then was at the slowest other member; none where one of them does not tell it.
fn slowest<L: Group, C: Clock>(
    link: &mut L,
    clock: &C,
    round: u64,
    began: u64,
    heard: &mut [bool],
    into: &mut Slots<'_>,
) -> Result<Option<u64>, LinkError> {
    heard.fill(false);
    let mut last = began;
    while heard.iter().any(|heard| !heard) {
        let message = into.slot();
        let from = match link.answered(message) {
            Ok(from) => from,
            Err(LinkError::Lost) => return Ok(None),
            Err(e) => return Err(e),
        };
        let (of, at) = read(message);
        let place = from.checked_sub(1).and_then(|place| heard.get_mut(place as usize));
        let Some(place) = place.filter(|_| of <= round) else {
            return Err(LinkError::Protocol(format!("member {from} tells of round {of}, and this one is {round}")));
        };
        if of < round {
            // Of a round that was given up.
            continue;
        }
        let now = clock.now();
        if !(began..=now).contains(&at) {
            return Err(LinkError::Protocol(format!(
                "member {from} says that a round of {} ns ended {} ns after its beginning: the members' clocks are not one host's",
                now - began,
                i128::from(at) - i128::from(began)
            )));
        }
        *place = true;
        last = last.max(at);
    }
    Ok(Some(last))
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
        let mut member = Member::of_one(link, spec, halt)?;
        let mut heard = vec![false; spec.flows as usize];
        let (mut samples, mut total, mut whole, mut in_a_row) = (Samples::new(spec.repeats, 1), 0, 0, 0);
        let (first, mut done) = (clock.now(), 0);
        for round in 0..member.rounds() {
            member.halt.check()?;
            let began = clock.now();
            if member.ends(round, began.saturating_sub(first)) && !member.reliable {
                break;
            }
            member.cast(round, &mut self.out)?;
            done += u64::from(round >= spec.warmup);
            let Some(last) = slowest(member.link, clock, round, began, &mut heard, &mut self.into)? else {
                in_a_row += 1;
                if in_a_row >= LOST_IN_A_ROW {
                    return Err(SessionError::NothingArrives { in_a_row });
                }
                continue;
            };
            in_a_row = 0;
            if round >= spec.warmup {
                samples.push(last - began, 1);
                total += last - began;
                whole += 1;
            }
            if member.is_last() {
                break;
            }
        }
        member.leave(&self.into);
        SessionError::contents("the near side", self.into.size(), member.wrong, member.spilled)?;
        Ok(TrialReport { lost: done - whole, ..near::sampled(samples, whole, total) })
    }
}

struct Far<'a> {
    spec: &'a TrialSpec,
    halt: Halt,
    into: Slots<'a>,
}

impl VisitGroup for Far<'_> {
    type Out = Answered;

    fn visit<L: Group>(mut self, link: &mut L) -> Answered {
        let mut member = Member::of_one(link, self.spec, self.halt)?;
        let mut silences = 0;
        for round in 0..member.rounds() {
            if member.reliable {
                member.halt.check()?;
            }
            match member.wait(round, &mut self.into) {
                Ok(Waited::Whole) => {
                    silences = 0;
                    member.link.answer(0, &told(round, Monotonic.now()))?;
                    if member.is_last() {
                        break;
                    }
                }
                Ok(Waited::Passed) => {}
                Ok(Waited::Lost) if silences < SILENCES => silences += 1,
                // The near member has all that it gets.
                Ok(Waited::Lost) => break,
                Err(LinkError::Interrupted) if !member.reliable => break,
                Err(e) => return Err(e.into()),
            }
        }
        member.leave(&self.into);
        let (corrupt, spilled) = (member.wrong, member.spilled);
        Ok(FarReport { received: member.fewest(), corrupt, spilled, ..FarReport::default() })
    }
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    let halt = side.halt();
    let (link, out, into) = side.slots(end, spec, spec.size, TOLD as u64)?;
    link.visit_group(Near { clock, spec, halt, out, into }).unwrap_or(Err(LACKING.into()))
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    let halt = side.halt();
    let (link, _, into) = side.slots(end, spec, TOLD as u64, spec.size)?;
    link.visit_group(Far { spec, halt, into }).unwrap_or(Err(LACKING.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use transport::Order;
    use transport::clock::Virtual;

    use super::super::played::Played;
    use super::*;
    use crate::Pattern;

    fn spec(repeats: u64) -> TrialSpec {
        TrialSpec { burst: 2, flows: 2, ..TrialSpec::plain(Pattern::OneSender, 1, repeats) }
    }

    fn played(
        rank: u32,
        casts: u32,
        reliable: bool,
        delivers: VecDeque<(u32, u32, u64)>,
        answers: VecDeque<(u32, Vec<u8>)>,
    ) -> Played {
        Played { rank, casts, cast: Vec::new(), order: Order::Total, reliable, delivers, answers }
    }

    /// Rank 0, whose two other members tell a round and a time after 1,000 ns.
    fn run(answers: &[(u32, u64, u64)], repeats: u64) -> Timed {
        let clock = Virtual::default();
        clock.advance(1000);
        let answers = answers.iter().map(|(from, round, at)| (*from, told(*round, *at).to_vec())).collect();
        let delivers = VecDeque::new();
        let mut end = End::new(played(0, 40, false, delivers, answers));
        near(&mut end, &clock, &spec(repeats), &mut Workspace::new(true))
    }

    #[test]
    fn a_round_ends_at_the_slowest_member_and_one_that_does_not_tell_loses_it() {
        let report = run(&[(2, 0, 1000), (1, 0, 1000), (1, 1, 1000), (2, 1, 1000)], 2).unwrap();
        assert_eq!((report.repeats, report.lost), (2, 0));
        // The second round hears late of the first, and then nothing of member 2.
        let report = run(&[(1, 0, 1000), (2, 0, 1000), (2, 0, 1000), (1, 1, 1000)], 2).unwrap();
        assert_eq!((report.repeats, report.lost), (1, 1));
    }

    #[test]
    fn a_member_of_another_clock_and_one_that_is_ahead_are_told() {
        for at in [999, 1001] {
            let e = run(&[(1, 0, at)], 1).unwrap_err().to_string();
            assert!(e.contains("member 1 says") && e.contains("clocks"), "{e}");
        }
        let e = run(&[(1, 1, 1000)], 1).unwrap_err().to_string();
        assert!(e.contains("member 1 tells of round 1, and this one is 0"), "{e}");
    }

    #[test]
    fn receivers_take_numbers_from_the_first_message_and_hold_the_others_against_them() {
        let far = |reliable, delivers: &[(u32, u32, u64)]| {
            let (delivers, answers) = (delivers.iter().copied().collect(), VecDeque::new());
            // It has left out as many casts as the near member made.
            let mut end = End::new(played(1, 40, reliable, delivers, answers));
            super::far(&mut end, &spec(2), &mut Workspace::new(false))
        };
        let whole = [(0, 41, 0), (0, 42, 1), (0, 43, 2), (0, 44, 3)];
        assert_eq!(far(true, &whole).unwrap().received, 4);
        assert_eq!(far(false, &whole[1..]).unwrap().received, 3);
        for wrong in [&whole[1..], &[(0, 41, 0), (0, 43, 2)], &[(0, 41, 0), (0, 41, 0)], &[(0, 41, 0), (0, 42, 2)]] {
            let e = far(true, wrong).unwrap_err().to_string();
            assert!(e.contains("the order of casts is broken"), "{wrong:?}: {e}");
        }
        let e = far(true, &[(2, 41, 0)]).unwrap_err().to_string();
        assert!(e.contains("member 2, which is none that casts"), "{e}");
    }

    /// Rounds of a message of a byte each, after 40 casts: what a receiver takes of those, and how many casts it has left out then.
    fn received(delivers: &[(u32, u32, u64)], rounds: u64) -> (u64, u32) {
        let (delivers, answers) = (delivers.iter().copied().collect(), VecDeque::new());
        let mut end = End::new(played(1, 40, false, delivers, answers));
        let spec = TrialSpec { burst: 1, ..spec(rounds) };
        let report = crate::far::run(&mut end, &spec, &mut Workspace::new(false)).unwrap();
        (report.received, end.into_link().casts)
    }

    #[test]
    fn more_messages_in_a_row_than_a_byte_counts_are_lost_and_no_broken_order() {
        // The first 300 of a trial do not come, or 300 amid it, and what is left of an earlier trial comes late.
        assert_eq!(received(&[(0, 341, 300), (0, 342, 301)], 302), (2, 342));
        assert_eq!(received(&[(0, 41, 0), (0, 342, 301)], 302), (2, 342));
        assert_eq!(received(&[(0, 40, 57), (0, 41, 0), (0, 42, 1)], 2), (2, 42));
        // A receiver that gives up leaves out the rest, too.
        assert_eq!(received(&[(0, 41, 0)], 1000), (1, 1040));
    }

    #[test]
    fn a_trial_without_time_ends_with_a_round_that_says_so() {
        let clock = Virtual::default();
        clock.advance(1000);
        let answers = (0..4).flat_map(|round| [1, 2].map(|from| (from, told(round, 1000).to_vec()))).collect();
        let mut end = End::new(played(0, 40, true, VecDeque::new(), answers));
        // Not a nanosecond passes, so that all rounds are done.
        let spec = TrialSpec { burst: 2, within: Some(0), ..spec(4) };
        assert_eq!(near(&mut end, &clock, &spec, &mut Workspace::new(true)).unwrap().repeats, 4);
        let delivers = (0..4u32).map(|n| (0, 41 + n, if n == 2 { u64::from(!n) } else { n.into() })).collect();
        let mut end = End::new(played(1, 0, true, delivers, VecDeque::new()));
        let spec = TrialSpec { burst: 2, flows: 2, within: Some(0), ..TrialSpec::plain(Pattern::OneSender, 1, 1000) };
        assert_eq!(super::far(&mut end, &spec, &mut Workspace::new(false)).unwrap().received, 4, "its round is whole");
    }
}
