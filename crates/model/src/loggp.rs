//! The LogGP parameters of a path (Culler and others 1993; Alexandrov, Ionescu, Schauser and Scheiman 1995): latency L, overhead
//! o, gap g and gap a byte G, from the patterns that identify them.
//!
//! A round trip of small messages takes 2 (L + 2 o); a stream of them has a gap of g between two; a stream of large ones takes G for each
//! byte; and the sender of a stream is busy for o with each, as long as it need not wait for the path. What the patterns at hand do not
//! identify is named, with the pattern that would.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CONFIDENCE;
use crate::curve::Curve;
use crate::resampled::{Scale, estimates};
use crate::{CurvePoint, Estimate};

/// Refits for an interval.
const REFITS: usize = 200;

/// A sender that is surely quicker than this share of the gap does not wait for the path.
const FREE: f64 = 0.9;

/// Sizes above this share of the largest give G: a decade.
const LARGE: f64 = 0.1;

/// Relative spread of G over the sizes beyond which one G does not hold.
const BENT: f64 = 0.2;

/// Curves of one path under the patterns that LogGP needs; any may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Patterns<'a> {
    /// Half round trips (ping-pong).
    pub ping_pong: Option<&'a [CurvePoint]>,
    /// Time of one message in a stream, at the receiver.
    pub stream: Option<&'a [CurvePoint]>,
    /// What the stream's sender did at its smallest size.
    pub sender: Option<&'a Sender>,
}

/// What the sender of a stream of small messages did.
#[derive(Debug, Clone, PartialEq)]
pub struct Sender {
    /// How long it was busy with each message, seconds; at the run's typical level, as the gap is.
    pub busy: Estimate,
    /// The same as a share of the gap of the same trial, one for each round: what moves a trial moves both.
    pub shares: Vec<f64>,
}

/// LogGP parameters, seconds; those that could not be identified are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogGp {
    /// L: from the last byte leaving the sender's hands to it being there for the receiver to take.
    pub latency: Option<Estimate>,
    /// o: what a processor is busy for with each message, at either end.
    pub overhead: Option<Estimate>,
    /// o is no more than this; given where `overhead` is none but a sender was seen.
    pub overhead_at_most: Option<f64>,
    /// g: least time between two small messages.
    pub gap: Option<Estimate>,
    /// G: time a byte of a large message.
    pub gap_per_byte: Option<Estimate>,
    /// L + 2 o, which a round trip alone tells.
    pub end_to_end: Option<Estimate>,
    /// What could not be identified and why, and what does not fit.
    pub notes: Vec<String>,
}

impl LogGp {
    /// Computes the parameters from the curves there are; ChaCha8 from `seed` drives the bootstrap.
    pub fn of(patterns: Patterns<'_>, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let curve = |points: Option<&[CurvePoint]>| points.map(Curve::of).filter(|c| !c.points.is_empty());
        let (ping_pong, stream) = (curve(patterns.ping_pong), curve(patterns.stream));
        let mut notes = Vec::new();
        let end_to_end = ping_pong.as_ref().map(smallest);
        if end_to_end.is_none() {
            notes.push("L + 2 o: no round trips were measured (--pattern ping-pong)".to_owned());
        }
        let gap = stream.as_ref().map(smallest);
        let gap_per_byte = match (&stream, &ping_pong) {
            (Some(stream), _) => per_byte(stream, &mut rng, &mut notes),
            (None, Some(ping_pong)) => {
                notes.push(
                    "G comes from round trips, whose ends take turns: a stream, in which they work at once, may have a \
                     smaller one (--pattern stream)"
                        .to_owned(),
                );
                per_byte(ping_pong, &mut rng, &mut notes)
            }
            (None, None) => None,
        };
        if gap.is_none() {
            notes.push("g: no stream was measured (--pattern stream)".to_owned());
        }
        let (overhead, overhead_at_most) = overhead(patterns.sender, gap, &mut notes);
        let latency = match (end_to_end, overhead) {
            (Some(whole), Some(o)) => Some(Estimate {
                value: (whole.value - 2.0 * o.value).max(0.0),
                low: (whole.low - 2.0 * o.high).max(0.0),
                high: (whole.high - 2.0 * o.low).max(0.0),
            }),
            (Some(whole), None) => {
                let from = overhead_at_most.map_or(0.0, |o| (whole.low - 2.0 * o).max(0.0));
                let low = units::Seconds(from);
                // The upper end is that of L + 2 o, which is told once.
                notes.push(match (whole.high.is_finite(), from > 0.0) {
                    (true, true) => {
                        format!("L: it can't be parted from o; it is at least {low}, and no more than L + 2 o")
                    }
                    (true, false) => "L: it can't be parted from o; it is no more than L + 2 o".to_owned(),
                    (false, true) => format!("L: it can't be parted from o; it is at least {low}"),
                    (false, false) => "L: it can't be parted from o, and nothing bounds it".to_owned(),
                });
                None
            }
            _ => None,
        };
        Self { latency, overhead, overhead_at_most, gap, gap_per_byte, end_to_end, notes }
    }
}

/// Time of the smallest message.
fn smallest(curve: &Curve) -> Estimate {
    curve.points[0].estimate
}

/// What a byte adds to large messages, seconds: the slope over the last decade of sizes.
fn per_byte(curve: &Curve, rng: &mut ChaCha8Rng, notes: &mut Vec<String>) -> Option<Estimate> {
    let top = curve.points.last()?.size as f64;
    let large: Vec<usize> = (0..curve.points.len()).filter(|i| curve.points[*i].size as f64 >= LARGE * top).collect();
    let slope = |seconds: &[f64], of: &[usize]| {
        let points: Vec<(f64, f64, f64)> =
            of.iter().map(|i| (curve.points[*i].size as f64, seconds[*i], seconds[*i].powi(-2))).collect();
        stats::weighted_line(&points).map(|l| l.slope)
    };
    let sizes = large.iter().map(|i| curve.points[*i].size).collect::<std::collections::BTreeSet<u64>>();
    if sizes.len() < 3 || top < 1024.0 {
        notes.push("G: too few large sizes: at least three over the last decade, of 1 KiB or more".to_owned());
        return None;
    }
    let fit = |seconds: &[f64]| slope(seconds, &large).map(|s| [s]);
    let [found] = estimates(curve, [Scale::Plain], REFITS, rng, fit)?;
    if found.high.is_infinite() {
        notes.push(
            "G: so few rounds, or states of the machine that last so long, give it no interval (--budget)".to_owned(),
        );
        return None;
    }
    if found.low <= 0.0 {
        notes.push("G: larger messages take no longer here than the noise hides".to_owned());
        return None;
    }
    // The model has one G for all sizes; where the halves of the decade differ, it does not hold on this path.
    let (below, above) = large.split_at(large.len() / 2);
    let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
    if let (Some(a), Some(b)) = (slope(&seconds, below), slope(&seconds, above))
        && (a / b).ln().abs() > BENT.ln_1p()
    {
        notes.push(format!(
            "G: one does not hold over the last decade of sizes: {} in its lower half, {} in its upper",
            units::format::significant(a, units::Kind::SecondsPerByte),
            units::format::significant(b, units::Kind::SecondsPerByte)
        ));
    }
    Some(found)
}

/// The sender's time a message, where it surely did not wait for the path: by its shares of the gap, trial by trial, and their error.
fn overhead(
    sender: Option<&Sender>,
    gap: Option<Estimate>,
    notes: &mut Vec<String>,
) -> (Option<Estimate>, Option<f64>) {
    let seen = sender.filter(|s| s.busy.value > 0.0 && s.busy.value.is_finite());
    let (Some(sender), Some(_)) = (seen, gap) else {
        notes.push("o: no sender of a stream was seen (--pattern stream)".to_owned());
        return (None, None);
    };
    let shares: Vec<f64> = sender.shares.iter().copied().filter(|s| *s > 0.0 && s.is_finite()).collect();
    let interval = stats::rounds_interval(&shares, CONFIDENCE).unwrap_or(stats::Interval::UNBOUNDED);
    if interval.high < FREE {
        return (Some(sender.busy), None);
    }
    let busy = units::Seconds(sender.busy.value);
    notes.push(match interval.low < FREE {
        true => format!(
            "o: so few rounds, or so noisy ones, do not tell whether the stream's sender waits for the path ({busy} a message): o is no \
             more than that (--budget)"
        ),
        false => format!(
            "o: the stream's sender waits for the path ({busy} a message, as long as g): o is no more than that"
        ),
    });
    (None, Some(sender.busy.value))
}
