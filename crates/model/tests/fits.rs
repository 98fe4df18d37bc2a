//! Fitted models on curves whose truth is known, and the published tables from their own parameters.

mod noisy;

use model::{CurvePoint, Estimate, Fits};
use noisy::{Noisy, sizes};

fn holds(e: Estimate, truth: f64) -> bool {
    e.low <= truth && truth <= e.high
}

#[test]
fn each_interval_covers_the_truth_as_often_as_it_says() {
    const RUNS: u64 = 1000;
    let (t0, b) = (10e-6, 2e-10);
    let sizes = sizes(4e6, 45);
    let mut hits = [0u64; 6];
    let mut systematic = 0;
    for seed in 0..RUNS {
        let fits = Fits::of(&Noisy::new(seed).curve(&sizes, |x| t0 + b * x), seed).unwrap();
        let (all, small) = (fits.latency.all.unwrap(), fits.latency.small.unwrap());
        let bandwidth = fits.bandwidth.unwrap();
        let held = [
            holds(all.t0, t0),
            holds(all.per_byte, b),
            holds(small.t0, t0),
            holds(bandwidth.r_max, 8.0 / b),
            holds(bandwidth.n_half, t0 / b),
            holds(fits.saturation.unwrap().point, t0 / b),
        ];
        held.iter().zip(&mut hits).for_each(|(h, n)| *n += u64::from(*h));
        systematic += u64::from(all.misfit.systematic);
    }
    for (what, n) in ["t0", "per byte", "t0 of small", "Rmax", "n1/2", "saturation point"].iter().zip(hits) {
        let share = n as f64 / RUNS as f64;
        assert!((0.93..=0.98).contains(&share), "{what}: {share}; all: {hits:?}");
    }
    assert!(systematic <= RUNS / 100, "{systematic} of {RUNS} straight paths were said not to be straight");
}

#[test]
fn the_grid_of_a_coarse_clock_is_no_bend() {
    // Times of 10 us and more, by a clock of 3 us steps: neighbouring sizes read the same.
    let read = |x: u64| ((10e-6 + 2e-10 * x as f64) / 3e-6).round() * 3e-6;
    let point = |x: u64| CurvePoint {
        rounding: 1.5e-6,
        ..CurvePoint::of(x, read(x), (1..=9).map(|round| (round, read(x))).collect())
    };
    let curve: Vec<CurvePoint> = sizes(4e6, 45).into_iter().map(point).collect();
    let fits = Fits::of(&curve, 1).unwrap();
    assert!(!fits.latency.all.as_ref().unwrap().misfit.systematic, "{fits:?}");
    let sure: Vec<CurvePoint> = curve.iter().map(|p| CurvePoint { rounding: 0.0, ..p.clone() }).collect();
    assert!(Fits::of(&sure, 1).unwrap().latency.all.unwrap().misfit.systematic, "by a fine clock it is one");
}

#[test]
fn three_sizes_give_no_interval_of_the_half_power_point() {
    let wide = |n: usize| {
        let all = [64, 65_536, 4_194_304, 1_048_576];
        let mut sizes = all[..n].to_vec();
        sizes.sort_unstable();
        let curve = Noisy::new(3).curve(&sizes, |x| 10e-6 + 2e-10 * x);
        Fits::of(&curve, 1).unwrap().bandwidth.unwrap().n_half.high.is_finite()
    };
    assert_eq!((wide(3), wide(4)), (false, true));
}

#[test]
fn the_lines_of_table_1_come_back_from_their_own_parameters() {
    // seeds/000, table 1: microseconds a byte and t0, over 64 KiB (Active Messages: 4 KiB).
    let layers = [(0.068, 157.4, 65_536.0), (0.129, 38.9, 4096.0), (0.076, 736.4, 65_536.0), (0.174, 366.2, 65_536.0)];
    let small = [(0.124, 61.4), (0.123, 45.4), (0.223, 533.0), (0.242, 325.0)];
    // Of 16 intervals at 95%, one may miss; two would be a wonder, and here the seed is fixed.
    let mut missed = 0;
    let mut check = |line: &model::LatencyLine, t0: f64, per_byte: f64| {
        for (found, truth) in [(line.t0, t0 * 1e-6), (line.per_byte, per_byte * 1e-6)] {
            assert!((found.value / truth - 1.0).abs() < 0.05, "{found:?}, not {truth}");
            missed += u32::from(!holds(found, truth));
        }
        assert!(!line.misfit.systematic, "{line:?}");
    };
    for (seed, (per_byte, t0, to)) in (10..).zip(layers) {
        let curve = Noisy::new(seed).curve(&sizes(to, 40), |x| (t0 + per_byte * x) * 1e-6);
        check(&Fits::of(&curve, 1).unwrap().latency.all.unwrap(), t0, per_byte);
    }
    for (seed, (per_byte, t0)) in (20..).zip(small) {
        let curve = Noisy::new(seed).curve(&sizes(65_536.0, 40), |x| (t0 + per_byte * x) * 1e-6);
        check(&Fits::of(&curve, 1).unwrap().latency.small.unwrap(), t0, per_byte);
    }
    assert!(missed <= 2, "{missed} of 16 intervals missed their truth");
}

#[test]
fn the_bandwidth_curves_of_tables_2_and_3_come_back_from_their_own_parameters() {
    let layers = [
        (32.9, 441.0),
        (39.2, 372.0),
        (29.6, 2098.0),
        (11.1, 530.0),
        (38.57, 560.7),
        (19.59, 687.5),
        (41.57, 785.7),
        (23.72, 1189.0),
    ];
    // Of 16 intervals at 95%, one may miss; two would be a wonder, and here the seed is fixed.
    let mut missed = 0;
    for (seed, (r_max, n_half)) in layers.into_iter().enumerate() {
        let bytes_per_second = r_max * 1e6;
        let curve = Noisy::new(seed as u64).curve(&sizes(65_536.0, 40), |x| (n_half + x) / bytes_per_second);
        let fit = Fits::of(&curve, 1).unwrap().bandwidth.unwrap();
        missed += u32::from(!holds(fit.r_max, 8.0 * bytes_per_second)) + u32::from(!holds(fit.n_half, n_half));
        assert!((fit.r_max.value / (8.0 * bytes_per_second) - 1.0).abs() < 0.05, "{fit:?}");
        assert!((fit.n_half.value / n_half - 1.0).abs() < 0.05, "{fit:?}");
    }
    assert!(missed <= 2, "{missed} of 16 intervals missed their truth");
}

#[test]
fn a_line_over_a_cache_regime_is_said_to_lie_and_pieces_follow_the_path() {
    let broken = |x: f64| 1e-6 + 1e-10 * x + 5e-10 * (x - 100_000.0).max(0.0);
    let fits = Fits::of(&Noisy::new(3).curve(&sizes(8e6, 150), broken), 1).unwrap();
    assert!(fits.latency.all.unwrap().misfit.systematic);
    assert_eq!(fits.latency.pieces.len(), 2, "{:?}", fits.latency.pieces);
    assert!(fits.warnings.iter().any(|w| w.contains("one line over all sizes misses")), "{:?}", fits.warnings);
}

#[test]
fn what_a_coarse_clock_hides_is_in_the_intervals() {
    // 12 us and 0.2 ns a byte by a clock of 10 us: round trips of 24 us read 20, in every round.
    let read = |size: u64| (2.0 * (12e-6 + 0.2e-9 * size as f64) / 10e-6).round() * 5e-6;
    let told = |rounding: f64| -> Vec<CurvePoint> {
        let point = |size: u64| CurvePoint {
            size,
            seconds: read(size),
            throughput: 8.0 * size as f64 / read(size),
            rounds: (0..9).map(|b| (b, read(size))).collect(),
            interval: None,
            rounding,
        };
        (0..41).map(|i| point(2f64.powf(f64::from(i) / 2.0) as u64)).collect()
    };
    let fits = |rounding| Fits::of(&told(rounding), 1).unwrap();
    let (blind, told) = (fits(0.0), fits(2.5e-6));
    let t0 = |fits: &Fits| fits.latency.all.as_ref().unwrap().t0;
    assert!(!holds(t0(&blind), 12e-6), "{:?}", t0(&blind));
    assert!(holds(t0(&told), 12e-6), "{:?}", t0(&told));
    // No wider than the step explains.
    let half = (t0(&told).high - t0(&told).low) / 2.0;
    assert!((2e-6..3e-6).contains(&half), "{half}");
    let curve = told.bandwidth.unwrap();
    assert!(holds(curve.n_half, 60_000.0) && holds(curve.r_max, 40e9), "{curve:?}");
}

#[test]
fn odd_input_gets_a_statement_and_never_a_nan() {
    let exact = |points: &[(u64, f64)]| -> Vec<CurvePoint> {
        let point = |&(size, t): &(u64, f64)| CurvePoint::of(size, t, (0..6).map(|b| (b, t)).collect());
        points.iter().map(point).collect()
    };
    assert_eq!(Fits::of(&[], 1), None);
    let falling: Vec<(u64, f64)> = (0..30).map(|i| (1 << i, 1e-3 / f64::from(i + 1))).collect();
    let equal: Vec<(u64, f64)> = (0..30).map(|i| (1 << i, 1e-6)).collect();
    for points in [&[(1, 1e-6)][..], &[(1, 1e-6), (2, 1e-6)], &[(7, 1e-6), (7, 2e-6), (7, 3e-6)], &falling, &equal] {
        let fits = Fits::of(&exact(points), 1).unwrap();
        assert!(!fits.warnings.is_empty(), "{points:?} went without a word");
        let json = serde_json::to_string(&fits).unwrap();
        assert!(!json.contains("NaN") && !json.contains("null,\"low"), "{json}");
        let back: Fits = serde_json::from_str(&json).unwrap();
        assert_eq!(back.warnings, fits.warnings);
    }
    let fits = Fits::of(&exact(&falling), 1).unwrap();
    assert!(fits.warnings.iter().any(|w| w.contains("larger messages take less time")), "{:?}", fits.warnings);
}

#[test]
fn the_summarys_time_per_byte_is_that_of_the_line_over_small_sizes() {
    for seed in 0..5 {
        let curve = Noisy::new(seed).curve(&sizes(65_536.0, 40), |x| 1e-5 + 2e-9 * x);
        let (summary, fits) = (model::Summary::of(&curve, seed).unwrap(), Fits::of(&curve, seed).unwrap());
        assert_eq!(summary.per_byte, fits.latency.small.map(|line| line.per_byte), "{seed}");
    }
}
