//! JSON: one object, with the figures, their summary and all that was recorded about the run.

use std::io::{BufWriter, Write};

use measure::event::{End, PathOpened, Run, Warning};
use model::{Estimate, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExportError;
use crate::columns::Row;
use crate::{Analysis, RunFile};

/// Name and version of the JSON export's schema.
pub const EXPORT_SCHEMA: &str = "pipegauge-export/1";

/// The JSON export. Fields may be added within schema 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// [`EXPORT_SCHEMA`].
    pub schema: String,
    /// The run's header.
    pub run: Run,
    /// The paths.
    pub paths: Vec<ExportedPath>,
    /// What a reader of the figures must know.
    pub warnings: Vec<Warning>,
    /// The end of the run; none where it was cut off.
    pub end: Option<End>,
    /// How the run file ends short, in words; none where it is whole.
    pub cut: Option<String>,
}

/// One path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedPath {
    /// How it was opened.
    pub opened: PathOpened,
    /// Its figures in short; none where too few points were measured.
    pub summary: Option<ExportedSummary>,
    /// Its points, ascending by size.
    pub points: Vec<Row>,
}

/// A path's figures in short, each with its 95% interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedSummary {
    /// Time of the smallest message, seconds.
    pub latency_s: Estimate,
    /// That message's size, bytes.
    pub latency_size_bytes: u64,
    /// Time that each further byte of a small message costs, seconds.
    pub per_byte_s: Option<Estimate>,
    /// Largest throughput, bits a second; absent of a run on a schedule (`--rate`), as are the three below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_throughput_bits_per_s: Option<Estimate>,
    /// Size at which it was reached, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_throughput_size_bytes: Option<u64>,
    /// Half-power point: the smallest size at which half of the largest throughput is reached, bytes.
    pub half_power_bytes: Option<Estimate>,
    /// The throughput still rises at the largest size: larger messages would reach more. Absent where nothing tells it, as where the
    /// largest throughput has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_rising: Option<bool>,
}

impl ExportedSummary {
    fn of(s: &Summary, carries: bool) -> Self {
        Self {
            latency_s: s.latency,
            latency_size_bytes: s.latency_size,
            per_byte_s: s.per_byte,
            max_throughput_bits_per_s: carries.then_some(s.max_throughput),
            max_throughput_size_bytes: carries.then_some(s.max_size),
            half_power_bytes: s.half_power.filter(|_| carries),
            still_rising: s.still_rising.filter(|_| carries),
        }
    }
}

impl Document {
    /// The export of a run.
    pub fn of(run: &Analysis<'_>) -> Self {
        let paths = run.paths.iter().enumerate().map(|(i, path)| ExportedPath {
            opened: path.opened.clone(),
            // The points of a soak are intervals, which make no curve.
            summary: match run.run.plan.soaks() {
                true => None,
                false => run.summary(i).map(|s| ExportedSummary::of(s, run.carries())),
            },
            points: path.points.iter().map(|point| Row::of(run, path, point)).collect(),
        });
        Self {
            schema: EXPORT_SCHEMA.into(),
            run: run.run.clone(),
            paths: paths.collect(),
            warnings: run.warnings.clone(),
            end: run.end.clone(),
            cut: run.cut.clone(),
        }
    }
}

/// Writes a run as one JSON object on one line ([`Document`]).
pub fn json(run: &RunFile, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, &Document::of(&Analysis::of(run))).map_err(|e| match e.io_error_kind() {
        Some(_) => ExportError::Write(e.into()),
        None => ExportError::Form { form: "json", what: e.to_string() },
    })?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn text(run: &RunFile) -> Vec<u8> {
        let mut text = Vec::new();
        json(run, &mut text).unwrap();
        text
    }

    #[test]
    fn reads_back_as_the_same_document() {
        let run = sample::file();
        let back: Document = serde_json::from_slice(&text(&run)).unwrap();
        assert_eq!(back, Document::of(&Analysis::of(&run)));
        assert_eq!(back.schema, "pipegauge-export/1");
        assert_eq!(back.paths[0].points.len(), 4);
        assert!(back.paths[0].summary.is_some());
    }

    #[test]
    fn conforms_to_its_schema_and_broken_ones_do_not() {
        let validator = jsonschema::validator_for(&crate::schema::export_schema()).unwrap();
        let mut run = sample::file();
        let whole: serde_json::Value = serde_json::from_slice(&text(&run)).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&whole).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        run.paths.clear();
        run.end = None;
        run.cut = Some("cut".into());
        assert!(validator.is_valid(&serde_json::from_slice(&text(&run)).unwrap()));
        let mut broken = whole.clone();
        broken["paths"][0]["points"][0]["median_s"] = "slow".into();
        assert!(!validator.is_valid(&broken));
        let mut broken = whole;
        broken.as_object_mut().unwrap().remove("run");
        assert!(!validator.is_valid(&broken));
    }

    #[test]
    fn a_full_disk_is_said() {
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = json(&sample::file(), &mut full).unwrap_err().to_string();
        assert!(said.contains("No space left"), "{said}");
    }
}
