//! What `warmup_end` does to flat noise and to real warm-up, over seeded series.

mod noise;

use noise::Noise;
use stats::warmup_end;

/// How many trials were discarded of each of 1000 series, ascending.
fn cuts(n: usize, mut trial: impl FnMut(&mut Noise, usize) -> f64) -> Vec<usize> {
    let mut noise = Noise::new(n as u64);
    let mut cuts: Vec<usize> =
        (0..1000).map(|_| warmup_end(&(0..n).map(|i| trial(&mut noise, i)).collect::<Vec<_>>())).collect();
    cuts.sort_unstable();
    cuts
}

fn discarded(cuts: &[usize], n: usize) -> (usize, f64) {
    let any = cuts.iter().filter(|c| **c > 0).count();
    (any, cuts.iter().sum::<usize>() as f64 / (cuts.len() * n) as f64)
}

#[test]
fn flat_noise_is_left_alone() {
    for n in [5, 20, 50, 200] {
        let found = cuts(n, |noise, _| noise.log_normal(0.02));
        let (any, share) = discarded(&found, n);
        assert!(any <= 15, "{n} trials: {any} of 1000 flat series were cut");
        assert!(share <= 0.004, "{n} trials: {share} of all flat trials were discarded");
    }
}

#[test]
fn outliers_cost_little() {
    for n in [20, 50, 200] {
        let found = cuts(n, |noise, _| noise.contaminated(0.02));
        let (any, share) = discarded(&found, n);
        assert!(any <= 200 && share <= 0.02, "{n} trials, one in ten an outlier: {any} of 1000 cut, share {share}");
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    for n in [20, 50, 200] {
        let found = cuts(n, |noise, i| noise.log_normal(0.02) * if i < n / 5 { 1.2 } else { 1.0 });
        assert_eq!(found[500], n / 5, "{n} trials: the usual cut");
        assert!(found[50] == n / 5, "{n} trials: 95 of 100 cuts take the whole step, found {}", found[50]);
        assert!(found[950] <= n * 2 / 5, "{n} trials: 95 of 100 cuts take little more, found {}", found[950]);
    }
}

#[test]
fn a_fast_start_is_found_as_well_as_a_slow_one() {
    let found = cuts(50, |noise, i| noise.log_normal(0.02) * if i < 5 { 0.85 } else { 1.0 });
    assert_eq!(found[500], 5);
    assert!(found[50] >= 5, "{}", found[50]);
}

#[test]
fn one_cold_first_trial_is_found() {
    for n in [10, 20, 50, 200] {
        let found = cuts(n, |noise, i| noise.log_normal(0.02) * if i == 0 { 1.3 } else { 1.0 });
        assert_eq!(found[500], 1, "{n} trials");
        assert!(found[50] >= 1, "{n} trials: missed in 50 of 1000");
    }
}

#[test]
fn an_exponential_warmup_is_cut_down_to_the_noise() {
    for n in [20, 50, 200] {
        let tau = n as f64 / 20.0;
        let rest = |i: usize| 0.5 * (-(i as f64) / tau).exp();
        let found = cuts(n, |noise, i| noise.log_normal(0.02) * (1.0 + rest(i)));
        // What is left at the cut is within five standard deviations of a single trial, in 95 of 100 series.
        assert!(rest(found[50]) < 0.10, "{n} trials: {} left after {}", rest(found[50]), found[50]);
        assert!(rest(found[500]) < 0.03, "{n} trials: {} left after {}", rest(found[500]), found[500]);
        assert!(found[999] <= n / 2);
    }
}
