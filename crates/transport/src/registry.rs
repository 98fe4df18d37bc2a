//! The transports that this program has. A new one is a file of its own and two lines here.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::any::links;
use crate::{Capabilities, LinkError, Name, OptionSpec, Patience, Proof, Settings};

/// Every transport, in the order in which they are listed.
static ALL: [&dyn Transport; 8] = [
    &crate::memcpy::TRANSPORT,
    &crate::pipe::TRANSPORT,
    &crate::shm::TRANSPORT,
    &crate::unix::TRANSPORT,
    &crate::seqpacket::TRANSPORT,
    &crate::tcp::TRANSPORT,
    &crate::udp::TRANSPORT,
    &crate::theory::TRANSPORT,
];

links! {
    Memcpy(crate::memcpy::Memcpy),
    Pipe(crate::pipe::Pipe),
    Shm(crate::shm::Shm),
    Unix(crate::unix::Unix),
    Seqpacket(crate::seqpacket::Seqpacket),
    Tcp(crate::tcp::Tcp),
    Udp(crate::udp::Udp),
    Theory(crate::theory::TheoryLink),
}

/// Who plays the ends of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Two processes.
    Two,
    /// One process, which copies memory.
    Copied,
    /// One process on a virtual clock.
    Modelled,
}

/// A transport: everything about it that is not a loop. Its links are the hot path, and each has a type of its own.
pub trait Transport: Sync {
    /// What it is called.
    fn name(&self) -> Name;

    /// Its version; a built-in one has the program's.
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// What people call it when they ask about it, its name first.
    fn spoken(&self) -> &'static [&'static str];

    /// What its links can do with these settings, as far as that is known before one is opened. A link's own [`Capabilities`] may be
    /// narrower.
    fn capabilities(&self, settings: &Settings) -> Capabilities;

    /// Whether it can be used here, by trying what it needs; the error says why not.
    fn availability(&self) -> Result<(), LinkError> {
        Ok(())
    }

    /// Whether two processes of this host can meet over it, besides [`Transport::availability`]. Nothing is sent.
    fn reaches_itself(&self) -> Result<(), LinkError> {
        Ok(())
    }

    /// Who plays its ends.
    fn ends(&self) -> Ends {
        Ends::Two
    }

    /// What can be set on it.
    fn options(&self) -> &'static [OptionSpec];

    /// Whether an option that it has changes anything with these settings.
    fn listens_to(&self, _settings: &Settings, _option: &str) -> bool {
        true
    }

    /// Whether it matters with these settings where in memory messages begin.
    fn feels_places(&self, _settings: &Settings) -> bool {
        true
    }

    /// Its line, where its settings say what that is.
    fn line(&self, _settings: &Settings) -> Option<Line> {
        None
    }

    /// The far side's door. `at` is the address at which the near side reached this one, whatever its port; a transport without
    /// addresses of that sort makes a meeting place of its own. `settings` are checked.
    fn listen(&self, _settings: &Settings, _at: SocketAddr, _patience: &Patience) -> Result<Acceptor, LinkError> {
        Err(LinkError::Unsupported("connect two processes (it plays both ends in one)"))
    }

    /// The near side's way to the door at `address`, which the far side named. `peer` is the far side's own address, whatever its port:
    /// where a transport uses IP, it goes there and nowhere else.
    fn dial(
        &self,
        _settings: &Settings,
        _address: &Address,
        _peer: SocketAddr,
        _patience: &Patience,
    ) -> Result<Connector, LinkError> {
        Err(LinkError::Unsupported("connect two processes (it plays both ends in one)"))
    }

    /// A link of which one process plays both ends.
    fn solo(&self, _settings: &Settings) -> Result<AnyLink, LinkError> {
        Err(LinkError::Unsupported("play both ends in one process"))
    }
}

/// The line that a path is known to run over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Bits a second.
    pub rate: f64,
    /// Largest payload of a packet, bytes.
    pub packet: u64,
    /// Header of a packet, bytes.
    pub header: u64,
    /// Socket buffer, bytes.
    pub buffer: u64,
}

/// Where a far side waits for data connections: a text of its transport's, which travels over the control connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// Most bytes of one that is read.
    const LONGEST: usize = 4096;

    /// An address in its transport's own words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, which may be anybody's.
    pub fn text(&self) -> Result<&str, LinkError> {
        match self.0.len() {
            0..=Self::LONGEST => Ok(&self.0),
            n => Err(LinkError::Protocol(format!("it names an address of {n} bytes"))),
        }
    }
}

/// The far side's door for the data connections of one path.
pub type Acceptor = Box<dyn Accept>;

/// The near side's way to an [`Acceptor`].
pub type Connector = Box<dyn Connect>;

/// What an [`Acceptor`] does.
pub trait Accept: Send {
    /// What the near side is told.
    fn address(&self) -> Address;

    /// The next connection that shows `proof`. Strangers are turned away without a word and don't end the wait.
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError>;

    /// The far half of connect, request, response, close: accepts, checks the proof, reads `request`, answers the far
    /// proof and `response`, waits for the peer's close.
    fn transaction(&mut self, _proof: &Proof, _request: &mut [u8], _response: &[u8]) -> Result<(), LinkError> {
        Err(NO_TRANSACTIONS)
    }
}

/// What a [`Connector`] does.
pub trait Connect: Send {
    /// Connects, shows the near proof and waits for the far one.
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError>;

    /// One transaction on a connection of its own: connect, near proof and `request`, far proof and `response`, close.
    /// The proofs add 32 bytes to each direction and no round trip.
    fn transaction(&mut self, _proof: &Proof, _request: &[u8], _response: &mut [u8]) -> Result<(), LinkError> {
        Err(NO_TRANSACTIONS)
    }
}

pub(crate) const NO_TRANSACTIONS: LinkError =
    LinkError::Unsupported("make a connection for each transaction (list says which transports can: connect pattern)");

/// Every transport, in the order in which they are listed.
pub fn all() -> impl Iterator<Item = &'static dyn Transport> {
    ALL.into_iter()
}

/// The names of all.
pub fn names() -> impl Iterator<Item = Name> {
    all().map(Transport::name)
}

/// The transport of this name; none where this program does not have it.
pub fn find(name: Name) -> Option<&'static dyn Transport> {
    all().find(|t| t.name() == name)
}

/// The transport that a person or a peer names; the error lists those that there are.
pub fn named(text: &str) -> Result<&'static dyn Transport, UnknownTransport> {
    all().find(|t| t.name().as_str() == text).ok_or_else(|| UnknownTransport(units::received::clean(text, 40)))
}

/// No transport has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no transport is named '{0}'; there are: {list} (pipegauge list says more)", list = listed())]
pub struct UnknownTransport(pub String);

fn listed() -> String {
    names().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

impl Name {
    /// The transport of this name, or an error that lists those that there are.
    pub fn transport(self) -> Result<&'static dyn Transport, UnknownTransport> {
        named(self.as_str())
    }

    /// Who plays its ends: two processes, unless a transport of this program says otherwise.
    pub fn ends(self) -> Ends {
        find(self).map_or(Ends::Two, Transport::ends)
    }

    /// What it can do where nothing is set; of a transport that this program does not have, what a plain one can.
    pub fn capabilities(self) -> Capabilities {
        find(self).map_or_else(Capabilities::plain, |t| t.capabilities(&Settings::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_an_unknown_one_lists_all() {
        for name in names() {
            assert_eq!(named(name.as_str()).unwrap().name(), name);
        }
        for unknown in ["TCP", "alone", "ucx", ""] {
            let e = named(unknown).err().unwrap().to_string();
            assert!(names().all(|name| e.contains(name.as_str())), "{e}");
        }
        assert!(find(Name::ALONE).is_none());
    }

    #[test]
    fn every_option_is_described_and_has_a_name_of_its_own() {
        for t in all() {
            assert_eq!(t.spoken().first().copied(), Some(t.name().as_str()));
            for (i, o) in t.options().iter().enumerate() {
                assert!(!o.help.is_empty() && !o.default.is_empty(), "{} {}", t.name(), o.name);
                assert!(t.options()[..i].iter().all(|other| other.name != o.name), "{} {}", t.name(), o.name);
            }
        }
    }
}
