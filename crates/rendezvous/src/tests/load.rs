//! Loading flows between two processes: they carry while a trial runs, end when the path's turn is over, and end whatever ends.

use measure::{Load, LoadDirection, Session};
use rustix::process::Signal;
use transport::decorate::Fault;
use transport::{Ends, Name, registry};

use super::double::Double;
use super::ends::{endless, is_gone, no_stop, opened, signal, stop_soon};
use super::hostile::session_with;
use super::whole::{Programs, plan};
use super::*;
use crate::far::path::Path;
use crate::message::Loads;
use crate::near::session::RemoteSession;

const DIRECTIONS: [LoadDirection; 3] = LoadDirection::ALL;

fn load(flows: u32, direction: LoadDirection) -> Load {
    Load { flows, direction, size: 1400 }
}

fn loaded(programs: &Programs, kind: Name, load: Load, stop: &Arc<AtomicBool>) -> RemoteSession {
    opened(programs, kind, |plan| plan.paths[0].load = Some(load), stop)
}

/// A trial whose contents are checked. How much the load carries meanwhile is the machine's affair.
fn checked() -> TrialSpec {
    TrialSpec { check: true, repeats: 100, ..spec(7) }
}

#[test]
fn every_transport_is_loaded_each_way_and_carries_its_own_contents() {
    let programs = Programs::new();
    let two_ended = registry::all().filter(|t| t.ends() == Ends::Two && super::here(*t));
    for kind in two_ended.map(|t| t.name()) {
        for direction in DIRECTIONS {
            let mut session = loaded(&programs, kind, load(2, direction), &no_stop());
            for round in 0..2 {
                let report = session.trial(&checked()).unwrap_or_else(|e| panic!("{kind} {direction:?}: {e}"));
                let carried = report.load.unwrap_or_else(|| panic!("{kind} {direction:?}: nothing is told"));
                let ways = (carried.there.is_some(), carried.back.is_some());
                let want = load(2, direction).ways();
                assert_eq!(ways, (want.0 > 0, want.1 > 0), "{kind} {direction:?}");
                assert!(report.repeats > 0, "{kind} {direction:?}");
                // The turn is over; the next trial opens the path anew.
                if round == 0 {
                    session.rest();
                }
            }
            session.close().unwrap();
        }
    }
}

#[test]
fn a_path_says_on_which_cpus_its_loading_flows_run_and_an_idle_one_says_nothing() {
    let programs = Programs::new();
    let mut asked = plan(&[transport::unix::NAME], Pattern::PingPong);
    asked.paths[0].load = Some(load(3, LoadDirection::Same));
    let mut session = programs.session(asked, &no_stop());
    let party = session.open(0).unwrap();
    // Not pinned, they keep to none.
    assert_eq!(party.load, Some(measure::event::LoadOpened::default()));
    let mut idle = opened(&programs, transport::unix::NAME, |_| (), &no_stop());
    assert_eq!((idle.open(1).unwrap().load, idle.trial(&spec(7)).unwrap().load), (None, None));
}

#[test]
fn a_far_side_that_serves_is_loaded_and_serves_on() {
    for direction in DIRECTIONS {
        let change = |plan: &mut Plan| plan.paths[0].load = Some(load(2, direction));
        session_with(transport::tcp::NAME, Path::new, Pattern::PingPong, change, |session| {
            for round in 0..3 {
                session.open(round).unwrap();
                assert!(session.trial(&checked()).unwrap().load.is_some(), "{direction:?}");
                session.rest();
            }
        });
    }
}

#[test]
fn no_more_loading_connections_are_opened_than_the_far_side_allows() {
    let served = Served::with(true, Limits { max_flows: 4, ..Limits::default() });
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let mut ask = |load| {
        let loads = Some(Loads { load, cpus: Vec::new() });
        control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), loads).map(drop)
    };
    for wrong in [load(4, LoadDirection::Same), load(2, LoadDirection::Both), load(u32::MAX, LoadDirection::Both)] {
        let e = ask(wrong).unwrap_err().to_string();
        assert!(e.contains("allowed") || e.contains("at most"), "{wrong:?}: {e}");
    }
}

#[test]
fn a_trial_comes_after_the_load_that_it_is_to_be_made_under_has_begun() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let load = load(2, LoadDirection::Both);
    let loads = Loads { load, cpus: Vec::new() };
    let (first, _, proofs) =
        control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), Some(loads)).unwrap();
    assert_eq!(proofs.len(), 5, "a proof of its own for each connection");
    control.opened(1, Some(&load)).unwrap();
    let e = control.trial(&spec(ANSWER)).unwrap_err().to_string();
    assert!(e.contains("have not begun"), "{e}");
    control.unload().unwrap();
    let (second, ..) = control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), None).unwrap();
    assert_eq!(second, first + 5, "a number is never used twice");
    control.opened(1, None).unwrap();
    control.load().unwrap();
    assert!(control.loaded().unwrap_err().to_string().contains("no data connection is open that could load a path"));
}

/// Does what it is asked and tells of more than any path carries: from none to all that a number holds.
fn boasts() -> Double {
    Double { loaded: |_, before| Ok(if before % 2 == 0 { 0 } else { u64::MAX }), ..Double::new() }
}

#[test]
fn a_load_that_no_path_carries_is_not_believed() {
    let change = |plan: &mut Plan| plan.paths[0].load = Some(load(2, LoadDirection::Same));
    session_with(transport::tcp::NAME, boasts, Pattern::PingPong, change, |session| {
        session.open(0).unwrap();
        let e = session.trial(&checked()).unwrap_err().to_string();
        assert!(e.contains("it reports what can't be") && e.contains("bytes a second of loading flows"), "{e}");
    });
}

/// Closes what should load, as one that never began it would.
fn silent() -> Double {
    let load = |path: &mut Path, _: &Load, _: &[u32], _: Duration| {
        path.unload();
        Ok(())
    };
    Double { load, ..Double::new() }
}

#[test]
fn a_far_side_that_closes_what_should_load_is_told_of() {
    let change = |plan: &mut Plan| plan.paths[0].load = Some(load(2, LoadDirection::Same));
    session_with(transport::tcp::NAME, silent, Pattern::PingPong, change, |session| {
        session.open(0).unwrap();
        let e = session.trial(&checked()).unwrap_err().to_string();
        assert!(e.contains("loading flow") || e.contains("cut") || e.contains("closed"), "{e}");
    });
}

#[test]
fn a_loading_flow_that_breaks_is_named() {
    let programs = Programs::new();
    let cut = Fault { cut: Some(5), ..Fault::default() };
    let mut session = opened(
        &programs,
        transport::unix::NAME,
        |plan| {
            plan.paths[0].load = Some(load(2, LoadDirection::Same));
            plan.decorators.fault = Some(cut);
        },
        &no_stop(),
    );
    let text = session.trial(&spec(7)).unwrap_err().to_string();
    assert!(text.contains("loading flow"), "{text}");
}

#[test]
fn a_killed_far_side_ends_the_loading_flows_here() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME, transport::pipe::NAME] {
        for direction in DIRECTIONS {
            let mut session = loaded(&programs, kind, load(2, direction), &no_stop());
            session.trial(&spec(7)).unwrap_or_else(|e| panic!("{kind} {direction:?}: {e}"));
            let far = session.far_pid().unwrap();
            signal(far, Signal::KILL);
            let text = session.trial(&endless()).unwrap_err().to_string();
            assert!(!text.is_empty() && !text.contains("panicked"), "{kind} {direction:?}: {text}");
            session.open(1).unwrap_or_else(|e| panic!("{kind} {direction:?}: a fresh far side: {e}"));
            session.trial(&spec(7)).unwrap_or_else(|e| panic!("{kind} {direction:?}: {e}"));
        }
    }
}

#[test]
fn interrupting_the_near_side_ends_the_loading_flows_of_both() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME] {
        let stop = no_stop();
        let mut session = loaded(&programs, kind, load(2, LoadDirection::Both), &stop);
        let far = session.far_pid().unwrap();
        let later = stop_soon(&stop);
        let e = loop {
            if let Err(e) = session.trial(&TrialSpec { repeats: 1000, ..spec(7) }) {
                break e;
            }
        };
        assert!(matches!(e, SessionError::Interrupted), "{kind}: {e}");
        later.join().unwrap();
        session.close().unwrap();
        assert!(is_gone(far), "{kind}: the far side is left over");
    }
}

/// Not a test: the near side of [`a_killed_near_side_takes_a_loading_far_side_with_it`].
#[test]
#[ignore = "the near side of another test, which kills it"]
fn loading_near_process() {
    let kind = Name::new(&std::env::var("TEST_KIND").expect("started by the test")).unwrap();
    let programs = Programs::new();
    let mut session = loaded(&programs, kind, load(2, LoadDirection::Both), &no_stop());
    session.trial(&spec(7)).unwrap();
    println!("\nfar {}", session.far_pid().unwrap());
    let _ = session.trial(&endless());
}

#[test]
fn a_killed_near_side_takes_a_loading_far_side_with_it() {
    super::ends::far_dies_with("tests::load::loading_near_process");
}
