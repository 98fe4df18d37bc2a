//! Why a path can't be scaled.

use units::{Kind, format::significant};

/// Why a path can't be scaled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unscaled {
    /// A rate that is none.
    #[error("a wire of no rate brings nothing (found {0} bit/s): give a rate above 0")]
    Rate(f64),
    /// Bytes on the wire that are none.
    #[error("a wire carries at least the message itself (found {framing} bytes a byte and headers of {header} bytes)")]
    Framing {
        /// Bytes a byte.
        framing: f64,
        /// Bytes a packet.
        header: f64,
    },
    /// Packets that hold nothing.
    #[error("a packet carries at least one byte of a message (found 0): give its size, such as 1448")]
    Packet,
    /// A factor that is none.
    #[error("{what} that is {factor} times as fast is no machine: give a factor above 0, such as 2")]
    Factor {
        /// Of what.
        what: &'static str,
        /// The factor.
        factor: f64,
    },
    /// Nothing to fit a line to.
    #[error("a line needs at least three sizes; measured: {0}")]
    TooFew(usize),
    /// The path beats the wire.
    #[error(
        "a byte costs {} here, and the wire alone would take {}: the path is faster than the wire that is said to be in it (is the rate right? do messages cross it?)",
        significant(*.per_byte, Kind::SecondsPerByte), significant(*.wire, Kind::SecondsPerByte)
    )]
    Faster {
        /// Seconds a byte as fitted.
        per_byte: f64,
        /// Seconds a byte that the wire takes.
        wire: f64,
    },
    /// A line that no sum of costs makes.
    #[error("{0}: no sum of costs makes such a line")]
    NoLine(&'static str),
}
