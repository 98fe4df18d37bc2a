//! Dips and steps on curves whose truth is known.

mod noisy;

use model::{Break, Breaks, CurvePoint, Estimate, fate};
use noisy::{Noisy, sizes};

/// As the evaluator leaves a curve: 0.045 decades between sizes, and edges bisected to 0.4%.
fn refined(to: f64, edges: &[u64]) -> Vec<u64> {
    let mut all = sizes(to, 155);
    for &edge in edges {
        let (mut below, mut above) = (edge as f64 / 1.1, edge as f64 * 1.1);
        while above / below > 1.004 {
            let middle = (below * above).sqrt();
            all.push(middle.round() as u64);
            if middle < edge as f64 { below = middle } else { above = middle }
        }
        all.extend([below.round() as u64, above.round() as u64]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn holds(e: Estimate, truth: f64) -> bool {
    e.low <= truth && truth <= e.high
}

#[test]
fn a_smooth_curve_has_no_break_in_99_of_100_however_noisy() {
    const RUNS: u64 = 1000;
    for (to, many) in [(8e6, 155), (65_536.0, 40)] {
        let sizes = sizes(to, many);
        let mut false_alarms = 0;
        for seed in 0..RUNS {
            let mut noisy = Noisy::new(seed);
            noisy.own = [0.003, 0.01, 0.03, 0.1][seed as usize % 4];
            noisy.common = 0.05;
            // A knee, and a cache that ends: bends, not breaks.
            let curve = noisy.curve(&sizes, |x| 10e-6 + 2e-10 * x + 4e-10 * (x - 1e6).max(0.0));
            false_alarms += u64::from(!Breaks::of(&curve).is_empty());
        }
        assert!(false_alarms <= RUNS / 100, "{false_alarms} of {RUNS} smooth curves were said to break");
    }
}

#[test]
fn dips_are_found_within_their_stated_edges_and_depth() {
    const RUNS: u64 = 300;
    let (from, to, factor) = (60_000, 75_000, 1.5);
    let sizes = refined(8e6, &[from, to]);
    let (mut found, mut edges, mut depth) = (0, 0, 0);
    for seed in 0..RUNS {
        let chasm = |x: f64| if (from as f64..to as f64).contains(&x) { factor } else { 1.0 };
        let curve = Noisy::new(seed).curve(&sizes, |x| (10e-6 + 2e-10 * x) * chasm(x));
        let breaks = Breaks::of(&curve);
        let [dip] = breaks.dips.as_slice() else { continue };
        found += u64::from(breaks.steps.is_empty());
        let within = |edge: model::Edge, at: u64| edge.below < at && at <= edge.above;
        edges += u64::from(within(dip.from, from) && within(dip.to, to));
        depth += u64::from(holds(dip.factor, factor));
    }
    assert!(found >= RUNS * 99 / 100, "found alone in {found} of {RUNS}");
    assert!(edges >= RUNS * 95 / 100, "edges held in {edges} of {RUNS}");
    assert!(depth >= RUNS * 93 / 100, "depth held in {depth} of {RUNS}");
}

#[test]
fn a_dip_of_a_twentieth_of_a_decade_and_steps_both_ways_are_told_apart() {
    let edges = [10_000, 11_220, 100_000, 2_000_000];
    let path = |x: f64| {
        let factor = match x {
            10_000.0..11_220.0 => 2.0,
            100_000.0..2_000_000.0 => 1.3,
            2_000_000.0.. => 1.3 * 0.6,
            _ => 1.0,
        };
        (10e-6 + 2e-10 * x) * factor
    };
    let breaks = Breaks::of(&Noisy::new(5).curve(&refined(8e6, &edges), path));
    assert_eq!((breaks.dips.len(), breaks.steps.len()), (1, 2), "{breaks:#?}");
    let dip = &breaks.dips[0];
    assert!((0.03..=0.05).contains(&dip.decades()), "{}", dip.decades());
    assert!(holds(dip.factor, 2.0), "{dip:?}");
    assert!(holds(breaks.steps[0].factor, 1.3) && holds(breaks.steps[1].factor, 0.6), "{:?}", breaks.steps);
    let kinds: Vec<bool> = breaks.all().iter().map(|b| matches!(b, Break::Dip(_))).collect();
    assert_eq!(kinds, [true, false, false]);
}

#[test]
fn a_coarse_schedule_still_shows_a_deep_dip() {
    // NetPIPE's own sizes, one round: 3 points within.
    let sizes: Vec<u64> = (3..23).flat_map(|k| [(1u64 << k) - 3, 1 << k, (1 << k) + 3, 3 << (k - 1)]).collect();
    let mut noisy = Noisy::new(2);
    noisy.common = 0.0;
    let chasm = |x: f64| if (40_000.0..90_000.0).contains(&x) { 4.0 } else { 1.0 };
    let mut curve = noisy.curve(&sizes, |x| (50e-6 + 1e-8 * x) * chasm(x));
    curve.iter_mut().for_each(|p| p.rounds.truncate(1));
    curve.iter_mut().for_each(|p| p.seconds = p.rounds[0].1);
    let breaks = Breaks::of(&curve);
    assert_eq!((breaks.dips.len(), breaks.steps.len()), (1, 0), "{breaks:#?}");
    assert!((3.0..5.0).contains(&breaks.dips[0].factor.value), "{breaks:?}");
}

#[test]
fn odd_input_breaks_nothing() {
    let exact = |points: &[(u64, f64)]| -> Vec<model::CurvePoint> {
        (points.iter())
            .map(|&(size, t)| model::CurvePoint {
                size,
                seconds: t,
                throughput: 1.0,
                rounds: vec![(0, t), (1, t)],
                interval: None,
                rounding: 0.0,
            })
            .collect()
    };
    let equal: Vec<(u64, f64)> = (0..30).map(|i| (1 << i, 1e-6)).collect();
    let none = [&[][..], &[(1, 1e-6)], &[(0, 1e-6), (0, 2e-6), (7, 1e-6), (7, 3e-6)], &equal, &[(5, f64::NAN)]];
    for points in none {
        let breaks = Breaks::of(&exact(points));
        assert!(breaks.is_empty(), "{points:?}: {breaks:?}");
        let json = serde_json::to_string(&breaks).unwrap();
        assert!(!json.contains("NaN"), "{json}");
        serde_json::from_str::<Breaks>(&json).unwrap();
    }
}

#[test]
fn a_jump_that_a_bend_within_its_gap_explains_is_no_break() {
    let stepped = |x: f64| if x < 60_000.0 { 10e-6 } else { 11.2e-6 };
    let found = |many: usize| {
        let mut noisy = Noisy::new(3);
        (noisy.own, noisy.common) = (0.0005, 0.0);
        Breaks::of(&noisy.curve(&sizes(8e6, many), stepped)).steps.len()
    };
    assert_eq!(found(155), 1, "sizes 0.045 decades apart show that time jumps");
    assert_eq!(found(30), 0, "over a gap of a quarter of a decade, a knee may raise it by as much");
}

/// A jump of one half whose first part lies one or two sizes before the rest.
#[test]
fn a_step_that_takes_up_to_three_neighbouring_sizes_is_named_once() {
    const RUNS: u64 = 60;
    let sizes = sizes(8e6, 155);
    let at = sizes.iter().position(|s| *s > 50_000).unwrap();
    for parts in [&[0.5, 1.0][..], &[0.3, 1.0], &[0.33, 0.67, 1.0]] {
        let (mut named, mut held) = (0, 0);
        for seed in 0..RUNS {
            let mut noisy = Noisy::new(seed);
            noisy.own = [0.01, 0.03][seed as usize % 2];
            let share = |x: f64| match sizes.iter().position(|s| *s as f64 >= x).unwrap() {
                i if i < at => 0.0,
                i => parts.get(i - at).copied().unwrap_or(1.0),
            };
            let curve = noisy.curve(&sizes, |x| (10e-6 + 2e-10 * x) * 1.5f64.powf(share(x)));
            let breaks = Breaks::of(&curve);
            let [step] = breaks.steps.as_slice() else { continue };
            let about = sizes[at - 1] <= step.at.below && step.at.above <= sizes[at + parts.len() - 1];
            named += u64::from(about && breaks.dips.is_empty());
            held += u64::from(holds(step.factor, 1.5));
        }
        assert!(named >= RUNS * 9 / 10, "{parts:?}: named in {named} of {RUNS}");
        assert!(held >= RUNS * 8 / 10, "{parts:?}: height held in {held} of {RUNS}");
    }
}

/// Time rises by 60% along a smooth curve over a fifth of a decade and more.
#[test]
fn a_smooth_rise_is_no_step() {
    const RUNS: u64 = 200;
    for wide in [0.05, 0.1, 0.2] {
        let mut alarms = 0;
        for seed in 0..RUNS {
            let mut noisy = Noisy::new(seed);
            noisy.own = [0.003, 0.01, 0.03, 0.1][seed as usize % 4];
            let rise = |x: f64| 1.0 + 0.6 / (1.0 + (-(x.log10() - 4.5) / wide).exp());
            let curve = noisy.curve(&sizes(8e6, 155), |x| (10e-6 + 2e-10 * x) * rise(x));
            alarms += u64::from(!Breaks::of(&curve).is_empty());
        }
        assert!(alarms <= RUNS / 100, "{wide}: {alarms} of {RUNS}");
    }
}

/// A clock of 10 us reads 10 us at small sizes and 20 us from some size on.
#[test]
fn the_steps_of_a_clock_are_no_steps_of_the_path() {
    let step = 10e-6;
    for seed in 0..20 {
        let mut curve = Noisy::new(seed).curve(&sizes(1e6, 135), |x| 10e-6 + 2e-10 * x);
        for point in &mut curve {
            let read = |t: f64| (t / step).round().max(1.0) * step;
            point.rounds.iter_mut().for_each(|(_, t)| *t = read(*t));
            point.seconds = read(point.seconds);
            point.rounding = step / 2.0;
        }
        let found = Breaks::of(&curve);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

/// Each packet costs as much as the next: the first edges of such a staircase stand out, and the later ones are too low to decide anything.
#[test]
fn the_first_edges_of_a_staircase_of_packets_are_steps() {
    const RUNS: u64 = 60;
    let path = |x: f64| 10e-6 + 8e-10 * x + 3e-6 * (x / 1448.0).ceil();
    let sizes = sizes(1e6, 135);
    let (mut first, mut second, mut other) = (0, 0, 0);
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        noisy.own = [0.003, 0.01, 0.03][seed as usize % 3];
        let breaks = Breaks::of(&noisy.curve(&sizes, path));
        let at = |edge: u64| breaks.steps.iter().filter(|s| s.at.below <= edge && edge < s.at.above).count() as u64;
        first += at(1448);
        second += at(2 * 1448);
        other += breaks
            .all()
            .iter()
            .filter(|b| b.edges()[0].below % 1448 > 1448 / 3 && b.edges()[0].above % 1448 > 1448 / 3)
            .count();
    }
    assert!(first >= RUNS * 9 / 10, "the first edge in {first} of {RUNS}, the second in {second}");
    assert!(other <= 1, "{other} elsewhere");
}

/// As [`Noisy::curve`], in rounds in which the sizes up to 1 KiB share a level of 10% beside, which follows that of the round before as closely as
/// `alike` says; and whatever else `time` does.
fn sharing(seed: u64, rounds: u32, alike: f64, time: impl Fn(f64) -> f64) -> Vec<model::CurvePoint> {
    let mut noisy = Noisy::new(seed);
    let mut state = noisy.normal();
    let mut level = || {
        let now = state;
        state = alike * now + (1.0 - alike * alike).sqrt() * noisy.normal();
        (0.03 * noisy.normal(), 0.1 * now)
    };
    let levels: Vec<(f64, f64)> = (0..rounds).map(|_| level()).collect();
    let all = sizes(1e6, 155);
    let point = |size: u64| {
        let at = |(round, (common, small)): (usize, &(f64, f64))| {
            let level = common + if size <= 1024 { *small } else { 0.0 } + 0.03 * noisy.normal();
            (round as u32, time(size as f64) * level.exp())
        };
        let medians: Vec<(u32, f64)> = levels.iter().enumerate().map(at).collect();
        let seconds = stats::median(&medians.iter().map(|b| b.1).collect::<Vec<_>>());
        model::CurvePoint::of(size, seconds, medians)
    };
    all.into_iter().map(point).collect()
}

#[test]
fn a_level_that_a_part_of_the_sizes_shares_in_a_run_is_no_step() {
    const RUNS: u64 = 200;
    let line = |x: f64| 10e-6 + 2e-10 * x;
    for (rounds, alike) in [(9, 0.5), (9, 0.8), (30, 0.8)] {
        let broken = |seed: &u64| !Breaks::of(&sharing(*seed, rounds, alike, line)).is_empty();
        let found = (0..RUNS).filter(broken).count();
        println!("{rounds} rounds, {alike}: {found} of {RUNS}");
        // One in a hundred, and a standard error of so many runs.
        assert!(found <= 3, "{rounds} rounds, {alike}: {found} of {RUNS} lines were said to break");
    }
}

#[test]
fn a_step_and_a_dip_among_such_sizes_and_beyond_them_are_still_found() {
    for (rounds, at) in [(9, 100.0), (30, 100.0), (9, 30_000.0), (30, 30_000.0)] {
        let step = |x: f64| (10e-6 + 2e-10 * x) * if x >= at { 1.3 } else { 1.0 };
        let dip = |x: f64| (10e-6 + 2e-10 * x) * if (at..at * 1.26).contains(&x) { 1.3 } else { 1.0 };
        let there = |s: &model::Step| (s.at.below as f64) < at && at <= s.at.above as f64;
        let found = |seed: &u64| Breaks::of(&sharing(*seed, rounds, 0.8, step)).steps.iter().any(there);
        let steps = (0..30).filter(found).count();
        let dips = (0..30).filter(|seed| Breaks::of(&sharing(*seed, rounds, 0.8, dip)).dips.len() == 1).count();
        println!("{rounds} rounds, {at} B: {steps} steps and {dips} dips of 30");
        assert!(steps >= 26 && dips >= 26, "{rounds} rounds, {at} B: {steps} steps and {dips} dips of 30");
    }
}

#[test]
fn a_level_that_a_few_neighbouring_sizes_had_for_some_rounds_is_no_dip() {
    const RUNS: u64 = 60;
    // Bands of four sizes, each with a level of 10% that follows that of the round before.
    let banded = |seed: u64, time: &dyn Fn(f64) -> f64| -> Vec<CurvePoint> {
        let mut noisy = Noisy::new(seed);
        let all = sizes(8e6, 155);
        let mut bands = vec![Vec::new(); all.len().div_ceil(4)];
        for band in &mut bands {
            let mut state = noisy.normal();
            for _ in 0..30 {
                band.push(0.1 * state);
                state = 0.8 * state + 0.6 * noisy.normal();
            }
        }
        let common: Vec<f64> = (0..30).map(|_| 0.03 * noisy.normal()).collect();
        let point = |(i, size): (usize, &u64)| {
            let mut at =
                |round: usize| time(*size as f64) * (common[round] + bands[i / 4][round] + 0.03 * noisy.normal()).exp();
            let rounds: Vec<(u32, f64)> = (0..30).map(|round| (round as u32, at(round))).collect();
            CurvePoint::of(*size, stats::median(&rounds.iter().map(|r| r.1).collect::<Vec<_>>()), rounds)
        };
        all.iter().enumerate().map(point).collect()
    };
    let line = |x: f64| 10e-6 + 2e-10 * x;
    let found = (0..RUNS).filter(|seed| !Breaks::of(&banded(*seed, &line)).dips.is_empty()).count();
    // A dip that is there in every round, across the borders of bands, is one.
    let chasm = |x: f64| line(x) * if (60_000.0..80_000.0).contains(&x) { 2.0 } else { 1.0 };
    let there = |d: &model::Dip| d.from.below < 60_000 && 60_000 <= d.from.above;
    let of_chasm = (0..RUNS).filter(|seed| Breaks::of(&banded(*seed, &chasm)).dips.iter().any(there)).count();
    println!("{found} false, {of_chasm} right of {RUNS}");
    assert!(found <= 5 && of_chasm >= 50, "{found} false, {of_chasm} right of {RUNS}");
}

#[test]
fn a_size_whose_rounds_lie_at_two_levels_is_no_dip_and_one_that_is_slow_in_all_is() {
    let (mut of_two, mut of_all) = (0, 0);
    for seed in 0..100u64 {
        let curve = Noisy::new(seed).curve(&sizes(8e6, 155), |x| 10e-6 + 2e-10 * x);
        let breaks = |is_slow: &dyn Fn(u64) -> bool| {
            let mut curve = curve.clone();
            let point = &mut curve[70];
            point.rounds.iter_mut().filter(|(round, _)| is_slow(u64::from(*round))).for_each(|(_, t)| *t *= 1.5);
            point.seconds = stats::median(&point.rounds.iter().map(|(_, t)| *t).collect::<Vec<_>>());
            Breaks::of(&curve)
        };
        // By turns that have no order: bits of a hash.
        let turns = |round: u64| (seed * 64 + round + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1;
        of_two += u64::from(!breaks(&turns).is_empty());
        of_all += u64::from(breaks(&|_| true).dips.len() == 1);
    }
    assert!(of_two <= 3 && of_all >= 97, "{of_two} of two levels, {of_all} of one");
}

/// Of measurements that differ by nothing, those in which the first shows a break and the second is said to show another one or none: how many
/// of how many.
fn blamed(runs: u64, noise: f64, time: impl Fn(f64) -> f64) -> (u64, u64) {
    let sizes = sizes(8e6, 155);
    let measured = |seed: u64| -> Vec<CurvePoint> {
        let mut noisy = Noisy::new(seed);
        noisy.own = noise;
        noisy.curve(&sizes, &time)
    };
    let (mut wrong, mut all) = (0, 0);
    for seed in 0..runs {
        let control = Breaks::of(&measured(seed));
        let after = measured(seed + 100_000);
        let breaks = Breaks::of(&after);
        for found in control.all() {
            all += 1;
            wrong += u64::from(fate(&found, &control, &breaks, &after).differs());
        }
    }
    (wrong, all)
}

/// A knob that does nothing is not behind a break that one measurement in two or three misses.
#[test]
fn what_makes_no_difference_is_not_said_to_make_one() {
    let base = |x: f64| 10e-6 + 2e-10 * x;
    let dip = |x: f64| if (30_000.0..48_000.0).contains(&x) { 1.25 } else { 1.0 };
    let step = |x: f64| if x >= 30_000.0 { 1.25 } else { 1.0 };
    for (what, noise, (wrong, all)) in [
        ("dip", 0.06, blamed(100, 0.06, |x| base(x) * dip(x))),
        ("step", 0.06, blamed(100, 0.06, |x| base(x) * step(x))),
    ] {
        println!("{what} under {noise}: {wrong} of {all}");
        assert!(all > 30 && wrong * 100 <= all, "{what} under {noise}: {wrong} of {all}");
    }
}

/// A knob that ends a break is found to.
#[test]
fn what_ends_a_break_is_found_to_end_it() {
    let sizes = sizes(8e6, 155);
    let (mut gone, mut all) = (0, 0);
    for seed in 0..100 {
        let chasm = |x: f64| if (30_000.0..48_000.0).contains(&x) { 1.3 } else { 1.0 };
        let control = Breaks::of(&Noisy::new(seed).curve(&sizes, |x| (10e-6 + 2e-10 * x) * chasm(x)));
        let after = Noisy::new(seed + 100_000).curve(&sizes, |x| 10e-6 + 2e-10 * x);
        let breaks = Breaks::of(&after);
        for found in control.all() {
            all += 1;
            gone += u64::from(fate(&found, &control, &breaks, &after) == model::Fate::Gone);
        }
    }
    assert!(all >= 95 && gone * 100 >= all * 97, "{gone} of {all}");
}
