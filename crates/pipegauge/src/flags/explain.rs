//! Flags of `explain`, `jitter` and `loggp`.

use std::path::PathBuf;

use clap::Args;

use super::value;

/// What is behind a dip or a step.
#[derive(Debug, Clone, Args)]
pub struct ExplainFlags {
    /// Run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Only this path, where the run has several
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// Time for each measurement: one as before, and one for each knob [default: 4s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// Only say what breaks, what might be behind it and what would be moved; measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The far side, where the run had one on another host: HOST:PORT of `pipegauge serve`, or ssh://user@host (never taken from the
    /// file, which may be a stranger's)
    #[arg(long, value_name = "PEER")]
    pub peer: Vec<String>,
    /// The command on the other host, for ssh [default: pipegauge]
    #[arg(long, value_name = "PROGRAM")]
    pub remote_program: Option<String>,
    /// The key of the other host's `pipegauge serve`; - reads it from standard input, @FILE from a file [default: PIPEGAUGE_KEY]
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub key: Option<String>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// How unsteady a run's paths are.
#[derive(Debug, Clone, Args)]
pub struct JitterFlags {
    /// Run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Only this path, where the run has several
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// Percentiles of every size, not only of sizes a factor of two apart
    #[arg(long)]
    pub all: bool,
}

/// LogGP parameters.
#[derive(Debug, Clone, Args)]
pub struct LoggpFlags {
    /// Run files of one path under several patterns (ping-pong, stream); of several paths, each is told by its name
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Only paths of this name
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
}
