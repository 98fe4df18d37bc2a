//! Several flows: what a near side may ask for, and far sides that open, run or report others than were agreed.

use super::double::Double;
use super::hostile::session_of;
use super::*;
use crate::far::path::Path;

#[test]
fn no_more_flows_are_opened_than_the_far_side_allows() {
    let served = Served::with(true, Limits { max_flows: 2, ..Limits::default() });
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let mut ask = |flows| control.open(transport::tcp::NAME, &Settings::default(), flows, Vec::new(), None).map(drop);
    for wrong in [0, 3, u32::MAX] {
        let e = ask(wrong).unwrap_err().to_string();
        assert!(e.contains("1 to 2 are allowed"), "{wrong}: {e}");
    }
    ask(2).unwrap();
}

#[test]
fn a_trial_has_the_flows_of_its_path() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    control.open(transport::tcp::NAME, &Settings::default(), 3, Vec::new(), None).unwrap();
    assert_eq!(control.opened(3, None).unwrap().0.len(), 3);
    for flows in [1, 2, 4] {
        let e = control.trial(&TrialSpec { flows, ..spec(ANSWER) }).unwrap_err().to_string();
        assert!(e.contains(&format!("a trial of {flows} flows on a path of 3")), "{e}");
    }
    control.trial(&TrialSpec { flows: 3, ..spec(ANSWER) }).unwrap();
}

#[test]
fn each_flow_has_a_connection_and_a_proof_of_its_own() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let (first, _, proofs) = control.open(transport::tcp::NAME, &Settings::default(), 3, Vec::new(), None).unwrap();
    for (i, proof) in proofs.iter().enumerate() {
        assert!(proofs[..i].iter().all(|other| other.near != proof.near && other.far != proof.far));
    }
    control.opened(3, None).unwrap();
    let (second, ..) = control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), None).unwrap();
    assert_eq!(second, first + 3, "a number is never used twice");
}

/// Does what it is asked and then tells of one flow fewer.
fn fewer() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let mut reports = path.trial(spec, sent)?;
        reports.pop();
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

#[test]
fn a_far_side_that_serves_runs_as_many_flows_as_were_agreed() {
    for pattern in [Pattern::PingPong, Pattern::Stream, Pattern::Burst] {
        session_of(transport::tcp::NAME, Path::new, pattern, 3, |session| {
            let party = session.open(0).unwrap();
            assert_eq!(party.flows.len(), 3);
            let spec = TrialSpec { flows: 3, check: true, pattern, repeats: 500, ..spec(0) };
            let report = session.trial(&spec).unwrap();
            assert_eq!(report.flows.unwrap().each.len(), 3);
            assert_eq!(report.far.received, 3 * 500);
        });
    }
}

#[test]
fn reports_of_other_flows_than_ran_are_refused() {
    session_of(transport::tcp::NAME, fewer, Pattern::PingPong, 3, |session| {
        session.open(0).unwrap();
        let e = session.trial(&TrialSpec { flows: 3, ..spec(0) }).unwrap_err().to_string();
        assert!(e.contains("reports of 2 flows, where 3 can be"), "{e}");
    });
}

/// Ends the second flow of a trial, as a broken host might.
fn breaks() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, _: Sent<'_>| {
        let source = Box::new(LinkError::Protocol("as the test asked".into()).into());
        path.close();
        Err(SessionError::Flow { number: 2, of: spec.flows, source })
    };
    Double { trial, ..Double::new() }
}

#[test]
fn the_flow_that_failed_on_the_far_side_is_named() {
    session_of(transport::tcp::NAME, breaks, Pattern::PingPong, 3, |session| {
        session.open(0).unwrap();
        let e = session.trial(&TrialSpec { flows: 3, ..spec(0) }).unwrap_err().to_string();
        assert!(e.contains("the far side: flow 2 of 3") && e.contains("as the test asked"), "{e}");
    });
}
