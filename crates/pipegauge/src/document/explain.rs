//! What `explain --json` prints.

use std::path::Path;

use model::{Break, Fate, Knob, Suspect};
use schemars::JsonSchema;
use serde::Serialize;

use super::text;

/// Printed by `explain`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainDocument {
    /// `pipegauge-explain/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// Each break, path by path; empty where the curves are smooth.
    breaks: Vec<Explained>,
    /// What was measured for it; empty where nothing was.
    run_files: Vec<String>,
}

impl ExplainDocument {
    /// What was found.
    pub fn new(run_file: &Path, breaks: Vec<Explained>, run_files: &[std::path::PathBuf]) -> Self {
        Self {
            schema: "pipegauge-explain/1",
            run_file: text(run_file),
            breaks,
            run_files: run_files.iter().map(|f| text(f)).collect(),
        }
    }
}

/// A break and what is behind it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// Transport.
    pub path: String,
    /// The break.
    pub found: Break,
    /// Constants of the path, the one nearest to an edge first.
    pub suspects: Vec<Suspect>,
    /// What became of it when it was measured again as before; none where it was not.
    pub again: Option<Fate>,
    /// What would be moved, with `--dry-run`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub planned: Vec<Planned>,
    /// What became of it with each knob moved, against what it was when it was measured again as before.
    pub tested: Vec<Tested>,
    /// What became of it when it was measured once more as before, after all knobs; none where none seemed to make a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once_more: Option<Fate>,
    /// Knobs that this path does not have, each with why; or why none can be moved.
    pub fixed: Vec<String>,
    /// What follows, in words.
    pub verdict: String,
}

/// A knob that would be moved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Planned {
    /// Which.
    pub knob: Knob,
    /// From what to what.
    pub change: String,
}

/// A knob that was moved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tested {
    /// Which.
    pub knob: Knob,
    /// From what to what.
    pub change: String,
    /// What became of the break; none where the measurement failed.
    pub fate: Option<Fate>,
    /// Why the measurement failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
