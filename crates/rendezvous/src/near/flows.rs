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
    if let Some((iteration, offset)) = far.corrupt {
        return Err(SessionError::Corrupt { side: "the far side", size: spec.size, iteration, offset });
    }
    (spec.pattern.facts().agree)(near, far)
}
