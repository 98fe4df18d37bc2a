//! Aligned text tables of a run: summary, fitted models, dips and steps, points, paths, warnings.

mod breaks;
mod cautions;
mod fits;
mod grid;
mod hint;
mod jitter;
mod loggp;
mod machine;
mod points;
mod state;
mod summary;
mod warnings;

pub use breaks::{breaks, digits, fate, found_words, none_found, suspect};
pub use cautions::{Caution, cautions, grouped, trust};
pub use fits::fits;
pub use hint::{hint, hint_points};
pub use jitter::jitter;
pub use loggp::loggp;
pub use machine::machine;
pub use points::points;
pub use state::{rounds, state};
pub use summary::{paths, startup_words, summary};
pub use warnings::{warnings, warnings_within};

pub(crate) use grid::{Flush, Grid};
pub(crate) use machine::machine_of;
pub(crate) use summary::{cost, effective, estimate, start_time};
pub(crate) use warnings::subject;

use record::RunFile;

/// [`summary`] and [`fits`] of a run, each path analysed once.
pub fn summary_and_fits(run: &RunFile) -> (String, String) {
    let found = fits::analyses(run);
    let summaries: Vec<_> = found.iter().map(|a| a.summary.clone()).collect();
    (summary::summary_of(run, &summaries), fits::fits_of(run, &found))
}

#[cfg(test)]
mod tests;
