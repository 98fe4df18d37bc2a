//! The whole way from the driver to the answer on the theoretical link, whose truth is known: what is said to hold in 95% does.

mod modelled;

use measure::Pattern;
use measure::event::{PathPlan, Plan};
use model::scale::{Scaled, Target, Wire};
use model::{Comparison, Estimate, Side};
use modelled::measured;
use record::{Analysis, RunFile};
use transport::theory::{Dip, Theory};

/// A path without headers: `latency + size * 8 / rate`, exactly.
fn path(seed: u64) -> Theory {
    let (latency, rate) = (10e-6, 4e9);
    let plain = Theory { latency, rate, packet: 1 << 40, header: 0, ..Theory::default() };
    Theory { noise: 0.02, block_noise: 0.02, seed, ..plain }
}

/// About `many` sizes from 1 to `to`, evenly on a logarithmic axis.
fn sizes(to: f64, many: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..many).map(|i| to.powf(i as f64 / (many - 1) as f64).round() as u64).collect();
    all.dedup();
    all
}

fn modelled(theory: &Theory) -> Vec<PathPlan> {
    vec![PathPlan { settings: theory.settings(), ..transport::theory::NAME.into() }]
}

/// Ten rounds over fixed sizes.
fn fixed(theory: Theory, sizes: Vec<u64>) -> RunFile {
    let seed = theory.seed;
    measured(&Plan {
        paths: modelled(&theory),
        pattern: Pattern::PingPong,
        sizes: Some(sizes),
        trials: Some(10),
        repeats: Some(4),
        seed,
        ..Plan::default()
    })
}

/// As the command measures: sizes chosen as it goes, edges bisected.
fn adaptive(theory: Theory) -> RunFile {
    let seed = theory.seed;
    measured(&Plan { paths: modelled(&theory), budget: 2.0, to: 400 << 10, seed, ..Plan::default() })
}

fn holds(e: Estimate, truth: f64) -> bool {
    e.low <= truth && truth <= e.high
}

#[test]
fn intervals_hold_the_truth_of_the_link_in_95_of_100_runs() {
    const RUNS: u64 = 1000;
    let sizes = sizes(400e3, 45);
    let names = [
        "latency",
        "a middle size",
        "per byte",
        "line t0",
        "line per byte",
        "Rmax",
        "n1/2",
        "saturation point",
        "scaled start-up",
        "scaled per byte",
        "scaled largest",
    ];
    let mut hits = [0u64; 11];
    for seed in 0..RUNS {
        let theory = path(seed);
        let (t0, b) = (theory.latency, 8.0 / theory.rate);
        let run = fixed(theory.clone(), sizes.clone());
        let found = Analysis::of(&run);
        let (summary, fits) = (found.summary(0).unwrap(), found.fits(0).unwrap());
        let (line, bandwidth) = (fits.latency.all.as_ref().unwrap(), fits.bandwidth.as_ref().unwrap());
        // Half of a byte's cost is said to be a wire's, which gets five times as fast, the CPU twice.
        let wires = [2.0, 10.0].map(|times| Wire::new(times * theory.rate, 1.0, 0.0).unwrap());
        let target = Target { wires: Some((wires[0], wires[1])), cpu: 2.0, memory: 1.0 };
        let scaled = Scaled::of(&run.curve(0), &target, &[400_000], seed).unwrap();
        let elsewhere = (t0 / 2.0, b / 2.0 + b / 10.0);
        let middle = &run.paths[0].points[20];
        let figures = middle.figures;
        let held = [
            holds(summary.latency, t0 + b),
            figures.low <= t0 + b * middle.size as f64 && t0 + b * middle.size as f64 <= figures.high,
            holds(summary.per_byte.unwrap(), b),
            holds(line.t0, t0),
            holds(line.per_byte, b),
            holds(bandwidth.r_max, 8.0 / b),
            holds(bandwidth.n_half, t0 / b),
            holds(fits.saturation.as_ref().unwrap().point, t0 / b),
            holds(scaled.t0, elsewhere.0),
            holds(scaled.per_byte, elsewhere.1),
            holds(scaled.at[0].seconds, elsewhere.0 + elsewhere.1 * 400e3),
        ];
        held.iter().zip(&mut hits).for_each(|(h, n)| *n += u64::from(*h));
    }
    for (name, n) in names.iter().zip(hits) {
        let share = n as f64 / RUNS as f64;
        assert!((0.92..=0.98).contains(&share), "{name}: {share}; all: {hits:?}");
    }
}

#[test]
fn a_dip_of_the_link_is_found_within_its_edges_and_depth() {
    const RUNS: u64 = 100;
    let (from, to, factor) = (20_000, 25_000, 1.5);
    let (mut alone, mut edges, mut depth) = (0, 0, 0);
    for seed in 0..RUNS {
        let dips = vec![Dip { from, to, factor, moved_by: None }];
        let run = adaptive(Theory { dips, ..path(seed) });
        let breaks = Analysis::of(&run).breaks(0).clone();
        let [dip] = breaks.dips.as_slice() else { continue };
        alone += u64::from(breaks.steps.is_empty());
        let within = |edge: model::Edge, at: u64| edge.below < at && at <= edge.above;
        edges += u64::from(within(dip.from, from) && within(dip.to, to));
        depth += u64::from(holds(dip.factor, factor));
    }
    assert!(alone >= RUNS * 98 / 100, "found alone in {alone} of {RUNS}");
    assert!(edges >= RUNS * 95 / 100, "edges held in {edges} of {RUNS}");
    assert!(depth >= RUNS * 90 / 100, "depth held in {depth} of {RUNS}");
}

#[test]
fn a_smooth_link_has_no_dip_in_99_of_100_runs() {
    const RUNS: u64 = 300;
    let breaks = (0..RUNS).filter(|seed| {
        let noise = [0.005, 0.02, 0.05, 0.1][*seed as usize % 4];
        !Analysis::of(&adaptive(Theory { noise, ..path(*seed) })).breaks(0).is_empty()
    });
    let breaks = breaks.count() as u64;
    assert!(breaks <= RUNS / 100, "{breaks} of {RUNS}");
}

#[test]
fn a_crossover_of_two_links_lies_between_the_sizes_that_are_named() {
    const RUNS: u64 = 200;
    let sizes = sizes(400e3, 60);
    // The first starts 5 us sooner, the second moves bytes faster.
    let equal = 5e-6 / (8.0 / 1e9 - 8.0 / 4e9);
    let (mut found, mut held) = (0, 0);
    for seed in 0..RUNS {
        let quiet = |seed| Theory { block_noise: 0.01, ..path(seed) };
        let first = Theory { latency: 5e-6, rate: 1e9, ..quiet(2 * seed) };
        let second = Theory { latency: 10e-6, rate: 4e9, ..quiet(2 * seed + 1) };
        let (a, b) = (fixed(first, sizes.clone()), fixed(second, sizes.clone()));
        let (a, b) = ([a.curve(0)], [b.curve(0)]);
        let comparison = Comparison::of(Side::of(&a), Side::of(&b)).unwrap();
        let [(from, to)] = comparison.crossovers.as_slice() else { continue };
        found += 1;
        held += u64::from((*from as f64) < equal && equal < *to as f64);
    }
    assert!(found >= RUNS * 98 / 100, "found in {found} of {RUNS}");
    assert!(held >= found * 95 / 100, "held in {held} of {found}");
}
