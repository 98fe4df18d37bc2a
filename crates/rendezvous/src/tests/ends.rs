//! Killed, stopped, cut, corrupted and interrupted: a clear message within a bounded time, and the other side ends too.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use measure::Session;
use rustix::process::{Pid, Signal, kill_process};
use transport::Name;
use transport::decorate::Fault;

use super::whole::{Programs, plan};
use super::*;
use crate::near::session::RemoteSession;

/// A trial that would take far longer than any test waits.
pub(super) fn endless() -> TrialSpec {
    TrialSpec { repeats: 1 << 40, ..spec(7) }
}

pub(super) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("the process is there");
}

/// Whether a process is gone, or dead and only not yet collected by whoever inherited it.
pub(super) fn is_gone(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

pub(super) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < LONG, "{what} never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(super) fn opened(
    programs: &Programs,
    kind: Name,
    change: impl FnOnce(&mut Plan),
    stop: &Arc<AtomicBool>,
) -> RemoteSession {
    let mut asked = plan(&[kind], Pattern::PingPong);
    change(&mut asked);
    let mut session = programs.session(asked, stop);
    session.open(0).unwrap_or_else(|e| panic!("{kind}: {e}"));
    session
}

pub(super) fn no_stop() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

/// Runs an endless trial, during which `meanwhile` happens to the far process.
fn fails(session: &mut RemoteSession, meanwhile: impl FnOnce(u32) + Send + 'static) -> String {
    let far = session.far_pid().unwrap();
    let meanwhile = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        meanwhile(far);
    });
    let e = session.trial(&endless()).unwrap_err();
    meanwhile.join().unwrap();
    e.to_string()
}

#[test]
fn a_killed_far_side_is_told_with_the_signal() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME, transport::pipe::NAME] {
        let mut session = opened(&programs, kind, |_| (), &no_stop());
        let text = fails(&mut session, |far| signal(far, Signal::KILL));
        assert!(text.contains("the far side ended") && text.contains("signal 9"), "{kind}: {text}");
        assert!(session.trial(&endless()).is_err(), "{kind}: there is nobody to ask");
        session.open(1).unwrap_or_else(|e| panic!("{kind}: a fresh far side: {e}"));
        session.trial(&spec(7)).unwrap_or_else(|e| panic!("{kind}: {e}"));
    }
}

/// How long an error says that a side was silent.
pub(super) fn seconds_silent(text: &str) -> f64 {
    let after = text.split("silent for ").nth(1).unwrap_or_else(|| panic!("{text}"));
    after.split(' ').next().unwrap().parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_far_side_stopped_for_good_is_given_up_and_ends() {
    let programs = Programs::new();
    let mut session = opened(&programs, transport::unix::NAME, |s| s.patience = 0.5, &no_stop());
    let far = session.far_pid().unwrap();
    let text = fails(&mut session, |far| signal(far, Signal::STOP));
    assert!(text.contains("silent for") && text.contains("--patience"), "{text}");
    // Half a second of patience, and then its last words are waited for.
    assert!(seconds_silent(&text) >= 2.0, "{text}");
    session.close().unwrap();
    assert!(is_gone(far), "a stopped far side is left over");
}

#[test]
fn a_far_side_stopped_and_continued_goes_on() {
    let programs = Programs::new();
    let mut session = opened(&programs, transport::tcp::NAME, |_| (), &no_stop());
    let far = session.far_pid().unwrap();
    signal(far, Signal::STOP);
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        signal(far, Signal::CONT);
    });
    assert_eq!(session.trial(&spec(7)).unwrap().repeats, 17);
    later.join().unwrap();
    assert_eq!(session.trial(&spec(7)).unwrap().repeats, 17);
}

/// Raises `stop` a moment from now.
pub(super) fn stop_soon(stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.store(true, Ordering::Relaxed);
    })
}

#[test]
fn interrupting_the_near_side_ends_the_far_one() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME] {
        let stop = no_stop();
        let mut session = opened(&programs, kind, |_| (), &stop);
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
        assert!(matches!(session.open(1), Err(SessionError::Interrupted)), "{kind}");
    }
}

#[test]
fn a_trial_that_never_waits_is_interrupted_too() {
    let programs = Programs::new();
    let stop = no_stop();
    let mut session = opened(&programs, transport::tcp::NAME, |_| (), &stop);
    let later = stop_soon(&stop);
    assert!(matches!(session.trial(&endless()), Err(SessionError::Interrupted)));
    later.join().unwrap();
}

#[test]
fn a_cut_connection_is_told_from_a_dead_far_side() {
    let programs = Programs::new();
    let cut = Fault { cut: Some(100), ..Fault::default() };
    let mut session = opened(&programs, transport::tcp::NAME, |s| s.decorators.fault = Some(cut), &no_stop());
    let text = session.trial(&endless()).unwrap_err().to_string();
    assert!(text.contains("cut") || text.contains("closed"), "{text}");
    assert!(!text.contains("far side ended"), "{text}");
}

#[test]
fn corrupt_messages_are_reported_with_their_place() {
    let programs = Programs::new();
    let corrupt = Fault { corrupt: 1.0, seed: 3, ..Fault::default() };
    let mut session = opened(&programs, transport::tcp::NAME, |s| s.decorators.fault = Some(corrupt), &no_stop());
    let e = session.trial(&TrialSpec { check: true, ..spec(7) }).unwrap_err();
    assert!(matches!(e, SessionError::Corrupt { .. }), "{e}");
    let clean = &mut opened(&programs, transport::tcp::NAME, |_| (), &no_stop());
    clean.trial(&TrialSpec { check: true, ..spec(7) }).unwrap();
}

/// Not a test: the near side of [`a_killed_near_side_takes_the_far_one_with_it`].
#[test]
#[ignore = "the near side of another test, which kills it"]
fn near_process() {
    let kind = Name::new(&std::env::var("TEST_KIND").expect("started by the test")).unwrap();
    let programs = Programs::new();
    let mut session = opened(&programs, kind, |_| (), &no_stop());
    println!("\nfar {}", session.far_pid().unwrap());
    let _ = session.trial(&endless());
}

#[test]
fn a_killed_near_side_takes_the_far_one_with_it() {
    far_dies_with("tests::ends::near_process");
}

/// Kills a near side, which the test `near` is in a process of its own, and waits for the end of the far side that it names.
pub(super) fn far_dies_with(near: &str) {
    for kind in [transport::tcp::NAME, transport::shm::NAME, transport::udp::NAME] {
        // It can't remove what it makes.
        let folder = tempfile::tempdir().unwrap();
        let mut near = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", near, "--ignored", "--nocapture"])
            .env("TEST_KIND", kind.as_str())
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(near.stdout.take().unwrap()).lines();
        let far: u32 = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("far ")?.parse().ok())
            .expect("the near side says which its far side is");
        assert!(!is_gone(far));
        near.kill().unwrap();
        near.wait().unwrap();
        until(&format!("{kind}: the far side's end"), || is_gone(far));
    }
}
