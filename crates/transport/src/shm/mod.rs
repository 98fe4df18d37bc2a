//! A lock-free ring in shared memory between two processes.
//!
//! One direction is a lane of 64-byte slots and a ring of data bytes. A block of up to 48 bytes travels inside its
//! slot: one cache line moves from CPU to CPU, as in the barest ping-pong. A larger block is cut into chunks that go
//! through the data ring, so that the receiver copies one out while the sender copies the next in.
//!
//! | module | job |
//! |---|---|
//! | `ring` | the protocol of one direction, without waiting and without system calls |
//! | `place` | where things lie: sizes, and how a block is cut |
//! | `slot` | one cache line |
//! | `bell` | sleeping without losing a wake-up |
//! | `idle` | spinning, yielding, when to look at the clock |
//! | `map` | the sealed memory and its checks |
//! | `wait` | waiting for the peer, and giving up |
//! | `link` | the Link port on top |
//! | `model` | loom's check of ring and bell |

mod bell;
mod idle;
mod link;
mod map;
mod place;
mod ring;
mod slot;
mod sync;
mod wait;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

pub use link::{Shm, availability, capabilities};
