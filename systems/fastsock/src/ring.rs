//! The two ends of a direction's ring, which is small at first and grows once, when more is sent than it holds.
//!
//! There are two pieces of memory for a direction, and only the small one is really there from the beginning. Its sender decides: it reserves the
//! large one, says from which byte of the stream on bytes lie there (`Way::grown`), and never goes back. So the two need not agree on a moment: the
//! reader takes what comes before that byte from the small one, and the rest from the large one.

use am::memory::Memory;
use am::ring::{Capacity, Reader, Span, Writer};
use std::sync::atomic::Ordering;

use crate::arena::{self, AHEAD, AHEAD_MOST, LARGE, SMALL, Way};

/// The peer said what can't be.
#[derive(Debug)]
pub struct Lie;

/// The sending end.
#[derive(Debug, Clone, Copy)]
pub struct Sink {
    pub writer: Writer,
    large: bool,
    /// There was no memory to grow.
    refused: bool,
    /// Sends in a row without a receive between, or of a quarter of the ring and more, as long as it is small.
    row: u32,
}

/// After so many the ring grows: the reader has to tell of room often, and both write to the same few lines.
const STREAM: u32 = 256;

impl Sink {
    /// Of an empty ring.
    pub fn new(large: bool) -> Self {
        Self { writer: Writer::new(capacity(large), 0), large, refused: false, row: 0 }
    }

    /// The same for the next turn of a connection.
    pub fn renewed(&self) -> Self {
        Self::new(self.large)
    }

    /// Free bytes; looks at what the reader says only where fewer than `want`, or a part of the ring, are known to be free.
    #[inline(always)]
    pub fn room(&mut self, way: &Way, want: usize) -> Result<usize, Lie> {
        let part = if self.large { LARGE.bytes() / 4 } else { SMALL.bytes() / 2 };
        self.writer.room(&way.lane, want.min(part)).map_err(|_| Lie)
    }

    /// Bytes that the peer has not read, by what it says; never more than the ring holds.
    pub fn unread(&mut self, way: &Way) -> Result<usize, Lie> {
        let room = self.writer.room(&way.lane, usize::MAX).map_err(|_| Lie)?;
        Ok(capacity(self.large).bytes() - room)
    }

    /// Whether the ring should grow, and may: `want` bytes are more than it has room for, or it has been slow for long. `again`: nothing was received
    /// since the last send.
    #[inline(always)]
    pub fn is_short(&mut self, way: &Way, want: usize, again: bool) -> bool {
        !self.large && !self.refused && self.is_small(way, want, again)
    }

    fn is_small(&mut self, way: &Way, want: usize, again: bool) -> bool {
        self.row = if again || want >= SMALL.bytes() / 4 { self.row + 1 } else { 0 };
        self.row == STREAM
            || self.writer.known_room() < want && self.writer.room(&way.lane, want).is_ok_and(|room| room < want)
    }

    /// Grows, if `reserve` finds the memory.
    #[cold]
    pub fn grow(&mut self, memory: &Memory, way: &Way, sender: usize, reserve: impl FnOnce() -> bool) {
        self.refused = !reserve() || !memory.reserve(arena::ring(sender, true), LARGE.bytes());
        if !self.refused {
            // Before the first byte that lies there is told of.
            way.grown.store(self.writer.tail().wrapping_add(1), Ordering::Release);
            self.writer.grow(LARGE);
            self.large = true;
        }
    }

    /// Where the ring is.
    #[inline(always)]
    pub fn start(&self, sender: usize) -> usize {
        arena::ring(sender, self.large)
    }
}

/// The receiving end.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub reader: Reader,
    large: bool,
    /// From this byte on the stream lies in the large ring; known before the reader gets there.
    from: Option<u64>,
}

/// A piece of what is there.
pub struct Piece {
    pub start: usize,
    pub span: Span,
    pub len: usize,
}

impl Source {
    /// Of an empty ring.
    pub fn new() -> Self {
        Self { reader: Reader::new(SMALL, 0), large: false, from: None }
    }

    /// From a byte of the stream on that lies in one of the rings.
    pub fn from(way: &Way, at: u64) -> Self {
        match way.grown.load(Ordering::Acquire).checked_sub(1) {
            Some(from) if from <= at => Self { reader: Reader::new(LARGE, at), large: true, from: Some(from) },
            _ => Self { reader: Reader::new(SMALL, at), large: false, from: None },
        }
    }

    /// Tells exactly how far it has read.
    pub fn tell_all(&mut self, way: &Way) {
        self.reader.tell(&way.lane, 1);
    }

    /// Bytes that are there and lie in one of the rings, at least one if any are.
    #[inline(always)]
    pub fn ready(&mut self, way: &Way) -> Result<usize, Lie> {
        if self.large {
            return self.reader.ready(&way.lane, 1).map_err(|_| Lie);
        }
        if self.from.is_none() {
            let there = self.reader.ready(&way.lane, 1);
            if way.grown.load(Ordering::Acquire) == 0 {
                return there.map_err(|_| Lie);
            }
        }
        self.ready_small(way, 1)
    }

    /// All bytes that are there.
    pub fn all(&mut self, way: &Way) -> Result<usize, Lie> {
        if !self.large {
            self.ready_small(way, usize::MAX)?;
            if self.from.is_none() {
                // Not asked again: the ring may have grown since.
                return Ok(self.reader.known());
            }
        }
        self.reader.ready(&way.lane, usize::MAX).map_err(|_| Lie)
    }

    fn ready_small(&mut self, way: &Way, want: usize) -> Result<usize, Lie> {
        if self.from.is_none() {
            let there = self.reader.ready(&way.lane, want);
            // After that: who has told of bytes in the large ring has said before from where on.
            let Some(from) = way.grown.load(Ordering::Acquire).checked_sub(1) else { return there.map_err(|_| Lie) };
            if from.wrapping_sub(self.reader.head()) > SMALL.bytes() as u64 {
                return Err(Lie);
            }
            self.from = Some(from);
            self.reader.grow(LARGE);
        }
        let there = self.reader.ready(&way.lane, want).map_err(|_| Lie)?;
        match self.left() {
            0 => {
                self.large = true;
                Ok(there)
            }
            left => Ok(there.min(left)),
        }
    }

    /// Bytes of the stream that lie in the small ring still, at most.
    fn left(&self) -> usize {
        match self.from {
            _ if self.large => 0,
            None => SMALL.bytes(),
            Some(from) => from.wrapping_sub(self.reader.head()) as usize,
        }
    }

    /// Where bytes lie that follow `skip` bytes, at most `most` and as many as lie in one ring.
    ///
    /// # Panics
    /// If they are more than are known to be there.
    #[inline(always)]
    pub fn piece(&self, sender: usize, skip: usize, most: usize) -> Piece {
        let (at, known) = (self.reader.head().wrapping_add(skip as u64), self.reader.known());
        assert!(skip <= known && most <= known - skip, "only written bytes are read");
        if self.large {
            Piece { start: arena::ring(sender, true), span: LARGE.span(at, most), len: most }
        } else if self.from.is_none() {
            Piece { start: arena::ring(sender, false), span: SMALL.span(at, most), len: most }
        } else {
            self.piece_of_both(sender, skip, most)
        }
    }

    fn piece_of_both(&self, sender: usize, skip: usize, most: usize) -> Piece {
        let left = self.left();
        let (large, len) = if skip < left { (false, most.min(left - skip)) } else { (true, most) };
        let span = capacity(large).span(self.reader.head().wrapping_add(skip as u64), len);
        Piece { start: arena::ring(sender, large), span, len }
    }

    /// Copies bytes that follow `skip` bytes, which are there.
    pub fn copy(&self, memory: &Memory, sender: usize, skip: usize, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let piece = self.piece(sender, skip + done, into.len() - done);
            memory.get_span(piece.start, piece.span, &mut into[done..done + piece.len]);
            done += piece.len;
        }
    }

    /// Asks for lines of the ring that will be read soon, after a read of `len` bytes: they come from the other CPU meanwhile.
    #[inline(always)]
    pub fn fetch(&self, memory: &Memory, sender: usize, len: usize) {
        if self.large || self.from.is_none() {
            let next = self.reader.ahead(AHEAD, len.min(AHEAD_MOST));
            memory.fetch_to_read(arena::ring(sender, self.large) + next.at, next.first);
        }
    }

    /// Tells of room once a part is free that the writer does not know of: a quarter, or half of a small ring. True if it was told.
    #[inline(always)]
    pub fn tell(&mut self, way: &Way) -> bool {
        self.reader.tell(&way.lane, if self.large { LARGE.bytes() / 4 } else { SMALL.bytes() / 2 })
    }
}

#[inline(always)]
fn capacity(large: bool) -> Capacity {
    if large { LARGE } else { SMALL }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
