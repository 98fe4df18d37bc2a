//! Dips and steps: which are found, which are found that are not there, and whether their depth holds.

use crate::draw::Draw;
use crate::noise::{Demand, Noise};
use crate::pool;
use crate::runs::measure;
use crate::tally::Tally;
use crate::world::{Shape, Slow, World, spread};

/// Widths of dips, decades.
pub const WIDTHS: [f64; 2] = [0.05, 0.1];
/// Depths of dips: how many times as long a message takes.
pub const DEPTHS: [f64; 3] = [1.06, 1.2, 1.5];

/// Share of runs without a break that may be said to have one.
pub const FALSE: f64 = 0.01;

/// What was found of one width and depth.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Dips there were.
    pub dips: u64,
    /// Of them, found.
    pub found: u64,
    /// Dips and steps found where there is none.
    pub strays: u64,
    /// Intervals of the found dips' depth.
    pub depth: Tally,
}

impl Found {
    /// Share of what was found that is there; none where nothing was found.
    pub fn precision(&self) -> Option<f64> {
        (self.found + self.strays > 0).then(|| self.found as f64 / (self.found + self.strays) as f64)
    }

    /// Whether depths hold, as far as these runs can tell.
    pub fn depth_holds(&self) -> bool {
        self.depth.given() == 0 || self.depth.meets(Demand::InRun)
    }
}

/// Looks for one dip a run, which lies somewhere between 1 KiB and 256 KiB.
pub fn dips(noise: Noise, shape: &Shape, (width, depth): (f64, f64), runs: u64, seed: u64, threads: usize) -> Found {
    let found = pool::map(runs, threads, |i| {
        let from = 1024.0 * 256f64.powf(Draw::new(seed, u64::MAX - i).uniform());
        let slow = Slow { from, until: from * 10f64.powf(width), factor: depth };
        let world = World { slow: vec![slow], ..World::plain(noise) };
        let breaks = measure(&world, shape, true, seed, i + 1).breaks();
        let mut sum = Found { dips: 1, strays: breaks.steps.len() as u64, ..Found::default() };
        for (within, said) in breaks.dips {
            // The stretch that was found has a size in common with the true one.
            if within.0 as f64 >= slow.until || (within.1 as f64) < slow.from || sum.found > 0 {
                sum.strays += 1;
            } else {
                sum.found = 1;
                sum.depth.runs = 1;
                sum.depth.add(said, [depth; 2]);
            }
        }
        sum
    });
    found.into_iter().fold(Found::default(), |mut all, one| {
        all.dips += one.dips;
        all.found += one.found;
        all.strays += one.strays;
        all.depth.join(one.depth);
        all
    })
}

/// Runs in which a break was found on a path that has none: on a line, or where the line becomes four times as steep at 1 MiB.
pub fn strays(noise: Noise, shape: &Shape, bent: bool, runs: u64, seed: u64, threads: usize) -> u64 {
    let bend = bent.then_some(((1 << 20) as f64, 4.0));
    let world = World { bend, ..World::plain(noise) };
    let shape = if bent { Shape { sizes: spread(shape.sizes.len(), 8 << 20), ..shape.clone() } } else { shape.clone() };
    let found = pool::map(runs, threads, |i| {
        let breaks = measure(&world, &shape, true, seed, i + 1).breaks();
        u64::from(!(breaks.dips.is_empty() && breaks.steps.is_empty()))
    });
    found.into_iter().sum()
}
