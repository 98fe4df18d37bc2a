//! Flags of `compare`, `layers` and `tables`.

use std::path::PathBuf;

use clap::Args;

/// Compare runs.
#[derive(Debug, Clone, Args)]
pub struct CompareFlags {
    /// The first side and what is held against it: run files; repeats of one thing joined by commas (a1,a2,a3)
    ///
    /// With one file of several paths, its paths are compared with its first.
    #[arg(required = true, value_name = "RUN[,RUN...]")]
    pub sides: Vec<String>,
    /// Only paths of this name
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// Show all sizes, not one in each doubling
    #[arg(long)]
    pub points: bool,
    /// Fail (exit code 1) where a limit is exceeded beyond what runs of one thing differ by; 2 where the runs can't tell
    ///
    /// METRIC is latency (the smallest message's time), time (all sizes together), time@SIZE or throughput (the highest).
    /// Examples: 'latency>+5%', 'time@64KiB>+10%', 'throughput<-5%'. May be given more than once.
    #[arg(long = "fail-if", value_name = "METRIC(<|>)N%")]
    pub fail_if: Vec<String>,
    /// Write a summary as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a summary as JUnit XML, a test case for each --fail-if
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// What layers add.
#[derive(Debug, Clone, Args)]
pub struct LayersFlags {
    /// Run files, the lowest layer first; paths of one file in their order
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Draw overhead over size as SVG or PNG
    #[arg(short, long, value_name = "FILE.(svg|png)")]
    pub output: Option<PathBuf>,
}

/// The papers' tables.
#[derive(Debug, Clone, Args)]
pub struct TablesFlags {
    /// Run files; each table takes the paths whose pattern tells of it
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Write the tables as Markdown, too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}
