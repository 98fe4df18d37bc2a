//! Curves that no straight line follows: what is said of their start-up cost, half-power and saturation points.

use crate::centre;
use crate::noise::{Demand, Noise};
use crate::pool;
use crate::runs::{Said, measure};
use crate::tally::Tally;
use crate::world::{Shape, Slow, World};

/// A curve by its name, made of a plain one.
pub type Curve = (&'static str, fn(World) -> World);

/// The curves of the table. All of them begin at the plain one's start-up cost.
pub const CURVES: [Curve; 6] = [
    ("line", |w| w),
    ("line, x3 from 256 KiB", |w| World {
        slow: vec![Slow { from: 262_144.0, until: f64::INFINITY, factor: 3.0 }],
        ..w
    }),
    ("with 80 ns a root", |w| World { root: 80e-9, ..w }),
    ("with 400 ns a root", |w| World { root: 400e-9, ..w }),
    ("stairs of 64 KiB", |w| World { stair: 65_536.0, ..w }),
    ("power 0.7, rising", |w| World { per_byte: 20e-9, power: 0.7, ..w }),
];

/// What was said of one curve.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Time of the smallest message against the truth.
    pub latency: Tally,
    /// The start-up cost against the time of no bytes.
    pub t0: Tally,
    /// Runs with a saturation point.
    pub saturated: u64,
    /// Runs whose saturation point surely lies below the half-power point: saturated where less than half of the most is moved.
    pub contradicts: u64,
}

impl Row {
    /// Whether intervals hold as often as they should, and nothing contradicts itself.
    pub fn met(&self) -> bool {
        [&self.latency, &self.t0].iter().all(|t| t.meets(Demand::Claimed)) && self.contradicts == 0
    }
}

/// Measures one curve under a noise.
pub fn row((_, curve): Curve, noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let world = curve(World::plain(noise));
    let all = centre::of_machine(noise, seed).exp();
    let found = pool::map(runs, threads, |i| {
        let figures = measure(&world, shape, true, seed, i + 1).figures();
        let of = |name: &str| figures.iter().find(|f| f.0 == name).map(|f| f.1);
        let mut row = Row::default();
        for (tally, said, truth) in
            [(&mut row.latency, of("latency"), world.time(1)), (&mut row.t0, of("t0"), world.t0)]
        {
            tally.runs = 1;
            // Ends ten times apart are printed as what they are: the figure is not resolved.
            let resolved = |said: &Said| said.high <= units::RESOLVED * said.low;
            let none = Said { value: truth, low: 0.0, high: f64::INFINITY };
            tally.add(said.filter(resolved).unwrap_or(none), [truth * all; 2]);
        }
        let saturation = of("saturation");
        row.saturated = u64::from(saturation.is_some());
        let below = saturation.zip(of("half power")).is_some_and(|(s, half)| s.high < half.low);
        row.contradicts = u64::from(below);
        row
    });
    found.into_iter().fold(Row::default(), |mut sum, row| {
        sum.latency.join(row.latency);
        sum.t0.join(row.t0);
        sum.saturated += row.saturated;
        sum.contradicts += row.contradicts;
        sum
    })
}
