//! The paths that are asked.

use measure::event::TimeKind;
use measure::figures::Singles;
use model::answer::{self, Unanswered};
use model::scale::{Unscaled, Wire};
use model::{CurvePoint, Estimate, Fits, Summary};
use record::{Analysis, RunFile};

use super::wires;
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
    /// The curve.
    pub curve: Vec<CurvePoint>,
    /// Its summary.
    pub summary: Option<Summary>,
    /// Fitted models.
    pub fits: Option<Fits>,
    run: &'a RunFile,
    index: usize,
}

/// The paths of a run file; `several` are asked.
pub fn paths<'a>(file: &'a str, run: &'a RunFile, wire: &WireFlags, several: bool) -> Vec<Asked<'a>> {
    let stem = file.strip_suffix(".run.jsonl").unwrap_or(file);
    let found = Analysis::of(run);
    let one = |(index, path): (usize, &'a record::PathRun)| {
        let label = path.opened.name();
        Asked {
            name: if several { format!("{label} ({stem})") } else { label.to_owned() },
            file,
            label,
            transport: path.opened.transport.as_str(),
            time: path.points.first().map_or("", |p| report::words::time_label(p.time)),
            kind: path.points.first().map(|p| p.time),
            pattern: run.run.plan.pattern.name(),
            wire: wires::of(run, index, wire),
            seed: run.run.plan.seed,
            curve: found.curve(index).to_vec(),
            summary: found.summary(index).cloned(),
            fits: found.fits(index).cloned(),
            run,
            index,
        }
    };
    run.paths.iter().enumerate().map(one).collect()
}

impl Asked<'_> {
    /// How `run` takes the path: a label is no transport.
    pub fn typed(&self) -> String {
        let opened = &self.run.paths[self.index].opened;
        // Where the name alone tells it apart, flags may have set what is set.
        let settings = self.run.run.plan.settings(opened.path);
        let typed = crate::config::paths::typed(opened.transport, settings, |_| opened.label.is_some());
        match self.flows() {
            1 => typed,
            flows => format!("{typed}{}flows={flows}", if typed.contains(':') { "," } else { ":" }),
        }
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

    /// Whether each transaction has a connection of its own.
    pub fn anew(&self) -> bool {
        self.run.run.plan.pattern.facts().anew.is_some()
    }

    /// The largest block that its transport carries, bytes; none without a bound.
    pub fn most_block(&self) -> Option<u64> {
        self.run.paths[self.index].opened.transport.capabilities().max_block
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
            let trials: Vec<_> = p.trials.iter().collect();
            Singles::of(&self.run.run.plan, path.opened.transport, &trials, &path.common).map(|found| (p.size, found))
        });
        found.into_iter().find(|(_, singles)| singles.at(q).is_some())
    }

    /// The largest size measured, where bytes still cost less than the start there and the path carries larger blocks: what these
    /// take does not follow from it.
    pub fn unsaturated(&self) -> Option<u64> {
        let largest = self.curve.iter().map(|c| c.size).max()?;
        let whole = self.most_block().is_some_and(|most| largest >= most / 2);
        (!whole && answer::saturates(&self.curve) == Some(false)).then_some(largest)
    }

    /// Fails where the most that the path moves was not reached.
    pub fn reached(&self) -> Result<(), Unanswered> {
        self.unsaturated().map_or(Ok(()), |largest| Err(Unanswered::Unsaturated(largest)))
    }

    /// How many flows ran at once.
    pub fn flows(&self) -> u32 {
        self.run.run.plan.flows(self.run.paths[self.index].opened.path)
    }

    /// Fails where several flows ran at once: the times are those between two transfers of any of them, and no transfer's own.
    pub fn own_times(&self) -> Result<(), Unanswered> {
        match self.flows() {
            1 => Ok(()),
            n => Err(Unanswered::NoSum(format!(
                "{n} flows ran at once, and what was measured is the rate of all; a percentile tells how long single transfers took, and \
                 pipegauge run {} --pattern {} how long they take alone",
                self.run.paths[self.index].opened.transport, self.pattern
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

    /// Whether the far side sent.
    pub fn reversed(&self) -> bool {
        self.run.run.plan.reverse
    }

    /// That a schedule (`--rate`) said when blocks were sent: how much the path carries was not measured.
    pub fn scheduled(&self) -> bool {
        self.run.run.plan.scheduled()
    }

    /// Times of round trips: how many of the curve's times they take, and what they are called.
    pub fn round_trip(&self) -> Result<(f64, &'static str), String> {
        match self.single() {
            (Some(TimeKind::HalfRoundTrip), _) => Ok((2.0, "RTT")),
            (Some(TimeKind::RoundTrip | TimeKind::Transaction), time) => Ok((1.0, time)),
            _ => Err(format!(
                "its times are of the kind '{}', which is no round trip: measure with --pattern ping-pong",
                self.time
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

/// A figure with its interval, in words: "9.23 us [8.9, 9.6]", or that it is not resolved.
pub fn figure(e: Estimate, kind: units::Kind) -> String {
    units::resolved(e.value, e.low, e.high, kind)
}
