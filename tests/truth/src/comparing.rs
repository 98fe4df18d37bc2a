//! `compare`: how often runs of one thing are said to differ, and runs of two things that do.

use crate::runs::CurvePoint;

use crate::noise::Noise;
use crate::pool;
use crate::runs::{differ, measure, times};
use crate::tally::few;
use crate::world::{Shape, World};

/// How many times as long the second side takes; 1 is the same thing again.
pub const FACTORS: [f64; 4] = [1.0, 1.03, 1.1, 1.3];
/// Runs of a side.
pub const SIDES: [usize; 2] = [1, 3];
/// Share of comparisons of the same thing that may be said to differ.
pub const FALSE: f64 = 0.05;

/// Verdicts of one factor and number of runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verdicts {
    /// Said to differ.
    pub differ: u64,
    /// Not said to differ.
    pub same: u64,
    /// No comparison.
    pub none: u64,
}

impl Verdicts {
    /// Whether as few differ as may, if these are comparisons of the same; a standard error is granted.
    pub fn few(self) -> bool {
        few(self.differ, FALSE, self.differ + self.same)
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
    let each = 2 * SIDES[1] as u64;
    let found = pool::map(runs, threads, |i| {
        let curve = |j: u64| measure(&world, shape, true, seed, i * each + j + 1).curve();
        let curves: Vec<Vec<CurvePoint>> = (0..each).map(curve).collect();
        let (first, second) = curves.split_at(SIDES[1]);
        SIDES.map(|n| {
            FACTORS.map(|factor| {
                let second: Vec<_> = second[..n].iter().map(|curve| times(curve, factor)).collect();
                differ(&first[..n], &second)
            })
        })
    });
    let mut verdicts = [[Verdicts::default(); FACTORS.len()]; SIDES.len()];
    for one in found {
        for (sums, said) in verdicts.iter_mut().flatten().zip(one.into_iter().flatten()) {
            match said {
                Some(true) => sums.differ += 1,
                Some(false) => sums.same += 1,
                None => sums.none += 1,
            }
        }
    }
    Row { noise, verdicts }
}
