//! The kernel against answers by hand, against the truth, and two processes against one.

use super::*;
use crate::hint::Bounds;

fn kernel(precision: Precision, n: u64) -> Kernel {
    let mut kernel = Kernel::new(precision);
    kernel.reserve(n).unwrap();
    kernel
}

fn alone(n: u64) -> Sums {
    kernel(Precision::DOUBLE, n).run(Team::ALONE, n)
}

/// 2 ln 2 - 1, times the squares of `precision`.
fn truth(precision: Precision) -> f64 {
    (2.0 * std::f64::consts::LN_2 - 1.0) * precision.squares()
}

#[test]
fn one_and_two_subintervals_by_hand() {
    // One: nothing is known, so the bounds are 0 and dmax = 2^53 - 1.
    assert_eq!(alone(1), Sums { low: 0.0, high: 9_007_199_254_740_991.0 });
    // Two: the middle is x = 1/2, where (1 - x) / (1 + x) = 1/3, and 2^27 / 3 = 44,739,242.67 lies between 44,739,242
    // and 44,739,243. Each half is 2^25 wide. Below: the left half is at least as high as the middle, the right
    // one at least 0; above: the left is at most 2^27 high, the right at most as high as the middle.
    let wide = f64::from(1 << 25);
    let want = Sums { low: 44_739_242.0 * wide, high: (f64::from(1 << 27) + 44_739_243.0) * wide };
    assert_eq!(alone(2), want);
    // What is left open: 2^52 + 2^25 of 2^53, so the quality is 2 / (1 + 2^-27).
    assert_eq!(Bounds::of(want).unwrap().quality(), 2.0 / (1.0 + 1.0 / f64::from(1 << 27)));
}

#[test]
fn four_subintervals_of_a_small_grid_by_hand() {
    // 8 by 8 squares (6 bits): the curve's height at x steps is 8 (8 - x) / (8 + x).
    // x = 4: 8 * 4 / 12 = 2.67, between 2 and 3. Left [0,4]: from 8 to 2..3; right [4,8]: from 2..3 to 0.
    // Errors, ((flh - frh) + (fll - frl)) (dx - 1) - max(0, (fll - frh) (dx - 2)):
    //   left (8 - 3 + 8 - 2) 3 - (8 - 3) 2 = 23, right (3 - 0 + 2 - 0) 3 - (2 - 0) 2 = 11. The left one goes first.
    // x = 2: 8 * 6 / 10 = 4.8, between 4 and 5. x = 6: 8 * 2 / 14 = 1.14, between 1 and 2.
    // Three: [0,2] 4..5 to 8, [2,4], [4,8]: low 2*4 + 2*2 + 4*0 = 12, high 2*8 + 2*5 + 4*3 = 38.
    // Four: [4,6] 1 to 3, [6,8] 0 to 2: low 8 + 4 + 2 + 0 = 14, high 16 + 10 + 6 + 4 = 36.
    let grid = Precision::of(6, 31);
    let mut k = kernel(grid, 4);
    assert_eq!(k.run(Team::ALONE, 3), Sums { low: 12.0, high: 38.0 });
    assert_eq!(k.errors[1..3], [23.0, 11.0]);
    assert_eq!(k.run(Team::ALONE, 4), Sums { low: 14.0, high: 36.0 });
    // Children of the left: [0,2] (8 - 5 + 8 - 4) 1 - 0 = 7, [2,4] (5 - 3 + 4 - 2) 1 - 0 = 4; of the right: [4,6]
    // (3 - 2 + 2 - 1) 1 = 2 and [6,8] (2 - 0 + 1 - 0) 1 = 3, the larger first. They queue in the order of their birth.
    assert_eq!(k.errors[1..7], [23.0, 11.0, 7.0, 4.0, 3.0, 2.0]);
    assert_eq!(k.indices[..7], [0, 0, 1, 0, 2, 3, 1]);
}

#[test]
fn bounds_always_hold_the_truth_and_quality_is_near_n() {
    let mut k = kernel(Precision::DOUBLE, 200_000);
    let truth = truth(Precision::DOUBLE);
    let mut last = f64::INFINITY;
    for n in (1..600).chain([1000, 1024, 4096, 9999, 65_536, 200_000]) {
        let Sums { low, high } = k.run(Team::ALONE, n);
        assert!(low <= truth && truth <= high, "{n}: {low} {truth} {high}");
        assert!(high - low < last || n == 1, "{n}: more work, no less open");
        last = high - low;
        let quality = Precision::DOUBLE.squares() / (high - low);
        assert!((0.8..=1.041).contains(&(quality / n as f64)), "{n}: {quality}");
    }
}

#[test]
fn a_grid_is_exhausted_once_all_is_one_step_wide() {
    for bits in 4..=20 {
        let grid = Precision::of(bits, 31);
        let all = grid.scx as u64;
        let mut k = kernel(grid, 1 << 20);
        let Sums { low, high } = k.run(Team::ALONE, u64::MAX);
        assert!(low <= truth(grid) && truth(grid) <= high, "{bits}");
        assert_eq!(
            (k.rectangles.len() as u64, k.run(Team::ALONE, all)),
            (all, Sums { low, high }),
            "memory for no more"
        );
    }
    // 16 bits: all 256 steps of x, from each the height rounded down and that of the last rounded up.
    let grid = Precision::of(16, 31);
    let mut k = kernel(grid, 1000);
    let at = |x: u32| 256.0 * f64::from(256 - x) / f64::from(256 + x);
    let want = Sums { low: (1..=256).map(|x| at(x).floor()).sum(), high: (0..256).map(|x| at(x).ceil()).sum() };
    assert_eq!(k.run(Team::ALONE, 1000), want);
}

#[test]
fn two_processes_find_together_what_their_chunks_hold() {
    // Eight chunks of equal width, the even ones one process's and the odd ones the other's: with four subintervals each,
    // they are what one process has that divided the square into eighths.
    let grid = Precision::DOUBLE;
    let both = |n| {
        let of = |rank| kernel(grid, n).run(Team::of_two(rank), n);
        of(0).plus(of(1))
    };
    assert_eq!(both(4), alone(8));
    // Halving all of the chunks gives sixteenths, and so on.
    for levels in 1..12u32 {
        assert_eq!(both(4 << levels), alone(8 << levels), "{levels}");
    }
    for n in 4..300 {
        let sums = both(n);
        assert!(sums.low <= truth(grid) && truth(grid) <= sums.high);
        let quality = grid.squares() / (sums.high - sums.low);
        assert!((0.8..=1.041).contains(&(quality / (2 * n) as f64)), "{n}: {quality}");
    }
}

#[test]
fn an_answer_is_the_same_each_time_and_in_memory_of_any_size() {
    let (mut k, team) = (kernel(Precision::DOUBLE, 5000), Team::of_two(1));
    let first = k.run(team, 700);
    k.run(team, 5000);
    k.run(Team::ALONE, 700);
    assert_eq!(k.run(team, 700), first);
    assert_eq!(kernel(Precision::DOUBLE, 700).run(team, 700), first);
    assert_eq!(Kernel::new(Precision::DOUBLE).run(team, 700), Sums::default(), "no memory, no answer");
}

#[test]
fn sums_travel_as_sixteen_bytes() {
    let sums = Sums { low: 3.0, high: 7.0 };
    assert_eq!(Sums::read(&sums.bytes()), sums);
    assert_eq!(sums.bytes()[..8], 7f64.to_le_bytes(), "the upper bound first");
    assert_eq!(Sums::read(&[1; 7]), Sums::default());
}

#[test]
fn a_subinterval_takes_96_bytes() {
    assert_eq!(BYTES, 9 * 8 + 2 * 8 + 2 * 4);
}
