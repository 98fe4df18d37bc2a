//! One-sided access: memory that one side exposes, and the other writes and reads without its help.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::{Link, LinkError};

/// What a link has beside sends and receives where [`Capabilities::one_sided`](crate::Capabilities::one_sided) says so
/// ([`Link::visit_one_sided`]).
///
/// One side exposes a region and goes on with its own affairs; the other reaches it, puts and gets, and leaves it, which the first learns of by
/// [`withdraw`](OneSided::withdraw). A region is zeros when it is first exposed, and belongs to the link: it ends with it. Offsets are bytes from
/// its beginning. Whatever lies outside of it is refused on this side ([`LinkError::Outside`]): no peer can make this side touch other memory, and
/// this side never touches other memory of a peer's.
///
/// A put may return before the bytes are there; after the fence they are, all of those that were put before. Nothing else orders puts. What is
/// read while the other side writes it may be old, new or a part of each.
pub trait OneSided: Link {
    /// Makes `len` bytes ready to be exposed, so that they can be filled before the peer reaches them.
    fn reserve(&mut self, len: usize) -> Result<(), LinkError>;

    /// Exposes `len` bytes of this side to the peer, those that were made ready where there are so many. What was exposed before is exposed again where it is large enough, with what is in it.
    fn expose(&mut self, len: usize) -> Result<(), LinkError>;

    /// Writes `from` at `at` of what this side exposes.
    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError>;

    /// Reads what this side exposes, from `at` on.
    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError>;

    /// Waits for the peer to leave, at most for `wait`: whether it has. All that it put is there then. Zero only looks.
    fn withdraw(&mut self, wait: Duration) -> Result<bool, LinkError>;

    /// Waits for the peer to expose at least `len` bytes.
    fn reach(&mut self, len: usize) -> Result<(), LinkError>;

    /// Writes `from` at `at` of what the peer exposes. Returns when `from` may be used again.
    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError>;

    /// Reads what the peer exposes, from `at` on. Returns when the bytes are here.
    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError>;

    /// Returns when all that was put is where the peer sees it.
    fn fence(&mut self) -> Result<(), LinkError>;

    /// Lets go of what the peer exposes, after a fence.
    fn leave(&mut self) -> Result<(), LinkError>;
}

/// Something to do with a link that has one-sided access, compiled for it where it is built in.
pub trait VisitOneSided {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: OneSided>(self, link: &mut L) -> Self::Out;
}

/// A link that is not known: one indirect call an operation.
pub(crate) struct Through<'a>(pub &'a mut dyn OneSided);

impl<'a> Deref for Through<'a> {
    type Target = dyn OneSided + 'a;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Through<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl OneSided for Through<'_> {
    fn reserve(&mut self, len: usize) -> Result<(), LinkError> {
        (**self).reserve(len)
    }
    fn expose(&mut self, len: usize) -> Result<(), LinkError> {
        (**self).expose(len)
    }
    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        (**self).fill(at, from)
    }
    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        (**self).read(at, into)
    }
    fn withdraw(&mut self, wait: Duration) -> Result<bool, LinkError> {
        (**self).withdraw(wait)
    }
    fn reach(&mut self, len: usize) -> Result<(), LinkError> {
        (**self).reach(len)
    }
    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        (**self).put(at, from)
    }
    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        (**self).get(at, into)
    }
    fn fence(&mut self) -> Result<(), LinkError> {
        (**self).fence()
    }
    fn leave(&mut self) -> Result<(), LinkError> {
        (**self).leave()
    }
}
