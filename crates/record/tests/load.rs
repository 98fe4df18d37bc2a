//! Idle and loaded paths side by side, on the theoretical link, whose truth is known.

mod modelled;

use measure::event::{PathPlan, Plan};
use measure::{Load, LoadDirection};
use record::{Analysis, RunFile};
use transport::theory::Theory;

/// One byte a nanosecond, without headers: a message of 10,000 B of a loading flow keeps the line for 10 us.
fn theory(noise: f64, seed: u64) -> Theory {
    Theory {
        latency: 10e-6,
        rate: 8e9,
        packet: 1 << 40,
        header: 0,
        noise,
        block_noise: noise,
        seed,
        ..Theory::default()
    }
}

fn measured(theory: &Theory, loads: &[Option<Load>]) -> RunFile {
    let path = |load: &Option<Load>| PathPlan {
        settings: theory.settings(),
        load: *load,
        label: load.map(|load| format!("theory:load={},{}", load.flows, load.direction.name())),
        ..transport::theory::NAME.into()
    };
    let plan = Plan {
        paths: loads.iter().map(path).collect(),
        sizes: Some(vec![64]),
        trials: Some(12),
        repeats: Some(300),
        seed: theory.seed,
        ..Plan::default()
    };
    modelled::measured(&plan)
}

fn load(flows: u32, direction: LoadDirection) -> Option<Load> {
    Some(Load { flows, direction, size: 10_000 })
}

#[test]
fn without_noise_the_ratio_is_that_of_the_times() {
    use LoadDirection::Same;
    let run = measured(&theory(0.0, 1), &[None, load(4, Same), load(1, Same)]);
    let found = Analysis::of(&run).under_load();
    assert_eq!(found.len(), 1);
    let rows = &found[0].rows;
    // The idle path first, then by the number of flows, whatever the order of the plan.
    assert_eq!(rows.iter().map(|r| r.load.map_or(0, |l| l.flows)).collect::<Vec<_>>(), [0, 1, 4]);
    let idle = 10.064e-6;
    for (row, waits) in rows.iter().zip([0.0, 5e-6, 20e-6]) {
        for time in row.times.iter().take(2) {
            let value = time.unwrap().value;
            // Histograms hold single times to 1%.
            assert!((value / (idle + waits) - 1.0).abs() < 0.01, "{value} is not {}", idle + waits);
        }
        assert_eq!(row.ratios[0].is_some(), row.load.is_some());
        if let Some(ratio) = row.ratios[0] {
            let truth = (idle + waits) / idle;
            assert!(
                (ratio.value / truth - 1.0).abs() < 1e-3 && ratio.low <= truth + 1e-3 && truth - 1e-3 <= ratio.high,
                "{ratio:?}"
            );
        }
    }
    assert!(rows[0].carried.is_none() && rows[1].carried.unwrap().there.unwrap() > 7.9e9);
}

#[test]
fn intervals_of_ratios_hold_the_truth() {
    const RUNS: u64 = 200;
    let (mut median, mut tail) = (0, 0);
    // 30 us in messages of the load over one of 10.064 us: half of a round trip waits for a half of them.
    let truth = 1.0 + 15e-6 / 10.064e-6;
    for seed in 1..=RUNS {
        let run = measured(&theory(0.05, seed), &[None, load(3, LoadDirection::Opposite)]);
        let found = Analysis::of(&run).under_load();
        let row = &found[0].rows[1];
        let ratio = row.ratios[0].unwrap();
        median += u64::from(ratio.low <= truth && truth <= ratio.high);
        // What is modelled as waiting has no noise: the tail of the loaded path lies nearer to its median.
        let tail_ratio = row.ratios[1].unwrap();
        tail += u64::from(
            tail_ratio.low <= tail_ratio.value && tail_ratio.value <= tail_ratio.high && tail_ratio.value < truth,
        );
    }
    assert!(median >= RUNS * 92 / 100, "the ratio of the medians: {median} of {RUNS}");
    assert_eq!(tail, RUNS, "the ratio of the 99th percentiles");
}

#[test]
fn loads_of_each_way_stand_apart_and_a_run_without_load_has_none() {
    use LoadDirection::{Both, Same};
    let run = measured(&theory(0.0, 1), &[None, load(1, Same), load(1, Both), load(2, Both)]);
    let found = Analysis::of(&run).under_load();
    let rows: Vec<usize> = found.iter().map(|group| group.rows.len()).collect();
    assert_eq!(rows, [2, 3]);
    assert!(found.iter().all(|group| group.idle == 0));
    let alone = measured(&theory(0.0, 1), &[None]);
    assert!(Analysis::of(&alone).under_load().is_empty());
    let orphan = measured(&theory(0.0, 1), &[load(1, Same)]);
    assert!(Analysis::of(&orphan).under_load().is_empty(), "nothing tells what the load adds");
    assert!(run.has_loaded() && !alone.has_loaded() && !orphan.has_loaded());
}
