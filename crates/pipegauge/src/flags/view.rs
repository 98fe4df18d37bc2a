//! Flags of every subcommand but `run`.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use report::Graph;

use super::value;

/// `--graph`: the names in the report's table of graphs.
fn graph() -> impl TypedValueParser<Value = Graph> {
    let names = Graph::named().map(|(graph, help)| PossibleValue::new(graph.name()).help(help));
    PossibleValuesParser::new(names).try_map(|name| {
        Graph::named().map(|(graph, _)| graph).find(|graph| graph.name() == name).ok_or("there is no such graph")
    })
}

/// Show a run file.
#[derive(Debug, Clone, Args)]
pub struct ShowFlags {
    /// Run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Which graph to draw [default: signature; of a run with --rate latency, of a HINT run quips]
    #[arg(long, value_parser = graph())]
    pub graph: Option<Graph>,
    /// Show every point, however many there are
    #[arg(long)]
    pub points: bool,
    /// Only the path of this name, or of this number from 0
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// The warnings whole, instead of a line for each cause
    #[arg(long)]
    pub warnings: bool,
}

/// Draw run files.
#[derive(Debug, Clone, Args)]
pub struct PlotFlags {
    /// Run files, drawn together
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Where to, as SVG, PNG or a one-file HTML report: the name's ending says which
    #[arg(short, long, value_name = "FILE.(svg|png|html)")]
    pub output: PathBuf,
    /// Which graph (the HTML report holds all) [default: signature; with --rate latency, of HINT runs quips]
    #[arg(long, value_parser = graph())]
    pub graph: Option<Graph>,
    /// Draw fitted models and saturation points too (the HTML report has them at a click)
    #[arg(long)]
    pub fits: bool,
    /// Throughput on a logarithmic axis (the HTML report has both)
    #[arg(long)]
    pub log: bool,
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// NetPIPE 3.7's np.out, byte for byte
    Np,
    /// One row a point
    Csv,
    /// One JSON document
    Json,
    /// One row a point, for DuckDB, pandas, Spark
    Parquet,
    /// OpenMetrics text, for Prometheus
    Openmetrics,
}

/// Write a run file in another format.
#[derive(Debug, Clone, Args)]
pub struct ExportFlags {
    /// Run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Format
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Where to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The path to export, by name or number from 0: np holds one path only
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
}

/// Read a NetPIPE file.
#[derive(Debug, Clone, Args)]
pub struct ImportFlags {
    /// NetPIPE np.out
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The run file [default: the same name with .run.jsonl, here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Wait for another host.
#[derive(Debug, Clone, Args)]
pub struct ServeFlags {
    /// Address to listen at
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0")]
    pub bind: IpAddr,
    /// Port of the control connection; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Serve one measurement after another, until stopped
    #[arg(long)]
    pub keep: bool,
    /// Largest message a peer may ask for
    #[arg(long, alias = "max-block", value_name = "SIZE", value_parser = value::bytes, default_value = "64MiB")]
    pub max_message: u64,
    /// Longest measurement a peer may ask for
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true, default_value = "10min")]
    pub max_time: f64,
    /// Most memory a peer may make this side reserve
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, default_value = "512MiB")]
    pub max_memory: u64,
    /// Most data connections at a time that a peer may ask for (its --flows and --load)
    #[arg(long, value_name = "N", default_value_t = measure::flows::MOST)]
    pub max_flows: u32,
}

/// Print the manual page.
#[derive(Debug, Clone, Args)]
pub struct ManFlags {
    /// The page of this subcommand [default: the command's own]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Print completions.
#[derive(Debug, Clone, Args)]
pub struct CompletionsFlags {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// Print a JSON Schema.
#[derive(Debug, Clone, Args)]
pub struct SchemaFlags {
    /// run-file, export-json, or a command whose --json document it is [default: list the names]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// The bare floor program: its own flags are its own business.
#[derive(Debug, Clone, Args)]
pub struct FloorFlags {
    /// What the floor program gets
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}
