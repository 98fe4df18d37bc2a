//! What `jitter --json` prints.

use std::path::Path;

use measure::event::Percentiles;
use model::Jitter;
use schemars::JsonSchema;
use serde::Serialize;

use super::text;

/// Printed by `jitter`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JitterDocument {
    /// `pipegauge-jitter/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// Each path, in the order of the run.
    paths: Vec<JitterOf>,
}

impl JitterDocument {
    /// What was found.
    pub fn new(run_file: &Path, paths: Vec<JitterOf>) -> Self {
        Self { schema: "pipegauge-jitter/1", run_file: text(run_file), paths }
    }
}

/// One path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JitterOf {
    /// Transport.
    pub path: String,
    /// Outliers, drift, periods.
    #[serde(flatten)]
    pub jitter: Jitter,
    /// Percentiles of single iterations over size, where they were timed.
    pub percentiles: Vec<PercentilesAt>,
}

/// Percentiles of one size.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PercentilesAt {
    /// Message size, bytes.
    pub size: u64,
    /// Iterations that they rest on.
    pub iterations: u64,
    /// The percentiles, seconds of the point's time kind.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}
