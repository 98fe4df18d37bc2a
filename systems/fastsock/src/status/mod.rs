//! `fastsock status`: the TCP connections of this user, which of them are fast, and why the others are not.
//!
//! Everything is read from `/proc` and from the tables that processes with the library hold (`table`): nothing is asked of them, and
//! nothing that they say is believed beyond what it is shown as.

mod gather;
mod judge;
mod show;

use crate::config::Config;
use crate::table::Why;

pub use gather::{gather, here};
pub use show::{json, text};

/// A process of this user that has a TCP connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub number: u32,
    pub program: String,
    /// What it was begun as, with its arguments, or what it calls itself since: scripts of one interpreter are told apart by it.
    pub command: String,
    /// The library is loaded.
    pub library: bool,
    /// What its environment and files say.
    pub config: Config,
    /// Version of the library's protocol, and bytes shared, where it has a table.
    pub table: Option<(u32, u64)>,
}

/// What a process says of one of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub inode: u32,
    pub state: u32,
    pub why: Why,
    pub counters: [u64; 6],
}

/// One end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub here: String,
    pub there: String,
    pub user: u32,
    /// Whose it is, as far as this user may know: place in the list of processes, and descriptor.
    pub owner: Option<(usize, i32)>,
    pub said: Option<Said>,
}

/// All.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    pub processes: Vec<Process>,
    pub ends: Vec<End>,
}
