//! The table of fitted models: figures of `table::fits`.

use maud::{Markup, html};
use model::{Estimate, Fits, Misfit};
use record::Analysis;
use units::format::resolved;
use units::{Bytes, Kind};

use super::pieces::{cell, estimate, letter, micro, none, row, scroll, section, table as grid, text};
use crate::misfit::typical;
use crate::table::startup_words;

/// A line's start-up time: one that can't be told from 0 is not shown.
fn startup(e: Estimate) -> Markup {
    startup_words(e).map_or_else(|| estimate(e, Kind::Seconds), |words| text(&micro(&words)))
}

fn misfit(m: Option<&Misfit>) -> Markup {
    m.map_or_else(none, |m| html! { (typical(m)) @if m.systematic { small { "the shape is wrong" } } })
}

/// Latency line, bandwidth curve and saturation point of each path, and what does not fit; empty where nothing was fitted.
pub fn table(runs: &[&Analysis<'_>]) -> Markup {
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for (r, run) in runs.iter().enumerate() {
        for (index, path) in run.paths.iter().enumerate() {
            let Some(fits) = run.fits(index) else { continue };
            let name = format!("{}{}", letter("", r, runs.len(), " "), path.opened.name());
            rows.push(row(&name, &cells(fits)));
            notes.extend(remarks(&name, fits));
        }
    }
    if rows.is_empty() {
        return Markup::default();
    }
    let heads = ["Path", "b, per byte", "t0", "Misfit", "Rmax", "n½", "Misfit", "Saturation point"];
    let body = html! {
        p.note {
            "Latency line t0 + b B and bandwidth curve Rmax B / (n½ + B) over messages of B bytes; the saturation point is the size \
             beyond which time grows with size. The button Fits draws them."
        }
        (scroll("What models fit", &grid(&heads, &rows)))
        details { summary { "Pieces and misfits" } ul.note { @for note in &notes { li { (note) } "\n" } } }
    };
    section("models", "What models fit", &body)
}

fn cells(fits: &Fits) -> [Markup; 7] {
    let (all, bandwidth) = (fits.latency.all.as_ref(), fits.bandwidth.as_ref());
    [
        cell(all.map(|l| l.per_byte), Kind::SecondsPerByte),
        all.map_or_else(none, |l| startup(l.t0)),
        misfit(all.map(|l| &l.misfit)),
        cell(bandwidth.map(|b| b.r_max), Kind::BitsPerSecond),
        cell(bandwidth.map(|b| b.n_half), Kind::Bytes),
        misfit(bandwidth.map(|b| &b.misfit)),
        cell(fits.saturation.as_ref().map(|s| s.point), Kind::Bytes),
    ]
}

/// What does not fit a path, and the pieces of its line.
fn remarks(name: &str, fits: &Fits) -> Vec<String> {
    let warnings = fits.warnings.iter().map(|warning| format!("{name}: {warning}"));
    let pieces = fits.latency.pieces.iter().map(|piece| {
        let figure = |e: Estimate, kind| micro(&resolved(e.value, e.low, e.high, kind));
        let t0 = startup_words(piece.t0).map_or_else(|| figure(piece.t0, Kind::Seconds), |words| micro(&words));
        let per_byte = figure(piece.per_byte, Kind::SecondsPerByte);
        format!("{name}, {} to {}: t0 {t0}, b {per_byte}", Bytes(piece.from), Bytes(piece.to))
    });
    warnings.chain(pieces).collect()
}
