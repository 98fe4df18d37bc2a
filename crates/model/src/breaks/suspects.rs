//! What in the path might be behind a break: constants of it that lie where the break does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Break;

/// What can be moved to see whether a break goes along (`seeds/004`, section 4, moved the socket buffer and the alignment
/// by hand).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// Send and receive buffers of the socket or pipe.
    SocketBuffer,
    /// The largest segment, which follows from the MTU.
    Mtu,
    /// Whether messages begin at a page.
    PageAlignment,
    /// Whether messages lie in a cache, and its size.
    CacheSize,
    /// The size up to which the transport sends a message at once, without asking.
    EagerLimit,
}

impl Knob {
    /// All, in the order in which they are looked at.
    pub const ALL: [Self; 5] = [Self::SocketBuffer, Self::Mtu, Self::PageAlignment, Self::CacheSize, Self::EagerLimit];

    /// Its name: a word for file names and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::SocketBuffer => "socket-buffer",
            Self::Mtu => "mtu",
            Self::PageAlignment => "page-alignment",
            Self::CacheSize => "cache-size",
            Self::EagerLimit => "eager-limit",
        }
    }
}

/// A constant of the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What moves it.
    pub knob: Knob,
    /// What it is ("send buffer of the near side").
    pub what: String,
    /// Its size, bytes.
    pub bytes: u64,
}

/// A constant beside the edge that it lies nearest to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// The constant.
    pub fact: Fact,
    /// The edge lies at about so many times the constant: a half, once or twice.
    pub times: f64,
    /// The edge, bytes.
    pub edge: u64,
    /// How far the edge lies from that multiple, as a share of it: 0 where the multiple lies within the edge.
    pub off: f64,
}

impl Suspect {
    /// Near enough to be named first. A knob that lies far off is still worth moving: alignment has no size at all.
    pub fn near(&self) -> bool {
        self.off < 0.1
    }
}

/// Multiples at which a constant shows: buffers are filled by halves, and Linux doubles what is asked for.
const MULTIPLES: [f64; 3] = [1.0, 2.0, 0.5];

/// The suspects of a break, nearest first, one for each constant.
pub fn suspects(of: &Break, facts: &[Fact]) -> Vec<Suspect> {
    let mut all: Vec<Suspect> = facts
        .iter()
        .filter(|f| f.bytes > 0)
        .filter_map(|fact| {
            let near = |edge: super::Edge| {
                MULTIPLES.into_iter().map(move |times| {
                    let at = fact.bytes as f64 * times;
                    let (low, high) = (edge.below as f64, edge.above as f64);
                    let off = if at < low { low / at - 1.0 } else { (at / high - 1.0).max(0.0) };
                    Suspect { fact: fact.clone(), times, edge: edge.above, off }
                })
            };
            of.edges().into_iter().flat_map(near).min_by(|a, b| a.off.total_cmp(&b.off))
        })
        .collect();
    all.sort_by(|a, b| a.off.total_cmp(&b.off).then(a.fact.knob.cmp(&b.fact.knob)));
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Dip, Edge};
    use super::*;
    use crate::Estimate;

    #[test]
    fn the_constant_at_an_edge_comes_first_and_tells_its_multiple() {
        let edge = |below, above| Edge { below, above };
        let dip = Dip { from: edge(130_000, 132_000), to: edge(200_000, 201_000), factor: Estimate::unbounded(3.0) };
        let fact = |knob, bytes| Fact { knob, what: "it".into(), bytes };
        let found = suspects(
            &Break::Dip(dip),
            &[fact(Knob::Mtu, 1500), fact(Knob::CacheSize, 0), fact(Knob::SocketBuffer, 65_536)],
        );
        assert_eq!(found.len(), 2, "a size of 0 says nothing");
        assert_eq!((found[0].fact.knob, found[0].times, found[0].off), (Knob::SocketBuffer, 2.0, 0.0));
        assert!(found[0].near() && !found[1].near());
    }
}
