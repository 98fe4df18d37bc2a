//! Monotonic and virtual time behind one trait, so that the whole evaluator runs without wall-clock time in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::patience::LOOK;

/// A clock that never runs backwards. Nanoseconds since an arbitrary start.
pub trait Clock: Send {
    /// Now, in nanoseconds.
    fn now(&self) -> u64;
    /// Whether threads use CPU time while it runs: a model's time costs none.
    fn real(&self) -> bool {
        false
    }
    /// Lets time pass until `at` (spins on the real clock: a sleep is too coarse for a send schedule).
    fn wait_until(&self, at: u64);

    /// As [`Clock::wait_until`] for times that may lie far ahead: `halted` is asked at least every [`LOOK`]. False where
    /// it ended the wait before `at`. On the real clock only the last [`LOOK`] is spun, the time before it slept.
    fn wait_unless(&self, at: u64, halted: impl Fn() -> bool) -> bool
    where
        Self: Sized,
    {
        while !halted() {
            let now = self.now();
            if now >= at {
                return true;
            }
            self.coarsely(at.min(now.saturating_add(SLICE)), at);
        }
        false
    }

    /// Lets time pass until about `slice`, which is no later than `at`: one step of [`Clock::wait_unless`].
    fn coarsely(&self, slice: u64, _at: u64) {
        self.wait_until(slice);
    }
}

/// [`LOOK`] in nanoseconds.
const SLICE: u64 = LOOK.as_nanos() as u64;

/// `CLOCK_MONOTONIC`, read through the vDSO.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> u64 {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
    }
    fn real(&self) -> bool {
        true
    }
    fn wait_until(&self, at: u64) {
        while self.now() < at {
            std::hint::spin_loop();
        }
    }
    fn coarsely(&self, slice: u64, at: u64) {
        let left = at.saturating_sub(self.now());
        // A CPU that has just slept is slow: close to the send it is kept awake.
        if left > SLICE {
            std::thread::sleep(Duration::from_nanos(left - SLICE).min(LOOK))
        } else {
            self.wait_until(slice)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_long_wait_looks_whether_to_go_on() {
        let looks = Cell::new(0);
        // An hour, did the third look not end it.
        let clock = Monotonic;
        let ended = clock.wait_unless(clock.now() + 3_600_000_000_000, || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        });
        assert!(!ended);
    }

    #[test]
    fn a_wait_that_nothing_ends_lasts_until_its_time() {
        for ahead in [0, 1_000, 2_000_000, SLICE + 20_000_000] {
            let at = Monotonic.now() + ahead;
            assert!(Monotonic.wait_unless(at, || false));
            assert!(Monotonic.now() >= at);
        }
        let clock = Virtual::default();
        assert!(clock.wait_unless(10 * SLICE + 1, || false));
        assert_eq!(clock.now(), 10 * SLICE + 1, "virtual time goes no further than asked");
    }
}
