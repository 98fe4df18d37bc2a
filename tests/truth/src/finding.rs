//! Dips and steps: which are found, which are found that are not there, and whether their depth holds.

use crate::draw::Draw;
use crate::noise::{Demand, Noise};
use crate::pool;
use crate::runs::{Said, measure};
use crate::tally::{Tally, few};
use crate::world::{Handshake, Shape, Slow, World, spread};

/// Widths of dips, decades.
pub const WIDTHS: [f64; 2] = [0.05, 0.1];
/// Depths of dips: how many times as long a message takes.
pub const DEPTHS: [f64; 3] = [1.06, 1.2, 1.5];

/// Heights of steps, drawn between two: how many times as long the first message after it takes.
pub const HEIGHTS: [(f64, f64); 2] = [(1.1, 1.3), (1.3, 2.0)];
/// A step is found where its edge lies as near as this to the true one: a twentieth of a decade, a factor of the size.
const NEAR: f64 = 1.122;

/// Share of runs without a break that may be said to have one.
pub const FALSE: f64 = 0.01;
/// Share of what is found that may not be there.
pub const WRONG: f64 = 0.05;

/// What was found of the breaks of one kind.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Breaks there were.
    pub planted: u64,
    /// Of them, found.
    pub found: u64,
    /// Dips and steps found where there is none.
    pub strays: u64,
    /// Intervals of how deep the found dips are, or how high the found steps.
    pub depth: Tally,
}

impl Found {
    /// Share of what was found that is there; none where nothing was found.
    pub fn precision(&self) -> Option<f64> {
        (self.found + self.strays > 0).then(|| self.found as f64 / (self.found + self.strays) as f64)
    }

    /// Whether as little of what was found is wrong as may; a standard error is granted.
    pub fn precise(&self) -> bool {
        few(self.strays, WRONG, self.found + self.strays)
    }

    /// Whether depths and heights hold, as far as these runs can tell.
    pub fn depth_holds(&self) -> bool {
        self.depth.given() == 0 || self.depth.meets(Demand::InRun)
    }

    /// Counts one break that was found: the one there is, with the truth of its depth, or none that there is.
    fn count(&mut self, right: bool, said: Said, truth: [f64; 2]) {
        if !right || self.found > 0 {
            self.strays += 1;
            return;
        }
        (self.found, self.depth.runs) = (1, 1);
        self.depth.add(said, truth);
    }

    fn sum(all: Vec<Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut all, one| {
            all.planted += one.planted;
            all.found += one.found;
            all.strays += one.strays;
            all.depth.join(one.depth);
            all
        })
    }
}

/// A size between 1 KiB and 256 KiB, anywhere on a logarithmic axis.
fn somewhere(draw: &mut Draw) -> f64 {
    1024.0 * 256f64.powf(draw.uniform())
}

/// Looks for one dip a run, which lies somewhere between 1 KiB and 256 KiB.
pub fn dips(noise: Noise, shape: &Shape, (width, depth): (f64, f64), runs: u64, seed: u64, threads: usize) -> Found {
    Found::sum(pool::map(runs, threads, |i| {
        let from = somewhere(&mut Draw::new(seed, u64::MAX - i));
        let slow = Slow { from, until: from * 10f64.powf(width), factor: depth };
        let world = World { slow: vec![slow], ..World::plain(noise) };
        let breaks = measure(&world, shape, true, seed, i + 1).breaks();
        let mut sum = Found { planted: 1, strays: breaks.steps.len() as u64, ..Found::default() };
        for (within, said) in breaks.dips {
            // The stretch that was found has a size in common with the true one.
            let there = (within.0 as f64) < slow.until && within.1 as f64 >= slow.from;
            sum.count(there, said, [depth; 2]);
        }
        sum
    }))
}

/// Looks for one step a run, from somewhere between 1 KiB and 256 KiB on, whose height lies somewhere between two: a handshake that takes as
/// long with each size, so that the larger the message, the less it shows.
pub fn steps(noise: Noise, shape: &Shape, (least, most): (f64, f64), runs: u64, seed: u64, threads: usize) -> Found {
    Found::sum(pool::map(runs, threads, |i| {
        let mut draw = Draw::new(seed, u64::MAX - i);
        let (from, height) = (somewhere(&mut draw), least * (most / least).powf(draw.uniform()));
        let plain = World::plain(noise);
        let takes = (height - 1.0) * plain.time(from.ceil() as u64);
        let world = World { step: Some(Handshake { from, takes }), ..plain.clone() };
        let breaks = measure(&world, shape, true, seed, i + 1).breaks();
        let mut sum = Found { planted: 1, strays: breaks.dips.len() as u64, ..Found::default() };
        for ((below, above), said) in breaks.steps {
            let there = (below as f64) < from * NEAR && from <= above as f64 * NEAR;
            sum.count(there, said, [above, below].map(|size| 1.0 + takes / plain.time(size)));
        }
        sum
    }))
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
