//! The Link port, its decorators and the built-in transports.
//!
//! A [`Link`] is one end of a connected pair: send a block, receive a block, little more. A [`Kind`] names a transport;
//! [`Kind::capabilities`] says, as data, what it can do, and [`Kind::availability`] why it can't be used here.
//! Two processes meet in two steps: the far side makes an [`Acceptor`], whose address travels over the control
//! connection, and the near side makes a [`Connector`] from that address; each then yields an [`AnyLink`]. Before a link
//! is handed out, both ends have shown each other a [`Proof`] over it.
//!
//! Hot loops are generic over [`Link`]; [`AnyLink::visit`] picks the concrete type once a trial, not once a block.
//!
//! | module | job |
//! |---|---|
//! | [`port`] | the trait, capabilities, errors |
//! | [`settings`] | what a person can set on a path |
//! | [`buffer`] | page-aligned memory with a chosen alignment and offset |
//! | [`patience`] | how long a link waits, and what ends the wait |
//! | [`clock`] | monotonic and virtual time |
//! | [`proof`] | both ends show that they belong to this measurement |
//! | [`open`] | kinds, acceptors, connectors, [`AnyLink`] |
//! | `memcpy` `pipe` `shm` `unix` `tcp` `udp` `theory` | one transport each |
//! | [`decorate`] | trace, fault injection, shaping: the same port around another link |

pub mod buffer;
pub mod clock;
pub mod decorate;
pub mod memcpy;
pub mod open;
pub mod patience;
pub mod pipe;
pub mod port;
pub mod proof;
pub mod settings;
pub mod shm;
pub mod tcp;
pub mod theory;
pub mod udp;
pub mod unix;

pub use buffer::Buffer;
pub use open::{Acceptor, AnyLink, Connector, Kind, Visit};
pub use patience::Patience;
pub use port::{Capabilities, Link, LinkError, Semantics};
pub use proof::Proof;
pub use settings::{Family, Settings, Wait};
