//! How far the median of the states that a run's moments met may lie from the one seen.
//!
//! The level of a round is the state that most of its moments met. Where states change several times within a round, a few per cent of its
//! moments more or less decide which of two that is, and all rounds of a short run may come out on the same side: their levels then agree,
//! and tell nothing of the other state. The moments do. A median is a value that as many moments lie above as below, and how far the share
//! of moments above a value strays by chance is told by the slowest waves of the series of those that do (as for the mean level: [`crate::Moves`]).

use std::f64::consts::PI;

use crate::interval::student_t;

/// Waves that tell how far a share strays. The states that need it change often: longer ones make the levels of rounds differ.
const WAVES: usize = 8;

/// Moments that so many waves need.
const FEWEST: usize = 4 * WAVES;

/// The lowest and the highest value that may be the true median at `confidence`, of states in the order of time. None of too few.
pub(crate) fn median_ends(states: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if states.len() < FEWEST {
        return None;
    }
    let waves = Waves::of(states.len());
    let below: Vec<f64> = states.iter().map(|s| -s).collect();
    Some((-waves.highest(&below, confidence), waves.highest(states, confidence)))
}

/// The slowest waves of a series of some length.
struct Waves(Vec<Vec<f64>>);

impl Waves {
    fn of(n: usize) -> Self {
        let wave = |wave: usize| (0..n).map(|i| (PI * wave as f64 / n as f64 * (i as f64 + 0.5)).cos()).collect();
        Self((1..=WAVES).map(wave).collect())
    }

    /// The highest value that may be the median.
    fn highest(&self, states: &[f64], confidence: f64) -> f64 {
        let n = states.len() as f64;
        let mut sorted = states.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let most = student_t(confidence, WAVES as f64);
        // Whether so many moments lie above a value that half of them may in the long run.
        let may_be = |value: f64| {
            let above = |s: &f64| *s > value;
            let off = states.iter().filter(|s| above(s)).count() as f64 / n - 0.5;
            let squared = |wave: &Vec<f64>| {
                let sum: f64 = states.iter().zip(wave).filter(|(s, _)| above(s)).map(|(_, w)| w).sum();
                2.0 / n * sum * sum
            };
            let strays = self.0.iter().map(squared).sum::<f64>() / WAVES as f64 / n;
            off.abs() <= most * strays.sqrt()
        };
        // The farther up, the fewer lie above.
        let (mut yes, mut no) = ((sorted.len() - 1) / 2, sorted.len());
        while no - yes > 1 {
            let middle = yes + (no - yes) / 2;
            if may_be(sorted[middle]) { yes = middle } else { no = middle }
        }
        // Between this value and the next all are alike.
        sorted[no.min(sorted.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// So many moments of a machine of two states, of which the slow one (1) is met for this share of the time, in stretches of so many
    /// moments on average, the longer of the two.
    fn states(rng: &mut ChaCha8Rng, n: usize, share: f64, lasts: f64) -> Vec<f64> {
        let (slow, fast) = (lasts * (share / (1.0 - share)).min(1.0), lasts * ((1.0 - share) / share).min(1.0));
        let mut now = rng.random_bool(share);
        (0..n)
            .map(|_| {
                if rng.random_bool((1.0 / if now { slow } else { fast }).min(1.0)) {
                    now = !now;
                }
                f64::from(u8::from(now)) + 0.01 * rng.random::<f64>()
            })
            .collect()
    }

    /// Percent of 1,000 runs whose ends hold this value.
    fn held(n: usize, share: f64, lasts: f64, value: f64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(31);
        let one = |_: &usize| {
            let (low, high) = median_ends(&states(&mut rng, n, share, lasts), 0.95).unwrap();
            low <= value && value <= high
        };
        (0..1000).filter(one).count() as f64 / 10.0
    }

    #[test]
    fn two_states_that_are_as_likely_as_each_other_are_both_held() {
        for (n, lasts) in [(160, 3.0), (160, 6.7), (360, 6.7), (360, 15.0), (4000, 50.0)] {
            let found = held(n, 0.5, lasts, 0.5);
            println!("{n} moments in states of {lasts}: {found}%");
            assert!((91.0..99.0).contains(&found), "{n} moments in states of {lasts}: {found}%");
        }
    }

    #[test]
    fn a_state_that_comes_seldom_is_not_held() {
        for (n, lasts) in [(160, 6.7), (360, 6.7)] {
            let found = held(n, 0.1, lasts, 0.5);
            assert!(found < 3.0, "{n} moments in states of {lasts}: {found}%");
        }
        assert_eq!(median_ends(&[0.0; FEWEST - 1], 0.95), None);
        assert_eq!(median_ends(&[0.25; 100], 0.95), Some((0.25, 0.25)));
    }
}
