//! What `compare --json` prints.

use std::path::Path;

use model::{Comparison, Finding};
use record::Difference;
use report::compare::{CpuRatio, Judged, Named, verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `compare`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareDocument {
    /// `pipegauge-compare/1`.
    schema: &'static str,
    /// The comparisons.
    comparisons: Vec<Compared>,
    /// Paths of a single run that were not compared, with the reason; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    /// The run files that were just measured and the report, of `run --vs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<SidesOfRun>,
    /// Exit code: 1 where a limit was exceeded, and where something of `run --vs` fell short; 2 where the runs can't tell whether one was.
    exit: u8,
}

/// What `run --vs` leaves.
#[derive(Debug, Serialize, JsonSchema)]
struct SidesOfRun {
    /// The run files of the first and the second side.
    run_files: Vec<String>,
    /// The report of both, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    /// What ended the run early, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
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
    /// What it comes to: `differ`, `no_difference`, or why there is no verdict.
    finding: Finding,
    /// Whether it is a verdict on what was measured. False where too few runs tell how far runs of one thing lie apart, and where rounds are too few
    /// or others took of the CPUs: stretches that differ and sizes that are significant are then facts of these runs.
    judged: bool,
    /// The comparison, size by size.
    #[serde(flatten)]
    comparison: Comparison,
    /// CPU time of a transfer on the near and on the far side; empty where one of the sides does not tell it.
    cpu: Vec<CpuRatio>,
    /// What differs in the circumstances.
    differences: Vec<Difference>,
    /// The limits and what they say.
    #[serde(rename = "gates")]
    limits: Vec<Judged>,
}

impl CompareDocument {
    /// The comparisons, and what was left out.
    pub fn new(all: &[Named], left_out: Option<String>, exit: u8) -> Self {
        let comparisons = all.iter().map(|n| Compared {
            first: n.first.clone(),
            second: n.second.clone(),
            runs: n.runs,
            verdict: verdict(n),
            finding: n.finding(),
            judged: n.finding().is_verdict(),
            comparison: n.comparison.clone(),
            cpu: n.cpu.clone(),
            differences: n.differences.clone(),
            limits: n.limits.clone(),
        });
        Self { schema: "pipegauge-compare/1", comparisons: comparisons.collect(), left_out, run: None, exit }
    }

    /// The comparison at the end of `run --vs`.
    pub fn of_run(all: &[Named], exit: u8, files: &[String], report: Option<&Path>, error: Option<String>) -> Self {
        let run = SidesOfRun { run_files: files.to_vec(), report: report.map(super::text), error };
        Self { run: Some(run), ..Self::new(all, None, exit) }
    }
}
