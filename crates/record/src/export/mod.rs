//! Exports: a run in the forms that other tools read.
//!
//! | function | form | paths |
//! |---|---|---|
//! | [`np`] | NetPIPE 3.7's `np.out` | one |
//! | [`np5`] | NetPIPE 5's output | one |
//! | [`csv`] | RFC 4180, a header with units in its names, a line a point ([`Row`]) | all |
//! | [`json`] | one object, schema [`EXPORT_SCHEMA`] ([`Document`]) | all |
//! | [`openmetrics`] | OpenMetrics text: gauges a point | all |
//! | [`parquet`] | a row a trial, with its point's figures; needs the feature of that name | all |
//!
//! Every form but Parquet holds figures, not trials; the run file itself holds both.

mod csv;
mod json;
mod np;
mod openmetrics;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, Write};

use measure::Pattern;
use measure::event::TimeKind;

use crate::{PathRun, RunFile};

pub use self::csv::csv;
pub use self::json::{Document, EXPORT_SCHEMA, ExportedPath, ExportedSummary, json};
pub use self::np::{np, np5};
pub use self::openmetrics::openmetrics;
pub use crate::columns::{Row, rows};

/// Why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no such path in the run.
    #[error("the run has no path {asked}: {}", if *there == 0 { "no path was opened".into() } else { format!("its paths are 0 to {}", there - 1) })]
    NoPath {
        /// Index asked for.
        asked: usize,
        /// Paths there are.
        there: usize,
    },
    /// The form has no place for what was measured.
    #[error("{form} has no place for the pattern {pattern:?} ({time:?} times): {why}; export as csv or json instead")]
    NoPlace {
        /// The form.
        form: &'static str,
        /// The run's pattern.
        pattern: Pattern,
        /// What its times are.
        time: TimeKind,
        /// Why.
        why: &'static str,
    },
    /// This program was built without the form.
    #[error(
        "this pipegauge was built without Parquet, which takes long to build; build it in with: cargo build --release --features parquet"
    )]
    WithoutParquet,
    /// The form's own library failed.
    #[error("writing {form}: {what}")]
    Form {
        /// The form.
        form: &'static str,
        /// What it said.
        what: String,
    },
    /// Writing failed.
    #[error("writing the export: {0}")]
    Write(#[from] io::Error),
}

/// Writes all paths as Parquet: a row a trial with its point's figures, and the run's header as JSON under the key
/// `pipegauge.run`. Without the feature `parquet` this only says how to build it in.
#[cfg(feature = "parquet")]
pub fn parquet(run: &RunFile, out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    parquet::parquet(run, out)
}

/// Writes all paths as Parquet: a row a trial with its point's figures, and the run's header as JSON under the key
/// `pipegauge.run`. Without the feature `parquet` this only says how to build it in.
#[cfg(not(feature = "parquet"))]
pub fn parquet(_run: &RunFile, _out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    Err(ExportError::WithoutParquet)
}

fn path_of(run: &RunFile, path: usize) -> Result<&PathRun, ExportError> {
    run.paths.get(path).ok_or(ExportError::NoPath { asked: path, there: run.paths.len() })
}
