//! Comparisons whose truth is known.

mod noisy;
mod said;

use model::{Comparison, CurvePoint, Side};
use noisy::{Noisy, sizes};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use said::Said;

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
    // Each run as a whole is off by as much as one round is: what 1/f noise does.
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
    // One in twenty, with a standard error of so many.
    assert!(differ <= RUNS / 20 + 5, "{differ} of {RUNS} pairs of equal runs were said to differ");
}

#[test]
fn what_the_machine_itself_explains_is_no_difference_and_what_goes_beyond_is() {
    const RUNS: u64 = 100;
    let sizes = sizes(8e6, 130);
    let read = |noisy: &mut Noisy, level: f64| {
        let seconds = (0..11).map(|_| 3e-5 * level * (0.01 * noisy.normal()).exp()).collect();
        let calibrations = vec![model::MachineReadings { what: "wake-up round trip".to_owned(), seconds }];
        model::Circumstances { calibrations, programs: Some(0.01), ..model::Circumstances::default() }
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
fn a_difference_of_all_sizes_together_that_others_may_have_made_is_none_either() {
    let sizes = sizes(8e6, 130);
    let took = |share| [model::Circumstances { programs: Some(share), ..model::Circumstances::default() }];
    let (none, much) = (took(0.01), took(0.9));
    let mut tried = 0;
    for (seed, times) in (0..10).flat_map(|seed| [1.02, 1.04, 1.06].map(|times| (seed, times))) {
        let mut noisy = Noisy::new(seed);
        let (a, slower) = ([noisy.curve(&sizes, line)], [noisy.curve(&sizes, |x| line(x) * times)]);
        let of = |circumstances| {
            let first = Side { circumstances: &none, ..Side::of(&a) };
            Comparison::of(first, Side { circumstances, ..Side::of(&slower) }).unwrap()
        };
        let quiet = of(&none);
        if quiet.stretches.iter().any(|s| s.differs) || !quiet.differs_as_whole() {
            continue;
        }
        tried += 1;
        let found = of(&much);
        assert!(found.disturbed.is_some_and(|d| d.undecided) && !found.differs_as_whole(), "{:?}", found.whole);
    }
    assert!(tried > 0, "no pair differed over all sizes alone");
}

#[test]
fn a_difference_that_others_may_have_made_is_none_and_equal_sides_are_equal_all_the_same() {
    let sizes = sizes(8e6, 130);
    let mut noisy = Noisy::new(5);
    let (a, same) = ([noisy.curve(&sizes, line)], [noisy.curve(&sizes, line)]);
    let slower = [noisy.curve(&sizes, |x| line(x) * 3.0)];
    let took = |share| [model::Circumstances { programs: Some(share), ..model::Circumstances::default() }];
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
    let point =
        CurvePoint { size: 4, seconds: 1e-5, rounds: vec![(1, 1e-5)], throughput: 1.0, interval: None, rounding: 0.0 };
    let lone = [vec![point]];
    let found = compare(&a, &lone);
    assert_eq!((found.sizes.len(), found.left_out), (1, 2));
    assert!(!found.differs(), "one message says nothing of its own error");
    let json = serde_json::to_string(&found).unwrap();
    assert!(!json.contains("NaN"), "{json}");
    let same = compare(&lone, &lone);
    assert!(!same.differs());
}

/// A run of 30 rounds of 40 sizes up to 1 MiB in a machine's time of 12 s: noise of 3% of each round and of each size, and states of
/// x1.5 that last so many seconds on average and that only sizes above 16 KiB feel.
fn with_states_of_large_sizes(seed: u64, lasting: f64, factor: f64) -> Vec<CurvePoint> {
    const ROUNDS: u32 = 30;
    let sizes = sizes((1u64 << 20) as f64, 46);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut noisy = Noisy::new(seed ^ 0x5174);
    let mut slow = rng.random::<bool>();
    let mut until = 0.0;
    let mut times: Vec<Vec<(u32, f64)>> = vec![Vec::new(); sizes.len()];
    let pitch = 12.0 / f64::from(ROUNDS) / sizes.len() as f64;
    let mut now = 0.0;
    for round in 0..ROUNDS {
        let level = 0.03 * noisy.normal();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.shuffle(&mut rng);
        for i in order {
            while now >= until {
                slow = !slow;
                until += -lasting * (1.0 - rng.random::<f64>()).ln();
            }
            now += pitch;
            let state: f64 = if slow && sizes[i] > 16 << 10 { 1.5 } else { 1.0 };
            let own = (level + 0.03 * noisy.normal()).exp();
            times[i].push((round, line(sizes[i] as f64) * factor * state * own));
        }
    }
    sizes
        .iter()
        .zip(times)
        .map(|(&size, rounds)| {
            let seconds = stats::median(&rounds.iter().map(|b| b.1).collect::<Vec<_>>());
            CurvePoint::of(size, seconds, rounds)
        })
        .collect()
}

#[test]
fn states_that_only_large_sizes_feel_make_no_difference_of_two_runs_of_one_thing() {
    const RUNS: u64 = 100;
    for lasting in [0.05, 0.5, 2.0] {
        let mut differ = 0;
        for seed in 0..RUNS {
            let run = |number: u64| [with_states_of_large_sizes(2 * seed + number, lasting, 1.0)];
            differ += u64::from(compare(&run(0), &run(1)).differs());
        }
        println!("states of {lasting} s: {differ} of {RUNS}");
        assert!(differ * 20 <= RUNS, "states of {lasting} s: {differ} of {RUNS} were said to differ");
    }
}

#[test]
fn small_sizes_that_differ_are_found_beside_large_ones_that_a_state_unsettles() {
    let found = |seed: u64| {
        let of = |number: u64, factor| with_states_of_large_sizes(1000 + 2 * seed + number, 0.5, factor);
        compare(&[of(0, 1.0)], &[of(1, 1.3)]).stretches.first().is_some_and(|s| s.differs && s.from == 1)
    };
    assert!((0..20).filter(|seed| found(*seed)).count() >= 18);
}

#[test]
fn below_four_rounds_a_side_there_is_no_interval_and_no_verdict() {
    let sizes = sizes(8e6, 40);
    let run = |seed: u64, rounds: usize, factor: f64| {
        let mut curve = Noisy::new(seed).curve(&sizes, |x| line(x) * factor);
        curve.iter_mut().for_each(|p| p.rounds.truncate(rounds));
        curve
    };
    for rounds in 1..4 {
        let found = compare(&[run(1, rounds, 1.0)], &[run(2, 10, 3.0)]);
        assert_eq!(found.few_rounds, Some(rounds as u32));
        assert!(!found.differs() && found.sizes.iter().all(|s| !s.significant), "{rounds} rounds");
        let open = |e: &model::Estimate| e.low == 0.0 && e.high == f64::INFINITY;
        assert!(open(&found.whole) && found.sizes.iter().all(|s| open(&s.ratio)), "{:?}", found.whole);
        assert!(found.throughput.is_some_and(|t| open(&t)));
        assert!((2.5..3.5).contains(&found.whole.value), "the ratio itself is told");
    }
    let found = compare(&[run(1, 4, 1.0)], &[run(2, 10, 3.0)]);
    assert!(found.few_rounds.is_none() && found.differs());
    // Rounds of a side are those of all its runs.
    let twice = |factor| [run(3, 2, factor), run(4, 2, factor)];
    assert!(compare(&twice(1.0), &twice(3.0)).few_rounds.is_none());
}

#[test]
fn the_level_of_a_round_counts_once_in_an_interval() {
    // Rounds lie 10% apart and sizes hardly at all: an interval is as wide as the levels make it, and no wider.
    let sizes = sizes(8e6, 60);
    let (mut size, mut whole) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let mut noisy = Noisy::new(seed);
        (noisy.common, noisy.own) = (0.1, 0.001);
        let found = compare(&[noisy.curve(&sizes, line)], &[noisy.curve(&sizes, line)]);
        size.push((found.sizes[30].ratio.high / found.sizes[30].ratio.low).ln());
        whole.push((found.whole.high / found.whole.low).ln());
    }
    let (size, whole) = (stats::median(&size), stats::median(&whole));
    assert!(size < 1.03 * whole, "{size} {whole}");
}

/// The hypervisor keeps 12% of a CPU from one side: that makes times at most a seventh longer, and no difference of ten times.
#[test]
fn what_the_hypervisor_kept_explains_no_more_than_its_share() {
    let sizes = sizes(8e6, 130);
    let kept =
        |share| [model::Circumstances { programs: Some(0.01), stolen: Some(share), ..model::Circumstances::default() }];
    let (none, some) = (kept(0.0), kept(0.12));
    let of = |times: f64, with: &[model::Circumstances]| {
        let mut noisy = Noisy::new(5);
        let (a, b) = ([noisy.curve(&sizes, line)], [noisy.curve(&sizes, |x| line(x) * times)]);
        let first = Side { circumstances: &none, ..Side::of(&a) };
        Comparison::of(first, Side { circumstances: with, ..Side::of(&b) }).unwrap()
    };
    let far = of(10.0, &some);
    assert!(far.differs() && far.disturbed.is_some_and(|d| !d.undecided), "{:?}", far.whole);
    // What the share may explain is in the interval.
    assert!(far.whole.low < 10.0 / 1.13 && far.whole.low > 5.0 && far.whole.high > 11.3, "{:?}", far.whole);
    let near = of(1.1, &some);
    assert!(!near.differs() && near.disturbed.is_some_and(|d| d.undecided), "{:?}", near.whole);
    assert!(of(1.1, &none).differs());
    let stopped = of(10.0, &kept(1.0));
    assert!(!stopped.differs() && stopped.disturbed.is_some_and(|d| d.undecided), "nothing bounds that");
}
