//! HINT's kernel: one answer of so many subintervals.
//!
//! The order of the queue, the errors, the bounds and the parallel shares follow Gustafson and Snell's program (`hint.c`,
//! `hkernel.c`), and so do the memory that a subinterval takes and the way in which it is walked: HINT measures a machine
//! at all levels of its memory. Ours: a side's last look at whether a rectangle can be halved at all ([`Kernel::run`]).

use super::Precision;

/// Bytes that a subinterval takes in a process: its rectangle, and two places in the queue of errors and their indices.
pub const BYTES: u64 = (size_of::<Rectangle>() + 2 * size_of::<f64>() + 2 * size_of::<i32>()) as u64;

/// Chunks that a process of several starts from.
const CHUNKS: u32 = 4;

/// One of the processes that share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    /// Processes, a power of two, so that the chunks have a whole width.
    pub processes: u32,
    /// Which one, from 0.
    pub rank: u32,
}

impl Team {
    /// One process that does it all.
    pub const ALONE: Team = Team { processes: 1, rank: 0 };

    /// One of two.
    pub const fn of_two(rank: u32) -> Team {
        Team { processes: 2, rank }
    }

    /// Fewest subintervals of a process: 1 alone, of several the chunks that it starts from.
    pub fn chunks(self) -> u64 {
        if self.processes > 1 { u64::from(CHUNKS) } else { 1 }
    }

    /// Fewest subintervals that say anything of the time an answer takes: 2 alone (one says that the area lies between 0
    /// and 1), of several 4.
    pub fn fewest(self) -> u64 {
        self.chunks().max(2)
    }
}

/// What a process found: squares that lie below the curve for certain, and squares that may.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Lower bound (`sl`).
    pub low: f64,
    /// Upper bound (`sh`).
    pub high: f64,
}

impl Sums {
    /// The two numbers as they travel: upper bound, lower bound, little-endian.
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.high.to_le_bytes());
        bytes[8..].copy_from_slice(&self.low.to_le_bytes());
        bytes
    }

    /// The two numbers of a block of 16 bytes; zeros of any other.
    pub fn read(block: &[u8]) -> Sums {
        let number = |at: usize| block.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0.0, f64::from_le_bytes);
        Sums { high: number(0), low: number(8) }
    }

    /// The sum over two processes.
    pub fn plus(self, other: Sums) -> Sums {
        Sums { low: self.low + other.low, high: self.high + other.high }
    }
}

/// The curve between `xl` and `xr`: whole numbers below and above its height at both ends, and the squares below it.
#[derive(Debug, Clone, Copy)]
struct Rectangle {
    /// Upper bound of the squares below the curve.
    ahi: f64,
    /// Lower bound.
    alo: f64,
    /// Width.
    dx: f64,
    /// Height on the left, rounded up.
    flh: f64,
    /// Rounded down.
    fll: f64,
    /// Height on the right, rounded up.
    frh: f64,
    /// Rounded down.
    frl: f64,
    /// Left end.
    xl: f64,
    /// Right end.
    xr: f64,
}

impl Rectangle {
    fn new(xl: f64, dx: f64, left: (f64, f64), right: (f64, f64)) -> Self {
        let ((fll, flh), (frl, frh)) = (left, right);
        Self { ahi: flh * dx, alo: frl * dx, dx, flh, fll, frh, frl, xl, xr: xl + dx }
    }

    /// What halving it may bring: the squares between its bounds but for those that no halving could decide.
    fn error(&self) -> f64 {
        (self.flh - self.frh + self.fll - self.frl) * (self.dx - 1.0)
            - ((self.fll - self.frh) * (self.dx - 2.0)).max(0.0)
    }
}

/// A process's memory and grid.
#[derive(Debug)]
pub struct Kernel {
    precision: Precision,
    rectangles: Vec<Rectangle>,
    errors: Vec<f64>,
    indices: Vec<i32>,
}

impl Kernel {
    /// A process without memory yet.
    pub fn new(precision: Precision) -> Self {
        Self { precision, rectangles: Vec::new(), errors: Vec::new(), indices: Vec::new() }
    }

    /// Makes the memory for answers of up to `n` subintervals. It stays: the first answer is charged for its pages, later ones
    /// aren't.
    pub fn reserve(&mut self, n: u64) -> Result<(), std::collections::TryReserveError> {
        let n = n.clamp(CHUNKS.into(), self.precision.most(1).max(CHUNKS.into())) as usize;
        if self.rectangles.len() >= n {
            return Ok(());
        }
        let empty = Rectangle::new(0.0, 0.0, (0.0, 0.0), (0.0, 0.0));
        // No doubling: the memory that is walked is the memory that was counted.
        self.rectangles.try_reserve_exact(n - self.rectangles.len())?;
        self.errors.try_reserve_exact(2 * n - self.errors.len())?;
        self.indices.try_reserve_exact(2 * n - self.indices.len())?;
        self.rectangles.resize(n, empty);
        self.errors.resize(2 * n, 0.0);
        self.indices.resize(2 * n, 0);
        Ok(())
    }

    /// The share that `team` names of one answer of `n` subintervals for each process, or of fewer where memory
    /// ([`Kernel::reserve`]) or precision end earlier.
    pub fn run(&mut self, team: Team, n: u64) -> Sums {
        if self.rectangles.is_empty() {
            return Sums::default();
        }
        let n = usize::try_from(n).unwrap_or(usize::MAX).min(self.rectangles.len());
        let (scx, scy) = (self.precision.scx, self.precision.scy);
        let (mut sums, mut count) = self.begin(team);
        let (rectangles, errors, indices) = (&mut self.rectangles[..], &mut self.errors[..], &mut self.indices[..]);
        // `tail` is the queue's last place (`iq`), `head` the next one to be halved (`it`).
        let (mut head, mut tail) = (0, count.wrapping_sub(1));
        while count < n && head <= tail {
            let at = indices[head] as usize;
            let parent = rectangles[at];
            // The queue grows no wider than its head: where that is one step wide, precision is exhausted.
            if parent.dx <= 1.0 {
                break;
            }
            let dx = parent.dx / 2.0;
            let middle = height(scx, scy, parent.xl + dx);
            let left = Rectangle::new(parent.xl, dx, (parent.fll, parent.flh), middle);
            let right = Rectangle { xr: parent.xr, ..Rectangle::new(left.xr, dx, middle, (parent.frl, parent.frh)) };
            sums.high += left.ahi + right.ahi - parent.ahi;
            sums.low += left.alo + right.alo - parent.alo;
            // The left child takes its parent's place. Both go to the end of the queue, the larger error first; a child
            // without an error has no place of its own there.
            let (first, second) = ((left.error(), at), (right.error(), count));
            let (first, second) = if first.0 >= second.0 { (first, second) } else { (second, first) };
            (rectangles[at], rectangles[count]) = (left, right);
            (errors[tail + 1], indices[tail + 1]) = (first.0, first.1 as i32);
            (errors[tail + 2], indices[tail + 2]) = (second.0, second.1 as i32);
            tail += if second.0 == 0.0 { 1 } else { 2 };
            count += 1;
            head += 1;
        }
        sums
    }

    /// The rectangles that the process starts from, queued, and their sums.
    fn begin(&mut self, team: Team) -> (Sums, usize) {
        let Precision { scx, scy } = self.precision;
        let Team { processes, rank } = team;
        if processes <= 1 {
            // Of the whole square the last count that can be told from its neighbours is one less than all.
            let whole = Rectangle::new(0.0, scx, (scy, scy), (0.0, 0.0));
            self.rectangles[0] = Rectangle { ahi: scx * scy - 1.0, ..whole };
            (self.errors[0], self.indices[0]) = (self.rectangles[0].ahi, 0);
            return (Sums { low: 0.0, high: scx * scy - 1.0 }, 1);
        }
        let dx = scx / f64::from(CHUNKS * processes);
        let mut sums = Sums::default();
        let mut queue = [(0.0, 0); CHUNKS as usize];
        for (k, place) in (0u32..).zip(&mut queue) {
            let xl = dx * f64::from(rank + k * processes);
            let chunk = Rectangle::new(xl, dx, height(scx, scy, xl), height(scx, scy, xl + dx));
            sums = sums.plus(Sums { low: chunk.alo, high: chunk.ahi });
            *place = (chunk.error(), k as i32);
            self.rectangles[k as usize] = chunk;
        }
        queue.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (place, (error, index)) in queue.into_iter().enumerate() {
            (self.errors[place], self.indices[place]) = (error, index);
        }
        (sums, queue.len())
    }
}

/// Height of the curve at `x`: the whole numbers below and above `scy * (scx - x) / (scx + x)`.
#[inline(always)]
fn height(scx: f64, scy: f64, x: f64) -> (f64, f64) {
    let (tm, tm2) = (scx + x, scy * (scx - x));
    let low = (tm2 / tm).floor();
    (low, if tm * low != tm2 { low + 1.0 } else { low })
}

#[cfg(test)]
mod tests {
    use super::super::Bounds;
    use super::*;

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
}
