//! The calls that a program makes. Each has the system's own name and form, so that the loader finds it first.
//!
//! What does not concern a tracked connection costs a look at a table, and goes on to the system.

mod begun;
mod clone;
mod copies;
mod data;
mod descriptors;
mod epoll;
mod jumps;
pub mod life;
mod listed;
mod messages;
mod numbered;
mod other;
mod poll;
mod process;
mod select;
pub mod signals;
mod uring;
mod variadic;
mod within;

use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, iovec};

use crate::receive::{self, Outcome};
use crate::table::Why;
use crate::{activate, real, recycle, slot, transmit};

/// A call that works leaves what the last failure said as it was, as the system's do.
#[inline(always)]
fn with_errno(result: isize, before: c_int) -> isize {
    if result >= 0 {
        real::fail(before);
    }
    result
}

/// That this thread is in the kernel's receive or send, until it is dropped: also if the thread is cancelled there.
struct Within<'a>(&'a AtomicU32);

impl<'a> Within<'a> {
    #[inline(always)]
    fn begin(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Within<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A call that receives: through the ring, or by `kernel`.
///
/// # Safety
/// The buffers may be written.
#[inline(always)]
unsafe fn receiving(fd: c_int, buffers: &[iovec], flags: c_int, kernel: impl Fn() -> isize) -> isize {
    let Some(held) = slot::of(fd) else { return kernel() };
    if !held.active() {
        // For an urgent byte no call waits, nor is what `poll` calls readable a sign of one.
        let waits = flags & (libc::MSG_DONTWAIT | libc::MSG_OOB | libc::MSG_ERRQUEUE) == 0;
        if held.eager.load(Ordering::Relaxed) != 0
            && let Some(errno) = recycle::seek(fd, &held, false, waits)
        {
            return real::fail(errno);
        }
        activate::consider(fd, &held);
    }
    let errno = real::errno();
    loop {
        if held.active() {
            // SAFETY: the caller's promise.
            match unsafe { receive::receive(fd, &held, buffers, flags) } {
                Outcome::Result(result) => return with_errno(result, errno),
                Outcome::Kernel if held.active() => return with_errno(kernel(), errno),
                Outcome::Kernel => {}
            }
        }
        let _within = Within::begin(&held.receiving);
        if !held.active() {
            let got = kernel();
            if got > 0 && held.order.load(Ordering::Relaxed) != 0 {
                recycle::heard(fd, &held);
            }
            return with_errno(got, errno);
        }
    }
}

/// A call that sends.
///
/// # Safety
/// The buffers may be read.
#[inline(always)]
unsafe fn sending(fd: c_int, buffers: &[iovec], flags: c_int, kernel: impl Fn() -> isize) -> isize {
    let Some(held) = slot::of(fd) else { return kernel() };
    if !held.active() {
        if flags & libc::MSG_OOB != 0 {
            // The kernel counts an urgent byte, and the streams' own place is one less: the sides would not agree where a direction moves.
            activate::give_up(&held, Why::Call);
        }
        if held.eager.load(Ordering::Relaxed) != 0 {
            recycle::seek(fd, &held, true, false);
        }
        activate::consider(fd, &held);
    }
    let errno = real::errno();
    loop {
        if held.active() {
            // SAFETY: the caller's promise.
            match unsafe { transmit::send(fd, &held, buffers, flags) } {
                Outcome::Result(result) => return with_errno(result, errno),
                Outcome::Kernel if held.active() => return with_errno(kernel(), errno),
                Outcome::Kernel => {}
            }
        }
        let _within = Within::begin(&held.sending);
        if !held.active() {
            return with_errno(kernel(), errno);
        }
    }
}
