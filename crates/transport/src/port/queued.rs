//! Queued sends: memory is given to the path, which says later that it is done with it.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::{Link, LinkError};

/// What a link has beside sends and receives where [`Capabilities::queued`](crate::Capabilities::queued) says so
/// ([`Link::visit_queued`]).
///
/// Posts are sent in their order, among messages of [`Link::send`] as well, and are received as any message is. Posts of a link are counted from 1,
/// and are complete in this order: [`poll`](Queued::poll) says up to which. A peer has no part in that count, and can't make it pass what was
/// posted.
pub trait Queued: Link {
    /// Posts `message` to be sent. May wait for room. Until the post is complete the memory is the path's: contents that change before may
    /// arrive changed, so that contents may be older or newer than those of the post and nothing worse.
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError>;

    /// Posts so far.
    fn posted(&self) -> u64;

    /// Posts that are complete. Where that is fewer than `until`, waits for more, at most for `wait`; zero only looks.
    fn poll(&mut self, until: u64, wait: Duration) -> Result<u64, LinkError>;

    /// Calls to the system of completed posts of which the path made a copy nevertheless, and of how many; none where it never tells.
    fn copied(&self) -> Option<(u64, u64)>;
}

/// Something to do with a link that has queued sends, compiled for it where it is built in.
pub trait VisitQueued {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Queued>(self, link: &mut L) -> Self::Out;
}

/// A link that is not known: one indirect call an operation.
pub(crate) struct Through<'a>(pub &'a mut dyn Queued);

impl<'a> Deref for Through<'a> {
    type Target = dyn Queued + 'a;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Through<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl Queued for Through<'_> {
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError> {
        (**self).post(message)
    }
    fn posted(&self) -> u64 {
        (**self).posted()
    }
    fn poll(&mut self, until: u64, wait: Duration) -> Result<u64, LinkError> {
        (**self).poll(until, wait)
    }
    fn copied(&self) -> Option<(u64, u64)> {
        (**self).copied()
    }
}
