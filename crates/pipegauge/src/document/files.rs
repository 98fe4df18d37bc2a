//! What was written: documents of `plot`, `export` and `import`.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::text;

/// Printed by `plot`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlotDocument {
    /// `pipegauge-plot/1`.
    schema: &'static str,
    /// The file that was written.
    output: String,
    /// svg, png or html.
    format: String,
    /// Its length, bytes.
    bytes: u64,
}

impl PlotDocument {
    /// A picture that was written.
    pub fn new(output: &Path, format: String, bytes: u64) -> Self {
        Self { schema: "pipegauge-plot/1", output: text(output), format, bytes }
    }
}

/// Printed by `export`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExportDocument {
    /// `pipegauge-export-result/1`.
    schema: &'static str,
    /// np, csv, json, parquet or openmetrics.
    format: String,
    /// Its length, bytes.
    bytes: u64,
    /// The file that was written, with `-o`.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The export itself, without `-o`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl ExportDocument {
    /// An export that went to a file.
    pub fn written(format: String, output: &Path, bytes: u64) -> Self {
        Self { schema: "pipegauge-export-result/1", format, bytes, output: Some(text(output)), content: None }
    }

    /// An export within the document.
    pub fn inline(format: String, content: String) -> Self {
        let bytes = content.len() as u64;
        Self { schema: "pipegauge-export-result/1", format, bytes, output: None, content: Some(content) }
    }
}

/// Printed by `import`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportDocument {
    /// `pipegauge-import/1`.
    schema: &'static str,
    /// The file that was read.
    input: String,
    /// The run file that was written.
    run_file: String,
    /// Points in it.
    points: u64,
}

impl ImportDocument {
    /// A file that was imported.
    pub fn new(input: &Path, run_file: &Path, points: u64) -> Self {
        Self { schema: "pipegauge-import/1", input: text(input), run_file: text(run_file), points }
    }
}
