//! A module's link as a member of a group: how it learns its place, joins, and does what all members do together.

use std::time::Duration;

use super::{Call, MISSING, ModuleLink};
use crate::module::abi::Own;
use crate::{Collective, Link, LinkError, Proof, WORD};

/// A member's place in a group, and what it holds of it.
pub struct Seat {
    rank: u32,
    members: u32,
    /// The links of rank 0 to those after the first, which end with the group.
    others: Vec<ModuleLink>,
}

impl Seat {
    /// The place of this rank among so many.
    pub fn new(rank: u32, members: u32) -> Self {
        Self { rank, members, others: Vec::new() }
    }

    /// The links that it holds end.
    pub(super) fn leave(self) {
        drop(self.others);
    }
}

/// Bytes that a near side shows first over a module that has groups: its proof, and the other side's rank and the number of members, both 0 where there is no
/// group.
pub const SHOWN: usize = 40;

/// What a near side shows there.
pub fn shown(proof: &Proof, seat: Option<Seat>) -> [u8; SHOWN] {
    let (rank, members) = seat.map_or((0, 0), |seat| (seat.rank, seat.members));
    let mut told = [0; SHOWN];
    told[..32].copy_from_slice(&proof.near);
    told[32..36].copy_from_slice(&rank.to_le_bytes());
    told[36..].copy_from_slice(&members.to_le_bytes());
    told
}

/// What a near side showed: none where it is a stranger, or names a place that can't be.
fn read(told: &[u8], proof: &Proof) -> Option<Option<Seat>> {
    let (near, place) = told.split_first_chunk::<32>()?;
    if !Proof::matches(near, &proof.near) {
        return None;
    }
    let number =
        |at: usize| place.get(at..at + 4).map_or(0, |four| four.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b)));
    match (number(0), number(4)) {
        (0, 0) => Some(None),
        (rank, members) => (0 < rank && rank < members).then(|| Some(Seat::new(rank, members))),
    }
}

impl ModuleLink {
    /// Reads what the near side shows over a fresh link: none of a stranger, else the place that this side has in a group.
    pub(in crate::module) fn shown_by_the_near_side(&mut self, proof: &Proof) -> Option<Option<Seat>> {
        let mut told = [0; SHOWN];
        let told = if self.can.collective { &mut told[..] } else { &mut told[..32] };
        self.recv(told).ok()?;
        read(told, proof)
    }

    /// Becomes a member of a group with this place. Rank 0 has a link to each other member, this one to rank 1 and `others` to those that follow.
    pub(in crate::module) fn join(&mut self, others: Vec<ModuleLink>, seat: Seat) -> Result<(), LinkError> {
        const DOING: &str = "joining a group";
        let first = self.own(DOING)?;
        let links: Vec<Own> = std::iter::once(first).chain(others.iter().map(|other| other.at)).collect();
        let Some(join) = self.collective.and_then(|table| table.join) else { return Err(MISSING) };
        self.progress.begins(Call::Collective, 0, Duration::ZERO);
        // SAFETY: the links are the module's own, and their array lives until the call returns.
        let came = unsafe { join(links.as_ptr(), links.len(), seat.rank, seat.members, self.failure.room()) };
        self.check(came, DOING)?;
        self.seat = Some(Seat { others, ..seat });
        Ok(())
    }

    /// Whether a block for each member has this length.
    fn for_each(&self, len: usize, all: usize) -> Result<(), LinkError> {
        let members = self.members() as usize;
        match len.checked_mul(members) == Some(all) {
            true => Ok(()),
            false => Err(LinkError::Outside { offset: 0, len: len.saturating_mul(members), exposed: all }),
        }
    }
}

impl Collective for ModuleLink {
    fn members(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.members)
    }
    fn rank(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.rank)
    }
    fn barrier(&mut self) -> Result<(), LinkError> {
        through!(self, collective.barrier, "waiting at a barrier", 0, Duration::ZERO, ())
    }
    fn broadcast(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        let len = block.len();
        through!(self, collective.broadcast, "broadcasting", len, Duration::ZERO, (block.as_mut_ptr().cast(), len))
    }
    fn allreduce(&mut self, mine: &[u8], sums: &mut [u8]) -> Result<(), LinkError> {
        let len = mine.len();
        if len != sums.len() || !len.is_multiple_of(WORD) {
            return Err(LinkError::Outside { offset: 0, len, exposed: sums.len() / WORD * WORD });
        }
        let (from, to) = (mine.as_ptr().cast(), sums.as_mut_ptr().cast());
        through!(self, collective.allreduce, "reducing", len, Duration::ZERO, (from, to, len))
    }
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), LinkError> {
        self.for_each(mine.len(), all.len())?;
        let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
        through!(self, collective.allgather, "gathering", all.len(), Duration::ZERO, (from, to, mine.len()))
    }
    fn all_to_all(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        let len = out.len() / self.members().max(1) as usize;
        self.for_each(len, out.len())?;
        self.for_each(len, into.len())?;
        let (from, to) = (out.as_ptr().cast(), into.as_mut_ptr().cast());
        through!(self, collective.all_to_all, "exchanging with all", into.len(), Duration::ZERO, (from, to, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_where_the_proof_is_shown_and_it_can_be() {
        let proof = Proof { near: [3; 32], far: [4; 32] };
        let of = |rank, members| read(&shown(&proof, Some(Seat::new(rank, members))), &proof);
        let seat = of(2, 3).flatten().expect("it can be");
        assert_eq!((seat.rank, seat.members), (2, 3));
        assert!(read(&shown(&proof, None), &proof).is_some_and(|seat| seat.is_none()));
        assert!(read(&proof.near, &proof).is_some_and(|seat| seat.is_none()), "a module without groups");
        assert!(of(3, 3).is_none() && of(0, 3).is_none() && of(1, 0).is_none());
        let other = Proof { near: [4; 32], far: [3; 32] };
        assert!(read(&shown(&proof, None), &other).is_none());
    }
}
