//! Intervals of points: what they are made of, each part of them told apart.

mod noise;

use noise::Noise;
use stats::{Interval, Moves, Shared, point_interval, rounds_interval};

/// Rounds at one level, 1% apart.
const ROUNDS: [f64; 8] = [1.0, 1.01, 0.99, 1.005, 0.995, 1.01, 0.99, 1.0];

/// What a path's points share: noise of 1%, and the levels of its rounds.
fn shared(levels: &[f64]) -> Shared {
    Shared { sigma: 0.01, moves: Moves::of(levels), ..Shared::default() }
}

/// Levels that lie so far to either side of their middle, in no order that lasts.
fn apart(by: f64) -> Vec<f64> {
    [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0].map(|side| side * by).to_vec()
}

fn half_width(interval: Interval) -> f64 {
    (interval.high / interval.low).ln() / 2.0
}

#[test]
fn fewer_than_four_rounds_of_a_point_or_of_a_path_make_no_interval() {
    let path = shared(&apart(0.01));
    for k in 0..=8 {
        assert_eq!(point_interval(&ROUNDS[..k], &path, 0.95).is_some(), k >= 4, "{k} rounds of a point");
        assert_eq!(rounds_interval(&ROUNDS[..k], 0.95).is_some(), k >= 4, "{k} rounds alone");
        let path = shared(&apart(0.01)[..k]);
        assert_eq!(point_interval(&ROUNDS, &path, 0.95).is_some(), k >= 4, "{k} rounds of the path");
    }
}

#[test]
fn states_that_outlast_the_run_make_no_interval_and_within_the_noise_they_do_not_matter() {
    let step = |by: f64| [0.0, 0.0, 0.0, 0.0, by, by, by, by].map(|l| l + 1e-4).to_vec();
    assert_eq!(point_interval(&ROUNDS, &shared(&step(0.4)), 0.95), None);
    assert!(point_interval(&ROUNDS, &shared(&step(0.004)), 0.95).is_some());
    let rounds: Vec<f64> = step(0.4).iter().map(|l| l.exp()).collect();
    assert_eq!(rounds_interval(&rounds, 0.95), None);
}

#[test]
fn the_level_of_the_whole_curve_is_as_uncertain_as_its_rounds_say() {
    let of = |by: f64| half_width(point_interval(&ROUNDS, &shared(&apart(by)), 0.95).unwrap());
    let (still, moved) = (of(0.0), of(0.1));
    assert!(still < 0.02 && moved > 0.05, "{still} {moved}");
    // Errors that are independent add up as squares; the level's alone is what rounds alone say.
    let rounds: Vec<f64> = apart(0.1).iter().map(|l| l.exp()).collect();
    let level = half_width(rounds_interval(&rounds, 0.95).unwrap());
    assert!(moved >= level * 0.99 && moved < level + still, "{moved} of {level} and {still}");
}

#[test]
fn the_noise_of_all_sizes_is_a_floor_for_a_point_whose_rounds_agree() {
    let of = |sigma: f64| {
        let path = Shared { sigma, ..shared(&apart(0.0)) };
        half_width(point_interval(&[1.0; 8], &path, 0.95).unwrap())
    };
    assert!(of(0.0) < 1e-12 && of(0.05) > 0.03 && of(0.1) > 1.9 * of(0.05), "{} {}", of(0.05), of(0.1));
}

#[test]
fn points_and_rounds_alone_cover_their_truth() {
    let mut noise = Noise::new(21);
    let (mut point, mut alone) = (0, 0);
    const RUNS: usize = 4000;
    for _ in 0..RUNS {
        let levels: Vec<f64> = (0..12).map(|_| 0.03 * noise.normal()).collect();
        let rounds: Vec<f64> = (0..12).map(|_| (0.03 * noise.normal()).exp()).collect();
        // A level of the run's middle is taken off every point alike.
        let middle = stats::median(&levels);
        let about: Vec<f64> = levels.iter().map(|l| l - middle).collect();
        let at_level: Vec<f64> = rounds.iter().map(|t| t * middle.exp()).collect();
        let path = Shared { sigma: 0.03, moves: Moves::of(&about), ..Shared::default() };
        point += usize::from(point_interval(&at_level, &path, 0.95).unwrap().contains(1.0));
        let both: Vec<f64> = rounds.iter().zip(&levels).map(|(t, l)| t * l.exp()).collect();
        alone += usize::from(rounds_interval(&both, 0.95).is_some_and(|i| i.contains(1.0)));
    }
    let (point, alone) = (point as f64 / RUNS as f64, alone as f64 / RUNS as f64);
    assert!((0.93..=0.99).contains(&point) && (0.92..=0.99).contains(&alone), "{point} {alone}");
}
