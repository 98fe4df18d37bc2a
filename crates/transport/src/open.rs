//! The kinds of transport and how a pair of links comes to be.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::Effective;
use crate::{Capabilities, Link, LinkError, Patience, Proof, Settings};

/// A built-in transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Memory to memory in one process: the ceiling.
    Memcpy,
    /// Two pipes between two processes.
    Pipe,
    /// A lock-free ring in shared memory between two processes.
    Shm,
    /// A UNIX stream socket.
    Unix,
    /// A UNIX sequenced-packet socket.
    Seqpacket,
    /// TCP over IPv4 or IPv6.
    Tcp,
    /// UDP datagrams; loss and reordering are counted.
    Udp,
    /// A modelled link with a virtual clock.
    Theory,
}

/// Where the far side waits for data connections; travels over the control connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// An IP address and port.
    Socket(SocketAddr),
    /// A socket in the file system, in a directory only its owner may enter.
    Path(PathBuf),
}

impl Kind {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [Kind; 8] =
        [Kind::Memcpy, Kind::Pipe, Kind::Shm, Kind::Unix, Kind::Seqpacket, Kind::Tcp, Kind::Udp, Kind::Theory];

    /// The name a person types.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Memcpy => "memcpy",
            Kind::Pipe => "pipe",
            Kind::Shm => "shm",
            Kind::Unix => "unix",
            Kind::Seqpacket => "seqpacket",
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
            Kind::Theory => "theory",
        }
    }

    /// One line for `pipegauge list`.
    pub fn summary(self) -> &'static str {
        match self {
            Kind::Memcpy => "copy within one process: the ceiling of every path that copies",
            Kind::Pipe => "two pipes between two processes",
            Kind::Shm => "a lock-free ring in shared memory between two processes",
            Kind::Unix => "a UNIX stream socket",
            Kind::Seqpacket => "a UNIX sequenced-packet socket: message boundaries kept",
            Kind::Tcp => "TCP over IPv4 or IPv6",
            Kind::Udp => "UDP: loss and reordering are counted",
            Kind::Theory => "a modelled link with a virtual clock: exact, for tests and what-ifs",
        }
    }

    /// What links of this kind can do.
    pub fn capabilities(self) -> Capabilities {
        todo!()
    }

    /// Whether this kind can be used here; the error says why not, in words.
    pub fn availability(self) -> Result<(), String> {
        todo!()
    }
}

/// No transport has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no transport is named '{0}'; there are: memcpy, pipe, shm, unix, seqpacket, tcp, udp, theory (pipegauge list says more)"
)]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;
    fn from_str(s: &str) -> Result<Self, UnknownKind> {
        Kind::ALL.into_iter().find(|k| k.name() == s).ok_or_else(|| UnknownKind(s.to_owned()))
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The far side's door for the data connections of one path.
#[derive(Debug)]
pub struct Acceptor {
    _todo: (),
}

impl Acceptor {
    /// Opens the door. `at` is the address to bind for IP kinds (the control connection's local address); local kinds
    /// make a socket in a fresh directory only its owner may enter, removed on drop.
    pub fn bind(kind: Kind, settings: &Settings, at: IpAddr, patience: &Patience) -> Result<Self, LinkError> {
        let _ = (kind, settings, at, patience);
        todo!()
    }

    /// What the near side connects to.
    pub fn address(&self) -> Address {
        todo!()
    }

    /// The next connection that shows `proof`. Strangers are turned away without a word and don't end the wait.
    pub fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let _ = proof;
        todo!()
    }

    /// The far half of connect, request, response, close: accepts, checks the proof, reads `request`, answers the far
    /// proof and `response`, waits for the peer's close.
    pub fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        let _ = (proof, request, response);
        todo!()
    }
}

/// The near side's way to an [`Acceptor`].
#[derive(Debug)]
pub struct Connector {
    _todo: (),
}

impl Connector {
    /// A way to `address`; nothing is connected yet.
    pub fn new(kind: Kind, settings: &Settings, address: Address, patience: &Patience) -> Self {
        let _ = (kind, settings, address, patience);
        todo!()
    }

    /// Connects, shows the near proof and waits for the far one.
    pub fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let _ = proof;
        todo!()
    }

    /// One transaction on a connection of its own: connect, near proof and `request`, far proof and `response`, close.
    /// The proofs add 32 bytes to each direction and no round trip.
    pub fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        let _ = (proof, request, response);
        todo!()
    }
}

/// A link of any built-in kind. Call [`AnyLink::visit`] once a trial to get at the concrete type.
pub enum AnyLink {
    /// Links behind a decorator, reached by one indirect call an operation.
    Decorated(Box<dyn Link>),
}

/// Something to do with a link of whatever type, compiled once for each.
pub trait Visit {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Link>(self, link: &mut L) -> Self::Out;
}

impl AnyLink {
    /// Hands the concrete link to `visitor`.
    pub fn visit<V: Visit>(&mut self, visitor: V) -> V::Out {
        match self {
            AnyLink::Decorated(l) => visitor.visit(l),
        }
    }

    /// What took effect on this connection.
    pub fn effective(&self) -> Effective {
        Effective::default()
    }
}
