//! The word of a bell (`bell`): who waits, and whom the ringer has to tell. `tests/model/bells.rs` goes through the interleavings.
//!
//! Who waits arms, looks again, waits; who rings changes something, and looks. Of the two, one sees what the other did. Above the two bits rings are counted: who is about to sleep
//! compares the word, and would not find that it was rung where another one has armed since.

use super::sync::{AtomicU32, Ordering, fence, fence_of_locked};

/// Somebody sleeps on the word.
const SLEEPER: u32 = 1;
/// Somebody waits for the event descriptor.
const WATCHED: u32 = 2;
/// Either.
const WAITS: u32 = SLEEPER | WATCHED;
/// A ring that sleepers were told of.
const RING: u32 = 4;

/// Whom the ringer has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Those that sleep on the word, all of them.
    pub sleepers: bool,
    /// Those that wait for the event descriptor.
    pub watchers: bool,
}

/// The next ring wakes whoever sleeps on the word as long as it is this. The caller looks again before.
pub fn sleep(word: &AtomicU32) -> u32 {
    let armed = word.fetch_or(SLEEPER, Ordering::Relaxed) | SLEEPER;
    fence(Ordering::SeqCst);
    armed
}

/// The next ring tells the event descriptor. The caller looks again afterwards.
#[inline(always)]
pub fn watch(word: &AtomicU32) {
    word.fetch_or(WATCHED, Ordering::SeqCst);
    fence_of_locked();
}

/// Nothing that the event descriptor is told of will come any more.
pub fn unwatch(word: &AtomicU32) {
    word.fetch_and(!WATCHED, Ordering::SeqCst);
}

/// Whether the next ring tells it.
pub fn watched(word: &AtomicU32) -> bool {
    word.load(Ordering::SeqCst) & WATCHED != 0
}

/// Whether anybody is to be told of what has changed. After the change.
#[inline(always)]
pub fn due(word: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    word.load(Ordering::Relaxed) & WAITS != 0
}

/// Who, each once. Nobody but the ringer disarms: one that goes on does not disarm another.
pub fn take(word: &AtomicU32) -> Told {
    let was = word.fetch_and(!WAITS, Ordering::SeqCst);
    let told = Told { sleepers: was & SLEEPER != 0, watchers: was & WATCHED != 0 };
    if told.sleepers {
        // Before they are woken: one that goes to sleep only now finds another word.
        word.fetch_add(RING, Ordering::SeqCst);
    }
    told
}
