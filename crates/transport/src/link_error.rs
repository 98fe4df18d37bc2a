//! What a link can meet.

use std::io;
use std::time::Duration;

/// What a link can meet. Every variant says enough to act on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The peer closed its end, or its process ended.
    #[error("the peer closed the connection while this side was {doing}")]
    Closed {
        /// What this side was doing ("sending", "receiving").
        doing: &'static str,
    },
    /// A fault that was asked for cut the connection on this side.
    #[error("the data connection was cut at message {message}, as was asked (--fault cut={message})")]
    Cut {
        /// The message, from 0.
        message: u64,
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
