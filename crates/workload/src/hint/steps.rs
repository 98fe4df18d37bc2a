//! Which numbers of subintervals a curve has, and what ends it.

use super::{BYTES, Precision, Team};

/// From one number of subintervals to the next: a tenth of a decade, as in the original.
const ADVANCE: f64 = 1.2589;

/// Most numbers of a curve, as in the original.
const MANY: usize = 200;

/// QUIPS below this share of the peak end the curve, as in the original.
pub const TENTH: f64 = 0.1;

/// A trial that is slower than the next larger one is run again so often, as in the original.
pub const AGAIN: u32 = 7;

/// Laps of a first look, as in the original.
pub const LAPS: u64 = 3;

/// Longest answer that the original waits for, seconds.
pub const LONGEST: f64 = 100.0;

/// The next number of subintervals.
pub fn after(n: u64) -> u64 {
    ((n as f64 * ADVANCE) as u64).max(n.saturating_add(1))
}

/// Most subintervals of a process of `team` where `to` are asked for and `memory` bytes may be taken; and which of the three
/// bounds decided.
pub fn most(team: Team, to: u64, memory: u64) -> (u64, Ended) {
    let bounds = [
        (Precision::DOUBLE.most(team.processes), Ended::Precision),
        (to, Ended::Asked),
        (memory / BYTES, Ended::Memory),
    ];
    bounds.into_iter().min_by_key(|(n, _)| *n).unwrap_or((0, Ended::Asked))
}

/// The numbers of subintervals from the team's fewest to `most`, ascending. The last one asked for is among them.
pub fn all(team: Team, most: u64) -> Vec<u64> {
    let mut steps: Vec<u64> =
        std::iter::successors(Some(team.fewest()), |n| Some(after(*n))).take_while(|n| *n <= most).take(MANY).collect();
    if steps.len() < MANY && steps.last().is_some_and(|n| *n < most) {
        steps.push(most);
    }
    steps
}

/// What ended a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As many subintervals as were asked for.
    Asked,
    /// More would not fit the memory that may be taken.
    Memory,
    /// Every subinterval is one step wide.
    Precision,
    /// QUIPS fell to a tenth of their peak.
    Tenth,
    /// An answer takes as long as there is time for.
    Time,
}

impl Ended {
    /// In words, after "ended by".
    pub fn words(self) -> &'static str {
        match self {
            Ended::Asked => "--to",
            Ended::Memory => "memory",
            Ended::Precision => "precision",
            Ended::Tenth => "a tenth of the peak",
            Ended::Time => "time",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_by_a_tenth_of_a_decade() {
        let steps = all(Team::ALONE, 10_000_000);
        assert_eq!(steps[..12], [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22]);
        assert_eq!(*steps.last().unwrap(), 10_000_000, "the end is among them");
        assert!(steps.windows(2).all(|w| w[0] < w[1]));
        assert!(steps.windows(2).filter(|w| w[0] > 100).all(|w| w[1] as f64 / w[0] as f64 <= 1.2589));
        assert_eq!(all(Team::of_two(1), 9), [4, 5, 6, 7, 8, 9]);
        assert_eq!(all(Team::of_two(0), 3), [], "fewer than the chunks");
        assert_eq!(all(Team::ALONE, u64::MAX).len(), MANY);
    }

    #[test]
    fn the_tightest_bound_decides() {
        assert_eq!(most(Team::ALONE, 500, 1 << 20), (500, Ended::Asked));
        assert_eq!(most(Team::ALONE, u64::MAX, 96_000), (1000, Ended::Memory));
        assert_eq!(most(Team::of_two(0), u64::MAX, u64::MAX), (1 << 25, Ended::Precision));
        assert_eq!(most(Team::ALONE, 1000, 96_000), (1000, Ended::Asked), "what was asked for goes first");
    }
}
