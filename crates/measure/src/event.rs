//! The events of a run, as they happen. The run file is these events, one JSON object a line; every front end (progress, terminal graph,
//! store) listens to the same stream.

use host::{Environment, MachineCalibration, Taken};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use transport::decorate::Decorators;
use transport::settings::Effective;
use transport::{Capabilities, Name, Settings};
use units::BitRate;

use crate::earlier::Earlier;
use crate::topology::MemberOpened;
use crate::{Cache, Load, Pattern, Topology, TrialReport};

pub use crate::plan_path::{PathPlan, plain};

/// Version of this schema. A change that an old reader would misread raises it.
pub const SCHEMA: &str = "pipegauge-run/2";

/// One line of a run file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a header is written once; boxing would only clutter every match")]
pub enum Event {
    /// The first line: what was asked, and where.
    Run(Run),
    /// A path was opened for the first time.
    Path(PathOpened),
    /// What earlier runs of the path found on this machine.
    Earlier(Earlier),
    /// A round of trials begins on fresh connections.
    #[serde(rename = "block")]
    Round(RoundOpened),
    /// A trial ended.
    Trial(Trial),
    /// A trial made long, to show what a path keeps up, ended: it counts in no point's figures.
    Sustained(Trial),
    /// What was taken of the pinned CPUs during a round, at its end; only where that is known.
    Taken(RoundTaken),
    /// A point ended: its figures, and why it ended.
    Point(PointEnded),
    /// Something a reader of the figures must know.
    Warning(Warning),
    /// The last line of a run that was not cut off.
    End(End),
}

/// The run's header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The command line, without keys.
    pub command: Vec<String>,
    /// What was asked for.
    pub plan: Plan,
    /// This side.
    pub near: Environment,
    /// What the calibration found.
    pub calibration: Calibration,
    /// This file is one side of a run of two, whose rounds took turns; none of any other run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub side: Option<SideOf>,
}

/// Which side of which run: rounds of one number of both sides are neighbours in time, so that they compare round by round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideOf {
    /// The run's name, drawn at random: both sides have it.
    pub of: String,
    /// 0: what was asked; 1: what it is compared with.
    pub number: u32,
}

/// Which sizes, in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Schedule {
    /// The paper's sizes first, then points where the curve bends, jumps or is uncertain.
    #[default]
    Adaptive,
    /// NetPIPE 3.7's sizes, repeats and trials exactly.
    Netpipe,
    #[cfg_attr(feature = "clap", value(skip))]
    /// HINT's numbers of subintervals, a tenth of a decade apart, in rounds as the adaptive schedule has them.
    Hint,
    #[cfg_attr(feature = "clap", value(skip))]
    /// One connection held for the whole time (`budget`), a trial in each interval (`every`) whose number is its round's.
    Soak,
}

/// Everything the driver was asked to do. Times are seconds, sizes bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Paths, in the order named.
    pub paths: Vec<PathPlan>,
    /// Pattern.
    pub pattern: Pattern,
    /// The far side sends and the near side receives (stream, burst).
    #[serde(skip_serializing_if = "is_false", default)]
    pub reverse: bool,
    /// Both sides send at once: each path has as many connections again whose messages go the other way (stream, burst).
    #[serde(skip_serializing_if = "is_false", default)]
    pub both: bool,
    /// Schedule.
    pub schedule: Schedule,
    /// Smallest message (HINT: not used).
    pub from: u64,
    /// Largest message (HINT: most subintervals of a process).
    pub to: u64,
    /// Fixed distance between sizes, where asked.
    pub step: Option<u64>,
    /// Exactly these sizes, where asked.
    pub sizes: Option<Vec<u64>>,
    /// Perturbation p of the paper: each size is also measured at size - p and size + p.
    pub perturb: u64,
    /// Trials of a point; none lets the stop rule decide.
    pub trials: Option<u32>,
    /// Iterations of a trial; none lets the trial's time decide.
    pub repeats: Option<u64>,
    /// How far the 95% interval of a settled point may reach from its median, as a share of it.
    pub precision: f64,
    /// The precision was asked for, so that a point which does not reach it is missed; older files don't say, and it is taken for
    /// not asked.
    #[serde(skip_serializing_if = "is_false", default)]
    pub precise: bool,
    /// Time for one transport's curve (soak: how long it lasts).
    pub budget: f64,
    /// Soak: time of an interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<f64>,
    /// Answer's size for request and connect.
    pub response: u64,
    /// Messages of a burst.
    pub burst: u64,
    /// Open loop: iterations a second.
    pub rate: Option<f64>,
    /// Stream: bits a second that the sender offers; none lets it send as fast as it can.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offered: Option<f64>,
    /// Verify contents.
    pub check: bool,
    /// Alignment of buffers.
    pub align: u64,
    /// Offsets from the alignment: near, far.
    pub offset: (u64, u64),
    /// Warm or cold buffers.
    pub cache: Cache,
    /// Bytes of the pool that cold buffers walk over.
    pub pool: u64,
    /// HINT: most bytes that a process may take for its subintervals.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<u64>,
    /// A new connection for each trial.
    pub reconnect: bool,
    /// Pinned CPUs: near, far.
    pub pin: Option<(u32, u32)>,
    /// Seed of round order and contents.
    pub seed: u64,
    /// Seconds without progress after which a side gives up.
    pub patience: f64,
    /// What is put around the near side's links.
    #[serde(default)]
    pub decorators: Decorators,
    /// The words of the wrapper that near processes run under; none where they run under nothing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub near_under: Vec<String>,
    /// The same of far processes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub peer_under: Vec<String>,
    /// Of several wrappers, which far processes take in turn, those after the first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub peer_under_more: Vec<Vec<String>>,
}

impl Plan {
    /// Whether one connection is held and each round is an interval of it.
    pub fn soaks(&self) -> bool {
        self.schedule == Schedule::Soak
    }

    /// The settings of the path of this number; none where there is no such path.
    pub fn settings(&self, path: u32) -> &Settings {
        static NOTHING: Settings = Settings::new();
        self.paths.get(path as usize).map_or(&NOTHING, |path| &path.settings)
    }

    /// The pattern's name, whether the far side sends, and the rate that is offered.
    pub fn pattern_words(&self) -> String {
        let reversed = match (self.both, self.reverse) {
            (true, _) => " in both directions at once",
            (false, true) => " reversed (the far side sends)",
            (false, false) => "",
        };
        let offered = self.offered_words();
        format!("{}{reversed}{offered}{}{}", self.pattern.name(), self.flow_words(), self.load_words())
    }

    /// The wrappers that its processes run under, in words; none where they run under nothing.
    pub fn under_words(&self) -> Option<String> {
        let quoted = |under: &Vec<String>| format!("'{}'", under.join(" "));
        let near = std::iter::once(&self.near_under).filter(|under| !under.is_empty()).map(quoted);
        let far = std::iter::once(&self.peer_under).filter(|under| !under.is_empty()).chain(&self.peer_under_more);
        let sides = [("near side", near.collect::<Vec<_>>()), ("far side", far.map(quoted).collect())];
        let said = sides.iter().filter(|(_, unders)| !unders.is_empty());
        let words: Vec<String> = said.map(|(side, unders)| format!("{side} under {}", unders.join(" and "))).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// How many wrappers far processes take in turn; none counts as one.
    pub fn far_wrappers(&self) -> usize {
        1 + self.peer_under_more.len()
    }

    /// The words of the wrapper that the far process of this number, from 0, runs under.
    pub fn far_wrapper(&self, number: usize) -> &[String] {
        match (number % self.far_wrappers()).checked_sub(1) {
            None => &self.peer_under,
            Some(more) => &self.peer_under_more[more],
        }
    }

    /// The rate that is offered, or the least and the most of it.
    fn offered_words(&self) -> String {
        let mut rates: Vec<f64> = (0..self.paths.len() as u32).filter_map(|path| self.offered_on(path)).collect();
        rates.sort_by(f64::total_cmp);
        match (rates.first(), rates.last()) {
            (Some(least), Some(most)) if least == most => format!(", {} offered", BitRate(*least)),
            (Some(least), Some(most)) => format!(", {} to {} offered", BitRate(*least), BitRate(*most)),
            _ => String::new(),
        }
    }

    /// The load of the paths, where there is one: the least and the most of it.
    fn load_words(&self) -> String {
        let mut loads: Vec<&Load> = self.paths.iter().filter_map(|path| path.load.as_ref()).collect();
        loads.sort_by_key(|load| load.flows);
        match (loads.first(), loads.last()) {
            (Some(least), Some(most)) if least.flows == most.flows => format!(", idle and under {}", most.words()),
            (Some(least), Some(most)) => format!(", idle and under {} to {}", least.flows, most.words()),
            _ => String::new(),
        }
    }

    /// How many flows, pairs or members the paths have, where one of them has several or processes of its own.
    fn flow_words(&self) -> String {
        let words = Topology::ALL.into_iter().filter_map(|topology| {
            let of = self.paths.iter().filter(|path| path.topology == topology);
            let mut counts: Vec<u32> = of.map(|path| path.flows).collect();
            counts.sort_unstable();
            counts.dedup();
            match &counts[..] {
                [1] if !topology.has_members() => None,
                [few @ .., most] => {
                    let few: Vec<String> = few.iter().map(|count| topology.asked(*count).to_string()).collect();
                    let and = if few.is_empty() { String::new() } else { format!("{} and ", few.join(", ")) };
                    let way = if self.both { " each way" } else { "" };
                    let all = match topology {
                        Topology::Group if !and.is_empty() => {
                            format!("groups of {and}{} members", topology.asked(*most))
                        }
                        _ => format!("{and}{}", topology.counted(*most)),
                    };
                    Some(format!(", {all}{way} at once"))
                }
                [] => None,
            }
        });
        words.collect()
    }

    /// How the connections of the path of this number share processes.
    pub fn topology(&self, path: u32) -> Topology {
        self.paths.get(path as usize).map_or(Topology::Flows, |path| path.topology)
    }

    /// Connections of the path of this number that carry messages at once: its flows, and those of the other way where both sides send.
    pub fn connections(&self, path: u32) -> u32 {
        self.flows(path).saturating_mul(if self.both { 2 } else { 1 })
    }

    /// Those and the connections that load the path.
    pub fn at_once(&self, path: u32) -> u32 {
        self.connections(path).saturating_add(self.load(path).map_or(0, Load::connections))
    }

    /// Flows of the path of this number, each way where both sides send; 1 where there is no such path.
    pub fn flows(&self, path: u32) -> u32 {
        self.paths.get(path as usize).map_or(1, |path| path.flows)
    }

    /// The load of the path of this number; none where there is none.
    pub fn load(&self, path: u32) -> Option<&Load> {
        self.paths.get(path as usize)?.load.as_ref()
    }

    /// Whether any path is measured under load.
    pub fn loads(&self) -> bool {
        self.paths.iter().any(|path| path.load.is_some())
    }

    /// Whether no other flow, member or direction shares the path of this number with what is measured. What all members of a group do together is one
    /// thing.
    pub fn alone(&self, path: u32) -> bool {
        let together = self.pattern.facts().together;
        !self.both && self.paths.get(path as usize).is_none_or(|path| together || path.alone())
    }

    /// What a connection of the path of this number stands for, in words. Members of a collective are not told apart as receivers.
    pub fn one(&self, path: u32) -> &'static str {
        if self.pattern.facts().together { "member" } else { self.topology(path).one() }
    }

    /// Whether messages leave by a schedule: then the path is idle between them.
    pub fn scheduled(&self) -> bool {
        self.rate.is_some() || self.offers()
    }

    /// Whether streams are sent at an offered rate.
    pub fn offers(&self) -> bool {
        self.offered.is_some() || self.paths.iter().any(|path| path.offered.is_some())
    }

    /// Bits a second that the sender offers on the path of this number; none where it sends as fast as it can.
    pub fn offered_on(&self, path: u32) -> Option<f64> {
        self.paths.get(path as usize).and_then(|path| path.offered).or(self.offered)
    }

    /// The plan for the path of this number: the rate offered there becomes the plan's own.
    pub(crate) fn of_path(&self, path: u32) -> Self {
        Self { offered: self.offered_on(path), ..self.clone() }
    }

    /// Seconds from one send of `size` bytes to the next on the path of this number; none where there is no schedule.
    pub fn gap_on(&self, path: u32, size: u64) -> Option<f64> {
        gap(self.rate, self.offered_on(path), size)
    }

    /// The same of a plan whose paths all have its own rate.
    pub(crate) fn gap(&self, size: u64) -> Option<f64> {
        gap(self.rate, self.offered, size)
    }

    /// Which way messages go.
    pub fn direction(&self) -> &'static str {
        match (self.pattern.facts().reverses, self.reverse) {
            _ if self.both => "both ways at once",
            (false, _) => "both ways",
            (true, false) => "to the far side",
            (true, true) => "to the near side",
        }
    }

    /// The transports of the paths, in their order.
    pub fn transports(&self) -> impl Iterator<Item = Name> {
        self.paths.iter().map(|path| path.transport)
    }
}

/// Seconds from one send of `size` bytes to the next, at `rate` iterations or `offered` bits a second.
pub(crate) fn gap(rate: Option<f64>, offered: Option<f64>, size: u64) -> Option<f64> {
    rate.map(f64::recip).or(offered.map(|bits| size as f64 * 8.0 / bits))
}

impl Default for Plan {
    /// What a run of TCP is asked to do where nothing else is said.
    fn default() -> Self {
        Self {
            paths: plain(&[transport::tcp::NAME]),
            pattern: Pattern::PingPong,
            reverse: false,
            both: false,
            schedule: Schedule::Adaptive,
            from: 1,
            to: 8 << 20,
            step: None,
            sizes: None,
            perturb: 0,
            trials: None,
            repeats: None,
            precision: 0.01,
            precise: false,
            budget: 12.0,
            every: None,
            response: 1,
            burst: 500,
            rate: None,
            offered: None,
            check: false,
            align: 4096,
            offset: (0, 0),
            cache: Cache::Warm,
            pool: 0,
            memory: None,
            reconnect: false,
            pin: None,
            seed: 1,
            patience: 10.0,
            decorators: Decorators::default(),
            near_under: Vec::new(),
            peer_under: Vec::new(),
            peer_under_more: Vec::new(),
        }
    }
}

/// What the clock and the empty loop cost. Reported, never subtracted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// One reading of the clock, nanoseconds.
    pub clock_cost_ns: f64,
    /// Smallest step the clock was seen to make, nanoseconds.
    pub clock_step_ns: f64,
    /// One pass of the measuring loop over a link that does nothing, nanoseconds.
    pub loop_cost_ns: f64,
}

impl Calibration {
    /// That of the clock which times paths of this kind: a modelled link has a clock of its own, which counts nanoseconds and costs none,
    /// whatever this machine's clock does.
    #[must_use]
    pub fn of_path(self, kind: Name) -> Self {
        if kind == transport::theory::NAME { Self { clock_cost_ns: 0.0, clock_step_ns: 1.0, ..self } } else { self }
    }
}

/// A path's first opening. `path` numbers it within the run, in the order of [`Plan::paths`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathOpened {
    /// Number of the path.
    pub path: u32,
    /// Transport.
    pub transport: Name,
    /// What the path is called, where that is not its transport's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The far side; none where one process plays both ends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub far: Option<Environment>,
    /// What took effect here.
    pub near_effective: Effective,
    /// What took effect there.
    pub far_effective: Effective,
    /// The flows, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub flows: Vec<FlowOpened>,
    /// The processes that take part, where the near halves are processes of their own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub members: Vec<MemberOpened>,
    /// The loading flows, where there are any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<LoadOpened>,
}

/// The loading flows of a path, as they were first opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoadOpened {
    /// CPUs that their threads keep to on the near side, one each; empty where they keep to none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near_cpus: Vec<u32>,
    /// The same on the far side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub far_cpus: Vec<u32>,
}

/// One flow of a path of several, as it was first opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowOpened {
    /// Its messages go to the near side, where they go both ways at once or its path is reversed.
    #[serde(skip_serializing_if = "is_false")]
    pub reverse: bool,
    /// CPU that the near side's thread of it keeps to; none where it keeps to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_cpu: Option<u32>,
    /// The same of the far side's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_cpu: Option<u32>,
    /// What took effect on its connection here, where that differs from the first flow's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_effective: Option<Effective>,
    /// What took effect there, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_effective: Option<Effective>,
}

impl PathOpened {
    /// What the path is called.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.transport.as_str())
    }
}

/// A round begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BlockOpened")]
pub struct RoundOpened {
    /// Path.
    pub path: u32,
    /// Number of the round; 0 is the survey, whose trials are short. The netpipe schedule has one round, 1.
    #[serde(rename = "block")]
    pub round: u32,
    /// Seconds since the run's start.
    pub at: f64,
    /// Trials planned.
    pub planned: u32,
    /// How fast the near side's machine was just then, whatever is measured on it.
    #[serde(skip_serializing_if = "Option::is_none", default, alias = "pace")]
    pub calibration: Option<MachineCalibration>,
    /// The same of the far side's, where that is another machine; of several far hosts, the first one's.
    #[serde(skip_serializing_if = "Option::is_none", default, alias = "far_pace")]
    pub far_calibration: Option<MachineCalibration>,
    /// The same of the other far hosts, where far processes take several in turn; empty in older files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub other_far_calibrations: Vec<HostCalibration>,
}

/// How fast the machine of one of several far hosts was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostCalibration {
    /// Number of the first far process on that host, from 1: the member of this number has the host's name.
    pub rank: u32,
    /// What was found.
    #[serde(flatten)]
    pub calibration: MachineCalibration,
}

impl RoundOpened {
    /// How fast the machine was on which the far process of this number runs, where it is the first of its host and that was looked at.
    pub fn far_calibration_of(&self, rank: u32) -> Option<MachineCalibration> {
        let other = || self.other_far_calibrations.iter().find(|of| of.rank == rank).map(|of| of.calibration);
        self.far_calibration.filter(|_| rank == HostCalibration::FIRST).or_else(other)
    }
}

impl HostCalibration {
    /// Number of the first far process, and so of the first far host.
    pub const FIRST: u32 = 1;
}

/// What others than the two sides took of the pinned CPUs during a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BlockTaken")]
pub struct RoundTaken {
    /// Path.
    pub path: u32,
    /// Number of the round.
    #[serde(rename = "block")]
    pub round: u32,
    /// What was taken, and by whom.
    #[serde(flatten)]
    pub taken: Taken,
}

/// A trial's place and report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Path.
    pub path: u32,
    /// Round.
    #[serde(rename = "block")]
    pub round: u32,
    /// Seconds since the run's start, at the trial's start.
    pub at: f64,
    /// Message size, bytes (HINT: subintervals of a process).
    pub size: u64,
    /// Answer's size, for request and connect.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub response: u64,
    /// Messages of a burst, for burst.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub burst: u64,
    /// The trial was shorter than a warm path needs, or taken while warming up: kept, not counted.
    #[serde(skip_serializing_if = "is_false", default)]
    pub warmup: bool,
    /// What it measured.
    #[serde(flatten)]
    pub report: TrialReport,
}

fn is_false(b: &bool) -> bool {
    !*b
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Why a point ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The interval is as narrow as asked.
    Precision,
    /// The time is spent; the interval is wider than asked.
    Budget,
    /// As many trials as asked were made.
    Trials,
    /// The run was stopped.
    Stopped,
}

/// Which time a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// Round trip divided by two.
    HalfRoundTrip,
    /// Round trip.
    RoundTrip,
    /// Time of one message in a stream or burst.
    OneWay,
    /// Time in which each side sent one message and received one (bidirectional).
    Exchange,
    /// From connecting to the close of one transaction's connection.
    Transaction,
    /// Time of one copy within a process.
    Copy,
    /// Time from one transfer to the next over several flows, whose transfers don't wait for each other: 1 over the rate of all.
    Spacing,
    /// Time to an answer of a program (HINT).
    Answer,
    /// From the call of a one-sided access until it is complete: a put and its fence, or a get.
    Completion,
    /// From a member's first cast of a round until it has delivered the messages of all (group).
    Round,
    /// From a member's first cast of a round until the slowest other member has delivered its last message (one-sender).
    Delivery,
    /// From entering an operation of all members of a group to leaving it, of the member that takes longest (collectives).
    Slowest,
}

/// A point's figures. Times are seconds of the kind `time` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointEnded {
    /// Path.
    pub path: u32,
    /// Message size, bytes (HINT: subintervals of a process).
    pub size: u64,
    /// Which time the figures are.
    pub time: TimeKind,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Why the point ended.
    pub why: Why,
}

/// Figures of one point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Figures {
    /// Rounds that visited the point.
    #[serde(rename = "blocks")]
    pub rounds: u32,
    /// Trials counted.
    pub trials: u32,
    /// Iterations counted.
    pub iterations: u64,
    /// The mean time of the shortest trial: the minimum of the paper and of NetPIPE. A mean counts interruptions, and a median does
    /// not: where every trial met one, this lies above the median.
    pub min: f64,
    /// Median of the rounds' medians.
    pub median: f64,
    /// Mean of all trials, weighted by iterations.
    pub mean: f64,
    /// Variance of the trials' times, seconds squared.
    pub variance: f64,
    /// 95% interval of the median in this run, from its rounds; in JSON `null` where the run can't tell one: fewer than four
    /// rounds, or states of the machine that outlast what it can average over.
    #[serde(with = "units::unbounded::low")]
    #[schemars(with = "Option<f64>")]
    pub low: f64,
    /// Its upper end; in JSON `null` where there is none.
    #[serde(with = "units::unbounded")]
    #[schemars(with = "Option<f64>")]
    pub high: f64,
    /// The shortest round, as it was timed, or the median where that is less: the median lies between the two.
    pub seen_low: f64,
    /// The longest round, likewise.
    pub seen_high: f64,
    /// Lower end of the range in which the median of a repeat on this machine falls, 95%. Only earlier runs tell it: absent
    /// where none is known, and in a run file's own lines, whose readers work it out from `earlier` and the whole curve.
    // Absent and not null: readers of this schema that know no earlier runs expect a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_low: Option<f64>,
    /// Its upper end, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_high: Option<f64>,
    /// Percentiles of single iterations, where they were timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
    /// Bits a second that the median stands for; 0 for HINT, whose figure is `quips`, and for a barrier, which carries nothing.
    pub throughput: f64,
    /// The sender's own rate, bits a second (stream).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_throughput: Option<f64>,
    /// Mean rate: transactions a second that were achieved, one after another, pauses included (request, connect: connections a
    /// second; group, one-sender: messages that a member delivers). `throughput` and times are the median's, which pauses leave alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions: Option<f64>,
    /// Quality of an answer: the whole over what its bounds leave open (HINT).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
    /// Quality improvement a second that the median stands for (HINT).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quips: Option<f64>,
    /// Share of messages lost, of those sent; where answers are due, of answers.
    pub loss: f64,
    /// Share of messages that came after a later one, in either direction.
    pub reordering: f64,
    /// What the flows did beside each other, where there are several: then `throughput` is that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowFigures>,
    /// What loading flows carried meanwhile, where they load the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadFigures>,
}

/// What loading flows carried while a point was measured: medians over its trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoadFigures {
    /// To the far side, bits a second; none where no loading flow goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub there: Option<f64>,
    /// From the far side, bits a second; none likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<f64>,
}

/// What several flows did beside each other: medians over a point's trials, of the time in which all flows ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowFigures {
    /// How many there are.
    pub count: u32,
    /// The slowest flow's throughput, bits a second.
    pub slowest: f64,
    /// Ends of its 95% interval, bits a second; none where the run can't tell one, as in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest_ends: Option<(f64, f64)>,
    /// The fastest flow's.
    pub fastest: f64,
    /// Ends of its 95% interval likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastest_ends: Option<(f64, f64)>,
    /// Jain's fairness index of their rates: 1 where all are equal, 1/n where one of n has everything.
    pub fairness: f64,
    /// Ends of its 95% interval likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness_ends: Option<(f64, f64)>,
    /// Share of a trial's time, from the first flow's beginning to the last one's end, in which all ran.
    pub together: f64,
}

impl Figures {
    /// How far the 95% interval reaches from the median on its farther side, as a share of the median: an interval need not lie
    /// evenly about it.
    pub fn reach(&self) -> f64 {
        (self.high - self.median).max(self.median - self.low) / self.median
    }
}

/// Percentiles of single iterations, seconds, of the point's time kind, each round weighing as much as any other (of a soak each iteration): all but the 50% of
/// the iterations as they were, since a slow state of the machine is part of the tail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// 50%: the median, at the run's typical level (of HINT that of all answers); no more than `max`.
    pub p50: f64,
    /// 90%; none from fewer than 10 iterations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p90: Option<f64>,
    /// 99%; none from fewer than 100 iterations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99: Option<f64>,
    /// 99.9%; none from fewer than 1,000 iterations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p999: Option<f64>,
    /// The longest that was seen. A median above it is one that the run's typical level made longer: the size was timed in faster
    /// moments than the run typically had.
    pub max: f64,
}

/// Something a reader of the figures must know, with its likely cause and remedy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A short stable name ("noisy", "cpu-interference", "steal", "throttled", "not-converged", "closed-loop", ...).
    #[serde(deserialize_with = "code")]
    pub code: String,
    /// Path, where it concerns one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<u32>,
    /// Sizes, where it concerns some.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sizes: Vec<u64>,
    /// What, the likely cause, and what to do.
    pub text: String,
}

/// A warning's code; some codes had another name in earlier files.
fn code<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let code = String::deserialize(from)?;
    let renamed = [("foreign-cpu", "cpu-interference"), ("one-block", "one-round")];
    Ok(renamed.iter().find(|names| names.0 == code).map_or(code, |names| names.1.to_owned()))
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Seconds since the run's start.
    pub at: f64,
    /// What went wrong, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Share of one CPU that other processes took of the pinned CPUs, where known. Without `taken` beside it, what the
    /// hypervisor kept is counted in: runs did not tell them apart then.
    #[serde(skip_serializing_if = "Option::is_none", default, alias = "foreign_cpu")]
    pub cpu_interference: Option<f64>,
    /// What was taken of the pinned CPUs and by whom, shares as means over the rounds of all paths, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken: Option<Taken>,
}
