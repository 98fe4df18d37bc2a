//! What all halves of a trial say, as one report: what far sides say is held against what can be.

use measure::{FarReport, SessionError, Topology, TrialReport, TrialSpec, credible};
use transport::Capabilities;

use super::blame::Shape;
use super::trial::{Came, When};
use crate::near::control::Reported;
use crate::near::flows::{by_this_clock, common_is_credible, one, reports_are_credible};

/// The report of all halves of a trial as one. An error names the far process whose word it does not take.
pub(super) fn joined(
    spec: &TrialSpec,
    (mut near, reported): Came,
    shape: Shape,
    can: &Capabilities,
    &When { elapsed, between, ref ahead, ref near_ahead }: &When,
) -> Result<TrialReport, (Option<usize>, SessionError)> {
    // Members of a group that has no time for all iterations end it together, so that each did what the near one did.
    let shorter = TrialSpec {
        repeats: near.first().map_or(1, |near| near.repeats.saturating_add(near.lost).clamp(1, spec.repeats.max(1))),
        ..spec.clone()
    };
    let spec = if spec.within.is_some() { &shorter } else { spec };
    let incredible = |far: usize, why: String| {
        (Some(far), SessionError::Control(format!("the far side reports what can't be: {why}")))
    };
    for (number, (report, ahead)) in near.iter_mut().zip(near_ahead).enumerate() {
        let here = report.course.take().map(|course| by_this_clock(course, *ahead, between)).transpose();
        let impossible = |why| SessionError::Control(format!("the near process reports what can't be: {why}"));
        report.course = here.map_err(|why| (None, shape.named(number, impossible(why))))?;
    }
    let (mut far, mut told): (Vec<FarReport>, _) = (Vec::new(), None);
    let several = reported.len() > 1;
    for (i, Reported { reports, flows, courses, .. }) in reported.into_iter().enumerate() {
        let own = if several { 1 } else { near.len() };
        if !several {
            reports_are_credible(&reports, flows.as_ref(), own, spec, can, elapsed)
                .map_err(|why| incredible(i, why))?;
            (far, told) = (reports, flows);
            break;
        }
        let [report] = <[FarReport; 1]>::try_from(reports)
            .map_err(|reports| incredible(i, format!("reports of {} flows, where 1 can be", reports.len())))?;
        let its = spec.flow(i as u32);
        credible::credible(&report, &its, can, elapsed).map_err(|why| incredible(i, why))?;
        let mut course = courses.first().map(|course| course.course().unwrap_or_default());
        credible::credible_course(course.as_ref(), &report, &its).map_err(|why| incredible(i, why))?;
        // Processes of one host have one clock, and their courses are compared as they are.
        if spec.timed_at_both() || ahead.len() > 1 {
            let its = ahead.get(i % ahead.len().max(1)).copied().flatten();
            let ahead = its.ok_or_else(|| incredible(i, "moments of no one clock".to_owned()))?;
            let here = course.map(|course| by_this_clock(course, ahead, between)).transpose();
            course = here.map_err(|why| incredible(i, why))?;
        }
        if flows.is_some() || courses.len() > 1 {
            return Err(incredible(i, "flows that it does not have".to_owned()));
        }
        far.push(FarReport { course, ..report });
    }
    if several {
        told = measure::flows::told(&far);
        credible::credible_flows(told.as_ref(), &far, spec, elapsed)
            .map_err(|why| (None, SessionError::Control(format!("the far sides report what can't be: {why}"))))?;
    }
    // One that casts has all others as the other half of its trial.
    let casts = shape.topology == Topology::Group;
    let halves = near.iter().cycle().take(if casts { far.len() } else { near.len() });
    for (number, (near, far)) in halves.zip(&far).enumerate() {
        one(near, far, spec).map_err(|e| (None, shape.named(number, e)))?;
    }
    let (near_costs, far_costs): (Vec<_>, Vec<_>) =
        (near.iter().map(|near| near.cost).collect(), far.iter().map(|far| far.cost).collect());
    let report = match <[TrialReport; 1]>::try_from(near) {
        Ok([near]) if casts => measure::flows::of_group(spec, near, far, told).map_err(|e| (None, e))?,
        Ok(near) => measure::flows::joined(spec, near.into(), far, told),
        Err(near) => measure::flows::joined(spec, near, far, told),
    };
    let report = measure::flows::with_costs(report, &near_costs, &far_costs);
    common_is_credible(&report, spec)
        .map_err(|why| (None, SessionError::Control(format!("the far sides report what can't be: {why}"))))?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use measure::flows::Step;
    use measure::{Course, Pattern};

    use super::*;
    use crate::course::Numbers;
    use crate::moments::Ahead;

    const CAN: Duration = Duration::from_millis(10);

    /// A far process that received ten messages of 1000 bytes after one of warm-up, which was here at `begin`: one each `each` nanoseconds.
    fn received(begin: u64, each: u64) -> Reported {
        let steps: Vec<Step> = (1..=10).map(|i| Step { end: begin + i * each, iterations: 1, took: 0 }).collect();
        let report =
            FarReport { received: 11, bytes: 10_000, seconds: (10 * each) as f64 * 1e-9, ..FarReport::default() };
        let course = Numbers::of(&Course { begin, steps });
        Reported { reports: vec![report], flows: None, load: None, courses: vec![course] }
    }

    fn of(reported: Vec<Reported>, topology: Topology) -> Result<TrialReport, String> {
        let spec = TrialSpec { flows: 2, warmup: 1, ..TrialSpec::plain(Pattern::Stream, 1000, 10) };
        let sent = TrialReport { repeats: 10, seconds: 1e-5, ..TrialReport::default() };
        let shape = Shape { topology, one: topology.one(), of: 2 };
        let when = When { elapsed: CAN, between: (0, 1 << 60), ahead: vec![Some(Ahead::NOT)], near_ahead: Vec::new() };
        joined(&spec, (vec![sent.clone(), sent], reported), shape, &Capabilities::plain(), &when)
            .map_err(|(far, e)| format!("{far:?} {e}"))
    }

    /// Two pairs on lines of known speed: one from 1 to 3 us past a moment, the other twice as fast from 2 us on.
    #[test]
    fn only_the_time_in_which_all_pairs_streamed_counts_and_all_of_it() {
        let at = 5_000_000_000;
        let report = of(vec![received(at + 1_000, 200), received(at + 2_000, 100)], Topology::Pairs).unwrap();
        let flows = report.flows.unwrap();
        assert!((flows.seconds / 1e-6 - 1.0).abs() < 1e-9 && (flows.span / 2e-6 - 1.0).abs() < 1e-9, "{flows:?}");
        let each: Vec<f64> = flows.each.iter().map(|pair| pair.iterations).collect();
        assert_eq!(each, [5.0, 10.0], "half of the slower one's, and all of the faster one's");
        assert_eq!((report.far.bytes, report.far.received, report.repeats), (15_000, 22, 15));
    }

    #[test]
    fn one_far_process_finds_the_common_time_itself() {
        let told = measure::Flows {
            seconds: 1e-6,
            span: 2e-6,
            apart: 1e-6,
            // Ten messages in ten microseconds, as each near process handed them over.
            each: [5.0, 10.0]
                .map(|iterations| measure::FlowReport { iterations, sent: 10.0 / 1e-5, ..Default::default() })
                .to_vec(),
        };
        let each: Vec<FarReport> = [received(0, 200), received(0, 100)].map(|r| r.reports[0].clone()).to_vec();
        let all = Reported { reports: each, flows: Some(told.clone()), load: None, courses: Vec::new() };
        assert_eq!(of(vec![all], Topology::FanIn).unwrap().flows, Some(told));
    }

    /// Receivers on two hosts, of which the second's clock is an hour ahead.
    #[test]
    fn near_processes_of_other_hosts_are_compared_by_this_hosts_clock() {
        let spec = TrialSpec { flows: 2, reverse: true, ..TrialSpec::plain(Pattern::Stream, 1000, 10) };
        let (at, hour) = (5_000_000_000u64, 3_600_000_000_000u64);
        let came = |begin: u64, each: u64| {
            let steps = (1..=10).map(|i| Step { end: begin + i * each, iterations: 1, took: 0 }).collect();
            let far = FarReport { received: 10, ..FarReport::default() };
            TrialReport { repeats: 10, course: Some(Course { begin, steps }), far, ..TrialReport::default() }
        };
        let of = |ahead: u64| {
            let near = vec![came(at + 1_000, 200), came(at + hour + 2_000, 100)];
            let sent = FarReport { bytes: 10_000, seconds: 1e-6, ..FarReport::default() };
            let all = Reported { reports: vec![sent.clone(), sent], flows: None, load: None, courses: Vec::new() };
            let told = |ahead| Ahead::told(at, at + ahead, at);
            let when = When {
                elapsed: CAN,
                between: (at, at + 10_000_000),
                ahead: vec![None],
                near_ahead: vec![told(0), told(ahead)],
            };
            let shape = Shape { topology: Topology::FanOut, one: "member", of: 2 };
            joined(&spec, (near, vec![all]), shape, &Capabilities::plain(), &when).map_err(|(_, e)| e.to_string())
        };
        let flows = of(hour).unwrap().flows.unwrap();
        assert!((flows.seconds / 1e-6 - 1.0).abs() < 1e-9 && (flows.span / 2e-6 - 1.0).abs() < 1e-9, "{flows:?}");
        assert_eq!(flows.each.iter().map(|flow| flow.iterations).collect::<Vec<_>>(), [5.0, 10.0]);
        let said = of(0).unwrap_err();
        assert!(said.starts_with("member 2 of 2: the near process reports what can't be"), "{said}");
    }

    /// Pairs whose far processes are on two hosts, of which the second's clock is an hour ahead.
    #[test]
    fn far_processes_of_several_hosts_are_compared_by_each_hosts_clock() {
        let spec = TrialSpec { flows: 3, warmup: 1, ..TrialSpec::plain(Pattern::Stream, 1000, 10) };
        let (at, hour) = (5_000_000_000u64, 3_600_000_000_000u64);
        let of = |ahead: Vec<Option<Ahead>>| {
            let far = vec![received(at + 1_000, 200), received(at + hour + 2_000, 100), received(at + 1_000, 200)];
            let sent = TrialReport { repeats: 10, seconds: 1e-5, ..TrialReport::default() };
            let shape = Shape { topology: Topology::Pairs, one: "pair", of: 3 };
            let between = (at, at + 10_000_000);
            let when = When { elapsed: CAN, between, ahead, near_ahead: Vec::new() };
            joined(&spec, (vec![sent.clone(), sent.clone(), sent], far), shape, &Capabilities::plain(), &when)
                .map_err(|(far, e)| format!("{far:?} {e}"))
        };
        let told = |ahead| Some(Ahead::told(at, at + ahead, at));
        let flows = of(vec![told(0), told(hour)]).unwrap().flows.unwrap();
        assert!((flows.seconds / 1e-6 - 1.0).abs() < 1e-9 && (flows.span / 2e-6 - 1.0).abs() < 1e-9, "{flows:?}");
        assert_eq!(flows.each.iter().map(|flow| flow.iterations).collect::<Vec<_>>(), [5.0, 10.0, 5.0]);
        assert!(of(vec![told(0), told(0)]).unwrap_err().starts_with("Some(1)"), "moments outside the trial");
        assert!(of(vec![told(0), None]).unwrap_err().starts_with("Some(1)"), "what its processes say can't be");
    }

    #[test]
    fn what_can_not_be_of_a_pair_is_that_pairs() {
        let mut lie = received(0, 100);
        lie.reports[0].received = 12;
        assert!(of(vec![received(0, 100), lie], Topology::Pairs).unwrap_err().starts_with("Some(1)"));
        let none = Reported { courses: Vec::new(), ..received(0, 100) };
        assert!(of(vec![none, received(0, 100)], Topology::Pairs).unwrap_err().starts_with("Some(0)"));
        let apart = of(vec![received(0, 100), received(1 << 50, 100)], Topology::Pairs).unwrap_err();
        assert!(apart.starts_with("None") && apart.contains("ran at once"), "{apart}");
    }
}
