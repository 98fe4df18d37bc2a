//! What all processes found together.

use super::{Precision, Sums};

/// Bounds on the squares of [`Precision::DOUBLE`] that lie below the curve: whole numbers, so that a file keeps them
/// exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Below for certain.
    pub low: u64,
    /// At most.
    pub high: u64,
}

/// Numbers that no work on the area could have given.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "HINT's bounds {low} and {high} can't be: they are whole numbers of 2^53 squares and hold 2 ln 2 - 1 of them, {TRUTH}"
)]
pub struct Impossible {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// (2 ln 2 - 1) 2^53, rounded down.
const TRUTH: u64 = 3_479_430_281_589_726;

impl Bounds {
    /// Sums over all processes, if they can be true. (A NaN, an infinity and a fraction can't.)
    pub fn of(sums: Sums) -> Result<Bounds, Impossible> {
        let Sums { low, high } = sums;
        let most = Precision::DOUBLE.squares();
        let whole = |v: f64| v >= 0.0 && v <= most && v.fract() == 0.0;
        let bounds = Bounds { low: low as u64, high: high as u64 };
        if whole(low) && whole(high) && bounds.low <= TRUTH && TRUTH < bounds.high {
            Ok(bounds)
        } else {
            Err(Impossible { low, high })
        }
    }

    /// The answer's quality: all squares over those that the bounds leave open. About the number of subintervals.
    pub fn quality(self) -> f64 {
        Precision::DOUBLE.squares() / self.high.saturating_sub(self.low).max(1) as f64
    }

    /// Quality that the answer has beyond knowing nothing: what QUIPS count.
    pub fn improvement(self) -> f64 {
        self.quality() - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_two_ln_two_less_one() {
        // ln 2 = 1 - 1/2 + 1/3 - ..., summed pairwise in whole numbers would take long; the series of ln 2 in powers of 1/9,
        // 2/3 sum over k of 9^-k / (2k + 1), is exact to the last bit of 128-bit fixed point.
        let one: u128 = 1 << 120;
        let (mut term, mut ln2, mut k) = (2 * one / 3, 0u128, 0u128);
        while term > 0 {
            ln2 += term / (2 * k + 1);
            term /= 9;
            k += 1;
        }
        assert_eq!(((2 * ln2 - one) >> (120 - 53)) as u64, TRUTH);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let t = TRUTH as f64;
        let of = |low, high| Bounds::of(Sums { low, high });
        assert_eq!(
            of(0.0, Precision::DOUBLE.squares() - 1.0).unwrap().quality(),
            9_007_199_254_740_992.0 / 9_007_199_254_740_991.0
        );
        assert_eq!(of(t, t + 1.0), Ok(Bounds { low: TRUTH, high: TRUTH + 1 }));
        for (low, high) in [
            (f64::NAN, t + 10.0),
            (t - 10.0, f64::NAN),
            (t - 10.0, f64::INFINITY),
            (f64::NEG_INFINITY, t + 10.0),
            (-1.0, t + 10.0),
            (0.5, t + 10.0),
            (t - 10.0, t),
            (t + 1.0, t + 10.0),
            (t + 10.0, t - 10.0),
            (0.0, 1.8e19),
        ] {
            let e = of(low, high).unwrap_err().to_string();
            assert!(e.contains("can't be"), "{e}");
        }
    }
}
