//! `compare` of several runs a side: how often the intervals of single sizes hold, and how often a limit on one size fails, of the same thing.

use model::Finding;

use crate::noise::{Demand, Noise};
use crate::pool;
use crate::runs::{Compares, Measured, Said, measure, ratios};
use crate::tally::{Tally, few};
use crate::world::{Shape, World};

/// Runs of a side.
pub const RUNS: [usize; 4] = [2, 3, 5, 8];
/// Share of comparisons of the same thing that may fail a limit, or be said to differ.
pub const FALSE: f64 = 0.05;

/// Comparisons of so many runs a side.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// Intervals of single sizes.
    pub sizes: Tally,
    /// Intervals over all sizes.
    pub whole: Tally,
    /// It is known how far runs of one thing lie apart. Else the intervals are of these runs alone, and no limit is judged.
    pub known: u64,
    /// Failed a limit of no change, `time@SIZE>0%`, on the size in the middle.
    pub failed: u64,
    /// Said to differ.
    pub differ: u64,
}

impl Held {
    /// What is asked of the intervals of single sizes: of three runs a side they may be wider than they say.
    pub fn demand(runs: usize) -> Demand {
        if runs > 3 { Demand::Nominal } else { Demand::InRun }
    }

    /// What is asked of the intervals of single sizes and of that over all sizes of so many runs a side; nothing where there is no verdict,
    /// and they are of these runs alone.
    pub fn demands(&self, runs: usize) -> [Option<Demand>; 2] {
        [Self::demand(runs), Demand::InRun].map(|demand| (self.known > 0).then_some(demand))
    }

    /// Whether as few limits failed as may; a standard error is granted.
    pub fn few_failed(&self) -> bool {
        few(self.failed, FALSE, self.known)
    }

    /// Whether as few are said to differ as may; a standard error is granted.
    pub fn few_differ(&self) -> bool {
        few(self.differ, FALSE, self.known)
    }

    /// Whether all targets of so many runs a side are met.
    pub fn met(&self, runs: usize) -> bool {
        let held = [&self.sizes, &self.whole].into_iter().zip(self.demands(runs));
        held.into_iter().all(|(tally, demand)| demand.is_none_or(|d| tally.meets(d)))
            && self.few_failed()
            && self.few_differ()
    }
}

/// Compares `runs` pairs of sides of one thing, each run on a machine that it finds anew.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> [Held; RUNS.len()] {
    let world = World::plain(noise);
    let most = RUNS[RUNS.len() - 1] as u64;
    let found = pool::map(runs, threads, |i| {
        let side = |s: u64| -> Vec<Measured> {
            (0..most).map(|j| measure(&world, shape, true, seed, (2 * i + s) * most + j + 1)).collect()
        };
        let (first, second) = (side(0), side(1));
        RUNS.map(|runs| ratios(&Compares::of(&first[..runs]), &Compares::of(&second[..runs])))
    });
    let mut sums: [Held; RUNS.len()] = Default::default();
    for (place, said) in found.into_iter().flat_map(|one| one.into_iter().enumerate()) {
        let (sum, Some(said)) = (&mut sums[place], said) else { continue };
        (sum.sizes.runs, sum.whole.runs) = (sum.sizes.runs + 1, sum.whole.runs + 1);
        said.sizes.iter().for_each(|size| sum.sizes.add(*size, [1.0; 2]));
        sum.whole.add(said.whole, [1.0; 2]);
        let longer = |s: &Said| s.low > 1.0;
        sum.known += u64::from(said.known);
        sum.failed += u64::from(said.known && said.sizes.get(said.sizes.len() / 2).is_some_and(longer));
        sum.differ += u64::from(said.finding == Finding::Differ);
    }
    sums
}
