//! Both directions at once: over every sort of path, and against far sides that serve one direction only, lie about one, or end.

use measure::{Session, Topology};
use transport::{Ends, registry};

use super::double::Double;
use super::ends::no_stop;
use super::hostile::session_with;
use super::whole::{Programs, plan};
use super::*;
use crate::far::path::Path;
use crate::near::session::RemoteSession;

/// A trial of so many flows each way, whose contents are checked: what one flow sent is found where another receives it.
fn trial_of(pattern: Pattern, each_way: u32) -> TrialSpec {
    let spec = TrialSpec { both: true, flows: 2 * each_way, pattern, size: 1000, ..spec(7) };
    TrialSpec { repeats: 300, warmup: 3, burst: 5, check: true, ..spec }
}

fn both(mut plan: Plan, each_way: u32) -> Plan {
    plan.paths[0].flows = each_way;
    Plan { both: true, ..plan }
}

/// What `session` reports of a trial, the second of two: a path is used again.
fn measured(session: &mut dyn Session, spec: &TrialSpec, what: &str) -> measure::TrialReport {
    let party = session.open(0).unwrap_or_else(|e| panic!("{what}: {e}"));
    let ways: Vec<bool> = party.flows.iter().map(|flow| flow.reverse).collect();
    assert_eq!(ways, (0..spec.flows).map(|number| spec.reverses(number)).collect::<Vec<_>>(), "{what}");
    session.trial(spec).unwrap_or_else(|e| panic!("{what}: {e}"));
    let report = session.trial(spec).unwrap_or_else(|e| panic!("{what} again: {e}"));
    assert!(report.sound(), "{what}: {report:?}");
    report
}

#[test]
fn every_transport_carries_one_way_patterns_in_both_directions() {
    let programs = Programs::new();
    let two_ended = registry::all().filter(|t| t.ends() == Ends::Two && super::here(*t));
    for kind in two_ended.map(|t| t.name()) {
        for pattern in [Pattern::Stream, Pattern::Burst] {
            let can = kind.capabilities();
            if (pattern.facts().refuses)(&can).is_some() {
                continue;
            }
            for each_way in [1, 2] {
                let what = format!("{kind} {pattern:?}, {each_way} each way");
                let spec = trial_of(pattern, each_way);
                let mut session = programs.session(both(plan(&[kind], pattern), each_way), &no_stop());
                let report = measured(&mut session, &spec, &what);
                let came = report.far.received;
                // To the far side come the messages of a burst, and back from here one request an iteration.
                let each = if pattern == Pattern::Burst { 5 + 1 } else { 2 };
                let all = u64::from(each_way) * each * 303;
                assert!(
                    came == all || (!can.reliable && came > 0 && came + report.far.lost == all),
                    "{what}: {came} of {all}"
                );
                let flows = report.flows.expect("several ran");
                assert_eq!(flows.each.len(), spec.flows as usize, "{what}");
                assert!(flows.seconds <= flows.span && flows.span > 0.0, "{what}: {flows:?}");
                session.close().unwrap();
            }
        }
    }
}

#[test]
fn pairs_of_processes_go_both_ways_too() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME] {
        for pattern in [Pattern::Stream, Pattern::Burst] {
            if (pattern.facts().refuses)(&kind.capabilities()).is_some() {
                continue;
            }
            let spec = trial_of(pattern, 1);
            let mut asked = both(plan(&[kind], pattern), 1);
            asked.paths[0].topology = Topology::Pairs;
            let mut session = programs.group(asked, &no_stop());
            let report = measured(&mut session, &spec, &format!("{kind} {pattern:?}"));
            assert_eq!(report.flows.expect("several ran").each.len(), 2);
            session.close().unwrap();
        }
    }
}

/// A far side on another host, for all that the near side knows: moments are compared by what it says of its clock.
#[test]
fn a_far_side_that_serves_tells_its_moments() {
    for pattern in [Pattern::Stream, Pattern::Burst] {
        session_with(
            transport::tcp::NAME,
            Path::new,
            pattern,
            |plan| *plan = both(plan.clone(), 2),
            |session| {
                let spec = TrialSpec { repeats: 3000, ..trial_of(pattern, 2) };
                let report = measured(session, &spec, pattern.name());
                let flows = report.flows.expect("several ran");
                assert!(flows.span > 0.0 && flows.apart <= flows.span, "{flows:?}");
            },
        );
    }
}

#[test]
fn receivers_of_both_sides_wait_for_no_more_than_was_sent() {
    let programs = Programs::new();
    let mut asked = Plan { patience: 3600.0, ..both(plan(&[transport::udp::NAME], Pattern::Stream), 1) };
    // One that went on waiting for what was lost would wait for as long as this.
    asked.paths[0].settings.set("loss-timeout", transport::Value::from(3000.0));
    let mut session = programs.session(asked, &no_stop());
    session.open(0).unwrap();
    let spec = TrialSpec { check: false, size: 60_000, ..trial_of(Pattern::Stream, 1) };
    let lost = |session: &mut RemoteSession| {
        session.trial(&spec).unwrap().flows.unwrap().each.iter().filter(|f| f.lost > 0).count()
    };
    if !(0..100).any(|_| lost(&mut session) == 2) {
        println!("skipped: never were messages lost in both directions");
    }
}

/// Does what `change` makes of the trial, and of the reports.
fn against(work: fn() -> Double, patience: f64) -> Result<measure::TrialReport, String> {
    let mut outcome = None;
    let change = |plan: &mut Plan| *plan = Plan { patience, ..both(plan.clone(), 1) };
    session_with(transport::tcp::NAME, work, Pattern::Stream, change, |session| {
        session.open(0).unwrap();
        outcome = Some(session.trial(&trial_of(Pattern::Stream, 1)).map_err(|e| e.to_string()));
        if outcome.as_ref().is_some_and(Result::is_err) {
            assert!(
                session.trial(&trial_of(Pattern::Stream, 1)).is_err(),
                "nothing more is believed, and nothing is open"
            );
        }
    });
    outcome.expect("a trial was run")
}

/// Receives on all connections and sends on none: one direction does not run.
fn only_receives() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        path.trial(&TrialSpec { both: false, reverse: false, ..spec.clone() }, sent)
    };
    Double { trial, ..Double::new() }
}

/// Sends on all connections and receives on none.
fn only_sends() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        path.trial(&TrialSpec { both: false, reverse: true, ..spec.clone() }, sent)
    };
    Double { trial, ..Double::new() }
}

/// Sends nothing, and says that both directions went well.
fn pretends() -> Double {
    let trial = |_: &mut Path, spec: &TrialSpec, _: Sent<'_>| {
        let bytes = spec.repeats * spec.size;
        let all = spec.repeats + spec.warmup;
        let there = FarReport { received: all, bytes, seconds: 1e-4, ..FarReport::default() };
        Ok(vec![there, FarReport { bytes, seconds: 1e-4, ..FarReport::default() }])
    };
    Double { trial, ..Double::new() }
}

/// Ends the connections in the middle of a trial.
fn dies() -> Double {
    let trial = |path: &mut Path, _: &TrialSpec, _: Sent<'_>| {
        path.close();
        Err(LinkError::Closed { doing: "receiving" }.into())
    };
    Double { trial, ..Double::new() }
}

#[test]
fn a_direction_that_does_not_run_ends_the_trial() {
    assert!(against(Double::new, 10.0).is_ok());
    for work in [only_receives, only_sends] {
        let e = against(work, 0.5).unwrap_err();
        let said = ["silent", "no progress", "reports what can't be"];
        assert!(said.iter().any(|words| e.contains(words)), "{e}");
    }
    let e = against(pretends, 0.5).unwrap_err();
    assert!(e.contains("flow 2 of 2: no progress") || e.contains("still waits"), "{e}");
    let e = against(dies, 10.0).unwrap_err();
    assert!(e.contains("cut") || e.contains("closed"), "{e}");
}

/// What a liar changes in its reports: of what it received, and of what it sent.
type Lie = fn(&mut Vec<FarReport>);

fn shifted(reports: &mut [FarReport], by: u64) {
    let course = reports[0].course.as_mut().expect("it timed what it received");
    course.begin = course.begin.wrapping_add(by);
    course.steps.iter_mut().for_each(|step| step.end = step.end.wrapping_add(by));
}

fn lies<const LIE: usize>() -> Double {
    const LIES: [Lie; 9] = [
        |reports| reports[0].course = None,
        |reports| shifted(reports, 3_600_000_000_000),
        |reports| shifted(reports, 3_600_000_000_000u64.wrapping_neg()),
        |reports| reports[0].course.as_mut().unwrap().steps.iter_mut().for_each(|step| step.iterations *= 2),
        |reports| reports[1].course = reports[0].course.clone(),
        |reports| reports[0].received += 1,
        |reports| reports[1].bytes += 1,
        |reports| reports[1].seconds = 1e300,
        |reports| reports.swap(0, 1),
    ];
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let mut reports = path.trial(spec, sent)?;
        LIES[LIE](&mut reports);
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

#[test]
fn lies_about_either_direction_are_refused() {
    let all: [fn() -> Double; 9] =
        [lies::<0>, lies::<1>, lies::<2>, lies::<3>, lies::<4>, lies::<5>, lies::<6>, lies::<7>, lies::<8>];
    for (number, work) in all.into_iter().enumerate() {
        let e = against(work, 10.0).expect_err(&format!("lie {number} was believed"));
        assert!(e.contains("reports what can't be"), "lie {number}: {e}");
    }
}
