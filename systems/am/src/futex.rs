//! The kernel's futex on shared memory, with a limit to the sleep: a peer that dies rings no bell.

use std::time::Duration;

use rustix::thread::futex;
use rustix::time::Timespec;

use crate::bell::Sleeper;
use crate::sync::AtomicU32;

/// A futex.
#[derive(Debug, Clone, Copy)]
pub struct Futex {
    /// Longest sleep.
    pub limit: Duration,
}

impl Futex {
    /// For who only wakes.
    pub const WAKE: Self = Self { limit: Duration::ZERO };
}

impl Sleeper for Futex {
    fn wait(&self, word: &AtomicU32, value: u32) {
        let limit = Timespec { tv_sec: self.limit.as_secs() as i64, tv_nsec: self.limit.subsec_nanos().into() };
        // Every outcome (woken, no longer armed, time is up, a signal) means the same: look again.
        let _ = futex::wait(word, futex::Flags::empty(), value, Some(&limit));
    }
    fn wake(&self, word: &AtomicU32) {
        // The peer alone sleeps here. Waking fails only for memory that is not mapped, and this is.
        let _ = futex::wake(word, futex::Flags::empty(), 1);
    }
}
