//! The grid of whole numbers on which HINT computes.

/// How finely a number type resolves the unit square: a grid of `scx` by `scy` squares, so many that every count of them
/// is a whole number that the type holds exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Steps of x.
    pub scx: f64,
    /// Steps of y.
    pub scy: f64,
}

impl Precision {
    /// Double precision with a 32-bit signed index, which this crate computes with. The index (31 bits) covers the 26 bits of
    /// x, so it limits nothing.
    pub const DOUBLE: Precision = Precision::of(53, 31);

    /// The grid of a data type whose whole numbers stop incrementing after `dbits` bits, and an index type of `ibits` bits:
    /// half of the bits for x and the rest for y; where the index could not count so far, its bits take their place.
    pub const fn of(dbits: u32, ibits: u32) -> Precision {
        let dbits = if 2 * ibits < dbits { ibits } else { dbits };
        let half = dbits / 2;
        Precision { scx: (1u64 << half) as f64, scy: (1u64 << (dbits - half)) as f64 }
    }

    /// Squares of the grid: HINT's `dmax + 1`.
    pub fn squares(&self) -> f64 {
        self.scx * self.scy
    }

    /// Subintervals, each one step of x wide, beyond which a process of `processes` can divide no more.
    pub fn most(&self, processes: u32) -> u64 {
        (self.scx / f64::from(processes.max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_have_26_and_27_bits() {
        let p = Precision::DOUBLE;
        assert_eq!((p.scx, p.scy), (67_108_864.0, 134_217_728.0));
        // 2^53 counts no further by ones, and every count below it is exact.
        assert_eq!(p.squares() + 1.0, p.squares());
        assert_eq!(p.squares() - 1.0 + 1.0, p.squares());
        assert_eq!((p.most(1), p.most(2)), (1 << 26, 1 << 25));
    }

    #[test]
    fn a_short_index_limits_the_grid() {
        assert_eq!(Precision::of(53, 15), Precision { scx: 128.0, scy: 256.0 }, "15 bits instead of 53");
        assert_eq!(Precision::of(24, 31), Precision { scx: 4096.0, scy: 4096.0 }, "single precision");
    }
}
