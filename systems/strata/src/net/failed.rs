//! What goes wrong around a member.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::polled::Polled;
use crate::member::Unbuilt;
use crate::stack::Malformed;

/// Why a group could not be joined, or can't go on.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The stack's string.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The stack.
    #[error(transparent)]
    Unbuilt(#[from] Unbuilt),
    /// An unusable address.
    #[error("{0} is no address that others can reach this member at: bind to the address of one interface")]
    Unspecified(SocketAddr),
    /// An address that only one host understands.
    #[error(
        "{0} is link-local: it says something on one host only, where an interface is named with it, and members tell each other addresses: bind to a global or unique local (fd00::/8) IPv6 address, or to an IPv4 address"
    )]
    LinkLocal(SocketAddr),
    /// A carrier that needs more, or is none here.
    #[error("the stack's carrier is {0}: {1}")]
    Carrier(&'static str, &'static str),
    /// A system call.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// No contact let this member in.
    #[error(
        "none of {contacts:?} let this member into the group {group:?} within {waited:?}: is a member of it there, with the same stack and key? {notice}"
    )]
    Nobody {
        /// Who was asked.
        contacts: Vec<SocketAddr>,
        /// Which group.
        group: String,
        /// How long.
        waited: Duration,
        /// What came meanwhile, if that tells anything.
        notice: String,
    },
}

impl Failed {
    /// Nobody let a member in. The last notice of what came meanwhile may say why.
    pub(super) fn nobody<M: Polled>(
        contacts: &[SocketAddr],
        group: String,
        waited: Duration,
        kept: &VecDeque<M::Told>,
    ) -> Self {
        let notice = kept.iter().rev().find_map(|told| M::text(told).map(|text| format!("What came: {text}.")));
        Self::Nobody { contacts: contacts.to_vec(), group, waited, notice: notice.unwrap_or_default() }
    }

    /// An error of the system, while something was tried at an address.
    pub(super) fn at(what: &str, at: SocketAddr) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{what} {at}");
        move |source| Self::Io { what, source }
    }
}
