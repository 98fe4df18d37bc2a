//! How a direction goes back to TCP, so that its receiver knows where its ring ends: the words, and who may change them when. `tests/model.rs` goes through the
//! interleavings.
//!
//! A receiver that wants TCP says so (`wants`), and waits until its sender is in no write that may not have seen it (`busy`): what the ring holds then is all
//! that it ever will. For a program that knows of no ring it first asks for what it has not read (`back`), in the same word in which the sender says
//! that it is on TCP: so the sender sends that before anything else, or the receiver learns that it is too late. What the receiver takes from the ring
//! itself until the sender has heard that is counted there, too: each byte is either taken or sent once more.

use super::sync::{AtomicU32, Ordering, fence};

/// [`ask`] and [`leave`] meet in this word: one of these, and above it how many bytes were taken since they were asked for.
const NOT_ASKED: u32 = 0;
const ASKED: u32 = 1;
const ON_TCP: u32 = 2;
/// Bits of the state.
const STATE: u32 = 2;

fn state(word: u32) -> u32 {
    word & ((1 << STATE) - 1)
}

/// The sender is about to write into the ring, until [`done`]. False if it may not, as the receiver wants TCP.
#[inline(always)]
pub fn enter(busy: &AtomicU32, wants: &AtomicU32) -> bool {
    // Said before asking: the receiver waits for the end of what may not have seen its wish.
    busy.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    wants.load(Ordering::Relaxed) == 0
}

/// It has written.
#[inline(always)]
pub fn done(busy: &AtomicU32) {
    busy.store(0, Ordering::Release);
}

/// The sender is on TCP from now on. If it has to send what the receiver had not read of the ring when it asked: without so many bytes, which that has taken since.
pub fn leave(back: &AtomicU32) -> Option<u32> {
    let word = back.swap(ON_TCP, Ordering::SeqCst);
    (state(word) == ASKED).then_some(word >> STATE)
}

/// The receiver says that it wants TCP. Whether it had not said so before; then it waits until [`quiet`].
pub fn want(wants: &AtomicU32) -> bool {
    let first = wants.swap(1, Ordering::SeqCst) == 0;
    fence(Ordering::SeqCst);
    first
}

/// Whether no write is under way.
pub fn quiet(busy: &AtomicU32) -> bool {
    busy.load(Ordering::Acquire) == 0
}

/// Whether the ring holds all that it ever will, once the receiver has said that it wants TCP.
pub fn settled(busy: &AtomicU32, back: &AtomicU32) -> bool {
    quiet(busy) || left(back)
}

/// The receiver asks for what it has not read, before it says that it wants TCP. False if it is too late.
pub fn ask(back: &AtomicU32) -> bool {
    back.compare_exchange(NOT_ASKED, ASKED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// The receiver takes the next bytes of what it asked for from the ring. False if the sender sends them.
pub fn take(back: &AtomicU32, bytes: u32) -> bool {
    let more = |word| (state(word) == ASKED).then(|| word.wrapping_add(bytes << STATE));
    back.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
}

/// The receiver reads all that is left itself after all. False if the sender sends it.
pub fn take_back(back: &AtomicU32) -> bool {
    let none = |word| (state(word) == ASKED).then_some(NOT_ASKED);
    back.fetch_update(Ordering::SeqCst, Ordering::SeqCst, none).is_ok()
}

/// Whether the receiver waits for what it asked for.
#[inline(always)]
pub fn asked(back: &AtomicU32) -> bool {
    state(back.load(Ordering::Acquire)) == ASKED
}

/// Whether the sender is on TCP.
pub fn left(back: &AtomicU32) -> bool {
    state(back.load(Ordering::Acquire)) == ON_TCP
}
