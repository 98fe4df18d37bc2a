//! Whether this process may be forbidden to make calls by a filter of its own (seccomp): then the library makes none that the program did not.

use std::sync::atomic::{AtomicBool, Ordering};

static ENTERED: AtomicBool = AtomicBool::new(false);
static STRICT: AtomicBool = AtomicBool::new(false);

/// From now on it may be. `strict`: all but `read`, `write` and the end are.
pub fn enter(strict: bool) {
    STRICT.fetch_or(strict, Ordering::SeqCst);
    ENTERED.store(true, Ordering::SeqCst);
}

/// Whether `read` is the only call that receives.
pub fn strict() -> bool {
    STRICT.load(Ordering::Relaxed)
}

/// Whether it may be.
#[inline(always)]
pub fn entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}
