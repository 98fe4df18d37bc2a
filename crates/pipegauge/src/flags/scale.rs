//! Flags of `scale`, and those that say what is known of a wire.

use std::path::PathBuf;

use clap::Args;

use super::value;

/// The wire that a run was measured over.
#[derive(Debug, Clone, Default, Args)]
pub struct WireFlags {
    /// Rate of the wire that was measured over [default: what the run knows: theory's, or --shape's]
    #[arg(long, value_name = "RATE", value_parser = value::wire_rate)]
    pub rate: Option<f64>,
    /// What the wire carries for each byte of a message, or what comes on top: 53/48, 1.1, 10% [default: what the run knows, or 1]
    #[arg(long, value_name = "RATIO|SHARE", value_parser = value::framing)]
    pub framing: Option<f64>,
    /// Header of each packet on the wire [default: what the run knows, or 0]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub header: Option<u64>,
    /// The most that a packet carries of a message: n bytes take ceil(n / SIZE) headers [default: what the run knows, or one
    /// packet a message]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub packet: Option<u64>,
}

impl WireFlags {
    /// The first of these flags that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--rate", self.rate.is_some()),
            ("--framing", self.framing.is_some()),
            ("--header", self.header.is_some()),
            ("--packet", self.packet.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// What a path would take over another wire.
#[derive(Debug, Clone, Args)]
pub struct ScaleFlags {
    /// Run files of round trips
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The wire that was measured over.
    #[command(flatten)]
    pub wire: WireFlags,
    /// Rate of the wire asked about [default: what the run of --against knows, or the same]
    #[arg(long, value_name = "RATE", value_parser = value::wire_rate)]
    pub to_rate: Option<f64>,
    /// How many times as fast the CPU is: start-up costs go by it
    #[arg(long, value_name = "FACTOR", value_parser = value::factor, default_value = "1")]
    pub cpu: f64,
    /// How many times as fast memory is: what a byte costs beyond the wire goes by it
    #[arg(long, value_name = "FACTOR", value_parser = value::factor, default_value = "1")]
    pub memory: f64,
    /// Run files of the same paths, measured over the wire asked about: the estimate is held against them
    ///
    /// Paths meet by name; where one comes several times, in the order of the files.
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    pub against: Vec<PathBuf>,
    /// Only paths of this name
    #[arg(long, value_name = "NAME")]
    pub path: Option<String>,
    /// Write the tables as Markdown, too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}
