//! Flags of `sweep`.

use std::path::PathBuf;

use clap::Args;

use super::value;

/// Every combination of settings, and which to take.
#[derive(Debug, Clone, Default, Args)]
pub struct SweepFlags {
    /// Transports, each as `run` takes it; several are an axis
    #[arg(value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText, hide_possible_values = true)]
    pub transports: Vec<String>,
    /// An axis and its levels: an option of the transport (sockbuf=64KiB,1MiB) or a flag of `run` (align=64,4KiB; check=on,off);
    /// the level `default` sets nothing; levels that hold commas are parted by |. Effects are told against the first level
    #[arg(long, value_name = "NAME=LEVEL,...")]
    pub over: Vec<String>,
    /// Measure between two hosts of a laboratory (pipegauge lab), made anew for each cell: mtu, offloads, offload.NAME, link-rate and sysctls
    /// (net.ipv4.tcp_sack) are axes too
    #[arg(long)]
    pub lab: bool,
    /// Change settings of this system for the axes system.mtu:INTERFACE, system.offloads:INTERFACE, system.offload.NAME:INTERFACE and
    /// system.sysctl:net.NAME (net/ipv4/conf/eth0.100/rp_filter where a part has a dot, as sysctl has it). Without it the sweep says what it would change, from what to what. Each is put back at the end; after SIGKILL by
    /// the next `pipegauge sweep` or `pipegauge doctor`
    #[arg(long, conflicts_with = "show")]
    pub change_system: bool,
    /// A plan in TOML, instead of flags or beside them (its schema: pipegauge schema sweep-file)
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Times that every cell is measured, in an order of its own each time [default: 6]
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Time for a cell in a round [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// Seed of the order of cells [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The folder of the sweep: its plan and a run file for each cell and round [default: pipegauge-TIME.sweep here]
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Go on with a sweep that was cut off; what it has is not measured again
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["transports", "over", "lab", "plan", "rounds", "budget", "seed", "output", "with", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// With --resume: run the commands and reach the hosts that the folder's plan names. A folder may be a stranger's
    #[arg(long, requires = "resume")]
    pub trust: bool,
    /// Measure nothing: show what a sweep's folder has
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["transports", "over", "lab", "plan", "rounds", "budget", "seed", "output", "with", "dry_run", "resume"])]
    pub show: Option<PathBuf>,
    /// Only say which cells there are, how long they take, and what they change of this system
    #[arg(long)]
    pub dry_run: bool,
    /// Write the heat map here (SVG, or PNG by the name's end) instead of into the folder
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Flags of `run` that all cells have, after --: sweep tcp --over sockbuf=64KiB,1MiB -- --pattern stream
    #[arg(last = true, value_name = "FLAGS OF RUN", allow_hyphen_values = true)]
    pub with: Vec<String>,
}
