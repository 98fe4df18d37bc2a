//! Collectives: operations that all members of a group do together.

use std::ops::{Deref, DerefMut};

use crate::{Link, LinkError};

/// What a link has beside sends and receives where [`Capabilities::collective`](crate::Capabilities::collective) says so
/// ([`Link::visit_collective`]), once it is a member of a group ([`Transport::gather`](crate::Transport::gather)).
///
/// Members have ranks from 0 on; the one that brought the group together has rank 0. All members call the same operations in the same order, with the
/// same sizes, and each returns when its own part is done: its memory may be used again, and what it gets is there.
pub trait Collective: Link {
    /// Members, this one among them; 0 of a link that is in no group.
    fn members(&self) -> u32;

    /// This member's rank.
    fn rank(&self) -> u32;

    /// Returns once all members have called it.
    fn barrier(&mut self) -> Result<(), LinkError>;

    /// The message of rank 0 goes to all others, which get it in theirs.
    fn broadcast(&mut self, message: &mut [u8]) -> Result<(), LinkError>;

    /// Adds up the messages of all members, as unsigned words of [`WORD`] bytes in the byte order of the host, modulo 2^64; each gets the sums. Both messages are
    /// of one length, a multiple of a word's.
    fn allreduce(&mut self, mine: &[u8], sums: &mut [u8]) -> Result<(), LinkError>;

    /// Each member gets the messages of all, in the order of their ranks.
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), LinkError>;

    /// Each member has a message for each, in the order of their ranks, and gets one of each.
    fn all_to_all(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError>;
}

/// Bytes of a word that [`Collective::allreduce`] adds up.
pub const WORD: usize = 8;

/// Something to do with a member of a group, compiled for its link where that is built in.
pub trait VisitCollective {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Collective>(self, link: &mut L) -> Self::Out;
}

/// A link that is not known: one indirect call an operation.
pub(crate) struct Through<'a>(pub &'a mut dyn Collective);

impl<'a> Deref for Through<'a> {
    type Target = dyn Collective + 'a;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Through<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl Collective for Through<'_> {
    fn members(&self) -> u32 {
        (**self).members()
    }
    fn rank(&self) -> u32 {
        (**self).rank()
    }
    fn barrier(&mut self) -> Result<(), LinkError> {
        (**self).barrier()
    }
    fn broadcast(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        (**self).broadcast(message)
    }
    fn allreduce(&mut self, mine: &[u8], sums: &mut [u8]) -> Result<(), LinkError> {
        (**self).allreduce(mine, sums)
    }
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), LinkError> {
        (**self).allgather(mine, all)
    }
    fn all_to_all(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        (**self).all_to_all(out, into)
    }
}
