//! A stream of bytes in one direction, through a ring of bytes in shared memory.
//!
//! One writer, one reader, no lock. Positions are absolute offsets in the stream, as TCP's sequence numbers are, but 64 bits
//! wide: byte `o` of the stream lies at `o mod capacity` of the ring. What the two sides share is a [`Lane`]: how far the writer
//! has written (`tail`) and how far the reader has read (`head`). Everything else a side knows is in its [`Writer`] or
//! [`Reader`], plain data that may be kept wherever the owner likes, but out of the peer's reach.
//!
//! Nothing here waits, makes a system call or touches the bytes: [`Writer::place`] and [`Reader::place`] say where they lie, and
//! the caller copies. So loom can check the ordering, and a hostile peer can give wrong numbers and nothing worse: each number is
//! loaded once, held against what this side knows, and refused with a [`BadIndex`].

use crate::sync::{AtomicU64, Ordering};

/// What the two sides of one direction share. All-zero memory is an empty ring at offset 0.
#[derive(Debug)]
#[repr(C)]
pub struct Lane {
    tail: Line,
    head: Line,
}

/// A counter in lines of its own: CPUs fetch lines in pairs, and each of the two is written by another side.
#[derive(Debug)]
#[repr(C, align(128))]
struct Line(AtomicU64);

impl Lane {
    /// An empty ring whose next byte has this offset in the stream.
    pub fn new(at: u64) -> Self {
        Self { tail: Line(AtomicU64::new(at)), head: Line(AtomicU64::new(at)) }
    }

    /// Makes shared memory an empty ring whose next byte has this offset. Before the peer is told of it.
    pub fn reset(&self, at: u64) {
        self.tail.0.store(at, Ordering::Relaxed);
        self.head.0.store(at, Ordering::Release);
    }
}

/// The peer claims an offset that it can't have reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the peer claims to have {did} up to byte {claimed} of a stream, which can lie between {least} and {most} only"
)]
pub struct BadIndex {
    /// "written" or "read".
    pub did: &'static str,
    /// What it claims.
    pub claimed: u64,
    /// The least it can have done: what it claimed before.
    pub least: u64,
    /// The most it can have done.
    pub most: u64,
}

/// Where bytes of the stream lie in the ring: one piece, or two where they go over its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where the first piece starts, from the start of the ring.
    pub at: usize,
    /// Bytes of the first piece.
    pub first: usize,
    /// Bytes of the second piece, which starts at the start of the ring.
    pub second: usize,
}

/// Bytes of a ring: a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity(u64);

impl Capacity {
    /// A power of two from 64 bytes to 1 GiB; none otherwise.
    pub const fn new(bytes: usize) -> Option<Self> {
        if bytes.is_power_of_two() && bytes >= 64 && bytes <= 1 << 30 { Some(Self(bytes as u64)) } else { None }
    }

    /// Bytes.
    #[inline(always)]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// Where `len` bytes from offset `from` of the stream lie.
    ///
    /// # Panics
    /// If they are more than the ring holds.
    #[inline(always)]
    pub fn span(self, from: u64, len: usize) -> Span {
        assert!(len as u64 <= self.0, "a span fits into its ring");
        let at = (from & (self.0 - 1)) as usize;
        let first = len.min(self.bytes() - at);
        Span { at, first, second: len - first }
    }
}

/// The writing side of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// Offset of the next byte to write.
    tail: u64,
    /// How far the reader had read when last asked.
    head: u64,
    capacity: Capacity,
}

impl Writer {
    /// Of an empty ring whose next byte has the offset `at`.
    pub fn new(capacity: Capacity, at: u64) -> Self {
        Self { tail: at, head: at, capacity }
    }

    /// From the next byte on the ring is another one, which holds no less: the caller keeps the old one until the reader is past it.
    ///
    /// # Panics
    /// If it holds less.
    pub fn grow(&mut self, capacity: Capacity) {
        assert!(capacity.0 >= self.capacity.0, "a ring only grows");
        self.capacity = capacity;
    }

    /// Offset of the next byte to write.
    #[inline(always)]
    pub fn tail(&self) -> u64 {
        self.tail
    }

    /// Free bytes, as far as is known without looking.
    #[inline(always)]
    pub fn known_room(&self) -> usize {
        (self.capacity.0 - self.tail.wrapping_sub(self.head)) as usize
    }

    /// Free bytes. Looks at what the reader says only where fewer than `want` are known to be free: its line is dear.
    ///
    /// # Errors
    /// If the reader claims to have read what was never written, or less than it said before.
    #[inline(always)]
    pub fn room(&mut self, lane: &Lane, want: usize) -> Result<usize, BadIndex> {
        if self.known_room() < want {
            self.learn(lane)?;
        }
        Ok(self.known_room())
    }

    fn learn(&mut self, lane: &Lane) -> Result<(), BadIndex> {
        // Acquire: what the reader read from the freed bytes, it read before this side writes there again.
        let claimed = lane.head.0.load(Ordering::Acquire);
        if claimed.wrapping_sub(self.head) > self.tail.wrapping_sub(self.head) {
            return Err(BadIndex { did: "read", claimed, least: self.head, most: self.tail });
        }
        self.head = claimed;
        Ok(())
    }

    /// Whether the reader has said anything since this side last looked.
    #[inline(always)]
    pub fn news(&self, lane: &Lane) -> bool {
        lane.head.0.load(Ordering::Relaxed) != self.head
    }

    /// How far the reader has read, by what it says now: not to be relied on.
    #[inline(always)]
    pub fn read(&self, lane: &Lane) -> u64 {
        lane.head.0.load(Ordering::Relaxed)
    }

    /// Whether the reader has read everything, by what it says now.
    #[inline(always)]
    pub fn all_read(&self, lane: &Lane) -> bool {
        lane.head.0.load(Ordering::Relaxed) == self.tail
    }

    /// Where `len` bytes lie that follow `skip` bytes after the tail.
    ///
    /// # Panics
    /// If they lie beyond the room that is known.
    #[inline(always)]
    pub fn place(&self, skip: usize, len: usize) -> Span {
        assert!(skip <= self.known_room() && len <= self.known_room() - skip, "only free bytes are written");
        self.capacity.span(self.tail.wrapping_add(skip as u64), len)
    }

    /// Where as many of `len` bytes lie that follow `skip` bytes after the tail as are known to be free.
    #[inline(always)]
    pub fn ahead(&self, skip: usize, len: usize) -> Span {
        self.capacity.span(self.tail.wrapping_add(skip as u64), len.min(self.known_room().saturating_sub(skip)))
    }

    /// Tells the reader of `len` bytes, all of them written.
    ///
    /// # Panics
    /// If they lie beyond the room that is known.
    #[inline(always)]
    pub fn publish(&mut self, lane: &Lane, len: usize) {
        assert!(len <= self.known_room(), "only free bytes are published");
        self.tail = self.tail.wrapping_add(len as u64);
        // Release: with the offset come the bytes.
        lane.tail.0.store(self.tail, Ordering::Release);
    }
}

/// The reading side of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// Offset of the next byte to read.
    head: u64,
    /// How far the writer had written when last asked.
    tail: u64,
    /// How far the writer has been told that this side has read.
    told: u64,
    capacity: Capacity,
}

impl Reader {
    /// Of an empty ring whose next byte has the offset `at`.
    pub fn new(capacity: Capacity, at: u64) -> Self {
        Self { head: at, tail: at, told: at, capacity }
    }

    /// The writer's ring has grown ([`Writer::grow`]): as many bytes may be there.
    ///
    /// # Panics
    /// If it holds less.
    pub fn grow(&mut self, capacity: Capacity) {
        assert!(capacity.0 >= self.capacity.0, "a ring only grows");
        self.capacity = capacity;
    }

    /// Offset of the next byte to read.
    #[inline(always)]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Bytes that are there, as far as is known without looking.
    #[inline(always)]
    pub fn known(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// Bytes that are there. Looks at what the writer says only where fewer than `want` are known.
    ///
    /// # Errors
    /// If the writer claims to have written more than the ring holds, or less than it said before.
    #[inline(always)]
    pub fn ready(&mut self, lane: &Lane, want: usize) -> Result<usize, BadIndex> {
        if self.known() < want {
            // Acquire: with the offset come the bytes.
            let claimed = lane.tail.0.load(Ordering::Acquire);
            let written = claimed.wrapping_sub(self.head);
            if written > self.capacity.0 || written < self.known() as u64 {
                let most = self.head.wrapping_add(self.capacity.0);
                return Err(BadIndex { did: "written", claimed, least: self.tail, most });
            }
            self.tail = claimed;
        }
        Ok(self.known())
    }

    /// Whether the writer has said anything since this side last looked.
    #[inline(always)]
    pub fn news(&self, lane: &Lane) -> bool {
        lane.tail.0.load(Ordering::Relaxed) != self.tail
    }

    /// Where `len` bytes lie that follow `skip` bytes after the head.
    ///
    /// # Panics
    /// If they lie beyond what is known to be there.
    #[inline(always)]
    pub fn place(&self, skip: usize, len: usize) -> Span {
        assert!(skip <= self.known() && len <= self.known() - skip, "only written bytes are read");
        self.capacity.span(self.head.wrapping_add(skip as u64), len)
    }

    /// Where as many of `len` bytes lie that follow `skip` bytes after the head as are known to be there.
    #[inline(always)]
    pub fn ahead(&self, skip: usize, len: usize) -> Span {
        self.capacity.span(self.head.wrapping_add(skip as u64), len.min(self.known().saturating_sub(skip)))
    }

    /// Is done with `len` bytes, all of them copied. The writer isn't told yet.
    ///
    /// # Panics
    /// If there are not that many.
    #[inline(always)]
    pub fn consume(&mut self, len: usize) {
        assert!(len <= self.known(), "only written bytes are consumed");
        self.head = self.head.wrapping_add(len as u64);
    }

    /// Tells the writer how far this side has read if that frees at least `least` bytes more than it knows of. True if it was told:
    /// should it sleep, it is to be woken.
    #[inline(always)]
    pub fn tell(&mut self, lane: &Lane, least: usize) -> bool {
        let untold = self.head.wrapping_sub(self.told);
        if untold == 0 || untold < least as u64 {
            return false;
        }
        self.told = self.head;
        // Release: everything read from the freed bytes was read before.
        lane.head.0.store(self.head, Ordering::Release);
        true
    }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
