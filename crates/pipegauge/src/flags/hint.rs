//! Flags of `pipegauge hint`.

use std::path::PathBuf;

use clap::Args;
use transport::Settings;
use transport::decorate::{Fault, Shape};
use transport::theory::settings as theory;

use super::PatternFlag;
use super::run::{ScheduleFlag, WaitFlag};
use super::{RunFlags, value};

/// What HINT wants beside what every measurement wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintWish {
    /// Without a path, by one process.
    pub alone: bool,
    /// Most subintervals of a process.
    pub to: Option<u64>,
    /// Most memory of a process, bytes.
    pub memory: u64,
}

/// Run HINT over paths.
#[derive(Debug, Clone, Args)]
pub struct HintFlags {
    /// Transports between the two processes that share the work; none: one process by itself
    #[arg(value_name = "TRANSPORT[:OPTION=VALUE,...]", value_parser = value::PathText, hide_possible_values = true,
          help_heading = None)]
    pub transports: Vec<String>,
    /// Also by one process, without a path, for comparison
    #[arg(long, help_heading = "Work")]
    pub alone: bool,
    /// Most subintervals of a process [default: as many as memory, time and precision allow]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub to: Option<u64>,
    /// Most memory that a process may take for its subintervals, 96 bytes each
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, default_value = "256MiB", help_heading = "Work")]
    pub memory: u64,

    /// Time for each path [default: 12s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, help_heading = "Effort")]
    pub budget: Option<f64>,
    /// Settled when the 95% interval reaches no further than this share of the median [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = value::share, help_heading = "Effort")]
    pub precision: Option<f64>,
    /// Blocks, each over a fresh connection, instead of as many as the precision needs
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub trials: Option<u32>,
    /// Answers of each trial, instead of as many as fill its time
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub repeats: Option<u64>,
    /// Seed of the order of subintervals
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Effort")]
    pub seed: u64,

    /// CPUs of the near and the far side: auto, none, or two numbers
    #[arg(long, value_name = "auto|none|A,B", default_value = "auto", help_heading = "Path")]
    pub pin: String,
    /// How a side waits for the other [default: the transport's own]
    #[arg(long, value_enum, help_heading = "Path")]
    pub wait: Option<WaitFlag>,
    /// Send and receive buffer of a socket, or of a pipe, asked of the kernel
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, help_heading = "Path")]
    pub sockbuf: Option<u64>,
    /// Let TCP collect small segments (Nagle)
    #[arg(long, help_heading = "Path")]
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
    /// Time without any progress after which a side gives up; an answer takes half of it at most [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = value::seconds, help_heading = "Path")]
    pub patience: Option<f64>,

    /// The far side: HOST:PORT of `pipegauge serve`, or ssh://user@host to start it there [default: a process here]
    #[arg(long, value_name = "PEER", help_heading = "Two hosts")]
    pub peer: Option<String>,
    /// What `serve` printed; - reads it from standard input, @FILE from a file [default: PIPEGAUGE_KEY]
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, help_heading = "Two hosts")]
    pub key: Option<String>,
    /// The command on the other host, for ssh [default: pipegauge]
    #[arg(long, value_name = "PROGRAM", help_heading = "Two hosts")]
    pub remote_program: Option<String>,

    /// The theoretical link, and how long its processes work at a subinterval: latency=10us,rate=10Gbit/s,work=20ns
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = theory, help_heading = "What if")]
    pub theory: Option<Settings>,
    /// Inject faults on this side: delay=1ms@5%,corrupt=0.1%,cut=100,stall=2s@50,seed=3
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

impl HintFlags {
    /// The same as flags of `run`, which measures it.
    pub fn run(&self) -> RunFlags {
        let flags = self.clone();
        RunFlags {
            hint: Some(HintWish {
                alone: flags.alone || flags.transports.is_empty(),
                to: flags.to,
                memory: flags.memory,
            }),
            transports: flags.transports,
            vs: None,
            from: 1,
            to: None,
            step: None,
            sizes: None,
            perturb: None,
            schedule: ScheduleFlag::Adaptive,
            pattern: PatternFlag::DEFAULT,
            response: None,
            reverse: false,
            flows: Vec::new(),
            load: Vec::new(),
            load_direction: None,
            load_size: None,
            burst: None,
            rate: None,
            precision: flags.precision,
            budget: flags.budget,
            trials: flags.trials,
            repeats: flags.repeats,
            duration: None,
            every: None,
            seed: flags.seed,
            align: None,
            offset: None,
            cache: None,
            check: false,
            pin: flags.pin,
            wait: flags.wait,
            sockbuf: flags.sockbuf,
            nodelay: false,
            no_nodelay: flags.no_nodelay,
            mss: None,
            congestion: flags.congestion,
            reconnect: false,
            ipv4: flags.ipv4,
            ipv6: flags.ipv6,
            patience: flags.patience,
            loss_timeout: None,
            peer: flags.peer,
            key: flags.key,
            remote_program: flags.remote_program,
            theory: flags.theory,
            fault: flags.fault,
            shape: flags.shape,
            trace: None,
            output: flags.output,
            html: None,
            no_html: true,
            no_history: flags.no_history,
            quiet: flags.quiet,
            replayed: None,
        }
    }
}
