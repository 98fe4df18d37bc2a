//! Jitter: how unsteady a path is. Outliers, drift over the run, and disturbances that come back at a period.
//!
//! Percentiles over size are figures of single points, and need no model.
//!
//! | module | job |
//! |---|---|
//! | `drift` | the levels of the run's rounds against the time |
//! | `disturbance` | what came back, and in what it shows |
//! | `periodic` | a quick period in the moments of pauses, from their spectrum |
//! | `cycle` | tells it from a part of itself |
//! | `stops` | a slow period of the longest pauses |
//! | `beats` | which stops come at the due moments of a period, and what they say of it |
//! | `watch` | when trials ran |
//! | `divided` | tells it from a whole multiple of a quicker one |
//! | `levels` | a period in how long trials take, beyond a red `background` |
//! | `rhythm` | the rhythm of the run's own trials and rounds |

mod background;
mod beats;
mod cycle;
mod disturbance;
mod divided;
mod drift;
mod levels;
mod periodic;
mod rhythm;
mod stops;
mod watch;

pub use disturbance::{Periodic, Source};
pub use drift::Drift;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{CONFIDENCE, StandardError, mean, median};

use crate::Estimate;
use periodic::Searched;

/// A disturbance comes back so often at least: what comes back less often in a run may as well be chance.
const TIMES: f64 = 6.0;

/// Chance that a run without a periodic disturbance is said to have one, in pauses or levels.
const LEVEL: f64 = 0.001;

/// Stretches of a soak whose levels tell its drift: more would say no more of a line.
const STRETCHES: usize = 240;

/// One trial, as far as jitter is concerned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moment {
    /// Message size, bytes.
    pub size: u64,
    /// Number of the round: its trials ran on one connection.
    pub round: u32,
    /// Seconds from the run's start to the trial's.
    pub at: f64,
    /// Seconds that the trial lasted.
    pub lasted: f64,
    /// Typical time of one iteration, seconds.
    pub seconds: f64,
    /// Pauses: seconds from the run's start to each, ascending. An iteration that took over twice the trial's median.
    pub pauses: Vec<f64>,
    /// How long each of them lasted, seconds; empty where that is not known.
    pub lengths: Vec<f64>,
    /// Of single iterations that were timed: how many took over twice the trial's median, and how many there were.
    pub slow: (u64, u64),
}

impl Moment {
    /// How near to its ends a moment no longer counts as watched by the trial, seconds, where stops may lie so near to their due moments:
    /// at most an eighth of what it lasted beside its pauses. Trials of two milliseconds would otherwise watch nothing.
    fn edge(&self, near: f64) -> f64 {
        near.min((self.lasted - self.lengths.iter().sum::<f64>()).max(0.0) / 8.0)
    }
}

/// How unsteady a path is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Jitter {
    /// Share of single iterations that took over twice the median of their trial; none where none were timed.
    pub outliers: Option<Estimate>,
    /// How the whole curve moved over the run; none with fewer than four rounds.
    pub drift: Option<Drift>,
    /// Disturbances that come back, the surest first; empty where none is sure.
    pub periodic: Vec<Periodic>,
    /// The longest period that a run of this length can tell, seconds: one that comes back six times in it. 0 where
    /// none was looked for.
    pub longest: f64,
    /// The longest period of stops of which enough fall into trials that lie like these, in nine of ten runs, seconds: longer ones are
    /// mostly not found. 0 where none was looked for.
    #[serde(default)]
    pub longest_of_pauses: f64,
    /// The share of the run in which a trial would have seen a stop begin, 0 to 1.
    #[serde(default)]
    pub watched: f64,
    /// The shortest period of pauses that was looked for, seconds; 0 where none was.
    pub shortest: f64,
    /// The shortest period of levels that was looked for, seconds: trials must lie close enough, and no more than 4096
    /// frequencies are looked at. None where none was.
    pub shortest_of_levels: Option<f64>,
    /// Why no period was looked for, where none was.
    pub unsearched: Option<String>,
}

impl Jitter {
    /// Reads it off a path's trials, in any order, warm-up left out.
    pub fn of(trials: &[Moment]) -> Self {
        Self::of_trials(trials, trials)
    }

    /// The same of the intervals of one connection, which follow each other at a rhythm of their own: a new interval is no new connection,
    /// so that what comes back at that rhythm is a disturbance like any other. Its drift is that of at most [`STRETCHES`] stretches of
    /// them.
    pub fn of_intervals(intervals: &[Moment]) -> Self {
        let held: Vec<Moment> = intervals.iter().map(|t| Moment { round: 0, ..t.clone() }).collect();
        Self::of_trials(&stretches(intervals), &held)
    }

    /// Outliers and drift from `rounds`, periods from `trials`: the same trials, but for the numbers of their rounds.
    fn of_trials(rounds: &[Moment], trials: &[Moment]) -> Self {
        let usable = |t: &&Moment| {
            t.seconds > 0.0 && t.seconds.is_finite() && t.at.is_finite() && t.lasted >= 0.0 && t.lasted.is_finite()
        };
        let rounds: Vec<&Moment> = rounds.iter().filter(usable).collect();
        let mut trials: Vec<&Moment> = trials.iter().filter(usable).collect();
        trials.sort_by(|a, b| a.at.total_cmp(&b.at));
        let levels = about_sizes(&trials);
        let span = trials.last().map_or(0.0, |t| t.at + t.lasted) - trials.first().map_or(0.0, |t| t.at);
        let (outliers, drift) = (outliers(&rounds), Drift::of(&rounds));
        match periodic::search(&trials, &levels) {
            Ok(Searched { found: periodic, shortest, shortest_of_levels }) => {
                let longest = span / TIMES;
                let (watched, longest_of_pauses) = stops::seen(&trials, span);
                let unsearched = None;
                Self {
                    outliers,
                    drift,
                    periodic,
                    longest,
                    longest_of_pauses,
                    watched,
                    shortest,
                    shortest_of_levels,
                    unsearched,
                }
            }
            Err(why) => Self { outliers, drift, unsearched: Some(why.to_owned()), ..Self::default() },
        }
    }
}

/// Intervals with the number of their stretch as round.
fn stretches(intervals: &[Moment]) -> Vec<Moment> {
    let stretch = intervals.len().div_ceil(STRETCHES).max(1);
    intervals.iter().enumerate().map(|(i, t)| Moment { round: (i / stretch) as u32, ..t.clone() }).collect()
}

/// Logarithm of each trial's time over the median of its size: no level of a round, since rhythms lie within rounds.
fn about_sizes(trials: &[&Moment]) -> Vec<f64> {
    let mut of_size = BTreeMap::<u64, Vec<f64>>::new();
    for t in trials {
        of_size.entry(t.size).or_default().push(t.seconds.ln());
    }
    let middle: BTreeMap<u64, f64> = of_size.into_iter().map(|(size, logs)| (size, median(&logs))).collect();
    trials.iter().map(|t| t.seconds.ln() - middle[&t.size]).collect()
}

/// The share of all iterations, with an interval from how the shares of rounds differ, and no narrower than so many iterations allow
/// (Wilson 1927): that none was seen does not mean that there are none.
fn outliers(trials: &[&Moment]) -> Option<Estimate> {
    let mut rounds = BTreeMap::<u32, (u64, u64)>::new();
    for t in trials.iter().filter(|t| t.slow.1 > 0) {
        let round = rounds.entry(t.round).or_default();
        *round = (round.0.saturating_add(t.slow.0), round.1.saturating_add(t.slow.1));
    }
    let shares: Vec<f64> = rounds.values().map(|(slow, all)| *slow as f64 / *all as f64).collect();
    let k = shares.len();
    let value = mean(&shares);
    match k {
        0 => None,
        1 => Some(Estimate { value, low: 0.0, high: 1.0 }),
        _ => {
            let reach = StandardError::of_mean(&shares).reach(CONFIDENCE);
            let (low, high) = wilson(value, rounds.values().map(|b| b.1 as f64).sum());
            Some(Estimate { value, low: (value - reach).max(0.0).min(low), high: (value + reach).min(1.0).max(high) })
        }
    }
}

/// Wilson's 95% interval of a share seen among so many.
fn wilson(share: f64, many: f64) -> (f64, f64) {
    const Z: f64 = 1.96;
    let part = Z * Z / many;
    let middle = (share + part / 2.0) / (1.0 + part);
    let reach = (share * (1.0 - share) * part + part * part / 4.0).max(0.0).sqrt() / (1.0 + part);
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_outlier_was_seen_there_may_be_some() {
        let of = |slow: (u64, u64)| {
            let trials: Vec<Moment> =
                (0..10).map(|round| Moment { round, slow, seconds: 1e-6, ..Moment::default() }).collect();
            outliers(&trials.iter().collect::<Vec<_>>()).unwrap()
        };
        let none = of((0, 1000));
        assert!(none.value == 0.0 && none.low == 0.0 && (2e-4..6e-4).contains(&none.high), "{none:?}");
        let all = of((1000, 1000));
        assert!(all.high == 1.0 && (0.999..1.0).contains(&all.low), "{all:?}");
        let some = of((10, 1000));
        assert!((0.007..0.009).contains(&some.low) && (0.011..0.013).contains(&some.high), "{some:?}");
    }
}
