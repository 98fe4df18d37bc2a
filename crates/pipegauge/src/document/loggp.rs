//! What `loggp --json` prints.

use model::LogGp;
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `loggp`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoggpDocument {
    /// `pipegauge-loggp/1`.
    schema: &'static str,
    /// Each path.
    paths: Vec<LoggpOf>,
}

impl LoggpDocument {
    /// What was found.
    pub fn new(paths: Vec<LoggpOf>) -> Self {
        Self { schema: "pipegauge-loggp/1", paths }
    }
}

/// One path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoggpOf {
    /// Transport.
    pub path: String,
    /// Patterns that it was measured under.
    pub patterns: Vec<&'static str>,
    /// Its parameters.
    #[serde(flatten)]
    pub parameters: LogGp,
}
