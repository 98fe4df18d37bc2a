//! What `--json` prints. Each document names its schema and version; `pipegauge schema NAME` prints the JSON Schema, made
//! from these types. Fields may be added within a version; anything an old reader would misread raises it. Units are as
//! in the run file: seconds, bytes, bits a second, shares from 0 to 1.

use std::path::Path;

use measure::event::{End, Figures, PathOpened, Run, TimeKind, Warning, Why};
use model::Summary;
use record::RunFile;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use transport::{Capabilities, Kind};

/// Every document's name and the maker of its schema.
pub fn schemas() -> Vec<(&'static str, fn() -> Schema)> {
    vec![
        ("run", || schema_for!(RunDocument)),
        ("list", || schema_for!(ListDocument)),
        ("show", || schema_for!(ShowDocument)),
        ("plot", || schema_for!(PlotDocument)),
        ("export", || schema_for!(ExportDocument)),
        ("import", || schema_for!(ImportDocument)),
        ("serve", || schema_for!(ServeDocument)),
        ("doctor", || schema_for!(DoctorDocument)),
        ("man", || schema_for!(ManDocument)),
        ("completions", || schema_for!(CompletionsDocument)),
        ("schema", || schema_for!(SchemaDocument)),
        ("error", || schema_for!(ErrorDocument)),
    ]
}

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

/// The results of a run: `export --format json` has every trial as well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results {
    /// The run's header.
    header: Run,
    /// The paths, in the order of the plan.
    paths: Vec<PathResults>,
    /// What a reader of the figures must know.
    warnings: Vec<Warning>,
    /// The run's end; none where it was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    /// How the run file ends short, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

/// One path's results.
#[derive(Debug, Serialize, JsonSchema)]
struct PathResults {
    /// How the path was opened.
    opened: PathOpened,
    /// Latency, small-message time per byte, maximum throughput, half-power size; none where there are too few points.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    /// Points, ascending by size.
    points: Vec<PointResults>,
}

/// One point.
#[derive(Debug, Serialize, JsonSchema)]
struct PointResults {
    /// Block size, bytes.
    size: u64,
    /// Which time the figures are.
    time: TimeKind,
    /// Why it ended; none where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    /// The figures.
    #[serde(flatten)]
    figures: Figures,
}

impl Results {
    /// The results in a run file.
    pub fn of(run: &RunFile) -> Self {
        let paths = run.paths.iter().enumerate().map(|(n, path)| PathResults {
            opened: path.opened.clone(),
            summary: run.summary(n),
            points: path
                .points
                .iter()
                .map(|p| PointResults { size: p.size, time: p.time, why: p.why, figures: p.figures })
                .collect(),
        });
        Self {
            header: run.run.clone(),
            paths: paths.collect(),
            warnings: run.warnings.clone(),
            end: run.end.clone(),
            cut: run.cut.clone(),
        }
    }
}

/// Printed by `run`. Its name differs from the run file's own schema, `pipegauge-run/1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// `pipegauge-run-result/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// The HTML report, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// Exit code: 0 all as asked, 1 something fell short, 2 nothing could be measured.
    exit: u8,
    /// What ended the run early, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The results.
    #[serde(flatten)]
    results: Results,
}

impl RunDocument {
    /// A run's end.
    pub fn new(run_file: &Path, html: Option<&Path>, exit: u8, error: Option<String>, results: Results) -> Self {
        Self { schema: "pipegauge-run-result/1", run_file: text(run_file), html: html.map(text), exit, error, results }
    }
}

/// Printed by `show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowDocument {
    /// `pipegauge-show/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// The results.
    #[serde(flatten)]
    results: Results,
}

impl ShowDocument {
    /// A run file's contents.
    pub fn new(run_file: &Path, results: Results) -> Self {
        Self { schema: "pipegauge-show/1", run_file: text(run_file), results }
    }
}

/// Printed by `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDocument {
    /// `pipegauge-list/1`.
    schema: &'static str,
    /// The transports.
    transports: Vec<ListedTransport>,
}

impl ListDocument {
    /// A list.
    pub fn new(transports: Vec<ListedTransport>) -> Self {
        Self { schema: "pipegauge-list/1", transports }
    }
}

/// One transport.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTransport {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Whether it can be used on this host.
    pub available: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ListedTransport {
    /// What is known of a kind here.
    pub fn of(kind: Kind) -> Self {
        let unavailable = kind.availability().err();
        Self {
            name: kind.name(),
            summary: kind.summary(),
            available: unavailable.is_none(),
            unavailable,
            capabilities: kind.capabilities(),
        }
    }
}

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

/// Printed by `serve`, one on each line as things happen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServeDocument {
    /// `pipegauge-serve/1`.
    pub schema: &'static str,
    /// What happened.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What can happen to `serve`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Happened {
    /// It waits.
    Listening {
        /// Where.
        address: String,
        /// The address as another host reaches it.
        reach: String,
        /// The key that the other host must show.
        key: String,
        /// The line to type there.
        command: String,
    },
    /// A peer with the right key came.
    Met {
        /// Who.
        peer: String,
    },
    /// Somebody was turned away.
    Refused {
        /// Who.
        peer: String,
        /// Why.
        why: String,
    },
    /// A measurement ended.
    Ended {
        /// With whom.
        peer: String,
        /// How.
        how: String,
    },
}

/// Printed by `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument {
    /// `pipegauge-doctor/1`.
    schema: &'static str,
    /// What was found, each with its remedy.
    findings: Vec<host::doctor::Finding>,
    /// The floor program's figures on this machine, seconds of a 1-byte half round trip.
    floor: Vec<FloorFigure>,
}

impl DoctorDocument {
    /// A diagnosis.
    pub fn new(findings: Vec<host::doctor::Finding>, floor: Vec<FloorFigure>) -> Self {
        Self { schema: "pipegauge-doctor/1", findings, floor }
    }
}

/// The floor of one path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FloorFigure {
    /// tcp, unix or shm.
    pub path: &'static str,
    /// Seconds of a 1-byte half round trip; none where the floor program could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<f64>,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
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
