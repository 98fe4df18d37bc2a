//! The clock that never runs backwards.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since an arbitrary start.
#[inline]
pub(crate) fn nanoseconds() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
