//! The Link port: what every transport gives the evaluator, and nothing more.
//!
//! Its operations are the 1996 paper's protocol module (connect, send, receive, close; `seeds/004`, section 2) with
//! what two-way and open-loop patterns need.

use std::io;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Virtual;
use crate::settings::Effective;
use crate::{Asked, Buffer, DatagramCounts, Group, OneSided, Queued, TcpState, VisitGroup, VisitOneSided, VisitQueued};
use crate::{group, one_sided, queued};

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
    /// Both ends can send at once ([`Link::exchange`], bidirectional pattern).
    pub duplex: bool,
    /// A receive can wait with a deadline ([`Link::ready`], open loop).
    pub poll: bool,
    /// A connection can be made and closed for each transaction (connect pattern).
    pub connects: bool,
    /// Both processes must be on one host.
    pub local_only: bool,
    /// Time is virtual: it passes only as the model says.
    pub virtual_time: bool,
    /// A side can expose memory that the other writes and reads without its help ([`OneSided`], put and get patterns).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_sided: bool,
    /// A send can be posted: its memory is the path's until the path says that it is done with it ([`Queued`], post pattern).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// A message can go to all other members of a group at once, each of which delivers it with its sender's rank ([`Group`], cast pattern).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub group: bool,
    /// The wait modes it knows; the first is its default.
    pub waits: Vec<crate::Wait>,
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
            waits: vec![crate::Wait::Block, crate::Wait::Spin],
        }
    }

    /// Whole messages within one process that plays both ends, or has no other.
    pub fn alone() -> Self {
        Self { semantics: Semantics::Message, two_ended: false, poll: false, waits: Vec::new(), ..Self::plain() }
    }
}

/// What a link can meet. Every variant says enough to act on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The peer closed its end, or its process ended.
    #[error("the peer closed the connection while this side was {doing}")]
    Closed {
        /// What this side was doing ("sending", "receiving").
        doing: &'static str,
    },
    /// Nothing moved for the whole of the patience.
    #[error("no progress for {:.1} s while {doing}: the peer is stopped, overloaded or unreachable (--patience sets this limit)", waited.as_secs_f64())]
    Stalled {
        /// What this side was doing.
        doing: &'static str,
        /// How long nothing moved.
        waited: Duration,
    },
    /// Asked to stop (Ctrl-C, terminal closed, the far side said so).
    #[error("interrupted")]
    Interrupted,
    /// An unreliable link's datagram did not arrive in time. The pattern counts it and goes on.
    #[error("a datagram was lost")]
    Lost,
    /// The message is larger than this transport can carry.
    #[error("a message of {asked} bytes is larger than this transport carries ({most} bytes)")]
    TooLarge {
        /// Bytes asked for.
        asked: u64,
        /// Bytes that fit.
        most: u64,
    },
    /// What is put or got lies outside of what is exposed.
    #[error("{len} bytes at offset {offset} lie outside of the {exposed} bytes that are exposed")]
    Outside {
        /// Where it begins.
        offset: usize,
        /// How much it is.
        len: usize,
        /// How much is exposed.
        exposed: usize,
    },
    /// The transport can't do this at all; `capabilities` says so too.
    #[error("this transport can't {0}")]
    Unsupported(&'static str),
    /// What arrived breaks the transport's own rules (a hostile or broken peer).
    #[error("the peer broke the protocol: {0}")]
    Protocol(String),
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was tried, in words a person can follow ("connecting to 127.0.0.1:9000").
        doing: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl LinkError {
    /// An [`LinkError::Io`] with what was tried.
    pub fn io(doing: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing: doing.into(), source: source.into() }
    }
}

/// One end of a connected pair.
///
/// All waits are bounded by the link's [`Patience`](crate::Patience): an operation returns `Stalled`, `Closed` or
/// `Interrupted` rather than hang. A link may be used from one thread at a time.
pub trait Link: Send {
    /// What this link can do.
    fn capabilities(&self) -> Capabilities;

    /// Memory of this link's domain, as an [`End`](crate::End) asks for it: it is the only one who can, and keeps the memory within the
    /// link's life. Errors: the system's where it has no such memory.
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        asked.ordinary()
    }

    /// Sends one message. Returns when the memory may be used again.
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError>;

    /// Receives one message of exactly `block.len()` bytes. A message of another length is a `Protocol` error.
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError>;

    /// Sends `out` and receives `into` at the same time: neither direction waits for the other.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError>;

    /// Waits at most `wait` until a receive would find something. Zero only looks.
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError>;

    /// Hands everything sent so far to the path.
    fn flush(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    /// Ends the link; the peer sees `Closed`.
    fn close(&mut self) -> Result<(), LinkError>;

    /// What took effect on this connection, where the system says.
    fn effective(&self) -> Effective {
        Effective::default()
    }

    /// What this side's receives saw of lost, late and double datagrams since the link was made; none where the transport
    /// is reliable.
    fn datagrams(&self) -> Option<DatagramCounts> {
        None
    }

    /// The state of the TCP connection that this is; none of any other link.
    fn tcp_state(&self) -> Option<TcpState> {
        None
    }

    /// The virtual clock that this link moves, where it has one.
    fn clock(&self) -> Option<Virtual> {
        None
    }

    /// One-sided access, where [`Capabilities::one_sided`] says that this link has it: one indirect call an operation.
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        None
    }

    /// Hands one-sided access to `visitor`, where this link has it. A built-in link overrides this, so that the visitor is compiled for it.
    fn visit_one_sided<V: VisitOneSided>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.one_sided().map(|link| visitor.visit(&mut one_sided::Through(link)))
    }

    /// Queued sends, where [`Capabilities::queued`] says that this link has them: one indirect call an operation.
    fn queued(&mut self) -> Option<&mut dyn Queued> {
        None
    }

    /// Hands queued sends to `visitor`, as [`Link::visit_one_sided`] does.
    fn visit_queued<V: VisitQueued>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.queued().map(|link| visitor.visit(&mut queued::Through(link)))
    }

    /// The group that this link is a member of, where [`Capabilities::group`] says so: one indirect call an operation.
    fn group(&mut self) -> Option<&mut dyn Group> {
        None
    }

    /// Hands the member to `visitor`, as [`Link::visit_one_sided`] does.
    fn visit_group<V: VisitGroup>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.group().map(|link| visitor.visit(&mut group::Through(link)))
    }
}

/// A link behind a pointer: one indirect call an operation, where its type is not known.
macro_rules! behind_a_pointer {
    ({$($generics:tt)*} $pointer:ty) => {
        impl<$($generics)*> Link for $pointer {
            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }
            fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
                (**self).buffer(asked)
            }
            fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
                (**self).send(block)
            }
            fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
                (**self).recv(block)
            }
            fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
                (**self).exchange(out, into)
            }
            fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
                (**self).ready(wait)
            }
            fn flush(&mut self) -> Result<(), LinkError> {
                (**self).flush()
            }
            fn close(&mut self) -> Result<(), LinkError> {
                (**self).close()
            }
            fn effective(&self) -> Effective {
                (**self).effective()
            }
            fn datagrams(&self) -> Option<DatagramCounts> {
                (**self).datagrams()
            }
            fn tcp_state(&self) -> Option<TcpState> {
                (**self).tcp_state()
            }
            fn clock(&self) -> Option<Virtual> {
                (**self).clock()
            }
            fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
                (**self).one_sided()
            }
            fn queued(&mut self) -> Option<&mut dyn Queued> {
                (**self).queued()
            }
            fn group(&mut self) -> Option<&mut dyn Group> {
                (**self).group()
            }
        }
    };
}

behind_a_pointer!({L: Link + ?Sized} Box<L>);
behind_a_pointer!({} one_sided::Through<'_>);
behind_a_pointer!({} queued::Through<'_>);
behind_a_pointer!({} group::Through<'_>);
