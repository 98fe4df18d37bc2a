//! The theoretical link: a model with a virtual clock that gives exact tests.
//!
//! The formula is NetPIPE's `theo` with a header on every packet, slow size ranges after the 1996 paper's figure 10
//! (`seeds/004`, section 4), and seeded noise and loss. One process plays both ends: the far side is a reaction to what
//! arrives ([`FarRole`]), and time is moved by the model alone, so a second of traffic costs no second.
//!
//! | module | job |
//! |---|---|
//! | `model` | the formula, and one direction of the path |
//! | `dice` | noise and loss from a seed |
//! | `far` | what the far side does with what arrives |
//! | `answers` | what is on its way back |
//! | `link` | [`TheoryLink`]: the Link port over all of it |
//! | `flags` | reading `key=value,...` (also for [`crate::decorate`]) |
//! | `parse` | reading and checking a [`Theory`] |

mod answers;
mod dice;
mod far;
pub(crate) mod flags;
mod link;
mod model;
mod parse;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use far::FarView;
pub use flags::FlagError;
pub use link::{TheoryLink, capabilities};

/// A size range in which the modelled path is slower: the 1996 paper's chasm (`seeds/004`, section 4, figure 10).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dip {
    /// First size in the dip, bytes.
    pub from: u64,
    /// First size beyond it, bytes.
    pub to: u64,
    /// Time is multiplied by this within.
    pub factor: f64,
    /// What moves it; none where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_by: Option<Mover>,
}

/// What a modelled dip depends on: what the 1996 paper found by hand of its chasm (`seeds/004`, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mover {
    /// Its edges are those at socket buffers of 64 KiB, and move with the buffers in proportion.
    Sockbuf,
    /// It is there only while blocks don't begin at a page.
    Align,
}

/// Parameters of the modelled path. One block of n bytes takes, one way,
/// `latency + (packets * header + n) * 8 / rate` with `packets = max(1, ceil(n / packet))`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Theory {
    /// One-way latency, seconds.
    pub latency: f64,
    /// Line rate, bits a second.
    pub rate: f64,
    /// Largest payload of a packet, bytes.
    pub packet: u64,
    /// Header of a packet, bytes.
    pub header: u64,
    /// Slow size ranges.
    pub dips: Vec<Dip>,
    /// Standard deviation of the log-normal noise of one block's time (0.02 is about 2%); its median is 1.
    pub noise: f64,
    /// Standard deviation of the log-normal noise that one connection shares (what differs between runs).
    pub block_noise: f64,
    /// Share of blocks lost, 0 to 1.
    pub loss: f64,
    /// Seconds of work that a process has with each subinterval of HINT: what a program does beside the path.
    pub work: f64,
    /// Seed of noise and loss.
    pub seed: u64,
}

impl Default for Theory {
    fn default() -> Self {
        Self {
            latency: 10e-6,
            rate: 10e9,
            packet: 1448,
            header: 66,
            dips: Vec::new(),
            noise: 0.0,
            block_noise: 0.0,
            loss: 0.0,
            work: 10e-9,
            seed: 1,
        }
    }
}

/// Buffers at which a dip that they move lies where it says.
const SOCKBUF: u64 = 64 << 10;

impl Theory {
    /// Whether a setting of this kind changes the path.
    pub fn listens_to(&self, mover: Mover) -> bool {
        self.dips.iter().any(|d| d.moved_by == Some(mover))
    }

    /// The path with socket buffers of this size; none leaves them at 64 KiB.
    pub fn with_sockbuf(&self, bytes: Option<u64>) -> Self {
        let scale = bytes.unwrap_or(SOCKBUF) as f64 / SOCKBUF as f64;
        let at = |size: u64, dip: &Dip| match dip.moved_by {
            Some(Mover::Sockbuf) => (size as f64 * scale).round() as u64,
            _ => size,
        };
        let dips = self.dips.iter().map(|d| Dip { from: at(d.from, d), to: at(d.to, d), ..*d }).collect();
        Self { dips, ..self.clone() }
    }

    /// The path as blocks at such places see it.
    fn with_blocks_at_pages(&self, at_pages: bool) -> Self {
        let there = |d: &&Dip| d.moved_by != Some(Mover::Align) || !at_pages;
        Self { dips: self.dips.iter().filter(there).copied().collect(), ..self.clone() }
    }
}

/// What the modelled far side does with a block that reaches it; set before each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FarRole {
    /// Sends each block back (ping-pong).
    #[default]
    Echo,
    /// Answers each block with one of another size (request/response, connect).
    Answer {
        /// Bytes of the answer.
        response: u64,
    },
    /// Only receives (stream).
    Sink,
    /// Answers once, with one byte, after `count` blocks (burst).
    Burst {
        /// Blocks before the answer.
        count: u64,
    },
    /// Sends a block of the same size whenever the near side does (bidirectional).
    Mirror,
}
