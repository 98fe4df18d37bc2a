//! What `--json` prints. Each document names its schema and version; `pipegauge schema NAME` prints the JSON Schema, made
//! from these types. Fields may be added within a version; anything an old reader would misread raises it. Units are as
//! in the run file: seconds, bytes, bits a second, shares from 0 to 1.
//!
//! | module | documents of |
//! |---|---|
//! | [`results`] | `run`, `hint`, `show` |
//! | [`ask`], [`compare`], [`explain`], [`history`], [`jitter`], [`layers`], [`loggp`], [`scale`], [`sweep`], [`tables`] | the commands of these names |
//! | [`files`] | `plot`, `export`, `import` |
//! | [`here`] | `list`, `module`, `doctor`, `serve` |
//! | this one | `man`, `completions`, `schema`, and errors |

mod ask;
mod compare;
mod explain;
mod files;
mod here;
mod history;
mod jitter;
mod layers;
mod loggp;
mod results;
mod scale;
mod sweep;
mod tables;

use std::path::Path;

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

pub use ask::{Answered, AskDocument};
pub use compare::CompareDocument;
pub use explain::{ExplainDocument, Explained, Planned, Tested};
pub use files::{ExportDocument, ImportDocument, PlotDocument};
pub use here::{
    CheckedCase, DoctorDocument, FloorFigure, Happened, ListDocument, ListedOption, ListedTransport, ModuleDocument,
    Outcome, ServeDocument, Unusable,
};
pub use history::{HistoryDocument, HistoryOf};
pub use jitter::{JitterDocument, JitterOf, PercentilesAt};
pub use layers::LayersDocument;
pub use loggp::{LoggpDocument, LoggpOf};
pub use results::{HintDocument, Results, RunDocument, ShowDocument};
pub use scale::ScaleDocument;
pub use sweep::SweepDocument;
pub use tables::TablesDocument;

/// Names of the documents.
pub const NAMES: [&str; 25] = [
    "run",
    "sweep",
    "sweep-file",
    "hint",
    "list",
    "module",
    "show",
    "plot",
    "history",
    "compare",
    "ask",
    "layers",
    "explain",
    "jitter",
    "loggp",
    "tables",
    "scale",
    "export",
    "import",
    "serve",
    "doctor",
    "man",
    "completions",
    "schema",
    "error",
];

/// The schema of the document of this name.
pub fn schema(name: &str) -> Option<Schema> {
    Some(match name {
        "run" => schema_for!(RunDocument),
        "sweep" => schema_for!(SweepDocument),
        "sweep-file" => schema_for!(crate::config::sweep::PlanFile),
        "hint" => schema_for!(HintDocument),
        "list" => schema_for!(ListDocument),
        "module" => schema_for!(ModuleDocument),
        "show" => schema_for!(ShowDocument),
        "plot" => schema_for!(PlotDocument),
        "history" => schema_for!(HistoryDocument),
        "compare" => schema_for!(CompareDocument),
        "ask" => schema_for!(AskDocument),
        "layers" => schema_for!(LayersDocument),
        "explain" => schema_for!(ExplainDocument),
        "jitter" => schema_for!(JitterDocument),
        "loggp" => schema_for!(LoggpDocument),
        "tables" => schema_for!(TablesDocument),
        "scale" => schema_for!(ScaleDocument),
        "export" => schema_for!(ExportDocument),
        "import" => schema_for!(ImportDocument),
        "serve" => schema_for!(ServeDocument),
        "doctor" => schema_for!(DoctorDocument),
        "man" => schema_for!(ManDocument),
        "completions" => schema_for!(CompletionsDocument),
        "schema" => schema_for!(SchemaDocument),
        "error" => schema_for!(ErrorDocument),
        _ => return None,
    })
}

/// A file's name as it is printed.
fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Printed by any command that could not do what was asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// `pipegauge-error/1`.
    schema: &'static str,
    /// What was tried, what was found, what to do.
    error: String,
    /// Exit code.
    exit: u8,
}

impl ErrorDocument {
    /// An error.
    pub fn new(error: String, exit: u8) -> Self {
        Self { schema: "pipegauge-error/1", error, exit }
    }
}

/// Printed by `man`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManDocument {
    /// `pipegauge-man/1`.
    schema: &'static str,
    /// The page's name.
    name: String,
    /// The page, roff.
    page: String,
}

impl ManDocument {
    /// A page.
    pub fn new(name: String, page: String) -> Self {
        Self { schema: "pipegauge-man/1", name, page }
    }
}

/// Printed by `completions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionsDocument {
    /// `pipegauge-completions/1`.
    schema: &'static str,
    /// The shell.
    shell: String,
    /// Its script.
    script: String,
}

impl CompletionsDocument {
    /// A script.
    pub fn new(shell: String, script: String) -> Self {
        Self { schema: "pipegauge-completions/1", shell, script }
    }
}

/// Printed by `schema` without a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SchemaDocument {
    /// `pipegauge-schema/1`.
    schema: &'static str,
    /// Names that `schema` takes.
    names: Vec<String>,
}

impl SchemaDocument {
    /// The names.
    pub fn new(names: &[&str]) -> Self {
        Self { schema: "pipegauge-schema/1", names: names.iter().map(|n| (*n).to_owned()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_schema() {
        for name in NAMES {
            assert!(schema(name).is_some(), "{name}");
        }
        assert!(schema("nonsense").is_none());
    }
}
