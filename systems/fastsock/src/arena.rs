//! What two sides share: a sealed piece of memory for each fast connection, with a small ring and a large one for each direction (`ring`).
//!
//! Direction `s` is the one in which side `s` sends; side 0 is who accepted, side 1 who connected. A direction goes through three phases, and
//! never back: bytes go over TCP; from TCP's byte `moved_at` on they go through the ring; after the ring's last byte they go over TCP
//! again, those of the ring first that the receiver has asked for once more (`back`). Its sender alone moves it on.

use am::memory::{Memory, Shared};
use am::ring::{Capacity, Lane};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::bell::Bell;

/// Bytes of a ring at first.
pub const SMALL: Capacity = Capacity::new(16 << 10).expect("a power of two");
/// Bytes of one that has grown (`ring`). Measured: with 128 KiB and less a stream of 4 KiB and more is half as fast, with 512 KiB no faster.
pub const LARGE: Capacity = Capacity::new(256 << 10).expect("a power of two");
/// Bytes that are copied before the other side is told of them.
pub const PART: usize = 16 << 10;
/// How far ahead lines of the ring are asked for that later calls will write or read, and bytes of them that one piece asks for at most: a call's own lines
/// would come too late, and those that the other side still uses would only be taken from it.
pub const AHEAD: usize = 1 << 10;
pub const AHEAD_MOST: usize = 4 << 10;
/// Where the rings start.
const RINGS: usize = 4096;
/// What is really there from the beginning.
pub const FIRST: usize = RINGS + 2 * SMALL.bytes();
/// Of the whole memory.
pub const LEN: usize = FIRST + 2 * LARGE.bytes();
/// "fastsock" in ASCII.
const MAGIC: u64 = u64::from_le_bytes(*b"fastsock");

/// The phases of a direction.
pub const TCP: u32 = 0;
pub const FAST: u32 = 1;
pub const TCP_AGAIN: u32 = 2;

/// The first part. All-zero memory is a fresh one, but for the mark.
#[repr(C, align(128))]
pub struct Control {
    magic: AtomicU64,
    pub sides: [Side; 2],
    pub ways: [Way; 2],
    pub turn: Turn,
}

/// A connection that is used again (`recycle`): a turn begins when it is connected, and ends when both sides have closed it.
#[repr(C, align(128))]
pub struct Turn {
    /// Turns begun after the first, or [`crate::turns::GONE`]. The connecting side begins them, the accepting side may put an end to it.
    pub number: AtomicU64,
    /// When the latest began, nanoseconds: pending ones are accepted in this order.
    pub begun: AtomicU64,
    /// Turns that each side has closed, and keeps for the next.
    pub closed: [AtomicU64; 2],
    /// Not 0: this side learns of the end by the kernel only, so that the other side has to close for good.
    pub plain: [AtomicU32; 2],
    /// Rung when a turn begins.
    pub bell: Bell,
}

/// What the other side learns of one side.
#[repr(C, align(128))]
pub struct Side {
    /// It never waits in the kernel for what the other side could send through the ring, and rings after what it sends over TCP.
    pub ready: AtomicU32,
    /// It asks the other side to send over TCP again.
    pub wants_tcp: AtomicU32,
    /// It has shut down its sending direction: an end of file that is no close.
    pub shut: AtomicU32,
    /// Grows whenever it may have closed its end: the other side asks the kernel.
    pub leaving: AtomicU32,
    /// The CPU on which it last waited, plus one. Only a hint.
    pub cpu: AtomicU32,
}

/// One direction.
#[repr(C, align(128))]
pub struct Way {
    pub lane: Lane,
    /// Rung for whoever waits for bytes.
    pub bytes: Bell,
    /// Rung for whoever waits for room.
    pub room: Bell,
    /// Bytes that go over TCP before the ring's first.
    pub moved_at: AtomicU64,
    /// The first byte of the stream that lies in the large ring, plus one; 0: none does.
    pub grown: AtomicU64,
    pub phase: AtomicU32,
    /// Whether the sender is on TCP again, or was asked for what was not read (`back`).
    pub back: AtomicU32,
    /// Written with every send, so in lines of its own: the receiver looks at the phase with every receive.
    pub busy: Busy,
}

/// Not 0 while the sender is between asking whether the other side wants TCP and having written.
#[repr(C, align(128))]
pub struct Busy(pub AtomicU32);

// SAFETY: atomic integers only.
unsafe impl Shared for Control {}

/// The control words.
#[inline(always)]
pub fn control(memory: &Memory) -> &Control {
    memory.object(0)
}

/// Where a ring of a direction starts.
#[inline(always)]
pub fn ring(sender: usize, large: bool) -> usize {
    let side = sender & 1;
    if large { FIRST + side * LARGE.bytes() } else { RINGS + side * SMALL.bytes() }
}

/// Marks fresh memory.
pub fn mark(memory: &Memory) {
    control(memory).magic.store(MAGIC, Ordering::Release);
}

/// Whether the peer's memory is marked as such.
pub fn marked(memory: &Memory) -> bool {
    control(memory).magic.load(Ordering::Acquire) == MAGIC
}

const _: () = assert!(size_of::<Control>() <= RINGS);
