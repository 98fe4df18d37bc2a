//! How much of a run is done, by what ends it: its budget, or its number of trials.

use measure::Event;
use measure::event::{Plan, Schedule};

/// How much of a run is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Extent(Measure);

/// What ends a run.
#[derive(Debug, Clone, PartialEq)]
enum Measure {
    /// Time that all paths may take, and how much of it has passed, seconds.
    Budget { all: f64, at: f64 },
    /// Trials: where a number of them, or NetPIPE's schedule, ends a run, the time that takes is not known.
    Trials(Count),
}

/// Counts of a run that a number of trials ends.
#[derive(Debug, Clone, Default, PartialEq)]
struct Count {
    /// Rounds of all paths, and how many of them have begun.
    rounds: u64,
    begun: u64,
    /// Trials of the round in progress, and how many of them are done.
    planned: u64,
    done: u64,
}

impl Extent {
    /// The extent of a run of `plan` that has not begun.
    pub fn of(plan: &Plan) -> Self {
        let paths = plan.paths.len();
        Self(if plan.schedule == Schedule::Netpipe || plan.trials.is_some() {
            // NetPIPE's schedule has one round a path; other schedules have a survey and one for each trial of a point.
            let each = if plan.schedule == Schedule::Netpipe { 1 } else { 1 + u64::from(plan.trials.unwrap_or(0)) };
            Measure::Trials(Count { rounds: each * paths as u64, ..Count::default() })
        } else {
            Measure::Budget { all: plan.budget * paths as f64, at: 0.0 }
        })
    }

    /// Updates the counts by one event.
    pub fn event(&mut self, event: &Event) {
        match (&mut self.0, event) {
            (Measure::Budget { at, .. }, Event::Round(b)) => *at = b.at,
            (Measure::Budget { at, .. }, Event::Trial(t) | Event::Sustained(t)) => *at = t.at,
            (Measure::Trials(c), Event::Round(b)) => {
                *c = Count { begun: c.begun + 1, planned: b.planned.into(), done: 0, ..*c };
            }
            (Measure::Trials(c), Event::Trial(_)) => {
                c.done += 1;
                // A jump in the curve adds trials that were not planned.
                c.planned = c.planned.max(c.done);
            }
            _ => {}
        }
    }

    /// How much of the run is done, 0 to 1.
    pub fn share(&self) -> f64 {
        let share = match &self.0 {
            Measure::Budget { all, at } => at / all.max(f64::MIN_POSITIVE),
            Measure::Trials(c) => {
                let round = if c.planned == 0 { 0.0 } else { c.done as f64 / c.planned as f64 };
                ((c.begun.saturating_sub(1)) as f64 + round) / c.rounds.max(1) as f64
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// What is left, in words, after `what`, the step in progress.
    pub fn words(&self, what: &str) -> String {
        match &self.0 {
            Measure::Budget { all, at } => format!("{:.0} s left; {what}", (all - at).max(0.0).ceil()),
            Measure::Trials(c) => format!("{what}: {} of {} trials", c.done, c.planned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use measure::event::RoundOpened;

    #[test]
    fn counted_trials_move_evenly_to_the_end() {
        let plan = Plan { trials: Some(3), ..Plan::default() };
        let mut extent = Extent::of(&plan);
        let mut shares = vec![extent.share()];
        let trial = Event::Trial(sample::trial(0, 0, 0.0, 64, 1e-5));
        for round in 0..4 {
            extent.event(&Event::Round(RoundOpened { path: 0, round, at: 0.0, planned: 5, ..RoundOpened::default() }));
            for _ in 0..5 {
                extent.event(&trial);
                shares.push(extent.share());
            }
        }
        assert_eq!((shares[0], shares[10], shares[20]), (0.0, 0.5, 1.0));
        assert!(shares.windows(2).all(|w| w[0] < w[1]), "{shares:?}");
        // More than was planned never goes beyond the end.
        extent.event(&trial);
        assert_eq!(extent.share(), 1.0);
        assert_eq!(extent.words("tcp"), "tcp: 6 of 6 trials");
    }

    #[test]
    fn a_budget_is_spent_by_all_paths_together() {
        let plan = Plan {
            paths: measure::event::plain(&[transport::tcp::NAME, transport::unix::NAME]),
            budget: 5.0,
            ..Plan::default()
        };
        let mut extent = Extent::of(&plan);
        extent.event(&Event::Trial(sample::trial(0, 1, 2.5, 64, 1e-5)));
        assert_eq!((extent.share(), extent.words("tcp").as_str()), (0.25, "8 s left; tcp"));
        extent.event(&Event::Trial(sample::trial(0, 1, 25.0, 64, 1e-5)));
        assert_eq!((extent.share(), extent.words("tcp").as_str()), (1.0, "0 s left; tcp"));
    }
}
