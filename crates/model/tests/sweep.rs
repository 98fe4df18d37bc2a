//! Effects, interactions and choices of sweeps whose truth is known.

use model::sweep::{Better, Design, Readings};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A figure that two axes act on, alone and together: levels multiply by 2 and 3 (first axis) and by 5 (second), together by 7 more.
fn truth(levels: &[usize]) -> f64 {
    [1.0, 2.0, 3.0][levels[0]] * [1.0, 5.0][levels[1]] * if levels == [1, 1] { 7.0 } else { 1.0 }
}

/// Readings of `rounds` rounds: each has a state of its own that all its cells share, each reading its own noise.
fn read(design: Design, rounds: usize, noise: f64, seed: u64, truth: impl Fn(&[usize]) -> f64) -> Readings {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = move || {
        let (u, v): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random());
        (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
    };
    let cells = design.cells().unwrap();
    let mut all = Readings::new(design, rounds);
    for round in 0..rounds {
        let state = 0.3 * normal();
        for cell in 0..cells {
            let figure = truth(&all.design().cell(cell)) * (state + noise * normal()).exp();
            all.take(cell, round, figure);
        }
    }
    all
}

#[test]
fn effects_and_interactions_of_a_known_figure_are_exact() {
    let all = read(Design::new(vec![3, 2]), 6, 0.0, 1, truth);
    let effects: Vec<_> = all.effects().into_iter().map(|e| (e.axis, e.level, e.ratio.value, e.pairs)).collect();
    // The geometric mean over the other axis's levels: 2 and 2*7; 3 and 3; 5, 5*7 and 5.
    let wanted = [(0, 1, 2.0 * 7f64.sqrt(), 2), (0, 2, 3.0, 2), (1, 1, 5.0 * 7f64.cbrt(), 3)];
    for (found, wanted) in effects.iter().zip(&wanted) {
        assert_eq!((found.0, found.1, found.3), (wanted.0, wanted.1, wanted.3));
        assert!((found.2 / wanted.2 - 1.0).abs() < 1e-9, "{found:?}");
    }
    assert_eq!(effects.len(), 3);
    let interactions = all.interactions();
    assert_eq!(interactions.len(), 2);
    assert!((interactions[0].ratio.value - 7.0).abs() < 1e-9 && (interactions[1].ratio.value - 1.0).abs() < 1e-9);
    // What a round's state did to all its cells is no error of a ratio.
    assert!(interactions[0].ratio.low > 6.99 && interactions[0].ratio.high < 7.01, "{interactions:?}");
    assert!(interactions[0].told && !interactions[1].told);
    // What is shown as 1.000 is not told, however exact it is.
    let nearly = read(Design::new(vec![2, 2]), 6, 0.0, 1, |l| if l == [1, 1] { 1.0001 } else { 1.0 });
    assert!(!nearly.interactions()[0].told, "{:?}", nearly.interactions());
}

#[test]
fn intervals_of_effects_hold_the_truth_as_often_as_they_say() {
    let (mut held, mut all, mut seen) = (0, 0, 0);
    for seed in 0..200 {
        let found = read(Design::new(vec![2, 2]), 6, 0.02, seed, |l| if l[0] == 1 { 1.1 } else { 1.0 });
        for effect in found.effects() {
            let truth = if effect.axis == 0 { 1.1 } else { 1.0 };
            all += 1;
            held += i32::from(effect.ratio.low <= truth && truth <= effect.ratio.high);
            seen += i32::from(effect.axis == 0 && effect.ratio.low > 1.0);
        }
    }
    assert!(held * 100 >= 94 * all, "{held} of {all} intervals hold the truth");
    assert!(seen >= 180, "an effect of 10% under 2% of noise is seen: {seen} of 200");
}

#[test]
fn the_best_cell_is_named_with_those_that_are_not_told_from_it() {
    // Cells 2 and 3 are fastest, and equal.
    let all = read(Design::new(vec![2, 2]), 6, 0.01, 3, |l| if l[0] == 1 { 1.0 } else { 2.0 });
    let choice = all.choice(Better::Lower).unwrap();
    assert!([2, 3].contains(&choice.best));
    let mut worse = choice.worse.clone();
    worse.sort_unstable();
    assert_eq!(worse, [0, 1]);
    assert_eq!(choice.alike.len(), 1);
    assert_eq!(choice.advised, 2, "of equals the one that changes least");
    let over = choice.over_first.unwrap();
    assert!(over.low < 0.5 && over.high > 0.5 && over.high < 0.6, "{over:?}");
    // Of rates the other half is best, and the first cell among them.
    let choice = all.choice(Better::Higher).unwrap();
    assert_eq!((choice.advised, choice.worse.len()), (0, 2));
}

#[test]
fn a_best_cell_among_equals_is_seldom_told_from_them() {
    let wrong = (0..200).filter(|seed| {
        let all = read(Design::new(vec![4, 2]), 6, 0.02, *seed, |_| 1.0);
        !all.choice(Better::Lower).unwrap().worse.is_empty()
    });
    let wrong = wrong.count();
    assert!(wrong <= 20, "{wrong} of 200 sweeps of equal cells call one worse");
}

#[test]
fn missing_cells_and_rounds_leave_what_the_others_tell() {
    let design = Design::new(vec![2, 2]);
    let mut all = Readings::new(design, 5);
    for round in 0..5 {
        all.take(0, round, 1.0);
        all.take(2, round, 2.0);
        // The last round was cut before the second pair.
        if round < 4 {
            all.take(1, round, 10.0);
        }
    }
    let effects = all.effects();
    // No pair tells the first axis at the second's other level: cell 3 was never measured.
    assert_eq!(effects.len(), 2);
    assert_eq!((effects[0].ratio.value, effects[0].pairs), (2.0, 1));
    assert!((effects[1].ratio.value - 10.0).abs() < 1e-9 && effects[1].pairs == 1);
    assert!(all.interactions().is_empty());
    let choice = all.choice(Better::Lower).unwrap();
    assert_eq!((choice.best, choice.over_first), (0, None));
    assert!(Readings::new(Design::new(vec![2]), 0).choice(Better::Lower).is_none());
}
