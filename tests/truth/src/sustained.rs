//! Long and short: where a process may run for half of the time only, a transfer takes its time and a minute of transfers twice
//! as long. What do the two figures of a point say, by the length of trials? And how often does the ratio of long trials to short ones hold?

use crate::centre::middle;
use crate::draw::Draw;
use crate::noise::Noise;
use crate::pool;
use crate::runs::{measure, measure_long};
use crate::tally::Tally;
use crate::world::{Shape, World, spread};

/// Noises under which it is known how long a sustained transfer takes: that of a trial's own has a mean, and a level is that of short trials, too.
pub const KEPT_UP: [Noise; 6] =
    [Noise::Independent, Noise::LogNormal, Noise::Skewed, Noise::Quota, Noise::Correlated(0.5), Noise::Rounds(3.0)];

/// Planned length of a sustained trial, seconds: that of a default run.
const LONG: f64 = 0.36;
/// Draws of a noise that its mean is found from.
const DRAWS: usize = 200_000;

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

/// How often the intervals of the ratio of sustained trials to short ones hold it: a long trial has the mean of its iterations, each with a
/// noise of its own, and a short one's figure is their median.
pub fn kept_up(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Tally {
    let mut draw = Draw::new(seed, u64::MAX);
    let own: Vec<f64> = (0..DRAWS).map(|_| noise.own(&mut draw)).collect();
    let stopped = if noise == Noise::Quota { 2.0 } else { 1.0 };
    let truth = stopped * own.iter().map(|log| log.exp()).sum::<f64>() / DRAWS as f64 / middle(own).exp();
    let world = World::plain(noise).apart();
    let found = pool::map(runs, threads, |i| measure_long(&world, shape, LONG, seed, i + 1).kept_up());
    let mut tally = Tally::default();
    tally.runs = runs;
    found.into_iter().flatten().for_each(|said| tally.add(said, [truth; 2]));
    tally
}
