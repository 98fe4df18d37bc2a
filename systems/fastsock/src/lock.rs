//! A lock for what one process keeps: one that a signal handler which interrupts its holder is refused, and that a fork can take first.

use std::cell::UnsafeCell;

use crate::section::{Stretch, Uncancelled};

/// A value and its lock.
pub struct Lock<T> {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached under the lock only.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Self { mutex: UnsafeCell::new(libc::PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP), value: UnsafeCell::new(value) }
    }

    /// Takes it, for [`Self::release`]. False if this thread holds it already.
    pub fn hold(&self) -> bool {
        // SAFETY: a mutex that lives as long as `self` and is never moved while held.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) == 0 }
    }

    /// Where the word lies that whoever wants it waits for.
    #[cfg(test)]
    pub fn word(&self) -> usize {
        self.mutex.get() as usize
    }

    /// Gives back what [`Self::hold`] took.
    pub fn release(&self) {
        // SAFETY: as above; a thread that does not hold it is refused.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }

    /// Gives back what [`Self::hold`] took before a fork, in the child: there the holder has another number, so that it would be refused.
    pub fn renew(&self) {
        // SAFETY: the child's only thread holds it; nobody waits.
        unsafe { self.mutex.get().write(libc::PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP) };
    }

    /// Runs `work` with the value; no signal handler runs amid, and no thread is cancelled. None in a handler that was set unseen and interrupted
    /// this thread's own work with it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _stretch = Stretch::begin();
        let _whole = Uncancelled::begin();
        if !self.hold() {
            return None;
        }
        // SAFETY: under the lock, which nobody else holds.
        let done = work(unsafe { &mut *self.value.get() });
        self.release();
        Some(done)
    }
}
