//! Groups: a message to all other members at once, which each of them takes with the rank of its sender.

use std::ops::{Deref, DerefMut};

use crate::{Link, LinkError};

/// What a link has beside sends and receives where [`Capabilities::group`](crate::Capabilities::group) says so
/// ([`Link::visit_group`]): cast and deliver as the group systems have them (`seeds/002`, section 2), and an answer to one member.
///
/// The link is one member of a group whose members have ranks from 0 on; the one that brought the group together has rank 0. Messages are bytes, at most
/// [`Capabilities::max_block`](crate::Capabilities::max_block) of them. Whether casts arrive, and whether those of one sender arrive in order, the
/// capabilities say (`reliable`, `ordered`); whether those of different senders have one, [`Group::order`]. A member's own casts are not delivered to it
/// unless it asks for them ([`Group::hears_itself`]).
///
/// [`Link::send`] on such a link casts, and [`Link::recv`] delivers, whoever sent; answers are apart from both.
pub trait Group: Link {
    /// Members, this one among them.
    fn members(&self) -> u32;

    /// This member's rank.
    fn rank(&self) -> u32;

    /// Sends one message to all other members, and says which of this member's casts it is, counted from 1 and wrapping. Returns when the memory may be
    /// used again.
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError>;

    /// As [`Group::cast`], but it may stay here until [`Link::flush`] or the next wait of this member, so that several leave together.
    fn queue(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.cast(message)
    }

    /// Which order of casts the group promises.
    fn order(&self) -> Order {
        Order::Sender
    }

    /// Whether this member's own casts are delivered to it, too, from here on: asked for, or no more; whether it is so.
    fn hears_itself(&mut self, _asked: bool) -> bool {
        false
    }

    /// Leaves out so many numbers of this member's casts, as if they had been sent and lost, and says which number the last one had; none where all that is
    /// cast arrives, so that no number is missing.
    fn leave_out(&mut self, _casts: u32) -> Option<u32> {
        None
    }

    /// Receives the next cast of any other member, of exactly `message.len()` bytes. Errors: [`LinkError::Lost`] where none came in time and casts may
    /// be lost.
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError>;

    /// Sends one message to the member of this rank alone, which this one met as it joined, or of which a cast was delivered here. Errors:
    /// [`LinkError::Unsupported`] where neither is so.
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError>;

    /// Receives the next answer to this member, of exactly `message.len()` bytes: the rank of who sent it. Errors: those of `deliver`.
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError>;
}

/// Which order of casts a group promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those of one sender come in its order, as far as they come.
    Sender,
    /// All casts come in one order at all members.
    Total,
}

/// Whose cast was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// Its sender's rank.
    pub from: u32,
    /// Which of its sender's casts it is ([`Group::cast`]).
    pub number: u32,
}

/// Something to do with a member of a group, compiled for its link where that is built in.
pub trait VisitGroup {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Group>(self, link: &mut L) -> Self::Out;
}

/// A link that is not known: one indirect call an operation.
pub(crate) struct Through<'a>(pub &'a mut dyn Group);

impl<'a> Deref for Through<'a> {
    type Target = dyn Group + 'a;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Through<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl Group for Through<'_> {
    fn members(&self) -> u32 {
        (**self).members()
    }
    fn rank(&self) -> u32 {
        (**self).rank()
    }
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        (**self).cast(message)
    }
    fn queue(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        (**self).queue(message)
    }
    fn order(&self) -> Order {
        (**self).order()
    }
    fn hears_itself(&mut self, asked: bool) -> bool {
        (**self).hears_itself(asked)
    }
    fn leave_out(&mut self, casts: u32) -> Option<u32> {
        (**self).leave_out(casts)
    }
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        (**self).deliver(message)
    }
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        (**self).answer(to, message)
    }
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        (**self).answered(message)
    }
}
