//! Which views are primary.

use crate::addr::{Addr, Endpoint};
use crate::view::{ViewId, read_endpoints, write_endpoints};
use crate::wire::{Reader, Short, Writer};

/// Views that may have been primary for others, kept at most: with more no view is primary.
const DOUBTS: usize = 16;

/// The latest primary view that a member knows of, and who must have a majority in the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) primary: ViewId,
    /// Voters of the last view that was primary for certain, then of those that may have been.
    voters: Vec<Vec<Endpoint>>,
}

impl Known {
    /// Where a state begins: its founder alone votes.
    pub(super) fn founded(me: Endpoint) -> Self {
        Self { primary: ViewId { number: 0, leader: me }, voters: vec![vec![me]] }
    }

    /// Of who has no state.
    pub(super) fn nothing() -> Self {
        let nobody = Endpoint { addr: Addr::from(([0, 0, 0, 0], 0)), born: 0 };
        Self { primary: ViewId { number: 0, leader: nobody }, voters: Vec::new() }
    }

    /// Whether a view of these is primary: more than half of the voters, or half with the first of them, are in it.
    pub(super) fn grants(&self, members: &[Endpoint]) -> bool {
        let majority = |set: &Vec<Endpoint>| {
            let twice = 2 * set.iter().filter(|v| members.contains(v)).count();
            twice > set.len() || (twice == set.len() && set.first().is_some_and(|v| members.contains(v)))
        };
        self.voters.len() <= DOUBTS && self.voters.iter().all(majority)
    }

    /// A view is primary, with these voters: for certain, or perhaps.
    pub(super) fn advance(&mut self, view: ViewId, voters: Vec<Endpoint>, certain: bool) {
        self.primary = view;
        if certain {
            self.voters.clear();
        }
        if !self.voters.contains(&voters) {
            self.voters.push(voters);
        }
    }

    /// One more votes.
    pub(super) fn admit(&mut self, who: Endpoint, certain: bool) {
        let mut voters = self.voters.last().cloned().unwrap_or_default();
        if !voters.contains(&who) {
            voters.push(who);
            self.advance(self.primary, voters, certain);
        }
    }

    /// The later of two; of two that know of the same view, all voters that either knows.
    pub(super) fn join(&mut self, other: &Known) {
        if other.primary > self.primary {
            *self = other.clone();
        } else if other.primary == self.primary {
            let more: Vec<_> = other.voters.iter().filter(|v| !self.voters.contains(v)).cloned().collect();
            self.voters.extend(more);
        }
    }

    pub(super) fn write(&self, to: &mut Writer) {
        self.primary.write(to);
        to.count(self.voters.len() as u64);
        for set in &self.voters {
            write_endpoints(set, to);
        }
    }

    pub(super) fn read(from: &mut Reader) -> Result<Self, Short> {
        let primary = ViewId::read(from)?;
        let n = from.length(1)?;
        Ok(Self { primary, voters: (0..n).map(|_| read_endpoints(from)).collect::<Result<_, _>>()? })
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
}
