//! Pictures: terminal, SVG, PNG and one-file HTML.
//!
//! A run becomes [`curve::Series`] (points with their intervals), series become a [`figure::Figure`] (what is drawn on which axes, in words
//! and numbers), and a figure becomes a picture. Only [`curve`] takes points from a run file, only [`graph`] knows what a signature graph
//! is, and the renderers know neither.
//!
//! | module | job |
//! |---|---|
//! | `cost` | what a transfer takes of the CPU of each side, as curves |
//! | [`curve`] | points of each path, taken from run files in one place |
//! | `doublings` | of many sizes those a factor of two apart, for tables |
//! | `pt` | a point of a curve as it is drawn |
//! | [`overlay`] | what is drawn over a curve: dips, steps, fitted models |
//! | [`scale`] | linear and logarithmic axes, their ticks and labels |
//! | [`graph`] | which graphs there are: the names, words, axes and places of each |
//! | [`figure`] | a graph of curves: axes, lines, bands, notes, without pixels |
//! | [`text`] | words in lines of so many columns |
//! | [`terminal`] | braille graph for a terminal |
//! | [`table`] | aligned text tables: summary, points, paths, warnings |
//! | [`svg`] | paper-quality SVG, written by hand |
//! | [`png`] | the same picture as pixels, with an embedded font |
//! | [`compare`] | comparisons in words, as a table, Markdown and JUnit XML |
//! | [`layers`] | what each layer adds, in words, as a table and a figure |
//! | `flows` | what connections carry together over their number, as curves |
//! | `load` | percentiles of a path over the number of flows that load it, as curves |
//! | `rates` | the share of messages lost over the offered rate, as curves |
//! | `tcp` | the kernel's figures of a TCP connection over the time, as curves |
//! | `soak` | the curves of the graphs over the time: a soak's intervals |
//! | `levels` | the machine's state over the time: the level of each round |
//! | `misfit` | how far a model lies from what was measured, in words |
//! | [`precision`] | how sure a run is of each point, as a figure |
//! | [`scaled`] | what paths would take elsewhere, estimated and actual |
//! | [`sweep`] | a sweep's cells and effects as tables, which to take in words, heat maps |
//! | `sheet` | titled tables with notes, as text and Markdown |
//! | [`tables`] | the papers' tables of several paths, as text and Markdown |
//! | [`html`] | one self-contained page with its data and the run file; its script is built from `web/` |
//! | [`words`] | phrases that several pictures share |

pub mod compare;
mod cost;
pub mod curve;
mod doublings;
pub mod figure;
mod flows;
pub mod graph;
pub mod html;
pub mod layers;
mod levels;
mod load;
mod misfit;
pub mod overlay;
pub mod png;
pub mod precision;
mod pt;
mod rates;
pub mod scale;
pub mod scaled;
mod sheet;
mod soak;
pub mod svg;
pub mod sweep;
pub mod table;
pub mod tables;
mod tcp;
pub mod terminal;
pub mod text;
pub mod words;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

pub use curve::Series;
pub use figure::Figure;
pub use graph::Graph;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The SVG text could not be read back.
    #[error("the picture could not be read as SVG: {0}; only text from svg::draw is drawn")]
    Svg(String),
    /// The picture would be empty, or larger than memory should hold.
    #[error("a picture of {width} x {height} pixels can't be drawn; choose a scale between 0.1 and 8")]
    Size {
        /// Width asked, pixels.
        width: u64,
        /// Height asked, pixels.
        height: u64,
    },
    /// The pixels could not be written as PNG.
    #[error("the picture could not be written as PNG: {0}")]
    Png(String),
}
