//! What is said of smooth curves that bend, and what a curve is said to show, under many kinds of noise.

#[path = "noisy/machine.rs"]
mod machine;

use machine::{Noise, bent, measured};
use model::{Breaks, CurvePoint, Dip};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn sizes(many: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..many).map(|i| 8e6f64.powf(i as f64 / (many - 1) as f64).round() as u64).collect();
    all.dedup();
    all
}

/// A bend somewhere: of slope x0.15 to x8, sharp or round.
fn bend(seed: u64) -> impl Fn(f64) -> f64 {
    let at = 10f64.powf(3.0 + 3.7 * ChaCha8Rng::seed_from_u64(seed + 77).random::<f64>());
    let steeper = [0.15, 0.3, 2.0, 4.0, 8.0, 1.0][(seed % 6) as usize];
    let decades = [0.0, 0.1, 0.3, 0.6][(seed / 6 % 4) as usize];
    bent(at, steeper, decades, seed / 24 % 2 == 1 && steeper > 1.0)
}

fn planted(from: f64, decades: f64, factor: f64) -> impl Fn(f64) -> f64 {
    let to = from * 10f64.powf(decades);
    move |x| if (from..to).contains(&x) { factor } else { 1.0 }
}

fn finds(curve: &[CurvePoint], from: f64, decades: f64) -> bool {
    let hit = |d: &Dip| (d.from.above as f64) < from * 10f64.powf(decades) && d.to.below as f64 >= from;
    Breaks::of(curve).dips.iter().any(hit)
}

#[test]
fn a_bend_is_no_step_and_no_dip_in_99_of_100_runs_under_any_noise() {
    const RUNS: u64 = 36;
    let (mut alarms, mut all) = (Vec::new(), 0);
    for rounds in [2, 3, 9, 30] {
        for noise in Noise::ALL {
            for seed in 0..RUNS {
                let seed = seed + 1000 * u64::from(rounds);
                let many = if seed % 4 == 3 { 80 } else { 155 };
                let breaks = Breaks::of(&measured(seed, noise, rounds, &sizes(many), bend(seed)));
                all += 1;
                if !breaks.is_empty() {
                    alarms.push((rounds, noise, seed, breaks.all()));
                }
            }
        }
    }
    assert!(alarms.len() * 100 < all, "{} of {all}: {alarms:#?}", alarms.len());
}

#[test]
fn dips_of_a_twentieth_of_a_decade_are_found_in_thirty_rounds() {
    const RUNS: u64 = 60;
    let of = |noise, factor| {
        let found = (0..RUNS).filter(|seed| {
            let from = 10f64.powf(2.5 + 4.0 * ChaCha8Rng::seed_from_u64(seed + 7).random::<f64>());
            let dip = planted(from, 0.05, factor);
            finds(&measured(*seed, noise, 30, &sizes(155), |x| (10e-6 + 2e-10 * x) * dip(x)), from, 0.05)
        });
        found.count() as u64
    };
    for noise in
        [Noise::Normal(0.03), Noise::Normal(0.05), Noise::States(1, 0.2), Noise::States(40, 0.3), Noise::Red(0.9)]
    {
        let found = of(noise, 1.5);
        assert!(found >= RUNS * 95 / 100, "x1.5, {noise:?}: {found} of {RUNS}");
    }
    for noise in [Noise::Normal(0.03), Noise::Normal(0.05), Noise::Red(0.9), Noise::Uneven] {
        let found = of(noise, 1.2);
        assert!(found >= RUNS * 9 / 10, "x1.2, {noise:?}: {found} of {RUNS}");
    }
}

#[test]
fn sizes_that_one_round_visited_are_no_dips() {
    let mut wrong = 0;
    for seed in 0..200 {
        // Noise with a long tail, and every tenth size met in one round alone.
        let mut curve = measured(seed, Noise::Heavy(1.1), 9, &sizes(155), bend(seed));
        for point in curve.iter_mut().step_by(10) {
            point.rounds.truncate(1);
            point.seconds = point.rounds[0].1;
        }
        wrong += u64::from(!Breaks::of(&curve).is_empty());
    }
    assert!(wrong < 2, "{wrong} of 200");
}

#[test]
fn a_dip_as_deep_as_is_said_to_show_is_found_in_9_of_10() {
    const RUNS: u64 = 24;
    for (rounds, many) in [(3, 155), (9, 155), (30, 155), (30, 80), (9, 40)] {
        let (mut found, mut all, mut missed) = (0, 0, Vec::new());
        for noise in
            [Noise::Normal(0.03), Noise::Normal(0.05), Noise::Heavy(1.5), Noise::States(1, 0.2), Noise::Red(0.9)]
        {
            for seed in 0..RUNS {
                let mut rng = ChaCha8Rng::seed_from_u64(seed + 7);
                let smooth = bent(
                    10f64.powf(3.0 + 3.7 * rng.random::<f64>()),
                    [0.3, 2.0, 4.0, 1.0][(seed % 4) as usize],
                    0.3,
                    false,
                );
                let Some(sight) = Breaks::of(&measured(seed, noise, rounds, &sizes(many), &smooth)).sight else {
                    continue;
                };
                assert!(many > 100 || sight.decades > 0.05, "sizes lie farther apart than the dip is wide");
                let room = (sight.to as f64 / sight.from as f64).log10() - sight.decades;
                let mut from = sight.from as f64 * 10f64.powf(room * rng.random::<f64>());
                if from.ceil() >= from * 10f64.powf(sight.decades) {
                    from = from.ceil();
                }
                let dip = planted(from, sight.decades, 1.0 + sight.share);
                let curve = measured(seed + 1000, noise, rounds, &sizes(many), |x| smooth(x) * dip(x));
                all += 1;
                if finds(&curve, from, sight.decades) { found += 1 } else { missed.push((noise, from, sight)) }
            }
        }
        assert!(found * 10 >= all * 9, "{rounds} rounds of {many} sizes: {found} of {all}, not {missed:?}");
    }
}

/// As often as it says: 9 of 10 steps that are as high are found where they lie.
#[test]
fn steps_as_high_as_a_curve_says_it_shows_are_found() {
    for (rounds, many) in [(9, 155), (9, 40), (30, 40)] {
        let (mut found, mut all, mut untold) = (0, 0, 0);
        for noise in [Noise::Normal(0.03), Noise::Heavy(1.5), Noise::States(1, 0.2)] {
            for seed in 0..12 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed + 70);
                let smooth = bent(10f64.powf(3.0 + 3.7 * rng.random::<f64>()), 2.0, 0.3, false);
                let sizes = sizes(many);
                let told = Breaks::of(&measured(seed, noise, rounds, &sizes, &smooth));
                let Some(share) = told.step_share else {
                    untold += 1;
                    continue;
                };
                // Not at the ends, where there is too little beside it.
                let at = sizes[4 + (rng.random::<f64>() * (sizes.len() - 8) as f64) as usize];
                let curve = measured(seed + 1000, noise, rounds, &sizes, |x| {
                    smooth(x) * if x < at as f64 { 1.0 } else { 1.0 + share }
                });
                all += 1;
                let steps = Breaks::of(&curve).steps;
                found += u32::from(steps.iter().any(|s| s.at.below < at && s.at.above >= at));
            }
        }
        // Of forty sizes there are places at which no step shows, however high: then none is promised.
        assert!(
            found * 10 >= all * 9 && (many < 100 || all > untold),
            "{rounds} rounds of {many} sizes: {found} of {all}, {untold} say none"
        );
    }
}

#[test]
fn a_curve_that_can_show_no_dip_says_so() {
    let line = |x: f64| 10e-6 + 2e-10 * x;
    let once = Breaks::of(&measured(1, Noise::Normal(0.03), 1, &sizes(155), line));
    assert_eq!((once.sight, once.sensitivity), (None, f64::INFINITY), "one round tells no stray message from a dip");
    let coarse = Breaks::of(&measured(1, Noise::Normal(0.03), 9, &sizes(46), line));
    assert_eq!(coarse.sensitivity, f64::INFINITY, "a twentieth of a decade lies between two sizes");
    assert!(coarse.sight.is_some_and(|s| s.decades >= 0.15), "{:?}", coarse.sight);
}
