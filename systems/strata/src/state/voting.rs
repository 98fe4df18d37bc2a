//! Which views are primary.

use crate::addr::{Addr, Endpoint};
use crate::view::{ViewId, read_endpoints, write_endpoints};
use crate::wire::{Reader, Short, Writer};

/// Views that may have been primary for others, kept at most: with more no view is primary. Who came to vote or left in one of them is not counted: of these there are at most two for each of its members.
const DOUBTS: usize = 16;

/// The latest primary view that a member knows of, and who must have a majority in the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) primary: ViewId,
    /// Those of the last view that was primary for certain, then of those that may have been.
    sets: Vec<Voters>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Voters {
    /// A view began with these; else one of them came to vote, or another left, later.
    first: bool,
    who: Vec<Endpoint>,
}

impl Known {
    /// Where a state begins: its founder alone votes.
    pub(super) fn founded(me: Endpoint) -> Self {
        Self { primary: ViewId { number: 0, leader: me }, sets: vec![Voters { first: true, who: vec![me] }] }
    }

    /// Of who has no state.
    pub(super) fn nothing() -> Self {
        let nobody = Endpoint { addr: Addr::from(([0, 0, 0, 0], 0)), born: 0 };
        Self { primary: ViewId { number: 0, leader: nobody }, sets: Vec::new() }
    }

    /// Whether a view of these is primary: more than half of the voters, or half with the first of them, are in it.
    pub(super) fn grants(&self, members: &[Endpoint]) -> bool {
        let majority = |set: &Voters| {
            let set = &set.who;
            let twice = 2 * set.iter().filter(|v| members.contains(v)).count();
            twice > set.len() || (twice == set.len() && set.first().is_some_and(|v| members.contains(v)))
        };
        self.sets.iter().filter(|set| set.first).count() <= DOUBTS && self.sets.iter().all(majority)
    }

    /// A view is primary, with these voters: for certain, or perhaps.
    pub(super) fn advance(&mut self, view: ViewId, voters: Vec<Endpoint>, certain: bool) {
        self.primary = view;
        self.add(Voters { first: true, who: voters }, certain);
    }

    fn add(&mut self, voters: Voters, certain: bool) {
        if certain {
            self.sets.clear();
        }
        if !self.sets.iter().any(|set| set.who == voters.who) {
            self.sets.push(voters);
        }
    }

    fn last(&self) -> Vec<Endpoint> {
        self.sets.last().map(|set| set.who.clone()).unwrap_or_default()
    }

    /// One more votes.
    pub(super) fn admit(&mut self, who: Endpoint, certain: bool) {
        let mut voters = self.last();
        if !voters.contains(&who) {
            voters.push(who);
            self.add(Voters { first: false, who: voters }, certain);
        }
    }

    /// One votes no more, as it leaves. The last stays: a set of nobody would let everybody rule.
    pub(super) fn dismiss(&mut self, who: Endpoint, certain: bool) {
        let mut voters = self.last();
        if voters.len() > 1 && voters.contains(&who) {
            voters.retain(|v| *v != who);
            self.add(Voters { first: false, who: voters }, certain);
        }
    }

    /// The last voters are those for certain.
    pub(super) fn settle(&mut self) {
        self.sets.drain(..self.sets.len().saturating_sub(1));
    }

    /// The later of two; of two that know of the same view, all voters that either knows.
    pub(super) fn join(&mut self, other: &Known) {
        if other.primary > self.primary {
            *self = other.clone();
        } else if other.primary == self.primary {
            other.sets.iter().for_each(|set| self.add(set.clone(), false));
        }
    }

    pub(super) fn write(&self, to: &mut Writer) {
        self.primary.write(to);
        to.count(self.sets.len() as u64);
        for set in &self.sets {
            to.u8(u8::from(set.first));
            write_endpoints(&set.who, to);
        }
    }

    pub(super) fn read(from: &mut Reader) -> Result<Self, Short> {
        let primary = ViewId::read(from)?;
        let n = from.length(2)?;
        let mut set = || Ok(Voters { first: from.u8()? != 0, who: read_endpoints(from)? });
        Ok(Self { primary, sets: (0..n).map(|_| set()).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(n: u16) -> Endpoint {
        Endpoint { addr: ([10, 0, 0, 1], n).into(), born: 1 }
    }

    #[test]
    fn a_view_in_doubt_must_be_outvoted_too() {
        let view = |number| ViewId { number, leader: who(1) };
        let mut known = Known::founded(who(1));
        known.advance(view(2), vec![who(1), who(2), who(3), who(4), who(5)], true);
        assert!(known.grants(&[who(3), who(4), who(5)]));
        assert!(!known.grants(&[who(4), who(5)]));
        // For these three it may have been primary: whoever goes on needs two of them as well.
        known.advance(view(3), vec![who(1), who(2), who(3)], false);
        assert!(!known.grants(&[who(3), who(4), who(5)]));
        assert!(known.grants(&[who(2), who(3), who(4)]));
        known.advance(view(4), vec![who(2), who(3), who(4)], true);
        assert!(known.grants(&[who(3), who(4)]));
    }

    #[test]
    fn half_needs_the_first_and_who_received_the_state_votes() {
        let mut known = Known::founded(who(1));
        assert!(!known.grants(&[who(2)]));
        known.admit(who(2), true);
        assert!(known.grants(&[who(1)]) && !known.grants(&[who(2)]));
        known.admit(who(3), true);
        assert!(known.grants(&[who(2), who(3)]) && !known.grants(&[who(1)]));
    }

    #[test]
    fn who_leaves_takes_its_vote_along_unless_that_is_in_doubt() {
        let mut known = Known::founded(who(1));
        known.admit(who(2), true);
        let mut doubtful = known.clone();
        known.dismiss(who(1), true);
        assert!(known.grants(&[who(2)]) && !known.grants(&[who(1)]));
        known.dismiss(who(2), true);
        assert!(known.grants(&[who(2)]), "the last one keeps it");
        // Others may not have heard of it, and go on with the first.
        doubtful.dismiss(who(1), false);
        assert!(!doubtful.grants(&[who(2)]) && !doubtful.grants(&[who(1)]));
    }

    #[test]
    fn many_that_leave_in_doubt_do_not_end_all_primary_views_and_many_views_in_doubt_do() {
        let all: Vec<_> = (0..40).map(who).collect();
        let view = |number| ViewId { number, leader: who(0) };
        let mut known = Known::founded(who(0));
        known.advance(view(1), all.clone(), true);
        all[20..].iter().for_each(|gone| known.dismiss(*gone, false));
        assert!(known.grants(&all[..25]), "a majority of all sets");
        assert!(!known.grants(&all[1..20]), "none of the first");
        let bytes = {
            let mut to = Writer::new();
            known.write(&mut to);
            to.0
        };
        assert_eq!(Known::read(&mut Reader(&bytes)), Ok(known.clone()));
        for number in 0..DOUBTS as u64 {
            known.advance(view(number + 2), all[..39 - number as usize].to_vec(), false);
        }
        assert!(!known.grants(&all));
    }
}
