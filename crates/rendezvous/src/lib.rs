//! Two or more hosts: meeting, authentication, launch, control messages.
//!
//! The near side drives a measurement and the far side answers. They meet over a control connection (TLS 1.3 over TCP, or
//! within a host over a pair of UNIX sockets; the far side is known by its certificate's SHA-256, both prove a one-time
//! secret bound to the session) and agree on each trial there before its first byte moves; messages travel on data
//! connections of their own, which prove that they belong to this control connection. [`meet`] gives the driver its [`measure::Session`]s; [`serve`] and [`peer`] are the far side.
//!
//! | module | job |
//! |---|---|
//! | `key` `secret` | the word a person carries; what is derived from it and from the TLS session |
//! | `tls` `channel` `frame` | TLS with a pinned certificate; messages with deadlines; their framing |
//! | `message` `error` | what is said; what can go wrong |
//! | `alert` | says "busy" to one more connection without cryptography |
//! | `zone` | zones of link-local IPv6 addresses |
//! | `limits` `agree` | what a peer may ask for; whether settings took effect alike |
//! | `course` `moments` | how a connection went on, as it travels; its moments by another host's clock |
//! | `spread` | on which CPUs the threads of several flows run |
//! | `watch` | notices the other side's end while the data connection is busy |
//! | `hung` | a module's calls that do not come back: for `watch`, and for processes that are there to call a module |
//! | `seat` | processes that a launcher starts together (`mpirun`): each takes a seat |
//! | `allocation` `ranked` `first` | ranks of a person's own launcher, which take such seats in each round: the command's side, a rank's own, and how that sees rank 0 while it waits |
//! | `other_end` | whose process is at the other end of a UNIX socket, and whether it ended |
//! | `started` `stopped` | what a started process reads first; whether a process is stopped |
//! | `peer` `member` | hidden commands: a far side, and a near member with the near half of one connection |
//! | `far` | gate and listener for strangers, the loop that attends to one near side, `serve` |
//! | `lead` | a run whose near side is another host: its process there, and far processes that wait for it |
//! | `near` | dialling, launching here or over ssh, the conversation, the session |
//!
//! No stranger gets further than the gate: so many unproved connections at most as `far::listener` bounds, five seconds each, messages of
//! 4 KiB at most, and nothing they send burns the secret, keeps out who has it, or starts a measurement.

mod agree;
mod alert;
mod allocation;
mod channel;
mod course;
mod error;
mod far;
mod first;
mod frame;
mod hung;
mod key;
mod lead;
mod limits;
mod member;
mod message;
mod moments;
mod near;
mod other_end;
mod peer;
mod ranked;
mod seat;
mod secret;
mod spread;
mod started;
mod stopped;
#[cfg(test)]
mod tests;
mod tls;
mod watch;
mod zone;

pub use agree::Difference;
pub use allocation::Place;
pub use error::{MeetError, Peer};
pub use far::attendant::attendant;
pub use far::serve::{ServeOptions, Served, serve};
pub use far::serving::ServeEvent;
pub use first::Shown;
pub use hung::ends_where_a_call_hangs;
pub use key::{Key, KeyError};
pub use lead::{Lead, Waits, led, ssh_host};
pub use limits::{Limits, check};
pub use member::member;
pub use message::FarPin;
pub use near::group::elsewhere::Nears;
pub use near::meet::{Far, SshHost, meet, meet_spread};
pub use peer::peer;
pub use ranked::Ranked;
pub use seat::{prepared, rank, seat};
pub use started::ENDS_AFTER_SSH;
