//! A run from its events: its paths and their points.

use measure::Trials;
use measure::earlier::{Apart, EarlierRun};
use measure::event::{End, Figures, PathOpened, Plan, RoundOpened, RoundTaken, Run, TimeKind, Trial, Warning, Why};
use measure::figures::Common;
use measure::figures::cost::{End as Side, PointCost};
use measure::sustained::Sustained;

/// A run, complete or as far as its events go.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFile {
    /// The header.
    pub run: Run,
    /// The paths that were opened, ascending by [`PathOpened::path`]. Where every path of the plan was opened, the index
    /// here is that number.
    pub paths: Vec<PathRun>,
    /// The run's warnings in order, then those of the reader (`unknown-event`, `stray-trials`, `impossible`).
    pub warnings: Vec<Warning>,
    /// The end, unless the run was cut off or goes on.
    pub end: Option<End>,
    /// How the file ends short, in words; none where it is whole (or is being measured, in a [`Fold`]).
    pub cut: Option<String>,
}

/// One path of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PathRun {
    /// How it was opened.
    pub opened: PathOpened,
    /// The rounds that began, in order.
    pub rounds: Vec<RoundOpened>,
    /// Earlier runs of the path on this machine, the oldest first; none where the run did not look for any, or is older than
    /// that.
    pub earlier: Option<Vec<EarlierRun>>,
    /// How far runs of other paths of its hosts lay apart.
    pub others: Vec<Apart>,
    /// What others took of the pinned CPUs during rounds, in order; of those for which it is known.
    pub taken: Vec<RoundTaken>,
    /// The points, ascending by size.
    pub points: Vec<Point>,
    /// Long trials, which show what the path carries for long.
    pub sustained: Vec<Trial>,
    /// Of a soak the worst interval of each size ([`soak::badness`]), ascending by size; empty of any other run.
    pub worst: Vec<Trial>,
    /// What the points have in common: the noise of a round, the machine's states that their trials met.
    pub common: Common,
}

impl PathRun {
    /// A path of which nothing was measured yet.
    pub fn new(opened: PathOpened) -> Self {
        Self {
            opened,
            rounds: Vec::new(),
            taken: Vec::new(),
            earlier: None,
            others: Vec::new(),
            points: Vec::new(),
            sustained: Vec::new(),
            worst: Vec::new(),
            common: Common::default(),
        }
    }

    /// Seconds from the first round's start to the end of the last trial of its rounds; none without a round.
    pub fn measured_for(&self) -> Option<f64> {
        let first = self.rounds.iter().find(|b| b.round > 0)?.at;
        let ends = self.points.iter().flat_map(|p| &p.trials).map(|t| t.at + t.report.seconds);
        let last = ends.fold(f64::NEG_INFINITY, f64::max);
        (last > first && last.is_finite()).then_some(last - first)
    }

    /// Length of the machine's states, seconds, below which the path's intervals average over them and are those of the machine; none where
    /// its rounds do not show it ([`stats::Moves::averages_below`]). Longer states are those of this run only.
    pub fn averages_below(&self) -> Option<f64> {
        let shared = self.common.shared;
        Some(shared.moves.averages_below(shared.sigma)? * self.measured_for()?)
    }

    /// The figures of the sustained trials, ascending by size.
    pub fn kept_up(&self, plan: &Plan) -> Vec<Sustained> {
        // The trials of other sizes are not needed.
        let long = |p: &&Point| self.sustained.iter().any(|t| t.size == p.size);
        let points = self.points.iter().filter(long).map(|p| (p.size, p.trials.all()));
        measure::sustained::sustained(plan, self.opened.transport, &self.sustained, points, &self.common)
    }
}

/// What a transfer cost each side. Boxed, since few points of few files have it and it is large.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Costs(Option<Box<[Option<PointCost>; 2]>>);

impl Costs {
    /// None known.
    pub const NONE: Self = Self(None);

    /// Near, far.
    pub fn new(near: Option<PointCost>, far: Option<PointCost>) -> Self {
        Self((near.is_some() || far.is_some()).then(|| Box::new([near, far])))
    }

    /// Of one side.
    pub fn of(&self, end: Side) -> Option<&PointCost> {
        self.0.as_ref()?[end as usize].as_ref()
    }

    /// Those that are known.
    pub fn iter(&self) -> impl Iterator<Item = &PointCost> {
        Side::BOTH.into_iter().filter_map(|end| self.of(end))
    }

    /// Those that are known, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut PointCost> {
        self.0.iter_mut().flat_map(|costs| costs.iter_mut().flatten())
    }
}

/// One message size of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Message size, bytes (HINT: subintervals of a process).
    pub size: u64,
    /// Every trial, in order, warm-up included.
    pub trials: Trials,
    /// Its figures: computed from its trials or, for a point without trials, as the run recorded them. (Every figure that is shown is
    /// computed from the trials, so that no two can differ.)
    pub figures: Figures,
    /// What a transfer cost each side: near, far; none where its trials did not record it, and during the run.
    pub costs: Costs,
    /// Each direction, to the far side and to the near side, where messages go both ways at once; none during the run.
    pub ways: Option<Box<[Figures; 2]>>,
    /// Which time the figures are.
    pub time: TimeKind,
    /// Why it ended; none where it has not.
    pub why: Option<Why>,
}
