//! A module's link in a group: how it learns its place, and joins.

use std::time::Duration;

use super::{Call, MISSING, ModuleLink};
use crate::module::abi::Own;
use crate::{Capabilities, Link, LinkError, Proof};

/// A member's place in a group, and what it holds of it.
pub struct Seat {
    pub(super) rank: u32,
    pub(super) members: u32,
    /// The links of rank 0 to those after the first, which end with the group.
    others: Vec<ModuleLink>,
    /// The number of its last cast.
    pub(super) casts: u32,
}

impl Seat {
    /// The place of this rank among so many.
    pub fn new(rank: u32, members: u32) -> Self {
        Self { rank, members, others: Vec::new(), casts: 0 }
    }

    /// Whether links that can do this have places.
    pub fn can_be(can: &Capabilities) -> bool {
        can.group || can.collective
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
        let told = if Seat::can_be(&self.can) { &mut told[..] } else { &mut told[..32] };
        self.recv(told).ok()?;
        read(told, proof)
    }

    /// Becomes a member of a group with this place. Rank 0 has a link to each other member, this one to rank 1 and `others` to those that follow.
    pub(in crate::module) fn join(&mut self, others: Vec<ModuleLink>, seat: Seat) -> Result<(), LinkError> {
        const DOING: &str = "joining a group";
        let first = self.own(DOING)?;
        let links: Vec<Own> = std::iter::once(first).chain(others.iter().map(|other| other.at)).collect();
        let (call, join) = match self.can.group {
            true => (Call::Group, self.group.and_then(|table| table.join)),
            false => (Call::Collective, self.collective.and_then(|table| table.join)),
        };
        let Some(join) = join else { return Err(MISSING) };
        self.progress.begins(call, 0, Duration::ZERO);
        // SAFETY: the links are the module's own, and their array lives until the call returns.
        let came = unsafe { join(links.as_ptr(), links.len(), seat.rank, seat.members, self.failure.room()) };
        self.check(came, DOING)?;
        self.seat = Some(Seat { others, ..seat });
        Ok(())
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
