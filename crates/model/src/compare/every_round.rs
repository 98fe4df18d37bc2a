//! At how many sizes all rounds of two sides agree, where the error of their ratio is unknown: facts of these rounds, and no verdict.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CurvePoint;

/// At how many sizes all rounds saw the same side take longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EveryRound {
    /// Sizes at which every round of the second side took longer than every one of the first; of sides in turns, than the first side's of that
    /// round.
    pub slower: usize,
    /// Sizes at which every one took less time.
    pub faster: usize,
    /// Sizes that both sides have rounds of.
    pub sizes: usize,
}

impl EveryRound {
    /// From the least and the greatest ratio of two rounds, second over first, at each size.
    pub(super) fn of(ratios: impl Iterator<Item = (f64, f64)>) -> Self {
        ratios.fold(Self::default(), |seen, (least, most)| Self {
            slower: seen.slower + usize::from(least > 1.0),
            faster: seen.faster + usize::from(most < 1.0),
            sizes: seen.sizes + 1,
        })
    }

    /// Of separate runs, over the sizes that are `compared`: each round of the one side against each of the other.
    pub(super) fn apart(first: &[Vec<CurvePoint>], second: &[Vec<CurvePoint>], compared: impl Fn(u64) -> bool) -> Self {
        let (first, second) = (ends(first), ends(second));
        Self::of(first.iter().filter(|(size, _)| compared(**size)).filter_map(|(size, (shortest, longest))| {
            let (low, high) = second.get(size)?;
            Some((low / longest, high / shortest))
        }))
    }
}

/// The shortest and the longest round at each size.
fn ends(runs: &[Vec<CurvePoint>]) -> BTreeMap<u64, (f64, f64)> {
    let mut all = BTreeMap::new();
    for point in runs.iter().flatten() {
        for (_, time) in point.rounds.iter().filter(|(_, t)| *t > 0.0 && t.is_finite()) {
            let (low, high) = all.entry(point.size).or_insert((*time, *time));
            (*low, *high) = (low.min(*time), high.max(*time));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: [&[f64]; 3]) -> Vec<CurvePoint> {
        let point =
            |(size, times): (u64, &[f64])| CurvePoint::of(size, times[0], (0..).zip(times.iter().copied()).collect());
        (1..).zip(times).map(point).collect()
    }

    #[test]
    fn only_sizes_whose_rounds_all_lie_on_one_side_count() {
        let a = [run([&[1.0, 1.1], &[1.0, 2.0], &[3.0]]), run([&[1.2], &[1.5], &[3.1, 2.9]])];
        let b = [run([&[1.3, 1.4], &[1.9, 2.5], &[2.0, 2.8]])];
        assert_eq!(EveryRound::apart(&a, &b, |_| true), EveryRound { slower: 1, faster: 1, sizes: 3 });
        assert_eq!(EveryRound::apart(&b, &a, |_| true), EveryRound { slower: 1, faster: 1, sizes: 3 });
        assert_eq!(EveryRound::apart(&a, &a, |_| true), EveryRound { slower: 0, faster: 0, sizes: 3 });
        assert_eq!(EveryRound::apart(&a, &[], |_| true), EveryRound::default());
        assert_eq!(EveryRound::apart(&a, &b, |size| size == 1), EveryRound { slower: 1, faster: 0, sizes: 1 });
    }
}
