//! What a transport can do, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Wait;

/// Whether message boundaries survive the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// One receive returns one whole message as it was sent.
    Message,
    /// Bytes in order; a receive asks for as many as it wants.
    Stream,
}

/// What a transport can do, as data: an unsupported combination is answered from here, before anything is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Message or stream.
    pub semantics: Semantics,
    /// Messages arrive in the order in which they were sent.
    pub ordered: bool,
    /// Messages are neither lost nor duplicated.
    pub reliable: bool,
    /// Largest message, bytes; none where only memory limits it.
    pub max_block: Option<u64>,
    /// The far end is a second process; false where one process plays both ends (memcpy, theory).
    pub two_ended: bool,
    /// Both ends can send at once (`Link::exchange`, bidirectional pattern).
    pub duplex: bool,
    /// A receive can wait with a deadline (`Link::ready`, open loop).
    pub poll: bool,
    /// A connection can be made and closed for each transaction (connect pattern).
    pub connects: bool,
    /// Both processes must be on one host.
    pub local_only: bool,
    /// Time is virtual: it passes only as the model says.
    pub virtual_time: bool,
    /// A side can expose memory that the other writes and reads without its help (`OneSided`, put and get patterns).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_sided: bool,
    /// A send can be posted: its memory is the path's until the path says that it is done with it (`Queued`, post pattern).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// A message can go to all other members of a group at once, each of which delivers it with its sender's rank (`Group`, cast pattern).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub group: bool,
    /// All members of a group can do an operation together (`Collective`, barrier and the patterns after it).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collective: bool,
    /// The wait modes it knows; the first is its default.
    pub waits: Vec<Wait>,
}

impl Capabilities {
    /// A reliable, ordered stream of bytes between two processes of one host, both of which can send at once and wait with
    /// a deadline; nothing else. Others say in what they differ.
    pub fn plain() -> Self {
        Self {
            semantics: Semantics::Stream,
            ordered: true,
            reliable: true,
            max_block: None,
            two_ended: true,
            duplex: true,
            poll: true,
            connects: false,
            local_only: true,
            virtual_time: false,
            one_sided: false,
            queued: false,
            group: false,
            collective: false,
            waits: vec![Wait::Block, Wait::Spin],
        }
    }

    /// Whether messages can be sent on a schedule, whose answers are told apart by their order.
    pub fn schedules(&self) -> bool {
        self.poll && self.reliable && self.ordered && !self.virtual_time
    }

    /// Whole messages within one process that plays both ends, or has no other.
    pub fn alone() -> Self {
        Self { semantics: Semantics::Message, two_ended: false, poll: false, waits: Vec::new(), ..Self::plain() }
    }
}
