//! Comparisons whose truth is known.

mod noisy;

use model::{Comparison, CurvePoint, Side};
use noisy::{Noisy, sizes};

fn compare(a: &[Vec<CurvePoint>], b: &[Vec<CurvePoint>]) -> Comparison {
    Comparison::of(Side::of(a), Side::of(b)).unwrap()
}

fn line(x: f64) -> f64 {
    1e-5 + 2e-10 * x
}

#[test]
fn two_runs_of_one_thing_do_not_differ() {
    const RUNS: u64 = 400;
    let sizes = sizes(8e6, 130);
    let mut differ = 0;
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        differ += u64::from(compare(&[noisy.curve(&sizes, line)], &[noisy.curve(&sizes, line)]).differs());
    }
    assert!(differ * 20 <= RUNS, "{differ} of {RUNS} pairs of equal runs were said to differ");
}

#[test]
fn runs_that_stand_at_levels_of_their_own_do_not_differ_either() {
    // Each run as a whole is off by as much as one block is: what 1/f noise does.
    const RUNS: u64 = 400;
    let sizes = sizes(8e6, 130);
    let mut differ = 0;
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        let mut run = || {
            let level = (noisy.common * noisy.normal()).exp();
            noisy.curve(&sizes, |x| line(x) * level)
        };
        differ += u64::from(compare(&[run()], &[run()]).differs());
    }
    assert!(differ * 20 <= RUNS, "{differ} of {RUNS} pairs of equal runs were said to differ");
}

#[test]
fn what_the_machines_own_pace_explains_is_no_difference_and_what_goes_beyond_is() {
    const RUNS: u64 = 100;
    let sizes = sizes(8e6, 130);
    let read = |noisy: &mut Noisy, level: f64| {
        let seconds = (0..11).map(|_| 3e-5 * level * (0.01 * noisy.normal()).exp()).collect();
        let paces = vec![model::Pace { what: "wake-up round trip".to_owned(), seconds }];
        model::Circumstances { paces, foreign: Some(0.01), ..model::Circumstances::default() }
    };
    let (mut differ, mut missed) = (0, 0);
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        let a = [noisy.curve(&sizes, line)];
        let moved = [noisy.curve(&sizes, |x| line(x) * 1.5)];
        let better = [noisy.curve(&sizes, |x| line(x) / 1.8)];
        let (fast, slow) = ([read(&mut noisy, 1.0)], [read(&mut noisy, 2.0)]);
        let first = Side { circumstances: &fast, ..Side::of(&a) };
        let same = Comparison::of(first, Side { circumstances: &slow, ..Side::of(&moved) }).unwrap();
        assert!((same.machine[0].ratio - 2.0).abs() < 0.1, "{:?}", same.machine);
        assert!(same.whole.low < 1.0 && same.whole.high > 1.4, "{:?}", same.whole);
        differ += u64::from(same.differs());
        // Slower CPUs don't make a path faster.
        let found = Comparison::of(first, Side { circumstances: &slow, ..Side::of(&better) }).unwrap();
        missed += u64::from(!(found.differs() && found.whole.high < 1.0));
        assert!(compare(&a, &moved).differs(), "without readings nobody can know");
    }
    assert!(differ * 20 <= RUNS, "{differ} of {RUNS} pairs were said to differ by what their machine did");
    assert!(missed * 20 <= RUNS, "{missed} of {RUNS} paths that are faster on a slower machine were missed");
}

#[test]
fn a_difference_that_others_may_have_made_is_none_and_equal_sides_are_equal_all_the_same() {
    let sizes = sizes(8e6, 130);
    let mut noisy = Noisy::new(5);
    let (a, same) = ([noisy.curve(&sizes, line)], [noisy.curve(&sizes, line)]);
    let slower = [noisy.curve(&sizes, |x| line(x) * 3.0)];
    let took = |share| [model::Circumstances { foreign: Some(share), ..model::Circumstances::default() }];
    let (none, much) = (took(0.01), took(0.9));
    let of = |runs, circumstances| {
        Comparison::of(Side { circumstances: &none, ..Side::of(&a) }, Side { circumstances, ..Side::of(runs) }).unwrap()
    };
    let found = of(&slower, &much);
    assert!(!found.differs() && found.disturbed.is_some_and(|d| d.undecided), "{:?}", found.disturbed);
    assert!(
        found.whole.value > 2.5 && found.whole.low == 0.0 && found.whole.high == f64::INFINITY,
        "{:?}",
        found.whole
    );
    assert!(found.sizes.iter().all(|s| s.probability == 1.0 && !s.ratio.value.is_nan() && s.ratio.low == 0.0));
    let found = of(&same, &much);
    assert!(
        !found.differs() && found.disturbed.is_some_and(|d| !d.undecided) && found.whole.high < 1.2,
        "{:?}",
        found.whole
    );
    assert!(of(&slower, &none).differs() && of(&slower, &none).disturbed.is_none());
}

#[test]
fn a_faster_path_is_found_where_it_is_faster_and_only_there() {
    let sizes = sizes(8e6, 130);
    let mut noisy = Noisy::new(5);
    let faster = |x: f64| if x >= 65_536.0 { line(x) / 1.8 } else { line(x) };
    let found = compare(&[noisy.curve(&sizes, line)], &[noisy.curve(&sizes, faster)]);
    assert_eq!(found.stretches.len(), 2, "{:?}", found.stretches);
    assert!(!found.stretches[0].differs && found.stretches[1].differs);
    assert!((60_000..75_000).contains(&found.stretches[1].from), "{:?}", found.stretches);
    assert!((found.stretches[1].ratio * 1.8 - 1.0).abs() < 0.06, "{:?}", found.stretches);
    let throughput = found.throughput.unwrap();
    assert!(throughput.low < 1.8 && 1.8 < throughput.high && throughput.low > 1.5, "{throughput:?}");
    let large = found.sizes.last().unwrap();
    assert!(large.ratio.low < 1.0 / 1.8 && 1.0 / 1.8 < large.ratio.high, "{large:?}");
}

#[test]
fn a_crossover_is_where_the_curves_cross() {
    let sizes = sizes(8e6, 130);
    let mut noisy = Noisy::new(6);
    // Equal at 100 kB: a slow start and cheap bytes against a quick start and dear bytes.
    let quick = |x: f64| 1e-5 + 5e-10 * x;
    let cheap = |x: f64| 5e-5 + 1e-10 * x;
    let found = compare(&[noisy.curve(&sizes, quick)], &[noisy.curve(&sizes, cheap)]);
    assert_eq!(found.crossovers.len(), 1, "{:?}", found.stretches);
    let (from, to) = found.crossovers[0];
    assert!(from < 100_000 && 100_000 < to && to < 3 * from, "{from} {to}");
}

#[test]
fn repeats_make_a_small_difference_clear() {
    let sizes = sizes(8e6, 60);
    let mut noisy = Noisy::new(7);
    (noisy.common, noisy.own) = (0.01, 0.005);
    let slower = |x: f64| line(x) * 1.02;
    let one = compare(&[noisy.curve(&sizes, line)], &[noisy.curve(&sizes, slower)]);
    let a: Vec<_> = (0..8).map(|_| noisy.curve(&sizes, line)).collect();
    let b: Vec<_> = (0..8).map(|_| noisy.curve(&sizes, slower)).collect();
    let eight = compare(&a, &b);
    assert!(!one.differs() && eight.differs(), "{:?} {:?}", one.whole, eight.whole);
    assert!(eight.whole.low > 1.005 && eight.whole.high < 1.035, "{:?}", eight.whole);
}

/// Sizes from `from` to 8 MB, each larger by `step`.
fn grid(from: f64, step: f64) -> Vec<u64> {
    let many = ((8e6 / from).ln() / step.ln()) as i32;
    (0..=many).map(|i| (from * step.powi(i)).round() as u64).collect()
}

#[test]
fn two_runs_of_one_thing_on_other_sizes_do_not_differ() {
    const RUNS: u64 = 300;
    let (ours, theirs) = (grid(32.0, 1.1), grid(33.5, 1.12));
    let (mut differ, mut held, mut all) = (0, 0, 0);
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        let found = compare(&[noisy.curve(&ours, line)], &[noisy.curve(&theirs, line)]);
        differ += u64::from(found.differs());
        assert!(found.sizes.len() > 100, "{}", found.sizes.len());
        let guessed = || found.sizes.iter().filter(|s| s.first_interpolated);
        assert!(guessed().count() > 90 && found.sizes.iter().all(|s| !s.second_interpolated));
        all += guessed().count();
        held += guessed().filter(|s| s.ratio.low <= 1.0 && 1.0 <= s.ratio.high).count();
    }
    assert!(differ * 20 <= RUNS, "{differ} of {RUNS} pairs of equal runs were said to differ");
    assert!(held * 100 >= all * 95, "{held} of {all} intervals held the truth");
}

#[test]
fn a_faster_path_is_found_on_other_sizes_too() {
    let mut noisy = Noisy::new(5);
    let faster = |x: f64| if x >= 65_536.0 { line(x) / 1.8 } else { line(x) };
    let (ours, theirs) = (noisy.curve(&grid(32.0, 1.1), line), noisy.curve(&grid(33.5, 1.12), faster));
    let found = compare(&[ours], &[theirs]);
    assert_eq!(found.stretches.len(), 2, "{:?}", found.stretches);
    assert!(!found.stretches[0].differs && found.stretches[1].differs);
    assert!((60_000..80_000).contains(&found.stretches[1].from), "{:?}", found.stretches);
    let large = found.sizes.last().unwrap();
    assert!(large.first_interpolated && large.ratio.low < 1.0 / 1.8 && 1.0 / 1.8 < large.ratio.high, "{large:?}");
}

#[test]
fn repeats_on_other_sizes_are_aligned_with_one_another() {
    let mut noisy = Noisy::new(8);
    let slower = |x: f64| line(x) * 1.1;
    let a: Vec<_> = (0..3).map(|i| noisy.curve(&grid(32.0 + f64::from(i), 1.1), line)).collect();
    let b: Vec<_> = (0..3).map(|i| noisy.curve(&grid(40.0 + f64::from(i), 1.1), slower)).collect();
    let found = compare(&a, &b);
    assert!(found.differs() && found.whole.low < 1.1 && 1.1 < found.whole.high, "{:?}", found.whole);
}

#[test]
fn odd_sides_are_answered_without_nan() {
    let none: &[Vec<CurvePoint>] = &[];
    let a = [Noisy::new(1).curve(&[1, 2, 4], line)];
    assert_eq!(Comparison::of(Side::of(none), Side::of(&a)), None);
    let b = [Noisy::new(1).curve(&[3, 5], line)];
    assert_eq!(Comparison::of(Side::of(&b), Side::of(&a)), None, "no size in common");
    let point = CurvePoint { size: 4, seconds: 1e-5, blocks: vec![(1, 1e-5)], throughput: 1.0, interval: None };
    let lone = [vec![point]];
    let found = compare(&a, &lone);
    assert_eq!((found.sizes.len(), found.left_out), (1, 2));
    assert!(!found.differs(), "one block says nothing of its own error");
    let json = serde_json::to_string(&found).unwrap();
    assert!(!json.contains("NaN"), "{json}");
    let same = compare(&lone, &lone);
    assert!(!same.differs());
}
