//! `run --vs`: two sides whose rounds take turns on one machine; how often sides of one thing are said to differ, and others are.

use model::Finding;

use crate::noise::Noise;
use crate::pool;
use crate::runs::{compared_in_turns, measure_in_turns};
use crate::tally::few;
use crate::world::{Shape, World};

/// How many times as long the second side takes; 1 is the same thing again.
pub const FACTORS: [f64; 4] = [1.0, 1.03, 1.1, 1.3];
/// Share of comparisons of the same thing that may be said to differ.
pub const FALSE: f64 = 0.05;

/// What was said of the pairs of one factor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said {
    /// The second side is said to be slower.
    pub slower: u64,
    /// It is said to be faster.
    pub faster: u64,
    /// A part of the sizes is said to differ, and all together are not.
    pub parts: u64,
    /// No verdict.
    pub none: u64,
    /// There is an interval over all sizes.
    pub bounded: u64,
    /// Of these, it holds the factor.
    pub holds: u64,
}

impl Said {
    /// Said to differ.
    pub fn differ(self) -> u64 {
        self.slower + self.faster + self.parts
    }
}

/// One noise: what was said by [`FACTORS`], and of how many pairs.
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// Each side has the noise for itself.
    pub apart: bool,
    /// By factor.
    pub said: [Said; FACTORS.len()],
    /// Pairs of each factor.
    pub runs: u64,
}

impl Row {
    /// Its name in the tables.
    pub fn name(&self) -> String {
        format!("{}{}", self.noise.name(), if self.apart { ", each side its own" } else { "" })
    }

    /// Whether as few pairs of the same are said to differ as may be.
    pub fn met(&self) -> bool {
        few(self.said[0].differ(), FALSE, self.runs)
    }
}

/// Compares `runs` pairs of sides, each pair measured in turns over so many rounds a side; the sides may feel the noise `apart`.
pub fn row(noise: Noise, apart: bool, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let world = World::plain(noise);
    let found = pool::map(runs, threads, |i| {
        let (first, second) = measure_in_turns(&world, shape, apart, seed, i + 1);
        FACTORS.map(|factor| compared_in_turns(&first, &second, factor))
    });
    let mut said = [Said::default(); FACTORS.len()];
    for (place, one) in found.iter().flat_map(|pair| pair.iter().enumerate()) {
        let sums = &mut said[place];
        let Some((low, high, finding)) = *one else {
            sums.none += 1;
            continue;
        };
        let differs = finding == Finding::Differ;
        sums.none += u64::from(!finding.is_verdict());
        sums.bounded += 1;
        sums.holds += u64::from(low <= FACTORS[place] && FACTORS[place] <= high);
        sums.slower += u64::from(differs && low > 1.0);
        sums.faster += u64::from(differs && high < 1.0);
        sums.parts += u64::from(differs && low <= 1.0 && high >= 1.0);
    }
    Row { noise, apart, said, runs }
}
