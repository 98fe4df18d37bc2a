//! The atomics of the ring: the standard library's, or loom's in this crate's own tests under `--cfg loom`, which check every interleaving. Others get the former.

#[cfg(all(test, loom))]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(all(test, loom)))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
