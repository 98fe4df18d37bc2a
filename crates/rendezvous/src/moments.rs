//! Moments of another host's clock by this one's. Pure.
//!
//! The far side reads its clock between the question and the answer that prepare a trial, so it reads what this side's clock shows somewhere between
//! asking and being answered. How far its clock is ahead lies between two ends, and the middle is off by at most half the time that question and answer took:
//! less than a round trip of the control connection, on a path that is idle just then.

/// How far the far side's clock is ahead of this one's, nanoseconds: between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ahead {
    least: i128,
    most: i128,
}

impl Ahead {
    /// Processes of one host share its clock.
    pub(crate) const NOT: Self = Self { least: 0, most: 0 };

    /// Of a far side that read `there` between this side's moments `asked` and `answered`.
    pub(crate) fn told(asked: u64, there: u64, answered: u64) -> Self {
        let there = i128::from(there);
        Self { least: there - i128::from(answered), most: there - i128::from(asked) }
    }

    /// What two questions to processes of one host tell together; none where they can't both be true.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let both = Self { least: self.least.max(other.least), most: self.most.min(other.most) };
        (both.least <= both.most).then_some(both)
    }

    /// A moment of the far side's clock by this one's.
    pub(crate) fn here(self, there: u64) -> u64 {
        let middle = self.least + (self.most - self.least) / 2;
        u64::try_from((i128::from(there) - middle).max(0)).unwrap_or(u64::MAX)
    }

    /// How far that may be off, nanoseconds.
    pub(crate) fn error(self) -> u64 {
        u64::try_from((self.most - self.least + 1) / 2).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_questions_know_more_than_one_and_lies_do_not_fit() {
        let (slow, quick) = (Ahead::told(100, 1_000_150, 300), Ahead::told(1_000, 1_001_020, 1_040));
        let both = slow.and(quick).unwrap();
        assert!(both.error() <= quick.error() && both.error() < slow.error());
        assert_eq!(slow.and(Ahead::told(100, 9_000_000, 300)), None);
        assert_eq!((Ahead::NOT.here(77), Ahead::NOT.error()), (77, 0));
    }

    #[test]
    fn no_number_makes_it_panic() {
        for there in [0, 1, u64::MAX] {
            for (asked, answered) in [(0, 0), (0, u64::MAX), (u64::MAX, 0)] {
                let ahead = Ahead::told(asked, there, answered);
                let _ = (ahead.here(0), ahead.here(u64::MAX), ahead.error());
            }
        }
    }

    proptest! {
        /// Whatever the clocks show and however long each way takes, a moment is off by no more than is said.
        #[test]
        fn a_moment_is_no_farther_off_than_is_said(
            asked in 1u64 << 40..1 << 50, there in 0u64..10_000_000, back in 0u64..10_000_000,
            ahead in -(1i64 << 39)..1 << 39, moment in 1u64 << 40..1 << 50,
        ) {
            let by_far = |here: u64| here.checked_add_signed(ahead).unwrap();
            let told = Ahead::told(asked, by_far(asked + there), asked + there + back);
            let found = told.here(by_far(moment));
            prop_assert!(found.abs_diff(moment) <= told.error(), "{found} for {moment}, off by {} at most", told.error());
            prop_assert!(told.error() <= (there + back).div_ceil(2));
        }
    }
}
