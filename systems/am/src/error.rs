//! What can go wrong.

use std::io;
use std::time::Duration;

use crate::ring::BadIndex;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// An option has a value that can't be.
    #[error("the option {option} is {value}: {rule}")]
    Option {
        /// Which.
        option: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// Another process listens under this name.
    #[error("the name {name:?} is taken: another process of this network namespace listens under it; choose another")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Nobody listens under this name.
    #[error(
        "nobody listens under the name {name:?}: start the listener first, as the same user, in the same network namespace"
    )]
    NobodyListens {
        /// The name.
        name: String,
    },
    /// The other process belongs to another user.
    #[error(
        "the other process ({pid}) belongs to user {theirs} and this one to user {ours}: both must run as the same user"
    )]
    OtherUser {
        /// Its process id.
        pid: i32,
        /// Its effective user.
        theirs: u32,
        /// This side's effective user.
        ours: u32,
    },
    /// The other process does not greet as this library does.
    #[error(
        "the other process greeted with {found}, and this one expects {expected}: both must use the same version of am"
    )]
    Greeting {
        /// What it sent.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The file that the peer sent is not the shared memory it should be.
    #[error("the file that the peer sent as shared memory {found}: the connection is refused")]
    Memory {
        /// What is wrong with it.
        found: String,
    },
    /// The peer closed the connection.
    #[error("the peer closed the connection, seen while {doing}")]
    Closed {
        /// What this side was doing.
        doing: &'static str,
    },
    /// The peer's process ended without closing the connection.
    #[error("the peer's process ended without closing the connection, seen while {doing}")]
    Died {
        /// What this side was doing.
        doing: &'static str,
    },
    /// The peer took nothing for the whole of the patience.
    #[error("nothing moved for {patience:?} while {doing}: the peer must poll, or this side have more patience")]
    Stalled {
        /// What this side was doing.
        doing: &'static str,
        /// How long it waited.
        patience: Duration,
    },
    /// The peer broke the rules. The connection is closed.
    #[error("the peer broke the protocol: {0}; the connection is closed")]
    Protocol(#[from] Broken),
    /// The payload does not fit into a medium message.
    #[error(
        "a payload of {len} bytes, and a medium message carries at most {most}: put it into a region that the receiver registered"
    )]
    TooLarge {
        /// Its length.
        len: usize,
        /// What fits.
        most: usize,
    },
    /// Too many arguments.
    #[error("{given} arguments, and a message carries at most {most}: pass the rest as payload")]
    TooManyArguments {
        /// How many.
        given: usize,
        /// How many fit.
        most: usize,
    },
    /// What is put lies outside of the region.
    #[error("{len} bytes at {at} of a region of {region} bytes: what is put must lie within it")]
    OutsideRegion {
        /// From the start of the region.
        at: usize,
        /// How many.
        len: usize,
        /// The region's length.
        region: usize,
    },
    /// The word does not name a region of the peer.
    #[error("the word {word:#x} names no region that the peer could have registered: pass on what Region::token gave")]
    NoSuchRegion {
        /// What was given.
        word: u64,
    },
    /// There is no room for a region.
    #[error(
        "no room for a region of {len} bytes: the largest free piece of this side's {total} has {free}; release regions, or connect with a larger region_bytes"
    )]
    NoRoom {
        /// What was asked for.
        len: usize,
        /// The largest free piece.
        free: usize,
        /// All of this side's area.
        total: usize,
    },
}

/// How the peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// A counter can't be.
    #[error(transparent)]
    Index(#[from] BadIndex),
    /// A message has a form that does not exist.
    #[error("the message's head is {0:#x}, which is none of this version")]
    Head(u64),
    /// A message says that it is longer than what was written.
    #[error("a message of {says} bytes, of which {there} were written")]
    Cut {
        /// What its head says.
        says: usize,
        /// What is there.
        there: usize,
    },
    /// No handler has this number.
    #[error(
        "the {kind} names handler {handler}, and this side has none of that number: both sides must set the same handlers"
    )]
    Handler {
        /// "request" or "reply".
        kind: &'static str,
        /// The number.
        handler: u16,
    },
    /// It put into memory that is not registered.
    #[error("it put {len} bytes at {at} of the region at {region}, and no region registered there holds them")]
    Region {
        /// Where the region starts in this side's area.
        region: u32,
        /// From its start.
        at: u32,
        /// How many.
        len: u32,
    },
    /// It does not keep to what the two sides of receive posting agree on.
    #[error("it filled a buffer that was not the next posted one, or posted or sent more than this side keeps")]
    Posting,
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing: doing.into(), source: source.into() }
    }
}
