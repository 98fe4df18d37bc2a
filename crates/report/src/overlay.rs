//! What is drawn over a path's curve: marks at its dips and steps and, where asked, fitted models.

use model::{Break, Fits};
use record::Analysis;
use serde::Serialize;

use crate::pt::{Pt, clean};
use crate::table::digits;

/// A range of sizes that is marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// What it is, in a word: `dip`, `step`.
    pub kind: &'static str,
    /// First size within, bytes; of a step, the first after it.
    pub from: u64,
    /// Last size within; of a step, as `from`.
    pub to: u64,
    /// Its label.
    pub label: String,
}

/// All that is drawn over one curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlay {
    /// Dips and steps, ascending.
    pub marks: Vec<Mark>,
    /// Fitted curves, each by ascending size: the bandwidth curve where it follows the path, else the pieces that do.
    pub fitted: Vec<Vec<Pt>>,
    /// The saturation point.
    pub knee: Option<Pt>,
}

/// The dips and steps of the path at this index.
pub fn marks(run: &Analysis<'_>, path: usize) -> Vec<Mark> {
    let mark = |found: Break| match found {
        Break::Dip(d) => Mark {
            kind: "dip",
            from: d.from.above,
            to: d.to.below,
            label: format!("dip, {}x the time: {} to {}", digits(d.factor.value), size(d.from.above), size(d.to.below)),
        },
        Break::Step(s) => Mark {
            kind: "step",
            from: s.at.above,
            to: s.at.above,
            label: format!("step, {}x the time: {}", digits(s.factor.value), size(s.at.above)),
        },
    };
    run.breaks(path).all().into_iter().map(mark).collect()
}

/// A size in few digits: the picture shows where it lies.
fn size(bytes: u64) -> String {
    units::short(bytes as f64, units::Kind::Bytes)
}

/// The marks of a path and, if `fits`, its fitted curves over the sizes of `points`.
pub fn overlay(run: &Analysis<'_>, path: usize, points: &[Pt], fits: bool) -> Overlay {
    let marks = marks(run, path);
    // Models are fitted hundreds of times for their intervals: only where they are drawn.
    match fits.then(|| run.fits(path)).flatten() {
        Some(fits) => Overlay { marks, fitted: fitted(fits, points), knee: knee(fits, points) },
        None => Overlay { marks, ..Overlay::default() },
    }
}

/// A point of a model: the size and the bits of a measured point, with another time (seconds).
fn modelled(p: &Pt, seconds: f64) -> Option<Pt> {
    clean(Pt { seconds, throughput: p.throughput_at(seconds), interval: None, min: seconds, warned: false, ..*p })
}

fn fitted(fits: &Fits, points: &[Pt]) -> Vec<Vec<Pt>> {
    let line = |from: u64, to: u64, t0: f64, per_byte: f64| -> Vec<Pt> {
        let within = points.iter().filter(|p| (from..=to).contains(&p.size));
        within.filter_map(|p| modelled(p, t0 + per_byte * p.size as f64)).collect()
    };
    if !fits.latency.pieces.is_empty() {
        return fits.latency.pieces.iter().map(|p| line(p.from, p.to, p.t0.value, p.per_byte.value)).collect();
    }
    if let Some(b) = fits.bandwidth.as_ref().filter(|b| !b.misfit.systematic) {
        // y = Rmax x / (n1/2 + x) as a time: that of the point's own bits at this rate.
        let time = |p: &Pt| {
            let rate = b.r_max.value * p.size as f64 / (b.n_half.value + p.size as f64);
            modelled(p, p.throughput * p.seconds / rate)
        };
        return vec![points.iter().filter_map(time).collect()];
    }
    fits.latency.all.iter().map(|l| line(l.sizes.0, l.sizes.1, l.t0.value, l.per_byte.value)).collect()
}

/// The saturation point, with the bits that the nearest measured point has for each byte.
fn knee(fits: &Fits, points: &[Pt]) -> Option<Pt> {
    let s = fits.saturation.as_ref()?;
    let at = s.point.value;
    let near = points.iter().min_by(|a, b| (a.size as f64 - at).abs().total_cmp(&(b.size as f64 - at).abs()))?;
    let throughput = near.throughput * near.seconds * (at / near.size as f64) / s.seconds;
    clean(Pt { size: at as u64, seconds: s.seconds, throughput, interval: None, min: s.seconds, warned: false })
}
