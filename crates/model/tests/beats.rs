//! Stops that come back at a period whose beats come early or late, or are left out now and then: neither a multiple nor a part of it is
//! said in its place.

use model::{Jitter, Moment, Source};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::normal;

/// A run of so long, seconds, in so many rounds, each of which visits so many sizes once, in random order.
const LONG: f64 = 20.0;
const ROUNDS: u32 = 17;
const SIZES: usize = 40;

/// How long a stop lasts, seconds.
const STOP: f64 = 2e-3;

/// Stops that come back.
#[derive(Debug, Clone, Copy)]
struct Beats {
    /// Period, seconds.
    every: f64,
    /// Standard deviation of a beat's moment, and the share of the beats that is left out.
    off: f64,
    missing: f64,
}

/// Moments of the beats of a run, ascending, seconds.
fn beats(rng: &mut ChaCha8Rng, b: Beats) -> Vec<f64> {
    let phase: f64 = rng.random();
    let many = (LONG * 1.2 / b.every) as u32 + 2;
    let mut all: Vec<f64> = (0..many)
        .filter_map(|k| {
            let at = (f64::from(k) + phase + b.off * normal(rng)) * b.every;
            (rng.random::<f64>() >= b.missing).then_some(at)
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

/// A run that meets these stops, and so many short pauses a second at random beside.
fn run(seed: u64, b: Beats, random: f64) -> Vec<Moment> {
    let cell = b.every * 1e9 + b.off * 1e4 + b.missing * 10.0;
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ cell.to_bits());
    let stops = beats(&mut rng, b);
    let pitch = LONG / f64::from(ROUNDS);
    let (mut all, mut at): (Vec<Moment>, f64) = (Vec::new(), 0.3);
    for round in 0..ROUNDS {
        at = at.max(0.3 + f64::from(round) * pitch) + 0.02 + 0.01 * rng.random::<f64>();
        let mut order: Vec<usize> = (0..SIZES).collect();
        order.shuffle(&mut rng);
        for i in order {
            let seconds = 5e-6 * (1.0 + (2f64.powf(i as f64 / 2.0)) / 5e3) * (0.03 * normal(&mut rng)).exp();
            let mut lasted = pitch / SIZES as f64 * 0.78 * (0.6 + 0.8 * rng.random::<f64>());
            let mut pauses: Vec<(f64, f64)> = Vec::new();
            let mut next = stops.partition_point(|s| *s < at);
            while let Some(stop) = stops.get(next).filter(|s| **s < at + lasted) {
                pauses.push((*stop, STOP + seconds * (1.0 + rng.random::<f64>())));
                lasted += STOP;
                next += 1;
            }
            let mut other = at;
            loop {
                other += -(1.0 - rng.random::<f64>()).ln() / random.max(1e-9);
                if other >= at + lasted {
                    break;
                }
                pauses.push((other, 3e-5 * (1.0 - rng.random::<f64>()).powf(-0.7)));
            }
            pauses.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.push(Moment {
                size: 1 << (i / 2),
                round,
                at,
                lasted,
                seconds,
                slow: (pauses.len() as u64, (lasted / seconds) as u64),
                pauses: pauses.iter().map(|p| p.0).collect(),
                lengths: pauses.iter().map(|p| p.1).collect(),
            });
            at += lasted + 0.001 + 0.005 * rng.random::<f64>();
        }
    }
    all
}

/// Of runs: how many name the period, how many of their intervals hold it, how many name another, and how many name none.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    right: u64,
    held: u64,
    wrong: u64,
    nothing: u64,
}

fn told(seeds: std::ops::Range<u64>, b: Beats) -> Told {
    let mut sum = Told::default();
    for seed in seeds {
        let random = [0.0, 5.0, 20.0][(seed % 3) as usize];
        let jitter = Jitter::of(&run(seed, b, random));
        let held = |p: &model::Periodic| p.period.low <= b.every && b.every <= p.period.high;
        let right = |p: &model::Periodic| {
            p.source == Source::Pauses && ((p.period.value / b.every - 1.0).abs() < 0.03 || held(p))
        };
        sum.right += u64::from(jitter.periodic.iter().any(right));
        sum.held += u64::from(jitter.periodic.iter().find(|p| right(p)).is_some_and(held));
        sum.wrong += u64::from(jitter.periodic.iter().any(|p| !right(p)));
        sum.nothing += u64::from(jitter.periodic.is_empty());
    }
    sum
}

/// Counted by `cargo test -p pipegauge-model --test beats -- --nocapture`; `BEATS=20` runs as many of each cell.
#[test]
fn a_period_is_said_whose_beats_come_early_or_are_left_out_and_no_multiple_of_it() {
    let runs = std::env::var("BEATS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(4);
    let (mut wrong, mut exact, mut early, mut held) = (0, [0; 2], [0; 2], [0; 2]);
    let mut said = String::new();
    for every in [0.11, 0.23, 0.37, 0.71, 1.13] {
        for off in [0.0, 0.01, 0.03] {
            said += &format!("{every:.2} s, off by {:.0}%:", off * 100.0);
            for missing in [0.0, 0.3, 0.5] {
                let t = told(0..runs, Beats { every, off, missing });
                said += &format!("  {} right, {} held, {} wrong, {} none;", t.right, t.held, t.wrong, t.nothing);
                wrong += t.wrong;
                let sum = if off == 0.0 { &mut exact } else { &mut early };
                if (every < 0.7 || off == 0.0) && missing < 0.5 {
                    *sum = [sum[0] + t.right, sum[1] + runs];
                }
                if off > 0.0 {
                    held = [held[0] + t.held, held[1] + t.right];
                }
            }
            said += "\n";
        }
    }
    println!("{said}");
    assert!(wrong * 100 <= 2 * 45 * runs, "{wrong} say another period:\n{said}");
    for [right, of] in [exact, early] {
        assert!(right * 100 >= of * 95, "{right} of {of} say it:\n{said}");
    }
    assert!(held[0] * 100 >= held[1] * 90, "{held:?} hold it:\n{said}");
}
