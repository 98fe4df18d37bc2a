//! What warnings are made from: a point with its figures and trials, and a text under a code.

use crate::event::{Figures, Trial, Warning, Why};

/// A point as the warnings use it.
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
