//! What can go wrong, in words.

use std::io;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The arguments make no sense.
    #[error("{0}")]
    Usage(String),
    /// The other process ended before the measurement did.
    #[error("the other process ended while this one was {doing}")]
    Gone {
        /// What this process was doing.
        doing: &'static str,
    },
    /// Nothing moved for a long time.
    #[error("nothing moved for {seconds} s while {doing}: the other process is stopped, or the machine is overloaded")]
    Stuck {
        /// What this process was doing.
        doing: &'static str,
        /// How long nothing moved, seconds.
        seconds: u64,
    },
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl FloorError {
    /// For `map_err`: the system refused `doing`.
    pub(crate) fn io<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> Self {
        |source| Self::Io { doing: doing.into(), source: source.into() }
    }
}
