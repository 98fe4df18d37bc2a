//! The atomics of what is modelled: the standard library's here, loom's in `tests/model.rs`.

pub use std::sync::atomic::{AtomicU32, Ordering, fence};
