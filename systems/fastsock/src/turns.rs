//! How the life of a connection that is used again (`recycle`) ends and the next one begins: the words, and who may change them when. `tests/model/turns.rs` goes through the
//! interleavings.
//!
//! A side that closes says so (`closed`), then looks whether the other one learns of ends by the kernel only (`plain`): if so it closes for good. A side that comes to learn by the kernel
//! only says so, then looks whether the other one has closed: if so it tells its own kernel. One of the two sees what the other did (Dekker's way). Whether a next turn begins is decided
//! in one word (`number`), by who is first.

use super::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// No turn will begin any more.
pub const GONE: u64 = u64::MAX;

/// This side has closed the turn, and will look for what speaks against its being kept.
pub fn end(closed: &AtomicU64, turn: u64) {
    closed.store(turn.wrapping_add(1), Ordering::SeqCst);
    fence(Ordering::SeqCst);
}

/// Whether a side has closed the turn.
#[inline(always)]
pub fn has_ended(closed: &AtomicU64, turn: u64) -> bool {
    closed.load(Ordering::Acquire) == turn.wrapping_add(1)
}

/// This side learns of ends by the kernel only, from now on, and will look whether the other one has closed. False if it had said so.
pub fn say_plain(plain: &AtomicU32) -> bool {
    let first = plain.swap(1, Ordering::SeqCst) == 0;
    fence(Ordering::SeqCst);
    first
}

/// Whether a side learns of ends by the kernel only.
pub fn is_plain(plain: &AtomicU32) -> bool {
    plain.load(Ordering::SeqCst) != 0
}

/// The turn after this one begins. False if none may.
pub fn begin(number: &AtomicU64, turn: u64) -> bool {
    number.compare_exchange(turn, turn.wrapping_add(1), Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Whether it has begun.
pub fn has_begun(number: &AtomicU64, turn: u64) -> bool {
    number.load(Ordering::SeqCst) == turn.wrapping_add(1)
}

/// None after this one begins. False if it has.
pub fn put_end(number: &AtomicU64, turn: u64) -> bool {
    number.compare_exchange(turn, GONE, Ordering::SeqCst, Ordering::SeqCst).is_ok() || !has_begun(number, turn)
}
