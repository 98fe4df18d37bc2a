//! The string of a stack.

use std::fmt;
use std::str::FromStr;

use super::Kind;

/// Layers of one stack.
const MOST: usize = 128;

/// What carries the datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// One UDP datagram for each member.
    Udp,
    /// Casts as IP multicast, all else as UDP.
    Multicast,
    /// Shared memory, between members of one host and user.
    Shm,
    /// The simulator.
    Sim,
}

impl Carrier {
    /// As it is written at the end of a stack.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Multicast => "multicast",
            Self::Shm => "shm",
            Self::Sim => "sim",
        }
    }
}

/// A stack as it is written, the top first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The top first, COM last.
    pub layers: Vec<Kind>,
    /// What is below COM.
    pub carrier: Carrier,
}

/// A string that is no stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A word that names no layer.
    #[error("the stack {stack:?} has a layer {word:?}, which there is none of: layers are {}", names())]
    Layer {
        /// The whole.
        stack: String,
        /// The word.
        word: String,
    },
    /// No carrier at the end.
    #[error(
        "the stack {stack:?} must end with what carries datagrams: udp, multicast, shm or sim, as in TOTAL:MBRSHIP:FRAG:NAK:COM:udp"
    )]
    Carrier {
        /// The whole.
        stack: String,
    },
    /// Far more layers than have a use: each costs a call within the others.
    #[error("the stack has {layers} layers: write at most {MOST}")]
    Long {
        /// How many.
        layers: usize,
    },
    /// `FRAG*x`.
    #[error(
        "the stack {stack:?} repeats a layer as {word:?}: write a number from 1 to 64 after the star, as in FRAG*10"
    )]
    Repeat {
        /// The whole.
        stack: String,
        /// The word.
        word: String,
    },
}

fn names() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}

impl FromStr for Spec {
    type Err = Malformed;

    fn from_str(stack: &str) -> Result<Self, Malformed> {
        let (upper, carrier) = stack.rsplit_once(':').unwrap_or(("", stack));
        let carrier = match carrier {
            "udp" => Carrier::Udp,
            "multicast" => Carrier::Multicast,
            "shm" => Carrier::Shm,
            "sim" => Carrier::Sim,
            _ => return Err(Malformed::Carrier { stack: stack.to_owned() }),
        };
        let mut layers = Vec::new();
        for word in upper.split(':') {
            let (name, times) = match word.split_once('*') {
                None => (word, 1),
                Some((name, times)) => match times.parse() {
                    Ok(n @ 1..=64) => (name, n),
                    _ => return Err(Malformed::Repeat { stack: stack.to_owned(), word: word.to_owned() }),
                },
            };
            let kind =
                Kind::named(name).ok_or_else(|| Malformed::Layer { stack: stack.to_owned(), word: name.to_owned() })?;
            layers.extend(std::iter::repeat_n(kind, times));
        }
        if layers.len() > MOST {
            return Err(Malformed::Long { layers: layers.len() });
        }
        Ok(Self { layers, carrier })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for kind in &self.layers {
            write!(f, "{}:", kind.name())?;
        }
        f.write_str(self.carrier.name())
    }
}
