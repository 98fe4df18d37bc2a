//! Sleeping without losing a wake-up.
//!
//! A side has one bell: a word in shared memory that says what the side sleeps for. Whoever changes something (bytes written,
//! bytes read, the connection closed) rings it, which costs a fence and a load as long as the side is awake.
//!
//! Why nothing is lost: the sleeper arms, fences, looks again, sleeps; the ringer changes, fences, looks at the bell. The two
//! sequentially consistent fences are ordered: either the sleeper's second look sees the change, or the ringer sees the armed
//! bell. And the kernel goes to sleep only if the word still is what was armed, so a ring between the second look and the sleep is
//! not lost either. `model.rs` has loom go through every order. A hostile peer can wake this side for nothing or never: sleeps
//! have a time limit.

use crate::sync::{AtomicU32, Ordering, fence};

/// What a side sleeps for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause(u32);

impl Cause {
    /// Something to read.
    pub const BYTES: Self = Self(1);
    /// Room to write.
    pub const ROOM: Self = Self(2);
    /// Either.
    pub const EITHER: Self = Self(3);
}

/// A bell. All-zero memory is one whose owner is awake.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Bell(AtomicU32);

/// The kernel's part: a futex, or its model.
pub trait Sleeper {
    /// Sleeps if `word` still is `value`; may wake up for no reason.
    fn wait(&self, word: &AtomicU32, value: u32);
    /// Wakes whoever sleeps on `word`.
    fn wake(&self, word: &AtomicU32);
}

impl Bell {
    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Sleeps until the bell is rung for `cause`, unless `ready` is true already. May return early: the caller looks for itself.
    pub fn sleep(&self, sleeper: &impl Sleeper, cause: Cause, ready: impl FnOnce() -> bool) {
        self.arm(cause);
        if !ready() {
            sleeper.wait(&self.0, cause.0);
        }
        self.disarm();
    }

    /// From now on the next change for `cause` is to be told. The owner looks again afterwards: for who sleeps on something else than this word, since it waits for several
    /// bells at once.
    #[inline(always)]
    pub fn arm(&self, cause: Cause) {
        self.0.store(cause.0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The owner is awake.
    #[inline(always)]
    pub fn disarm(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Wakes the owner if it sleeps for `cause`. After the change.
    #[inline(always)]
    pub fn ring(&self, sleeper: &impl Sleeper, cause: Cause) {
        if self.is_due(cause) {
            self.wake(sleeper);
        }
    }

    /// Whether the owner is to be told of what has changed; it is told once. After the change, for who tells it by something else than this word ([`Bell::arm`]).
    #[inline(always)]
    pub fn take(&self, cause: Cause) -> bool {
        let due = self.is_due(cause);
        if due {
            self.disarm();
        }
        due
    }

    #[inline(always)]
    fn is_due(&self, cause: Cause) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) & cause.0 != 0
    }

    #[cold]
    fn wake(&self, sleeper: &impl Sleeper) {
        self.disarm();
        sleeper.wake(&self.0);
    }

    /// Whether the owner sleeps, or is about to: a hint.
    #[inline(always)]
    pub fn armed(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
