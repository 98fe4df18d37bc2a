//! Group: the performance test of Horus (`seeds/002`, figure 3). Each of n members casts m messages, then waits until it has all n times m of the round, and so on.
//!
//! The time is that of a round at the near member, from before its first cast until it has delivered the last message of all: with m = 1 it is what the seed calls one-way
//! latency, as it divides the time of all rounds by their number. Throughput counts what one member delivers, its own messages included.
//!
//! What a group promises is held against it while it is measured ([`super::member`]). Where all casts have one order the digests of all members are compared
//! as the trial ends.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{Capabilities, End, Group, Link, LinkError, VisitGroup};

use super::collective::took_part;
use super::facts::one_process;
use super::member::{LACKING, LACKS, MODELLED, Member, SILENCES, Waited};
use super::{Answered, Facts, InGroup, Timed};
use crate::buffers::Slots;
use crate::event::TimeKind;
use crate::near::{self, LOST_IN_A_ROW};
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const HELP: &str = "Each member of a group casts messages, then waits for those of all";

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
    paused: Some(("the group", "its members wait for each other, so that one round alone is charged with each pause")),
    bytes: |trial, _| trial.size.saturating_mul(trial.burst.max(1)).saturating_mul(took_part(trial)),
    rates: |trial| Some(trial.burst.max(1).saturating_mul(took_part(trial))),
    modelled: |_, _, _, _| Err(LACKING.into()),
    ..Facts::new(Some(HELP), TimeKind::Round, |_| FarRole::Answer { response: 1 })
};

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
        let mut member = Member::of_senders(link, spec, halt)?;
        let (mut samples, mut total, mut whole, mut in_a_row) = (Samples::new(spec.repeats, 1), 0, 0, 0);
        let (first, mut done) = (clock.now(), 0);
        for round in 0..member.rounds() {
            member.halt.check()?;
            let began = clock.now();
            if member.ends(round, began.saturating_sub(first)) && !member.reliable {
                break;
            }
            member.cast(round, &mut self.out)?;
            let came = member.wait(round, &mut self.into)?;
            let took = clock.now() - began;
            match came {
                Waited::Whole => in_a_row = 0,
                Waited::Lost => in_a_row += 1,
                Waited::Passed => {}
            }
            if in_a_row >= LOST_IN_A_ROW {
                return Err(SessionError::NothingArrives { in_a_row });
            }
            done += u64::from(round >= spec.warmup);
            if round >= spec.warmup && came == Waited::Whole {
                samples.push(took, 1);
                total += took;
                whole += 1;
            }
            if member.is_last() {
                break;
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
        member.leave(&self.into);
        SessionError::contents("the near side", spec.size, member.wrong, member.spilled)?;
        Ok(TrialReport { lost: done - whole, ..near::sampled(samples, whole, total) })
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
        let mut member = Member::of_senders(link, self.spec, self.halt)?;
        let mut silences = 0;
        for round in 0..member.rounds() {
            if member.reliable {
                member.halt.check()?;
            }
            let outcome = member.cast(round, &mut self.out).and_then(|()| member.wait(round, &mut self.into));
            match outcome {
                Ok(Waited::Whole) if member.is_last() => break,
                Ok(Waited::Whole) => silences = 0,
                Ok(Waited::Passed) => {}
                Ok(Waited::Lost) if silences < SILENCES => silences += 1,
                // The near member has all that it gets.
                Ok(Waited::Lost) => break,
                Err(LinkError::Interrupted) if !member.reliable => break,
                Err(e) => return Err(e.into()),
            }
        }
        if member.one_order {
            member.link.answer(0, &member.digest.to_le_bytes())?;
        }
        member.leave(&self.into);
        let (corrupt, spilled) = (member.wrong, member.spilled);
        Ok(FarReport { received: member.fewest(), corrupt, spilled, ..FarReport::default() })
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

    use transport::Order;

    use super::super::played::Played;
    use super::*;
    use crate::Pattern;

    fn digest(order: &[u32]) -> u64 {
        order.iter().fold(0, |all: u64, from| (all ^ u64::from(from + 1)).wrapping_mul(0x0100_0000_01b3).rotate_left(5))
    }

    /// Two rounds of one message each, after 40 casts of earlier trials.
    fn run(order: Order, reliable: bool, delivers: &[(u32, u32, u64)], answers: &[(u32, u64)]) -> Timed {
        let answers = answers.iter().map(|(from, digest)| (*from, digest.to_le_bytes().to_vec())).collect();
        let mut end = End::new(Played {
            rank: 0,
            casts: 40,
            cast: Vec::new(),
            order,
            reliable,
            delivers: delivers.iter().copied().collect(),
            answers,
        });
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
        assert!(e.contains("member 7, which is none that casts"), "{e}");
    }

    /// What comes of two rounds of one message each to a member of a group in which all arrives, after 40 casts of it, 7 of member 1 and 300 of member 2.
    fn after_others(order: Order, delivers: &[(u32, u32, u64)], answers: &[(u32, u64)]) -> Result<u64, String> {
        run(order, true, delivers, answers).map(|report| report.repeats).map_err(|e| e.to_string())
    }

    #[test]
    fn members_that_cast_differently_often_before_are_each_counted_from_their_own_first() {
        let whole = [(1, 8, 0), (2, 301, 0), (2, 302, 1), (1, 9, 1)];
        assert_eq!(after_others(Order::Sender, &whole, &[]), Ok(2));
        // With one order of all it hears itself, and what it cast before and did not ask to hear then.
        let heard = [(0, 39, 7), (1, 8, 0), (0, 40, 8), (0, 41, 0), (2, 301, 0), (2, 302, 1), (1, 9, 1), (0, 42, 1)];
        let one = digest(&[1, 0, 2, 2, 1, 0]);
        assert_eq!(after_others(Order::Total, &heard, &[(1, one), (2, one)]), Ok(2));
        let other = digest(&[1, 0, 2, 1, 2, 0]);
        let e = after_others(Order::Total, &heard, &[(1, one), (2, other)]).unwrap_err();
        assert!(e.contains("members 0 and 2 delivered the 6 messages"), "{e}");
    }

    #[test]
    fn what_is_lost_comes_twice_or_in_another_order_is_found_whatever_was_cast_before() {
        let (one, two) = ([(1, 8, 0), (1, 9, 1)], [(2, 301, 0), (2, 302, 1)]);
        let own = [(0, 41, 0), (0, 42, 1)];
        for (what, casts) in [
            ("the first is lost", vec![two[0], one[1]]),
            ("one amid them is lost", vec![one[0], (1, 10, 2)]),
            ("one amid them is lost, and the link counts what comes", vec![one[0], (1, 9, 2)]),
            ("the first comes twice", vec![one[0], two[0], one[0]]),
            ("the first comes twice, and the link counts what comes", vec![one[0], two[0], (1, 9, 0)]),
            ("the last of the trial before comes twice", vec![(1, 7, 9), one[0]]),
            ("two change places", vec![two[0], one[1], one[0]]),
            ("two change places, and the link counts what comes", vec![two[0], (1, 8, 1), (1, 9, 0)]),
            ("another number than is due", vec![one[0], two[0], (2, 302, 7)]),
            ("one of its own is lost", vec![one[0], two[0], own[1]]),
            ("one of its own comes twice", vec![one[0], two[0], own[0], own[0]]),
        ] {
            let e = after_others(Order::Total, &casts, &[]).expect_err(what);
            assert!(e.contains("the order of casts is broken"), "{what}: {e}");
        }
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
        // What was lost in an earlier trial may come late.
        let late = [[(1, 40, 7)].as_slice(), &whole].concat();
        let report = run(Order::Sender, false, &late, &[]).unwrap();
        assert_eq!((report.repeats, report.lost), (2, 0));
        assert!(run(Order::Sender, true, &late, &[]).is_err(), "nothing is late where all arrives");
        // A message of a later round tells that those before it are lost, and they are no whole rounds then.
        let report = run(Order::Sender, false, &[(2, 41, 0), (1, 43, 2), (2, 42, 1)], &[]).unwrap();
        assert_eq!((report.repeats, report.lost), (0, 2));
    }

    /// Of a trial of 1,000 rounds that may take a nanosecond, rank 0 plays with one that casts and says that its round is the last.
    fn near_ends(reliable: bool) -> (TrialReport, Played) {
        let delivers = (0..4).flat_map(|round| [1, 2].map(|from| (from, 41 + round, round.into()))).collect();
        let answers = VecDeque::new();
        let mut end = End::new(Played {
            rank: 0,
            casts: 40,
            cast: Vec::new(),
            order: Order::Sender,
            reliable,
            delivers,
            answers,
        });
        let spec =
            TrialSpec { burst: 1, flows: 2, warmup: 1, within: Some(1), ..TrialSpec::plain(Pattern::Group, 2, 1000) };
        let report = near::run(&mut end, &Slow::default(), &spec, &mut Workspace::new(true)).unwrap();
        (report, end.into_link())
    }

    #[test]
    fn a_trial_without_time_ends_with_a_round_that_says_so() {
        let (report, link) = near_ends(true);
        assert_eq!((report.repeats, report.lost), (2, 0), "one that counts, and the last");
        assert_eq!(link.cast, [vec![0, 0], vec![1, 0], vec![!2, !0]]);
        // Where messages are lost it just ends, and leaves out the numbers of all others.
        let (report, link) = near_ends(false);
        assert_eq!((report.repeats, report.lost), (1, 0));
        assert_eq!(link.cast, [vec![0, 0], vec![1, 0]]);
        assert_eq!(link.casts, 40 + 1001);
    }

    #[test]
    fn a_member_ends_with_the_near_ones_last_round_and_not_before() {
        let delivers = |last: u32| {
            (0..3u32).flat_map(move |r| {
                let says = u64::from(r);
                [(0, 41 + r, if r == last { !says } else { says }), (2, 41 + r, says)]
            })
        };
        let run = |last, within| {
            let (delivers, answers) = (delivers(last).collect(), VecDeque::new());
            let mut end = End::new(Played {
                rank: 1,
                casts: 40,
                cast: Vec::new(),
                order: Order::Sender,
                reliable: true,
                delivers,
                answers,
            });
            let spec = TrialSpec { burst: 1, flows: 2, within, ..TrialSpec::plain(Pattern::Group, 4, 1000) };
            super::far(&mut end, &spec, &mut Workspace::new(true))
                .map(|report| (report.received, end.into_link().cast.len()))
        };
        assert_eq!(run(1, Some(1)).unwrap(), (2, 2));
        assert_eq!(run(2, Some(1)).unwrap(), (3, 3));
        let e = run(1, None).unwrap_err().to_string();
        assert!(e.contains("the order of casts is broken"), "a trial that has all the time has no such round: {e}");
    }

    /// A clock that goes on by a millisecond at each look.
    #[derive(Default)]
    struct Slow(std::cell::Cell<u64>);

    impl Clock for Slow {
        fn now(&self) -> u64 {
            self.0.set(self.0.get() + 1_000_000);
            self.0.get()
        }

        fn wait_until(&self, at: u64) {
            while self.now() < at {}
        }
    }
}
