//! Flags of `pipegauge run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use measure::Cache;
use measure::event::{PathPlan, Schedule};
use transport::decorate::{Fault, Shape};
use transport::theory::settings as theory;
use transport::{Settings, Wait};

use measure::LoadDirection;

use super::value;
use super::{HintWish, PatternFlag};

/// `--schedule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleFlag {
    /// The paper's sizes first, then points where the curve bends, jumps or is uncertain
    Adaptive,
    /// NetPIPE 3.7's sizes, repeats and trials exactly, so that results compare
    Netpipe,
}

impl From<ScheduleFlag> for Schedule {
    fn from(f: ScheduleFlag) -> Self {
        match f {
            ScheduleFlag::Adaptive => Schedule::Adaptive,
            ScheduleFlag::Netpipe => Schedule::Netpipe,
        }
    }
}

/// `--cache`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheFlag {
    /// The same buffer each time
    Warm,
    /// Walk a pool larger than the last-level cache
    Cold,
}

impl From<CacheFlag> for Cache {
    fn from(f: CacheFlag) -> Self {
        match f {
            CacheFlag::Warm => Cache::Warm,
            CacheFlag::Cold => Cache::Cold,
        }
    }
}

/// `--load-direction`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadFlag {
    /// To the far side, as what is measured
    Same,
    /// From the far side
    Opposite,
    /// As many flows each way
    Both,
}

impl From<LoadFlag> for LoadDirection {
    fn from(f: LoadFlag) -> Self {
        match f {
            LoadFlag::Same => LoadDirection::Same,
            LoadFlag::Opposite => LoadDirection::Opposite,
            LoadFlag::Both => LoadDirection::Both,
        }
    }
}

/// `--wait`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WaitFlag {
    /// Sleep in the kernel until something happens
    Block,
    /// Ask again and again from user space, never sleeping
    Spin,
    /// Blocking calls with the kernel polling the device
    BusyPoll,
}

impl From<WaitFlag> for Wait {
    fn from(f: WaitFlag) -> Self {
        match f {
            WaitFlag::Block => Wait::Block,
            WaitFlag::Spin => Wait::Spin,
            WaitFlag::BusyPoll => Wait::BusyPoll,
        }
    }
}

/// Measure one or more paths.
#[derive(Debug, Clone, Args)]
pub struct RunFlags {
    /// Transports to measure, by name; several are interleaved, so that their ratios survive drift. One may come several times with
    /// options of its own: tcp:sockbuf=64KiB tcp:sockbuf=4MiB,label=big (pipegauge list names the options)
    #[arg(required = true, value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText,
          hide_possible_values = true, help_heading = None)]
    pub transports: Vec<String>,

    /// Smallest block
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, default_value = "1", help_heading = "Sizes")]
    pub from: u64,
    /// Largest block [default: 8MiB, or what the transports can carry]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Sizes")]
    pub to: Option<u64>,
    /// Fixed distance between sizes, instead of the schedule's
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, conflicts_with = "sizes", help_heading = "Sizes")]
    pub step: Option<u64>,
    /// Exactly these sizes
    #[arg(long, value_name = "SIZE,...", value_parser = value::bytes, value_delimiter = ',',
          conflicts_with_all = ["from", "to"], help_heading = "Sizes")]
    pub sizes: Option<Vec<u64>>,
    /// Also measure each size of a schedule minus and plus this many bytes; [default: 0, netpipe: 3]
    #[arg(long, value_name = "BYTES", value_parser = value::bytes, help_heading = "Sizes")]
    pub perturb: Option<u64>,
    /// How sizes are chosen
    #[arg(long, value_enum, default_value_t = ScheduleFlag::Adaptive, help_heading = "Sizes")]
    pub schedule: ScheduleFlag,

    /// Who sends what, and when
    #[arg(long, value_enum, default_value_t = PatternFlag::DEFAULT, help_heading = "Pattern")]
    pub pattern: PatternFlag,
    /// The far side sends and this side receives, for the patterns that go one way: stream and burst
    #[arg(long, help_heading = "Pattern")]
    pub reverse: bool,
    /// Connections that carry blocks at once, each on a thread of its own on either side; of several numbers (1,2,4,8) each is a path
    /// of its own [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(measure::flows::MOST)),
          help_heading = "Pattern")]
    pub flows: Vec<u32>,
    /// Latency under load: measure the path idle and while so many flows fill it, in turns; of several numbers (1,2,4,8) each is a path of
    /// its own [sizes: 64 B]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=i64::from(measure::load::MOST)),
          help_heading = "Pattern")]
    pub load: Vec<u32>,
    /// Which way the messages of loading flows go [default: same]
    #[arg(long, value_enum, help_heading = "Pattern")]
    pub load_direction: Option<LoadFlag>,
    /// Size of the messages of loading flows [default: 128 KiB, or what one packet holds]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Pattern")]
    pub load_size: Option<u64>,
    /// Size of the answer, for request and connect [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Pattern")]
    pub response: Option<u64>,
    /// Blocks in a burst [default: 500]
    #[arg(long, value_name = "N", help_heading = "Pattern")]
    pub burst: Option<u64>,
    /// Send on a schedule: messages a second, whether or not answers came (10k/s, ping-pong and request), or bits a second (100Mbit/s,
    /// stream)
    #[arg(long, value_name = "RATE", value_parser = value::send_rate, help_heading = "Pattern")]
    pub rate: Option<value::SendRate>,

    /// Settled when the 95% interval reaches no further than this share of the median [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = value::share, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Time for each path [default: 12s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, help_heading = "Effort")]
    pub budget: Option<f64>,
    /// A soak: hold one connection for so long, measure one size or a few on it, and print a line for each interval; it shows drift,
    /// stalls and what comes back [sizes: 64 B, in a stream 128 KiB or what one packet holds]
    #[arg(long, value_name = "TIME", value_parser = value::seconds,
          conflicts_with_all = ["from", "to", "step", "perturb", "precision", "budget", "trials", "repeats", "reconnect", "vs"],
          help_heading = "Effort")]
    pub duration: Option<f64>,
    /// Time of an interval of --duration [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, requires = "duration", help_heading = "Effort")]
    pub every: Option<f64>,
    /// Trials of each point, instead of as many as the precision needs
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub trials: Option<u32>,
    /// Iterations of each trial, instead of as many as fill its time
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub repeats: Option<u64>,
    /// Seed of the order of sizes and of the contents
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Effort")]
    pub seed: u64,

    /// Alignment of buffers, a power of two [default: the page]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Memory")]
    pub align: Option<u64>,
    /// Bytes that near and far buffers start after the alignment [default: 0,0]
    #[arg(long, value_name = "S,R", value_parser = value::offsets, help_heading = "Memory")]
    pub offset: Option<(u64, u64)>,
    /// Whether blocks come from memory that was just used [default: warm]
    #[arg(long, value_enum, help_heading = "Memory")]
    pub cache: Option<CacheFlag>,
    /// Verify the contents of every block at each receive
    #[arg(long, help_heading = "Memory")]
    pub check: bool,

    /// CPUs of the near and the far side: auto, none, or two numbers
    #[arg(long, value_name = "auto|none|A,B", default_value = "auto", help_heading = "Path")]
    pub pin: String,
    /// How a side waits for the other [default: the transport's own]
    #[arg(long, value_enum, help_heading = "Path")]
    pub wait: Option<WaitFlag>,
    /// Send and receive buffer of a socket, or of a pipe, asked of the kernel
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Path")]
    pub sockbuf: Option<u64>,
    /// Send small TCP segments at once (the default)
    #[arg(long, overrides_with = "no_nodelay", help_heading = "Path")]
    pub nodelay: bool,
    /// Let TCP collect small segments (Nagle)
    #[arg(long, overrides_with = "nodelay", help_heading = "Path")]
    pub no_nodelay: bool,
    /// Largest TCP segment
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Path")]
    pub mss: Option<u64>,
    /// TCP congestion control, by the kernel's name
    #[arg(long, value_name = "NAME", help_heading = "Path")]
    pub congestion: Option<String>,
    /// A new connection for each trial
    #[arg(long, help_heading = "Path")]
    pub reconnect: bool,
    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6", help_heading = "Path")]
    pub ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long, help_heading = "Path")]
    pub ipv6: bool,
    /// Time without any progress after which a side gives up [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, help_heading = "Path")]
    pub patience: Option<f64>,
    /// Time without an answer after which a datagram counts as lost; more than the slowest round trip [default: 200ms]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, help_heading = "Path")]
    pub loss_timeout: Option<f64>,

    /// The far side: HOST:PORT of `pipegauge serve`, or ssh://user@host to start it there [default: a process here]
    #[arg(long, value_name = "PEER", help_heading = "Two hosts")]
    pub peer: Option<String>,
    /// What `serve` printed; - reads it from standard input, @FILE from a file [default: PIPEGAUGE_KEY]
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, help_heading = "Two hosts")]
    pub key: Option<String>,
    /// The command on the other host, for ssh [default: pipegauge]
    #[arg(long, value_name = "PROGRAM", help_heading = "Two hosts")]
    pub remote_program: Option<String>,

    /// The theoretical link: latency=10us,rate=10Gbit/s,packet=1448,header=66,dip=60KiB..70KiB*5,noise=2%,
    /// block-noise=3%,loss=1%,seed=7
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = theory, help_heading = "What if")]
    pub theory: Option<Settings>,
    /// Inject faults on this side: drop=1%,corrupt=0.1%,delay=1ms@5%,cut=100,stall=2s@50,seed=3
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value::parse::<Fault>, help_heading = "What if")]
    pub fault: Option<Fault>,
    /// Make the path slower: rate=155Mbit/s,latency=1ms
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value::parse::<Shape>, help_heading = "What if")]
    pub shape: Option<Shape>,

    /// Measure a second side in turns with the first, at the settings of this command line with these flags of `run` added, and compare
    ///
    /// The later of two equal flags wins: run tcp --sizes 64KiB --vs '--sockbuf 256KiB'. --budget is for each side and transport.
    /// The run files end in .a.run.jsonl and .b.run.jsonl.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "What if")]
    pub vs: Option<String>,

    /// Write down every operation of this side's link, a JSON line each (don't believe figures taken under trace)
    #[arg(long, value_name = "FILE", help_heading = "What if")]
    pub trace: Option<PathBuf>,

    /// The run file [default: pipegauge-TIME.run.jsonl here]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// The HTML report [default: beside the run file]
    #[arg(long, value_name = "FILE", conflicts_with = "no_html", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Write no HTML report
    #[arg(long, help_heading = "Output")]
    pub no_html: bool,
    /// Neither look at earlier runs on this host nor keep this one for later ones
    #[arg(long, help_heading = "Output")]
    pub no_history: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// A path of a run file, measured again: `explain` asks for it, and no flag does.
    #[arg(skip)]
    pub replayed: Option<PathPlan>,
    /// HINT instead of blocks: `pipegauge hint` asks for it, and no flag does.
    #[arg(skip)]
    pub hint: Option<HintWish>,
}
