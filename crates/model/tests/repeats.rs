//! Several runs a side, each of whose sizes stands at a level of its own in each run: intervals hold the truth as often as they say, and sides
//! of one thing pass a limit on a single size at most once in twenty comparisons.

mod noisy;
mod said;

use model::{Comparison, CurvePoint, Side};
use noisy::{Noisy, sizes};
use said::Said;

const PAIRS: u64 = 150;

/// What a run does to each of its sizes beyond its level, as logarithms.
type Levels = fn(&mut Noisy, usize) -> Vec<f64>;

const MACHINES: [(&str, Levels); 4] = [
    ("each size its own 5%", |noisy, n| (0..n).map(|_| 0.05 * noisy.normal()).collect()),
    ("each size its own 8%", |noisy, n| (0..n).map(|_| 0.08 * noisy.normal()).collect()),
    ("one size in five 15%, the others 2%", |noisy, n| {
        (0..n).map(|i| if i % 5 == 2 { 0.15 } else { 0.02 } * noisy.normal()).collect()
    }),
    ("a third of the sizes 10% together", |noisy, n| {
        let state = 0.1 * noisy.normal();
        (0..n).map(|i| if 3 * i < n { state } else { 0.0 }).collect()
    }),
];

struct SameTwice {
    /// Percent of the intervals of single sizes that hold the truth.
    sizes: f64,
    /// Of the worst fifth of the sizes, taken by their place on the curve.
    worst: f64,
    /// Of the intervals over all sizes.
    whole: f64,
    /// Of the comparisons of which one size in the middle is changed, by its interval alone.
    changed: f64,
    /// Said to differ.
    differ: f64,
}

fn compared(levels: Levels, runs: usize, factor: f64) -> SameTwice {
    let sizes = sizes(8e6, 40);
    let mut held = vec![0u64; sizes.len()];
    let (mut whole, mut changed, mut differ) = (0, 0, 0);
    for seed in 0..PAIRS {
        let mut noisy = Noisy::new(seed);
        let mut run = |factor: f64| -> Vec<CurvePoint> {
            let level = 0.03 * noisy.normal() + factor.ln();
            let own = levels(&mut noisy, sizes.len());
            let at = |x: f64| own[sizes.partition_point(|s| (*s as f64) < x)];
            noisy.curve(&sizes, |x| (1e-5 + 2e-10 * x) * (level + at(x)).exp())
        };
        let a: Vec<_> = (0..runs).map(|_| run(1.0)).collect();
        let b: Vec<_> = (0..runs).map(|_| run(factor)).collect();
        let found = Comparison::of(Side::of(&a), Side::of(&b)).unwrap();
        let holds = |e: &model::Estimate| e.low <= factor && factor <= e.high;
        found.sizes.iter().zip(&mut held).for_each(|(s, n)| *n += u64::from(holds(&s.ratio)));
        whole += u64::from(holds(&found.whole));
        changed += u64::from(!holds(&found.sizes[17].ratio));
        differ += u64::from(found.differs_apart());
    }
    let percent = |n: u64| 100.0 * n as f64 / PAIRS as f64;
    let mut all: Vec<f64> = held.into_iter().map(percent).collect();
    let of_sizes = stats::mean(&all);
    all.sort_by(f64::total_cmp);
    let worst = stats::mean(&all[..all.len() / 5]);
    SameTwice { sizes: of_sizes, worst, whole: percent(whole), changed: percent(changed), differ: percent(differ) }
}

#[test]
fn the_interval_of_a_single_size_holds_what_runs_differ_by_there() {
    for (name, levels) in MACHINES {
        let own = name.starts_with("each");
        for runs in [2, 3, 5, 8] {
            let SameTwice { sizes, worst, whole, changed, differ } = compared(levels, runs, 1.0);
            println!(
                "{name}, {runs} a side: sizes {sizes:.1}%, worst {worst:.1}%, whole {whole:.1}%, changed {changed:.1}%, differ {differ:.1}%"
            );
            let most = if own { 98.0 } else { 99.5 };
            // What neighbours share is told by no more than the runs.
            let fewest = if own { 92.0 } else { 88.0 };
            assert!(
                (fewest..=most).contains(&sizes),
                "{name}, {runs} a side: {sizes:.1}% of the sizes' intervals hold"
            );
            // Of few runs a size that varies more than its neighbours, or with them, is known less well than it seems.
            let least = if own && runs > 2 { 92.0 } else { 80.0 };
            assert!(worst >= least, "{name}, {runs} a side: {worst:.1}% of the worst sizes' intervals hold");
            assert!(whole >= 90.0, "{name}, {runs} a side: {whole:.1}% of the intervals over all sizes hold");
            assert!(!own || changed <= 6.0, "{name}, {runs} a side: {changed:.1}% changed at one size");
            assert!(differ <= 5.0, "{name}, {runs} a side: {differ:.1}% said to differ");
        }
    }
}

#[test]
fn more_runs_tell_more_of_a_factor_of_all_sizes() {
    let own = MACHINES[0].1;
    let differ = [3, 8].map(|runs| compared(own, runs, 1.25).differ);
    println!("{differ:?}");
    assert!(differ[1] >= 95.0 && differ[0] >= 40.0, "{differ:?}");
}
