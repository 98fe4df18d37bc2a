//! Flags of `pipegauge live`.

use clap::Args;

use super::RunFlags;

/// Measure as `run` does, and watch.
#[derive(Debug, Clone, Args)]
pub struct LiveFlags {
    /// What `run` takes.
    #[command(flatten)]
    pub run: RunFlags,
    /// Leave the last picture at once instead of at a key
    #[arg(long, help_heading = "Output")]
    pub no_wait: bool,
}
