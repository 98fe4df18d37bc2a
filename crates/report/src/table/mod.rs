//! Aligned text tables of a run: summary, fitted models, points, paths, warnings.

mod fits;
mod grid;
mod points;
mod summary;
mod warnings;

pub use fits::fits;
pub use points::points;
pub use summary::{paths, summary};
pub use warnings::warnings;

pub(crate) use grid::{Flush, Grid};
pub(crate) use summary::{effective, estimate};
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
