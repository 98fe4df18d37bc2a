//! What is known of several connections of a path, whichever processes have them.

use std::time::Duration;

use measure::event::FlowOpened;
use measure::flows::Step;
use measure::{Course, FarReport, Flows, SessionError, TrialReport, TrialSpec, credible};
use transport::Capabilities;
use transport::settings::Effective;

use crate::course::Numbers;
use crate::moments::Ahead;

/// The connections as a run file tells them, where there are several: of what took effect on each here and there, and on which CPUs.
pub(super) fn flows(
    effective: &[(Effective, Effective)],
    (near_cpus, far_cpus): &(Vec<u32>, Vec<Option<u32>>),
    both: bool,
) -> Vec<FlowOpened> {
    let Some((first_near, first_far)) = effective.first().filter(|_| effective.len() > 1) else {
        return Vec::new();
    };
    // Every connection has addresses of its own.
    let bare = |its: &Effective| Effective { addresses: None, ..its.clone() };
    let other = |its: &Effective, first: &Effective| Some(bare(its)).filter(|its| *its != bare(first));
    let flow = |(i, (near, far)): (usize, &(Effective, Effective))| FlowOpened {
        reverse: both && i >= effective.len() / 2,
        near_cpu: near_cpus.get(i).copied(),
        far_cpu: far_cpus.get(i).copied().flatten(),
        near_effective: other(near, first_near),
        far_effective: other(far, first_far),
    };
    effective.iter().enumerate().map(flow).collect()
}

/// Whether the far side's reports of all flows can be true.
pub(super) fn reports_are_credible(
    far: &[FarReport],
    told: Option<&Flows>,
    flows: usize,
    spec: &TrialSpec,
    can: &Capabilities,
    elapsed: Duration,
) -> Result<(), String> {
    if far.len() != flows {
        return Err(format!("reports of {} flows, where {flows} can be", far.len()));
    }
    for (number, report) in (0..).zip(far) {
        credible::credible(report, &spec.flow(number), can, elapsed)?;
    }
    credible::credible_flows(told, far, spec, elapsed)
}

/// Gives the far side's credible reports of a trial in which each side timed what it received their courses, by this side's clock: `between` is when the
/// trial was asked for and when the reports were here. The error says what can't be.
pub(super) fn courses_from_there(
    spec: &TrialSpec,
    far: &mut [FarReport],
    courses: Vec<Numbers>,
    ahead: Ahead,
    between: (u64, u64),
) -> Result<(), String> {
    if !spec.timed_at_both() {
        return if courses.is_empty() { Ok(()) } else { Err("courses that nobody asked for".to_owned()) };
    }
    let timed: Vec<u32> = (0..spec.flows).filter(|number| !spec.reverses(*number)).collect();
    if courses.len() != timed.len() {
        return Err(format!("courses of {} flows, where {} can be", courses.len(), timed.len()));
    }
    for (number, numbers) in timed.into_iter().zip(courses) {
        let report = &mut far[number as usize];
        let course = numbers.course().ok_or("a course that is none")?;
        credible::credible_course(Some(&course), report, &spec.flow(number))?;
        report.course = Some(by_this_clock(course, ahead, between)?);
    }
    Ok(())
}

/// Whether the trial as a whole can be so, where courses of both sides made it.
pub(super) fn common_is_credible(report: &TrialReport, spec: &TrialSpec) -> Result<(), String> {
    report.flows.as_ref().filter(|_| spec.both).map_or(Ok(()), |flows| credible::credible_common(flows, spec))
}

/// A course of the far side by this side's clock. The error says what can't be.
pub(super) fn by_this_clock(course: Course, ahead: Ahead, between: (u64, u64)) -> Result<Course, String> {
    let steps = course.steps.into_iter().map(|step| Step { end: ahead.here(step.end), ..step });
    let course = Course { begin: ahead.here(course.begin), steps: steps.collect() };
    credible::credible_moments(&course, between, ahead.error())?;
    Ok(course)
}

/// Whether the sides agree on a flow.
pub(super) fn one(near: &TrialReport, far: &FarReport, spec: &TrialSpec) -> Result<(), SessionError> {
    SessionError::contents("the far side", spec.size, far.corrupt, far.spilled)?;
    (spec.pattern.facts().agree)(near, far)
}

#[cfg(test)]
mod tests {
    use measure::Pattern;
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// `n` messages from `begin` on, one each `each` nanoseconds.
    fn steady(begin: u64, n: u64, each: u64) -> Course {
        let steps = (1..=n).map(|i| Step { end: begin + i * each, iterations: 1, took: 0 });
        Course { begin, steps: steps.collect() }
    }

    /// A trial whose far side received from 2 to 12 ms and whose near side received from 4 to 9 ms, told by a far clock that is `ahead` and that was
    /// read between two control messages that took `there` and `back`.
    fn joined(ahead: i64, there: u64, back: u64) -> TrialReport {
        let spec = TrialSpec { both: true, flows: 2, ..TrialSpec::plain(Pattern::Stream, 1000, 100) };
        let at = 1 << 45;
        let by_far = |here: u64| here.checked_add_signed(ahead).unwrap();
        let told = Ahead::told(at, by_far(at + there), at + there + back);
        let course = steady(by_far(at + 2 * MS), 100, MS / 10);
        let numbers = Numbers::of(&course);
        let mut far = vec![
            FarReport { received: 100, bytes: 100_000, seconds: 0.01, ..FarReport::default() },
            FarReport { bytes: 100_000, seconds: 0.01, ..FarReport::default() },
        ];
        courses_from_there(&spec, &mut far, vec![numbers], told, (at, at + 40 * MS)).unwrap();
        let sent = TrialReport { repeats: 100, seconds: 0.01, ..TrialReport::default() };
        let seen = FarReport { received: 100, bytes: 100_000, seconds: 0.005, ..FarReport::default() };
        let came = TrialReport {
            repeats: 100,
            course: Some(steady(at + 4 * MS, 100, MS / 20)),
            far: seen,
            ..TrialReport::default()
        };
        measure::flows::joined(&spec, vec![sent, came], far, None)
    }

    #[test]
    fn both_directions_count_in_the_time_that_they_have_in_common() {
        let report = joined(0, 0, 0);
        let flows = report.flows.unwrap();
        assert!((flows.seconds / 5e-3 - 1.0).abs() < 1e-9 && (flows.span / 10e-3 - 1.0).abs() < 1e-9, "{flows:?}");
        assert!((flows.each[0].iterations - 50.0).abs() < 1e-6 && (flows.each[1].iterations - 100.0).abs() < 1e-6);
        assert_eq!((report.far.bytes, report.far.received), (150_000, 200));
    }

    proptest! {
        /// However far apart the clocks are, the common time and what each direction did in it are off by no more than the clocks may be.
        #[test]
        fn another_clock_changes_nothing_beyond_what_is_said(
            ahead in -(1i64 << 40)..1 << 40, there in 0u64..500_000, back in 0u64..500_000,
        ) {
            let flows = joined(ahead, there, back).flows.unwrap();
            let error = (there + back).div_ceil(2) as f64 * 1e-9 + 2e-9;
            // The far side's time begins before and ends after the near side's, so that the near side's whole time stays common.
            prop_assert!((flows.seconds - 5e-3).abs() <= 1e-9);
            prop_assert!((flows.each[0].iterations / 50.0 - 1.0).abs() <= 1e-6, "a steady rate is one at any moment");
            prop_assert!((flows.apart - 2e-3).abs() <= error, "{} apart, off by {error} at most", flows.apart);
        }
    }

    #[test]
    fn courses_that_are_missing_too_many_or_none_are_refused() {
        let spec = TrialSpec { both: true, flows: 2, ..TrialSpec::plain(Pattern::Stream, 1000, 100) };
        let one = || Numbers::of(&steady(MS, 100, MS / 10));
        let far = || {
            let there = FarReport { received: 100, bytes: 100_000, seconds: 0.01, ..FarReport::default() };
            vec![there, FarReport::default()]
        };
        let said = |spec: &TrialSpec, courses| courses_from_there(spec, &mut far(), courses, Ahead::NOT, (0, 100 * MS));
        assert_eq!(said(&spec, vec![one()]), Ok(()));
        assert!(said(&spec, Vec::new()).is_err() && said(&spec, vec![one(), one()]).is_err());
        assert!(said(&spec, vec![Numbers::default()]).is_err());
        let one_way = TrialSpec { both: false, ..spec.clone() };
        assert!(said(&one_way, vec![one()]).is_err() && said(&one_way, Vec::new()).is_ok());
    }
}
