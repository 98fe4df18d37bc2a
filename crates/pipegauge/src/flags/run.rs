//! Flags of `pipegauge run`.

use std::path::PathBuf;

use clap::Args;
use measure::event::{PathPlan, Schedule};
use measure::{Cache, LoadDirection, Pattern, Topology};
use transport::{Capabilities, Settings, registry};

use super::value;
use super::{CommonFlags, HintWork, PatternFlag, of_a_kind};

/// Measure one or more paths.
#[derive(Debug, Clone, Default, Args)]
pub struct RunFlags {
    /// Transports to measure, by name; several are interleaved, so that their ratios survive drift. One may come several times with
    /// options of its own: tcp:sockbuf=64KiB tcp:sockbuf=4MiB,label=big (pipegauge list NAME tells the options)
    #[arg(required = true, value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText,
          hide_possible_values = true, help_heading = None)]
    pub transports: Vec<String>,

    /// Smallest message [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Sizes")]
    pub from: Option<u64>,
    /// Largest message [default: 8MiB, or what the transports can carry]
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
    #[arg(long, value_enum, default_value_t = Schedule::Adaptive, help_heading = "Sizes")]
    pub schedule: Schedule,

    /// Who sends what, and when [default: ping-pong, of a fan-in or fan-out stream, of a group cast]
    #[arg(long, value_enum, help_heading = "Pattern")]
    pub pattern: Option<PatternFlag>,
    /// The far side sends and this side receives, for the patterns that go one way: stream, burst and post
    #[arg(long, help_heading = "Pattern")]
    pub reverse: bool,
    /// Both directions at once, for the patterns that go one way: as many connections again carry messages from the far side to this one
    #[arg(long, conflicts_with_all = ["reverse", "duration"], help_heading = "Pattern")]
    pub both: bool,
    /// Connections that carry messages at once, each on a thread of its own on either side; with --both so many each way; of several
    /// numbers (1,2,4,8) each is a path of its own [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(measure::flows::MOST)),
          help_heading = "Pattern")]
    pub flows: Vec<u32>,
    /// Pairs of processes, one near and one far, that carry messages at once; of several numbers (1,2,4) each is a path of its own
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(measure::flows::MOST)),
          conflicts_with_all = ["flows", "topology"], help_heading = "Pattern")]
    pub pairs: Vec<u32>,
    /// How near processes are joined to the far side: each to a far process of its own (pairs), all to one that they stream to (fan-in) or
    /// that streams to them (fan-out), which they do unless another pattern is asked for; or one that casts to all far processes (group)
    #[arg(long, value_enum, requires = "members", conflicts_with = "flows", help_heading = "Pattern")]
    pub topology: Option<Topology>,
    /// Near processes of --topology, of a group all its processes; of several numbers (1,2,4) each is a path of its own
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value::members, requires = "topology", help_heading = "Pattern")]
    pub members: Vec<u32>,
    /// Latency under load: measure the path idle and while so many flows fill it, in turns; of several numbers (1,2,4,8) each is a path of
    /// its own [sizes: 64 B]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=i64::from(measure::load::MOST)),
          help_heading = "Pattern")]
    pub load: Vec<u32>,
    /// Which way the messages of loading flows go [default: same]
    #[arg(long, value_enum, help_heading = "Pattern")]
    pub load_direction: Option<LoadDirection>,
    /// Size of the messages of loading flows [default: 128 KiB, or what one packet holds]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Pattern")]
    pub load_size: Option<u64>,
    /// Size of the answer, for request and connect [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Pattern")]
    pub response: Option<u64>,
    /// Messages in a burst, or of each member in a round of the pattern group [default: 500, of a group 1]
    #[arg(long, visible_alias = "messages", value_name = "N", help_heading = "Pattern")]
    pub burst: Option<u64>,
    /// Send on a schedule: messages a second, whether or not answers came (10k/s, ping-pong and request), or bits a second (100Mbit/s,
    /// stream); of several of these (10Mbit/s,1Gbit/s) or a range (10Mbit/s..10Gbit/s: 1, 2, 5 of each decade) each is a path of its own, and what is
    /// lost is shown over them [sizes: 128 KiB or what one packet holds; 4 s each]
    #[arg(long, value_name = "RATE,...", value_parser = value::send_rates, help_heading = "Pattern")]
    pub rate: Option<value::SendRates>,

    /// A soak: hold one connection for so long, measure one size or a few on it, and print a line for each interval; it shows drift,
    /// stalls and what comes back [sizes: 64 B, in a stream 128 KiB or what one packet holds]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true,
          conflicts_with_all = ["from", "to", "step", "perturb", "precision", "budget", "trials", "repeats", "reconnect", "vs"],
          help_heading = "Effort")]
    pub duration: Option<f64>,
    /// Time of an interval of --duration [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true, requires = "duration", help_heading = "Effort")]
    pub every: Option<f64>,

    /// Alignment of buffers, a power of two [default: the page]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Memory")]
    pub align: Option<u64>,
    /// Bytes that near and far buffers start after the alignment [default: 0,0]
    #[arg(long, value_name = "S,R", value_parser = value::offsets, help_heading = "Memory")]
    pub offset: Option<(u64, u64)>,
    /// Whether messages come from memory that was just used [default: warm]
    #[arg(long, value_enum, help_heading = "Memory")]
    pub cache: Option<Cache>,
    /// Verify the contents of every message at each receive
    #[arg(long, help_heading = "Memory")]
    pub check: bool,

    /// Largest TCP segment
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Path")]
    pub mss: Option<u64>,
    /// A new connection for each trial
    #[arg(long, help_heading = "Path")]
    pub reconnect: bool,
    /// Time without an answer after which a datagram counts as lost; more than the slowest round trip [default: 200ms]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, allow_hyphen_values = true, help_heading = "Path")]
    pub loss_timeout: Option<f64>,

    /// Measure a second side in turns with the first, at the settings of this command line with these flags of `run` added, and compare
    ///
    /// The later of two equal flags wins: run tcp --sizes 64KiB --vs '--sockbuf 256KiB'. --budget is for each side and transport.
    /// The run files end in .a.run.jsonl and .b.run.jsonl.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "What if")]
    pub vs: Option<String>,

    /// Write down every operation of this side's link, a JSON line each (don't believe figures taken under trace)
    #[arg(long, value_name = "FILE", help_heading = "What if")]
    pub trace: Option<PathBuf>,

    /// The HTML report [default: beside the run file]
    #[arg(long, value_name = "FILE", conflicts_with = "no_html", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Write no HTML report
    #[arg(long, help_heading = "Output")]
    pub no_html: bool,

    #[command(flatten)]
    pub common: CommonFlags,

    /// A path of a run file, measured again: `explain` asks for it, and no flag does.
    #[arg(skip)]
    pub replayed: Option<PathPlan>,
    /// HINT instead of messages: `pipegauge hint` asks for it, and no flag does.
    #[arg(skip)]
    pub hint: Option<HintWork>,
}

impl RunFlags {
    /// The pattern that was asked for, or the usual one.
    pub fn pattern(&self) -> PatternFlag {
        let usual = || self.topologies().map(Topology::pattern).find(|pattern| *pattern != Pattern::PingPong);
        // Members that can only do something together have no cast.
        let usual = || {
            usual().map(|pattern| if pattern == Pattern::Cast && self.gathers() { Pattern::Broadcast } else { pattern })
        };
        self.pattern.or_else(|| PatternFlag::new(usual()?)).unwrap_or_default()
    }

    /// Whether groups of these transports have collectives, and none can cast.
    fn gathers(&self) -> bool {
        let can = |has: fn(&Capabilities) -> bool| self.capabilities().any(|can| has(&can));
        can(|can| can.collective) && !can(|can| can.group)
    }

    /// What each path that is named can do where nothing is set.
    fn capabilities(&self) -> impl Iterator<Item = Capabilities> {
        let named = self.transports.iter().map(|text| {
            let text = of_a_kind(text);
            registry::named(text.split(':').next().unwrap_or_default())
        });
        named.filter_map(|transport| Some(transport.ok()?.capabilities(&Settings::default())))
    }

    /// Whether the far side sends, as was asked for or as a fan-out has it.
    pub fn reverses(&self) -> bool {
        self.reverse || self.topologies().any(|topology| topology == Topology::FanOut)
    }

    /// The topologies that are named, by the flag or in a path's own text.
    fn topologies(&self) -> impl Iterator<Item = Topology> {
        let options = self.transports.iter().filter_map(|text| Some(text.split_once(':')?.1));
        let named =
            options.flat_map(|options| options.split(',')).filter_map(|o| Topology::named(o.split('=').next()?));
        let groups = self.capabilities().filter(|can| can.group).map(|_| Topology::Group);
        self.topology.into_iter().chain(named).chain(groups)
    }

    /// How the connections of a path share processes where its own text does not say, and how many there are: each number is a path.
    pub fn connections(&self) -> (Topology, &[u32]) {
        match self.topology {
            Some(topology) => (topology, &self.members),
            None if !self.pairs.is_empty() => (Topology::Pairs, &self.pairs),
            None => (Topology::Flows, &self.flows),
        }
    }
}
