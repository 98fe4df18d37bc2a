//! Whether this process may be forbidden to make calls by a filter of its own (seccomp): then the library makes none that the program did not.

use std::sync::atomic::{AtomicBool, Ordering};

static ENTERED: AtomicBool = AtomicBool::new(false);
static SILENT: AtomicBool = AtomicBool::new(false);
static RING: AtomicBool = AtomicBool::new(false);

/// All connections are the kernel's from now on.
pub fn enter() {
    ENTERED.store(true, Ordering::SeqCst);
}

/// The same, as this process has a ring of the system's for calls (io_uring): what is asked for there nobody sees.
pub fn enter_for_ring() {
    RING.store(true, Ordering::SeqCst);
    enter();
}

/// Whether it has such a ring.
pub fn has_ring() -> bool {
    RING.load(Ordering::Relaxed)
}

/// And whatever is not one of the program's own calls may be forbidden.
pub fn be_silent() {
    enter();
    SILENT.store(true, Ordering::SeqCst);
}

/// Whether no call is to be made that the program has not. What would be given back by one (memory, descriptors of the library's own) stays until the process
/// ends. Sets of epoll are looked after as ever, by calls that a program which has them makes as well.
#[inline(always)]
pub fn silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Whether all connections are the kernel's.
#[inline(always)]
pub fn entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}
