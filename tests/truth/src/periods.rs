//! Periods: which are found that are not there, and whether one is found that is.

use crate::noise::Noise;
use crate::pool;
use crate::runs::{Said, measure};
use crate::tally::Tally;
use crate::world::{Shape, Stops, World};

/// Stops that come back: 10 ms each second, and 1 ms ten times a second.
pub const STOPS: [Stops; 2] = [Stops { period: 1.0, lasts: 0.01 }, Stops { period: 0.1, lasts: 0.001 }];
/// Share of runs without a period that may be said to have one.
pub const FALSE: f64 = 0.05;
/// A period is found if what is said lies this near to it, as a share.
const NEAR: f64 = 0.02;

/// What was found under one noise.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Runs.
    pub runs: u64,
    /// Runs without a period that were said to have one.
    pub strays: u64,
    /// The same where trials follow each other at an even pitch.
    pub even: u64,
    /// Runs that are said to drift for sure.
    pub drifts: u64,
    /// What was found of each of [`STOPS`].
    pub stops: [Stopped; STOPS.len()],
}

/// What was found in runs that are stopped.
#[derive(Debug, Clone, Default)]
pub struct Stopped {
    /// Runs of which the period was found.
    pub found: u64,
    /// Other periods in them.
    pub others: u64,
    /// Intervals of the found period.
    pub period: Tally,
}

/// Looks for periods under a noise.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let plain = World::plain(noise);
    let even = Shape { even: true, ..shape.clone() };
    // A noise's own period, or one of which it is a whole multiple, is there.
    let own = |said: &Said| {
        let parts = noise.period().map_or(0.0, |p| p / said.value);
        parts > 0.5 && (parts / parts.round() - 1.0).abs() < NEAR
    };
    let found = pool::map(runs, threads, |i| {
        let jitter = |world: &World, shape: &Shape| measure(world, shape, true, seed, i + 1).jitter();
        let strays = |said: &[Said]| u64::from(said.iter().any(|s| !own(s)));
        let alone = jitter(&plain, shape);
        let stops = STOPS.map(|stops| {
            let world = World { stops: Some(stops), ..plain.clone() };
            let mut sum = Stopped::default();
            for said in jitter(&world, shape).periods {
                if (said.value / stops.period - 1.0).abs() >= NEAR {
                    sum.others += u64::from(!own(&said));
                } else if sum.found == 0 {
                    // It may show in pauses and in levels: the surer comes first.
                    (sum.found, sum.period.runs) = (1, 1);
                    sum.period.add(said, [stops.period; 2]);
                }
            }
            sum
        });
        let even = strays(&jitter(&plain, &even).periods);
        Row { runs: 1, strays: strays(&alone.periods), even, drifts: u64::from(alone.drifts), stops }
    });
    found.into_iter().fold(Row::default(), |mut all, one| {
        all.runs += one.runs;
        all.strays += one.strays;
        all.even += one.even;
        all.drifts += one.drifts;
        for (sum, stopped) in all.stops.iter_mut().zip(one.stops) {
            sum.found += stopped.found;
            sum.others += stopped.others;
            sum.period.join(stopped.period);
        }
        all
    })
}
