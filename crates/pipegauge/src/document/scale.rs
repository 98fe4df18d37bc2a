//! What `scale --json` prints.

use report::scaled::ScaledPath;
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `scale`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScaleDocument {
    /// `pipegauge-scale/1`.
    schema: &'static str,
    /// Every path that could be scaled.
    paths: Vec<ScaledPath>,
    /// What could not be done, and why, in words.
    missed: Vec<String>,
    /// Exit code: 1 where something is missed.
    exit: u8,
}

impl ScaleDocument {
    /// The paths.
    pub fn new(paths: Vec<ScaledPath>, missed: Vec<String>, exit: u8) -> Self {
        Self { schema: "pipegauge-scale/1", paths, missed, exit }
    }
}
