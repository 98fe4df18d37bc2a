//! A message as its handler sees it.

use crate::memory::Memory;
use crate::record::MAX_ARGUMENTS;
use crate::region::Region;
use crate::ring::Span;

/// A message that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub(crate) arguments: [u64; MAX_ARGUMENTS],
    pub(crate) count: u8,
    pub(crate) payload: Payload<'a>,
    pub(crate) region: Option<(Region, usize)>,
}

impl<'a> Message<'a> {
    /// The arguments.
    pub fn arguments(&self) -> &[u64] {
        &self.arguments[..usize::from(self.count)]
    }

    /// The argument `index`; 0 if the message has fewer.
    pub fn argument(&self, index: usize) -> u64 {
        self.arguments().get(index).copied().unwrap_or(0)
    }

    /// The payload: of a medium message in the ring until the handler returns, of a bulk message in the region.
    pub fn payload(&self) -> Payload<'a> {
        self.payload
    }

    /// Of a bulk message: the region of this side into which the peer put, and where in it the payload starts.
    pub fn region(&self) -> Option<(Region, usize)> {
        self.region
    }
}

/// Bytes in shared memory. They are copied out, never lent: the peer could change them while they are looked at. So what is to be
/// checked is checked in the copy.
#[derive(Debug, Clone, Copy)]
pub struct Payload<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) base: usize,
    pub(crate) span: Span,
}

impl Payload<'_> {
    /// Bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.span.first + self.span.second
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies as many bytes as there are and fit; returns how many.
    #[inline(always)]
    pub fn copy_to(&self, into: &mut [u8]) -> usize {
        let len = self.len().min(into.len());
        let first = self.span.first.min(len);
        let span = Span { at: self.span.at, first, second: len - first };
        self.memory.get_span(self.base, span, &mut into[..len]);
        len
    }

    /// A copy.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len()];
        self.copy_to(&mut bytes);
        bytes
    }
}
