//! Flags of `ask`.

use clap::Args;
use units::BitRate;

use super::{WireFlags, value};

/// Ask runs a question.
#[derive(Debug, Clone, Args)]
pub struct AskFlags {
    /// Run files, and a question in words (see below), or flags instead of words
    #[arg(value_name = "RUN...  [QUESTION]")]
    pub args: Vec<String>,
    /// Only paths of this name
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// When does a message of this size arrive? "when does 64KiB arrive?"
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub arrive: Option<u64>,
    /// Which of the paths moves a message of this size fastest? "which path is fastest for 64KiB?"
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub fastest: Option<u64>,
    /// What is the most this path moves, and from which size? "what is the most?"
    #[arg(long)]
    pub most: bool,
    /// Which size should I use? "which size should I use?"
    #[arg(long)]
    pub size: bool,
    /// How fast does a control message below 1 KiB arrive, and over which path? "how fast are control messages?"
    #[arg(long)]
    pub control: bool,
    /// Can the path sustain so many frames a second of --of bytes? "can it sustain 60/s frames of 2MB?"
    #[arg(long, value_name = "N/s", value_parser = value::per_second, requires = "of")]
    pub frames: Option<f64>,
    /// Size of a frame of --frames
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, requires = "frames")]
    pub of: Option<u64>,
    /// What does one path cost over another? "what does tcp cost over unix?"
    #[arg(long, value_name = "X,Y")]
    pub cost: Option<String>,
    /// What would a link of this rate bring? "what would a link of 10Gbit/s bring?"
    #[arg(long, value_name = "RATE", value_parser = value::parse::<BitRate>)]
    pub link: Option<BitRate>,
    /// The wire that was measured over, for --link.
    #[command(flatten)]
    pub wire: WireFlags,
}
