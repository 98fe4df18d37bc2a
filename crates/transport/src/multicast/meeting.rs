//! How the members of a group meet: the near one invites each other member at its door, and shows there that it may.

use std::net::SocketAddr;
use std::os::fd::AsFd;

use super::header::GroupKey;
use super::interface::{Interface, any};
use super::link::{Multicast, Seat};
use super::place::Place;
use crate::meet::Made;
use crate::port::{Accept, Address, Connect};
use crate::{AnyLink, LinkError, Proof, invite, ip, sys};

/// Bytes of an invitation.
const INVITATION: usize = 58;

/// What a member is told once the near one has shown that it may.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Invitation {
    key: GroupKey,
    port: u16,
    rank: u16,
    members: u16,
    /// The index of the interface that the near member chose; 0 where what is set names it.
    interface: u32,
}

impl Invitation {
    fn written(&self, proof: &Proof) -> [u8; INVITATION] {
        let mut bytes = [0; INVITATION];
        bytes[..32].copy_from_slice(&proof.near);
        bytes[32..48].copy_from_slice(&self.key.0);
        bytes[48..50].copy_from_slice(&self.port.to_le_bytes());
        bytes[50..52].copy_from_slice(&self.rank.to_le_bytes());
        bytes[52..54].copy_from_slice(&self.members.to_le_bytes());
        bytes[54..].copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// None where it does not show `proof`, or can't be.
    fn read(bytes: &[u8; INVITATION], proof: &Proof) -> Option<Self> {
        let shown: &[u8; 32] = bytes.first_chunk()?;
        let key = GroupKey(bytes[32..48].try_into().ok()?);
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (port, rank, members) = (half(48), half(50), half(52));
        let interface = u32::from_le_bytes(bytes[54..].try_into().ok()?);
        let sense = port > 0 && rank > 0 && rank < members && members < super::header::ALL;
        (Proof::matches(shown, &proof.near) && sense).then_some(Self { key, port, rank, members, interface })
    }
}

/// The far side's door: a socket at which it is invited.
pub(super) struct Door {
    door: invite::Door,
    made: Made,
}

impl Door {
    pub fn new(at: SocketAddr, made: Made) -> Result<Self, LinkError> {
        // What can't carry the group is said before anybody is waited for.
        Interface::of(&Place::of(&made.settings))?;
        Ok(Self { door: invite::Door::new(at)?, made })
    }
}

impl Accept for Door {
    fn address(&self) -> Address {
        ip::told(self.door.at)
    }

    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (Invitation { key, port, rank, members, interface }, near) =
            self.door.invited(&self.made.patience, |bytes| Invitation::read(bytes, proof))?;
        let place = Place::of(&self.made.settings);
        // Where the system chooses, all members take one choice: interfaces come and go meanwhile.
        let interface = if interface > 0 { Interface::at(&place, interface) } else { Interface::of(&place) }?;
        let (joined, group) = interface.joined(&place, port, rank, &self.made.settings)?;
        let own = interface.own(&place, self.door.at.ip(), &self.made.settings)?;
        // Only now: what is cast after the answer arrives.
        self.door.show(Some(own.as_fd()), proof, near, &self.made.patience)?;
        let seat = Seat { group, key, rank, members, met: vec![(0, near)] };
        Ok(AnyLink::new(Multicast::new(joined, own, seat, (&place, &interface), &self.made)?))
    }
}

/// The near side's way to the doors of all other members.
pub(super) struct Host {
    pub doors: Vec<SocketAddr>,
    pub made: Made,
}

impl Host {
    /// Brings the group together: each other member shows one of `proofs`, in the order of the doors.
    pub fn gather(&self, proofs: &[Proof]) -> Result<AnyLink, LinkError> {
        let place = Place::of(&self.made.settings);
        let members = u16::try_from(proofs.len() + 1).unwrap_or(u16::MAX);
        let interface = Interface::of(&place)?;
        let from = self.doors.first().filter(|door| door.ip().is_loopback());
        let from = from.map_or_else(|| any(place.family()).ip(), SocketAddr::ip);
        let (joined, group) = interface.joined(&place, place.port.unwrap_or(0), 0, &self.made.settings)?;
        let own = interface.own(&place, from, &self.made.settings)?;
        let key = GroupKey(sys::random()?);
        let mut met = Vec::new();
        for ((rank, door), proof) in (1..).zip(&self.doors).zip(proofs) {
            let chosen = if place.chooses() { interface.index } else { 0 };
            let invitation = Invitation { key, port: group.port(), rank, members, interface: chosen }.written(proof);
            let patience = &self.made.patience;
            let readable = |wait| sys::readable(&own, wait, false, patience);
            met.push((rank, invite::invite(&own, *door, proof, &invitation, patience, readable)?));
        }
        let seat = Seat { group, key, rank: 0, members, met };
        Ok(AnyLink::new(Multicast::new(joined, own, seat, (&place, &interface), &self.made)?))
    }
}

impl Connect for Host {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        self.gather(std::slice::from_ref(proof))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Patience, Settings};

    #[test]
    fn an_invitation_is_read_where_it_shows_the_proof_and_can_be() {
        let proof = Proof { near: [3; 32], far: [4; 32] };
        let of = |port, rank, members| Invitation { key: GroupKey([9; 16]), port, rank, members, interface: 1 << 20 };
        let fair = of(4000, 2, 3);
        assert!(Invitation::read(&fair.written(&proof), &proof) == Some(fair));
        let other = Proof { near: [4; 32], far: [3; 32] };
        assert!(Invitation::read(&fair.written(&other), &proof).is_none());
        for wrong in [of(0, 2, 3), of(4000, 0, 3), of(4000, 3, 3), of(4000, 1, u16::MAX)] {
            assert!(Invitation::read(&wrong.written(&proof), &proof).is_none());
        }
    }

    /// What becomes of a member that is told that the near one chose the interface of this index.
    fn told(interface: u32) -> Result<AnyLink, LinkError> {
        let (settings, patience) = (Settings::default(), Patience::default());
        let made = Made::new(&ip::WAITS, &settings, &patience).unwrap();
        let mut door = Door::new(SocketAddr::from(([127, 0, 0, 1], 0)), made).unwrap();
        let proof = Proof { near: [3; 32], far: [4; 32] };
        let asked = Invitation { key: GroupKey([9; 16]), port: 40776, rank: 1, members: 2, interface };
        let near = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        near.send_to(&asked.written(&proof), door.door.at).unwrap();
        door.accept(&proof)
    }

    #[test]
    fn a_member_takes_the_interface_that_the_near_one_chose_or_says_that_it_cannot() {
        assert!(told(0).is_ok());
        let e = told(1 << 20).unwrap_err().to_string();
        assert!(e.contains("the interface of number 1048576, which the near member chose"), "{e}");
    }
}
