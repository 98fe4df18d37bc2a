//! Monotonic and virtual time behind one trait, so that the whole evaluator runs without wall-clock time in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock that never runs backwards. Nanoseconds since an arbitrary start.
pub trait Clock: Send {
    /// Now, in nanoseconds.
    fn now(&self) -> u64;
    /// Lets time pass until `at` (spins on the real clock: a sleep is too coarse for a send schedule).
    fn wait_until(&self, at: u64);
}

/// `CLOCK_MONOTONIC`, read through the vDSO.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> u64 {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
    }
    fn wait_until(&self, at: u64) {
        while self.now() < at {
            std::hint::spin_loop();
        }
    }
}

/// Time that passes only when a model moves it. Clones share the time.
#[derive(Debug, Clone, Default)]
pub struct Virtual(Arc<AtomicU64>);

impl Virtual {
    /// Moves the time forward by `ns`.
    pub fn advance(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::Relaxed);
    }
}

impl Clock for Virtual {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    fn wait_until(&self, at: u64) {
        self.0.fetch_max(at, Ordering::Relaxed);
    }
}
