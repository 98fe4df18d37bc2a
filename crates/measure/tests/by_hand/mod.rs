//! Trials made by hand, and their figures.

use measure::event::{Figures, Plan, Trial};
use measure::{Pattern, TrialReport, figures};
use transport::Name;

/// The plan of a run that asks for a pattern alone.
pub fn plan(pattern: Pattern) -> Plan {
    Plan { pattern, ..Plan::default() }
}

/// A trial of 100 iterations of 1,000 bytes, of which the typical one took so long.
pub fn trial(round: u32, median: f64) -> Trial {
    Trial {
        path: 0,
        round,
        at: 0.0,
        size: 1000,
        response: 0,
        burst: 0,
        warmup: false,
        report: TrialReport {
            repeats: 100,
            seconds: median * 100.0,
            median,
            min: median * 0.9,
            max: median * 1.1,
            ..TrialReport::default()
        },
    }
}

/// The figures of trials that share nothing with those of other sizes.
pub fn of(plan: &Plan, kind: Name, trials: &[Trial]) -> Option<Figures> {
    figures::figures(plan, kind, &trials.iter().collect::<Vec<_>>(), &figures::Common::default())
}
