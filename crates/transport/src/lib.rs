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
//! | `kinds` | the kinds of transport, as data |
//! | [`open`] | acceptors and connectors: how a pair of links comes to be |
//! | `meet` `door` `greet` | meeting places, turning strangers away, meeting by datagrams |
//! | `any` | [`AnyLink`] |
//! | [`memcpy`] [`pipe`] [`shm`] [`unix`] [`seqpacket`] [`tcp`] [`udp`] [`theory`] | one transport each |
//! | `stream` `sequence` `watchdog` `sys` | what transports share |
//! | [`decorate`] | trace, fault injection, shaping: the same port around another link |

mod any;
pub mod buffer;
pub mod clock;
pub mod decorate;
mod door;
mod greet;
mod kinds;
mod meet;
pub mod memcpy;
pub mod open;
pub mod patience;
pub mod pipe;
pub mod port;
pub mod proof;
pub mod seqpacket;
mod sequence;
pub mod settings;
pub mod shm;
mod stream;
mod sys;
pub mod tcp;
pub mod theory;
pub mod udp;
pub mod unix;
mod watchdog;

pub use buffer::Buffer;
pub use open::{Acceptor, AnyLink, Connector, Kind, Visit};
pub use patience::Patience;
pub use port::{Capabilities, Link, LinkError, Semantics};
pub use proof::Proof;
pub use settings::{Family, Settings, Wait};
pub use sys::anywhere;
pub use udp::DatagramCounts;
