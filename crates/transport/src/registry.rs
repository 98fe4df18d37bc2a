//! The transports that this program has. A new one is a file of its own and a line here; two where its link is of a type of its own.
//!
//! Nothing that is listed here knows the list: files of transports use the port (`port::Transport`), and whoever needs all of them comes here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Deserializer};

use crate::any::{AnyLink, Visit};
use crate::port::{Ends, Transport};
use crate::{BadName, Capabilities, Name, Settings};

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

/// Gives [`AnyLink::visit`] the types of links that loops are compiled for.
macro_rules! links {
    ($($(#[$built:meta])* $link:ty),* $(,)?) => {
        $($(#[$built])* impl crate::any::Listed for $link {})*

        impl AnyLink {
            /// Hands the end of the concrete link to `visitor`.
            pub fn visit<V: Visit>(&mut self, visitor: V) -> V::Out {
                $($(#[$built])* if let Some(end) = self.end::<$link>() {
                    return visitor.visit(end);
                })*
                visitor.visit(self.boxed_end())
            }
        }
    };
}

links! {
    crate::memcpy::Memcpy,
    crate::pipe::Pipe,
    crate::shm::Shm,
    crate::am::Am,
    crate::tcp::Tcp,
    crate::seqpacket::Seqpacket,
    crate::tls::Tls,
    crate::uring::Uring,
    #[cfg(feature = "websocket")]
    crate::websocket::Websocket,
    #[cfg(feature = "http")]
    crate::http::Http,
    crate::udp::Udp,
    #[cfg(feature = "quic")]
    crate::quic::Quic,
    crate::multicast::Multicast,
    #[cfg(feature = "strata")]
    crate::strata::Strata,
    crate::exec::Echoed,
    crate::theory::TheoryLink,
    crate::module::ModuleLink,
}

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
    /// The name that `text` is. Names of transports that are not here stay in memory, so that there may be [`Name::MOST_UNKNOWN`] of them.
    ///
    /// # Errors
    /// [`BadName`].
    pub fn new(text: &str) -> Result<Self, BadName> {
        match names().chain([Name::ALONE]).find(|name| name.as_str() == text) {
            Some(known) => Ok(known),
            None => Name::unknown(text),
        }
    }

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

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Name::new(&Cow::<str>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
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
