//! Sleeping without losing a wake-up, for any number of threads and processes of a side.
//!
//! The sleeper arms, fences, looks again, sleeps; the ringer changes, fences, looks. Nobody but the ringer disarms, so that one sleeper that
//! goes on does not disarm another. Why that loses nothing is said in `am::bell`, which is for one sleeper.

use std::sync::atomic::{AtomicU32, Ordering, fence};

/// A bell. All-zero memory is a quiet one.
#[repr(C, align(128))]
pub struct Bell(AtomicU32);

/// How a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Look again.
    Look,
    /// The time is up.
    Late,
    /// A signal handler ran that does not restart calls.
    Signal,
}

impl Bell {
    /// Sleeps for at most `limit_ns`, unless `ready` is true already.
    pub fn sleep(&self, limit_ns: i64, ready: impl FnOnce() -> bool) -> Woken {
        self.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if ready() {
            return Woken::Look;
        }
        let limit = libc::timespec { tv_sec: limit_ns / 1_000_000_000, tv_nsec: limit_ns % 1_000_000_000 };
        // SAFETY: a word that lives as long as `self`; the kernel only reads it.
        let outcome = unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAIT, 1, &raw const limit) };
        match outcome {
            0 => Woken::Look,
            _ => match crate::real::errno() {
                libc::ETIMEDOUT => Woken::Late,
                libc::EINTR => Woken::Signal,
                _ => Woken::Look,
            },
        }
    }

    /// Wakes all sleepers. After the change.
    #[inline(always)]
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.0.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.0.store(0, Ordering::Relaxed);
        let errno = crate::real::errno();
        // SAFETY: a word that lives as long as `self`.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        crate::real::fail(errno);
    }
}
