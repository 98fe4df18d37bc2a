//! What `history --json` prints.

use std::collections::BTreeMap;

use record::history::Key;
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `history`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryDocument {
    /// `pipegauge-history/1`.
    schema: &'static str,
    /// The folder.
    folder: String,
    /// Paths of which earlier runs are kept (after `clear`: still kept).
    paths: Vec<HistoryOf>,
    /// What was wrong with files of the folder.
    notes: Vec<String>,
    /// Paths that `clear` forgot; none of other commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<usize>,
}

impl HistoryDocument {
    /// What is kept.
    pub fn new(folder: String, paths: Vec<HistoryOf>, notes: Vec<String>, cleared: Option<usize>) -> Self {
        Self { schema: "pipegauge-history/1", folder, paths, notes, cleared }
    }
}

/// Earlier runs of one path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryOf {
    /// Its id, which `history clear` takes.
    pub id: String,
    /// Transport.
    pub transport: String,
    /// Pattern.
    pub pattern: String,
    /// Runs that are kept.
    pub runs: usize,
    /// Start of the oldest, RFC 3339, UTC.
    pub from: Option<String>,
    /// Start of the youngest.
    pub to: Option<String>,
    /// Standard deviation of the logarithms of whole curves' levels between the runs; none of one run.
    pub spread: Option<f64>,
    /// Its degrees of freedom.
    pub degrees: Option<f64>,
    /// What tells it from other paths of its transport and pattern.
    pub unlike: Vec<String>,
    /// Everything that its runs have in common: names and values.
    #[schemars(with = "BTreeMap<String, String>")]
    pub key: Key,
}
