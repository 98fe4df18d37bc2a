//! Flags of `pipegauge module`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value;

/// A transport in a shared library.
#[derive(Debug, Clone, Args)]
pub struct ModuleFlags {
    /// What to do
    #[command(subcommand)]
    pub what: ModuleTask,
}

/// What to do with a module.
#[derive(Debug, Clone, Subcommand)]
pub enum ModuleTask {
    /// Try everything that the module interface asks of a module, and say what is wrong
    Check {
        /// Its file, NAME.so
        file: PathBuf,
        /// What is set on every link that is tried, as in a path: another setting may be another way through the module
        #[arg(long, value_name = "OPTION=VALUE")]
        set: Vec<String>,
        /// Time without progress until a case is wrong, 3s to 600s: more for a busy machine
        #[arg(long, value_name = "TIME", default_value = "10s", value_parser = value::case_patience)]
        patience: f64,
    },
    /// Write a module that compiles, passes the check and measures, to be turned into your own
    New {
        /// What it is called: the folder, its file and the transport
        name: String,
        /// In Rust [default: in C]
        #[arg(long)]
        rust: bool,
        /// Where its folder is made
        #[arg(long, default_value = ".")]
        directory: PathBuf,
    },
    /// Try one case in this process
    #[command(hide = true)]
    Try {
        /// Its file
        file: PathBuf,
        /// Which
        case: String,
        /// Where the other side waits
        #[arg(long)]
        address: Option<String>,
        /// Seconds without progress that it waits for
        #[arg(long)]
        patience: Option<f64>,
        /// What is set on its links
        #[arg(long, default_value = "{}")]
        settings: String,
    },
    /// Load a module in this process and print what it is
    #[command(hide = true)]
    Describe {
        /// Its file
        file: PathBuf,
        /// Settings of a path over it
        #[arg(long, default_value = "{}")]
        settings: String,
    },
}
