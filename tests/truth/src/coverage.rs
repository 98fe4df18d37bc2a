//! Coverage: how often each interval that is printed holds the truth of the machine, and that of the run.

use std::collections::BTreeMap;

use crate::draw::Draw;
use crate::noise::{Demand, Noise};
use crate::runs::{BETWEEN, BEYOND, SCALED, Said, WIRES, measure};
use crate::tally::Tally;
use crate::world::{Shape, World};
use crate::{centre, pool};

/// The figures of the table, in its order.
pub const FIGURES: [&str; 15] = [
    "point",
    "latency",
    "maximum",
    "half power",
    "t0",
    "b",
    "Rmax",
    "n1/2",
    "saturation",
    "arrival",
    "beyond",
    "scaled",
    "scaled t0",
    "scaled b",
    "G",
];

/// One noise in one shape of run.
pub struct Row {
    /// Noise.
    pub noise: Noise,
    /// What is asked of it.
    pub demand: Demand,
    /// Runs whose sentence of trust says that their intervals hold for this run alone.
    pub of_this_run: u64,
    /// Against the centre of what the machine does in the long run, of the other runs alone.
    pub of_claiming: BTreeMap<&'static str, Tally>,
    /// Runs.
    pub runs: u64,
    /// Against the centre of what the machine does in the long run.
    pub of_machine: BTreeMap<&'static str, Tally>,
    /// Against the centre of what it did in the run.
    pub of_run: BTreeMap<&'static str, Tally>,
}

type Tallies = BTreeMap<&'static str, Tally>;

/// Measures one row.
pub fn row(noise: Noise, shape: &Shape, runs: u64, seed: u64, threads: usize) -> Row {
    let world = World::plain(noise);
    let clean: BTreeMap<_, _> = measure(&world, shape, false, seed, 0).figures().into_iter().collect();
    let long = centre::of_machine(noise, seed);
    let found = pool::map(runs, threads, |i| {
        let run = measure(&world, shape, true, seed, i + 1);
        let mut tallies = [Tallies::new(), Tallies::new()];
        if let Some(machine) = &run.machine {
            let here = centre::of_run(machine, shape, &mut Draw::new(seed, u64::MAX - i));
            let truths = [[long; 2], here].map(|ends| Truth { world: &world, clean: &clean, ends });
            for (tally, truth) in tallies.iter_mut().zip(&truths) {
                run.points().for_each(|p| tally.entry("point").or_default().add(p.said, truth.time(p.size)));
                run.figures()
                    .into_iter()
                    .for_each(|(name, said)| tally.entry(name).or_default().add(said, truth.of(name)));
                tally.values_mut().for_each(|t| t.runs += 1);
            }
        }
        (tallies, run.of_this_run())
    });
    let (mut sums, mut of_claiming, mut of_this_run) = ([Tallies::new(), Tallies::new()], Tallies::new(), 0);
    for (tallies, only) in found {
        of_this_run += u64::from(only);
        if !only {
            tallies[0].iter().for_each(|(name, tally)| of_claiming.entry(name).or_default().join(tally.clone()));
        }
        for (sum, tallies) in sums.iter_mut().zip(tallies) {
            tallies.into_iter().for_each(|(name, tally)| sum.entry(name).or_default().join(tally));
        }
    }
    let [of_machine, of_run] = sums;
    Row { noise, demand: noise.demand(shape.rounds, shape.length), of_this_run, runs, of_machine, of_claiming, of_run }
}

/// The true figures of a path on a machine whose centre lies between these logarithms.
struct Truth<'a> {
    world: &'a World,
    /// What the estimators say of the path without noise.
    clean: &'a BTreeMap<&'static str, Said>,
    ends: [f64; 2],
}

impl Truth<'_> {
    fn time(&self, size: u64) -> [f64; 2] {
        self.ends.map(|centre| self.world.time(size) * centre.exp())
    }

    fn of(&self, figure: &str) -> [f64; 2] {
        let [a, b] = self.ends.map(|centre| self.at(figure, centre.exp()));
        [a.min(b), a.max(b)]
    }

    /// On a machine on which all takes so many times as long: by formula where there is one; else what the same estimator gives
    /// without noise.
    fn at(&self, figure: &str, all: f64) -> f64 {
        let world = self.world;
        let clean = |name| self.clean.get(name).map_or(f64::NAN, |said| said.value);
        match figure {
            "latency" => world.time(1) * all,
            "t0" => world.t0 * all,
            "b" | "G" => world.per_byte * all,
            "scaled t0" => world.t0 * all,
            "scaled b" => world.per_byte * all + 8.0 * (1.0 / WIRES.1 - 1.0 / WIRES.0),
            "Rmax" => 8.0 / world.per_byte / all,
            "n1/2" => world.t0 / world.per_byte,
            "maximum" => clean("maximum") / all,
            "arrival" => world.time(BETWEEN) * all,
            "beyond" => world.time(BEYOND) * all,
            "scaled" => world.time(SCALED) * all + SCALED as f64 * 8.0 * (1.0 / WIRES.1 - 1.0 / WIRES.0),
            name => clean(name),
        }
    }
}
