//! Periods: which are found that are not there, and whether one is found that is.

use crate::noise::Noise;
use crate::pool;
use crate::runs::{Said, measure};
use crate::tally::Tally;
use crate::world::{Shape, Stops, World};

/// A stop of 10 ms each second.
pub const STOPS: Stops = Stops { period: 1.0, lasts: 0.01 };
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
    /// Runs with [`STOPS`] of which that period was found.
    pub found: u64,
    /// Other periods in them.
    pub others: u64,
    /// Intervals of the found period.
    pub period: Tally,
}

/// Looks for periods under a noise.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let plain = World::plain(noise);
    let stopped = World { stops: Some(STOPS), ..plain.clone() };
    let even = Shape { even: true, ..shape.clone() };
    // A noise's own period, or one of which it is a whole multiple, is there.
    let own = |said: &Said| {
        let parts = noise.period().map_or(0.0, |p| p / said.value);
        parts > 0.5 && (parts / parts.round() - 1.0).abs() < NEAR
    };
    let found = pool::map(runs, threads, |i| {
        let jitter = |world: &World, shape: &Shape| measure(world, shape, true, seed, i + 1).jitter();
        let strays = |said: &[Said]| u64::from(said.iter().any(|s| !own(s)));
        let (alone, with) = (jitter(&plain, shape), jitter(&stopped, shape));
        let mut row = Row { runs: 1, drifts: u64::from(alone.drifts), ..Row::default() };
        row.strays = strays(&alone.periods);
        row.even = strays(&jitter(&plain, &even).periods);
        for said in with.periods {
            if (said.value / STOPS.period - 1.0).abs() < NEAR {
                // It may show in pauses and in levels.
                if row.found == 0 {
                    row.period.add(said, STOPS.period);
                }
                (row.found, row.period.runs) = (1, 1);
            } else if !own(&said) {
                row.others += 1;
            }
        }
        row
    });
    found.into_iter().fold(Row::default(), |mut all, one| {
        all.runs += one.runs;
        all.strays += one.strays;
        all.even += one.even;
        all.drifts += one.drifts;
        all.found += one.found;
        all.others += one.others;
        all.period.join(one.period);
        all
    })
}
