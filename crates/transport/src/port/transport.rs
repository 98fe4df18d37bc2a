//! A transport: everything about it that is not a loop, and the doors at which the two sides of a path meet.

use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::any::AnyLink;
use crate::{Capabilities, Family, LinkError, Name, OptionSpec, Patience, Proof, Settings};

/// Who plays the ends of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Two processes.
    Two,
    /// One process, which copies memory.
    Copied,
    /// One process, which sends to an echo and receives from it.
    Echoed,
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

    /// The file that it was found in; none of one that is built in.
    fn source(&self) -> Option<&Path> {
        None
    }

    /// Whether it still is what it was when it was found; the error says what became of it. A built-in one always is.
    fn unchanged(&self) -> Result<(), LinkError> {
        Ok(())
    }

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// What people call it when they ask about it, its name first.
    fn spoken(&self) -> &'static [&'static str];

    /// The command that starts the processes of a path together; empty where they start by themselves. `{n}` stands for how many.
    fn launch(&self) -> &'static [String] {
        &[]
    }

    /// Called first of all in a process that [`launch`](Transport::launch) started, with the settings of its path.
    ///
    /// # Errors
    /// The path can't be used with them.
    fn prepare(&self, _: &Settings) -> Result<(), LinkError> {
        Ok(())
    }

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

    /// Whether its options go together as they are set.
    ///
    /// # Errors
    /// Two of them ask for different things.
    fn fits(&self, _: &Settings) -> Result<(), LinkError> {
        Ok(())
    }

    /// The IP version of its addresses with these settings, where they say one.
    fn family(&self, settings: &Settings) -> Option<Family> {
        settings.family()
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

    /// The near member of a group whose other members wait at these doors, which each far side named, and each of which shows one of `proofs`, in
    /// their order. Returns when all have joined.
    fn gather(
        &self,
        _settings: &Settings,
        _doors: &[(Address, SocketAddr)],
        _proofs: &[Proof],
        _patience: &Patience,
    ) -> Result<AnyLink, LinkError> {
        Err(LinkError::Unsupported("join several members in a group (list says which transports can)"))
    }

    /// The option that all the rest of a path's text is, from where no option begins: `exec:ssh host cat`.
    fn takes_the_rest(&self) -> Option<&'static str> {
        None
    }

    /// A link of which one process plays both ends, or the only one.
    fn solo(&self, _settings: &Settings, _patience: &Patience) -> Result<AnyLink, LinkError> {
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
