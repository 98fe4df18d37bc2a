//! The intervals cover what they claim to, by simulation: each test counts how often the truth, or a second run,
//! falls within. The seeds are fixed, so a failure is a change of the code and never chance.

mod noise;

use noise::Noise;
use stats::{Interval, bootstrap_ratio, median, median_interval, pooled_log_sigma, quotient_interval};

type Draw = fn(&mut Noise) -> f64;

const NORMAL: Draw = |noise| 1.0 + 0.05 * noise.normal();
const LOG_NORMAL: Draw = |noise| noise.log_normal(0.3);
const CONTAMINATED: Draw = |noise| noise.contaminated(0.05);

fn rounds(noise: &mut Noise, k: usize, draw: Draw) -> Vec<f64> {
    (0..k).map(|_| draw(noise)).collect()
}

/// Share of runs of k rounds whose interval holds `truth`.
fn coverage(k: usize, draw: Draw, truth: f64, interval: fn(&[f64]) -> Interval) -> f64 {
    const RUNS: usize = 10_000;
    let mut noise = Noise::new(k as u64);
    let hits = (0..RUNS).filter(|_| interval(&rounds(&mut noise, k, draw)).contains(truth)).count();
    hits as f64 / RUNS as f64
}

fn at_95(rounds: &[f64]) -> Interval {
    median_interval(rounds, 0.95)
}

/// The median of the contaminated noise, which has no closed form.
fn contaminated_median() -> f64 {
    median(&rounds(&mut Noise::new(99), 1_000_000, CONTAMINATED))
}

#[test]
fn the_interval_of_a_quotient_covers_the_quotient() {
    for (k, sigmas) in [(8, (0.05, 0.3)), (12, (0.3, 0.3)), (30, (0.3, 0.05))] {
        let mut noise = Noise::new(k as u64);
        const RUNS: usize = 10_000;
        let figure = |noise: &mut Noise, sigma: f64| {
            let rounds: Vec<f64> = (0..k).map(|_| noise.log_normal(sigma)).collect();
            (median(&rounds), at_95(&rounds))
        };
        let hits = (0..RUNS)
            .filter(|_| {
                let (first, second) = (figure(&mut noise, sigmas.0), figure(&mut noise, sigmas.1));
                quotient_interval(first, second).contains(1.0)
            })
            .count();
        let found = hits as f64 / RUNS as f64;
        assert!((0.93..=0.99).contains(&found), "{k} rounds: {found}");
    }
}

#[test]
fn median_interval_covers_the_median() {
    for (name, draw, truth) in [
        ("normal", NORMAL, 1.0),
        ("log-normal", LOG_NORMAL, 1.0),
        ("contaminated", CONTAMINATED, contaminated_median()),
    ] {
        for k in 3..=12 {
            let found = coverage(k, draw, truth, at_95);
            assert!((0.93..=0.99).contains(&found), "{name}, {k} messages: {found}");
        }
    }
}

#[test]
fn the_coverage_test_notices_an_interval_that_is_too_narrow_or_too_wide() {
    for k in 3..=12 {
        let narrow = coverage(k, LOG_NORMAL, 1.0, |rounds| median_interval(rounds, 0.90));
        assert!(narrow < 0.93, "{k} messages: an interval of 90% passes for one of 95%: {narrow}");
        let wide = coverage(k, LOG_NORMAL, 1.0, |rounds| median_interval(rounds, 0.998));
        assert!(wide > 0.99, "{k} messages: an interval of 99.8% passes for one of 95%: {wide}");
    }
}

#[test]
fn pooled_sigma_is_right_for_any_number_of_rounds_and_ignores_outliers() {
    let mut noise = Noise::new(5);
    for k in 2..=20 {
        let points: Vec<Vec<f64>> = (0..5000).map(|_| (0..k).map(|_| noise.log_normal(0.05)).collect()).collect();
        let found = pooled_log_sigma(&points) / 0.05;
        assert!((found - 1.0).abs() < 0.03, "{k} messages: {found} of the truth");
    }
    let mut mixed: Vec<Vec<f64>> =
        (0..600).map(|i| (0..2 + i % 9).map(|_| noise.contaminated(0.05)).collect()).collect();
    for outlier in mixed.iter_mut().step_by(20) {
        outlier.iter_mut().for_each(|b| *b *= noise.log_normal(3.0));
    }
    let found = pooled_log_sigma(&mixed) / 0.05;
    assert!((1.0..1.35).contains(&found), "with outlying rounds and outlying points: {found} of the clean spread");
}

#[test]
fn bootstrap_ratio_covers_the_ratio_of_twenty_interleaved_pairs() {
    const RUNS: u64 = 2000;
    let mut noise = Noise::new(6);
    let mut hits = 0;
    for seed in 0..RUNS {
        let pairs: Vec<(f64, f64)> = (0..20)
            .map(|_| {
                let drift = noise.log_normal(0.5);
                (1.05 * drift * noise.log_normal(0.05), drift * noise.log_normal(0.05))
            })
            .collect();
        hits += u64::from(bootstrap_ratio(&pairs, 400, seed).1.contains(1.05));
    }
    let found = hits as f64 / RUNS as f64;
    assert!((0.93..=0.99).contains(&found), "{found}");
}
