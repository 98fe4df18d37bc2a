//! `run --vs`: two sides whose rounds take turns on one machine; how often sides of one thing are said to differ, and others are; whether a
//! difference as large as is said to be found is found; and how often the figures hold that have two sides: ratios of single sizes, what a
//! layer adds, LogGP's L.

use model::Finding;

use crate::centre;
use crate::noise::{Demand, Noise};
use crate::pool;
use crate::runs::{BUSY, InTurns, added, compared_in_turns, latency_by_loggp, measure_in_turns};
use crate::tally::{Tally, few};
use crate::world::{Shape, World};

/// How many times as long the second side takes; 1 is the same thing again.
pub const FACTORS: [f64; 4] = [1.0, 1.03, 1.1, 1.3];
/// The same of the upper one of two layers.
pub const LAYER: f64 = 1.3;
/// The same of a stream beside a ping-pong.
const STREAM: f64 = 0.5;
/// Share of comparisons of the same thing that may be said to differ.
pub const FALSE: f64 = 0.05;
/// How often a difference is found that is as large as is said to be found.
pub const PROMISED: f64 = 0.8;

/// What was said of the pairs of one factor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said {
    /// The second side is said to be slower.
    pub slower: u64,
    /// It is said to be faster.
    pub faster: u64,
    /// A part of the sizes is said to differ, and all together are not.
    pub parts: u64,
    /// No verdict.
    pub none: u64,
    /// There is an interval over all sizes.
    pub bounded: u64,
    /// Of these, it holds the factor.
    pub holds: u64,
}

impl Said {
    /// Said to differ.
    pub fn differ(self) -> u64 {
        self.slower + self.faster + self.parts
    }

    fn count(&mut self, found: Option<&InTurns>, factor: f64) {
        let Some(InTurns { whole, finding, .. }) = found else {
            self.none += 1;
            return;
        };
        let differs = *finding == Finding::Differ;
        self.none += u64::from(!finding.is_verdict());
        self.bounded += 1;
        self.holds += u64::from(whole.low <= factor && factor <= whole.high);
        self.slower += u64::from(differs && whole.low > 1.0);
        self.faster += u64::from(differs && whole.high < 1.0);
        self.parts += u64::from(differs && whole.low <= 1.0 && whole.high >= 1.0);
    }
}

/// One noise: what was said by [`FACTORS`], and of how many pairs.
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// Each side has the noise for itself.
    pub apart: bool,
    /// By factor.
    pub said: [Said; FACTORS.len()],
    /// Pairs of each factor.
    pub runs: u64,
    /// Pairs of the same of which no difference was found, with a word on how large a one would be; of these, found was one as large.
    pub promised: (u64, u64),
    /// Intervals of the ratio of single sizes.
    pub sizes: Tally,
    /// Of what a layer adds at a size, and of LogGP's L, against the machine's truth; none where that depends on the size.
    pub of_machine: Option<[Tally; 2]>,
    /// What is asked of these.
    pub demand: Option<Demand>,
}

impl Row {
    /// Its name in the tables.
    pub fn name(&self) -> String {
        format!("{}{}", self.noise.name(), if self.apart { ", each side its own" } else { "" })
    }

    /// Whether as few pairs of the same are said to differ as may be.
    pub fn few_differ(&self) -> bool {
        few(self.said[0].differ(), FALSE, self.runs)
    }

    /// Whether a difference as large as is said to be found is found so often; a standard error is granted.
    pub fn keeps_promise(&self) -> bool {
        let (given, found) = self.promised;
        few(given - found, 1.0 - PROMISED, given)
    }

    /// Whether all targets are met.
    pub fn met(&self) -> bool {
        let holds = |tally: &Tally, demand: Option<Demand>| demand.is_none_or(|d| tally.given() == 0 || tally.meets(d));
        let of_machine = self.of_machine.iter().flatten().all(|tally| holds(tally, self.demand));
        self.few_differ() && self.keeps_promise() && holds(&self.sizes, Some(Demand::InRun)) && of_machine
    }
}

/// Compares `runs` pairs of sides, each pair measured in turns over so many rounds a side; the sides may feel the noise `apart`.
pub fn row(noise: Noise, apart: bool, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let world = World::plain(noise);
    let found = pool::map(runs, threads, |i| {
        let (first, second) = measure_in_turns(&world, shape, apart, seed, i + 1);
        let said = FACTORS.map(|factor| compared_in_turns(&first, &second, factor));
        let promised = said[0].as_ref().filter(|s| s.finding == Finding::NoDifference).and_then(|s| s.finds);
        let kept = promised.map(|share| {
            let mut one = Said::default();
            one.count(compared_in_turns(&first, &second, 1.0 + share).as_ref(), 1.0 + share);
            one.slower == 1
        });
        (said, kept, added(&first, &second, LAYER), latency_by_loggp(&first, &second, STREAM))
    });
    // What not all sizes feel alike has a centre for each.
    let feels_alike = !matches!(noise, Noise::Large(_) | Noise::Sizes(_) | Noise::Runs(_));
    let all = centre::of_machine(noise, seed).exp();
    // Sides on one machine see it for both their rounds.
    let seen = if apart { 1 } else { 2 };
    let demand = match noise.demand(seen * shape.rounds, f64::from(seen) * shape.length) {
        Demand::Nominal | Demand::InRun => Some(Demand::InRun),
        Demand::Claimed | Demand::NoInterval => None,
    };
    let counted = || Tally::of(runs);
    let (mut said, mut sizes, mut of_machine) = ([Said::default(); FACTORS.len()], counted(), [counted(), counted()]);
    let mut promised = (0, 0);
    for (one, kept, added, latency) in &found {
        for ((sums, one), factor) in said.iter_mut().zip(one).zip(FACTORS) {
            sums.count(one.as_ref(), factor);
        }
        promised.0 += u64::from(kept.is_some());
        promised.1 += u64::from(*kept == Some(true));
        one[0].iter().flat_map(|s| &s.sizes).for_each(|size| sizes.add(*size, [1.0; 2]));
        for (size, said) in added {
            // What a layer adds may be less than nothing, which an interval may say.
            let truth = (LAYER - 1.0) * world.time(*size) * all;
            match said.high.is_finite() {
                true => of_machine[0].count(*said, said.low <= truth && truth <= said.high),
                false => of_machine[0].none += 1,
            }
        }
        let truth = world.time(1) * all * (1.0 - 2.0 * BUSY * STREAM);
        latency.iter().for_each(|said| of_machine[1].add(*said, [truth; 2]));
    }
    Row { noise, apart, said, runs, promised, sizes, of_machine: feels_alike.then_some(of_machine), demand }
}
