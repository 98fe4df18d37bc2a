//! Curves that no straight line follows: what is said of their start-up cost, their half-power point and their saturation point.

mod noisy;

use model::{Estimate, Fits, Summary};
use noisy::{Noisy, sizes};

const T0: f64 = 10e-6;
const PER_BYTE: f64 = 2e-10;

/// Time of a size, seconds. All of them begin at [`T0`].
type Shape = fn(f64) -> f64;

fn line(n: f64) -> f64 {
    T0 + PER_BYTE * n
}

/// A line, one that takes three times as long from 256 KiB on, two with a part that grows as the root of the size, a plateau in steps of
/// 64 KiB, throughput that rises up to the end, and twice the cost a byte from 1 MiB on.
const SHAPES: [(&str, Shape); 7] = [
    ("line", line),
    ("cliff", |n| line(n) * if n >= 262_144.0 { 3.0 } else { 1.0 }),
    ("root", |n| line(n) + 8e-8 * n.sqrt()),
    ("large root", |n| line(n) + 4e-7 * n.sqrt()),
    ("stairs", |n| line(if n > 65_536.0 { (n / 65_536.0).ceil() * 65_536.0 } else { n })),
    ("rising", |n| T0 + 2e-8 * n.powf(0.7)),
    ("bend", |n| line(n) + PER_BYTE * (n - 1_048_576.0).max(0.0)),
];

fn holds(e: Estimate, truth: f64) -> bool {
    e.low <= truth && truth <= e.high
}

/// Ends so far apart are printed as what they are: the figure is not resolved.
fn resolved(e: Estimate) -> bool {
    e.low > 0.0 && e.high <= units::RESOLVED * e.low
}

fn measured(shape: Shape, to: f64, many: usize, seed: u64) -> (Summary, Fits) {
    let curve = Noisy::new(seed).curve(&sizes(to, many), shape);
    (Summary::of(&curve, seed).unwrap(), Fits::of(&curve, seed).unwrap())
}

#[test]
fn half_power_and_saturation_point_never_contradict_each_other() {
    for (name, shape) in SHAPES {
        for to in [4e5, 2e6, 3e7] {
            for seed in 0..10 {
                let (summary, fits) = measured(shape, to, 60, seed);
                let what =
                    format!("{name} up to {to}, seed {seed}: {summary:?} {:?} {:?}", fits.saturation, fits.warnings);
                let half = summary.half_power.expect("all shapes begin far below half of their most");
                let Some(found) = fits.saturation else {
                    assert!(fits.warnings.iter().any(|w| w.contains("saturat")), "no word of it: {what}");
                    continue;
                };
                // Saturated, though half of the most is not moved.
                assert!(found.point.high >= half.low && found.point.value > 0.8 * half.value, "{what}");
                // Half of the most is moved far below: on no line, however short.
                let of_line = half.high / (1.0 - 2.0 * half.high / summary.max_size as f64).max(0.0);
                assert!(found.point.low <= 1.3 * of_line, "{what}");
            }
        }
    }
}

#[test]
fn a_line_and_a_line_before_a_cliff_saturate_where_start_and_bytes_cost_the_same_and_a_rising_curve_nowhere() {
    for seed in 0..10 {
        for (name, shape) in &SHAPES[..2] {
            let (_, fits) = measured(*shape, 8e6, 90, seed);
            let found = fits.saturation.unwrap_or_else(|| panic!("{name}, seed {seed}: {:?}", fits.warnings)).point;
            assert!((found.value / (T0 / PER_BYTE) - 1.0).abs() < 0.15, "{name}, seed {seed}: {found:?}");
        }
        let (summary, fits) = measured(SHAPES[5].1, 8e6, 90, seed);
        assert!(fits.saturation.is_none(), "seed {seed}: {:?}, {:?}", fits.saturation, summary.half_power);
        assert!(
            fits.warnings.iter().any(|w| w.contains("does not saturate") && w.contains("--to")),
            "{:?}",
            fits.warnings
        );
    }
}

#[test]
fn the_start_up_cost_is_held_whatever_the_curves_shape() {
    const RUNS: u64 = 60;
    for (name, shape) in SHAPES {
        let mut held = [0u64; 3];
        let mut widths = Vec::new();
        for seed in 0..RUNS {
            let (summary, fits) = measured(shape, 8e6, 60, seed);
            let (all, small) = (fits.latency.all.unwrap().t0, fits.latency.small.unwrap().t0);
            let found = [
                holds(summary.latency, shape(1.0)),
                !resolved(all) || holds(all, T0),
                !resolved(small) || holds(small, T0),
            ];
            found.iter().zip(&mut held).for_each(|(h, n)| *n += u64::from(*h));
            widths.push((all.high - all.low) / 2.0 / T0);
        }
        let width = stats::median(&widths);
        println!("{name}: time of the smallest, t0, t0 below 1 KiB held in {held:?} of {RUNS}; half-width {width:.4}");
        // Of 60 runs a standard error is 2.
        assert!(
            held.iter().all(|n| *n >= 53),
            "{name}: time of the smallest, t0, t0 below 1 KiB held in {held:?} of {RUNS}"
        );
        // What plain lines pay for it: their levels alone err by 2% over the root of ten rounds.
        let levels = stats::student_t(0.95, 9.0) * 0.02 / 10f64.sqrt();
        assert!(name != "line" || width < 1.3 * levels, "half-width {width}, of levels alone {levels}");
    }
}
