//! Group communication from composable protocol layers: today's Horus.
//!
//! A *member* ([`Member`]) is one state machine without I/O or clock: [`Member::handle`] takes an [`Input`] and the moment, [`Member::next`] hands out what is to
//! be done. Its layers are composed from a string, top first, such as `TOTAL:MBRSHIP:FRAG:NAK:COM:udp`; [`stack`] parses and checks it, and finds the
//! smallest stack for wanted properties.
//!
//! The map: `addr`, `view`, `message`, `wire`, `time`, `rng` are plain data; `property` and `stack` say what layers promise; `layer` is their common interface,
//! `event` what passes through it, `shared` what they have in common, `spread` how far own casts have come, `stalls` what waits in vain and `pile` how they stand on each other; `layers` has each protocol in a file of its own; `member` runs them; `sim` runs many members under a virtual clock and seeded
//! faults and holds every run against its oracles. `state` hands the application's state to who joins. `net` is a member with its clock, over UDP's sockets or over shared memory between processes of one host (`shm`): these two do I/O, and no other. Arrows point that way and never back.

mod addr;
mod config;
mod event;
mod foretold;
mod key;
mod layer;
pub mod layers;
mod member;
mod message;
mod mutant;
pub mod net;
mod pile;
pub mod property;
mod rng;
mod shared;
mod shm;
mod shown;
pub mod sim;
mod spread;
pub mod stack;
mod stalls;
pub mod state;
mod time;
mod untold;
mod view;
pub mod wire;

pub use addr::{Addr, Endpoint};
pub use config::Config;
pub use event::{Cast, Delivery, Down, Input, Output, To, Up};
pub use foretold::{Came, Foretold};
pub use key::{Key, NoKey};
pub use layer::{Cx, Layer, Near};
pub use member::{Member, Refused, Unbuilt};
pub use message::{HEADROOM, Msg};
pub use rng::Rng;
pub use shared::Shared;
pub use shown::shown;
pub use stalls::Waits;
pub use time::Time;
pub use view::{MEMBERS, View, ViewId};
