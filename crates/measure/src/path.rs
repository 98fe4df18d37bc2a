//! One path of a run: its points, its time, and the steps that the driver takes it through.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use host::Taken;
use transport::options::Form;
use transport::{Ends, Name, OptionSpec, Settings, registry};

use crate::amounts::{FEWEST, LOAD, MIDDLING};
use crate::event::{
    Calibration, Event, Figures, HostCalibration, PathOpened, PathPlan, Plan, PointEnded, RoundOpened, RoundTaken,
    Schedule, Trial, Warning, Why,
};
use crate::figures::Common;
use crate::flows::turns::{self, Each, Turns};
use crate::pattern::Facts;
use crate::place::Place;
use crate::session::{Calibrations, Party};
use crate::settled::settled;
use crate::teller::{RunError, Teller};
use crate::topology::{MemberOpened, Role};
use crate::{Load, Session, SessionError, TrialSpec, bucket, figures, judge, support, sustained};

/// What takes longer than this is long, seconds: such an iteration is a trial of its own, and the first such trial of a size is worked up to.
pub(crate) const LONG: f64 = 0.02;
/// Share of the budget that a trial may take which has as many iterations as its pattern asks for.
const OF_BUDGET: f64 = 1.0 / 200.0;
/// Most iterations of a trial.
const MOST: u64 = 1 << 22;
/// An interruption of one trial counts as at most so many times its typical iterations: the next trial need not meet one.
const MOST_MEAN: f64 = 3.0;
/// A single trial or opening counts as at most so many times the average.
const MOST_BEYOND: f64 = 4.0;
/// A trial may take so many times as long as it was to take. A size's first long trial gets as many iterations as its warm-ups foretell for
/// that, at most. A trial that its members can end together ends then, or after a share of the budget where that is longer. No other trial
/// is held to it.
pub(crate) const LONGER: f64 = 4.0;
const LONGEST: f64 = 0.05;
/// Weight of the last trial in what an iteration takes on average.
const LAST: f64 = 0.3;

/// One path of a run, for the driver.
pub struct PathRun<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    pub(crate) session: Box<dyn Session + 'a>,
    pub(crate) teller: &'a Teller<'a>,
    pub(crate) calibration: Calibration,
    pub(crate) number: u32,
    pub(crate) kind: Name,
    /// What the path is called.
    pub(crate) name: String,
    label: Option<String>,
    /// Whether code that is not ours carries its messages: a module, or a program.
    not_ours: bool,
    /// Sizes of which such code has shown that it delivers what is sent.
    proven: BTreeSet<u64>,
    pub(crate) points: BTreeMap<u64, Point>,
    /// Seconds of an iteration, by size, of sizes that are no points and were tried only to estimate a far larger one.
    pub(crate) felt: BTreeMap<u64, f64>,
    /// Sizes above this take longer than the stop rule allows.
    pub(crate) ceiling: u64,
    pub(crate) started: u64,
    pub(crate) spent: f64,
    pub(crate) announced: bool,
    /// Whether its connections leave the host.
    pub(crate) leaves: bool,
    /// The one CPU that both sides may run on, of which was not warned yet.
    one_cpu: Option<u32>,
    /// What is to be said of near processes on several hosts, unless this machine is theirs.
    near_hosts: Option<Warning>,
    pub(crate) done: bool,
    /// Why it left the run, where it did.
    pub(crate) failed: Option<RunError>,
    pub(crate) gone: bool,
    pub(crate) taken: Vec<Taken>,
    /// The rounds that have begun, with the calibration of the machines before each.
    opened: Vec<RoundOpened>,
    /// Measured cost of a trial beyond its iterations, seconds.
    pub(crate) overhead: f64,
    /// Seconds spent on closer looks where the curve jumps, in this run so far.
    pub(crate) refined: f64,
    /// The survey left out sizes: the machine is too busy for all.
    pub(crate) thinned: bool,
    /// Seconds from a round's beginning to its first trial, over recent rounds.
    pub(crate) opening: f64,
    pub(crate) counted: u64,
    /// How long a trial of several flows must last.
    turns: Turns,
    /// Seconds that all short trials took, and that they would have by their typical iterations: of sizes up to 64 KiB, and above. Large
    /// messages take most of the time and are delayed least.
    took: [f64; 2],
    foretold: [f64; 2],
    /// Long trials, which show what the path carries for long.
    pub(crate) sustained: Vec<Trial>,
    /// How many times such trials were made.
    pub(crate) moments: u32,
    /// What was taken of the pinned CPUs during them.
    pub(crate) taken_long: Vec<Taken>,
}

#[derive(Default)]
pub(crate) struct Point {
    pub(crate) trials: Vec<Trial>,
    /// Seconds an iteration, by the last trial; 0 while unknown.
    pub(crate) estimate: f64,
    /// Whether several flows ran at once for long enough to know `estimate`.
    sure: bool,
    /// Seconds an iteration on average over recent trials; 0 while unknown.
    mean: f64,
    pub(crate) ended: Option<Why>,
    /// How far the interval reaches, as a share of the median.
    pub(crate) width: f64,
    /// Rounds at the first of the successive checks at which it was known well enough.
    pub(crate) known_from: Option<u32>,
    /// Seconds of the rounds' time that the size has saved up for its next trial; none until the first round that reckons with it.
    pub(crate) saved: Option<f64>,
    /// Whether rounds leave the size out, as there is no time for all of them.
    pub(crate) left_out: bool,
}

impl<'a> PathRun<'a> {
    /// A path over `session`, not opened yet.
    pub fn new(
        plan: &'a Plan,
        calibration: Calibration,
        number: u32,
        session: Box<dyn Session + 'a>,
        teller: &'a Teller<'a>,
    ) -> Self {
        let about = plan.paths.get(number as usize).cloned().unwrap_or_else(|| Name::ALONE.into());
        let loading = plan.load(number).map_or(0, Load::connections);
        let turns = Turns::of(plan.connections(number).saturating_add(loading), plan.budget);
        Self {
            turns,
            plan,
            calibration,
            number,
            kind: about.transport,
            name: about.name().to_owned(),
            label: about.label.clone(),
            started: session.now(),
            session,
            teller,
            not_ours: registry::find(about.transport).is_some_and(|t| t.source().is_some() || t.ends() == Ends::Echoed),
            proven: BTreeSet::new(),
            points: BTreeMap::new(),
            felt: BTreeMap::new(),
            ceiling: u64::MAX,
            spent: 0.0,
            announced: false,
            leaves: false,
            one_cpu: None,
            near_hosts: None,
            done: false,
            failed: None,
            gone: false,
            taken: Vec::new(),
            opened: Vec::new(),
            overhead: 3e-4,
            refined: 0.0,
            thinned: false,
            opening: 0.0,
            counted: 0,
            took: [0.0; 2],
            foretold: [0.0; 2],
            sustained: Vec::new(),
            moments: 0,
            taken_long: Vec::new(),
        }
    }

    fn facts(&self) -> &'static Facts {
        self.plan.pattern.facts()
    }

    /// Flows that each trial has, of both directions where both sides send.
    pub(crate) fn flows(&self) -> u32 {
        self.plan.connections(self.number)
    }

    /// Whether no further round is worth its time.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Leaves the run, which goes on with other paths.
    pub(crate) fn leave(&mut self, why: RunError) {
        // The path has failed already: an error of its end adds nothing.
        let _ = self.session.close();
        (self.done, self.gone, self.failed) = (true, true, Some(why));
    }

    /// Trials that counted.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// What others took of the pinned CPUs, round by round.
    pub fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// Records what others took of the pinned CPUs during this round, where that is known.
    pub(crate) fn note_taken(&mut self, round: u32) -> Result<(), RunError> {
        let Some(taken) = self.session.taken() else { return Ok(()) };
        self.taken.push(taken);
        self.tell(&Event::Taken(RoundTaken { path: self.number, round, taken }))
    }

    /// What is left of the budget for rounds, seconds.
    pub fn left(&self) -> f64 {
        (self.plan.budget - self.spent - self.reserved()).max(0.0)
    }

    /// Notes that a round took so many seconds to open. A round that had to wait for a CPU counts only in part.
    pub(crate) fn opened(&mut self, seconds: f64) {
        let last = if self.opening > 0.0 { seconds.min(MOST_BEYOND * self.opening) } else { seconds };
        self.opening = if self.opening > 0.0 { self.opening + LAST * (last - self.opening) } else { last };
    }

    /// Ends the connection and the far process.
    pub fn close(&mut self) -> Result<(), RunError> {
        self.session.close().map_err(|source| RunError::Session { path: self.name.clone(), source })
    }

    /// Largest message that the transport carries, bytes.
    pub fn most(&self) -> u64 {
        self.session.capabilities().max_block.unwrap_or(u64::MAX)
    }

    /// Opens a fresh connection for this round and begins it.
    pub fn open(&mut self, round: u32, planned: u32) -> Result<(), RunError> {
        self.connect(round)?;
        self.begin(round, planned)
    }

    /// Opens the first connection. Its capabilities depend on the settings, and sizes are planned by them. [`PathRun::begin`] must follow.
    /// An error where nothing that was asked for is possible.
    pub(crate) fn connect_first(&mut self, round: u32) -> Result<(), RunError> {
        self.connect(round)?;
        let can = self.session.capabilities();
        let alone = PathPlan::from(self.kind);
        let path = self.plan.paths.get(self.number as usize).unwrap_or(&alone);
        support::check(self.plan, path, &can).map_err(|e| {
            let source = SessionError::Control(format!("with the settings asked for, {e}"));
            RunError::Session { path: self.name.clone(), source }
        })?;
        self.ceiling = self.ceiling.min(self.most());
        Ok(())
    }

    fn connect(&mut self, round: u32) -> Result<(), RunError> {
        // The processes of each round load a module anew.
        let unchanged = registry::find(self.kind).map_or(Ok(()), |transport| transport.unchanged());
        unchanged.map_err(|e| RunError::Session { path: self.name.clone(), source: e.into() })?;
        let party = self.session.open(round).map_err(|source| RunError::Session { path: self.name.clone(), source })?;
        if !self.announced {
            self.announced = true;
            self.one_cpu = party.one_cpu();
            self.leaves = bucket::leaves_the_host(party.near_effective.addresses.as_deref());
            self.near_hosts = near_hosts(&party);
            let crowd = crowd(&party).filter(|_| self.plan.pattern.facts().together);
            self.tell(&Event::Path(PathOpened {
                path: self.number,
                transport: self.kind,
                label: self.label.clone(),
                capabilities: self.session.capabilities(),
                far: party.far,
                near_effective: party.near_effective,
                far_effective: party.far_effective,
                flows: party.flows,
                members: party.members,
                load: party.load,
            }))?;
            if let Some((members, cpus)) = crowd {
                let options = registry::find(self.kind).map_or(&[][..], |transport| transport.options());
                let yields = yields(self.kind, options, self.plan.settings(self.number));
                self.warn(judge::crowded(members, cpus, yields.as_deref()))?;
            }
        }
        Ok(())
    }

    /// Begins this round, of `planned` trials, on the connection that was opened for it.
    pub(crate) fn begin(&mut self, round: u32, planned: u32) -> Result<(), RunError> {
        let Calibrations { near: calibration, far } = self.session.calibration(self.calibration_time());
        let can = self.session.capabilities();
        // The far side's machine is calibrated apart where it is another, and the numbers of its CPUs mean other CPUs.
        let here = far.is_empty() && can.two_ended && !can.virtual_time;
        if let Some(cpu) = self.one_cpu.take().filter(|_| here) {
            self.warn(judge::one_cpu(cpu))?;
        }
        // A wrapper may give a near process a name of its own on this machine, which is looked at.
        if let Some(warning) = self.near_hosts.take().filter(|_| calibration.is_none()) {
            self.warn(warning)?;
        }
        let (first, other_far_calibrations): (Vec<_>, Vec<_>) =
            far.into_iter().partition(|of| of.rank == HostCalibration::FIRST);
        let opened = RoundOpened {
            path: self.number,
            round,
            at: self.at(),
            planned,
            calibration,
            far_calibration: first.first().map(|of| of.calibration),
            other_far_calibrations,
        };
        self.opened.push(opened.clone());
        self.tell(&Event::Round(opened))
    }

    /// Time for the calibration before a round: enough for a slow machine, and a small part of a round.
    fn calibration_time(&self) -> Duration {
        Duration::from_secs_f64((self.plan.budget * 0.004).clamp(0.0, 0.01))
    }

    /// Runs one trial of `repeats` iterations and keeps it.
    pub fn trial(&mut self, size: u64, repeats: u64, round: u32, warmup: bool) -> Result<(), RunError> {
        let Some(trial) = self.measure(size, repeats, round, warmup)? else { return Ok(()) };
        self.tell(&Event::Trial(trial.clone()))?;
        self.counted += u64::from(!warmup);
        if trial.report.median > 0.0 && trial.report.flows.is_none() {
            let class = usize::from(size > MIDDLING);
            self.took[class] += trial.report.seconds;
            self.foretold[class] += trial.report.median * trial.report.repeats as f64;
        }
        self.points.entry(size).or_default().trials.push(trial);
        Ok(())
    }

    /// Runs one trial of `repeats` iterations; none where nothing of the size arrives, which leaves it out from then on.
    pub(crate) fn measure(
        &mut self,
        size: u64,
        repeats: u64,
        round: u32,
        warmup: bool,
    ) -> Result<Option<Trial>, RunError> {
        self.prove(size)?;
        let chunk = self.chunk(self.estimate(size));
        let flows = self.flows();
        let within = self.ends_after(size, repeats);
        let spec = TrialSpec { chunk, flows, within, ..TrialSpec::of(self.plan, size, repeats) };
        let at = self.at();
        let begin = self.session.now();
        let report = match self.session.trial(&spec) {
            Err(e) if matches!(e.root(), SessionError::NothingArrives { .. }) && self.reached_below(size).is_some() => {
                self.nothing_arrives(size, round)?;
                return Ok(None);
            }
            other => other.map_err(|source| RunError::Session { path: self.name.clone(), source })?,
        };
        let whole = (self.session.now() - begin) as f64 * 1e-9;
        if let Some(flows) = &report.flows {
            // A survey trial is too short by intention, and one of a number that was asked for is as long as it is.
            if self.plan.repeats.is_none() && repeats >= self.fewest(size) {
                self.turns.saw(flows);
            }
            let Each { seconds: each, sure } = turns::each(flows, repeats);
            let beyond = (whole - flows.span - spec.warmup as f64 * each).max(0.0);
            self.overhead += 0.1 * (beyond.min(MOST_BEYOND * self.overhead) - self.overhead);
            let point = self.points.entry(size).or_default();
            if sure || !point.sure {
                // Of trials whose flows hardly ran at once the longer one is more reliable: how far apart they began matters most in a
                // short one. Warm-up trials come before each round's trial, and must not replace what the last one found.
                let each = if sure || point.estimate <= 0.0 { each } else { each.min(point.estimate) };
                (point.estimate, point.mean, point.sure) = (each, each, sure);
            }
        } else if report.repeats > 0 {
            let each = if report.median > 0.0 { report.median } else { report.each_sent() };
            // A stream's sender may be far ahead of its receiver, whose time for a message counts.
            let each = each.max(report.each_received(size)).max(1e-10);
            let untimed = (self.beside() + spec.warmup as f64) * each;
            let beyond = (whole - report.seconds.max(report.far.seconds) - untimed).max(0.0);
            // A trial that had to wait for a CPU counts only in part for the next.
            self.overhead += 0.1 * (beyond.min(MOST_BEYOND * self.overhead) - self.overhead);
            let point = self.points.entry(size).or_default();
            point.estimate = each;
            let mean = report.seconds.max(report.far.seconds) / report.repeats as f64;
            let mean = mean.clamp(each, MOST_MEAN * each);
            point.mean = if point.mean > 0.0 { point.mean + LAST * (mean - point.mean) } else { mean };
        }
        let (path, response, burst) = (self.number, spec.response, spec.burst);
        Ok(Some(Trial { path, round, at, size, response, burst, warmup, report }))
    }

    /// Before the first trial of a size over code that is not ours, one message of it is sent and looked at as with `--check`, which counts nowhere: what
    /// says that it carried a message and did not would be a very fast path. A fault that was asked for is none of the path's own.
    fn prove(&mut self, size: u64) -> Result<(), RunError> {
        let asked = self.plan.check || self.plan.decorators.fault.is_some() || self.plan.schedule == Schedule::Hint;
        if !self.not_ours || asked || !self.proven.insert(size) {
            return Ok(());
        }
        let (flows, within) = (self.flows(), self.ends_after(size, 1));
        // Memory still holds what an earlier size left there: each has contents of its own.
        let seed = self.plan.seed ^ size.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let warmup = u64::from(self.facts().unanswered);
        let plain =
            TrialSpec { check: true, seed, warmup, chunk: 1, flows, within, ..TrialSpec::of(self.plan, size, 1) };
        let spec = TrialSpec { rate: None, offered: None, ..plain };
        match self.session.trial(&spec) {
            Err(source) => Err(RunError::Session { path: self.name.clone(), source }),
            Ok(_) => Ok(()),
        }
    }

    /// Nanoseconds after which a trial ends whose members end it together; none of any other, and of one whose iterations were asked for.
    fn ends_after(&self, size: u64, repeats: u64) -> Option<u64> {
        let ends = self.facts().together && self.plan.repeats.is_none();
        let seconds = (LONGER * repeats as f64 * self.estimate(size)).max(self.plan.budget * LONGEST);
        ends.then_some((seconds * 1e9) as u64)
    }

    /// The largest size below `size` of which something arrived, where nothing of `size` ever did.
    pub(crate) fn reached_below(&self, size: u64) -> Option<u64> {
        let arrived = |p: &Point| p.trials.iter().any(|t| t.report.repeats > 0);
        if self.points.get(&size).is_some_and(arrived) {
            return None;
        }
        self.points.range(..size).rev().find(|(_, p)| arrived(p)).map(|(s, _)| *s)
    }

    /// Leaves out `size` and what is larger, and goes on with what gets through.
    fn nothing_arrives(&mut self, size: u64, round: u32) -> Result<(), RunError> {
        let reached = self.reached_below(size).unwrap_or(0);
        self.ceiling = self.ceiling.min(reached);
        self.warn(judge::nothing_arrives(self.kind, size, reached))?;
        let planned = self.points.range(..=reached).count() as u32;
        self.open(round, planned)
    }

    /// Iterations between two readings of the clock, so that reading costs at most 1% of what is timed. Where a message may be lost, every
    /// iteration is timed: one with a time-out in it must not spoil its neighbours.
    fn chunk(&self, estimate: f64) -> u64 {
        if estimate <= 0.0 || !self.session.capabilities().reliable {
            return 1;
        }
        (self.calibration.of_path(self.kind).clock_cost_ns * 1e-9 * 100.0 / estimate).ceil().max(1.0) as u64
    }

    /// Seconds an iteration of `size`, by the last trial, or estimated from its neighbours.
    pub fn estimate(&self, size: u64) -> f64 {
        if let Some(p) = self.points.get(&size).filter(|p| p.estimate > 0.0) {
            return p.estimate;
        }
        let known = |(s, p): (&u64, &Point)| (p.estimate > 0.0).then_some((*s, p.estimate));
        let seen = self.points.range(..size).rev().find_map(known);
        let felt = self.felt.range(..=size).next_back().map(|(s, seconds)| (*s, *seconds));
        // The nearer one.
        let below = if felt.map(|f| f.0) > seen.map(|s| s.0) { felt } else { seen };
        let above = self.points.range(size..).find_map(known);
        match (below, above) {
            (Some((_, b)), Some((_, a))) => b.max(a),
            // Time grows no faster than size; a smaller message takes no longer.
            (Some((s, b)), None) => b * size as f64 / s as f64,
            (None, Some((_, a))) => a,
            (None, None) => 0.0,
        }
    }

    /// Seconds that an iteration of `size` occupies: an open loop sends no faster than its schedule.
    pub fn takes(&self, size: u64) -> f64 {
        self.estimate(size).max(self.plan.gap(size).unwrap_or(0.0))
    }

    /// Seconds that an iteration of `size` takes on average, interruptions included.
    pub(crate) fn costs(&self, size: u64) -> f64 {
        let alone = self.points.get(&size).map_or(0.0, |p| p.mean).max(self.takes(size));
        alone.max(self.estimate(size) * self.stopped(size))
    }

    /// Time that all short trials of sizes such as `size` took over what their typical iterations come to: above 1 where others hold the
    /// CPUs.
    pub(crate) fn stopped(&self, size: u64) -> f64 {
        let class = usize::from(size > MIDDLING);
        if self.foretold[class] > 0.0 { (self.took[class] / self.foretold[class]).max(1.0) } else { 1.0 }
    }

    /// Seconds that one message of `size` needs one way, about.
    pub fn one_message(&self, size: u64) -> f64 {
        self.estimate(size) / (self.facts().ways)(self.plan.burst) as f64
    }

    /// Shortest trial of `size`, one way as the paper counts.
    pub fn shortest(&self, size: u64) -> f64 {
        self.figures(size, &Common::default()).map_or(0.0, |f| f.min)
    }

    pub(crate) fn figures(&self, size: u64, common: &Common) -> Option<Figures> {
        let trials: Vec<&Trial> = self.points.get(&size)?.trials.iter().collect();
        figures::figures(self.plan, self.kind, &trials, common)
    }

    /// Ends a point and sends the event with its figures.
    pub fn end_point(&mut self, size: u64, why: Why, common: &Common) -> Result<(), RunError> {
        let Some(figures) = self.figures(size, common) else { return Ok(()) };
        let figures = if why == Why::Precision { settled(figures, self.plan.precision) } else { figures };
        if let Some(p) = self.points.get_mut(&size) {
            p.ended = Some(why);
        }
        let time = figures::time_kind(self.plan, self.kind, self.flows());
        self.tell(&Event::Point(PointEnded { path: self.number, size, time, figures, why }))
    }

    /// What the path's points have in common.
    pub(crate) fn common(&self) -> Common {
        Common::of(self.plan, self.kind, self.calibration, self.points.values().map(|p| &p.trials[..]))
    }

    /// Seconds since the path's start, by its own clock.
    pub fn at(&self) -> f64 {
        (self.session.now() - self.started) as f64 * 1e-9
    }

    pub(crate) fn tell(&self, event: &Event) -> Result<(), RunError> {
        self.teller.tell(event)
    }

    pub(crate) fn warn(&self, warning: Warning) -> Result<(), RunError> {
        self.tell(&Event::Warning(Warning { path: Some(self.number), ..warning }))
    }

    /// Fewest iterations of a trial of `size`. One long iteration needs no median of three within the trial, and more rounds are better
    /// evidence; at an offered rate those of a [`LOAD`], of several flows, and under load, those of their [`Turns`].
    pub(crate) fn fewest(&self, size: u64) -> u64 {
        let least = if self.plan.offered.is_some() { self.turns.least().max(LOAD) } else { self.turns.least() };
        let load = match least > 0.0 && self.estimate(size) > 0.0 {
            true => (least / self.takes(size)).ceil().min(MOST as f64) as u64,
            false => 0,
        };
        load.max(self.fewest_looked(size)).max(self.fewest_in_budget(size))
    }

    /// As many as the pattern asks for, where they take no more than a part of the budget: of few messages of a stream a large part lies in
    /// buffers.
    fn fewest_in_budget(&self, size: u64) -> u64 {
        let takes = self.takes(size) * self.stopped(size);
        match self.facts().fewest {
            asked if asked > FEWEST && takes > 0.0 => asked.min((self.plan.budget * OF_BUDGET / takes) as u64),
            _ => 0,
        }
    }

    /// The same of a survey trial.
    pub(crate) fn fewest_looked(&self, size: u64) -> u64 {
        if self.estimate(size) * self.stopped(size) > LONG { 1 } else { self.facts().fewest.min(FEWEST) }
    }

    /// Iterations that a trial makes besides those that it times, where they are as long as any.
    pub(crate) fn beside(&self) -> f64 {
        self.facts().beside
    }

    /// Iterations of a trial that counts: as many as the plan names, or as take about `slice` seconds.
    pub(crate) fn repeats(&self, size: u64, slice: f64) -> u64 {
        self.plan.repeats.unwrap_or_else(|| self.within(size, slice).max(self.fewest(size)))
    }

    /// Iterations of a trial for survey or warm-up: as many as take about `slice` seconds, and no more than of one that counts.
    pub(crate) fn brief(&self, size: u64, slice: f64) -> u64 {
        self.within(size, slice).min(self.plan.repeats.unwrap_or(u64::MAX))
    }

    /// As many iterations as take about `slice` seconds.
    pub(crate) fn within(&self, size: u64, slice: f64) -> u64 {
        let estimate = self.estimate(size);
        let n = if let Some(rate) = self.plan.rate {
            slice * rate
        } else if estimate > 0.0 {
            slice / self.takes(size)
        } else {
            10.0
        };
        (n as u64).clamp(self.fewest_looked(size), MOST)
    }

    /// Typical seconds of an iteration in the fastest trial of a size.
    pub(crate) fn fastest(&self, size: u64) -> f64 {
        let trials = self.points.get(&size).into_iter().flat_map(|p| &p.trials);
        let each = trials.map(|t| figures::took(self.plan, t)).filter(|each| *each > 0.0);
        each.fold(self.estimate(size), f64::min)
    }

    /// Ends what is still open, and gives the path's warnings.
    pub fn finish(&mut self, stopped: bool) -> Result<usize, RunError> {
        let open: Vec<u64> = self.points.iter().filter(|(_, p)| p.ended.is_none()).map(|(s, _)| *s).collect();
        let why = match (stopped, self.plan.trials) {
            (true, _) => Why::Stopped,
            (false, Some(_)) => Why::Trials,
            (false, None) => Why::Budget,
        };
        let common = self.common();
        for size in &open {
            self.end_point(*size, why, &common)?;
        }
        let view: Vec<judge::Judged<'_>> = self
            .points
            .iter()
            .filter_map(|(&size, p)| {
                let figures = self.figures(size, &common)?;
                Some(judge::Judged { size, figures, trials: &p.trials, ended: p.ended })
            })
            .collect();
        let place = Place::of(self.kind, &common, &self.opened);
        let warnings = judge::warnings(self.plan, self.kind, &view, &common, Taken::over(&self.taken), place);
        let figured: Vec<u64> = view.iter().map(|j| j.size).collect();
        let missed = open.len()
            - view.iter().filter(|j| open.contains(&j.size) && judge::reached(self.plan, &j.figures)).count();
        let figureless = || self.points.iter().filter(|(s, p)| !p.trials.is_empty() && !figured.contains(s));
        let lost = judge::lost(figureless().flat_map(|(_, p)| &p.trials));
        let figureless = judge::figureless(self.plan, self.number, figureless().map(|(s, _)| *s).collect(), lost);
        let moved = match self.plan.schedule {
            // A point or two are not a curve: the warning of noise covers them.
            Schedule::Adaptive | Schedule::Hint if self.points.len() > 2 => {
                judge::unsteady(&common, self.kind, Taken::over(&self.taken), place)
            }
            _ => None,
        };
        let short = self.points.iter().map(|(size, p)| (*size, &p.trials[..]));
        let kept_up = sustained::sustained(self.plan, self.kind, &self.sustained, short, &common);
        let taken = Taken::over(&self.taken_long).or_else(|| Taken::over(&self.taken));
        let burst = judge::burst(self.plan, &kept_up, taken);
        let drained = bucket::drained(self.plan, &view);
        let bucket = bucket::token_bucket(self.plan, &view, &kept_up, self.leaves);
        let of_rates = burst.into_iter().chain(bucket).chain(drained);
        for warning in warnings.into_iter().chain(moved).chain(of_rates).chain(figureless) {
            self.warn(warning)?;
        }
        Ok(if self.plan.trials.is_some() { 0 } else { missed })
    }
}

/// What makes a waiting end of a path with these options give its CPU away, as it is typed; none where it has no such setting, or already that one.
fn yields(kind: Name, options: &[OptionSpec], settings: &Settings) -> Option<String> {
    const YIELDS: &str = "yield";
    let wait = options.iter().find(|option| option.name == "wait")?;
    let takes = matches!(wait.form, Form::OneOf(words) if words.contains(&YIELDS));
    (takes && settings.text(wait.name) != Some(YIELDS)).then(|| format!("{kind}:{}={YIELDS}", wait.name))
}

/// The warning that nobody looks how fast the machines of near processes are, which see a host of their own.
fn near_hosts(party: &Party) -> Option<Warning> {
    let near = party.members.iter().filter(|one| one.role == Role::Near && one.environment.is_some());
    let hosts: BTreeSet<&str> = near.map(|one| one.host.as_str()).collect();
    (!hosts.is_empty()).then(|| judge::near_hosts(&hosts.into_iter().collect::<Vec<_>>()))
}

/// Members of a group on one host and the CPUs that they have there, where those are fewer: of the host on which most share one.
fn crowd(party: &Party) -> Option<(usize, usize)> {
    let mut hosts: BTreeMap<&str, Vec<&MemberOpened>> = BTreeMap::new();
    for member in &party.members {
        hosts.entry(&member.host).or_default().push(member);
    }
    let far = party.far.as_ref()?;
    let crowds = hosts.into_values().filter_map(|members| {
        let kept: BTreeSet<u32> = members.iter().flat_map(|member| member.cpus.iter().copied()).collect();
        // Those that keep to none may run on all that there are; what one sees that differs from its side's first it tells.
        let free = members.iter().any(|member| member.cpus.is_empty());
        let seen = members.iter().find_map(|member| member.environment.as_deref()).unwrap_or(far);
        let cpus = if free { seen.cpus.len() } else { kept.len() };
        (0 < cpus && cpus < members.len()).then_some((members.len(), cpus))
    });
    crowds.max_by(|(m, c), (n, d)| (m * d).cmp(&(n * c)))
}

#[cfg(test)]
mod tests {
    use host::Environment;
    use transport::options;

    use super::*;

    #[test]
    fn near_processes_on_other_hosts_are_told_to_be_without_calibration() {
        let near = |host: &str, elsewhere: bool| MemberOpened {
            host: host.to_owned(),
            role: Role::Near,
            environment: elsewhere.then(Box::default),
            ..MemberOpened::default()
        };
        let of = |members: Vec<MemberOpened>| near_hosts(&Party { members, ..Party::default() }).map(|w| w.text);
        let text = of(vec![near("a", true), near("b", true), near("a", true)]).unwrap();
        assert!(text.contains("run on 2 hosts (a, b), and nothing tells how fast") && text.contains("--vs"), "{text}");
        assert_eq!(of(vec![near("a", false), near("a", false)]), None, "this host, which is looked at");
        let far = MemberOpened { role: Role::Far, ..near("c", true) };
        assert_eq!(of(vec![near("a", false), far]), None, "each far host is looked at");
    }

    #[test]
    fn members_of_several_hosts_share_the_cpus_of_their_own_host() {
        let seen = |cpus: u32| Environment { cpus: (0..cpus).collect(), ..Environment::default() };
        let member = |host: &str, cpus: &[u32]| MemberOpened {
            host: host.to_owned(),
            cpus: cpus.to_vec(),
            environment: (host == "c").then(|| Box::new(seen(1))),
            ..MemberOpened::default()
        };
        let of = |members: &[(&str, &[u32])]| {
            let members = members.iter().map(|(host, cpus)| member(host, cpus)).collect();
            crowd(&Party { far: Some(seen(2)), members, ..Party::default() })
        };
        assert_eq!(of(&[("a", &[]), ("b", &[]), ("b", &[])]), None);
        assert_eq!(of(&[("a", &[0]), ("b", &[0]), ("c", &[0])]), None, "a CPU each, of one number");
        assert_eq!(of(&[("b", &[]), ("b", &[]), ("b", &[]), ("c", &[])]), Some((3, 2)));
        assert_eq!(
            of(&[("b", &[]), ("b", &[]), ("b", &[]), ("c", &[]), ("c", &[])]),
            Some((2, 1)),
            "the greater crowd"
        );
        assert_eq!(of(&[("b", &[0]), ("b", &[0])]), Some((2, 1)));
    }

    #[test]
    fn members_that_share_cpus_are_told_to_yield_only_where_their_path_can_and_does_not() {
        let spins = [options::wait(&["poll", "yield"], "poll")];
        let of = |options: &[OptionSpec], settings| yields(Name::ALONE, options, &settings);
        let told = format!("{}:wait=yield", Name::ALONE);
        assert_eq!(of(&spins, Settings::default()), Some(told.clone()));
        assert_eq!(of(&spins, Settings::default().with("wait", "poll")), Some(told.clone()));
        assert_eq!(of(&spins, Settings::default().with("wait", "yield")), None, "it is set");
        assert_eq!(
            of(&[options::wait(&["block", "spin"], "block")], Settings::default()),
            None,
            "it waits in other ways"
        );
        assert_eq!(of(&[], Settings::default()), None);
        let text = |cpus, yields| judge::crowded(3, cpus, yields).text;
        assert!(text(2, None).contains("--members 2 gives") && !text(2, None).contains("yield"), "{}", text(2, None));
        assert!(
            text(1, Some(&told)).contains(&told) && !text(1, None).contains("--members"),
            "{}",
            text(1, Some(&told))
        );
    }
}
