//! Whole measurements: real far processes and real data connections. The far process is this test binary again, running
//! the ignored test [`far_process`] as `pipegauge peer`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;

use measure::Session;
use tempfile::TempDir;
use transport::{Ends, Family, Name, registry};

use super::*;
use crate::message::{By, Launch, Speaker, Waiting};
use crate::near::group::GroupSession;
use crate::near::meet::{Far, SshHost, meet, meet_with};
use crate::near::session::{Reach, RemoteSession};

/// Not a test: what a far process runs.
#[test]
#[ignore = "the far side of the other tests; they start it"]
fn far_process() {
    // The harness has begun a line of its own.
    println!();
    if let Err(e) = crate::peer(Arc::new(AtomicBool::new(false))) {
        eprintln!("{e}");
        std::process::exit(2);
    }
    std::process::exit(0);
}

/// Not a test: what a near member runs.
#[test]
#[ignore = "a near member of the other tests; they start it"]
fn member_process() {
    println!();
    if let Err(e) = crate::member(Arc::new(AtomicBool::new(false))) {
        eprintln!("{e}");
        std::process::exit(2);
    }
    std::process::exit(0);
}

/// A directory with a program that runs [`far_process`] whatever it is asked.
pub(super) struct Programs {
    folder: TempDir,
}

impl Programs {
    pub(super) fn new() -> Self {
        let programs = Self { folder: TempDir::new().unwrap() };
        let me = std::env::current_exe().unwrap();
        let me = me.display();
        let run = |test: &str| format!("exec '{me}' --exact tests::whole::{test} --ignored --nocapture");
        let (far, member) = (run("far_process"), run("member_process"));
        programs.script("peer", &format!("if [ \"$1\" = member ]; then {member}; fi; {far}"));
        programs
    }

    pub(super) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        // Written by another process: one that is forked here while a file is open for writing holds it open, and it can't be run.
        let mut written = std::process::Command::new("sh");
        written.args(["-c", "printf '%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", &format!("#!/bin/sh\n{body}")]);
        assert!(written.arg(&path).status().unwrap().success());
        path
    }

    pub(super) fn peer(&self) -> PathBuf {
        self.folder.path().join("peer")
    }

    fn local(&self) -> Far {
        Far::Local { program: self.peer(), at: Vec::new() }
    }

    /// The same of a path whose near halves are processes of their own.
    pub(super) fn group(&self, plan: Plan, stop: &Arc<AtomicBool>) -> GroupSession {
        let reach = Reach::Fresh(self.peer(), Vec::new());
        GroupSession::new(0, Rc::new(plan), Arc::clone(stop), reach, Vec::new(), self.peer())
    }

    /// A session of the concrete type, so that a test can get at its far process.
    pub(super) fn session(&self, plan: Plan, stop: &Arc<AtomicBool>) -> RemoteSession {
        RemoteSession::new(0, Rc::new(plan), Arc::clone(stop), Reach::Fresh(self.peer(), Vec::new()))
    }
}

pub(super) fn plan(transports: &[Name], pattern: Pattern) -> Plan {
    Plan {
        paths: measure::event::plain(transports),
        pattern,
        to: 1 << 20,
        perturb: 0,
        budget: 1.0,
        response: 10,
        burst: 5,
        align: 64,
        ..Plan::default()
    }
}

fn no_stop() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

fn a_trial(pattern: Pattern, size: u64) -> TrialSpec {
    TrialSpec { pattern, size, response: 10, burst: 5, repeats: 20, warmup: 2, ..spec(7) }
}

#[test]
fn every_two_ended_transport_runs_between_two_processes() {
    let programs = Programs::new();
    let two_ended = registry::all().filter(|t| t.ends() == Ends::Two && super::here(*t));
    let kinds: Vec<Name> = two_ended.map(|t| t.name()).collect();
    assert!(kinds.contains(&transport::tcp::NAME) && kinds.contains(&transport::shm::NAME), "{kinds:?}");
    let mut asked = plan(&kinds, Pattern::PingPong);
    // Members that wait for each other take each wait for a loss, and on a busy machine ten in a row for the end.
    for path in asked.paths.iter_mut().filter(|path| path.transport == transport::multicast::NAME) {
        path.settings.set("loss-timeout", transport::Value::from(20.0));
    }
    let sessions = meet(&programs.local(), &[&asked], FarPin::None, no_stop()).unwrap().remove(0);
    assert_eq!(sessions.len(), kinds.len());
    for (mut session, kind) in sessions.into_iter().zip(kinds) {
        let party = session.open(0).unwrap_or_else(|e| panic!("{kind}: {e}"));
        assert!(!party.far.expect("a second process").hostname.is_empty());
        let can = session.capabilities();
        let runs = |p: &&Pattern| p.facts().anew.is_none() && (p.facts().refuses)(&can).is_none();
        for pattern in Pattern::ALL.iter().filter(runs) {
            let spec = a_trial(*pattern, 1000);
            let report = session.trial(&spec).unwrap_or_else(|e| panic!("{kind} {pattern:?}: {e}"));
            assert!(report.repeats > 0 && report.seconds > 0.0, "{kind} {pattern:?}: {report:?}");
            // What tells a pattern from the others: how many messages come, and which side times them.
            let (came, all) = (report.far.received, pattern.facts().sends(&spec) * (spec.warmup + spec.repeats));
            assert!(came == all || (!can.reliable && came > 0), "{kind} {pattern:?}: {report:?}");
            assert_eq!(report.far.seconds > 0.0, pattern.facts().unanswered, "{kind} {pattern:?}");
        }
        session.close().unwrap();
    }
}

#[test]
fn the_far_side_of_every_transport_sends_where_that_is_asked_for() {
    let programs = Programs::new();
    let two_ended = registry::all().filter(|t| t.ends() == Ends::Two && super::here(*t));
    let kinds: Vec<Name> = two_ended.map(|t| t.name()).collect();
    let asked = Plan { reverse: true, ..plan(&kinds, Pattern::Stream) };
    let sessions = meet(&programs.local(), &[&asked], FarPin::None, no_stop()).unwrap().remove(0);
    for (mut session, kind) in sessions.into_iter().zip(kinds) {
        session.open(0).unwrap_or_else(|e| panic!("{kind}: {e}"));
        let can = session.capabilities();
        let runs = |p: &&Pattern| p.facts().reverses && (p.facts().refuses)(&can).is_none();
        for (pattern, size) in Pattern::ALL.iter().filter(runs).flat_map(|p| [(p, 1), (p, 1000)]) {
            // Contents are verified at this side: messages that this side sent would be other ones.
            let spec = TrialSpec { reverse: true, check: true, ..a_trial(*pattern, size) };
            let report = session.trial(&spec).unwrap_or_else(|e| panic!("{kind} {pattern:?}: {e}"));
            let (received, all) = (report.far.received, spec.warmup + spec.repeats);
            assert!(received == all || (!can.reliable && received > 0), "{kind} {pattern:?}: {report:?}");
            assert_eq!(report.far.bytes > 0, pattern.facts().unanswered, "{kind} {pattern:?}: {report:?}");
            assert!(report.seconds > 0.0, "{kind} {pattern:?}: {report:?}");
        }
        // The same connection the other way round, and again.
        for reverse in [false, true] {
            let spec = TrialSpec { reverse, ..a_trial(Pattern::Stream, 64) };
            session.trial(&spec).unwrap_or_else(|e| panic!("{kind}, reversed: {reverse}: {e}"));
        }
        session.close().unwrap();
    }
}

#[test]
fn a_far_process_that_inherits_a_pin_has_the_cpus_of_this_side() {
    let programs = Programs::new();
    // A thread of its own: the pin must not outlive the test.
    std::thread::spawn(move || {
        let allowed = host::allowed_cpus();
        let (first, last) = (allowed[0], *allowed.last().unwrap());
        host::pin_this_thread(first).unwrap();
        let plan = Plan { pin: Some((first, last)), ..plan(&[transport::unix::NAME], Pattern::PingPong) };
        let party = programs.session(plan, &no_stop()).open(0).unwrap();
        let far = party.far.expect("a second process");
        assert_eq!((far.cpus, far.pinned), (allowed, Some(last)));
    })
    .join()
    .unwrap();
}

#[test]
fn a_trace_that_does_not_fit_is_said_when_its_connection_closes() {
    let programs = Programs::new();
    let mut plan = plan(&[transport::unix::NAME], Pattern::PingPong);
    plan.decorators.trace = Some("/dev/full".into());
    let mut session = programs.session(plan, &no_stop());
    session.open(0).unwrap();
    // Few enough lines to be held back until the end.
    session.trial(&a_trial(Pattern::PingPong, 8)).unwrap();
    let said = session.open(1).unwrap_err().to_string();
    assert!(said.contains("writing the trace"), "{said}");
}

#[test]
fn each_round_has_a_fresh_process_and_the_old_one_is_gone() {
    let programs = Programs::new();
    let mut session = programs.session(plan(&[transport::unix::NAME], Pattern::PingPong), &no_stop());
    let mut seen = Vec::new();
    for round in 0..3 {
        session.open(round).unwrap();
        session.trial(&a_trial(Pattern::PingPong, 100)).unwrap();
        seen.push(session.far_pid().unwrap());
        assert!(Path::new(&format!("/proc/{}", seen[round as usize])).exists());
    }
    session.close().unwrap();
    for (i, pid) in seen.iter().enumerate() {
        assert!(!seen[..i].contains(pid), "{seen:?}");
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is left over");
    }
}

#[test]
fn transactions_and_reconnecting_trials() {
    let programs = Programs::new();
    for kind in [transport::tcp::NAME, transport::unix::NAME] {
        let mut session = programs.session(plan(&[kind], Pattern::Connect), &no_stop());
        session.open(0).unwrap();
        for _ in 0..2 {
            let report = session.trial(&a_trial(Pattern::Connect, 100)).unwrap();
            assert_eq!(report.repeats, 20, "{kind}");
        }
    }
    let again = Plan { reconnect: true, ..plan(&[transport::tcp::NAME], Pattern::PingPong) };
    let mut session = programs.session(again, &no_stop());
    session.open(0).unwrap();
    for _ in 0..3 {
        assert_eq!(session.trial(&a_trial(Pattern::PingPong, 100)).unwrap().repeats, 20);
    }
}

#[test]
fn ip_version_six_is_used_when_asked_for() {
    let programs = Programs::new();
    let mut asked = plan(&[transport::tcp::NAME], Pattern::PingPong);
    asked.paths[0].settings.set("family", Family::V6);
    let mut session = programs.session(asked, &no_stop());
    let party = session.open(0).unwrap();
    let addresses = party.near_effective.addresses.expect("tcp says its addresses");
    assert!(addresses.contains("::1"), "{addresses}");
    session.trial(&a_trial(Pattern::PingPong, 100)).unwrap();
}

#[test]
fn one_serving_far_side_serves_all_paths_in_turn() {
    let (tell, events) = channel();
    let stop = no_stop();
    let options = ServeOptions { bind: Ipv4Addr::LOCALHOST.into(), port: 0, keep: false, limits: Limits::default() };
    let serving = std::thread::spawn(move || {
        serve_with(&options, stop, &mut |event| drop(tell.send(event)), crate::far::path::Path::new)
    });
    let Ok(ServeEvent::Listening { addr, key }) = events.recv_timeout(LONG) else { panic!("not listening") };
    let far = Far::Listening { host: "127.0.0.1".into(), port: addr.port(), key };
    let kinds = [transport::tcp::NAME, transport::udp::NAME, transport::shm::NAME];
    let mut sessions = meet(&far, &[&plan(&kinds, Pattern::PingPong)], FarPin::None, no_stop()).unwrap().remove(0);
    for round in 0..2 {
        for session in &mut sessions {
            let party = session.open(round).unwrap();
            assert!(party.far.is_some());
            assert!(session.trial(&a_trial(Pattern::PingPong, 100)).unwrap().repeats > 0);
            let e = session.trial(&a_trial(Pattern::PingPong, 2 << 30)).unwrap_err();
            assert!(e.to_string().contains("larger"), "{e}");
            assert!(session.trial(&a_trial(Pattern::PingPong, 100)).unwrap().repeats > 0, "refusing breaks nothing");
        }
    }
    drop(sessions);
    serving.join().unwrap().expect("an orderly end");
}

/// What `ssh` does as far as pipegauge sees: passes over options and host, and runs the rest.
pub(super) const SSH: &str = r#"while [ "${1#-}" != "$1" ]; do case "$1" in -o|-p) shift;; esac; shift; done; shift"#;

/// Far processes that ssh starts, in turn at these targets.
pub(super) fn ssh_at(targets: &[&str], programs: &Programs) -> Far {
    let host = |target: &&str| SshHost { target: (*target).into(), at: None };
    Far::Ssh { hosts: targets.iter().map(host).collect(), program: programs.peer().display().to_string() }
}

#[test]
fn a_far_side_started_by_ssh() {
    let programs = Programs::new();
    let ssh = programs.script(
        "ssh",
        &format!(
            "{SSH}\necho 'Welcome, it is a fine day'\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nexec \"$@\""
        ),
    );
    let far = ssh_at(&["user@host:2222"], &programs);
    let mut sessions = meet_with(
        &far,
        &[&plan(&[transport::tcp::NAME, transport::unix::NAME], Pattern::PingPong)],
        FarPin::None,
        no_stop(),
        &ssh,
        &programs.peer(),
    )
    .unwrap()
    .remove(0);
    for session in &mut sessions {
        session.open(0).unwrap();
        assert_eq!(session.trial(&a_trial(Pattern::PingPong, 100)).unwrap().repeats, 20);
    }
}

/// What a far side that ssh started says of its end, where ssh's input ends once the far side has said the first line, and `then` was done.
fn when_ssh_is_gone(then: impl FnOnce(Waiting)) -> String {
    let programs = Programs::new();
    let mut command = std::process::Command::new(programs.peer());
    command.arg("peer").env("SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 22");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut far = command.spawn().unwrap();
    let launch = Launch {
        speaker: Speaker::here(),
        secret: "ab".repeat(32),
        by: By::Ssh,
        pin: None,
        cpus: Vec::new(),
        limits: Limits::own(),
        listen_at: None,
        anywhere: false,
    };
    let mut input = far.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(&launch).unwrap()).unwrap();
    let said = BufReader::new(far.stdout.take().unwrap()).lines().map(Result::unwrap);
    let answer = said.filter_map(|line| serde_json::from_str::<Waiting>(&line).ok()).next().expect("an answer");
    assert!(answer.at.is_some(), "{answer:?}");
    then(answer);
    drop(input);
    String::from_utf8(far.wait_with_output().unwrap().stderr).unwrap()
}

#[test]
fn a_far_side_ends_when_the_ssh_that_started_it_does() {
    // Where it had no time to end in good order, it has said nothing.
    let of_ssh = |said: &str| ["interrupted", ""].contains(&said.trim());
    // It waits for a near side that never comes, which it would say after a while.
    let said = when_ssh_is_gone(|_| ());
    assert!(of_ssh(&said), "{said}");
    // Its near side is there and says nothing more.
    let mut near = None;
    let said = when_ssh_is_gone(|answer| {
        let pin = data_encoding::HEXLOWER.decode(answer.pin.as_bytes()).unwrap().try_into().unwrap();
        let key = Key { pin, secret: Secret::of([0xab; 32]) };
        near = Some(dial(&[answer.at.unwrap()], "the test", "look at the test", &key, &no_stop()).unwrap());
    });
    assert!(of_ssh(&said), "{said}");
}

#[test]
fn ssh_that_fails_is_quoted() {
    let programs = Programs::new();
    let one = plan(&[transport::tcp::NAME], Pattern::PingPong);
    let far = ssh_at(&["user@host"], &programs);
    let denies = programs.script("denies", "echo 'user@host: Permission denied (publickey).' >&2; exit 255");
    let e =
        meet_with(&far, &[&one], FarPin::None, no_stop(), &denies, Path::new("no-member")).err().unwrap().to_string();
    assert!(e.contains("Permission denied") && e.contains("255"), "{e}");
    let bare = programs.script("bare", &format!("{SSH}\nunset SSH_CONNECTION\nexec \"$@\""));
    let e = meet_with(&far, &[&one], FarPin::None, no_stop(), &bare, Path::new("no-member")).err().unwrap().to_string();
    assert!(e.contains("SSH_CONNECTION") && e.contains("pipegauge serve"), "{e}");
}

#[test]
fn a_program_that_is_no_far_side_is_named() {
    let mut sessions = meet(
        &Far::Local { program: "/bin/false".into(), at: Vec::new() },
        &[&plan(&[transport::tcp::NAME], Pattern::PingPong)],
        FarPin::None,
        no_stop(),
    )
    .unwrap()
    .remove(0);
    let e = sessions[0].open(0).unwrap_err().to_string();
    assert!(e.contains("/bin/false") && e.contains("status 1"), "{e}");
}
