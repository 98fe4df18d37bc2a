//! One path of a run: its points, its time, and the steps that the driver takes it through.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use transport::Kind;

use crate::driver::{RunError, Teller};
use crate::event::{
    BlockOpened, Calibration, Event, Figures, PathOpened, Plan, PointEnded, Schedule, Trial, Warning, Why,
};
use crate::refine::{self, Look, Seen};
use crate::{Pattern, Session, SessionError, TrialSpec, figures, judge, sizes};

/// Share of the budget that the survey may take.
const SURVEY: f64 = 0.12;
/// Length of a survey trial, seconds.
const SURVEY_TRIAL: f64 = 1.5e-3;
/// A block that takes longer one way than this is the last size (the paper's stop rule), seconds.
const TOO_SLOW: f64 = 1.0;
/// Sizes that refinement may add to a path.
const ADDED: usize = 64;
/// Fewest iterations of a trial.
const FEWEST: u64 = 3;
/// Most iterations of a trial.
const MOST: u64 = 1 << 22;
/// Fewest blocks after which a point can be settled.
const SETTLED_BLOCKS: u32 = 6;

/// One path of a run as the driver sees it.
pub struct PathRun<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    session: Box<dyn Session + 'a>,
    teller: &'a Teller<'a>,
    calibration: Calibration,
    number: u32,
    kind: Kind,
    points: BTreeMap<u64, Point>,
    /// Sizes above this take longer than the stop rule allows.
    ceiling: u64,
    started: u64,
    spent: f64,
    announced: bool,
    done: bool,
    foreign: Vec<f64>,
    /// Measured cost of a trial beyond its iterations, seconds.
    overhead: f64,
    counted: u64,
}

#[derive(Default)]
struct Point {
    trials: Vec<Trial>,
    /// Seconds an iteration, as last seen; 0 while unknown.
    estimate: f64,
    ended: Option<Why>,
    /// Half-width of the interval as a share of the median.
    width: f64,
}

impl<'a> PathRun<'a> {
    /// A path over `session`, of which nothing is known yet.
    pub fn new(
        plan: &'a Plan,
        calibration: Calibration,
        number: u32,
        session: Box<dyn Session + 'a>,
        teller: &'a Teller<'a>,
    ) -> Self {
        Self {
            plan,
            calibration,
            number,
            kind: session.kind(),
            started: session.now(),
            session,
            teller,
            points: BTreeMap::new(),
            ceiling: u64::MAX,
            spent: 0.0,
            announced: false,
            done: false,
            foreign: Vec::new(),
            overhead: 3e-4,
            counted: 0,
        }
    }

    /// Whether no further block is worth its time.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Trials that counted.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// What others took of the pinned CPUs, block by block, as a share of one CPU.
    pub fn foreign(&self) -> &[f64] {
        &self.foreign
    }

    /// What is left of the budget, seconds.
    pub fn left(&self) -> f64 {
        (self.plan.budget - self.spent).max(0.0)
    }

    /// Ends the connection and the far process.
    pub fn close(&mut self) {
        self.session.close();
    }

    /// Largest block that the transport carries.
    pub fn most(&self) -> u64 {
        self.session.capabilities().max_block.unwrap_or(u64::MAX)
    }

    /// Opens a fresh connection for block `block`.
    pub fn open(&mut self, block: u32, planned: u32) -> Result<(), RunError> {
        let party = self.session.open(block).map_err(|source| RunError::Session { kind: self.kind, source })?;
        if !self.announced {
            self.announced = true;
            self.tell(&Event::Path(PathOpened {
                path: self.number,
                transport: self.kind,
                capabilities: self.session.capabilities(),
                far: party.far,
                near_effective: party.near_effective,
                far_effective: party.far_effective,
            }))?;
        }
        self.tell(&Event::Block(BlockOpened { path: self.number, block, at: self.at(), planned }))
    }

    /// Runs one trial of `repeats` iterations and keeps it.
    pub fn trial(&mut self, size: u64, repeats: u64, block: u32, warmup: bool) -> Result<(), RunError> {
        let plan = self.plan;
        let estimate = self.estimate(size);
        let at = self.at();
        let begin = self.session.now();
        let spec = TrialSpec {
            pattern: plan.pattern,
            size,
            response: if matches!(plan.pattern, Pattern::Request | Pattern::Connect) { plan.response } else { 0 },
            burst: if plan.pattern == Pattern::Burst { plan.burst.max(1) } else { 0 },
            repeats,
            warmup: if plan.schedule == Schedule::Netpipe { 0 } else { (repeats / 20).clamp(1, 50) },
            chunk: self.chunk(estimate),
            rate: plan.rate,
            check: plan.check,
            align: plan.align,
            offset: plan.offset,
            cache: plan.cache,
            pool: plan.pool,
            seed: plan.seed,
        };
        let report = self.session.trial(&spec).map_err(|source| RunError::Session { kind: self.kind, source })?;
        let whole = (self.session.now() - begin) as f64 * 1e-9;
        if report.repeats > 0 {
            let each = if report.median > 0.0 { report.median } else { report.seconds / report.repeats as f64 };
            // A stream's sender may be far ahead of its receiver, who decides how long a block takes.
            let received = report.far.seconds / (report.far.received.max(2) - 1) as f64;
            let each = each.max(received).max(1e-10);
            let beyond = (whole - report.seconds.max(report.far.seconds)).max(0.0);
            self.overhead += 0.1 * (beyond - self.overhead);
            self.points.entry(size).or_default().estimate = each;
        }
        let trial =
            Trial { path: self.number, block, at, size, response: spec.response, burst: spec.burst, warmup, report };
        self.tell(&Event::Trial(trial.clone()))?;
        self.counted += u64::from(!warmup);
        self.points.entry(size).or_default().trials.push(trial);
        Ok(())
    }

    /// Iterations between two readings of the clock, so that reading costs at most 1% of what is timed.
    fn chunk(&self, estimate: f64) -> u64 {
        if estimate <= 0.0 {
            return 1;
        }
        (self.calibration.clock_cost_ns * 1e-9 * 100.0 / estimate).ceil().max(1.0) as u64
    }

    /// Seconds an iteration of `size`, as last seen, or guessed from its neighbours.
    pub fn estimate(&self, size: u64) -> f64 {
        if let Some(p) = self.points.get(&size).filter(|p| p.estimate > 0.0) {
            return p.estimate;
        }
        let known = |(s, p): (&u64, &Point)| (p.estimate > 0.0).then_some((*s, p.estimate));
        let below = self.points.range(..size).rev().find_map(known);
        let above = self.points.range(size..).find_map(known);
        match (below, above) {
            (Some((_, b)), Some((_, a))) => b.max(a),
            // Time grows no faster than size; a smaller block takes no longer.
            (Some((s, b)), None) => b * size as f64 / s as f64,
            (None, Some((_, a))) => a,
            (None, None) => 0.0,
        }
    }

    /// Shortest trial of `size`, one way as the paper counts.
    pub fn shortest(&self, size: u64) -> f64 {
        self.figures(size, 0.0).map_or(0.0, |f| f.min)
    }

    fn figures(&self, size: u64, sigma: f64) -> Option<Figures> {
        let trials: Vec<&Trial> = self.points.get(&size)?.trials.iter().collect();
        figures::figures(self.plan, self.kind, &trials, sigma)
    }

    /// Ends a point and tells its figures.
    pub fn end_point(&mut self, size: u64, why: Why) -> Result<(), RunError> {
        let sigma = self.shared_sigma();
        let Some(figures) = self.figures(size, sigma) else { return Ok(()) };
        if let Some(p) = self.points.get_mut(&size) {
            p.ended = Some(why);
        }
        let time = figures::time_kind(self.plan, self.kind);
        self.tell(&Event::Point(PointEnded { path: self.number, size, time, figures, why }))
    }

    /// Log standard deviation between blocks, pooled over the path's points.
    fn shared_sigma(&self) -> f64 {
        let blocks: Vec<Vec<f64>> = self
            .points
            .values()
            .map(|p| {
                let trials: Vec<&Trial> = p.trials.iter().collect();
                figures::blocks(self.plan, self.kind, &trials).into_iter().map(|(_, t)| t).collect()
            })
            .collect();
        stats::pooled_log_sigma(&blocks)
    }

    /// Seconds since the path's start, by its own clock.
    pub fn at(&self) -> f64 {
        (self.session.now() - self.started) as f64 * 1e-9
    }

    fn tell(&self, event: &Event) -> Result<(), RunError> {
        self.teller.tell(event)
    }

    fn warn(&self, warning: Warning) -> Result<(), RunError> {
        self.tell(&Event::Warning(Warning { path: Some(self.number), ..warning }))
    }

    /// Iterations that take about `slice` seconds.
    fn repeats(&self, size: u64, slice: f64) -> u64 {
        if let Some(n) = self.plan.repeats {
            return n;
        }
        let estimate = self.estimate(size);
        let n = if let Some(rate) = self.plan.rate {
            slice * rate
        } else if estimate > 0.0 {
            slice / estimate
        } else {
            10.0
        };
        (n as u64).clamp(FEWEST, MOST)
    }

    /// The first look at every size: short trials, ascending, so that each knows about how long it will take.
    pub fn survey(&mut self) -> Result<(), RunError> {
        let all = sizes::planned(self.plan, self.most());
        let asked = self.plan.sizes.as_ref().map_or(self.plan.to, |s| s.iter().max().copied().unwrap_or(0));
        self.open(0, all.len() as u32)?;
        if asked > self.most() {
            self.warn(judge::capped(self.kind, self.most()))?;
        }
        let begin = self.session.now();
        if let Some(&first) = all.first() {
            // What a first connection costs beside the path (page faults, slow start) is not the size's doing.
            self.trial(first, FEWEST * 4, 0, true)?;
        }
        let mut reached = 0;
        for &size in &all {
            let elapsed = (self.session.now() - begin) as f64 * 1e-9;
            let expected = self.estimate(size);
            if reached > 0 && (expected > 2.0 * TOO_SLOW || elapsed + expected * FEWEST as f64 > self.plan.budget) {
                self.ceiling = reached;
                self.warn(judge::stopped_short(size, expected, expected > 2.0 * TOO_SLOW))?;
                break;
            }
            let slice = SURVEY_TRIAL.min(self.plan.budget * SURVEY / all.len() as f64);
            let n = self.repeats(size, slice);
            self.trial(size, n, 0, true)?;
            reached = size;
        }
        if self.plan.schedule == Schedule::Adaptive && self.plan.sizes.is_none() && self.plan.step.is_none() {
            self.refine(0, 40)?;
        }
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// Looks closer where the curve jumps, at most `rounds` times, within the survey's share of the time.
    pub fn refine(&mut self, block: u32, rounds: u32) -> Result<(), RunError> {
        let begin = self.session.now();
        for _ in 0..rounds {
            let looks = refine::looks(&self.seen(), self.noise(), 16);
            let room = ADDED.saturating_sub(self.added());
            let looks: Vec<Look> = looks.into_iter().filter(|l| room > 0 || matches!(l, Look::Again(_))).collect();
            let took = (self.session.now() - begin) as f64 * 1e-9;
            if looks.is_empty() || took > self.plan.budget * SURVEY {
                break;
            }
            for look in looks {
                let (Look::Again(size) | Look::Between(size)) = look;
                let n = self.repeats(size, SURVEY_TRIAL);
                self.trial(size, n, block, true)?;
            }
        }
        Ok(())
    }

    fn added(&self) -> usize {
        self.points.len().saturating_sub(sizes::planned(self.plan, self.most()).len())
    }

    /// Every size as seen so far: the median of its trials.
    fn seen(&self) -> Vec<Seen> {
        self.points
            .iter()
            .filter_map(|(&size, p)| {
                let times: Vec<f64> = p.trials.iter().filter_map(|t| typical(self.plan, self.kind, t)).collect();
                (!times.is_empty()).then(|| Seen { size, seconds: stats::median(&times), trials: times.len() as u32 })
            })
            .collect()
    }

    /// Log standard deviation of single trials, from sizes that were tried more than once and from near neighbours.
    fn noise(&self) -> f64 {
        let near: Vec<f64> = self
            .seen()
            .windows(2)
            .filter(|w| (w[1].size as f64 / w[0].size as f64) < 1.12)
            .map(|w| (w[1].seconds / w[0].seconds).ln().abs())
            .collect();
        // Median absolute difference of two draws, to a standard deviation.
        if near.is_empty() { 0.05 } else { stats::median(&near) / (0.6745 * std::f64::consts::SQRT_2) }
    }

    /// Lets a fresh connection come to rest: short trials of a middling size until they show no trend.
    fn warm_up(&mut self, block: u32) -> Result<(), RunError> {
        let Some(size) = self.points.keys().rev().find(|s| **s <= 65_536).or(self.points.keys().next()).copied() else {
            return Ok(());
        };
        let mut series = Vec::new();
        for _ in 0..25 {
            let n = self.repeats(size, SURVEY_TRIAL).min(self.plan.repeats.unwrap_or(u64::MAX));
            self.trial(size, n, block, true)?;
            series.push(self.estimate(size));
            if series.len() >= 5 && series.len() - stats::warmup_end(&series) >= 5 {
                break;
            }
        }
        Ok(())
    }

    /// One block: every unsettled size once, in random order, within `time` seconds.
    pub fn block(&mut self, block: u32, time: f64, rng: &mut ChaCha8Rng, stop: &AtomicBool) -> Result<(), RunError> {
        let begin = self.session.now();
        let mut order: Vec<u64> =
            self.points.iter().filter(|(s, p)| **s <= self.ceiling && p.ended.is_none()).map(|(s, _)| *s).collect();
        order.shuffle(rng);
        self.open(block, order.len() as u32)?;
        if self.plan.rate.is_none() {
            self.warm_up(block)?;
        }
        let used = (self.session.now() - begin) as f64 * 1e-9;
        let slice = self.slice(&order, time - used);
        for size in order {
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Session { kind: self.kind, source: SessionError::Interrupted });
            }
            let n = self.repeats(size, slice * self.weight(size));
            self.trial(size, n, block, false)?;
            let spent = (self.session.now() - begin) as f64 * 1e-9;
            if self.plan.trials.is_none() && spent > time * 1.5 && self.spent + spent > self.plan.budget {
                break;
            }
        }
        if let Some(share) = self.session.foreign_cpu() {
            self.foreign.push(share);
        }
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// How much of the time a point gets, against the others: the more uncertain, the more.
    fn weight(&self, size: u64) -> f64 {
        let width = self.points.get(&size).map_or(0.0, |p| p.width);
        if width <= 0.0 { 1.0 } else { (width / self.plan.precision).sqrt().clamp(0.5, 3.0) }
    }

    /// Seconds for a trial of weight 1, so that all of `order` fit into `time`.
    fn slice(&self, order: &[u64], time: f64) -> f64 {
        let cost = |slice: f64| -> f64 {
            order
                .iter()
                .map(|&s| (slice * self.weight(s)).max(FEWEST as f64 * self.estimate(s)) * 1.05 + self.overhead)
                .sum()
        };
        let (mut low, mut high) = (0.0, time.max(1e-6));
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if cost(middle) > time { high = middle } else { low = middle }
        }
        low
    }

    /// Ends the points that are known well enough, and says how uncertain the others are.
    pub fn settle(&mut self, block: u32) -> Result<(), RunError> {
        let open: Vec<u64> = self.points.iter().filter(|(_, p)| p.ended.is_none()).map(|(s, _)| *s).collect();
        for size in open {
            let Some(f) = self.figures(size, 0.0) else { continue };
            let width = (f.high - f.low) / 2.0 / f.median;
            if let Some(p) = self.points.get_mut(&size) {
                p.width = width;
            }
            if self.plan.trials.is_none() && f.blocks >= SETTLED_BLOCKS && width <= self.plan.precision {
                self.end_point(size, Why::Precision)?;
            }
        }
        self.done = !self.wants_more(block);
        Ok(())
    }

    /// Whether another block is worth its time.
    fn wants_more(&self, block: u32) -> bool {
        let open = self.points.values().any(|p| p.ended.is_none());
        match self.plan.trials {
            Some(n) => block < n,
            None => open && self.spent < self.plan.budget * 0.97,
        }
    }

    /// Ends what is still open, and says what a reader must know.
    pub fn finish(&mut self, stopped: bool) -> Result<usize, RunError> {
        let open: Vec<u64> = self.points.iter().filter(|(_, p)| p.ended.is_none()).map(|(s, _)| *s).collect();
        let why = match (stopped, self.plan.trials) {
            (true, _) => Why::Stopped,
            (false, Some(_)) => Why::Trials,
            (false, None) => Why::Budget,
        };
        for size in &open {
            self.end_point(*size, why)?;
        }
        let sigma = self.shared_sigma();
        let view: Vec<judge::Judged<'_>> = self
            .points
            .iter()
            .filter_map(|(&size, p)| {
                let figures = self.figures(size, sigma)?;
                Some(judge::Judged { size, figures, trials: &p.trials, ended: p.ended })
            })
            .collect();
        let foreign = (!self.foreign.is_empty()).then(|| stats::mean(&self.foreign));
        let warnings = judge::warnings(self.plan, self.kind, &view, foreign);
        for warning in warnings {
            self.warn(warning)?;
        }
        Ok(if self.plan.trials.is_some() { 0 } else { open.len() })
    }
}

fn typical(plan: &Plan, kind: Kind, trial: &Trial) -> Option<f64> {
    figures::blocks(plan, kind, &[trial]).first().map(|(_, t)| *t)
}
