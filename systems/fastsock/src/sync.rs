//! The atomics of what is modelled: the standard library's here, loom's in `tests/model.rs`.

pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A fence behind a locked instruction, which is one already (x86-64): the compiler alone has to keep the order.
#[inline(always)]
pub fn fence_of_locked() {
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}
