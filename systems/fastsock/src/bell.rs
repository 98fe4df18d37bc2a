//! Sleeping without losing a wake-up, for any number of threads and processes of a side.
//!
//! The sleeper arms, fences, looks again, sleeps; the ringer changes, fences, looks (`armed`). Nobody but the ringer disarms, so that one sleeper that
//! goes on does not disarm another. Why that loses nothing is said in `am::bell`, which is for one sleeper. Who waits for several things at
//! once can't sleep on a word; it watches: then the ringer writes to an event descriptor, too.

use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;

use libc::c_int;

use crate::{armed, real, sandbox};

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
        let word = armed::sleep(&self.0);
        if ready() {
            return Woken::Look;
        }
        let limit = libc::timespec { tv_sec: limit_ns / 1_000_000_000, tv_nsec: limit_ns % 1_000_000_000 };
        // SAFETY: a word that lives as long as `self`; the kernel only reads it.
        let outcome =
            unsafe { real::by_number()(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAIT, word, &raw const limit) };
        match outcome {
            0 => Woken::Look,
            _ => match real::errno() {
                libc::ETIMEDOUT => Woken::Late,
                libc::EINTR => Woken::Signal,
                _ => Woken::Look,
            },
        }
    }

    /// From now on the next ring writes to the event descriptor. The caller looks again afterwards.
    #[inline(always)]
    pub fn watch(&self) {
        armed::watch(&self.0);
    }

    /// Nothing that it tells of will come any more.
    pub fn unwatch(&self) {
        armed::unwatch(&self.0);
    }

    /// Whether the next ring would.
    pub fn watched(&self) -> bool {
        armed::watched(&self.0)
    }

    /// Wakes all sleepers, and tells `event` if somebody watches. After the change.
    #[inline(always)]
    pub fn ring(&self, event: c_int) {
        if armed::due(&self.0) {
            self.wake(event);
        }
    }

    #[cold]
    fn wake(&self, event: c_int) {
        let told = armed::take(&self.0);
        let errno = real::errno();
        // Nor is who watches for room told: it was when this side went back, and then asks the kernel.
        if told.watchers && !sandbox::silent() {
            tell(event);
        }
        // Who sleeps looks again by itself, a little later, where it can't be woken.
        if told.sleepers && !sandbox::entered() {
            // SAFETY: a word that lives as long as `self`.
            unsafe { real::by_number()(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
        real::fail(errno);
    }
}

/// Makes an event descriptor readable.
pub fn tell(event: c_int) {
    let one = 1_u64;
    if event >= 0 {
        // SAFETY: eight bytes. Should the count be at its end, it is readable.
        unsafe { real::whole::write(event, (&raw const one).cast(), 8) };
    }
}

/// Makes an event descriptor unreadable.
pub fn drain(event: c_int) {
    let mut count = MaybeUninit::<u64>::uninit();
    if event >= 0 {
        // SAFETY: room for eight bytes.
        unsafe { real::whole::read(event, count.as_mut_ptr().cast(), 8) };
    }
}

/// A new event descriptor.
pub fn event() -> Option<OwnedFd> {
    // SAFETY: a new descriptor.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    // SAFETY: just made, and nobody else's.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether a descriptor that a peer gave can be an event descriptor on which no call waits: no pipe, socket, file or terminal.
pub fn is_event(fd: c_int) -> bool {
    let mut about = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: room for what is asked.
    unsafe {
        let flags = real::fcntl(fd, libc::F_GETFL, 0);
        libc::fstat(fd, about.as_mut_ptr()) == 0
            && about.assume_init().st_mode & libc::S_IFMT == 0
            && flags >= 0
            && flags & (libc::O_NONBLOCK | libc::O_ACCMODE) == libc::O_NONBLOCK | libc::O_RDWR
    }
}
