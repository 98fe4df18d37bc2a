//! What is said as one joins.

use std::net::{SocketAddr, SocketAddrV4};
use std::time::Duration;

use crate::config::Config;

/// How to join.
#[derive(Debug, Clone)]
pub struct Options {
    /// The stack, such as `FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp`: the same for all members.
    pub stack: String,
    /// This member's address, which the others must reach: not 0.0.0.0. Port 0 lets the kernel choose.
    pub bind: SocketAddr,
    /// Addresses of members that are asked to let this one in. None: this member is the first.
    pub contacts: Vec<SocketAddr>,
    /// Where casts go, for stacks over `multicast`.
    pub multicast: Option<SocketAddrV4>,
    /// How long is asked before [`Failed::Nobody`]. Zero: the contacts are asked, and [`Group::join`] returns at once; a view with others tells when they have let this member in. Stacks with MERGE
    /// go on asking, others give up after half a second.
    pub patience: Duration,
    /// How long [`Group::poll`] looks at the network again and again before it sleeps: saves the time of waking up, costs a CPU.
    pub spin: Duration,
    /// The rest. Its `group` names the group.
    pub config: Config,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stack: "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp".to_owned(),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            contacts: Vec::new(),
            multicast: None,
            patience: Duration::from_secs(5),
            spin: Duration::ZERO,
            config: Config::default(),
        }
    }
}
