//! What `compare --json` prints.

use model::Comparison;
use record::Difference;
use report::compare::{Gated, Named, verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `compare`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareDocument {
    /// `pipegauge-compare/1`.
    schema: &'static str,
    /// The comparisons.
    comparisons: Vec<Compared>,
    /// Exit code: 1 where a limit was passed.
    exit: u8,
}

/// One comparison.
#[derive(Debug, Serialize, JsonSchema)]
struct Compared {
    /// The first side.
    first: String,
    /// The second side, which is held against the first.
    second: String,
    /// Runs of each side.
    runs: (usize, usize),
    /// The verdict in words.
    verdict: String,
    /// The comparison, size by size.
    #[serde(flatten)]
    comparison: Comparison,
    /// What differs in the circumstances.
    differences: Vec<Difference>,
    /// The limits and what they say.
    gates: Vec<Gated>,
}

impl CompareDocument {
    /// The comparisons.
    pub fn new(all: &[Named], exit: u8) -> Self {
        let comparisons = all.iter().map(|n| Compared {
            first: n.first.clone(),
            second: n.second.clone(),
            runs: n.runs,
            verdict: verdict(n),
            comparison: n.comparison.clone(),
            differences: n.differences.clone(),
            gates: n.gates.clone(),
        });
        Self { schema: "pipegauge-compare/1", comparisons: comparisons.collect(), exit }
    }
}
