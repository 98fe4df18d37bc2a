//! The paths that are asked.

use std::collections::BTreeSet;

use measure::Pattern;
use measure::event::{TimeKind, Trial};
use measure::figures::cost::End;
use measure::figures::{Lost, Singles};
use measure::pattern::InGroup;
use model::answer::{self, Unanswered};
use model::scale::{Unscaled, Wire};
use model::{CurvePoint, Estimate, Fits, Summary};
use record::load::UnderLoad;
use record::rates::OverRates;
use record::{Analysis, RunFile, sides};
use report::compare::Basis;
use transport::Wait;
use units::thousands;

use crate::commands::wires;
use crate::config::question::size_words;
use crate::config::retyped;
use crate::flags::WireFlags;

/// A path that can be asked.
pub struct Asked<'a> {
    /// Its name: the transport, and the file where there are several.
    pub name: String,
    /// Its run file's name, as it was given.
    pub file: &'a str,
    /// What the path is called in its run: its transport's name, where it has no other.
    pub label: &'a str,
    /// Transport.
    pub transport: &'static str,
    /// Which time its times are, in words.
    pub time: &'static str,
    /// Which time, as a kind; none without a point.
    pub kind: Option<TimeKind>,
    /// Pattern.
    pub pattern: &'static str,
    /// The wire that it was measured over, where that is known.
    pub wire: Result<Option<Wire>, Unscaled>,
    /// Seed of what is drawn again.
    pub seed: u64,
    found: &'a Analysis<'a>,
    run: &'a RunFile,
    index: usize,
}

/// What a schedule offered, what of it was sent, and what of that came, messages a second: all of it but where messages that nothing answers were lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offered {
    pub wanted: f64,
    pub sent: f64,
    pub came: f64,
}

/// The paths of a run file; `several` are asked.
pub fn paths<'a>(file: &'a str, found: &'a Analysis<'a>, wire: &WireFlags, several: bool) -> Vec<Asked<'a>> {
    let stem = file.strip_suffix(".run.jsonl").unwrap_or(file);
    let run = found.run();
    let one = |(index, path): (usize, &'a record::PathRun)| {
        let label = path.opened.name();
        Asked {
            name: if several { format!("{label} ({stem})") } else { label.to_owned() },
            file,
            label,
            transport: path.opened.transport.as_str(),
            time: path.points.first().map_or("", |p| match p.time {
                TimeKind::OneWay => "from one message to the next",
                TimeKind::RoundTrip if run.run.plan.scheduled() => "RTT, on a schedule",
                time => report::words::time_label(time),
            }),
            kind: path.points.first().map(|p| p.time),
            pattern: run.run.plan.pattern.name(),
            wire: wires::of(run, index, wire),
            seed: run.run.plan.seed,
            found,
            run,
            index,
        }
    };
    run.paths.iter().enumerate().map(one).collect()
}

impl Asked<'_> {
    /// The curve.
    pub fn curve(&self) -> &[CurvePoint] {
        self.found.curve(self.index)
    }

    /// The sizes of it that tell what the path carries for long.
    pub fn lasting(&self) -> &[CurvePoint] {
        self.found.lasting(self.index)
    }

    /// The same without those that a token bucket may have sped up.
    pub fn surely_lasting(&self) -> &[CurvePoint] {
        self.found.surely_lasting(self.index)
    }

    /// Its summary; worked out when it is first asked for, as it takes longer than reading the run.
    pub fn summary(&self) -> Option<&Summary> {
        self.found.summary(self.index)
    }

    /// Fitted models; worked out when they are first asked for.
    pub fn fits(&self) -> Option<&Fits> {
        self.found.fits(self.index)
    }

    /// How `run` takes the path: a label is no transport.
    pub fn typed(&self) -> String {
        retyped::path(&self.run.run.plan, self.number(), true)
    }

    /// How `run` takes the path without what loads it.
    pub fn typed_idle(&self) -> String {
        retyped::path(&self.run.run.plan, self.number(), false)
    }

    /// The flags of `run` that say what was measured, for the path's own pattern or another one; `scheduled` keeps the rate (`--rate`).
    pub fn flags(&self, pattern: &str, scheduled: bool) -> String {
        let place = retyped::place(self.run, &self.run.paths[self.index].opened);
        retyped::flags(&self.run.run.plan, self.number(), pattern, scheduled) + &place
    }

    /// The pattern that tells how long a message is on its way over this path.
    pub fn there_and_back(&self) -> &'static str {
        retyped::there_and_back(&self.run.run.plan, self.number())
    }

    /// The patterns in which each message is answered over this path.
    pub fn answering(&self) -> &'static [&'static str] {
        if self.there_and_back() == Pattern::Cast.name() { &["cast"] } else { &["ping-pong", "request"] }
    }

    /// Its number in the plan.
    fn number(&self) -> u32 {
        self.run.paths[self.index].opened.path
    }

    /// What is said of a rate at one of these sizes that may be what a token bucket saved up. Begins with a semicolon.
    pub fn burst_at(&self, sizes: &[u64]) -> &'static str {
        let any = |of: &BTreeSet<u64>| sizes.iter().any(|size| of.contains(size));
        if !any(&self.run.above_the_largest(self.index)) {
            ""
        } else if any(&self.run.saved_up(self.index)) {
            "; the largest size and long trials carry less: likely a token bucket let this pass, and for long the path carries no more than that"
        } else {
            "; the largest size carries less: a token bucket may have let this pass, and whether the path keeps it up is not known"
        }
    }

    /// What its times are; none without a point.
    pub fn basis(&self) -> Option<Basis> {
        Some(Basis::new(&self.run.run.plan, self.number(), self.name.clone(), self.kind?))
    }

    /// What a reader must know of the times of two paths that are held against each other; the error says why they can't be. (The copy
    /// within a process is what a transfer is held against, and is named in the answer.)
    pub fn against(&self, other: &Asked<'_>) -> Result<String, String> {
        let copies = [self, other].iter().any(|p| p.kind == Some(TimeKind::Copy));
        match (self.basis(), other.basis()) {
            (Some(a), Some(b)) => match a.against(&b) {
                Ok(note) => Ok(note.map_or(String::new(), |note| format!("\n  ({note})"))),
                Err(_) if copies && self.pattern == other.pattern => {
                    Ok("\n  (a copy within a process is no transfer to another)".to_owned())
                }
                Err(why) => Err(why),
            },
            _ => Ok(String::new()),
        }
    }

    /// Bits a second that the sender was to offer.
    pub fn rate(&self) -> Option<f64> {
        self.run.run.plan.offered_on(self.number())
    }

    /// Messages a second that a schedule offers, where these are what it says.
    pub fn each_second(&self) -> Option<f64> {
        let size = self.curve().first().map(|c| c.size)?;
        (self.kind != Some(TimeKind::OneWay)).then(|| self.offered(size).map(|o| o.wanted)).flatten()
    }

    /// Whether nothing loaded the path.
    pub fn idle(&self) -> bool {
        self.run.run.plan.load(self.number()).is_none()
    }

    /// What it takes idle and under each load; of a loaded path what its idle one does.
    pub fn under_load(&self) -> Vec<UnderLoad> {
        let mut all = self.found.under_load();
        all.retain(|group| group.rows.iter().any(|row| row.path == self.index));
        all
    }

    /// Whether a name means this one of `all` paths: that of a transport the path that is called so, where its file has one.
    pub fn meant(&self, named: &crate::config::question::Named, all: &[Asked<'_>]) -> bool {
        let plain = |p: &Asked<'_>| p.file == self.file && named.transport.as_deref() == Some(p.label);
        self.is(named) && (plain(self) || !all.iter().any(plain))
    }

    /// What is set of it, as its name says: "pairs=2" of `tcp:pairs=2`.
    pub fn set(&self) -> &str {
        self.label.split_once(':').map_or("", |(_, set)| set)
    }

    /// This path against another, as `compare` holds them; none where they have no size in common.
    pub fn compared_with(&self, other: &Asked<'_>) -> Option<sides::Compared> {
        sides::compared(&[(other.run, other.index)], &[(self.run, self.index)])
    }

    /// Whether both are one path on the two sides of one run (`--vs`), whose rounds took turns.
    pub fn in_turns(&self, other: &Asked<'_>) -> bool {
        sides::sides_of_one_run(self.run, other.run) && self.number() == other.number()
    }

    /// Whether a name means this path.
    pub fn is(&self, named: &crate::config::question::Named) -> bool {
        named.is(self.label, self.transport, self.file)
    }

    /// The row of a measured size: the figures that the table shows.
    pub fn row(&self, size: u64) -> Option<&measure::event::Figures> {
        self.run.paths[self.index].points.iter().find(|p| p.size == size).map(|p| &p.figures)
    }

    /// What its sustained trials say, ascending by size.
    pub fn kept_up(&self) -> Vec<measure::sustained::Sustained> {
        self.run.paths[self.index].kept_up(&self.run.run.plan)
    }

    /// Fails where its times are those from one message to the next: how long one is on its way does not follow from them.
    pub fn journey(&self) -> Result<(), Unanswered> {
        match self.kind {
            Some(TimeKind::OneWay) => Err(Unanswered::NoSum(format!(
                "a {} tells the time from one message to the next, not how long one is on its way; measure with --pattern {}",
                self.pattern,
                self.there_and_back()
            ))),
            _ => Ok(()),
        }
    }

    /// Fails where a message is larger than all that the path carries.
    pub fn carried(&self, size: u64) -> Result<(), Unanswered> {
        let Some(most) = self.most_message().filter(|most| size > *most) else { return Ok(()) };
        let messages = size.div_ceil(most.max(1));
        Err(Unanswered::NoSum(format!(
            "{} is no message of this path: it carries at most {most} B in one; ask about {} messages of {most} B",
            size_words(size),
            thousands(messages),
            most = thousands(most)
        )))
    }

    /// What a schedule (`--rate`) offered of a measured size.
    pub fn offered(&self, size: u64) -> Option<Offered> {
        let wanted = self.run.run.plan.gap_on(self.number(), size)?.recip();
        let point = self.run.paths[self.index].points.iter().find(|p| p.size == size)?;
        let counted = || point.trials.iter().filter(|t| !t.warmup);
        let sum = |f: fn(&Trial) -> f64| counted().map(|t| f(&t)).sum::<f64>();
        let (sent, seconds) = (sum(|t| t.report.repeats as f64), sum(|t| t.report.seconds));
        let sent = (sent / seconds).min(wanted);
        // Who waits for answers counts what is lost among what did not go.
        let unanswered = self.run.run.plan.pattern.facts().unanswered;
        let (received, lost) = (sum(|t| t.report.far.received as f64), sum(|t| t.report.far.lost as f64));
        let came = if unanswered && lost > 0.0 { sent * received / (received + lost) } else { sent };
        (seconds > 0.0).then_some(Offered { wanted, sent, came })
    }

    /// What its transfers cost a side in CPU time, as [`Asked::curve`] has their time; empty where nothing tells it.
    pub fn cpu(&self, end: End) -> Vec<CurvePoint> {
        self.run.cpu_curve(self.index, end)
    }

    /// Share of one CPU that a side was busy at a measured size.
    pub fn busy(&self, size: u64, end: End) -> Option<f64> {
        let point = self.run.paths[self.index].points.iter().find(|p| p.size == size)?;
        point.costs.of(end)?.busy
    }

    /// Whether a side waits by asking again and again.
    pub fn spins(&self) -> bool {
        let opened = &self.run.paths[self.index].opened;
        [&opened.near_effective, &opened.far_effective].iter().any(|found| found.wait == Some(Wait::Spin))
    }

    /// Whether the path delivers every message, or fails.
    pub fn reliable(&self) -> bool {
        self.run.paths[self.index].opened.capabilities.reliable
    }

    /// What was timed, where what is kept up is not known.
    pub fn short(&self) -> &'static str {
        let facts = self.run.run.plan.pattern.facts();
        match () {
            () if facts.together => "this is of short trials",
            () if facts.bursts => "this is of short bursts",
            () if facts.unanswered => "this is of short streams",
            () => "this is of single transfers",
        }
    }

    /// Messages that a member delivers in one of the times, where that is of a round of a group.
    pub fn in_round(&self) -> Option<f64> {
        measure::figures::in_round(&self.run.run.plan, self.run.paths[self.index].opened.path, self.kind?)
    }

    /// What the time of a size is of, where that is no message on its way: an operation of all members, or a round of their casts.
    pub fn of_all(&self, size: u64) -> Option<String> {
        let (plan, of) = (&self.run.run.plan, size_words(size));
        let members = self.topology().asked(self.flows());
        let messages = match plan.burst.max(1) {
            1 => format!("a message of {of}"),
            many => format!("{} messages of {of}", thousands(many)),
        };
        Some(match self.kind? {
            TimeKind::Slowest if !self.sized() => format!("a {} of {members} members", self.pattern),
            TimeKind::Slowest => {
                let a = if self.pattern.starts_with('a') { "an" } else { "a" };
                format!("{a} {} of {of} over {members} members", self.pattern)
            }
            TimeKind::Round => format!("a round in which each of {members} members casts {messages}"),
            TimeKind::Delivery => format!("casting {messages} to {} others", members.saturating_sub(1)),
            _ => return None,
        })
    }

    /// Whether every message is answered.
    pub fn answered(&self) -> bool {
        !self.run.run.plan.pattern.facts().unanswered
    }

    /// What was lost at each size: as its receiver counted, and the share.
    pub fn losses(&self) -> Vec<(u64, Lost, f64)> {
        let of = |point: &record::Point| {
            let trials = point.trials.all();
            let trials: Vec<&Trial> = trials.iter().filter(|t| !t.warmup).collect();
            (point.size, Lost::of_stream(&trials), point.figures.loss)
        };
        self.run.paths[self.index].points.iter().map(of).collect()
    }

    /// What the several rates that the run offered did, by the size of messages. One rate tells nothing of others.
    pub fn over_rates(&self) -> Vec<OverRates> {
        self.found.over_rates().into_iter().filter(|group| group.rows.len() > 1).collect()
    }

    /// Whether this is the path of the lowest of these rates.
    pub fn leads(&self, group: &OverRates) -> bool {
        group.path == self.index
    }

    /// Whether this is one of the paths of these rates.
    pub fn among(&self, group: &OverRates) -> bool {
        group.rows.iter().any(|row| row.path == self.index)
    }

    /// How far whole runs lie apart (standard deviation of the logarithms of their levels), and of how many earlier ones that is known.
    pub fn between(&self) -> Option<(f64, usize)> {
        self.run.between(self.index).map(|between| (between.spread().value, between.earlier()))
    }

    /// Whether one connection was held all the time (`run --duration`).
    pub fn soaks(&self) -> bool {
        self.run.run.plan.soaks()
    }

    /// What differs between runs, and at which sizes where that is a part of those of earlier ones.
    pub fn runs_that(&self) -> (&'static str, String) {
        (report::table::runs_that(self.run, self.index), report::table::at_sizes(self.run, self.index))
    }

    /// Why nothing is known of other runs: "not known yet (no earlier run; repeat this command line)".
    pub fn not_known(&self) -> String {
        let told = report::table::machine_of(self.run, self.index);
        let why = told.split_once("on this machine: ").map_or("not known", |(_, why)| why);
        why.trim_end().trim_end_matches('.').to_owned()
    }

    /// The medians of earlier runs at a size, seconds.
    pub fn earlier_at(&self, size: u64) -> Vec<f64> {
        let earlier = self.run.paths[self.index].earlier.iter().flatten();
        earlier.flat_map(|run| &run.points).filter(|(of, _)| *of == size).map(|(_, seconds)| *seconds).collect()
    }

    /// The size of answers, where the run says it.
    pub fn response(&self) -> Option<u64> {
        let plan = &self.run.run.plan;
        plan.pattern.facts().responds.then_some(plan.response)
    }

    /// Whether each transaction has a connection of its own.
    pub fn anew(&self) -> bool {
        self.run.run.plan.pattern.facts().anew.is_some()
    }

    /// The largest message that its transport carries, bytes; none without a bound.
    pub fn most_message(&self) -> Option<u64> {
        self.run.paths[self.index].opened.capabilities.max_block
    }

    /// Single transfers at the measured size nearest to `size`, from half to twice of it, at which so many were timed that the share
    /// `q` of them has a value, seconds of the curve's kind; and that size. (A size has none where one of its trials timed chunks.)
    pub fn singles_near(&self, size: u64, q: f64) -> Option<(u64, Singles)> {
        let path = &self.run.paths[self.index];
        let mut points: Vec<_> =
            path.points.iter().filter(|p| (size.div_ceil(2)..=size.saturating_mul(2)).contains(&p.size)).collect();
        let apart = |p: u64| (p.max(1) as f64 / size.max(1) as f64).ln().abs();
        points.sort_by(|a, b| apart(a.size).total_cmp(&apart(b.size)));
        let found = points.into_iter().filter_map(|p| {
            let trials = p.trials.all();
            let trials: Vec<_> = trials.iter().collect();
            Singles::of(&self.run.run.plan, path.opened.transport, &trials, &path.common).map(|found| (p.size, found))
        });
        found.into_iter().find(|(_, singles)| singles.at(q).is_some())
    }

    /// The largest size measured, where bytes still cost less than the start there and the path carries larger messages: what these
    /// take does not follow from it.
    pub fn unsaturated(&self) -> Option<u64> {
        let largest = self.curve().iter().map(|c| c.size).max()?;
        let half_power = self.summary().and_then(|s| s.half_power).map(|e| e.value);
        let whole = self.most_message().is_some_and(|most| largest >= most / 2);
        (!whole && answer::saturates(self.curve(), half_power) == Some(false)).then_some(largest)
    }

    /// Fails where the most that the path moves was not reached.
    pub fn reached(&self) -> Result<(), Unanswered> {
        self.unsaturated().map_or(Ok(()), |largest| Err(Unanswered::Unsaturated(largest)))
    }

    /// How many flows ran at once.
    pub fn flows(&self) -> u32 {
        self.run.run.plan.flows(self.number())
    }

    /// How their connections share processes.
    pub fn topology(&self) -> measure::Topology {
        self.run.run.plan.topology(self.number())
    }

    /// So many flows, pairs or members as ran at once, in words.
    pub fn at_once(&self) -> String {
        let way = if self.both_ways() { " each way" } else { "" };
        format!("{}{way}", self.topology().counted(self.flows()))
    }

    /// Whether messages went both ways at once.
    pub fn both_ways(&self) -> bool {
        self.run.run.plan.both
    }

    /// What each direction carried beside the other at a size that was measured: to the far side, to the near side.
    pub fn ways(&self, size: u64) -> Option<&[measure::event::Figures; 2]> {
        self.run.paths[self.index].points.iter().find(|p| p.size == size)?.ways.as_deref()
    }

    /// Fails where several flows ran at once: the times are those between two transfers of any of them, and no transfer's own.
    pub fn own_times(&self) -> Result<(), Unanswered> {
        match self.flows() {
            1 if !self.both_ways() => Ok(()),
            // A cast is over when all have answered: its time is its own.
            _ if self.run.run.plan.pattern.facts().in_group == Some(InGroup::Whole) => Ok(()),
            _ => Err(Unanswered::NoSum(format!(
                "{} ran at once, and what was measured is the rate of all; a percentile tells how long single transfers took, and \
                 pipegauge run {} --pattern {} how long they take alone",
                self.at_once(),
                self.run.paths[self.index].opened.transport,
                self.pattern
            ))),
        }
    }

    /// What the times of single transfers are, and how many of them a round trip has: those of the path's points but where several flows
    /// ran at once, each of whose transfers has the pattern's own time.
    pub fn single(&self) -> (Option<TimeKind>, &'static str) {
        match self.kind {
            Some(TimeKind::Spacing) => {
                let time = self.run.run.plan.pattern.facts().time;
                (Some(time), report::words::time_label(time))
            }
            kind => (kind, self.time),
        }
    }

    /// Whether what was measured has a size: a barrier has none.
    pub fn sized(&self) -> bool {
        self.run.run.plan.pattern.facts().sized
    }

    /// That a schedule (`--rate`) said when messages were sent: how much the path carries was not measured.
    pub fn scheduled(&self) -> bool {
        self.run.run.plan.scheduled()
    }

    /// Times of round trips: how many of the curve's times they take, and what they are called.
    pub fn round_trip(&self) -> Result<(f64, &'static str), String> {
        match self.single() {
            (Some(TimeKind::HalfRoundTrip), _) => Ok((2.0, "RTT")),
            (Some(TimeKind::RoundTrip | TimeKind::Transaction), time) => Ok((1.0, time)),
            _ => Err(format!(
                "its times are of the kind '{}', which is no round trip: measure with --pattern {}",
                self.time,
                self.there_and_back()
            )),
        }
    }
}

/// An estimate times a factor.
pub fn times(e: Estimate, factor: f64) -> Estimate {
    Estimate { value: e.value * factor, low: e.low * factor, high: e.high * factor }
}

/// How many of an estimated time go into `span` seconds.
pub fn inverse(e: Estimate, span: f64) -> Estimate {
    let high = if e.low > 0.0 { span / e.low } else { f64::INFINITY };
    Estimate { value: span / e.value, low: span / e.high, high }
}

/// A figure with its interval, in words that fit into a sentence: "9.23 us [8.9, 9.6]", or "between 1 us and 1 ms (not resolved)".
pub fn figure(e: Estimate, kind: units::Kind) -> String {
    let text = units::resolved(e.value, e.low, e.high, kind);
    if text == "not resolved" && e.low > 0.0 && e.high.is_finite() {
        let end = |v| units::format::significant(v, kind);
        return format!("between {} and {} (not resolved)", end(e.low), end(e.high));
    }
    text.strip_prefix("not resolved: ").map(|range| format!("{range} (not resolved)")).unwrap_or(text)
}

/// The size from which on something holds, in words: "from 4 KiB [3, 5] on".
pub fn from(size: Estimate) -> String {
    let text = figure(size, units::Kind::Bytes);
    match text.ends_with("(not resolved)") {
        true => format!("from a size on that lies {text}"),
        false => format!("from {text} on"),
    }
}

/// When something is there, in words: "after 9.23 us [8.9, 9.6]".
pub fn after(time: Estimate) -> String {
    let text = figure(time, units::Kind::Seconds);
    match text.ends_with("(not resolved)") {
        true => format!("after a time {text}"),
        false => format!("after {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_fits_into_a_sentence() {
        let text = |value, low, high| figure(Estimate { value, low, high }, units::Kind::Seconds);
        assert_eq!(text(1e-3, 1e-4, 1e-2), "between 100 us and 10.0 ms (not resolved)");
        assert_eq!(text(1e-3, 0.0, 2e-3), "at most 2.00 ms (not resolved)");
        assert_eq!(text(1e-3, 0.9e-3, 1.1e-3), "1.00 ms [0.9, 1.1]");
        let open = Estimate { value: 4096.0, low: 1024.0, high: 65_536.0 };
        assert_eq!(from(open), "from a size on that lies between 1.00 KiB and 64.0 KiB (not resolved)");
        assert!(from(Estimate { low: 4000.0, high: 4200.0, ..open }).starts_with("from 4.00 KiB ["));
        assert_eq!(
            after(Estimate { value: 1e-3, low: 1e-4, high: 1e-2 }),
            "after a time between 100 us and 10.0 ms (not resolved)"
        );
    }
}
