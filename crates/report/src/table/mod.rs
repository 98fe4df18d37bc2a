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

#[cfg(test)]
mod tests;
