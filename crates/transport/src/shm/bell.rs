//! Sleeping without losing a wake-up.
//!
//! A side has one bell. Whoever changes something that the side may be waiting for (a message published, slots freed, the
//! link closed) rings it. Ringing costs a fence and a load as long as the side is awake; a side that only spins never arms
//! its bell, and its peer, which holds the same settings, never rings.
//!
//! Why nothing is lost: the sleeper arms, fences, looks again, sleeps; the ringer changes, fences, looks at the bell. The
//! two sequentially consistent fences are ordered: either the sleeper's second look sees the change, or the ringer sees
//! the armed bell. And the kernel goes to sleep only if the bell is still armed, so a ring between the second look and
//! the sleep is not lost either. `model.rs` has loom go through every order.

use super::sync::{AtomicU32, Ordering, fence};

const QUIET: u32 = 0;
const ARMED: u32 = 1;

/// A bell. All-zero memory is a quiet one.
#[repr(C, align(128))]
pub(super) struct Bell(AtomicU32);

/// The kernel's part: a futex, or its model.
pub(super) trait Futex {
    /// Sleeps if `word` still is `value`; may wake up for no reason.
    fn wait(&self, word: &AtomicU32, value: u32);
    /// Wakes whoever sleeps on `word`.
    fn wake(&self, word: &AtomicU32);
}

impl Bell {
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(QUIET))
    }

    /// Sleeps until the bell rings, unless `ready` is true already. May return early: the caller looks for itself.
    pub(super) fn sleep(&self, futex: &impl Futex, ready: impl FnOnce() -> bool) {
        self.0.store(ARMED, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !ready() {
            futex.wait(&self.0, ARMED);
        }
        self.0.store(QUIET, Ordering::Relaxed);
    }

    /// Wakes the side if it sleeps. To be called after the change.
    #[inline]
    pub(super) fn ring(&self, futex: &impl Futex) {
        fence(Ordering::SeqCst);
        if self.0.load(Ordering::Relaxed) == ARMED {
            self.0.store(QUIET, Ordering::Relaxed);
            futex.wake(&self.0);
        }
    }
}
