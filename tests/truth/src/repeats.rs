//! Repeats: how often a further run's points fall where a run and the earlier ones it carries foretell.

use crate::draw::Draw;
use crate::noise::Noise;
use crate::pool;
use crate::runs::{Measured, measure_after};
use crate::tally::Tally;
use crate::world::{Shape, World};

/// Earlier runs that are known.
pub const EARLIER: [usize; 5] = [0, 1, 2, 3, 5];
/// Standard deviation of what runs differ by as a whole, as a logarithm, beside what the noise does.
pub const SPREADS: [f64; 2] = [0.0, 0.12];

/// One noise: for each of [`SPREADS`], ranges from so many of [`EARLIER`] against the points of a further run.
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// How often ranges held.
    pub held: [[Tally; EARLIER.len()]; SPREADS.len()],
}

/// Measures one row: `runs` machines, each with as many runs as it takes.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let most = EARLIER[EARLIER.len() - 1] as u64;
    let each = most + 2;
    let held = SPREADS.map(|spread| {
        let found = pool::map(runs, threads, |i| {
            let mut levels = Draw::new(seed ^ 0x7265_7065, i);
            let worlds: Vec<World> =
                (0..each).map(|_| World::plain(noise).times(levels.normal(spread).exp())).collect();
            let run = |number: u64, earlier: &[&Measured]| {
                measure_after(earlier, &worlds[number as usize], shape, seed, i * each + number + 1)
            };
            let known: Vec<Measured> = (0..most).map(|number| run(number, &[])).collect();
            let next = run(most + 1, &[]);
            EARLIER.map(|n| {
                let foretells = run(most, &known[..n].iter().collect::<Vec<_>>());
                let mut tally = Tally::default();
                tally.runs = 1;
                for (range, repeat) in foretells.points().zip(next.points()) {
                    tally.add(range.repeat, [repeat.said.value; 2]);
                }
                tally
            })
        });
        let mut sums: [Tally; EARLIER.len()] = Default::default();
        for one in found {
            sums.iter_mut().zip(one).for_each(|(sum, tally)| sum.join(tally));
        }
        sums
    });
    Row { noise, held }
}
