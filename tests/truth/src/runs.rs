//! From a synthetic run to what the command says of it: the only file that knows the types of `record` and `model`.
//!
//! `record` reads a run file of its events, and it is asked what the command asks. A change of those types is followed here.

use measure::Event;
use measure::earlier::{Earlier, EarlierRun};
use measure::figures::Singles;
use model::scale::{Agreement, Scaled, Target, Wire};
use model::{Circumstances, Comparison, Estimate, Finding, History, LogGp, Patterns, Sender, Side, answer};
use record::{Analysis, RunFile};
use stats::Interval;

pub use model::CurvePoint;

use crate::draw::Draw;
use crate::events::events;
use crate::lasting::lasts;
use crate::machine::Machine;
use crate::noise::Noise;
use crate::world::{Shape, Taken, World};

/// A run and the machine that it was measured on; none for a run without noise.
pub struct Measured {
    /// As read from its events.
    pub file: RunFile,
    /// What the noise did in it.
    pub machine: Option<Machine>,
}

/// A value and its interval. Ends that nothing bounds are 0 and infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<Estimate> for Said {
    fn from(e: Estimate) -> Self {
        Self { value: e.value, low: e.low, high: e.high }
    }
}

/// What is printed of a point.
pub struct Printed {
    /// Size, bytes.
    pub size: u64,
    /// Its median and interval.
    pub said: Said,
    /// Where a repeat of it falls.
    pub repeat: Said,
}

/// A size between two that are measured, and one beyond them, that `ask` is asked about, bytes.
pub const BETWEEN: u64 = 30_000;
/// See [`BETWEEN`].
pub const BEYOND: u64 = 4 << 20;
/// The wires of `scale`, bits a second: the one measured over, and the one asked about.
pub const WIRES: (f64, f64) = (100e9, 10e9);
/// What the sentence of trust says where intervals are those of the run.
const ALONE: &str = "hold for this run alone";
/// What it then goes on with where they are those of the run only with states that last longer than a length that follows.
const LONGER: &str = " where states last longer";
/// What it says where there is no interval.
const NO_INTERVAL: &str = "no point has an interval";
/// The size that `scale` is asked about, bytes.
pub const SCALED: u64 = 1 << 18;

/// Measures a world with a seed: the same seed gives the same run. Without noise, all trials take their true time.
pub fn measure(world: &World, shape: &Shape, noisy: bool, seed: u64, number: u64) -> Measured {
    let (events, machine) = drawn(world, shape, noisy, seed, number);
    Measured { file: read(&events), machine }
}

/// Two sides of one run on one machine, whose rounds take turns as those of `run --vs` do: in each round chance says whose comes first.
/// Each side has the shape's rounds. Sides that feel one machine `apart`, or whose sizes have levels of their own, have a machine each.
pub fn measure_in_turns(world: &World, shape: &Shape, apart: bool, seed: u64, number: u64) -> (Measured, Measured) {
    if apart || matches!(world.noise, Noise::Sizes(_)) {
        let side = |side| measure(world, shape, true, seed, 2 * number + side);
        return (side(0), side(1));
    }
    let mut draw = Draw::new(seed, number);
    let both = Shape { rounds: 2 * shape.rounds, length: 2.0 * shape.length, ..shape.clone() };
    let machine = Machine::new(world.noise, both.rounds, both.length, &mut draw);
    let trials = world.trials(&both, Some(&machine), &mut draw);
    let later: Vec<bool> = (0..shape.rounds).map(|_| draw.below(2) == 1).collect();
    let side = |number: u32| {
        let mine = |t: &&Taken| (t.round % 2 == 1) == ((number == 1) != later[(t.round / 2) as usize]);
        let trials: Vec<Taken> =
            trials.iter().filter(mine).map(|t| Taken { round: t.round / 2, ..t.clone() }).collect();
        Measured { file: read(&events(world, shape, &trials, &[], seed ^ u64::from(number))), machine: None }
    };
    (side(0), side(1))
}

/// As [`measure`] a noisy run, which carries earlier runs of the same machine, the oldest first.
pub fn measure_after(earlier: &[&Measured], world: &World, shape: &Shape, seed: u64, number: u64) -> Measured {
    let (mut events, machine) = drawn(world, shape, true, seed, number);
    let run = |(run, day): (&&Measured, u32)| {
        let points = run.points().map(|p| (p.size, p.said.value));
        EarlierRun::new(format!("2025-12-{day:02}T00:00:00Z"), points)
    };
    let runs = earlier.iter().zip(1..).filter_map(run).collect();
    let opened = events.iter().position(|e| matches!(e, Event::Path(_))).map_or(0, |i| i + 1);
    events.insert(opened, Event::Earlier(Earlier { path: 0, runs, others: Vec::new() }));
    Measured { file: read(&events), machine }
}

/// As [`measure`] a noisy run, in which a few trials are made so many seconds long.
pub fn measure_long(world: &World, shape: &Shape, seconds: f64, seed: u64, number: u64) -> Measured {
    let mut draw = Draw::new(seed, number);
    let machine = Machine::new(world.noise, shape.rounds, shape.length, &mut draw);
    let trials = world.trials(shape, Some(&machine), &mut draw);
    let long = world.long(&trials, seconds, &machine, shape, &mut draw);
    Measured { file: read(&events(world, shape, &trials, &long, seed ^ number)), machine: Some(machine) }
}

/// The events that [`measure`] reads a noisy run from.
pub fn recorded(world: &World, shape: &Shape, seed: u64, number: u64) -> Vec<Event> {
    drawn(world, shape, true, seed, number).0
}

fn drawn(world: &World, shape: &Shape, noisy: bool, seed: u64, number: u64) -> (Vec<Event>, Option<Machine>) {
    let mut draw = Draw::new(seed, number);
    let machine = noisy.then(|| Machine::new(world.noise, shape.rounds, shape.length, &mut draw));
    let trials = world.trials(shape, machine.as_ref(), &mut draw);
    (events(world, shape, &trials, &[], seed ^ number), machine)
}

/// The lines of a run's file.
pub fn lines(events: &[Event]) -> Vec<u8> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, event).expect("an event has only text for keys, and memory takes all bytes");
        lines.push(b'\n');
    }
    lines
}

/// The run as the command reads it from its file, which folds the events (`record::Fold`). Folding them one by one, as a front
/// end does, reckons each figure anew at each trial.
fn read(events: &[Event]) -> RunFile {
    record::read::read_from(&lines(events)[..], "synthetic").expect("these are the lines of a whole run")
}

impl Measured {
    /// What is printed of each point.
    pub fn points(&self) -> impl Iterator<Item = Printed> {
        self.file.paths.iter().take(1).flat_map(|path| &path.points).map(|p| {
            let f = &p.figures;
            let (low, high) = f.repeat_low.zip(f.repeat_high).unwrap_or((0.0, f64::INFINITY));
            Printed {
                size: p.size,
                said: Said { value: f.median, low: f.low, high: f.high },
                repeat: Said { value: f.median, low, high },
            }
        })
    }

    /// Whether the sentence of trust that `run` prints says that the figures hold for this run alone where the machine's states last as long
    /// as this noise does; or that there is no interval at all.
    pub fn of_this_run(&self) -> bool {
        let said = report::table::trust(&self.file).split_whitespace().collect::<Vec<_>>().join(" ");
        let averages_below = || self.file.paths.first()?.averages_below();
        match said.split_once(ALONE) {
            None => said.contains(NO_INTERVAL),
            // The length that it gives is rounded: the exact one is taken.
            Some((_, after)) if after.starts_with(LONGER) => {
                !averages_below().is_some_and(|below| self.lasts() < below)
            }
            Some(_) => true,
        }
    }

    /// How long the states of its noise last, seconds; none of a run without noise.
    fn lasts(&self) -> f64 {
        let of = || {
            let path = self.file.paths.first()?;
            Some(lasts(self.machine.as_ref()?.noise(), path.common.shared.moves.rounds, path.measured_for()?))
        };
        of().unwrap_or(0.0)
    }

    /// Size and percentiles of single iterations of each point that has any; none of a share that too few iterations tell.
    pub fn percentiles<const N: usize>(&self, shares: [f64; N]) -> Vec<(u64, [Option<Said>; N])> {
        let Some(path) = self.file.paths.first() else { return Vec::new() };
        let of = |point: &record::Point| {
            let trials = point.trials.all();
            let trials: Vec<_> = trials.iter().collect();
            let singles = Singles::of(&self.file.run.plan, path.opened.transport, &trials, &path.common)?;
            let at = |q| singles.at(q).map(|(value, told)| Said { value, low: told.low, high: told.high });
            Some((point.size, shares.map(at)))
        };
        path.points.iter().filter_map(of).collect()
    }

    /// How many times as long as its short trials each size's long ones take.
    pub fn kept_up(&self) -> Vec<Said> {
        let of = |path: &record::PathRun| path.kept_up(&self.file.run.plan);
        let found = self.file.paths.first().map(of).unwrap_or_default();
        found.into_iter().map(|s| Said { value: s.ratio, low: s.low, high: s.high }).collect()
    }

    /// Median and mean of each point: size, seconds, seconds.
    pub fn medians_and_means(&self) -> Vec<(u64, f64, f64)> {
        let points = self.file.paths.first().map_or(&[][..], |p| &p.points[..]);
        points.iter().map(|p| (p.size, p.figures.median, p.figures.mean)).collect()
    }

    /// The figures of the curve by name, as `show`, `ask` and `scale` print them; those that have none are left out.
    pub fn figures(&self) -> Vec<(&'static str, Said)> {
        let analysis = Analysis::of(&self.file);
        let mut all: Vec<(&'static str, Option<Estimate>)> = Vec::new();
        if let Some(s) = analysis.summary(0) {
            all.push(("latency", Some(s.latency)));
            all.push(("maximum", Some(s.max_throughput)));
            all.push(("half power", s.half_power));
        }
        if let Some(f) = analysis.fits(0) {
            let line = f.latency.all.as_ref();
            all.push(("t0", line.map(|l| l.t0)));
            all.push(("b", line.map(|l| l.per_byte)));
            all.push(("Rmax", f.bandwidth.as_ref().map(|b| b.r_max)));
            all.push(("n1/2", f.bandwidth.as_ref().map(|b| b.n_half)));
            all.push(("saturation", f.saturation.as_ref().map(|s| s.point)));
        }
        let arrival = |size| answer::arrival(analysis.curve(0), size, analysis.fits(0)).ok().map(|a| a.seconds);
        all.push(("arrival", arrival(BETWEEN)));
        all.push(("beyond", arrival(BEYOND)));
        let seed = self.file.run.plan.seed;
        let scaled = scaled(analysis.curve(0), &[SCALED], seed);
        all.push(("scaled", scaled.as_ref().and_then(|s| s.at(SCALED))));
        all.push(("scaled t0", scaled.as_ref().map(|s| s.t0)));
        all.push(("scaled b", scaled.as_ref().map(|s| s.per_byte)));
        let curve = Patterns { ping_pong: Some(analysis.curve(0)), ..Patterns::default() };
        all.push(("G", LogGp::of(curve, seed).gap_per_byte));
        all.into_iter().filter_map(|(name, e)| Some((name, e?.into()))).collect()
    }

    /// The curve, for comparisons.
    pub fn curve(&self) -> Vec<CurvePoint> {
        self.file.curve(0)
    }

    /// What unsettles it.
    pub fn jitter(&self) -> Unsettled {
        let found = self.file.jitter(0);
        let drifts = found.drift.is_some_and(|d| d.sure());
        Unsettled { periods: found.periodic.into_iter().map(|p| p.period.into()).collect(), drifts }
    }

    /// Dips and steps.
    pub fn breaks(&self) -> Broken {
        let analysis = Analysis::of(&self.file);
        let found = analysis.breaks(0);
        let dips = found.dips.iter().map(|d| ((d.from.above, d.to.below), d.factor.into())).collect();
        let steps = found.steps.iter().map(|s| ((s.at.below, s.at.above), s.factor.into())).collect();
        Broken { dips, steps }
    }
}

/// What is said of a run's jitter.
pub struct Unsettled {
    /// Periods, seconds.
    pub periods: Vec<Said>,
    /// It is sure that the curve moves.
    pub drifts: bool,
}

/// What is said of a curve's breaks.
pub struct Broken {
    /// First and last size within each dip, bytes, and its depth.
    pub dips: Vec<((u64, u64), Said)>,
    /// Last size before each step and first one after it, bytes, and its height.
    pub steps: Vec<((u64, u64), Said)>,
}

/// What `scale` says of a run over the first of [`WIRES`], held against one over the second: each size's estimate, and whether what was
/// measured is said to lie within; of those with intervals.
pub fn estimated(first: &Measured, second: &Measured) -> Vec<(Said, bool)> {
    let curve = second.file.curve(0);
    let sizes: Vec<u64> = curve.iter().map(|p| p.size).collect();
    let found = scaled(&first.file.curve(0), &sizes, first.file.run.plan.seed);
    let held = found.and_then(|scaled| Agreement::of(&scaled, &curve));
    let sizes = held.map_or(Vec::new(), |held| held.sizes);
    sizes.into_iter().filter_map(|s| Some((s.estimated.into(), s.within?))).collect()
}

/// What `scale` says of the curve over the second of [`WIRES`], and of these sizes.
fn scaled(curve: &[CurvePoint], sizes: &[u64], seed: u64) -> Option<Scaled> {
    let wire = |rate| Wire::new(rate, 1.0, 0.0).ok();
    let target = Target::wire(wire(WIRES.0)?, wire(WIRES.1)?);
    Scaled::of(curve, &target, sizes, seed).ok()
}

/// What `compare` says of two sides; none where they have no size in common.
pub fn compared(first: &Compares, second: &Compares) -> Option<Finding> {
    Some(Comparison::of(first.side(), second.side())?.finding(true))
}

/// What `compare` says of two sides that were measured in turns.
pub struct InTurns {
    /// The second's time over the first's, over all sizes.
    pub whole: Said,
    /// The same of each size.
    pub sizes: Vec<Said>,
    /// What it says.
    pub finding: Finding,
    /// The difference that is found four times in five, as a share.
    pub finds: Option<f64>,
}

/// What `compare` says of two sides that were measured in turns, the second of a thing that takes `factor` times as long; none without an
/// interval over all sizes.
pub fn compared_in_turns(first: &Measured, second: &Measured, factor: f64) -> Option<InTurns> {
    let found = Comparison::paired(&first.file.curve(0), &times(&second.file.curve(0), factor))?;
    let told = found.few_rounds.is_none() && found.whole.high.is_finite();
    told.then(|| InTurns {
        whole: found.whole.into(),
        sizes: found.sizes.iter().map(|s| s.ratio.into()).collect(),
        finding: found.finding(false),
        finds: found.paired.and_then(|p| p.finds),
    })
}

/// What the second of two sides in turns, which takes `factor` times as long, adds to the first at each size, as `layers` says it: size, seconds.
pub fn added(first: &Measured, second: &Measured, factor: f64) -> Vec<(u64, Said)> {
    let found = model::overheads(&first.file.curve(0), &times(&second.file.curve(0), factor));
    found.into_iter().map(|o| (o.size, o.extra.into())).collect()
}

/// The share of a gap for which the sender of [`latency_by_loggp`]'s stream is busy.
pub const BUSY: f64 = 0.4;

/// LogGP's L, where the first of two sides in turns is a ping-pong and the second, which takes `factor` times as long, a stream whose sender
/// is busy for [`BUSY`] of each gap; none where it is not given.
pub fn latency_by_loggp(first: &Measured, second: &Measured, factor: f64) -> Option<Said> {
    let (ping_pong, stream) = (first.file.curve(0), times(&second.file.curve(0), factor));
    let smallest = times(&stream[..1], BUSY);
    // What moves a trial moves both; a hundredth is left.
    let shares = (0..smallest.first()?.rounds.len()).map(|i| BUSY * [0.99, 1.0, 1.01][i % 3]).collect();
    let sender = Sender { busy: smallest.first()?.estimate(), shares };
    let patterns = Patterns { ping_pong: Some(&ping_pong), stream: Some(&stream), sender: Some(&sender) };
    LogGp::of(patterns, first.file.run.plan.seed).latency.map(Said::from)
}

/// What `compare` says of the sizes of two sides, of all together, and whether they differ.
pub struct Ratios {
    /// Each size's ratio.
    pub sizes: Vec<Said>,
    /// That over all sizes.
    pub whole: Said,
    /// It is known how far runs of one thing lie apart; else what the intervals say is of these runs alone.
    pub known: bool,
    /// What is said of the sides.
    pub finding: Finding,
}

/// The ratios that `compare` prints of two sides; none where they have no size in common.
pub fn ratios(first: &Compares, second: &Compares) -> Option<Ratios> {
    let found = Comparison::of(first.side(), second.side())?;
    let sizes = found.sizes.iter().map(|s| s.ratio.into()).collect();
    Some(Ratios {
        sizes,
        whole: found.whole.into(),
        known: found.few_rounds.is_none() && found.tells(found.whole),
        finding: found.finding(true),
    })
}

/// A side of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Compares {
    runs: Vec<Vec<CurvePoint>>,
    histories: Vec<History>,
    circumstances: Vec<Circumstances>,
}

impl Compares {
    /// Runs of one thing, with what they carry of earlier ones.
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a Measured>) -> Self {
        let (runs, histories) = runs.into_iter().map(|r| (r.file.curve(0), r.file.history(0))).unzip();
        Self { runs, histories, circumstances: Vec::new() }
    }

    /// Runs that were measured one after the other, `from` others before them, at so many times their own level.
    pub fn in_series(runs: &[Measured], levels: &[f64], from: usize) -> Self {
        let started = |i: usize| Circumstances { started: Some(60.0 * i as f64), ..Circumstances::default() };
        Self {
            runs: runs.iter().zip(levels).map(|(run, level)| times(&run.file.curve(0), *level)).collect(),
            histories: Vec::new(),
            circumstances: (from..from + runs.len()).map(started).collect(),
        }
    }

    /// The same of a thing that takes so many times as long, measured in the same moments.
    pub fn times(&self, factor: f64) -> Self {
        let longer = |all: &[(u64, f64)]| all.iter().map(|(size, t)| (*size, t * factor)).collect();
        let histories = self.histories.iter().map(|h| History {
            started: h.started.clone(),
            curve: longer(&h.curve),
            earlier: h.earlier.iter().map(|(started, curve)| (started.clone(), longer(curve))).collect(),
        });
        Self {
            runs: self.runs.iter().map(|curve| times(curve, factor)).collect(),
            histories: histories.collect(),
            circumstances: self.circumstances.clone(),
        }
    }

    fn side(&self) -> Side<'_> {
        Side { runs: &self.runs, circumstances: &self.circumstances, histories: &self.histories }
    }
}

/// The curve of a path that takes so many times as long, measured in the same moments.
fn times(curve: &[CurvePoint], factor: f64) -> Vec<CurvePoint> {
    let one = |p: &CurvePoint| CurvePoint {
        seconds: p.seconds * factor,
        rounds: p.rounds.iter().map(|(round, seconds)| (*round, seconds * factor)).collect(),
        throughput: p.throughput / factor,
        interval: p.interval.map(|i| Interval { low: i.low * factor, high: i.high * factor }),
        rounding: p.rounding * factor,
        ..*p
    };
    curve.iter().map(one).collect()
}
