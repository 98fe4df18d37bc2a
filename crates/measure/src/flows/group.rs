//! The reports of a group's members as one: one of them casts, and all others receive what it cast.

use transport::LinkError;

use super::report::joined;
use super::{FlowReport, Flows};
use crate::cost::Cost;
use crate::pattern::InGroup;
use crate::{FarReport, SessionError, TrialReport, TrialSpec};

/// The casting member's report and those of the receiving ones as one. `told` is what all receivers that timed what they received did at
/// the same time.
pub fn of_group(
    spec: &TrialSpec,
    near: TrialReport,
    far: Vec<FarReport>,
    told: Option<Flows>,
) -> Result<TrialReport, SessionError> {
    match spec.pattern.facts().in_group {
        Some(InGroup::Each) => Ok(each(spec, near, far, told)),
        Some(InGroup::Whole) => Ok(whole(spec, near, far)),
        None => Err(LinkError::Unsupported("run this pattern in a group").into()),
    }
}

/// Receivers that each timed what they received count as flows with one sender: its report counts once.
fn each(spec: &TrialSpec, near: TrialReport, far: Vec<FarReport>, told: Option<Flows>) -> TrialReport {
    let TrialReport { repeats, seconds, cost, .. } = near;
    let handed_over = || TrialReport { repeats, seconds, ..TrialReport::default() };
    let halves = far.iter().map(|_| handed_over()).collect();
    TrialReport { cost, ..joined(spec, halves, far, told) }
}

/// The near member timed iterations of all: its times are the trial's. Every other one reports how many casts came; where several cast, of that one of
/// which fewest did.
fn whole(spec: &TrialSpec, near: TrialReport, far: Vec<FarReport>) -> TrialReport {
    let made = spec.repeats.saturating_add(spec.warmup).saturating_mul(spec.pattern.facts().sends(spec));
    let each: Vec<FlowReport> = far
        .iter()
        .map(|far| FlowReport {
            iterations: near.repeats as f64,
            lost: made.saturating_sub(far.received),
            ..FlowReport::default()
        })
        .collect();
    let seconds = near.seconds;
    let flows = (each.len() > 1).then_some(Flows { seconds, span: seconds, apart: 0.0, each });
    let sum = |of: fn(&FarReport) -> u64| far.iter().fold(0, |all: u64, far| all.saturating_add(of(far)));
    let all = FarReport {
        received: sum(|far| far.received),
        reordered: sum(|far| far.reordered),
        duplicated: sum(|far| far.duplicated),
        strangers: sum(|far| far.strangers),
        cost: Cost::of_all(far.iter().map(|far| far.cost)),
        ..FarReport::default()
    };
    TrialReport { flows, course: None, far: all, ..near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;
    use crate::flows::{Course, Step, told};

    fn received(begin: u64, each: u64, messages: u64) -> FarReport {
        let steps = (1..=messages).map(|i| Step { end: begin + i * each, iterations: 1, took: 0 }).collect();
        FarReport {
            received: messages,
            lost: 10 - messages,
            course: Some(Course { begin, steps }),
            ..FarReport::default()
        }
    }

    #[test]
    fn a_cast_is_timed_where_it_is_cast_and_each_member_says_what_came() {
        let spec = TrialSpec { flows: 2, warmup: 2, ..TrialSpec::plain(Pattern::Cast, 100, 10) };
        let near = TrialReport { repeats: 9, lost: 1, seconds: 9e-6, median: 1e-6, ..TrialReport::default() };
        let far = |received| FarReport { received, ..FarReport::default() };
        let all = of_group(&spec, near.clone(), vec![far(12), far(11)], None).unwrap();
        assert_eq!((all.repeats, all.lost, all.seconds, all.median), (9, 1, 9e-6, 1e-6));
        assert_eq!(all.far.received, 23);
        let flows = all.flows.clone().unwrap();
        assert_eq!(flows.each.iter().map(|flow| flow.lost).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((flows.seconds, flows.fairness()), (9e-6, Some(1.0)));
        assert!(all.sound());
        let two = of_group(&TrialSpec { flows: 1, ..spec }, near, vec![far(12)], None).unwrap();
        assert!(two.flows.is_none() && two.sound());
    }

    #[test]
    fn what_a_stream_costs_its_sender_counts_once_whoever_receives_it() {
        let spec = TrialSpec { flows: 2, ..TrialSpec::plain(Pattern::Stream, 1000, 10) };
        let cost = Cost { iterations: 10, elapsed_ns: 500, cpu_ns: 400, ..Cost::default() };
        let near = TrialReport { repeats: 10, seconds: 5e-7, cost: Some(cost), ..TrialReport::default() };
        let far = vec![received(0, 100, 10), received(0, 200, 5)];
        let together = told(&far);
        let all = of_group(&spec, near, far, together).unwrap();
        assert_eq!(all.cost, Some(cost));
        let flows = all.flows.clone().unwrap();
        assert_eq!(
            flows.each.iter().map(|flow| (flow.iterations, flow.lost)).collect::<Vec<_>>(),
            [(10.0, 0), (5.0, 5)]
        );
        assert_eq!((all.far.received, all.far.lost, all.far.bytes), (15, 5, 15_000));
    }

    #[test]
    fn a_pattern_that_no_group_runs_is_refused() {
        let spec = TrialSpec::plain(Pattern::PingPong, 100, 10);
        assert!(of_group(&spec, TrialReport::default(), vec![FarReport::default()], None).is_err());
    }
}
