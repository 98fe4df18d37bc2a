//! Whether two paths differ: size by size, with what runs differ by anyway, and in words.
//!
//! Two runs of one thing differ: the machine has another level each time. So a difference has two parts: how far the curves as wholes lie
//! apart, which is judged against how far the runs' own rounds (and, with several runs a side, the runs, and earlier runs that they carry)
//! lie apart; and what each size does beyond that, judged against its own noise and what its neighbours share with it. `ready` prepares a
//! run, `ratio` puts all together and corrects for the many sizes, `coarse` adds what the clock's step hides, `apart` estimates how far
//! curves lie apart by chance, `between` how far runs do, `machine` what of it the machine explains, `drift` what of it the order of the
//! runs does, `align` finds the sizes to compare at, `paired` compares two sides of one run round by round, `every_round` counts the sizes at which
//! all rounds agree where these are too few for an interval, `stretches` joins sizes of one verdict, `finding` says what all of it comes to.

mod align;
mod apart;
mod between;
mod coarse;
mod drift;
mod every_round;
mod finding;
mod machine;
mod paired;
mod ratio;
mod ready;
mod stretches;

pub use between::{BetweenRuns, History};
pub use every_round::EveryRound;
pub use finding::Finding;
pub use machine::{Circumstances, Disturbed, Disturber, MachineReadings, Shift};
pub use paired::Paired;
pub use stretches::Stretch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CurvePoint, Estimate};

/// Share of the sizes with an interval that must hold the factor of all sizes together where it is that of each. Of independent
/// intervals 95% do; those of one comparison share its level.
const HOLD: f64 = 0.9;

/// Significance of the whole curve, and of the family of sizes.
const LEVEL: f64 = 0.05;

/// An interval of a ratio whose ends lie farther apart than this factor is too wide for a verdict that nothing differs.
const VAGUE: f64 = 1.5;

/// Two runs of one thing hardly lie further apart than this factor, whatever their machine: by what is usual of machines
/// (`stats::foretold`), 4 pairs in 100 do.
const HARDLY: f64 = 4.0;

/// Logarithms of ratios below this are rounding.
const NOTHING: f64 = 1e-9;

/// One side of a comparison: repeat runs of one thing, at least one.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The runs' curves, in any order of sizes.
    pub runs: &'a [Vec<CurvePoint>],
    /// What surrounded each run, in the order of `runs`; or nothing.
    pub circumstances: &'a [Circumstances],
    /// Each run's curve and those of earlier runs of its path; or nothing, as where both sides were measured in one run.
    pub histories: &'a [History],
}

impl<'a> Side<'a> {
    /// Runs of whose circumstances and earlier runs nothing is known.
    pub fn of(runs: &'a [Vec<CurvePoint>]) -> Self {
        Self { runs, circumstances: &[], histories: &[] }
    }
}

/// A comparison of a second side with a first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The sizes that all runs of both sides have, ascending. Where few are common, those of the run with the coarsest
    /// schedule, the other runs interpolated between their own: [`Compared::first_interpolated`] says where.
    pub sizes: Vec<Compared>,
    /// Sizes that only some runs have, which were left out.
    pub left_out: usize,
    /// Sizes of sides in turns that no round visited on both, only the first look at each, which were left out: looks are no neighbours
    /// in time.
    #[serde(default, skip_serializing_if = "none")]
    pub unvisited: usize,
    /// What the machine itself did between the sides, whatever was measured. Differences up to the largest of these are put
    /// down to it: all intervals here hold them, and they make no size significant.
    #[serde(default)]
    pub machine: Vec<Shift>,
    /// Time of the second side over that of the first by what the machine drifted, where all runs of one side came before all of the other and
    /// their own moves from run to run tell it. Like `machine`, it is held by all intervals and makes no size significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// Other programs took more of the CPUs on one side than on the other.
    #[serde(default)]
    pub disturbed: Option<Disturbed>,
    /// How far runs of one thing lie apart: from repeats, or from earlier runs that the runs carry. None where nothing tells
    /// it: the comparison of separate runs is then about these runs alone.
    #[serde(default)]
    pub between: Option<BetweenRuns>,
    /// Rounds of the side that has fewest, where they are fewer than four: nothing then tells how sure a ratio is, so that there is no
    /// interval and no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub few_rounds: Option<u32>,
    /// What the rounds saw, where they don't tell how sure the ratio over all sizes is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<EveryRound>,
    /// The sides are those of one run and were compared round by round; none of any others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<Paired>,
    /// Time of the second side over that of the first, over all sizes together.
    pub whole: Estimate,
    /// Highest throughput of the second side over that of the first; above 1 the second carries more.
    pub throughput: Option<Estimate>,
    /// Stretches of sizes in which the verdict is the same, ascending; they cover all sizes.
    pub stretches: Vec<Stretch>,
    /// Where the faster side changes: between which two sizes, bytes.
    pub crossovers: Vec<(u64, u64)>,
}

/// One size of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Message size, bytes.
    pub size: u64,
    /// Median time of the first side, seconds.
    pub first: f64,
    /// Median time of the second side, seconds.
    pub second: f64,
    /// Time of the second over that of the first; below 1 the second is faster. Its interval is for this size alone.
    pub ratio: Estimate,
    /// The difference, beyond what the machine explains, in units of the noise of one round: how clear it is to whoever
    /// measures once.
    pub effect: f64,
    /// Probability of such a difference between runs of one thing, corrected for the number of sizes (Holm 1979).
    pub probability: f64,
    /// Whether the difference is significant: `probability` below 5%.
    pub significant: bool,
    /// The interval of sides that took turns leaves out 1, but the order of the sides makes so many of so few rounds go one way by chance.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_order: bool,
    /// A run of the first side was not measured at this size: its time lies on the straight line, on logarithmic axes, between
    /// two that were, and the intervals hold what may lie hidden between them.
    #[serde(default)]
    pub first_interpolated: bool,
    /// The same of the second side.
    #[serde(default)]
    pub second_interpolated: bool,
}

fn none(n: &usize) -> bool {
    *n == 0
}

fn is_false(b: &bool) -> bool {
    !b
}

/// Whether a ratio's interval is so wide that it tells little.
pub fn is_vague(e: Estimate) -> bool {
    !(e.low > 0.0 && e.high.is_finite() && e.high < VAGUE * e.low)
}

impl Comparison {
    /// Compares `second` with `first`. None where they have no size in common, not by
    /// interpolation either, or a side has no run.
    pub fn of(first: Side<'_>, second: Side<'_>) -> Option<Self> {
        let found = Self::compared(first, second, 0.0)?;
        let differ = |found: &Self| found.stretches.iter().any(|s| s.differs) || found.differs_as_whole();
        let Some(disturbed) = found.disturbed.filter(|_| differ(&found)) else { return Some(found) };
        if let Some(taken) = Disturbed::most(first.circumstances, second.circumstances) {
            let found = Self::compared(first, second, taken)?;
            if differ(&found) {
                return Some(found);
            }
        }
        let disturbed = Some(Disturbed { undecided: true, ..disturbed });
        Some(Self { disturbed, ..Self::compared(first, second, f64::INFINITY)? })
    }

    /// The comparison by these runs, of which `taken` is the logarithm of the ratio that others may explain, either way; where that is
    /// infinite, all errors are, and nothing differs.
    fn compared(first: Side<'_>, second: Side<'_>, taken: f64) -> Option<Self> {
        let ratio::Ratios { sizes, left_out, machine, drift, disturbed, between, few_rounds, whole, throughput } =
            ratio::ratios(first, second, taken)?;
        let stretches = stretches::stretches(&sizes);
        let crossovers = stretches::crossovers(&sizes, &stretches);
        let paired = None;
        let seen =
            few_rounds.map(|_| EveryRound::apart(first.runs, second.runs, |size| sizes.iter().any(|s| s.size == size)));
        let found = Self {
            sizes,
            left_out,
            unvisited: 0,
            machine,
            drift,
            disturbed,
            between,
            few_rounds,
            seen,
            paired,
            whole,
            throughput,
            stretches,
            crossovers,
        };
        Some(found.beyond_the_clock(first.runs, second.runs))
    }

    /// Whether this ratio of separate runs holds for what was measured, and not for these runs alone: enough runs show how far runs of one
    /// thing lie apart, or they hardly ever lie so far apart.
    pub fn tells(&self, ratio: Estimate) -> bool {
        self.between.is_some_and(|b| b.sure()) || ratio.low > HARDLY || ratio.high < 1.0 / HARDLY
    }

    /// Whether the interval of all sizes together leaves out 1. Of separate runs that alone is no verdict ([`Finding::WholeAlone`]).
    pub fn differs_as_whole(&self) -> bool {
        self.whole.low > 1.0 || self.whole.high < 1.0
    }

    /// Whether the interval of sides that took turns leaves out 1, but the order of the sides makes so many of so few rounds go one way by
    /// chance.
    pub fn by_order(&self) -> bool {
        self.paired.is_some_and(|p| !p.differs) && self.differs_as_whole() && self.whole.value.ln().abs() > NOTHING
    }

    /// Where the sides differ as wholes by about one factor, how many sizes' own intervals hold it, and of how many that have an
    /// interval. None where sizes tell of another factor: more of them than chance leaves out, or a stretch the other way.
    pub fn one_factor(&self) -> Option<(usize, usize)> {
        let told = || self.sizes.iter().filter(|s| s.ratio.high.is_finite());
        let hold = told().filter(|s| s.ratio.low <= self.whole.value && self.whole.value <= s.ratio.high).count();
        let against = |s: &Stretch| s.differs && (s.ratio < 1.0) != (self.whole.value < 1.0);
        let one = hold as f64 >= HOLD * told().count() as f64 && !self.stretches.iter().any(against);
        (self.differs_as_whole() && one).then(|| (hold, told().count()))
    }
}
