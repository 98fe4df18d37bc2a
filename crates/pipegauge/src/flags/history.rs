//! Flags of `pipegauge history`.

use clap::{Args, Subcommand};

/// Earlier runs on this host.
#[derive(Debug, Clone, Args)]
pub struct HistoryFlags {
    /// What to do [default: show what is kept]
    #[command(subcommand)]
    pub what: Option<HistoryWish>,
}

/// What to do with earlier runs.
#[derive(Debug, Clone, Subcommand)]
pub enum HistoryWish {
    /// Forget earlier runs: of every path, or of those named
    Clear {
        /// Paths to forget, by transport or by the id that `pipegauge history` shows [default: all]
        #[arg(value_name = "NAME")]
        paths: Vec<String>,
    },
}
