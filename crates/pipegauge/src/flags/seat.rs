//! Words of the hidden commands by which a launcher's processes take the place of those that were started.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Stand for a process.
#[derive(Debug, Clone, Args)]
pub struct SeatFlags {
    /// The folder of the seats
    pub folder: PathBuf,
    /// Which it is
    pub number: usize,
    /// The program, and its words
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Take a seat.
#[derive(Debug, Clone, Args)]
pub struct RankFlags {
    /// The folder of the seats
    pub folder: PathBuf,
}
