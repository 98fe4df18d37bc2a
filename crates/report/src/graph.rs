//! The list of graphs, with all facts of each in one place. The first three are those of the 1996 paper (`seeds/004`, section 2).

use record::{Analysis, RunFile};

use crate::curve::{self, Pt, Series};
use crate::scale::{Quantity, Spread};
use crate::{cost, flows, levels, load, rates, soak, tcp};

/// Which graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graph {
    /// Throughput over transfer time, the time logarithmic. It is not univalued: a larger message can take less time (section 3), so points
    /// stay in the order of their sizes.
    Signature,
    /// Throughput over message size.
    Throughput,
    /// Message size over transfer time, both logarithmic, as the paper's saturation interval is an interval of time.
    Saturation,
    /// Transfers a second, over message size (`seeds/000`, figure 8: transactions).
    MessageRate,
    /// Transfer time over message size, both linear: a straight line where time is one (`seeds/000`, figures 3 and 4; `seeds/003`, figure
    /// 1).
    Latency,
    /// Time that a layer adds, over message size ([`crate::layers`]).
    Overhead,
    /// How far the interval reaches from the median, over message size ([`crate::precision`]).
    Precision,
    /// HINT: quality improvement a second, over the time to an answer (`seeds/004`, figures 6 and 12).
    Quips,
    /// CPU time of a transfer on each side, over message size (`cost.rs`).
    Cpu,
    /// Time of a transfer over the time since a soak's start (`soak.rs`).
    OverTime,
    /// Throughput over the time since a soak's start.
    RateOverTime,
    /// Percentiles of the time of a transfer over the number of flows that load the path (`load.rs`).
    Load,
    /// Total throughput over the number of flows, pairs or members (`flows.rs`).
    Flows,
    /// Share of messages lost over the rate that is offered (`rates.rs`).
    Loss,
    /// Congestion window of TCP over the time since the start (`tcp.rs`).
    TcpWindow,
    /// Round-trip time that TCP smoothes, over the time since the start.
    TcpRtt,
    /// Level of each round over the time since the start: the machine's state (`levels.rs`).
    Levels,
}

/// Runs that a graph can show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Those with rounds, of messages.
    Messages,
    /// Those with rounds whose size over time is what the path carries ([`RunFile::carries`]).
    Carrying,
    /// HINT's.
    Hint,
    /// Those with rounds that recorded CPU time.
    Costed,
    /// Soaks, and of them those whose size over time is what arrived.
    Soak,
    CarryingSoak,
    /// Those with loaded paths.
    Loaded,
    /// Those with paths that differ in their number of connections.
    Several,
    /// Those with paths that differ in the offered rate.
    Offered,
    /// Those that recorded the state of a TCP connection.
    Tcp,
    /// Those with several rounds.
    Rounds,
}

/// All facts of a graph.
struct Look {
    /// What a person types.
    name: &'static str,
    /// Help of `--graph`; none of a graph that another command draws.
    help: Option<&'static str>,
    /// Title of the picture.
    title: &'static str,
    /// How to read the picture, for its footnote.
    read: &'static str,
    /// What the line and its band are.
    line: &'static str,
    /// What the axes show.
    axes: (Quantity, Quantity),
    /// Place of a point whose transfer takes so many seconds.
    place: fn(&Pt, f64) -> (f64, f64),
    /// Title of the axis of times or shares, where it differs from the usual one.
    time: Option<&'static str>,
    /// Both axes are linear where no curve is flat on them.
    linear: bool,
    /// Where its curves come from.
    curves: Curves,
    /// Runs that it can show.
    of: Of,
}

/// Where the curves of a graph come from.
#[derive(Clone, Copy)]
enum Curves {
    /// The points of each path: fits and dips can be drawn over them.
    Paths,
    /// A module of its own.
    Own(fn(&[&Analysis<'_>]) -> Vec<Series>),
}

const STRETCH: &str = "Line: median of a stretch of time; band: from the lowest to the highest trial of it.";
const LINE: &str = "Line: median; band: its 95% interval; thin line: shortest trial.";

impl Graph {
    /// The graphs of any run with rounds, in the order in which a report shows them.
    pub const ALL: [Graph; 3] = [Graph::Signature, Graph::Throughput, Graph::Saturation];

    /// Every graph.
    pub const EVERY: [Graph; 17] = [
        Graph::Signature,
        Graph::Throughput,
        Graph::Saturation,
        Graph::MessageRate,
        Graph::Latency,
        Graph::Overhead,
        Graph::Precision,
        Graph::Quips,
        Graph::Cpu,
        Graph::OverTime,
        Graph::RateOverTime,
        Graph::Load,
        Graph::Flows,
        Graph::Loss,
        Graph::TcpWindow,
        Graph::TcpRtt,
        Graph::Levels,
    ];

    const fn look(self) -> Look {
        use Quantity::{Connections, Flows, Moment, Offered, PerSecond, Quips, Rate, Segments, Share, Size, Time};
        match self {
            Graph::Signature => Look {
                name: "signature",
                help: Some("Throughput over time: latency, half-power point and maximum in one picture"),
                title: "Signature graph: throughput over transfer time",
                read: "A line starts at its latency (left end) and tops at its maximum throughput; each dot is one message size, \
                       and sizes grow along the line. Further left and further up is faster.",
                line: LINE,
                axes: (Time, Rate),
                place: |p, seconds| (seconds, p.throughput_at(seconds)),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Carrying,
            },
            Graph::Throughput => Look {
                name: "throughput",
                help: Some("Throughput over message size"),
                title: "Throughput graph: throughput over message size",
                read: "Throughput that messages of each size reach. A dip is a size range that the path handles badly; where the \
                       line stays flat, larger messages bring nothing more.",
                line: LINE,
                axes: (Size, Rate),
                place: |p, seconds| (p.size as f64, p.throughput_at(seconds)),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Carrying,
            },
            Graph::Saturation => Look {
                name: "saturation",
                help: Some("Message size over time, both logarithmic: the knee is where the path saturates"),
                title: "Saturation graph: message size over transfer time",
                read: "Where a line is steep, larger messages cost little more time. The knee is the saturation point: beyond it \
                       time grows with size.",
                line: LINE,
                axes: (Time, Size),
                place: |p, seconds| (seconds, p.size as f64),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Messages,
            },
            Graph::MessageRate => Look {
                name: "message-rate",
                help: Some("Transfers a second over message size: messages of a stream, transactions of a request"),
                title: "Message rate graph: transfers a second over message size",
                read: "Transfers that follow one another, of the kind that the axis names, in a second: messages of a stream, \
                       transactions of a request. Where a line is flat, the rate is one of messages; where it falls, one of \
                       their bytes.",
                line: LINE,
                axes: (Size, PerSecond),
                place: |p, seconds| (p.size as f64, 1.0 / seconds),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Carrying,
            },
            Graph::Latency => Look {
                name: "latency",
                help: Some(
                    "Time over message size, both linear: a line begins at the start-up cost and rises by the cost of a byte",
                ),
                title: "Latency graph: transfer time over message size",
                read: "A line begins at what a message costs to start, and rises by what each byte adds. Where it bends, bytes \
                       cost more or less from there on.",
                line: LINE,
                axes: (Size, Time),
                place: |p, seconds| (p.size as f64, seconds),
                time: None,
                linear: true,
                curves: Curves::Paths,
                of: Of::Messages,
            },
            Graph::Overhead => Look {
                name: "overhead",
                help: None,
                title: "Overhead graph: time that a layer adds over message size",
                read: "What each layer adds to the one below it. Where a line is flat, the cost is one of the message; where it \
                       rises, one of its bytes (a copy, a checksum, fragments).",
                // A difference of medians has no shortest trial.
                line: "Line: difference of medians; band: its 95% interval.",
                axes: (Size, Time),
                // The quantity drawn takes the place of a time.
                place: |p, seconds| (p.size as f64, seconds),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Messages,
            },
            Graph::Precision => Look {
                name: "precision",
                help: None,
                title: "Precision graph: reach of the 95% interval over message size",
                read: "How far from its median each point may lie, as a share of it. Each round brings the lines down, until they \
                       are below what was asked for.",
                line: LINE,
                axes: (Size, Share),
                place: |p, seconds| (p.size as f64, seconds),
                time: None,
                linear: false,
                curves: Curves::Paths,
                of: Of::Messages,
            },
            Graph::Quips => Look {
                name: "quips",
                help: Some("Quality improvement a second over time, of a HINT run"),
                title: "HINT: quality improvement a second over the time to an answer",
                read: "Each dot is one number of subintervals, which grow along the line. A line that starts further left and rises \
                       sooner has the quicker sums; where it tops, work outweighs them; where it falls, the work has likely outgrown \
                       a cache. The area below a line is its Net QUIPS.",
                line: LINE,
                axes: (Time, Quips),
                place: |p, seconds| (seconds, p.throughput_at(seconds)),
                time: Some("Time to an answer"),
                linear: false,
                curves: Curves::Paths,
                of: Of::Hint,
            },
            Graph::Cpu => Look {
                name: "cpu",
                help: Some("CPU time that a transfer takes of each side, over message size"),
                title: "CPU graph: CPU time of a transfer over message size",
                read: "What a transfer takes of the CPU of each side. Where a line is flat, the cost is one of the message; where it \
                       rises, one of its bytes. A side that waits by spinning takes the CPU all the time, and its line is that of \
                       the transfer's time.",
                line: "Line: median; band: its 95% interval.",
                axes: (Size, Time),
                // The quantity drawn takes the place of a time.
                place: |p, seconds| (p.size as f64, seconds),
                time: Some("CPU time of a transfer"),
                linear: false,
                curves: Curves::Own(cost::series),
                of: Of::Costed,
            },
            Graph::OverTime => Look {
                name: "over-time",
                help: Some(
                    "Transfer time of a soak's intervals over the time since its start, with their 99th percentiles",
                ),
                title: "Soak: transfer time over the time since the start",
                read: "Each dot is an interval (of a long soak a stretch of them). Where the line rises or falls, the path drifts; where the band leaves the line, some \
                       messages took far longer than most.",
                line: "Line: median of an interval; band: from there to its 99th percentile.",
                axes: (Moment, Time),
                place: |p, seconds| (p.size as f64 / soak::PER_SECOND, seconds),
                time: None,
                linear: false,
                curves: Curves::Own(soak::series),
                of: Of::Soak,
            },
            Graph::RateOverTime => Look {
                name: "rate-over-time",
                help: Some("Throughput of a soak's intervals over the time since its start"),
                title: "Soak: throughput over the time since the start",
                read: "Each dot is an interval (of a long soak a stretch of them). Where the line rises or falls, the path drifts; where a dot lies far below its \
                       neighbours, the path stood still or was shared.",
                line: "Line: throughput of an interval; band: from there to that of its 99th percentile.",
                axes: (Moment, Rate),
                place: |p, seconds| (p.size as f64 / soak::PER_SECOND, p.throughput_at(seconds)),
                time: None,
                linear: false,
                curves: Curves::Own(soak::series),
                of: Of::CarryingSoak,
            },
            Graph::Load => Look {
                name: "load",
                help: Some("Latency percentiles over the number of flows that load the path, of a run with --load"),
                title: "Load graph: transfer time over loading flows",
                read: "At 0 the path is idle. What a line rises by is what a message waits for among those of the loading flows; where the \
                       99th percentile leaves the median, some wait far longer than most.",
                line: "Line: percentile; band: its 95% interval.",
                axes: (Flows, Time),
                // An idle path has no loading flow, and a size can't be 0: the number is stored plus one.
                place: |p, seconds| (p.size as f64 - 1.0, seconds),
                time: None,
                linear: false,
                curves: Curves::Own(load::series),
                of: Of::Loaded,
            },
            Graph::Flows => Look {
                name: "flows",
                help: Some(
                    "Total throughput over the number of flows, pairs or members, of a run with several numbers of them",
                ),
                title: "Flows graph: total throughput over the number of connections",
                read: "What all connections carry together, a line for each message size (five at most). Where a line rises, one connection does \
                       not fill the path; where it is flat, more bring nothing; where it falls, they are in each other's way.",
                line: LINE,
                axes: (Connections, Rate),
                place: |p, seconds| (p.size as f64, p.throughput_at(seconds)),
                time: Some("Total throughput"),
                linear: false,
                curves: Curves::Own(flows::series),
                of: Of::Several,
            },
            Graph::Loss => Look {
                name: "loss",
                help: Some(
                    "Share of messages lost over the rate that is offered, of a run with several rates (--rate)",
                ),
                title: "Loss graph: share of messages lost over the offered rate",
                read: "Where a line lies at 0, all that was sent came. Where it leaves 0, the path or its receiver has no room for more; at a \
                       paler dot the sender did not reach the offered rate.",
                line: "Line: share of all messages; band: its 95% interval.",
                axes: (Offered, Share),
                place: |p, one_more| (p.size as f64, one_more - 1.0),
                time: Some("Share of messages lost"),
                linear: false,
                curves: Curves::Own(rates::series),
                of: Of::Offered,
            },
            Graph::TcpWindow => Look {
                name: "tcp-window",
                help: Some("TCP's congestion window over the time since the run's start"),
                title: "TCP: congestion window over the time since the start",
                read: "What TCP allows itself to have under way, as the kernel told it at the end of each trial. Each round opens new connections, \
                       whose windows grow. Lighter are stretches in which segments were sent again.",
                line: STRETCH,
                axes: (Moment, Segments),
                // The quantity drawn takes the place of a time.
                place: |p, segments| (p.size as f64 / soak::PER_SECOND, segments),
                time: None,
                linear: false,
                curves: Curves::Own(|runs| tcp::series(runs, tcp::State::Window)),
                of: Of::Tcp,
            },
            Graph::TcpRtt => Look {
                name: "tcp-rtt",
                help: Some("The round-trip time that TCP itself keeps, over the time since the run's start"),
                title: "TCP: smoothed round-trip time over the time since the start",
                read: "The kernel's own smoothed round-trip time at the end of each trial. It rises where segments wait in queues, and where the \
                       receiver takes its time to acknowledge. Lighter are stretches in which segments were sent again.",
                line: STRETCH,
                axes: (Moment, Time),
                place: |p, seconds| (p.size as f64 / soak::PER_SECOND, seconds),
                time: Some("Smoothed round-trip time"),
                linear: false,
                curves: Curves::Own(|runs| tcp::series(runs, tcp::State::RoundTrip)),
                of: Of::Tcp,
            },
            Graph::Levels => Look {
                name: "levels",
                help: Some("Level of each round over the time since the run's start: how the machine's state moved"),
                title: "Levels: time of each round over the time since the start",
                read: "How many times as long as in the run's middle all messages took in a round. Where a line stays near 100%, the machine was in \
                       one state; where it steps or climbs, its state changed, and intervals hold for the states that were met.",
                line: "Line: level of a round; band: from the fastest to the slowest moment within it.",
                axes: (Moment, Share),
                // The quantity drawn takes the place of a time.
                place: |p, level| (p.size as f64 / soak::PER_SECOND, level),
                time: Some("Time of the round, of the middle one"),
                linear: false,
                curves: Curves::Own(levels::series),
                of: Of::Rounds,
            },
        }
    }

    /// The name a person types.
    pub fn name(self) -> &'static str {
        self.look().name
    }

    /// The graphs that `--graph` takes, with their help.
    pub fn named() -> impl Iterator<Item = (Graph, &'static str)> {
        Self::EVERY.into_iter().filter_map(|g| Some((g, g.look().help?)))
    }

    /// Title of the picture.
    pub fn title(self) -> &'static str {
        self.look().title
    }

    /// How to read the picture, for its footnote.
    pub fn how_to_read(self) -> &'static str {
        self.look().read
    }

    /// What the line and its band are, for the footnote.
    pub fn line(self) -> &'static str {
        self.look().line
    }

    /// What the two axes show.
    pub fn quantities(self) -> (Quantity, Quantity) {
        self.look().axes
    }

    /// Place of a point of a curve whose transfer takes `seconds`.
    pub fn place(self, p: &Pt, seconds: f64) -> (f64, f64) {
        (self.look().place)(p, seconds)
    }

    /// Title of its time axis, where times are no transfers.
    pub fn time_title(self) -> Option<&'static str> {
        self.look().time
    }

    /// Whether a saturation point is drawn: on linear axes it lies in the corner.
    pub fn has_knee(self) -> bool {
        !self.look().linear
    }

    /// Whether it shows runs of HINT.
    pub fn of_hint(self) -> bool {
        self.look().of == Of::Hint
    }

    /// Whether an axis is linear or logarithmic. Throughput is drawn linear, as in the paper, and time over linear sizes, unless one path
    /// would make another flat.
    pub fn spread(self, series: &[Series], quantity: Quantity) -> Spread {
        let top = |s: &Series| match quantity {
            Quantity::Rate | Quantity::Quips => s.max_throughput(),
            _ => s.points.iter().map(|p| p.seconds).max_by(f64::total_cmp),
        };
        if matches!(quantity, Quantity::Moment | Quantity::Flows | Quantity::Connections | Quantity::Segments)
            || self == Graph::Loss && quantity == Quantity::Share
        {
            return Spread::Linear;
        }
        if !self.look().linear && !quantity.is_rate() {
            return Spread::Log;
        }
        let tops = || series.iter().filter_map(top);
        let highest = tops().max_by(f64::total_cmp).unwrap_or(1.0);
        let lowest = tops().min_by(f64::total_cmp).unwrap_or(1.0);
        if highest / lowest > FLAT { Spread::Log } else { Spread::Linear }
    }

    /// Whether it shows a soak's intervals.
    pub fn of_soak(self) -> bool {
        matches!(self.look().of, Of::Soak | Of::CarryingSoak)
    }

    /// The curves of these runs for this graph, with fitted models if `fits` and if they are the paths' points.
    pub fn curves(self, runs: &[&Analysis<'_>], fits: bool) -> Vec<Series> {
        match self.look().curves {
            Curves::Paths => curve::series_with(runs, fits),
            Curves::Own(series) => series(runs),
        }
    }

    /// Whether it shows a state over time: that of TCP connections, or of the machine.
    pub fn of_states(self) -> bool {
        matches!(self.look().of, Of::Tcp | Of::Rounds)
    }

    /// The default graph of a soak: for messages that nothing answers, single times are not known.
    fn of_intervals(run: &RunFile) -> Graph {
        if run.run.plan.pattern.facts().unanswered { Graph::RateOverTime } else { Graph::OverTime }
    }

    /// The default graph of these runs.
    pub fn most_telling(runs: &[&RunFile]) -> Graph {
        if let Some(run) = runs.iter().find(|run| run.run.plan.soaks()) {
            return Graph::of_intervals(run);
        }
        match () {
            () if runs.iter().any(|run| run.has_score()) => Graph::Quips,
            () if runs.iter().all(|run| run.has_loaded()) && !runs.is_empty() => Graph::Load,
            () if runs.iter().all(|run| run.has_rates()) && !runs.is_empty() => Graph::Loss,
            () if runs.iter().all(|run| run.has_flows() && !is_curve(run)) && !runs.is_empty() => Graph::Flows,
            () if runs.iter().all(|run| run.carries()) => Graph::Signature,
            () if runs.iter().all(|run| run.arrives()) => Graph::Throughput,
            () => Graph::Latency,
        }
    }

    /// The graphs over message sizes that a report of these runs has, in their order. None for soaks, for HINT and where one size was
    /// measured: they show what lies between sizes.
    pub fn over_sizes(runs: &[&RunFile]) -> Vec<Graph> {
        let other = runs.iter().any(|run| run.run.plan.soaks() || run.has_score());
        if other || runs.iter().map(|run| sizes(run)).max() == Some(1) {
            return Vec::new();
        }
        let graphs: &[Graph] = match () {
            () if !runs.iter().all(|run| run.arrives()) => &[Graph::Latency, Graph::Saturation],
            // Under load a message's time includes its wait, so that size over time is not what the path carries.
            () if runs.iter().any(|run| run.has_loaded()) => &[Graph::Latency, Graph::Saturation],
            // At an offered rate a message's time is set by the rate.
            () if !runs.iter().all(|run| run.carries()) => &[Graph::Throughput],
            () => &Graph::ALL,
        };
        // With two sizes or three a latency, a knee and a maximum are just these sizes.
        let few = runs.iter().all(|run| !is_curve(run) && sizes(run) > 0);
        let shape = |graph: &Graph| matches!(graph, Graph::Signature | Graph::Saturation);
        graphs.iter().copied().filter(|graph| !(few && shape(graph))).collect()
    }

    /// The graphs of a run that is being measured, in the order in which the live screen goes through them.
    pub fn while_measuring(run: &RunFile) -> &'static [Graph] {
        if run.run.plan.soaks() {
            match Graph::of_intervals(run) {
                Graph::RateOverTime => &[Graph::RateOverTime],
                _ if run.arrives() => &[Graph::OverTime, Graph::RateOverTime],
                _ => &[Graph::OverTime],
            }
        } else if !run.run.plan.pattern.facts().sized {
            &[Graph::Latency, Graph::Precision]
        } else if !run.run.plan.scheduled() {
            &[Graph::Signature, Graph::Throughput, Graph::Saturation, Graph::Precision]
        } else if run.has_rates() {
            &[Graph::Loss, Graph::Precision]
        } else if run.arrives() {
            &[Graph::Throughput, Graph::Precision]
        } else {
            &[Graph::Latency, Graph::Saturation, Graph::Precision]
        }
    }

    /// The graph that was asked for, or [`Graph::most_telling`]; the error says why it can't show these runs.
    pub fn of_runs(runs: &[&RunFile], asked: Option<Graph>) -> Result<Graph, String> {
        let hint = runs.iter().filter(|run| run.has_score()).count();
        if hint > 0 && hint < runs.len() {
            return Err(
                "some of these runs are HINT's and some are not, and no graph shows both: draw them apart".to_owned()
            );
        }
        let soaks = runs.iter().filter(|run| run.run.plan.soaks()).count();
        if soaks > 0 && soaks < runs.len() {
            return Err(
                "some of these runs are soaks (--duration) and some are not, and no graph shows both: draw them apart"
                    .to_owned(),
            );
        }
        let graph = asked.unwrap_or_else(|| Graph::most_telling(runs));
        let name = graph.name();
        match graph.look().of {
            Of::Tcp if runs.iter().any(|run| tcp::told(run)) => return Ok(graph),
            Of::Tcp => {
                return Err(format!(
                    "--graph {name} draws what the kernel tells of a TCP connection at the end of each trial, and this run has no path over \
                     TCP that tells it (run tcp, of any pattern but connect)"
                ));
            }
            Of::Rounds if runs.iter().any(|run| levels::told(run)) => return Ok(graph),
            Of::Rounds => {
                return Err(format!(
                    "--graph {name} draws the level of each round, and this run has fewer than two that tell one (--budget gives more time)"
                ));
            }
            Of::Soak | Of::CarryingSoak if soaks == 0 => {
                return Err(format!(
                    "--graph {name} draws the intervals of a soak (run --duration), and this run has none"
                ));
            }
            Of::CarryingSoak if !runs.iter().all(|run| run.arrives()) => {
                return Err(format!(
                    "a run on a schedule (--rate) says nothing of how much the path carries and so has no {name} graph; --graph \
                     over-time draws its times"
                ));
            }
            Of::Soak | Of::CarryingSoak => return Ok(graph),
            _ if soaks > 0 => {
                let own = Graph::most_telling(runs).name();
                return Err(format!(
                    "a soak has a size or a few, and no curve over sizes: --graph {own} draws its intervals"
                ));
            }
            _ => {}
        }
        match graph.look().of {
            Of::Hint if hint == 0 => {
                Err(format!("--graph {name} draws what pipegauge hint measured, and this run is none of it"))
            }
            Of::Messages | Of::Carrying | Of::Costed | Of::Loaded | Of::Several | Of::Offered if hint > 0 => {
                Err(format!("a HINT run has no throughput and so no {name} graph; --graph quips draws it"))
            }
            Of::Carrying | Of::Several if runs.iter().any(|run| !run.run.plan.pattern.facts().sized) => Err(format!(
                "a barrier carries no bytes and so has no {name} graph; its time is all that is measured (show prints it)"
            )),
            Of::Carrying if !runs.iter().all(|run| run.arrives()) => Err(format!(
                "a run on a schedule (--rate) says nothing of how much the path carries and so has no {name} graph; \
                 --graph latency draws its times"
            )),
            Of::Loaded if !runs.iter().all(|run| run.has_loaded()) => Err(format!(
                "--graph {name} draws a path idle and under load, and this run has none such (run --load 1,2,4)"
            )),
            Of::Several if !runs.iter().all(|run| run.has_flows()) => Err(format!(
                "--graph {name} draws paths that differ in their number of connections, and this run has none such (run --flows 1,2,4 or \
                 --pairs 1,2,4)"
            )),
            Of::Several if !runs.iter().all(|run| run.arrives()) => Err(format!(
                "a run on a schedule (--rate) says nothing of how much the path carries and so has no {name} graph; --graph latency \
                 draws its times"
            )),
            Of::Offered if !runs.iter().all(|run| run.has_rates()) => Err(format!(
                "--graph {name} draws a stream at several offered rates, and this run has none such (run udp --pattern stream --rate \
                 10Mbit/s..10Gbit/s)"
            )),
            Of::Costed if !runs.iter().any(|run| cost::told(run)) => Err(format!(
                "this run does not tell what it cost (an older file, the modelled link, --check, or trials too short to tell) and so has \
                 no {name} graph; measure again without --check"
            )),
            _ => Ok(graph),
        }
    }
}

/// Fewest sizes that make a curve.
const CURVE: usize = 4;

/// How many sizes the path with the most of them has.
fn sizes(run: &RunFile) -> usize {
    run.paths.iter().map(|path| path.points.len()).max().unwrap_or(0)
}

fn is_curve(run: &RunFile) -> bool {
    sizes(run) >= CURVE
}

/// Factor below the top of another line from which on a line is flat.
const FLAT: f64 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_graph_has_a_name_of_its_own_and_all_words() {
        let mut names: Vec<&str> = Graph::EVERY.iter().map(|g| g.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Graph::EVERY.len());
        assert!(Graph::EVERY.iter().all(|g| !g.title().is_empty() && g.how_to_read().ends_with('.')));
        assert_eq!(Graph::named().count(), 15);
    }

    #[test]
    fn a_page_has_the_graphs_over_sizes_that_say_something() {
        let of = |run: &RunFile| Graph::over_sizes(&[run]);
        let sized = |sizes: &[u64]| sample::run_of(&sample::MODELS, sizes, 5, 1);
        assert_eq!(of(&sample::run(1)), Graph::ALL);
        assert_eq!(of(&sized(&[64, 4096])), [Graph::Throughput], "two sizes have no knee");
        assert_eq!(of(&sized(&[64])), []);
        assert_eq!(of(&sample::offered(&[(1e8, 0), (2e8, 3)])), [], "one size at several rates");
        assert_eq!(of(&sample::loaded(&[1, 4], (0, 1))), []);
        let mut scheduled = sample::run(1);
        scheduled.run.plan.rate = Some(1e4);
        assert_eq!(of(&scheduled), [Graph::Latency, Graph::Saturation]);
        assert_eq!(Graph::over_sizes(&[&sample::run(2), &scheduled]), [Graph::Latency, Graph::Saturation]);
        let mut offered = sample::run(1);
        offered.run.plan.offered = Some(1e8);
        assert_eq!(of(&offered), [Graph::Throughput]);
        assert_eq!(of(&sized(&[])), Graph::ALL, "they say that nothing was measured");
    }

    #[test]
    fn only_a_run_that_tells_what_it_cost_has_a_graph_of_it() {
        let run = sample::run(1);
        assert!(Graph::of_runs(&[&run], Some(Graph::Cpu)).is_err_and(|why| why.contains("cpu graph")));
        assert_eq!(Graph::of_runs(&[&sample::costly(run)], Some(Graph::Cpu)), Ok(Graph::Cpu));
    }

    #[test]
    fn a_run_at_an_offered_rate_shows_what_arrived() {
        let mut run = sample::run(1);
        run.run.plan.offered = Some(1e8);
        assert_eq!(Graph::of_runs(&[&run], None), Ok(Graph::Throughput));
        assert_eq!(Graph::while_measuring(&run), [Graph::Throughput, Graph::Precision]);
    }

    #[test]
    fn a_run_on_a_schedule_has_no_graph_of_throughput() {
        let mut run = sample::run(1);
        assert_eq!(Graph::of_runs(&[&run], None), Ok(Graph::Signature));
        run.run.plan.rate = Some(1e4);
        assert_eq!(Graph::of_runs(&[&run], None), Ok(Graph::Latency));
        for graph in [Graph::Signature, Graph::Throughput, Graph::MessageRate] {
            let why = Graph::of_runs(&[&run], Some(graph)).unwrap_err();
            assert!(why.contains("--rate") && why.contains("--graph latency"), "{why}");
        }
        assert_eq!(Graph::of_runs(&[&run], Some(Graph::Saturation)), Ok(Graph::Saturation));
        let plain = sample::run(2);
        assert_eq!(Graph::of_runs(&[&plain, &run], None), Ok(Graph::Latency));
    }
}
