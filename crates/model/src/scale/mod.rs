//! The scaling model of `seeds/003` (of "Effects of Buffering Semantics on I/O Performance", OSDI'96): what a path that was
//! measured over one wire takes over another, or with another CPU or memory.
//!
//! The paper times every operation on the way of a block and sums the lines up: those of the network go by its rate, copies
//! that miss the cache by the memory's speed, those that hit by the cache's, and the rest by the CPU's. Here only the sum, a
//! line `t0 + b B`, was measured. It is taken apart by what is known of it: the wire takes `framing * 8 / rate` of each byte
//! (and of each block's header), what else a byte costs is memory's, what else a block costs is the CPU's. That is coarser in
//! three ways: caches go by the memory's factor, work that the CPU does on each byte or page (checksums, page tables) too,
//! and whatever overlaps with the wire is charged as if it did not. From one rate to another, with the same machines, the
//! first two don't matter: both models then say `b - n (1 - R1 / R2)`, with n the wire's share of b.
//!
//! The line is the paper's summary. Single sizes are estimated from what was measured at them, with the wire's part exchanged,
//! so that caches and bends that no line follows stay where they are, and an error of the line does not grow with the wire's
//! share of it.

mod held;
mod wire;

pub use held::{Held, HeldAt};
pub use wire::{Target, Wire};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Kind, Share, format::significant};

use crate::fit::derived_line;
use crate::{CurvePoint, Estimate, LatencyLine};

/// Why a path can't be scaled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unscaled {
    /// A rate that is none.
    #[error("a wire of no rate brings nothing (found {0} bit/s): give a rate above 0")]
    Rate(f64),
    /// Bytes on the wire that are none.
    #[error("a wire carries at least the block itself (found {framing} bytes a byte and {header} bytes a block)")]
    Framing {
        /// Bytes a byte.
        framing: f64,
        /// Bytes a block.
        header: f64,
    },
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
        "a byte costs {} here, and the wire alone would take {}: the path is faster than the wire that is said to be in it (is the rate right? do blocks cross it?)",
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

/// A path's latency line, taken apart and put together again for another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaled {
    /// The line as measured.
    pub measured: LatencyLine,
    /// What the wire took of each byte, seconds.
    pub wire_per_byte: f64,
    /// What else a byte cost, seconds: memory's.
    pub memory_per_byte: Estimate,
    /// What a block cost besides the wire, seconds: the CPU's.
    pub cpu_per_block: Estimate,
    /// Estimated start-up cost, seconds.
    pub t0: Estimate,
    /// Estimated seconds a byte.
    pub per_byte: Estimate,
    /// Estimated times, ascending in size.
    pub at: Vec<ScaledAt>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// An estimated time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaledAt {
    /// Block size, bytes.
    pub size: u64,
    /// Time, seconds of the curve's kind.
    pub seconds: Estimate,
}

/// How the slope of a line is divided between wire and memory.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// The wire takes what it must.
    Known,
    /// The wire takes all of it.
    AllWire,
    /// The wire takes nothing.
    NoWire,
}

/// Below this share of a cost a difference is of no account, noise or not.
const NEGLIGIBLE: f64 = 0.01;

impl Scaled {
    /// Scales a curve to `target`, and says its times at `sizes`. ChaCha8 from `seed` drives the bootstrap over blocks, as in
    /// [`crate::Fits::of`]: the same seed gives the line the same intervals.
    pub fn of(points: &[CurvePoint], target: &Target, sizes: &[u64], seed: u64) -> Result<Self, Unscaled> {
        Self::split(points, target, Split::Known, sizes, seed)
    }

    /// The least and the most that a path takes over the wire `to`, where the wire that it was measured over is not known: the
    /// least if all that a byte cost was that wire's, the most if none of it was.
    pub fn bounds(points: &[CurvePoint], to: Wire, sizes: &[u64], seed: u64) -> Result<(Self, Self), Unscaled> {
        let target = Target::wire(to, to);
        let by = |split| Self::split(points, &target, split, sizes, seed);
        Ok((by(Split::AllWire)?, by(Split::NoWire)?))
    }

    fn split(points: &[CurvePoint], to: &Target, split: Split, sizes: &[u64], seed: u64) -> Result<Self, Unscaled> {
        to.check()?;
        let (from_byte, from_block) = match (to.wires, split) {
            (Some((from, _)), Split::Known) => (from.per_byte(), from.per_block()),
            _ => (0.0, 0.0),
        };
        let (to_byte, to_block) = to.wires.map_or((0.0, 0.0), |(_, to)| (to.per_byte(), to.per_block()));
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let derive = |t0: f64, per_byte: f64, points: &[(f64, f64)]| {
            let block = t0 - from_block;
            let byte = if matches!(split, Split::AllWire) { 0.0 } else { per_byte - from_byte };
            let (new_block, new_byte) = (to_block + block / to.cpu, to_byte + byte / to.memory);
            let at = |size: &u64| {
                let size = *size as f64;
                // What all the wire's bytes cost is the line's slope: then the line is all there is.
                let measured = measured_at(points, size).filter(|_| !matches!(split, Split::AllWire));
                let bent = measured.map_or(0.0, |t| t - (t0 + per_byte * size));
                new_block + new_byte * size + bent / to.memory
            };
            [block, byte, new_block, new_byte].into_iter().chain(sizes.iter().map(at)).collect()
        };
        let Some((line, figures)) = derived_line(points, seed, 4 + sizes.len(), derive) else {
            let mut found: Vec<u64> = points.iter().map(|p| p.size).collect();
            found.sort_unstable();
            found.dedup();
            return Err(Unscaled::TooFew(found.len()));
        };
        possible(&line, from_byte)?;
        let notes = notes(&line, from_byte, &sizes);
        let share = |all: f64| if matches!(split, Split::AllWire) { all } else { from_byte };
        Ok(Self {
            wire_per_byte: share(line.per_byte.value),
            cpu_per_block: at_least(figures[0], 0.0),
            memory_per_byte: at_least(figures[1], 0.0),
            t0: at_least(figures[2], to_block),
            per_byte: at_least(figures[3], to_byte),
            at: (sizes.iter().zip(&figures[4..]))
                .map(|(&size, &e)| ScaledAt { size, seconds: at_least(e, to_block + to_byte * size as f64) })
                .collect(),
            measured: line,
            notes,
        })
    }

    /// The estimate at a size that was asked for.
    pub fn at(&self, size: u64) -> Option<Estimate> {
        self.at.iter().find(|at| at.size == size).map(|at| at.seconds)
    }
}

/// What was measured at a size: the median, or between two sizes a straight line. None beyond the ends.
fn measured_at(points: &[(f64, f64)], size: f64) -> Option<f64> {
    let next = points.partition_point(|p| p.0 < size);
    let b = points.get(next)?;
    if b.0 == size {
        return Some(b.1);
    }
    let a = points.get(next.checked_sub(1)?)?;
    Some(a.1 + (size - a.0) / (b.0 - a.0) * (b.1 - a.1))
}

/// Whether costs that sum up can make the line.
fn possible(line: &LatencyLine, wire: f64) -> Result<(), Unscaled> {
    // Nothing bounds the interval of a single block: then the figure itself is all there is.
    let surely = |e: Estimate| if e.high.is_finite() { e.high } else { e.value };
    if surely(line.per_byte) <= 0.0 {
        return Err(Unscaled::NoLine("larger blocks take no more time here"));
    }
    if surely(line.t0) <= 0.0 {
        return Err(Unscaled::NoLine("the line begins below zero"));
    }
    if surely(line.per_byte) < wire * (1.0 - NEGLIGIBLE) {
        return Err(Unscaled::Faster { per_byte: line.per_byte.value, wire });
    }
    Ok(())
}

fn notes(line: &LatencyLine, wire: f64, sizes: &[u64]) -> Vec<String> {
    let mut notes = Vec::new();
    let misfit = line.misfit;
    if misfit.systematic {
        notes.push(format!(
            "one line lies by {} typically, and by {} at {}: so does the estimated one (single sizes follow what was measured)",
            Share(misfit.typical),
            Share(misfit.worst),
            Bytes(misfit.worst_size)
        ));
    }
    if line.per_byte.high.is_infinite() {
        notes.push("a single block says nothing of the spread of blocks: there are no intervals".to_owned());
    }
    if wire > 0.0 && line.per_byte.low < wire && line.per_byte.high.is_finite() {
        notes.push("the wire may take all that a byte costs: nothing is surely left for memory".to_owned());
    }
    if let Some(most) = sizes.last().filter(|most| **most > line.sizes.1) {
        notes.push(format!("{} lies beyond what was measured ({})", Bytes(*most), Bytes(line.sizes.1)));
    }
    notes
}

/// A figure that can't lie below `least`.
fn at_least(e: Estimate, least: f64) -> Estimate {
    Estimate { value: e.value.max(least), low: e.low.max(least), high: e.high.max(least) }
}
