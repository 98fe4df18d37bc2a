//! The answer to a request.

use crate::arena::Sizes;
use crate::bell::Cause;
use crate::channel::{Outgoing, Sender};
use crate::error::Error;
use crate::memory::Memory;
use crate::port;
use crate::region::RemoteRegion;

/// The right to answer a request, once. To let it go sends nothing.
///
/// A request reaches its handler only when there is room for the largest reply, so a reply never waits.
#[derive(Debug)]
pub struct Reply<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) sizes: Sizes,
    pub(crate) me: usize,
    pub(crate) replies: &'a mut Sender,
}

impl Reply<'_> {
    /// Sends a reply: its handler at the peer, arguments, and a payload, which is copied through the ring.
    ///
    /// # Errors
    /// If there are too many arguments, or too large a payload. Nothing is sent then.
    #[inline(always)]
    pub fn send(self, handler: u16, arguments: &[u64], payload: &[u8]) -> Result<(), Error> {
        self.write(&Outgoing { handler, arguments, payload, bulk: None })
    }

    /// Puts `bytes` at `at` of a region of the peer, then sends a reply that says so.
    ///
    /// # Errors
    /// As [`Reply::send`], and if the bytes do not lie within the region.
    pub fn put(
        self,
        region: RemoteRegion,
        at: usize,
        bytes: &[u8],
        handler: u16,
        arguments: &[u64],
    ) -> Result<(), Error> {
        Outgoing { handler, arguments, payload: &[], bulk: None }.head(0)?;
        let bulk = Some(port::put(self.memory, self.sizes, 1 - self.me, region, at, bytes)?);
        self.write(&Outgoing { handler, arguments, payload: &[], bulk })
    }

    #[inline(always)]
    fn write(self, message: &Outgoing<'_>) -> Result<(), Error> {
        let head = message.head(self.sizes.medium())?;
        self.replies.write(self.memory, head, message);
        port::ring(self.memory, 1 - self.me, Cause::BYTES);
        Ok(())
    }
}
