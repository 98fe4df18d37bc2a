//! Waiting for a process with a memory of its own until it has begun a program, or ended (`CLONE_VFORK` without `CLONE_VM`). The system would keep the thread that made it
//! in the call for so long, and with it the locks that a fork takes (`process::forked`), for which other threads wait. So the process is made without the flag, and its maker
//! waits once it has given them back: for the end of a pipe whose other end only the new process has, and loses when it begins a program.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;

use crate::{guests, own, real, sandbox};

/// The end by which this process's own maker waits for it; -1: none does.
static OF_MAKER: AtomicI32 = AtomicI32::new(-1);

/// A pipe of which one process waits for the end, and another holds the other end.
pub struct Begun {
    waits: c_int,
    held: c_int,
}

impl Begun {
    /// To be made where no other thread can fork: its child would hold the pipe, too. None where the wait has to be the system's.
    pub fn new() -> Option<Self> {
        // Calls of the library's own may be forbidden, or its descriptors can't be closed.
        if sandbox::entered() || guests::keep_numbers() {
            return None;
        }
        let mut ends = [-1; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return None;
        }
        // SAFETY: just made, and nobody else's.
        let [waits, held] = ends.map(|end| own::keep(unsafe { OwnedFd::from_raw_fd(end) }));
        if let (Some(waits), Some(held)) = (waits, held) {
            return Some(Self { waits, held });
        }
        waits.into_iter().chain(held).for_each(own::close);
        None
    }

    /// In the new process: it holds its end until a program begins there, or it ends.
    pub fn hold(&self) {
        own::close(self.waits);
        OF_MAKER.store(self.held, Ordering::Relaxed);
    }

    /// In the process that made it, or could not: the other end is not its own.
    pub fn let_go(&self) {
        let errno = real::errno();
        own::close(self.held);
        real::fail(errno);
    }

    /// Waits until nobody holds the other end, where there may be somebody (`made`). As in the system's call no handler runs before that.
    pub fn wait(self, made: bool) {
        let errno = real::errno();
        let mut byte = 0_u8;
        // SAFETY: masks and a byte of this call's own.
        unsafe {
            let (mut every, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut every);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
            let mut ended = !made;
            while !ended {
                // The C library's own signals are never blocked.
                let got = real::whole::read(self.waits, (&raw mut byte).cast(), 1);
                ended = got >= 0 || real::errno() != libc::EINTR;
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
        own::close(self.waits);
        real::fail(errno);
    }
}

/// In the child of a fork: who waits for this process's maker does not wait for it.
pub fn in_child() {
    own::close(OF_MAKER.swap(-1, Ordering::Relaxed));
}
