//! Both halves of a trial of several flows, and one report of all of them.

use std::sync::atomic::{AtomicU32, Ordering};

use transport::AnyLink;

use super::threads::at_once;
use super::window::{Course, window};
use super::{FlowReport, Flows};
use crate::cost::Cost;
use crate::report::copies;
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, Tcp, TrialReport, TrialSpec, Workspace};

/// Runs the near half of `spec` on `links`, a flow on each, with `buffers` and a CPU of `cpus` each where there are any: the report of each
/// flow. A single flow runs on the calling thread. Where both sides send, `sent` is called when this side has sent all, on any thread.
pub fn near(
    links: &mut [AnyLink],
    spec: &TrialSpec,
    workspace: &mut [Workspace],
    cpus: &[u32],
    halt: &Halt,
    sent: Sent<'_>,
) -> Result<Vec<TrialReport>, SessionError> {
    if let ([link], [workspace]) = (&mut *links, &mut *workspace) {
        return Ok(vec![crate::near::trial(link, spec, workspace)?]);
    }
    let senders = Senders::of(spec, false, sent);
    let jobs = (0..).zip(links.iter_mut().zip(workspace)).map(|(number, (link, workspace))| {
        let (spec, senders) = (spec.flow(number), &senders);
        move || crate::near::trial(link, &spec, workspace).inspect(|_| senders.done(spec.reverse))
    });
    at_once(jobs.collect(), cpus, halt)
}

/// Runs the far half, likewise.
pub fn far(
    links: &mut [AnyLink],
    spec: &TrialSpec,
    workspace: &mut [Workspace],
    cpus: &[u32],
    halt: &Halt,
    sent: Sent<'_>,
) -> Result<Vec<FarReport>, SessionError> {
    if let ([link], [workspace]) = (&mut *links, &mut *workspace) {
        return Ok(vec![crate::far::trial(link, spec, workspace)?]);
    }
    let senders = Senders::of(spec, true, sent);
    let jobs = (0..).zip(links.iter_mut().zip(workspace)).map(|(number, (link, workspace))| {
        let (spec, senders) = (spec.flow(number), &senders);
        move || crate::far::trial(link, &spec, workspace).inspect(|_| senders.done(spec.reverse))
    });
    at_once(jobs.collect(), cpus, halt)
}

/// Called when a side has sent all, while it still receives.
pub type Sent<'a> = &'a (dyn Fn() + Sync);

/// Counts the senders of a side that are not done, where both sides send.
struct Senders<'a> {
    left: AtomicU32,
    /// Which direction this side sends.
    reverse: bool,
    sent: Sent<'a>,
}

impl<'a> Senders<'a> {
    fn of(spec: &TrialSpec, reverse: bool, sent: Sent<'a>) -> Self {
        let left = AtomicU32::new(if spec.timed_at_both() { spec.flows / 2 } else { 0 });
        Self { left, reverse, sent }
    }

    /// A flow of this direction is done.
    fn done(&self, reverse: bool) {
        let one_less = |left: u32| left.checked_sub(1);
        if reverse == self.reverse && self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less) == Ok(1) {
            (self.sent)();
        }
    }
}

/// The far side's report of all flows, where it timed them.
pub fn told(each: &[FarReport]) -> Option<Flows> {
    let courses: Option<Vec<&Course>> = each.iter().map(|flow| flow.course.as_ref()).collect();
    courses.filter(|courses| courses.len() > 1).map(|courses| of(&courses).0)
}

/// The near side's report of each flow and the far side's as one of the whole trial. `told` is the far side's report of all flows. Where
/// both sides timed what they received, the far side's courses are by this side's clock.
pub fn joined(spec: &TrialSpec, near: Vec<TrialReport>, far: Vec<FarReport>, told: Option<Flows>) -> TrialReport {
    let halves = (0..).zip(near.into_iter().zip(far));
    let mut each: Vec<TrialReport> = halves.map(|(number, (near, far))| near.joined(&spec.flow(number), far)).collect();
    if each.len() == 1 {
        return each.remove(0);
    }
    let courses: Option<Vec<&Course>> =
        each.iter().map(|flow| flow.course.as_ref().or(flow.far.course.as_ref())).collect();
    let (mut flows, times) = match courses {
        Some(courses) => of(&courses),
        None => (told.unwrap_or_default(), Vec::new()),
    };
    let receiver_counts = spec.pattern.facts().unanswered;
    flows.each.resize(each.len(), FlowReport::default());
    for (flow, report) in flows.each.iter_mut().zip(&each) {
        // A far side must not set these.
        (flow.near_cost, flow.far_cost) = (None, None);
        flow.lost = if receiver_counts { report.far.lost } else { report.lost };
        flow.retransmits = report.tcp.map_or(0, |tcp| tcp.retransmits);
        let handed_over = receiver_counts && report.seconds > 0.0;
        flow.sent = if handed_over { report.repeats as f64 / report.seconds } else { 0.0 };
    }
    let sampled = {
        let mut samples = Samples::new(times.len() as u64, spec.chunk.max(1));
        times.iter().for_each(|(took, iterations)| samples.push(*took, *iterations));
        samples.figures()
    };
    let sum = |of: fn(&TrialReport) -> u64| each.iter().fold(0, |all: u64, flow| all.saturating_add(of(flow)));
    let iterations = flows.iterations();
    let seen = |of: f64| if receiver_counts { of } else { 0.0 };
    TrialReport {
        repeats: iterations.round() as u64,
        seconds: flows.seconds,
        median: sampled.median,
        min: sampled.min,
        max: sampled.max,
        histogram: sampled.histogram,
        pauses: Vec::new(),
        late: 0,
        lost: sum(|flow| flow.lost),
        reordered: sum(|flow| flow.reordered),
        duplicated: sum(|flow| flow.duplicated),
        bounds: None,
        cost: Cost::of_all(each.iter().map(|flow| flow.cost)),
        tcp: Tcp::of_all(each.iter().map(|flow| flow.tcp)),
        copied: copies(each.iter().map(|flow| flow.copied)),
        load: None,
        far: FarReport {
            seconds: seen(flows.seconds),
            bytes: seen(iterations * spec.size as f64).round() as u64,
            received: sum(|flow| flow.far.received),
            lost: sum(|flow| flow.far.lost),
            reordered: sum(|flow| flow.far.reordered),
            duplicated: sum(|flow| flow.far.duplicated),
            strangers: sum(|flow| flow.far.strangers),
            corrupt: None,
            spilled: None,
            bounds: None,
            cost: Cost::of_all(each.iter().map(|flow| flow.far.cost)),
            course: None,
            copied: None,
        },
        flows: Some(flows),
        course: None,
    }
}

/// The common time of flows with these courses, and the times in it of what was timed by itself: (nanoseconds, iterations).
fn of(courses: &[&Course]) -> (Flows, Vec<(u64, u64)>) {
    let (window, done) = window(courses);
    let times = courses.iter().flat_map(|course| course.timed(&window)).map(|step| (step.took, step.iterations));
    let each = done.into_iter().map(|iterations| FlowReport { iterations, ..FlowReport::default() });
    let seconds = |from: u64, to: u64| (to - from) as f64 * 1e-9;
    let flows = Flows {
        seconds: seconds(window.begin, window.end),
        span: window.span as f64 * 1e-9,
        apart: window.apart as f64 * 1e-9,
        each: each.collect(),
    };
    (flows, times.collect())
}

#[cfg(test)]
mod tests {
    use super::super::window::Step;
    use super::*;
    use crate::Pattern;

    /// A flow of ping-pong that begins at `begin` and makes `n` round trips of `each` nanoseconds.
    fn trips(begin: u64, n: u64, each: u64) -> TrialReport {
        let steps = (1..=n).map(|i| Step { end: begin + i * each, iterations: 1, took: each }).collect();
        let seconds = (n * each) as f64 * 1e-9;
        TrialReport { repeats: n, seconds, course: Some(Course { begin, steps }), ..TrialReport::default() }
    }

    fn far(received: u64) -> FarReport {
        FarReport { received, ..FarReport::default() }
    }

    #[test]
    fn only_round_trips_among_all_flows_count_and_are_timed() {
        let spec = TrialSpec { flows: 2, ..TrialSpec::plain(Pattern::PingPong, 100, 1000) };
        let near = vec![trips(0, 1000, 1000), trips(500_000, 1000, 3000)];
        let all = joined(&spec, near, vec![far(1000), far(1000)], None);
        let flows = all.flows.clone().unwrap();
        assert_eq!((flows.seconds, flows.span), (0.0005, 0.0035));
        assert!(
            (flows.each[0].iterations - 500.0).abs() < 1e-9 && (flows.each[1].iterations - 500.0 / 3.0).abs() < 1e-9
        );
        assert_eq!((all.repeats, all.seconds), (667, 0.0005));
        assert_eq!((all.min, all.max), (1e-6, 3e-6));
        assert_eq!(all.histogram.iter().map(|(_, n)| n).sum::<u64>(), 500 + 166, "none of those before or after");
        assert_eq!(all.far.received, 2000);
        assert!(all.sound() && all.course.is_none());
    }

    #[test]
    fn a_stream_is_timed_where_it_is_received() {
        let spec = TrialSpec { flows: 2, ..TrialSpec::plain(Pattern::Stream, 1000, 10) };
        let received = |begin: u64, each: u64| {
            let steps = (1..=10).map(|i| Step { end: begin + i * each, iterations: 1, took: 0 }).collect();
            FarReport { course: Some(Course { begin, steps }), ..far(10) }
        };
        let there = vec![received(0, 100), received(100, 100)];
        let told = told(&there);
        assert_eq!(
            told.as_ref().map(|t| t.each.iter().map(|f| f.iterations).collect::<Vec<_>>()),
            Some(vec![9.0, 9.0])
        );
        let sent = || TrialReport { repeats: 10, seconds: 5e-7, ..TrialReport::default() };
        let all = joined(&spec, vec![sent(), sent()], there, told);
        assert_eq!((all.far.bytes, all.far.received), (18_000, 20));
        assert!((all.far.seconds / 9e-7 - 1.0).abs() < 1e-9 && all.median == 0.0);
        assert!(all.flows.unwrap().each.iter().all(|flow| (flow.sent / 2e7 - 1.0).abs() < 1e-9), "as fast as it left");
    }

    #[test]
    fn one_flow_is_reported_as_ever() {
        let spec = TrialSpec::plain(Pattern::PingPong, 100, 10);
        let one = TrialReport { course: None, ..trips(0, 10, 100) };
        assert_eq!(joined(&spec, vec![one.clone()], vec![far(10)], None), one.with_far(far(10)));
        assert_eq!(told(&[far(10)]), None);
    }
}
