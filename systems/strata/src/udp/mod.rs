//! A member over UDP: sockets, a clock, and a loop around the state machine.
//!
//! [`Group`] is polled: whoever holds it calls [`Group::poll`] often, since that is what answers the others. [`Handle`] has a thread that does so, and blocks for whoever
//! wants to block. [`Replica`] is polled, too, and hands the
//! application's state to who joins. `tasks` (feature `tokio`) is for tasks that await.

mod group;
mod handle;
mod hearing;
mod lanes;
mod readiness;
mod replica;
mod socket;
#[cfg(feature = "tokio")]
pub mod tasks;

pub use group::{Event, Failed, Group, Options};
pub use handle::Handle;
pub use replica::{News, Replica};

use std::time::{Duration, Instant};

/// As long as nobody waits: the clock can be added to so much, and the kernel asked for it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The moment after so long.
fn after(wait: Duration) -> Instant {
    Instant::now() + wait.min(FOR_EVER)
}
