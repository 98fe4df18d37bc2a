//! Percentiles of single iterations: how often their intervals hold those of the machine, where the iterations of a trial are alike and
//! where each has a noise of its own.

use crate::noise::{Demand, Noise};
use crate::runs::measure;
use crate::tally::Tally;
use crate::world::{Shape, World};
use crate::{centre, pool};

/// Shares that are asked for.
pub const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

/// A share of iterations that stops make long, against the share beyond a percentile, from which on it is a percentile of stops.
const STOPPED: f64 = 0.1;

/// One noise in one shape of run.
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// What is asked of it.
    pub demand: Demand,
    /// Of iterations that are alike in a trial, and of those that each have a noise of their own: by [`SHARES`].
    pub held: [[Tally; 3]; 2],
    /// Of both, whether every run's sentence of trust says that its intervals hold for that run alone.
    pub of_this_run: [bool; 2],
}

/// Measures one row.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    // Not all sizes may feel the noise: the smallest and the largest stand for all others.
    let ends = [0, shape.sizes.len() - 1].map(|i| shape.sizes[i]);
    let truths = ends.map(|size| {
        let [_, p90, p99] = centre::of_singles(noise, size, seed, SHARES);
        // The 50th is the point's median, at the machine's typical level.
        [if noise.feels(size) { centre::of_machine(noise, seed) } else { 0.0 }, p90, p99]
    });
    let of = |world: World| {
        let one = |i: u64| {
            let run = measure(&world, shape, true, seed, i + 1);
            let mut tallies: [Tally; 3] = Default::default();
            tallies.iter_mut().for_each(|t| t.runs = 1);
            for (size, found) in run.percentiles(SHARES) {
                let truth = truths[usize::from(noise.feels(size) != noise.feels(ends[0]))];
                for (((said, log), share), tally) in found.into_iter().zip(truth).zip(SHARES).zip(&mut tallies) {
                    let stopped = noise.stop(0.0).map_or(0.0, |stop| world.time(size) / stop.1);
                    if let Some(said) = said.filter(|_| stopped <= STOPPED * (1.0 - share)) {
                        tally.add_open(said, [world.time(size) * log.exp(); 2]);
                    }
                }
            }
            (tallies, run.of_this_run())
        };
        let (mut sums, mut alone): ([Tally; 3], bool) = (Default::default(), true);
        for (tallies, of_this_run) in pool::map(runs, threads, one) {
            alone &= of_this_run;
            sums.iter_mut().zip(tallies).for_each(|(sum, tally)| sum.join(tally));
        }
        (sums, alone)
    };
    let (alike, apart) = (of(World::plain(noise)), of(World::plain(noise).apart()));
    let demand = noise.demand(shape.rounds, shape.length);
    Row { noise, demand, held: [alike.0, apart.0], of_this_run: [alike.1, apart.1] }
}

impl Row {
    /// What is asked of iterations that are alike (0) or apart (1): nothing where no run claims anything of a noise that outlasts it.
    pub fn asked(&self, which: usize) -> Option<Demand> {
        (self.demand != Demand::Claimed || !self.of_this_run[which]).then_some(self.demand)
    }

    /// Whether all is met that is asked.
    pub fn met(&self) -> bool {
        let met = |which: usize| {
            self.asked(which).is_none_or(|demand| self.held[which].iter().all(|tally| tally.meets_open(demand)))
        };
        met(0) && met(1)
    }
}
