//! Flags of everything that measures: `run`, `live` and `hint`.

use std::path::PathBuf;

use clap::Args;
use transport::decorate::{Fault, Shape};
use transport::theory::settings as theory;
use transport::{Settings, Wait};

use super::value;

/// How much effort, over which path, with which far side, and where the outcome goes.
#[derive(Debug, Clone, Default, Args)]
pub struct CommonFlags {
    /// Settled when the 95% interval reaches no further than this share of the median [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = value::share, allow_hyphen_values = true, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Time for each path [default: 12s; 4s of each of several --rate, and of one in bits a second without sizes]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true, help_heading = "Effort")]
    pub budget: Option<f64>,
    /// Trials of each point, instead of as many as the precision needs
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub trials: Option<u32>,
    /// Iterations of each trial, instead of as many as fill its time
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub repeats: Option<u64>,
    /// Seed of the order of sizes and of the contents
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Effort")]
    pub seed: u64,

    /// CPUs of the near and the far side: auto, none, or two numbers
    #[arg(long, value_name = "auto|none|A,B", default_value = "auto", help_heading = "Path")]
    pub pin: String,
    /// How a side waits for the other [default: the transport's own]
    #[arg(long, value_enum, help_heading = "Path")]
    pub wait: Option<Wait>,
    /// Send and receive buffer of a socket, or of a pipe, asked of the kernel
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Path")]
    pub sockbuf: Option<u64>,
    /// Send small TCP segments at once (the default)
    #[arg(long, overrides_with = "no_nodelay", help_heading = "Path")]
    pub nodelay: bool,
    /// Let TCP collect small segments (Nagle)
    #[arg(long, overrides_with = "nodelay", help_heading = "Path")]
    pub no_nodelay: bool,
    /// TCP congestion control, by the kernel's name
    #[arg(long, value_name = "NAME", help_heading = "Path")]
    pub congestion: Option<String>,
    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6", help_heading = "Path")]
    pub ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long, help_heading = "Path")]
    pub ipv6: bool,
    /// Time without any progress after which a side gives up; a login by ssh has four times that, at least 10 s [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true, help_heading = "Path")]
    pub patience: Option<f64>,

    /// The far side: HOST:PORT of `pipegauge serve`, or ssh://user@host to start it there [default: a process here]; given several
    /// times, the far processes of --pairs and --topology group are spread over these hosts in turn
    #[arg(long, value_name = "PEER", help_heading = "Two hosts")]
    pub peer: Vec<String>,
    /// Start the near side on another host, by ssh, and measure from there to the far side; this command only leads and records:
    /// ssh://user@host [default: here]; given several times, the near processes of --topology and --pairs are spread over these hosts in turn
    #[arg(long, value_name = "NEAR", help_heading = "Two hosts")]
    pub near: Vec<String>,
    /// Address of the far side as the near side reaches it, where that is not the one of --peer: data goes there; with several --peer
    /// or --peer-under one for each, in their order
    #[arg(long, value_name = "ADDRESS", help_heading = "Two hosts")]
    pub peer_address: Vec<String>,
    /// Run each near process under this command: 'numactl -N0', 'env LD_PRELOAD=/x/lib.so', 'ip netns exec NAME'
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, help_heading = "Path")]
    pub near_under: Option<String>,
    /// Run each far process under this command; given several times, the far processes of --pairs and --topology group take them in turn
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, help_heading = "Path")]
    pub peer_under: Vec<String>,
    /// What `serve` printed; - reads it from standard input, @FILE from a file [default: PIPEGAUGE_KEY]
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, help_heading = "Two hosts")]
    pub key: Option<String>,
    /// The command on other hosts, for ssh [default: pipegauge]
    #[arg(long, value_name = "PROGRAM", help_heading = "Two hosts")]
    pub remote_program: Option<String>,

    /// The theoretical link: latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,
    /// round-noise=3%,loss=1%,seed=7
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = theory, help_heading = "What if")]
    pub theory: Option<Settings>,
    /// Inject faults on this side: drop=1%,corrupt=0.1%,delay=1ms@5%,cut=100,stall=2s@50,seed=3
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value::parse::<Fault>, help_heading = "What if")]
    pub fault: Option<Fault>,
    /// Make the path slower: rate=155Mbit/s,latency=1ms
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value::parse::<Shape>, help_heading = "What if")]
    pub shape: Option<Shape>,

    /// The run file [default: pipegauge-TIME.run.jsonl here]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Neither look at earlier runs on this host nor keep this one for later ones
    #[arg(long, help_heading = "Output")]
    pub no_history: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
