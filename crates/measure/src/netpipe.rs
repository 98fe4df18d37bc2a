//! NetPIPE 3.7's schedule, repeats and trials exactly, so that results compare (`--schedule netpipe`).

use crate::event::Why;
use crate::figures::Common;
use crate::path::PathRun;
use crate::teller::RunError;
use crate::{judge, sizes};

/// Time that a trial is to take, seconds (3.7's RUNTM).
const RUN_TIME: f64 = 0.10;
/// Trials of a point, of which the shortest counts.
const TRIALS: u32 = 3;
/// Untimed ping-pongs at the first size, from which the first repeat count follows.
const FIRST: u64 = 100;
/// A point this slow is the last, seconds (STOPTM).
const STOP: f64 = 1.0;

/// 3.7's repeat rule: as many as fill the run time, by the last point's time (seconds) and the size's growth.
pub fn repeats(previous: u64, increment: u64, last: f64) -> u64 {
    let growth = previous as f64 / (previous as f64 - increment as f64 + 1.0);
    let n = RUN_TIME / (growth * last);
    if n.is_finite() && n > f64::from(TRIALS) { n as u64 } else { u64::from(TRIALS) }
}

/// Measures one path by this schedule, size after size on one connection.
pub fn measure(path: &mut PathRun<'_>) -> Result<(), RunError> {
    let plan = path.plan;
    let trials = plan.trials.unwrap_or(TRIALS);
    let steps: Vec<sizes::Step> = match &plan.sizes {
        Some(sizes) => sizes.iter().map(|&size| sizes::Step { size, increment: 1, around: size }).collect(),
        None => sizes::netpipe(plan.from, plan.to, plan.perturb),
    };
    path.connect_first(1)?;
    let most = path.most();
    path.begin(1, u32::try_from(steps.len()).unwrap_or(u32::MAX).saturating_mul(trials))?;
    if steps.iter().any(|s| s.size > most) {
        path.warn(judge::capped(path.kind, most))?;
    }
    let start = steps.first().map_or(1, |s| s.size);
    path.trial(start, FIRST, 1, true)?;
    // 3.7 counts one-way times from the start: its time for 100 ping-pongs, divided by 200.
    let mut last = path.shortest(start);
    let mut previous = start;
    let fit: Vec<sizes::Step> = steps.into_iter().filter(|s| s.size <= most).collect();
    // The stop rule is applied once to a size and its perturbations.
    for around in fit.chunk_by(|a, b| a.around == b.around) {
        if last >= STOP {
            path.warn(judge::stopped_short(path.plan, around[0].size, around[0].size, last, judge::Stop::Slow))?;
            break;
        }
        for step in around {
            let n = plan.repeats.unwrap_or_else(|| repeats(previous, step.increment, last));
            for _ in 0..trials {
                path.trial(step.size, n, 1, false)?;
            }
            last = path.shortest(step.size);
            previous = step.size;
            path.end_point(step.size, Why::Trials, &Common::default())?;
        }
    }
    path.note_taken(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_follow_the_rule_of_3_7() {
        assert_eq!(repeats(1, 1, 10e-6), 10_000);
        assert_eq!(repeats(6, 4, 10e-6), 5_000);
        assert_eq!(repeats(1 << 23, 1 << 22, 0.5), 3);
        assert_eq!(repeats(1, 1, 0.0), 3, "a clock that saw nothing must not ask for infinity");
    }
}
