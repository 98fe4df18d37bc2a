//! What a link is asked to make memory for.

use crate::{Buffer, LinkError};

/// Memory that messages of one direction need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that are used.
    pub len: usize,
    /// Bytes that are reserved where none that fits is there, no fewer: room for larger messages to come.
    pub reserve: usize,
    /// The first byte lies `offset` bytes after a multiple of this, a power of two.
    pub align: usize,
    /// See `align`.
    pub offset: usize,
}

impl Room {
    /// None at all.
    pub const NONE: Room = Room { len: 0, reserve: 0, align: 1, offset: 0 };

    /// `len` bytes from a multiple of `align` on.
    pub fn of(len: usize, align: usize) -> Self {
        Self { len, reserve: len, align, offset: 0 }
    }
}

/// What a link is asked to make memory for ([`Link::buffer`](crate::Link::buffer)). Only an [`End`](super::End) makes one, so that nobody else gets memory from a link, and
/// none can be kept for longer than the link.
#[derive(Debug)]
pub struct Asked {
    pub(super) room: Room,
    pub(super) sent: bool,
}

impl Asked {
    /// Where the memory begins and how much there is of it: `reserve` bytes.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Whether messages are sent from it; else they are received into it.
    pub fn sent(&self) -> bool {
        self.sent
    }

    /// Memory of the process: what a link gives that has no domain of its own.
    pub fn ordinary(&self) -> Result<Buffer, LinkError> {
        let Room { reserve, align, offset, .. } = self.room;
        Buffer::new(reserve, align, offset)
            .map_err(|e| LinkError::io(format!("reserving a buffer of {reserve} bytes"), e))
    }
}
