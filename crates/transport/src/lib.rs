//! The Link port, its decorators and the built-in transports.
//!
//! A [`Link`] is one end of a connected pair: send a message, receive a message, little more. A [`Name`] names a transport, and
//! [`registry::find`] has the [`Transport`] of that name: what it can do, whether it can be used here, its options as data
//! ([`OptionSpec`]), and how links over it come to be. Two processes meet in two steps: the far side [listens](Transport::listen), which
//! gives an [`Acceptor`] whose address travels over the control connection, and the near side [dials](Transport::dial) that address,
//! which gives a [`Connector`]; each then yields an [`AnyLink`]. Before a link is handed out, both ends have shown each other a
//! [`Proof`] over it. An [`AnyLink`] is an [`End`]: the link and the memory that its messages lie in.
//!
//! Hot loops are generic over [`Link`]; [`AnyLink::visit`] picks the concrete type once a trial, not once a message.
//!
//! | module | job |
//! |---|---|
//! | [`port`] | what a transport is ([`Transport`]) and where its sides meet; the trait of a link; what a link may have beside sends and receives: memory that a side exposes, put and get ([`OneSided`]); sends that complete later ([`Queued`]); members of a group, cast and deliver ([`Group`]); what all members do together ([`Collective`]) |
//! | `capabilities` `link_error` | what a transport can do, as data; what a link can meet |
//! | [`registry`] | the transports by name; the types of links that loops are compiled for |
//! | `name` | a name, checked where it enters |
//! | [`options`] [`settings`] `checked` | what can be set on a path, as data; what was, and what took effect; the one held against the other |
//! | [`buffer`] | page-aligned memory with a chosen alignment and offset |
//! | `end` | [`End`]: a link and the memory that it made, which ends before it |
//! | [`patience`] | how long a link waits, and what ends the wait |
//! | [`clock`] | monotonic and virtual time |
//! | [`proof`] | both ends show that they belong to this measurement |
//! | `ip` `ip_stream` `local` | what transports over IP, streams among them, and what those of one host share of meeting |
//! | [`folder`] | folders for temporary sockets that go with their process, and what killed ones left |
//! | `meet` `door` `greet` `invite` | meeting places, turning strangers away, meeting by datagrams, groups that do |
//! | `any` | [`AnyLink`] |
//! | [`memcpy`] [`pipe`] [`shm`] [`am`](mod@am) [`unix`] [`seqpacket`] [`unixgram`] [`tcp`] [`mptcp`] [`sctp`] [`vsock`] [`tls`] [`uring`] [`websocket`] [`http`] [`udp`] [`quic`] [`multicast`] [`strata`](mod@strata) [`theory`] [`exec`] | one transport each |
//! | [`module`] | transports that are found at run time: shared libraries behind `include/pipegauge.h` |
//! | `last_words` | how a process that was started here ended, and the last it said |
//! | [`preload`] | a library that the loader puts below the processes of a path |
//! | `tcp_state` | what the kernel knows of a TCP connection |
//! | `absent` | what is listed of paths that no build of this program has, and what this machine lacks for them |
//! | `unbuilt` | what is listed of a transport that this program was built without |
//! | `stream` `packet` `sequence` `watchdog` `sys` | what transports share |
//! | `zerocopy` | sends of TCP that the kernel completes later |
//! | [`decorate`] | trace, fault injection, shaping: the same port around another link |

pub mod absent;
pub mod am;
mod any;
pub mod buffer;
mod capabilities;
mod checked;
pub mod clock;
pub mod decorate;
mod door;
mod end;
pub mod exec;
pub mod folder;
mod greet;
pub mod http;
mod invite;
mod ip;
mod ip_stream;
pub mod last_words;
mod link_error;
mod local;
mod meet;
pub mod memcpy;
pub mod module;
pub mod mptcp;
pub mod multicast;
mod name;
pub mod options;
mod packet;
pub mod patience;
pub mod pipe;
pub mod port;
pub mod preload;
pub mod proof;
pub mod quic;
pub mod registry;
pub mod sctp;
pub mod seqpacket;
mod sequence;
pub mod settings;
pub mod shm;
pub mod strata;
mod stream;
mod sys;
pub mod tcp;
mod tcp_state;
pub mod theory;
pub mod tls;
pub mod udp;
#[cfg(not(all(feature = "websocket", feature = "http", feature = "quic", feature = "strata")))]
mod unbuilt;
pub mod unix;
pub mod unixgram;
pub mod uring;
pub mod vsock;
mod watchdog;
pub mod websocket;
mod zerocopy;

pub use any::{AnyLink, Visit};
pub use buffer::Buffer;
pub use capabilities::{Capabilities, Semantics};
pub use checked::SettingError;
pub use end::{Asked, End, Room};
pub use link_error::LinkError;
pub use name::{BadName, Name};
pub use options::OptionSpec;
pub use patience::Patience;
pub use port::{
    Acceptor, Address, Collective, Connector, Delivered, Ends, Group, Link, OneSided, Order, Queued, Transport,
    VisitCollective, VisitGroup, VisitOneSided, VisitQueued, WORD,
};
pub use proof::Proof;
pub use settings::{Family, Settings, Value, Wait};
pub use sys::anywhere;
pub use tcp_state::TcpState;
pub use udp::DatagramCounts;
