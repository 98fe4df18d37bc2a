//! `compare`: how often runs of one thing are said to differ, and runs of two things that do.

use model::Finding;

use crate::noise::Noise;
use crate::pool;
use crate::runs::{Compares, Measured, compared, measure, measure_after};
use crate::tally::few;
use crate::world::{Shape, World};

/// How many times as long the second side takes; 1 is the same thing again.
pub const FACTORS: [f64; 4] = [1.0, 1.03, 1.1, 1.3];
/// Runs of a side, and earlier runs that each carries.
pub const SIDES: [(usize, usize); 3] = [(1, 0), (3, 0), (1, 3)];
/// Share of comparisons of the same thing that may be said to differ.
pub const FALSE: f64 = 0.05;

/// Verdicts of one factor and number of runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verdicts {
    /// Said to differ.
    pub differ: u64,
    /// No difference was found.
    pub same: u64,
    /// No verdict.
    pub none: u64,
}

impl Verdicts {
    /// Whether as few differ as may, if these are comparisons of the same; a standard error is granted.
    pub fn few(self) -> bool {
        few(self.differ, FALSE, self.differ + self.same + self.none)
    }
}

/// One noise: verdicts by [`SIDES`] and [`FACTORS`].
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// Verdicts, for each number of runs and each factor.
    pub verdicts: [[Verdicts; FACTORS.len()]; SIDES.len()],
}

/// Compares `runs` pairs of sides. Each run finds the machine anew, as runs of other days do.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let world = World::plain(noise);
    let most = SIDES.iter().map(|(runs, earlier)| runs + earlier).max().unwrap_or(1) as u64;
    let found = pool::map(runs, threads, |i| {
        let side = |s: u64| {
            let number = |j: u64| (2 * i + s) * most + j + 1;
            let alone: Vec<Measured> = (0..most).map(|j| measure(&world, shape, true, seed, number(j))).collect();
            SIDES.map(|(runs, earlier)| match earlier {
                0 => Compares::of(&alone[..runs]),
                n => {
                    let known: Vec<&Measured> = alone[..n].iter().collect();
                    Compares::of([&measure_after(&known, &world, shape, seed, number(n as u64))])
                }
            })
        };
        let (first, second) = (side(0), side(1));
        let sides: Vec<_> = first.iter().zip(&second).collect();
        std::array::from_fn::<_, { SIDES.len() }, _>(|s| {
            FACTORS.map(|factor| compared(sides[s].0, &sides[s].1.times(factor)))
        })
    });
    let mut verdicts = [[Verdicts::default(); FACTORS.len()]; SIDES.len()];
    for one in found {
        for (sums, said) in verdicts.iter_mut().flatten().zip(one.into_iter().flatten()) {
            match said {
                Some(Finding::Differ) => sums.differ += 1,
                Some(Finding::NoDifference) => sums.same += 1,
                _ => sums.none += 1,
            }
        }
    }
    Row { noise, verdicts }
}
