//! What warnings are made of: a point as the judge sees it, and a text under a name.

use crate::event::{Figures, Trial, Warning, Why};

/// A point as the judge sees it.
pub struct Judged<'a> {
    /// Bytes.
    pub size: u64,
    /// Its figures.
    pub figures: Figures,
    /// Its trials.
    pub trials: &'a [Trial],
    /// Why it ended.
    pub ended: Option<Why>,
}

/// A warning of these sizes.
pub(crate) fn warning(code: &str, sizes: Vec<u64>, text: String) -> Warning {
    Warning { code: code.into(), path: None, sizes, text }
}
