//! A member with its clock and a loop around the state machine, over UDP or, where its stack ends so, over shared memory (`crate::shm`).
//!
//! [`Group`] is polled: whoever holds it calls [`Group::poll`] often, since that is what answers the others. [`Handle`] has a thread that does so, and blocks for whoever
//! wants to block. [`Replica`] is polled, too, and hands the
//! application's state to who joins. `tasks` (feature `tokio`) is for tasks that await.

mod failed;
mod group;
mod handle;
mod hearing;
mod lanes;
mod network;
mod options;
mod readiness;
mod replica;
mod socket;
mod sockets;
#[cfg(feature = "tokio")]
pub mod tasks;

pub use failed::Failed;
pub use group::{Event, Group};
pub use handle::Handle;
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
