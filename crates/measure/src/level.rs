//! Numbers of casts on a path that loses messages: the same at all members of a group when a trial begins.
//!
//! A receiver that missed the first casts of a trial knows which one it has by that alone ([`crate::pattern`], `member`). So each member ends a trial by leaving out
//! the numbers of the casts that it did not make of those that a member may make in it: in most patterns one member casts, and a trial may end early.

use transport::{End, Link};

use crate::TrialSpec;

/// Casts that a member makes in a trial, at most.
fn most(spec: &TrialSpec) -> u64 {
    let each = spec.pattern.facts().many(spec).max(1);
    spec.warmup.saturating_add(spec.repeats).saturating_mul(each)
}

/// The number of the last cast; none where the path has no group, or all that is cast arrives.
fn last<L: Link>(end: &mut End<L>) -> Option<u32> {
    end.group()?.leave_out(0)
}

/// Runs this member's half of a trial, which ends with the number that all others end it with.
pub(crate) fn level<L: Link, T>(end: &mut End<L>, spec: &TrialSpec, half: impl FnOnce(&mut End<L>) -> T) -> T {
    let before = last(end);
    let done = half(end);
    if let (Some(before), Some(after)) = (before, last(end)) {
        let left = most(spec).saturating_sub(after.wrapping_sub(before).into());
        if let Some(group) = end.group() {
            // Numbers wrap.
            group.leave_out(left as u32);
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use transport::Order;
    use transport::clock::Monotonic;

    use crate::pattern::played::Played;
    use crate::{Pattern, Workspace, far, near};

    use super::*;

    #[test]
    fn all_members_end_a_trial_with_the_same_number_whoever_cast_and_however_it_ended() {
        for (pattern, casts) in
            [(Pattern::Stream, 12), (Pattern::Cast, 12), (Pattern::OneSender, 36), (Pattern::Group, 36)]
        {
            let spec = TrialSpec { burst: 3, flows: 2, warmup: 2, ..TrialSpec::plain(pattern, 8, 10) };
            for rank in 0..3 {
                // Nothing ever comes.
                let played = Played {
                    rank,
                    casts: u32::MAX - 3,
                    cast: Vec::new(),
                    order: Order::Sender,
                    reliable: false,
                    delivers: VecDeque::new(),
                    answers: VecDeque::new(),
                };
                let mut end = End::new(played);
                match rank {
                    0 => drop(near::run(&mut end, &Monotonic, &spec, &mut Workspace::new(true))),
                    _ => drop(far::run(&mut end, &spec, &mut Workspace::new(false))),
                }
                assert_eq!(end.into_link().casts, (u32::MAX - 3).wrapping_add(casts), "{pattern:?}, member {rank}");
            }
        }
    }

    #[test]
    fn where_all_arrives_no_number_is_left_out() {
        let spec = TrialSpec { flows: 2, ..TrialSpec::plain(Pattern::Stream, 8, 10) };
        let played = Played {
            rank: 0,
            casts: 40,
            cast: Vec::new(),
            order: Order::Sender,
            reliable: true,
            delivers: VecDeque::new(),
            answers: VecDeque::new(),
        };
        let mut end = End::new(played);
        drop(near::run(&mut end, &Monotonic, &spec, &mut Workspace::new(true)));
        let link = end.into_link();
        assert_eq!(link.casts, 40 + link.cast.len() as u32);
    }
}
