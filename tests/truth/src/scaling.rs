//! Estimates of another wire: how often a run over it is said to lie within what a run over the first one foretells.

use crate::noise::Noise;
use crate::pool;
use crate::runs::{WIRES, estimated, measure};
use crate::tally::Tally;
use crate::world::{Shape, World};

/// One noise: each size's estimate, held if `scale` says that the measurement lies within.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Tally {
    let here = World::plain(noise);
    let there = World { per_byte: here.per_byte + 8.0 * (1.0 / WIRES.1 - 1.0 / WIRES.0), ..here.clone() };
    let found = pool::map(runs, threads, |i| {
        let [first, second] =
            [(&here, 2 * i + 1), (&there, 2 * i + 2)].map(|(world, n)| measure(world, shape, true, seed, n));
        estimated(&first, &second)
    });
    let mut tally = Tally::default();
    tally.runs = runs;
    found.into_iter().flatten().for_each(|(said, within)| tally.count(said, within));
    tally
}
