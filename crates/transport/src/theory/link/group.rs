//! A group on the modelled path: what the near member casts leaves once and reaches each other member by itself, with its own noise and its own
//! chance to be lost; their answers come back over one line, one after another.

use std::collections::VecDeque;

use super::TheoryLink;
use crate::theory::far::{Far, FarView, Reaction};
use crate::theory::{FarRole, Theory};
use crate::{Delivered, Group, LinkError};

/// The other members.
#[derive(Debug, Default)]
pub(super) struct Members {
    each: Vec<Far>,
    /// Answers under way: when the last byte arrives, nanoseconds, from which rank, how long it is, and to which cast.
    answers: VecDeque<(f64, u32, u64, u32)>,
    casts: u32,
}

impl Members {
    /// Those of a path.
    pub fn of(theory: &Theory) -> Self {
        let others = theory.members.map_or(0, |members| members.saturating_sub(1));
        Self { each: vec![Far::default(); others as usize], ..Self::default() }
    }

    /// Gives all of them a role.
    pub fn begin(&mut self, role: FarRole) {
        self.each.iter_mut().for_each(|far| far.begin(role));
    }

    /// Leaves the first `messages` out of what each saw.
    pub fn skip(&mut self, messages: u64) {
        self.each.iter_mut().for_each(|far| far.skip(messages));
    }

    /// Forgets what is under way.
    pub fn forget(&mut self) {
        self.answers.clear();
    }

    /// What each saw.
    pub fn views(&self) -> Vec<FarView> {
        self.each.iter().map(Far::view).collect()
    }
}

const NEAR: LinkError = LinkError::Unsupported("cast to its near member: the others of a modelled group only answer");

impl Group for TheoryLink {
    fn members(&self) -> u32 {
        self.members.each.len() as u32 + 1
    }

    fn rank(&self) -> u32 {
        0
    }

    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.usable("casting")?;
        self.sync();
        self.members.casts = self.members.casts.wrapping_add(1);
        let (bytes, number) = (message.len() as u64, self.members.casts);
        let first = self.out.carry(&self.theory, &mut self.dice, self.now, bytes);
        let mut answers = Vec::with_capacity(self.members.each.len());
        for (rank, far) in (1..).zip(&mut self.members.each) {
            let passage = if rank == 1 { first } else { self.out.also(&mut self.dice, &first) };
            match far.arrive(&passage, bytes) {
                Reaction::Send { at, bytes, .. } => answers.push((at, rank, bytes)),
                Reaction::Missing => self.answers.miss(),
                Reaction::None => {}
            }
        }
        answers.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, rank, bytes) in answers {
            let back = self.back.carry(&self.theory, &mut self.dice, at, bytes);
            match back.lost {
                true => self.answers.miss(),
                false => self.members.answers.push_back((back.last, rank, bytes, number)),
            }
        }
        self.move_to(first.sent);
        Ok(number)
    }

    fn deliver(&mut self, _: &mut [u8]) -> Result<Delivered, LinkError> {
        Err(NEAR)
    }

    fn answer(&mut self, _: u32, _: &[u8]) -> Result<(), LinkError> {
        Err(NEAR)
    }

    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        self.usable("waiting for answers")?;
        self.sync();
        let Some((at, rank, bytes, number)) = self.members.answers.pop_front() else {
            return Err(self.nothing_comes());
        };
        self.move_to(at);
        if bytes != message.len() as u64 {
            let wanted = message.len();
            return Err(LinkError::Protocol(format!("an answer of {bytes} bytes came where {wanted} were expected")));
        }
        message.iter_mut().zip(number.to_le_bytes()).for_each(|(to, from)| *to = from);
        Ok(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    /// One byte a nanosecond, no headers, one microsecond.
    fn link(members: u32, loss: f64) -> TheoryLink {
        let theory = Theory { latency: 1e-6, rate: 8e9, header: 0, loss, members: Some(members), ..Theory::default() };
        let mut link = TheoryLink::new(&theory, 1.0);
        link.set_role(FarRole::Answer { response: 4 });
        link
    }

    #[test]
    fn a_cast_takes_the_line_once_and_all_answers_come_back_over_one() {
        for members in [2, 4, 129] {
            let mut link = link(members, 0.0);
            let clock = link.clock();
            assert_eq!((link.members(), link.rank(), link.cast(&[1; 1000]).unwrap()), (members, 0, 1));
            assert_eq!(clock.now(), 1000, "the line is free as soon as it has left once");
            let mut answer = [0; 4];
            for rank in 1..members {
                assert_eq!(link.answered(&mut answer).unwrap(), rank);
                assert_eq!(u32::from_le_bytes(answer), 1);
                assert_eq!(clock.now(), 3000 + 4 * u64::from(rank));
            }
            assert!(link.member_reports().iter().all(|view| (view.received, view.lost) == (1, 0)));
            assert!(matches!(link.answered(&mut answer), Err(LinkError::Stalled { .. })));
        }
    }

    #[test]
    fn each_member_has_losses_of_its_own_and_the_share_that_was_asked_for() {
        let mut link = link(3, 0.2);
        link.skip(10);
        let mut awaited = 0;
        for _ in 0..10_010 {
            link.cast(&[1; 10]).unwrap();
            awaited += 2;
            while link.answered(&mut [0; 4]).is_ok() {
                awaited -= 1;
            }
        }
        assert!((awaited as f64 / 20_020.0 - 0.36).abs() < 0.02, "there or back: {awaited}");
        let [one, other] = link.member_reports()[..] else { panic!("two others") };
        for view in [one, other] {
            assert_eq!(view.received + view.lost, 10_000);
            assert!((view.lost as f64 / 10_000.0 - 0.2).abs() < 0.015, "{view:?}");
        }
        assert_ne!(one.lost, other.lost);
    }

    #[test]
    fn with_noise_the_slowest_decides() {
        let mean = |members| {
            let theory = Theory { noise: 0.5, members: Some(members), ..Theory::default() };
            let mut link = TheoryLink::new(&theory, 1.0);
            link.set_role(FarRole::Answer { response: 4 });
            for _ in 0..500 {
                link.cast(&[1; 10]).unwrap();
                for _ in 1..members {
                    link.answered(&mut [0; 4]).unwrap();
                }
            }
            link.clock().now()
        };
        let (few, many) = (mean(2), mean(20));
        assert!(many > few * 3 / 2, "{few} {many}");
    }
}
