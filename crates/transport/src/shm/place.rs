//! Where things lie in a lane and its data ring: the rule that both sides follow.

use super::slot::INLINE;

/// Slots of a lane: messages under way in one direction.
pub(super) const SLOTS: u32 = if cfg!(loom) { 3 } else { 64 };
/// Bytes of a direction's data ring.
pub(super) const DATA: usize = if cfg!(loom) { 3 * LINE } else { 1 << 20 };
/// Largest piece of a message announced at once, bytes. 16 KiB did as well as 32 between CPUs that share a cache, but made
/// streams of large messages a quarter slower between distant ones; with 8 KiB they were slower still. With 64 KiB, messages of
/// that size are not overlapped at all, and their ping-pong took a quarter longer.
pub(super) const CHUNK: usize = if cfg!(loom) { LINE } else { 32 << 10 };
/// Pieces start on multiples of this, bytes: a cache line.
const LINE: usize = 64;

/// Where a piece of a message lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// In the slot: the whole rest of the message.
    Slot(usize),
    /// In the data ring: `len` bytes from `at`; always within [`DATA`].
    Data {
        /// First byte.
        at: usize,
        /// Bytes.
        len: usize,
    },
}

impl Piece {
    /// Bytes of the message in this piece.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        match self {
            Piece::Slot(len) | Piece::Data { len, .. } => len,
        }
    }

    /// Bytes of the data ring that it takes.
    #[inline(always)]
    pub(super) fn room(self) -> usize {
        match self {
            Piece::Slot(_) => 0,
            Piece::Data { len, .. } => len.next_multiple_of(LINE),
        }
    }
}

/// A side's place in lane and data ring; both sides move it by the same rule.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// The next slot.
    pub(super) slot: u32,
    /// The next byte of the data ring.
    pub(super) data: usize,
}

impl Place {
    /// The next piece of a message of which `left` bytes are left.
    #[inline(always)]
    pub(super) fn piece(self, left: usize) -> Piece {
        if left <= INLINE {
            return Piece::Slot(left);
        }
        Piece::Data { at: self.data, len: left.min(CHUNK).min(DATA - self.data) }
    }

    /// Moves past a piece.
    #[inline(always)]
    pub(super) fn pass(&mut self, piece: Piece, slots_back: bool) {
        self.slot = if slots_back { 0 } else { (self.slot + 1) % SLOTS };
        self.data = (self.data + piece.room()) % DATA;
    }
}
