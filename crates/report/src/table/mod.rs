//! Aligned text tables of a run: summary, points, paths, warnings.

mod grid;
mod points;
mod summary;
mod warnings;

pub use points::points;
pub use summary::{paths, summary};
pub use warnings::warnings;

pub(crate) use summary::effective;
pub(crate) use warnings::subject;

#[cfg(test)]
mod tests;
