//! A lock-free ring in shared memory between two processes.
//!
//! One direction is a lane of 64-byte slots and a ring of data bytes. A message of up to 48 bytes travels inside its
//! slot: one cache line moves from CPU to CPU, as in the barest ping-pong. A larger message is cut into chunks that go
//! through the data ring, so that the receiver copies one out while the sender copies the next in.
//!
//! | module | job |
//! |---|---|
//! | `ring` | the protocol of one direction, without waiting and without system calls |
//! | `place` | where things lie: sizes, and how a message is cut |
//! | `slot` | one cache line |
//! | `bell` | sleeping without losing a wake-up |
//! | `idle` | spinning, yielding, when to look at the clock |
//! | `file` | sealed memory, its checks, copies in and out |
//! | `map` | what lies in the memory of a link |
//! | `link` | the Link port on top; its parts: `region`, one-sided access to memory that a side exposes; `wait`, waiting for the peer, and giving up |
//! | `model` | loom's check of ring and bell |

mod bell;
mod file;
mod idle;
mod link;
mod map;
mod place;
mod ring;
mod slot;
mod sync;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

pub use link::Shm;

use crate::local::Local;
use crate::meet::{self, Made};
use crate::options;
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Proof, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("shm");

/// The transport.
pub static TRANSPORT: SharedMemory = SharedMemory;

/// A ring in shared memory between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct SharedMemory;

impl Local for SharedMemory {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "a lock-free ring in shared memory between two processes";
    const SPOKEN: &'static [&'static str] =
        &["shm", "shared memory", "shared mem", "sharedmem", "shmem", "shared memory ring", "sharedmemory"];
    const OPTIONS: &'static [OptionSpec] = &[options::wait(&[Wait::Spin.name(), Wait::Block.name()], "spin")];
    const WAITS: &'static [Wait] = &link::WAITS;

    fn can(_: &Settings) -> Capabilities {
        link::capabilities()
    }
    fn needs() -> Result<(), LinkError> {
        link::availability()
    }
    fn far(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (mut link, file) = Shm::create(&made.settings, &made.patience)?;
        meet::hand_over(fd.as_fd(), &proof.far, &[file.as_fd()])?;
        link.watch(fd);
        Ok(AnyLink::new(link))
    }
    fn near(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        meet::hand_over(fd.as_fd(), &proof.near, &[])?;
        let [file] = meet::take_over(fd.as_fd(), &proof.far, &made.patience)?;
        let mut link = Shm::attach(file, &made.settings, &made.patience)?;
        link.watch(fd);
        Ok(AnyLink::new(link))
    }
}
