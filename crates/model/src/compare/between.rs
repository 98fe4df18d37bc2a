//! How far runs of one thing lie apart on their machine: from the earlier runs that the compared ones carry.
//!
//! The spread that judges a difference must not contain that difference. So the compared runs are left out where both sides have the same
//! earlier runs, as two runs of one path have; where the sides have different earlier runs, each side's runs count with theirs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Squares, StandardError, level_spread, squares_beyond_levels, windowed};

use super::Side;

/// A run's curve and those of earlier runs of its path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// Its start, by which other runs know it.
    pub started: String,
    /// Its own medians: pairs of a size and seconds, ascending by size.
    pub curve: Vec<(u64, f64)>,
    /// Earlier runs: start and medians.
    pub earlier: Vec<(String, Vec<(u64, f64)>)>,
}

/// How far runs of one thing lie apart, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenRuns {
    /// Standard deviation of the logarithms of whole curves' levels.
    pub spread: f64,
    /// Its degrees of freedom: runs that it rests on but one, of each side's path.
    pub degrees: f64,
    /// Runs that it rests on.
    #[serde(default)]
    pub runs: u32,
}

impl BetweenRuns {
    /// Degrees of freedom. Five runs of a machine that is in one of two states are all in the same with a probability of 1 in 16, and every
    /// other comparison would then find a difference: 1 in 32.
    const ENOUGH: f64 = 4.0;

    /// Whether it rests on so many runs that a machine's states are among them, so that two runs of one thing are said to
    /// differ in at most one comparison of twenty.
    pub fn sure(&self) -> bool {
        self.degrees >= Self::ENOUGH
    }

    /// The spread as an error.
    pub(super) fn error(&self) -> StandardError {
        StandardError { value: self.spread, degrees: self.degrees }
    }

    /// From the earlier runs that the sides carry, and how far runs lie apart at each of `sizes` beyond their levels, a standard deviation
    /// with the noise within runs in it; none where these are too few.
    pub(super) fn carried(first: Side<'_>, second: Side<'_>, sizes: &[u64]) -> Option<(Self, Vec<f64>)> {
        let all: Vec<(bool, &History)> =
            first.histories.iter().map(|h| (false, h)).chain(second.histories.iter().map(|h| (true, h))).collect();
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (side, history) in &all {
            let compared = |started: &str| all.iter().any(|(_, h)| h.started == started);
            let earlier: Vec<_> = history.earlier.iter().filter(|(started, _)| !compared(started)).collect();
            let known = groups.iter_mut().find(|g| g.earlier.iter().any(|e| earlier.contains(e)));
            match known {
                Some(group) => {
                    group.sides[usize::from(*side)] = true;
                    group.own.push(&history.curve);
                    earlier.into_iter().for_each(|e| {
                        if !group.earlier.contains(&e) {
                            group.earlier.push(e);
                        }
                    });
                }
                None => groups.push(Group { sides: [!side, *side], own: vec![&history.curve], earlier }),
            }
        }
        let between = Self::pooled(groups.iter().filter_map(|group| level_spread(&group.runs())))?;
        let mut all = vec![Squares::default(); sizes.len()];
        for group in &groups {
            for (sum, one) in all.iter_mut().zip(squares_beyond_levels(&group.runs(), sizes)) {
                *sum = sum.and(one);
            }
        }
        Some((between, windowed(&all)))
    }

    /// Spreads of the runs of one path each, pooled by their degrees of freedom; none where there are none.
    pub(super) fn pooled(parts: impl Iterator<Item = StandardError>) -> Option<Self> {
        let (squares, degrees, runs) = parts.fold((0.0, 0.0, 0), |(squares, degrees, runs), p| {
            (squares + p.value * p.value * p.degrees, degrees + p.degrees, runs + p.degrees as u32 + 1)
        });
        (degrees > 0.0).then(|| Self { spread: (squares / degrees).sqrt(), degrees, runs })
    }
}

/// Runs of one path.
struct Group<'a> {
    /// Which sides' runs are among them.
    sides: [bool; 2],
    own: Vec<&'a Vec<(u64, f64)>>,
    earlier: Vec<&'a (String, Vec<(u64, f64)>)>,
}

impl Group<'_> {
    /// Those that tell how far runs of the path lie apart: none without an earlier one.
    fn runs(&self) -> Vec<&[(u64, f64)]> {
        if self.earlier.is_empty() {
            return Vec::new();
        }
        let own = if self.sides == [true, true] { &[] } else { &self.own[..] };
        self.earlier.iter().map(|(_, curve)| curve.as_slice()).chain(own.iter().map(|c| c.as_slice())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(started: u32, level: f64) -> (String, Vec<(u64, f64)>) {
        (started.to_string(), (1..20).map(|i| (i, level * i as f64)).collect())
    }

    fn history(started: u32, level: f64, earlier: &[(u32, f64)]) -> History {
        let (started, curve) = run(started, level);
        History { started, curve, earlier: earlier.iter().map(|(s, l)| run(*s, *l)).collect() }
    }

    fn carried(first: &[History], second: &[History]) -> Option<BetweenRuns> {
        let side = |histories| Side { histories, ..Side::of(&[]) };
        BetweenRuns::carried(side(first), side(second), &[]).map(|(between, _)| between)
    }

    #[test]
    fn a_difference_is_not_judged_by_itself() {
        let (a, b) = (history(7, 1.0, &[]), history(8, 2.0, &[(7, 1.0)]));
        assert_eq!(carried(&[a], &[b]), None, "the only earlier run is the other side");
        let (a, b) = (history(7, 1.0, &[(1, 1.0)]), history(8, 2.0, &[(1, 1.0), (7, 1.0)]));
        assert_eq!(carried(&[a], &[b]), None, "one run more is no spread");
        let (a, b) =
            (history(7, 1.0, &[(1, 1.0), (2, 1.1)]), history(8, 9.0, &[(1, 1.0), (2, 1.1), (7, 1.0), (3, 0.9)]));
        let found = carried(&[a], &[b]).unwrap();
        assert!(found.runs == 3 && found.degrees == 2.0 && found.spread < 0.12, "three others: {found:?}");
        assert_eq!((carried(&[], &[]), carried(&[history(1, 1.0, &[])], &[])), (None, None));
    }

    #[test]
    fn sides_with_earlier_runs_of_their_own_pool_what_they_know() {
        let a = history(7, 1.0, &[(1, 1.0), (2, 1.1)]);
        let b = history(8, 50.0, &[(1, 50.0), (3, 55.0), (4, 45.0)]);
        let found = carried(&[a], &[b]).unwrap();
        assert_eq!(found.runs, 7, "three of one path and four of the other");
        assert!(found.degrees == 5.0 && found.spread < 0.12 && found.sure(), "{found:?}");
    }
}
