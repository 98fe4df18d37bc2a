//! What is known of a pattern without running it.

use std::time::Duration;

use transport::clock::Monotonic;
use transport::theory::{FarRole, TheoryLink};
use transport::{Acceptor, Capabilities, Connector, End, LinkError, Proof};
use units::Bytes;

use super::{Answered, Pattern, Timed};
use crate::event::{Plan, TimeKind, Trial};
use crate::flows::MOST;
use crate::workspace::{Halt, Workspace};
use crate::{FarReport, Load, SessionError, TrialReport, TrialSpec, amounts, near};

/// A pattern's facts: what it needs of a path and of a plan, what it moves, what its figures are, and which tables it is in. A pattern
/// gives those that differ from [`Facts::new`]'s.
pub struct Facts {
    /// One line for `--pattern`; none where the pattern has a command of its own.
    pub help: Option<&'static str>,
    /// Which time its figures are, between two ends.
    pub time: TimeKind,
    /// Which time they are when it sends on a schedule, whether or not answers came; none where it can't.
    pub on_schedule: Option<TimeKind>,
    /// Why a path with these capabilities can't run it; none where it can.
    pub refuses: fn(&Capabilities) -> Option<&'static str>,
    /// Whether such a path has what the plan asks of it; the error says what is missing.
    pub room: fn(&Plan, &Capabilities) -> Result<(), String>,
    /// Whether a trial is complete for it; the error says what is missing.
    pub whole: fn(&TrialSpec) -> Result<(), String>,
    /// How it runs where each iteration has a connection of its own; none where all run on one.
    pub anew: Option<Anew>,
    /// Whether several flows of it can run at once (`--flows`).
    pub flows: bool,
    /// What it measures in a group, whose near member casts and whose other members receive; none where it can't run in one.
    pub in_group: Option<InGroup>,
    /// Whether all members of a group do it together, through the path's collectives.
    pub collective: bool,
    /// Whether its figures are those of a group as a whole, so that no member of it is told apart as caster or receiver.
    pub together: bool,
    /// Whether it moves messages that have a size. What does not is measured as one size of 1 byte, and its time is all that is told of it.
    pub sized: bool,
    /// Whether it can be measured while other flows load the path (`--load`): each of its messages waits for an answer, whose time the load
    /// makes longer.
    pub under_load: bool,
    /// Whether its answers have a size of their own (`--response`): then an iteration is a transaction.
    pub responds: bool,
    /// Whether an iteration has as many messages as `--burst` says.
    pub bursts: bool,
    /// Whether its messages go one way, which can be turned (`--reverse`).
    pub reverses: bool,
    /// Whether nothing comes back: the receiver times and counts what arrives, and the sender knows only how fast it handed messages over.
    pub unanswered: bool,
    /// Whether the far side sends back what it received, or has it where the near side can look.
    pub echoes: bool,
    /// Whether the near side accesses memory that the far side exposes: the far side takes no part, and no message travels.
    pub one_sided: bool,
    /// Whether its sends are posted: a path that can counts the calls that made a copy nevertheless.
    pub posts: bool,
    /// Whether it bypasses the decorators, which wrap sends and receives.
    pub undecorated: bool,
    /// Bytes of a message from the near side to the far, and of one back.
    pub messages: fn(&TrialSpec) -> (u64, u64),
    /// Memory of a side besides its messages, bytes.
    pub memory: fn(&TrialSpec) -> u128,
    /// Seconds of work in an iteration that no processor can go below.
    pub least_work: fn(&TrialSpec) -> f64,
    /// The largest size that a plan asks for over a path.
    pub largest: fn(&Plan, &Capabilities) -> u64,
    /// An iteration's time divided by this is the point's time; for a trial on a schedule or not, with so many messages in a burst.
    pub transfers: fn(rated: bool, burst: u64) -> f64,
    /// Times that an iteration crosses the path, one after another, with so many messages in a burst.
    pub ways: fn(burst: u64) -> u64,
    /// Fewest iterations of a trial that counts; of more than [`amounts::FEWEST`] as many as a part of the budget has time for.
    pub fewest: u64,
    /// Iterations that a trial makes besides those that it times, where they are as long as any.
    pub beside: f64,
    /// What the modelled far side does in a trial.
    pub role: fn(&TrialSpec) -> FarRole,
    /// A trial on the modelled path, whose far side has its role by then. A modelled process works for `work` seconds at a subinterval.
    pub modelled: fn(&mut End<TheoryLink>, &TrialSpec, work: f64, &mut Workspace) -> Timed,
    /// A trial of one process without a path (HINT).
    pub alone: fn(&Monotonic, &TrialSpec, &mut Workspace) -> Timed,
    /// What only the receiver can have seen of a trial, given what it reports to have received; the near side's time for all of it is
    /// `elapsed` seconds.
    pub seen: fn(&FarReport, &TrialSpec, elapsed: f64) -> Seen,
    /// Whether both sides found the same in a trial.
    pub agree: fn(&TrialReport, &FarReport) -> Result<(), SessionError>,
    /// Time for what is still in buffers when the near half of a trial is over.
    pub drain: fn(&TrialSpec) -> Duration,
    /// Bytes that cross the path in one of the point's times: what throughput counts.
    pub bytes: fn(&Trial, rated: bool) -> u64,
    /// Transactions or messages of an iteration that the mean rate counts; none where there is no such rate.
    pub rates: fn(&Trial) -> Option<u64>,
    /// Whether the shortest trial of a round stands for it, not the median.
    pub keeps_best: bool,
    /// The score of a pattern that measures a program and so has no throughput; else none.
    pub score: Option<Score>,
    /// What its sizes count, and how they are written.
    pub size: Sizes,
    /// Which program stood still in a pause, and what that means for the figures; none where it is the path, and a closed loop hides the
    /// pause.
    pub paused: Option<(&'static str, &'static str)>,
    /// What the table of start-up and per-byte costs calls its times; none where they have no start-up.
    pub startup: Option<&'static str>,
    /// What the table of bandwidth curves calls its transfers; none where it has no such curve.
    pub bandwidth: Option<&'static str>,
    /// Which LogGP parameters its curve gives; none where it gives none.
    pub loggp: Option<LogGpPart>,
    /// NetPIPE's mode that measures the same; none where it has none.
    pub netpipe: Option<NetPipe>,
}

impl Facts {
    /// Those of a pattern that sends a message each way in an iteration, over one connection, in a closed loop.
    pub(super) const fn new(help: Option<&'static str>, time: TimeKind, role: fn(&TrialSpec) -> FarRole) -> Self {
        Self {
            help,
            time,
            on_schedule: None,
            refuses: one_process,
            room: |_, _| Ok(()),
            whole: |_| Ok(()),
            anew: None,
            flows: true,
            in_group: None,
            collective: false,
            together: false,
            sized: true,
            under_load: false,
            responds: false,
            bursts: false,
            reverses: false,
            unanswered: false,
            echoes: false,
            one_sided: false,
            posts: false,
            undecorated: false,
            messages: |spec| (spec.size, spec.size),
            memory: |_| 0,
            least_work: |_| 0.0,
            largest: |plan, can| can.max_block.map_or(plan.to, |most| plan.to.min(most)),
            transfers: |_, _| 1.0,
            ways: |_| 2,
            fewest: amounts::FEWEST,
            beside: 0.0,
            role,
            modelled: |link, spec, _, workspace| {
                let clock = link.clock();
                Ok(near::run(link, &clock, spec, workspace)?.with_far(answered(link)))
            },
            alone: |_, _, _| Err(LinkError::Unsupported("carry messages: it is no path").into()),
            seen: |_, _, _| Seen { lost: 0, bytes: 0, shortest: 0.0, longest: 0.0 },
            agree: |_, _| Ok(()),
            drain: |_| Duration::ZERO,
            bytes: |trial, _| trial.size,
            rates: |_| None,
            keeps_best: false,
            score: None,
            size: Sizes::BYTES,
            paused: None,
            startup: None,
            bandwidth: None,
            loggp: None,
            netpipe: None,
        }
    }

    /// Messages from the near side to the far in an iteration.
    pub fn sends(&self, spec: &TrialSpec) -> u64 {
        match self.one_sided {
            true => 0,
            false if spec.reverse => u64::from(!self.unanswered),
            false => self.many(spec),
        }
    }

    /// Messages of the pattern's size that go one way in an iteration.
    pub fn many(&self, spec: &TrialSpec) -> u64 {
        if self.bursts { spec.burst } else { 1 }
    }

    /// Why a path with these capabilities can't run so many flows of it at once; none where it can.
    pub fn keeps_single(&self, name: &str, flows: u32, can: &Capabilities) -> Option<String> {
        match flows {
            1 => None,
            0 => Some("a path has at least 1 flow".to_owned()),
            _ if !self.flows => {
                // A pattern of whole groups has members, not flows.
                let those = Pattern::those(|facts| facts.flows && facts.in_group != Some(InGroup::Whole));
                Some(format!("{name} has no flows that could run at once (--flows is for {those})"))
            }
            _ if !can.two_ended => {
                Some("one process plays both ends, and flows would take turns in it (leave out --flows)".to_owned())
            }
            _ if flows > MOST => Some(format!(
                "a path has at most {MOST} flows, those of both directions together, and {flows} are asked for (--flows, --both)"
            )),
            _ => None,
        }
    }

    /// Why a path with these capabilities can't be loaded while the pattern runs; none where it can.
    pub fn keeps_unloaded(&self, name: &str, load: &Load, can: &Capabilities) -> Option<String> {
        if !self.under_load {
            let those = Pattern::those(|facts| facts.under_load);
            return Some(format!("{name} does not tell how long an answer takes under load (--load is for {those})"));
        }
        if !can.two_ended && !can.virtual_time {
            return Some("one process copies, and there is no path that could be loaded (leave out --load)".to_owned());
        }
        if let Some(most) = can.max_block.filter(|most| *most < load.size) {
            return Some(format!(
                "it carries messages of at most {}, and loading flows are asked to send {} (--load-size)",
                Bytes(most),
                Bytes(load.size)
            ));
        }
        load.check().err().map(|why| format!("{why} (--load)"))
    }

    /// Why the pattern has no other direction.
    fn undirected(&self, name: &str) -> String {
        match self.one_sided {
            true => format!(
                "in {name} this side alone acts, on memory that the far side exposes: put moves data there, get moves it back"
            ),
            false => format!("messages of {name} have no direction that could be another"),
        }
    }

    /// Why a path with these capabilities can't run it in both directions at once; none where it can.
    pub fn keeps_one_way(&self, name: &str, can: &Capabilities) -> Option<String> {
        if !self.reverses {
            let those = Pattern::those(|facts| facts.reverses);
            return Some(format!(
                "{}, and --both is for {those} (--pattern bidirectional exchanges one message each way at a time)",
                self.undirected(name)
            ));
        }
        let why = "one process plays both ends, so nothing can go both ways at once (leave out --both)";
        (!can.two_ended).then(|| why.to_owned())
    }

    /// Why a path with these capabilities can't run it the other way round; none where it can.
    pub fn keeps_direction(&self, name: &str, can: &Capabilities) -> Option<String> {
        if !self.reverses {
            let those = Pattern::those(|facts| facts.reverses);
            return Some(format!("{} (--reverse is for {those})", self.undirected(name)));
        }
        let why = "one process plays both ends, so both directions are one (leave out --reverse)";
        (!can.two_ended).then(|| why.to_owned())
    }
}

/// What the sizes of a pattern count.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The title of their column.
    pub title: &'static str,
    /// Unit that follows a number of them in a sentence, where the number does not have it.
    pub unit: &'static str,
    /// Memory that each takes, bytes, where they are not bytes of a message.
    pub takes: Option<u64>,
    /// One in a column under the title.
    pub cell: fn(u64) -> String,
    /// One by itself.
    pub brief: fn(u64) -> String,
    /// Text before several of them, and between two.
    pub list: (&'static str, &'static str),
}

impl Sizes {
    /// Bytes of a message.
    pub const BYTES: Self = Self {
        title: "size",
        unit: "",
        takes: None,
        cell: |size| Bytes(size).to_string(),
        brief: |size| Bytes(size).to_string(),
        list: ("", ", "),
    };

    /// One in a sentence.
    pub fn words(&self, size: u64) -> String {
        format!("{}{}", (self.cell)(size), self.unit)
    }

    /// Several, the first `most` of them.
    pub fn several(&self, sizes: &[u64], most: usize) -> String {
        let mut shown: Vec<String> = sizes.iter().take(most).map(|size| (self.cell)(*size)).collect();
        if sizes.len() > most {
            shown.push(format!("and {} more", sizes.len() - most));
        }
        let (before, between) = self.list;
        format!("{before}{}", shown.join(between))
    }
}

/// What a pattern measures in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InGroup {
    /// Each receiver times what it receives: the receivers count as flows.
    Each,
    /// An iteration is one of all members, and the near one times it.
    Whole,
}

/// Quality of the trials' answers, and QUIPS at their median time; none where the trials' numbers are impossible.
pub type Score = fn(&[&Trial], median: f64) -> Option<(f64, f64)>;

/// The two halves of a trial that makes a connection for each iteration.
pub struct Anew {
    /// The near side's.
    pub near: fn(&mut Connector, &Proof, &TrialSpec, &Halt) -> Timed,
    /// The far side's.
    pub far: fn(&mut Acceptor, &Proof, &TrialSpec, &Halt) -> Answered,
}

/// Which LogGP parameters a pattern's curve gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogGpPart {
    /// Latency, from messages that wait for each other.
    Latency,
    /// Overhead and gaps, from messages that don't.
    Gap,
}

/// A mode of NetPIPE.
#[derive(Debug, Clone, Copy)]
pub struct NetPipe {
    /// Bytes that its files count for each byte of a message.
    pub counts: u64,
    /// Whether version 5 documents what its bytes count in this mode.
    pub in_five: bool,
    /// The report of a trial of one iteration that a line of so many bytes and seconds stands for.
    pub report: fn(bytes: u64, seconds: f64) -> TrialReport,
}

/// What only a receiver can see of a trial, within the bounds that the near side knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Messages that never came.
    pub lost: u64,
    /// Bytes that its time covers.
    pub bytes: u64,
    /// Shortest time that is possible, seconds.
    pub shortest: f64,
    /// Longest time that is possible, seconds.
    pub longest: f64,
}

/// Why a single process that copies can't run a pattern that needs answers; none where there are two, or a model of two.
pub(super) fn one_process(can: &Capabilities) -> Option<&'static str> {
    (!can.two_ended && !can.virtual_time).then_some("one process plays both ends, so there is no far side to answer")
}

/// What the modelled far side reports of a trial that it did not time.
pub(super) fn answered(link: &TheoryLink) -> FarReport {
    let seen = link.far_report();
    FarReport { received: seen.received, lost: seen.lost, ..FarReport::default() }
}
