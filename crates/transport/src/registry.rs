//! The transports that this program has. A new one is a file of its own and two lines here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::any::links;
use crate::{Capabilities, Family, LinkError, Name, OptionSpec, Patience, Proof, Settings};

/// Every transport, in the order in which they are listed.
static ALL: [&dyn Transport; 21] = [
    &crate::memcpy::TRANSPORT,
    &crate::pipe::TRANSPORT,
    &crate::shm::TRANSPORT,
    &crate::am::TRANSPORT,
    &crate::unix::TRANSPORT,
    &crate::seqpacket::TRANSPORT,
    &crate::unixgram::TRANSPORT,
    &crate::tcp::TRANSPORT,
    &crate::mptcp::TRANSPORT,
    &crate::sctp::TRANSPORT,
    &crate::vsock::TRANSPORT,
    &crate::tls::TRANSPORT,
    &crate::uring::TRANSPORT,
    &crate::websocket::TRANSPORT,
    &crate::http::TRANSPORT,
    &crate::udp::TRANSPORT,
    &crate::quic::TRANSPORT,
    &crate::multicast::TRANSPORT,
    &crate::strata::TRANSPORT,
    &crate::exec::TRANSPORT,
    &crate::theory::TRANSPORT,
];

links! {
    Memcpy(crate::memcpy::Memcpy),
    Pipe(crate::pipe::Pipe),
    Shm(crate::shm::Shm),
    Am(crate::am::Am),
    Unix(crate::unix::Unix),
    Seqpacket(crate::seqpacket::Seqpacket),
    Unixgram(crate::unixgram::Unixgram),
    Tcp(crate::tcp::Tcp),
    Mptcp(crate::mptcp::Mptcp),
    Sctp(crate::sctp::Sctp),
    Vsock(crate::vsock::Vsock),
    Tls(crate::tls::Tls),
    Uring(crate::uring::Uring),
    #[cfg(feature = "websocket")]
    Websocket(crate::websocket::Websocket),
    #[cfg(feature = "http")]
    Http(crate::http::Http),
    Udp(crate::udp::Udp),
    #[cfg(feature = "quic")]
    Quic(crate::quic::Quic),
    Multicast(crate::multicast::Multicast),
    #[cfg(feature = "strata")]
    Strata(crate::strata::Strata),
    Exec(crate::exec::Echoed),
    Theory(crate::theory::TheoryLink),
    Module(crate::module::ModuleLink),
}

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

/// Finds the module of a name: none where no file has it, an error where one does and can't be used.
pub type Lookup = fn(&str) -> Option<Result<&'static dyn Transport, String>>;

/// The names of all files that may be modules.
pub type Names = fn() -> Vec<String>;

/// How this process finds modules; one that was never told finds none.
static LOOKUP: OnceLock<(Lookup, Names)> = OnceLock::new();

/// Modules that were found, or why they can't be used.
static MODULES: Mutex<BTreeMap<String, Result<&'static dyn Transport, String>>> = Mutex::new(BTreeMap::new());

/// Says how this process finds modules: once, before any is asked for.
pub fn modules_by(lookup: Lookup, names: Names) {
    let _ = LOOKUP.set((lookup, names));
}

/// Every transport that is built in, in the order in which they are listed, and every module that was asked for.
pub fn all() -> impl Iterator<Item = &'static dyn Transport> {
    let modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    ALL.into_iter().chain(modules.values().filter_map(|found| found.clone().ok()).collect::<Vec<_>>())
}

/// The module of this name: looked for once.
fn module(text: &str) -> Option<Result<&'static dyn Transport, String>> {
    let known = MODULES.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
    if known.is_some() {
        return known;
    }
    let found = LOOKUP.get()?.0(text)?;
    MODULES.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), found.clone());
    Some(found)
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
    if let Some(built_in) = ALL.into_iter().find(|t| t.name().as_str() == text) {
        return Ok(built_in);
    }
    match module(text) {
        Some(Ok(module)) => Ok(module),
        Some(Err(why)) => Err(UnknownTransport::Module { name: units::received::clean(text, 40), why }),
        None => Err(UnknownTransport::None(units::received::clean(text, 40))),
    }
}

/// No transport of this name can be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTransport {
    /// Nothing has it.
    #[error("no transport is named '{0}'{meant}; there are: {list} (pipegauge list says more)", meant = meant(.0), list = listed())]
    None(String),
    /// A module's file has it, and can't be used.
    #[error("the module '{name}' can't be used: {why}")]
    Module {
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
}

/// ` (did you mean tcp?)`: the transport that was likely meant, if any name is that near; of one that no build has, why it is not here.
fn meant(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if let Some(absent) = crate::absent::named(&lower) {
        return format!(" ({})", absent.why());
    }
    let modules = found();
    let known: Vec<String> = names().map(|name| name.as_str().to_owned()).chain(modules.iter().cloned()).collect();
    let near = known.iter().map(|name| (strsim::osa_distance(&lower, name), name.as_str()));
    // Of a short name two letters are most of it.
    let allowed = |name: &str| if name.len() <= 5 { 1 } else { 2 };
    let nearest = near.filter(|(away, name)| *away <= allowed(name)).min_by_key(|(away, _)| *away);
    // A kind of which there are several modules: mpi.
    let of_a_kind = || modules.iter().filter(|name| lower.len() >= 3 && name.contains(&lower)).map(String::as_str);
    let meant: Vec<&str> = nearest.map_or_else(|| of_a_kind().collect(), |(_, name)| vec![name]);
    if meant.is_empty() { String::new() } else { format!(" (did you mean {}?)", meant.join(" or ")) }
}

/// The names that the files of modules give.
fn found() -> Vec<String> {
    LOOKUP.get().map_or_else(Vec::new, |(_, names)| names())
}

fn listed() -> String {
    let built_in = || ALL.into_iter().map(|t| t.name().as_str());
    let modules: Vec<String> = found().into_iter().filter(|name| built_in().all(|other| other != name)).collect();
    let all = built_in().collect::<Vec<_>>().join(", ");
    if modules.is_empty() { all } else { format!("{all}; modules: {}", modules.join(", ")) }
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
        for (typed, meant) in
            [("TCP", "tcp"), ("tcpp", "tcp"), ("tpc", "tcp"), ("Unix", "unix"), ("seqpaket", "seqpacket")]
        {
            let e = named(typed).err().unwrap().to_string();
            assert!(e.contains(&format!("'{typed}' (did you mean {meant}?); there are: ")), "{e}");
        }
        assert!(!named("quantum").err().unwrap().to_string().contains("did you mean"));
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
