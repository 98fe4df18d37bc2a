//! The scaling model of `seeds/003` (of "Effects of Buffering Semantics on I/O Performance", OSDI'96): what a path that was
//! measured over one wire takes over another, or with another CPU or memory.
//!
//! The paper times every operation on the way of a message and sums the lines up: those of the network scale with its rate, copies that
//! miss the cache with the memory's speed, those that hit with the cache's, and the rest with the CPU's. Here only the sum, a line `t0 + b
//! B`, was measured. It is split by what is known: the wire takes `framing * 8 / rate` of each byte and the same of the header of each
//! packet, of which a message of n bytes has `ceil(n / packet)`; what else a byte costs is memory's, what else a message costs is the
//! CPU's. That is coarser in three ways: caches scale with the memory, work that the CPU does on each byte or page (checksums, page tables)
//! too, and what overlaps with the wire is counted as if it did not. From one rate to another, with the same machines, the first two don't
//! matter: both models then give `b - n (1 - R1 / R2)`, with n the wire's share of b.
//!
//! The line is the paper's summary. Single sizes are estimated from what was measured at them, with the wire's part exchanged,
//! so that caches and bends that no line follows stay where they are, and an error of the line does not grow with the wire's
//! share of it.

mod agreement;
mod error;
mod faster;
mod own;
mod wire;

pub use agreement::{Agreement, AgreementAt};
pub use error::Unscaled;
pub use wire::{Target, Wire};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Kind, Share, format::significant};

use crate::curve::Curve;
use crate::fit::{Fitted, derived_line, line_beside, solve};
use crate::{CurvePoint, Estimate, LatencyLine};

/// A path's latency line, taken apart and put together again for another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaled {
    /// The line as measured.
    pub measured: LatencyLine,
    /// What the wire took of each byte of a long message, its share of the packets' headers included, seconds.
    pub wire_per_byte: f64,
    /// What else a byte cost, seconds: memory's.
    pub memory_per_byte: Estimate,
    /// What a message cost besides the wire, seconds: the CPU's.
    #[serde(rename = "cpu_per_block")]
    pub cpu_per_message: Estimate,
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
    /// Message size, bytes.
    pub size: u64,
    /// Time, seconds of the curve's kind.
    pub seconds: Estimate,
}

/// How the slope of a line is split between wire and memory.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// The wire takes what it must.
    Known,
    /// The wire takes all of it.
    AllWire,
    /// The wire takes nothing.
    NoWire,
}

/// A difference below this share of a cost is negligible, significant or not.
const NEGLIGIBLE: f64 = 0.01;
/// Figures of lines, before those of single sizes.
const FIGURES: usize = 7;
/// Shortest time that is divided by: a picosecond.
const LEAST: f64 = 1e-12;
/// The line of a wire that takes nothing.
const NO_WIRE: Fitted = Fitted { t0: 0.0, per_byte: 0.0 };

impl Scaled {
    /// Scales a curve to `target`, and estimates its times at `sizes` (bytes). ChaCha8 from `seed` drives the bootstrap over rounds, as in
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
        let from = to.wires.map(|w| w.0).filter(|_| matches!(split, Split::Known));
        let all_wire = matches!(split, Split::AllWire);
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let derive = |t0: f64, per_byte: f64, points: &[(f64, f64)]| {
            let took = |size: f64| from.map_or(0.0, |w| w.seconds(size));
            let rest = beside(from, Fitted { t0, per_byte }, points);
            let rest = Fitted { per_byte: if all_wire { 0.0 } else { rest.per_byte }, ..rest };
            let new = Fitted { t0: rest.t0 / to.cpu, per_byte: rest.per_byte / to.memory };
            let wire = to.wires.and_then(|(_, wire)| wire_line(&wire, points, new)).unwrap_or(NO_WIRE);
            // Between two sizes the rest is a straight line; the wire's part has steps of its own.
            let rests: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1 - took(p.0))).collect();
            let at = |size: &u64| {
                let size = *size as f64;
                // Where the wire takes all that a byte costs, only the line says how much that is: single sizes are not used.
                let measured = measured_at(&rests, size).filter(|_| !all_wire);
                let bent = measured.map_or(0.0, |t| t - rest.at(size));
                to.wires.map_or(0.0, |(_, wire)| wire.seconds(size)) + new.at(size) + bent / to.memory
            };
            let (whole, slope) = (new.t0 + wire.t0, new.per_byte + wire.per_byte);
            let line = [rest.t0, rest.per_byte, whole, slope, wire.t0, wire.per_byte, t0];
            line.into_iter().chain(sizes.iter().map(at)).collect()
        };
        let Some((line, figures)) = derived_line(points, seed, FIGURES + sizes.len(), derive) else {
            let mut found: Vec<u64> = points.iter().map(|p| p.size).collect();
            found.sort_unstable();
            found.dedup();
            return Err(Unscaled::TooFew(found.len()));
        };
        possible(&line)?;
        let faster = from.and_then(|wire| faster::surely(points, &wire));
        let from_byte = from.map_or(0.0, |w| w.per_byte());
        if faster == Some(true) {
            return Err(Unscaled::Faster { per_byte: line.per_byte.value, wire: from_byte });
        }
        let memory = figures[1];
        let mut notes = notes(&line, &sizes);
        if from.is_some() && faster.is_none() && memory.value < -NEGLIGIBLE * from_byte {
            let cost = |seconds| significant(seconds, Kind::SecondsPerByte);
            let (path, wire) = (cost(line.per_byte.value), cost(from_byte));
            notes.push(format!(
                "a byte costs {path} here, and the wire would take {wire}: whether that is noise or a wrong rate, a single \
                 round does not tell"
            ));
        } else if from.is_some() && memory.low < 0.0 && memory.high.is_finite() {
            notes.push("the wire may take all that a byte costs: nothing is surely left for memory".to_owned());
        }
        // Beside a wire of packets the rest has a line of its own, which the wire's steps do not refute.
        let packets = from.is_some_and(|wire| wire.packet.is_some());
        let more = if packets { [0.0; 2] } else { own::widened_by(figures[6], line.t0) };
        let curve = Curve::of(points);
        let own = |size: u64| own::reach(&curve, size).filter(|_| !all_wire).map(|reach| reach.map(|r| r / to.memory));
        let single = |size: u64, e: Estimate| own(size).map_or(e, |reach| own::no_narrower(e, reach));
        let least = |size: u64| to.wires.map_or(0.0, |(_, wire)| wire.seconds(size as f64));
        Ok(Self {
            wire_per_byte: if all_wire { line.per_byte.value } else { from_byte },
            cpu_per_message: at_least(own::wider(figures[0], more), 0.0),
            memory_per_byte: at_least(memory, 0.0),
            t0: at_least(own::wider(figures[2], more.map(|by| by / to.cpu)), figures[4].value),
            per_byte: at_least(figures[3], figures[5].value),
            at: (sizes.iter().zip(&figures[FIGURES..]))
                .map(|(&size, &e)| ScaledAt { size, seconds: at_least(single(size, e), least(size)) })
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

/// The line of the times less the wire's part, where `line` is that of the times. What a wire without packets takes is a line itself.
fn beside(from: Option<Wire>, line: Fitted, points: &[(f64, f64)]) -> Fitted {
    match from {
        None => line,
        Some(w) if w.packet.is_some() => line_beside(points, |size| w.seconds(size)).unwrap_or(line),
        Some(w) => Fitted { t0: line.t0 - w.seconds(0.0), per_byte: line.per_byte - w.per_byte() },
    }
}

/// The line through a wire's own times at these sizes, weighted as the line of all that a message takes beside `rest` would be: with
/// packets the wire takes steps, and this is the line nearest to them.
fn wire_line(wire: &Wire, points: &[(f64, f64)], rest: Fitted) -> Option<Fitted> {
    if wire.packet.is_none() {
        return Some(Fitted { t0: wire.seconds(0.0), per_byte: wire.per_byte() });
    }
    let rest = Fitted { t0: rest.t0.max(0.0), per_byte: rest.per_byte.max(0.0) };
    let times: Vec<(f64, f64)> = points.iter().map(|p| (p.0, wire.seconds(p.0))).collect();
    let weights: Vec<f64> = times.iter().map(|(size, wire)| (rest.at(*size) + wire).max(LEAST).powi(-2)).collect();
    solve(&times, &weights)
}

/// The time at a size without the wire's part: of the median, or between two sizes on a straight line. None beyond the ends.
fn measured_at(points: &[(f64, f64)], size: f64) -> Option<f64> {
    let next = points.partition_point(|p| p.0 < size);
    let b = points.get(next)?;
    if b.0 == size {
        return Some(b.1);
    }
    let a = points.get(next.checked_sub(1)?)?;
    Some(a.1 + (size - a.0) / (b.0 - a.0) * (b.1 - a.1))
}

/// Whether a sum of costs can be this line.
fn possible(line: &LatencyLine) -> Result<(), Unscaled> {
    // Without rounds enough for an interval the figure itself decides.
    let surely = |e: Estimate| if e.high.is_finite() { e.high } else { e.value };
    if surely(line.per_byte) <= 0.0 {
        return Err(Unscaled::NoLine("larger messages take no more time here"));
    }
    if surely(line.t0) <= 0.0 {
        return Err(Unscaled::NoLine("the line begins below zero"));
    }
    Ok(())
}

fn notes(line: &LatencyLine, sizes: &[u64]) -> Vec<String> {
    let mut notes = Vec::new();
    let misfit = line.misfit;
    if misfit.systematic {
        notes.push(format!(
            "one line misses the measured times by {} (root mean square), and by {} at {}: so does the estimated one (single sizes follow what was measured)",
            Share(misfit.typical),
            Share(misfit.worst),
            Bytes(misfit.worst_size)
        ));
    }
    if line.per_byte.high.is_infinite() {
        notes.push(
            "there are no intervals: that takes four rounds at least, of a machine that returns to its state within the \
             run"
                .to_owned(),
        );
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
