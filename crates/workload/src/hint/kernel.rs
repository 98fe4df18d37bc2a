//! HINT's kernel: one answer of so many subintervals.
//!
//! The grid, the order of the queue, the errors, the bounds and the parallel shares are those of Gustafson and Snell's program
//! (facts: `reference/hint.md`), and so are the memory that a subinterval takes and the way in which it is walked: HINT
//! measures a machine at all levels of its memory. Ours: a rectangle of one step's width is not halved any more
//! ([`Kernel::run`]).

use super::share::CHUNKS;
use super::{Precision, Sums, Team};

/// Bytes that a subinterval takes in a process: its rectangle, and two places in the queue of errors and their indices.
pub const BYTES: u64 = (size_of::<Rectangle>() + 2 * size_of::<f64>() + 2 * size_of::<i32>()) as u64;

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
mod tests;
