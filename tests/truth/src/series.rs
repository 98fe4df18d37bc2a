//! `compare` of sides whose runs came one after the other on a machine that changes from run to run: how often sides of one thing are said to
//! differ, and others are.

use model::Finding;

use crate::draw::Draw;
use crate::noise::Noise;
use crate::pool;
use crate::runs::{Compares, Measured, compared, measure};
use crate::tally::few;
use crate::world::{Shape, World};

/// Runs of a side.
pub const RUNS: [usize; 3] = [3, 5, 8];
/// How many times as long the second side takes; 1 is the same thing again.
pub const FACTORS: [f64; 3] = [1.0, 1.1, 1.3];
/// Share of comparisons of the same thing that may be said to differ.
pub const FALSE: f64 = 0.05;
/// Standard deviation of runs' levels beyond what the machine does from run to run.
const APART: f64 = 0.02;
/// Runs that the time between two sides would have taken.
const GAP: usize = 10;

/// What a machine does from run to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Nothing.
    None,
    /// Each run takes such a share longer than the one before.
    Drift(f64),
    /// The same, and between the sides as much time as [`GAP`] runs take.
    Gap(f64),
    /// A random walk: steps of such a standard deviation.
    Walk(f64),
    /// A sine of such an amplitude, of which both sides together cover a quarter period.
    Sine(f64),
}

impl Change {
    /// All that are tried.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Gap(0.0),
        Self::Gap(0.005),
        Self::Drift(0.01),
        Self::Drift(0.03),
        Self::Drift(0.1),
        Self::Walk(0.03),
        Self::Walk(0.1),
        Self::Sine(0.1),
    ];

    /// Name.
    pub fn name(self) -> String {
        let percent = |share: f64| format!("{}%", share * 100.0);
        match self {
            Self::None => "none".into(),
            Self::Drift(share) => format!("drift of {} a run", percent(share)),
            Self::Gap(share) => format!("drift of {} a run, {GAP} runs between", percent(share)),
            Self::Walk(share) => format!("random walk of {} a run", percent(share)),
            Self::Sine(share) => format!("quarter of a sine of {}", percent(share)),
        }
    }

    /// When a run of so many began, in runs.
    fn place(self, run: usize, of: usize) -> usize {
        run + if matches!(self, Self::Gap(_)) && run >= of / 2 { GAP } else { 0 }
    }

    /// Levels of so many runs in series, as factors.
    fn levels(self, runs: usize, draw: &mut Draw) -> Vec<f64> {
        let mut walk = 0.0;
        let one = |i: usize| {
            walk += draw.normal(1.0);
            let changed = match self {
                Self::None => 0.0,
                Self::Drift(share) | Self::Gap(share) => share.ln_1p() * self.place(i, runs) as f64,
                Self::Walk(share) => share * walk,
                Self::Sine(share) => share * (std::f64::consts::FRAC_PI_2 * i as f64 / runs as f64).sin(),
            };
            (changed + draw.normal(APART)).exp()
        };
        (0..runs).map(one).collect()
    }
}

/// Comparisons said to differ, by [`RUNS`] and [`FACTORS`], of so many.
pub fn row(change: Change, shape: &Shape, runs: u64, seed: u64, threads: usize) -> [[u64; FACTORS.len()]; RUNS.len()] {
    let world = World::plain(Noise::Independent);
    let found = pool::map(runs, threads, |i| {
        RUNS.map(|of| {
            let all = 2 * of;
            let number = |j: usize| (i * 2 * RUNS[RUNS.len() - 1] as u64) + j as u64 + 1;
            let measured: Vec<Measured> = (0..all).map(|j| measure(&world, shape, true, seed, number(j))).collect();
            let levels = change.levels(all, &mut Draw::new(seed, u64::MAX - number(of)));
            let side = |from: usize| {
                Compares::in_series(&measured[from..from + of], &levels[from..from + of], change.place(from, all))
            };
            let (first, second) = (side(0), side(of));
            FACTORS.map(|factor| compared(&first, &second.times(factor)) == Some(Finding::Differ))
        })
    });
    let mut said = [[0; FACTORS.len()]; RUNS.len()];
    for one in &found {
        for (sum, differ) in said.iter_mut().flatten().zip(one.iter().flatten()) {
            *sum += u64::from(*differ);
        }
    }
    said
}

/// Whether as few comparisons of the same thing differ as may.
pub fn met(said: &[[u64; FACTORS.len()]; RUNS.len()], runs: u64) -> bool {
    said.iter().all(|of| few(of[0], FALSE, runs))
}
