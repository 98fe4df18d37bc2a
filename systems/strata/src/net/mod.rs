//! A member with its clock and a loop around the state machine, over UDP or, where its stack ends so, over shared memory (`crate::shm`).
//!
//! | | a group | with a state that all share |
//! |---|---|---|
//! | whoever holds it calls `poll` often, since that is what answers the others | [`Group`] | [`Replica`] |
//! | a thread does so; blocks for whoever wants to block | [`Handle`] | [`ReplicaHandle`] |
//! | for tasks that await (feature `tokio`) | `tasks::AsyncGroup` | `tasks::AsyncReplica` |

#[cfg(feature = "tokio")]
mod awaited;
mod failed;
mod group;
mod handle;
mod hearing;
mod lanes;
mod network;
mod options;
mod polled;
mod readiness;
mod replica;
mod room;
mod socket;
mod sockets;
#[cfg(feature = "tokio")]
pub mod tasks;
mod thread;

pub use failed::Failed;
pub use group::{Event, Group};
pub use handle::{Handle, ReplicaHandle};
pub use options::Options;
pub use replica::{News, Replica};

use std::io;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};

/// As long as nobody waits: the clock can be added to so much, and the kernel asked for it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The moment after so long.
fn after(wait: Duration) -> Instant {
    Instant::now() + wait.min(FOR_EVER)
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system's random numbers are not there"))?;
    Ok(u64::from_le_bytes(bytes))
}
