//! Aligned text tables of a run: summary, fitted models, dips and steps, points, paths, warnings.

mod breaks;
mod fits;
mod grid;
mod jitter;
mod loggp;
mod points;
mod summary;
mod warnings;

pub use breaks::{breaks, digits, fate, found_words, suspect};
pub use fits::fits;
pub use jitter::jitter;
pub use loggp::loggp;
pub use points::points;
pub use summary::{paths, summary};
pub use warnings::{warnings, warnings_within};

pub(crate) use grid::{Flush, Grid};
pub(crate) use summary::effective;
pub(crate) use warnings::subject;

#[cfg(test)]
mod tests;
