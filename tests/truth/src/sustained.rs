//! Long and short: where a process may run for half of the time only, a transfer takes its time and a minute of transfers twice
//! as long. What do the two figures of a point say, by the length of trials?

use crate::centre::middle;
use crate::noise::Noise;
use crate::pool;
use crate::runs::measure;
use crate::world::{Shape, World, spread};

/// Planned lengths of trials, seconds.
pub const LENGTHS: [f64; 5] = [0.0025, 0.01, 0.04, 0.1, 0.4];

/// Medians over runs and sizes of a point's median and of its mean, each over the true time of a single transfer.
pub fn ratios(length: f64, runs: u64, seed: u64, threads: usize) -> (f64, f64) {
    let world = World::plain(Noise::Quota);
    let (rounds, sizes) = (9, spread(10, 1 << 16));
    // Trials fill eight tenths of a run.
    let shape = Shape { rounds, length: f64::from(rounds) * sizes.len() as f64 * length / 0.8, sizes, even: false };
    let all = pool::map(runs, threads, |i| {
        let ratio = |(size, median, mean): (u64, f64, f64)| (median / world.time(size), mean / world.time(size));
        let run = measure(&world, &shape, true, seed, i + 1);
        run.medians_and_means().into_iter().map(ratio).collect::<Vec<_>>()
    });
    let (medians, means): (Vec<f64>, Vec<f64>) = all.into_iter().flatten().unzip();
    (middle(medians), middle(means))
}
