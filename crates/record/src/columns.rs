//! The table of columns: every figure of a point, declared once. CSV, JSON, Parquet, OpenMetrics, the terminal's table of points
//! and the page's read it, so that a figure that is added here appears in all of them.

use std::borrow::Cow;

use measure::event::{Figures, TimeKind, Trial, Why};
use measure::figures::cost::{Cpu, End, PointCost};
use measure::{Pattern, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::Name;
use units::Kind as Unit;

use crate::{PathRun, Point, RunFile};

/// A point in its run: what a figure is taken from.
#[derive(Clone, Copy)]
struct At<'a> {
    run: &'a RunFile,
    path: &'a PathRun,
    point: &'a Point,
    f: &'a Figures,
}

impl<'a> At<'a> {
    /// What the point cost the near side (0) or the far side (1).
    fn cost(self, side: usize) -> Option<PointCost> {
        self.point.costs.of(End::BOTH[side]).copied()
    }

    /// What TCP sent again in the trials that count.
    fn retransmits(self) -> Option<u64> {
        let told = self.point.trials.iter().filter(|t| !t.warmup).filter_map(|t| Some(t.report.tcp?.retransmits));
        told.fold(None, |sum: Option<u64>, n| Some(sum.unwrap_or(0).saturating_add(n)))
    }

    /// The median of a TCP figure at the end of the trials that count.
    fn tcp(self, of: fn(&measure::Tcp) -> u64) -> Option<f64> {
        let counted = self.point.trials.iter().filter(|t| !t.warmup);
        let told: Vec<f64> = counted.filter_map(|t| Some(of(&t.report.tcp?) as f64)).collect();
        (!told.is_empty()).then(|| stats::median(&told))
    }

    /// The interval that the point is, where a soak's intervals are points ([`crate::read_intervals`]).
    fn interval(self) -> Option<Cow<'a, Trial>> {
        let alone = self.run.run.plan.soaks() && self.point.trials.len() == 1;
        self.point.trials.iter().next().filter(|interval| alone && !interval.warmup)
    }

    /// Bits a second that the sender offers; none where it sends as fast as it can.
    fn offered(self) -> Option<f64> {
        self.run.run.plan.offered_on(self.path.opened.path)
    }

    /// What the rounds of a point without an interval span.
    fn seen(self) -> Option<(f64, f64)> {
        let seen = (self.f.seen_low, self.f.seen_high);
        (!self.f.high.is_finite() && seen.0 > 0.0 && seen.1.is_finite()).then_some(seen)
    }

    /// What one direction carried, where messages go both ways at once: to the far side (0), to the near side (1).
    fn way(self, way: usize) -> Option<&'a Figures> {
        self.point.ways.as_deref().map(|ways| &ways[way])
    }

    /// Ends of the 95% interval of a direction's throughput; none where the run can't tell them.
    fn way_ends(self, way: usize) -> Option<(f64, f64)> {
        let f = self.way(way).filter(|f| f.high.is_finite() && f.low > 0.0)?;
        Some((f.throughput * f.median / f.high, f.throughput * f.median / f.low))
    }

    /// Flows that load the path; none in a run without any load.
    fn load_flows(self) -> Option<u32> {
        let plan = &self.run.run.plan;
        plan.loads().then(|| plan.load(self.path.opened.path).map_or(0, |load| load.flows))
    }

    /// Whether it is the rate of several flows at once, or of processes whose number is compared, a single one included. What all members of a group do
    /// together is no rate of theirs.
    fn rated(self) -> bool {
        let together = self.run.run.plan.pattern.facts().together;
        !together && (self.f.flows.is_some() || self.members().is_some())
    }

    /// How many flows, pairs or members there are: where both sides send, each flow is a connection, and a pair or member has one each way.
    fn several(self) -> Option<u32> {
        let count = self.f.flows?.count;
        Some(if self.run.run.plan.both && self.members().is_some() { count / 2 } else { count })
    }

    /// How processes are joined, where near halves are processes of their own.
    fn members(self) -> Option<Topology> {
        Some(self.run.run.plan.topology(self.path.opened.path)).filter(|topology| topology.has_members())
    }

    /// Its CPU time, where that is resolved.
    fn cpu(self, side: usize) -> Option<Cpu> {
        self.cost(side)?.cpu
    }
}

impl Shown {
    /// The title in a table of a path with this topology: its connections are flows, pairs or members. Loading flows are always flows.
    pub fn title(&self, topology: Topology) -> Cow<'static, str> {
        match topology {
            Topology::Flows => self.heading.into(),
            _ if self.heading.starts_with("loading") => self.heading.into(),
            _ => self.heading.replace("flows", topology.several()).replace("flow", topology.one()).into(),
        }
    }
}

fn bounded(cpu: Cpu) -> bool {
    cpu.interval.high.is_finite()
}

/// What sort of values a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Whole numbers.
    Count,
    /// Numbers.
    Number,
    /// Words, as the run file has them.
    Word,
    /// Yes or no.
    Flag,
}

/// A column's value for one point.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Yes or no.
    Flag(bool),
    /// There is none.
    Absent,
}

impl Cell {
    /// The value as a number; none of a word, and where there is none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Count(n) => Some(*n as f64),
            Cell::Number(v) => Some(*v),
            _ => None,
        }
    }

    /// The value as a whole number; none of anything else.
    pub fn count(&self) -> Option<u64> {
        if let Cell::Count(n) = self { Some(*n) } else { None }
    }

    /// The value as a word; none of anything else.
    pub fn word(self) -> Option<String> {
        if let Cell::Word(word) = self { Some(word) } else { None }
    }

    /// The value as yes or no; none of anything else.
    pub fn flag(&self) -> Option<bool> {
        if let Cell::Flag(yes) = self { Some(*yes) } else { None }
    }
}

/// How a table for people prints a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Form {
    /// The value, in its unit.
    Plain,
    /// The value with its 95% interval, whose ends are the columns of these names.
    Interval {
        /// Lower end.
        low: &'static str,
        /// Upper end.
        high: &'static str,
        /// Columns of the range that the rounds of a point without an interval span.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<[&'static str; 2]>,
    },
    /// A range from the value to that of the column of this name.
    Range {
        /// Upper end.
        to: &'static str,
    },
}

/// A column's place in tables for people: those of the terminal and of the page, which leave it out where no row has the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Title.
    pub heading: &'static str,
    /// Place among the others.
    #[serde(skip)]
    pub place: u8,
    /// How it is printed.
    #[serde(flatten)]
    pub form: Form,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name in CSV and JSON, with its unit; in Parquet after `point_`.
    pub name: &'static str,
    /// What it is, and when it is absent.
    pub help: &'static str,
    /// What sort of values it has.
    pub kind: Type,
    /// Their unit.
    pub unit: Option<Unit>,
    /// Its place in tables for people; none where it is part of another column there, or of no interest.
    pub shown: Option<Shown>,
    /// Its family in OpenMetrics; none where it is a label there, or of no interest.
    pub gauge: Option<&'static str>,
    value: fn(&Row) -> Cell,
}

impl Column {
    /// Its value in a row.
    pub fn of(&self, row: &Row) -> Cell {
        (self.value)(row)
    }
}

/// Type and value of a field.
trait Told {
    const KIND: Type;
    fn cell(&self) -> Cell;
}

macro_rules! told {
    ($($type:ty, $kind:ident, $of:expr;)+) => {$(
        impl Told for $type {
            const KIND: Type = Type::$kind;
            fn cell(&self) -> Cell { Cell::$kind($of(self)) }
        }
    )+};
}
told! {
    u32, Count, |n: &u32| u64::from(*n);
    u64, Count, |n: &u64| *n;
    f64, Number, |v: &f64| *v;
    String, Word, Clone::clone;
    Name, Word, word;
    Pattern, Word, word;
    Topology, Word, word;
    TimeKind, Word, word;
    Why, Word, word;
}

impl<T: Told> Told for Option<T> {
    const KIND: Type = T::KIND;
    fn cell(&self) -> Cell {
        self.as_ref().map_or(Cell::Absent, T::cell)
    }
}

/// The name of a variant in the run file.
fn word(variant: &impl Serialize) -> String {
    serde_json::to_value(variant).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Declares [`Row`] and [`COLUMNS`]: for each column what it is, its name and type, where its value comes from, its unit, its
/// place in tables for people, its family in OpenMetrics.
macro_rules! columns {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = |$at:ident| $value:expr, $unit:expr, $shown:expr, $gauge:expr;)+) => {
        /// A point as it is exported. `_s` are seconds of the kind that `time` names, `_bytes` bytes, `_bits_per_s` bits a second,
        /// `_share` a share between 0 and 1.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct Row {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        impl Row {
            /// The figures of a point of a path of a run.
            pub fn of(run: &RunFile, path: &PathRun, point: &Point) -> Self {
                let at = At { run, path, point, f: &point.figures };
                Self { $($name: { let $at = at; $value },)+ }
            }
        }

        /// The columns, in the order of the exports. Later versions add to their end.
        pub const COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            help: concat!($($help),+),
            kind: <$type as Told>::KIND,
            unit: $unit,
            shown: $shown,
            gauge: $gauge,
            value: |row| row.$name.cell(),
        }),+];
    };
}

const fn shown(place: u8, heading: &'static str) -> Option<Shown> {
    Some(Shown { heading, place, form: Form::Plain })
}

const fn interval(place: u8, heading: &'static str, low: &'static str, high: &'static str) -> Option<Shown> {
    Some(Shown { heading, place, form: Form::Interval { low, high, seen: None } })
}

/// The median, whose rounds are told where they give no interval.
const fn median(place: u8, heading: &'static str) -> Option<Shown> {
    let form = Form::Interval { low: "low_s", high: "high_s", seen: Some(["seen_low_s", "seen_high_s"]) };
    Some(Shown { heading, place, form })
}

const fn range(place: u8, heading: &'static str, to: &'static str) -> Option<Shown> {
    Some(Shown { heading, place, form: Form::Range { to } })
}

const SECONDS: Option<Unit> = Some(Unit::Seconds);
const BITS: Option<Unit> = Some(Unit::BitsPerSecond);
const SHARE: Option<Unit> = Some(Unit::Share);
const QUIPS: Option<Unit> = Some(Unit::Quips);

columns! {
    /// Number of the path within the run.
    path: u32 = |a| a.path.opened.path, None, None, None;
    /// Transport.
    transport: Name = |a| a.path.opened.transport, None, None, None;
    /// Pattern.
    pattern: Pattern = |a| a.run.run.plan.pattern, None, None, None;
    /// Message size, bytes (HINT: subintervals of a process).
    size_bytes: u64 = |a| a.point.size, None, None, None;
    /// Which time the times are.
    time: TimeKind = |a| a.point.time, None, None, None;
    /// Why the point ended; none where the run was cut off before.
    why: Option<Why> = |a| a.point.why, None, None, None;
    /// Rounds that visited the point.
    blocks: u32 = |a| a.f.rounds, None, shown(90, "rounds"), None;
    /// Trials counted.
    trials: u32 = |a| a.f.trials, None, None, Some("pipegauge_trials");
    /// Iterations counted.
    iterations: u64 = |a| a.f.iterations, None, None, None;
    /// Mean time of the shortest trial, seconds: the figure that NetPIPE reports. A mean counts interruptions, so it may lie above the
    /// median.
    min_s: f64 = |a| a.f.min, SECONDS, shown(30, "shortest trial"), Some("pipegauge_latency_min_seconds");
    /// Median of the rounds' medians, seconds.
    median_s: f64 = |a| a.f.median, SECONDS, median(10, "median [95%]"), Some("pipegauge_latency_seconds");
    /// Lower end of the median's 95% interval, seconds.
    low_s: Option<f64> = |a| Some(a.f.low).filter(|_| a.f.high.is_finite()), SECONDS, None, Some("pipegauge_latency_low_seconds");
    /// Upper end of the median's 95% interval, seconds; none where nothing bounds it.
    high_s: Option<f64> = |a| Some(a.f.high).filter(|v| v.is_finite()), SECONDS, None, Some("pipegauge_latency_high_seconds");
    /// Mean, weighted by iterations, seconds.
    mean_s: f64 = |a| a.f.mean, SECONDS, None, None;
    /// Variance of the trials' times, seconds squared.
    variance_s2: f64 = |a| a.f.variance, None, None, None;
    /// Lower end of the range in which the median of a repeat on this machine falls, 95%, seconds; none where no earlier run
    /// is known.
    repeat_low_s: Option<f64> = |a| a.f.repeat_low, SECONDS, range(20, "on this machine [95%]", "repeat_high_s"), None;
    /// Upper end of the range in which the median of a repeat on this machine falls, 95%, seconds; none likewise.
    repeat_high_s: Option<f64> = |a| a.f.repeat_high, SECONDS, None, None;
    /// Median of single iterations, seconds, where they were timed.
    p50_s: Option<f64> = |a| a.f.percentiles.map(|p| p.p50), SECONDS, shown(60, "p50"), None;
    /// 90% of single iterations, seconds, where they were timed.
    p90_s: Option<f64> = |a| a.f.percentiles.and_then(|p| p.p90), SECONDS, shown(61, "p90"), None;
    /// 99% of single iterations, seconds, where they were timed.
    p99_s: Option<f64> = |a| a.f.percentiles.and_then(|p| p.p99), SECONDS, shown(62, "p99"), Some("pipegauge_latency_p99_seconds");
    /// 99.9% of single iterations, seconds, where they were timed.
    p999_s: Option<f64> = |a| a.f.percentiles.and_then(|p| p.p999), SECONDS, shown(63, "p99.9"), None;
    /// Longest single iteration, seconds, where they were timed.
    max_s: Option<f64> = |a| a.f.percentiles.map(|p| p.max), SECONDS, shown(64, "longest"), None;
    /// Throughput that the median stands for, bits a second; none of HINT and of a barrier, and none of a run that sends so many messages a second
    /// (`--rate`), which says nothing of how much the path carries. Of a stream at an offered rate it is what arrived of that.
    throughput_bits_per_s: Option<f64> = |a| Some(a.f.throughput).filter(|_| a.run.arrives()), BITS, shown(50, "throughput"),
        Some("pipegauge_throughput_bits_per_second");
    /// The sender's own rate, bits a second (stream).
    sender_throughput_bits_per_s: Option<f64> = |a| a.f.sender_throughput, BITS, shown(51, "sender"), None;
    /// Mean rate: transactions a second that were achieved, pauses included (request; connect: connections a second; group, one-sender: messages that a member delivers).
    transactions_per_s: Option<f64> = |a| a.f.transactions, Some(Unit::PerSecond), shown(52, "mean rate"), None;
    /// Share of messages lost.
    loss_share: f64 = |a| a.f.loss, SHARE, shown(70, "lost"), Some("pipegauge_loss_ratio");
    /// Share of messages out of order.
    reordering_share: f64 = |a| a.f.reordering, SHARE, shown(71, "reordered"), Some("pipegauge_reordering_ratio");
    /// Quality of an answer (HINT).
    quality: Option<f64> = |a| a.f.quality, None, shown(40, "quality"), None;
    /// Quality improvement a second (HINT).
    quips: Option<f64> = |a| a.f.quips, QUIPS, interval(41, "QUIPS [95%]", "quips_low", "quips_high"), Some("pipegauge_quips");
    /// Lower end of the 95% interval of quips; none likewise.
    quips_low: Option<f64> = |a| a.f.quips.filter(|_| a.f.high.is_finite()).map(|q| q * a.f.median / a.f.high), QUIPS, None, None;
    /// Upper end of the 95% interval of quips; none where nothing bounds it.
    quips_high: Option<f64> = |a| a.f.quips.filter(|_| a.f.low > 0.0 && a.f.high.is_finite()).map(|q| q * a.f.median / a.f.low),
        QUIPS, None, None;
    /// Memory of a process, bytes (HINT).
    memory_bytes: Option<u64> = |a| a.run.run.plan.pattern.facts().size.takes.map(|each| a.point.size.saturating_mul(each)), Some(Unit::Bytes),
        shown(42, "memory"), None;
    /// What the path is called: its transport's name, or where a run has that more than once the label that tells it apart.
    label: String = |a| a.path.opened.name().to_owned(), None, None, None;
    /// Which way messages went: "both ways", "to the far side", "to the near side" (`--reverse`), or "both ways at once" (`--both`).
    direction: String = |a| a.run.run.plan.direction().to_owned(), None, None, None;
    /// CPU time that a transfer (what `time` counts) takes of the near side's thread, seconds; none of older files, of models, where
    /// contents were checked, and where it is not resolved.
    near_cpu_s: Option<f64> = |a| a.cpu(0).map(|c| c.median), SECONDS,
        None, Some("pipegauge_near_cpu_seconds");
    /// Lower end of its 95% interval, seconds; none where the run can't tell one.
    near_cpu_low_s: Option<f64> = |a| a.cpu(0).map(|c| c.interval.low).filter(|_| a.cpu(0).is_some_and(bounded)), SECONDS, None, None;
    /// Upper end of its 95% interval, seconds; none likewise.
    near_cpu_high_s: Option<f64> = |a| a.cpu(0).map(|c| c.interval.high).filter(|v| v.is_finite()), SECONDS, None, None;
    /// CPU time of the near side for a byte that crosses the path, seconds a byte; none likewise.
    near_cpu_s_per_byte: Option<f64> = |a| a.cpu(0).map(|c| c.per_byte).filter(|cost| *cost > 0.0), Some(Unit::SecondsPerByte), None, None;
    /// CPU time of the near side over the time that passed, as a share of one CPU: the rest it was idle.
    near_busy_share: Option<f64> = |a| a.cost(0).and_then(|c| c.busy), SHARE, None, Some("pipegauge_near_busy_ratio");
    /// Share of the near side's CPU time in the kernel, the rest being user time; none where fewer than 100 ticks of the kernel tell it.
    near_system_share: Option<f64> = |a| a.cost(0).and_then(|c| c.system), SHARE, None, None;
    /// Times in a transfer that the near side's thread gave up its CPU to wait (voluntary context switches).
    near_waits: Option<f64> = |a| a.cost(0).map(|c| c.waits), None, None, Some("pipegauge_near_waits");
    /// Times in a transfer that the near side's CPU was taken from its thread (involuntary context switches).
    near_preemptions: Option<f64> = |a| a.cost(0).map(|c| c.preemptions), None, None, None;
    /// CPU time that a transfer (what `time` counts) takes of the far side's thread, seconds; none of older files, of models, where
    /// contents were checked, and where it is not resolved.
    far_cpu_s: Option<f64> = |a| a.cpu(1).map(|c| c.median), SECONDS,
        None, Some("pipegauge_far_cpu_seconds");
    /// Lower end of its 95% interval, seconds; none where the run can't tell one.
    far_cpu_low_s: Option<f64> = |a| a.cpu(1).map(|c| c.interval.low).filter(|_| a.cpu(1).is_some_and(bounded)), SECONDS, None, None;
    /// Upper end of its 95% interval, seconds; none likewise.
    far_cpu_high_s: Option<f64> = |a| a.cpu(1).map(|c| c.interval.high).filter(|v| v.is_finite()), SECONDS, None, None;
    /// CPU time of the far side for a byte that crosses the path, seconds a byte; none likewise.
    far_cpu_s_per_byte: Option<f64> = |a| a.cpu(1).map(|c| c.per_byte).filter(|cost| *cost > 0.0), Some(Unit::SecondsPerByte), None, None;
    /// CPU time of the far side over the time that passed, as a share of one CPU: the rest it was idle.
    far_busy_share: Option<f64> = |a| a.cost(1).and_then(|c| c.busy), SHARE, None, Some("pipegauge_far_busy_ratio");
    /// Share of the far side's CPU time in the kernel, the rest being user time; none where fewer than 100 ticks of the kernel tell it.
    far_system_share: Option<f64> = |a| a.cost(1).and_then(|c| c.system), SHARE, None, None;
    /// Times in a transfer that the far side's thread gave up its CPU to wait (voluntary context switches).
    far_waits: Option<f64> = |a| a.cost(1).map(|c| c.waits), None, None, Some("pipegauge_far_waits");
    /// Times in a transfer that the far side's CPU was taken from its thread (involuntary context switches).
    far_preemptions: Option<f64> = |a| a.cost(1).map(|c| c.preemptions), None, None, None;
    /// Segments that TCP sent again on the near side in all trials that count; none of other paths.
    retransmits: Option<u64> = |a| a.retransmits(), None, shown(72, "retransmits"), Some("pipegauge_retransmits");
    /// Flows that ran at once, where there are several (`--flows`): then times, throughput and rates are those of all.
    flows: Option<u32> = |a| a.several(), None, shown(5, "flows"), None;
    /// Rate of all flows, one over the median: messages, transactions or what else `time` counts a second; none of one flow that is no pair or
    /// member.
    rate_per_s: Option<f64> = |a| a.rated().then(|| a.f.median.recip()), Some(Unit::PerSecond), shown(53, "rate of all"), None;
    /// Throughput of the slowest flow, bits a second, the median over trials; none of one flow.
    slowest_flow_bits_per_s: Option<f64> = |a| a.f.flows.map(|flows| flows.slowest), BITS, shown(54, "slowest flow"), None;
    /// Throughput of the fastest flow, bits a second, likewise.
    fastest_flow_bits_per_s: Option<f64> = |a| a.f.flows.map(|flows| flows.fastest), BITS, shown(55, "fastest flow"), None;
    /// Jain's fairness index of the flows, the median over trials: 1 where all are equal, 1/n where one of n has everything; none of one flow.
    fairness: Option<f64> = |a| a.f.flows.map(|flows| flows.fairness), None, shown(56, "fairness"), Some("pipegauge_flow_fairness");
    /// Share of a trial's time in which all flows ran, which alone counts, the median over trials; none of one flow.
    flows_together_share: Option<f64> = |a| a.f.flows.map(|flows| flows.together), SHARE, shown(57, "all at once"), None;
    /// Number of a soak's interval, from 1; none of other runs.
    interval: Option<u64> = |a| a.interval().map(|t| u64::from(t.round)), None, None, None;
    /// Start of a soak's interval, seconds since the run's start; none of other runs.
    at_s: Option<f64> = |a| a.interval().map(|t| t.at), SECONDS, None, None;
    /// Flows that loaded the path meanwhile (`--load`; of both directions each way), 0 while it was idle; none of a run that loads no path.
    load_flows: Option<u32> = |a| a.load_flows(), None, shown(4, "loading flows"), Some("pipegauge_loading_flows");
    /// What the loading flows carried to the far side, bits a second, the median over trials; none where none goes there.
    load_there_bits_per_s: Option<f64> = |a| a.f.load.and_then(|load| load.there), BITS, shown(58, "load there"),
        Some("pipegauge_load_there_bits_per_second");
    /// What they carried from the far side, bits a second, likewise.
    load_back_bits_per_s: Option<f64> = |a| a.f.load.and_then(|load| load.back), BITS, shown(59, "load back"),
        Some("pipegauge_load_back_bits_per_second");
    /// What the sender of a stream offered (`--rate`), bits a second; none where it sent as fast as it could.
    offered_bits_per_s: Option<f64> = |a| a.offered(), BITS, None, Some("pipegauge_offered_bits_per_second");
    /// How several share processes, where the near half of each connection is a process of its own (`--pairs`, `--topology`): `flows` is then
    /// the number of pairs or members; none of flows of two processes.
    topology: Option<Topology> = |a| a.members(), None, None, None;
    /// Round-trip time that TCP itself smoothes, seconds, the median over the ends of the trials that count, on the near side; none of other
    /// paths.
    tcp_rtt_s: Option<f64> = |a| a.tcp(|tcp| tcp.rtt_us).map(|us| us * 1e-6), SECONDS, None, Some("pipegauge_tcp_rtt_seconds");
    /// TCP's congestion window, segments, likewise.
    tcp_window: Option<f64> = |a| a.tcp(|tcp| tcp.window), None, None, Some("pipegauge_tcp_window");
    /// Rate at which TCP last saw data delivered, bits a second, likewise.
    tcp_delivery_bits_per_s: Option<f64> = |a| a.tcp(|tcp| tcp.delivery_rate).map(|bytes| bytes * 8.0), BITS, None, None;
    /// CPU cycles that a transfer takes of the near side's thread, those in the kernel too, over all trials that count; none where the kernel does
    /// not let them be counted (`pipegauge doctor`).
    near_cycles: Option<f64> = |a| a.cost(0).and_then(|c| c.cycles), None, None, Some("pipegauge_near_cycles");
    /// Instructions of the near side's thread likewise.
    near_instructions: Option<f64> = |a| a.cost(0).and_then(|c| c.instructions), None, None, Some("pipegauge_near_instructions");
    /// CPU cycles that a transfer takes of the far side's thread, those in the kernel too, over all trials that count; none where the kernel does
    /// not let them be counted (`pipegauge doctor`).
    far_cycles: Option<f64> = |a| a.cost(1).and_then(|c| c.cycles), None, None, Some("pipegauge_far_cycles");
    /// Instructions of the far side's thread likewise.
    far_instructions: Option<f64> = |a| a.cost(1).and_then(|c| c.instructions), None, None, Some("pipegauge_far_instructions");
    /// Throughput to the far side while messages went both ways at once (`--both`), bits a second; the point's throughput is that of both
    /// directions. None where they go one way at a time.
    there_bits_per_s: Option<f64> = |a| a.way(0).map(|f| f.throughput), BITS,
        shown(12, "there"), Some("pipegauge_there_bits_per_second");
    /// Lower end of its 95% interval, bits a second; none where the run can't tell one.
    there_low_bits_per_s: Option<f64> = |a| a.way_ends(0).map(|ends| ends.0), BITS, None, None;
    /// Upper end of its 95% interval, bits a second; none likewise.
    there_high_bits_per_s: Option<f64> = |a| a.way_ends(0).map(|ends| ends.1), BITS, None, None;
    /// Throughput to the near side meanwhile, bits a second; none likewise.
    back_bits_per_s: Option<f64> = |a| a.way(1).map(|f| f.throughput), BITS,
        shown(13, "back"), Some("pipegauge_back_bits_per_second");
    /// Lower end of its 95% interval, bits a second; none where the run can't tell one.
    back_low_bits_per_s: Option<f64> = |a| a.way_ends(1).map(|ends| ends.0), BITS, None, None;
    /// Upper end of its 95% interval, bits a second; none likewise.
    back_high_bits_per_s: Option<f64> = |a| a.way_ends(1).map(|ends| ends.1), BITS, None, None;
    /// Share of the messages to the far side that were lost while messages went both ways at once; none where they go one way at a time.
    there_loss_share: Option<f64> = |a| a.way(0).map(|f| f.loss), SHARE, shown(73, "lost there"), None;
    /// Share of those to the near side, likewise.
    back_loss_share: Option<f64> = |a| a.way(1).map(|f| f.loss), SHARE, shown(74, "lost back"), None;
    /// Lower end of the 95% interval of the slowest flow's throughput, bits a second; none where the run can't tell one.
    slowest_flow_low_bits_per_s: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.slowest_ends?.0)), BITS, None, None;
    /// Upper end of it, bits a second; none likewise.
    slowest_flow_high_bits_per_s: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.slowest_ends?.1)), BITS, None, None;
    /// Lower end of the 95% interval of the fastest flow's throughput, bits a second; none where the run can't tell one.
    fastest_flow_low_bits_per_s: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.fastest_ends?.0)), BITS, None, None;
    /// Upper end of it, bits a second; none likewise.
    fastest_flow_high_bits_per_s: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.fastest_ends?.1)), BITS, None, None;
    /// Lower end of the 95% interval of fairness; none where the run can't tell one.
    fairness_low: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.fairness_ends?.0)), None, None, None;
    /// Upper end of it; none likewise.
    fairness_high: Option<f64> = |a| a.f.flows.and_then(|flows| Some(flows.fairness_ends?.1)), None, None, None;
    /// The shortest round of a point whose rounds give no interval, seconds, as it was timed, or the median where that is less; none where there
    /// is an interval.
    seen_low_s: Option<f64> = |a| a.seen().map(|seen| seen.0), SECONDS, None, None;
    /// The longest round, likewise.
    seen_high_s: Option<f64> = |a| a.seen().map(|seen| seen.1), SECONDS, None, None;
}

/// Every point of every path, path by path, ascending by size.
pub fn rows(run: &RunFile) -> impl Iterator<Item = Row> + '_ {
    run.paths.iter().flat_map(move |path| path.points.iter().map(move |point| Row::of(run, path, point)))
}

/// The columns of tables for people, in their order.
pub fn for_people() -> Vec<(&'static Column, Shown)> {
    let mut all: Vec<_> = COLUMNS.iter().filter_map(|c| Some((c, c.shown?))).collect();
    all.sort_by_key(|(_, shown)| shown.place);
    all
}

/// The column of this name.
pub fn column(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|c| c.name == name)
}

impl RunFile {
    /// Whether size over time is what the path carries: not for HINT, whose sizes are not bytes, nor for a barrier, which has none, nor for a run on a
    /// schedule (`--rate`), whose times are those of an answer and leave the path idle between sends.
    pub fn carries(&self) -> bool {
        !self.has_score() && self.run.plan.pattern.facts().sized && !self.run.plan.scheduled()
    }

    /// Whether size over time is what arrived: as [`RunFile::carries`], and for a stream at an offered rate, too.
    pub fn arrives(&self) -> bool {
        self.carries() || self.run.plan.offers()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use measure::event::{FlowFigures, LoadFigures};
    use measure::{Load, LoadDirection};

    use super::*;
    use crate::{Analysis, Costs, export, sample};

    #[test]
    fn titles_name_what_a_path_has_several_of() {
        let of = |name: &str| COLUMNS.iter().find(|c| c.name == name).and_then(|c| c.shown).unwrap();
        let title = |name, topology| of(name).title(topology).into_owned();
        assert_eq!(title("slowest_flow_bits_per_s", Topology::Flows), "slowest flow");
        assert_eq!(title("slowest_flow_bits_per_s", Topology::Pairs), "slowest pair");
        assert_eq!(title("flows", Topology::FanIn), "members");
        assert_eq!(title("load_flows", Topology::Pairs), "loading flows", "a load is flows everywhere");
    }

    #[test]
    fn names_tell_units_and_name_each_column_once() {
        let names: BTreeSet<&str> = COLUMNS.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), COLUMNS.len());
        let headings: BTreeSet<&str> = for_people().iter().map(|(_, shown)| shown.heading).collect();
        assert_eq!(headings.len(), for_people().len());
        for c in COLUMNS {
            let ending = match c.unit {
                Some(Unit::Seconds) => "_s",
                Some(Unit::BitsPerSecond) => "_bits_per_s",
                Some(Unit::PerSecond) => "_per_s",
                Some(Unit::Bytes) => "_bytes",
                Some(Unit::Share) => "_share",
                _ => "",
            };
            assert!(c.name.ends_with(ending), "{}: {:?}", c.name, c.unit);
            assert!(c.help.trim().ends_with('.') && c.help.len() > 5, "{}", c.name);
            let others = match c.shown.map(|shown| shown.form) {
                Some(Form::Interval { low, high, seen }) => {
                    [low, high].into_iter().chain(seen.into_iter().flatten()).collect()
                }
                Some(Form::Range { to }) => vec![to],
                Some(Form::Plain) | None => vec![],
            };
            assert!(others.iter().all(|name| column(name).is_some_and(|o| o.unit == c.unit)), "{}", c.name);
        }
    }

    /// The names that people's scripts read, in their order.
    #[test]
    fn columns_that_were_stay_where_they_were() {
        let old = "path transport pattern size_bytes time why blocks trials iterations min_s median_s low_s high_s mean_s variance_s2 \
                   repeat_low_s repeat_high_s p50_s p90_s p99_s p999_s max_s throughput_bits_per_s \
                   sender_throughput_bits_per_s transactions_per_s loss_share reordering_share quality quips";
        let names: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        assert!(names.starts_with(&old.split_whitespace().collect::<Vec<_>>()), "{names:?}");
        let gauges: BTreeSet<&str> = COLUMNS.iter().filter_map(|c| c.gauge).collect();
        for gauge in [
            "latency_seconds",
            "latency_low_seconds",
            "latency_high_seconds",
            "latency_min_seconds",
            "latency_p99_seconds",
        ]
        .into_iter()
        .chain(["throughput_bits_per_second", "quips", "trials", "loss_ratio", "reordering_ratio"])
        {
            assert!(gauges.contains(&*format!("pipegauge_{gauge}")), "{gauge}");
        }
    }

    /// A run with every figure that a point can have.
    fn full() -> RunFile {
        let mut run = sample::file();
        run.run.plan.paths[0].topology = Topology::Pairs;
        run.run.plan.paths[0].load = Some(Load { flows: 4, direction: LoadDirection::Both, size: 4096 });
        let f = &mut run.paths[0].points[0].figures;
        (f.repeat_low, f.repeat_high) = (Some(1e-6), Some(9e-5));
        (f.sender_throughput, f.transactions, f.loss, f.reordering) = (Some(1e9), Some(1e4), 0.1, 0.2);
        f.percentiles = Some(measure::event::Percentiles {
            p50: 1e-5,
            p90: Some(2e-5),
            p99: Some(3e-5),
            p999: Some(4e-5),
            max: 5e-5,
        });
        (f.low, f.high) = (0.9 * f.median, 1.1 * f.median);
        (f.quality, f.quips) = (Some(9.0), Some(8e5));
        f.load = Some(LoadFigures { there: Some(3e9), back: Some(2e9) });
        f.flows = Some(FlowFigures {
            count: 4,
            slowest: 1e9,
            slowest_ends: Some((0.9e9, 1.1e9)),
            fastest: 2e9,
            fastest_ends: Some((1.9e9, 2.1e9)),
            fairness: 0.9,
            fairness_ends: Some((0.8, 0.95)),
            together: 0.8,
        });
        let half = Figures { throughput: f.throughput / 2.0, loss: 0.01, ..*f };
        run.paths[0].points[0].ways = Some(Box::new([half, half]));
        for cpu in run.paths[0].points[0].costs.iter_mut().filter_map(|cost| cost.cpu.as_mut()) {
            cpu.interval = stats::Interval { low: 0.9 * cpu.median, high: 1.1 * cpu.median };
        }
        run
    }

    #[test]
    fn every_column_is_in_every_format() {
        let mut run = full();
        run.run.plan.paths[0].offered = Some(4e9);
        let row = Row::of(&run, &run.paths[0], &run.paths[0].points[0]);
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        let csv = text(&|out| export::csv(&run, out).unwrap());
        let json: serde_json::Value = serde_json::to_value(export::Document::of(&Analysis::of(&run))).unwrap();
        let schema = crate::schema::export_schema();
        let metrics = text(&|out| export::openmetrics(&run, out).unwrap());
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let values: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        for (i, c) in COLUMNS.iter().enumerate() {
            let cell = c.of(&row);
            assert!(
                cell != Cell::Absent || ["memory_bytes", "interval", "at_s"].contains(&c.name),
                "the sample lacks {}",
                c.name
            );
            assert_eq!(header[i], c.name);
            assert_eq!(values[i].is_empty(), cell == Cell::Absent, "{}", c.name);
            let value = &json["paths"][0]["points"][0][c.name];
            assert_eq!((value.as_f64(), value.as_str()), (cell.number(), cell.clone().word().as_deref()), "{}", c.name);
            assert!(schema["$defs"]["Row"]["properties"][c.name]["description"].is_string(), "{}", c.name);
            if let Some(gauge) = c.gauge {
                let sample = metrics.lines().find(|l| l.starts_with(&format!("{gauge}{{path=\"0\"")));
                let sample = sample.and_then(|l| l.rsplit(' ').next()?.parse().ok());
                assert_eq!(sample, cell.number(), "{gauge}");
            }
        }
    }

    #[test]
    fn paths_of_one_transport_are_told_apart_by_their_labels() {
        let mut run = full();
        let mut second = run.paths[0].clone();
        (second.opened.path, second.opened.label) = (1, Some("tcp, \"large\"".to_owned()));
        run.paths.truncate(1);
        run.paths.push(second);
        let labels: BTreeSet<String> = rows(&run).map(|row| row.label).collect();
        assert_eq!(labels.into_iter().collect::<Vec<_>>(), ["tcp", "tcp, \"large\""]);
        let (mut csv, mut metrics) = (Vec::new(), Vec::new());
        export::csv(&run, &mut csv).unwrap();
        export::openmetrics(&run, &mut metrics).unwrap();
        let (csv, metrics) = (String::from_utf8(csv).unwrap(), String::from_utf8(metrics).unwrap());
        assert!(csv.contains(",tcp,both ways,") && csv.contains(",\"tcp, \"\"large\"\"\",both ways,"), "{csv}");
        assert!(metrics.contains("label=\"tcp\"") && metrics.contains("label=\"tcp, \\\"large\\\"\""), "{metrics}");
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn every_column_is_in_parquet() {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        let mut file = tempfile::tempfile().unwrap();
        export::parquet(&full(), &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema();
        let names: BTreeSet<&str> = schema.get_fields().iter().map(|f| f.name()).collect();
        for c in COLUMNS {
            assert!(names.contains(c.name) || names.contains(&*format!("point_{}", c.name)), "{}", c.name);
        }
    }

    #[test]
    fn what_a_run_does_not_tell_of_its_cost_is_absent_and_not_0() {
        let mut run = sample::file();
        let row = |run: &RunFile| Row::of(run, &run.paths[0], &run.paths[0].points[0]);
        let told = row(&run);
        assert!(told.near_cpu_s.is_some_and(|near| told.far_cpu_s.is_some_and(|far| near > far && far > 0.0)));
        assert_eq!(told.near_cpu_s, told.near_cpu_s_per_byte, "of 1 byte");
        assert_eq!(told.retransmits, Some(u64::from(told.trials)));
        let point = &mut run.paths[0].points[0];
        point.costs = Costs::new(point.costs.of(End::Near).map(|cost| PointCost { cpu: None, ..*cost }), None);
        point.trials.plain().iter_mut().for_each(|t| t.report.tcp = None);
        let row = row(&run);
        let far = [row.far_cpu_s, row.far_cpu_low_s, row.far_cpu_s_per_byte, row.far_busy_share, row.far_waits];
        assert_eq!((row.near_cpu_s, row.near_cpu_s_per_byte, far, row.retransmits), (None, None, [None; 5], None));
        assert!(row.near_waits.is_some(), "switches are counted whatever the CPU time");
    }

    #[test]
    fn a_throughput_is_absent_where_a_size_over_time_is_none() {
        let mut run = full();
        let throughput = |run: &RunFile| Row::of(run, &run.paths[0], &run.paths[0].points[0]).throughput_bits_per_s;
        assert!(throughput(&run).is_some());
        run.run.plan.rate = Some(1e3);
        assert_eq!(throughput(&run), None);
        let mut csv = Vec::new();
        export::csv(&run, &mut csv).unwrap();
        assert!(rows(&run).all(|row| row.throughput_bits_per_s.is_none()));
        let document = export::Document::of(&Analysis::of(&run));
        let summary = document.paths[0].summary.as_ref().unwrap();
        assert_eq!((summary.max_throughput_bits_per_s, summary.half_power_bytes), (None, None));
        (run.run.plan.rate, run.run.plan.pattern) = (None, Pattern::Hint);
        assert_eq!(throughput(&run), None);
        assert_eq!(Row::of(&run, &run.paths[0], &run.paths[0].points[0]).memory_bytes.map(|b| b > 0), Some(true));
    }
}
