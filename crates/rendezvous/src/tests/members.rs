//! Paths whose near halves are processes of their own: what they measure, and what becomes of a round when one of them ends, stops or fails.

use measure::Session;
use measure::topology::Role;
use measure::{Topology, event::PathPlan};
use rustix::process::Signal;
use transport::Name;
use transport::decorate::Fault;

use super::double::Double;
use super::ends::{endless, is_gone, no_stop, seconds_silent, signal, until};
use super::whole::{Programs, plan};
use super::*;
use crate::far::path::Path;
use crate::near::group::GroupSession;
use crate::near::group::elsewhere::Nears;
use crate::near::meet::meet_all;

const LOCAL: [Name; 3] = [transport::tcp::NAME, transport::unix::NAME, transport::shm::NAME];

/// A plan of one path of so many connections.
pub(super) fn group(transport: Name, topology: Topology, of: u32) -> Plan {
    let mut asked = plan(&[transport], Pattern::PingPong);
    asked.paths[0] = PathPlan { flows: of, topology, ..transport.into() };
    asked
}

pub(super) fn opened(programs: &Programs, asked: Plan) -> GroupSession {
    let mut session = programs.group(asked, &no_stop());
    session.open(0).unwrap_or_else(|e| panic!("{e}"));
    session
}

pub(super) fn trial_of(pattern: Pattern, flows: u32) -> TrialSpec {
    TrialSpec { pattern, flows, repeats: 300, warmup: 3, check: true, response: 10, burst: 5, ..spec(7) }
}

/// What a run of such a path reports.
fn measured(programs: &Programs, transport: Name, topology: Topology, spec: &TrialSpec) -> measure::TrialReport {
    let mut session = opened(programs, group(transport, topology, spec.flows));
    let report = session.trial(spec).unwrap_or_else(|e| panic!("{transport} {topology:?} {:?}: {e}", spec.pattern));
    let again = session.trial(spec).unwrap_or_else(|e| panic!("{transport} {topology:?} again: {e}"));
    assert_eq!(report.flows.as_ref().map(|f| f.each.len()), again.flows.as_ref().map(|f| f.each.len()));
    report
}

#[test]
fn pairs_run_every_pattern_over_every_sort_of_path() {
    let programs = Programs::new();
    for transport in LOCAL {
        for pattern in [Pattern::PingPong, Pattern::Stream, Pattern::Burst, Pattern::Bidirectional, Pattern::Request] {
            let spec = trial_of(pattern, 2);
            let report = measured(&programs, transport, Topology::Pairs, &spec);
            assert_eq!(report.far.received, 2 * pattern.facts().sends(&spec) * 303, "{transport} {pattern:?}");
            let flows = report.flows.clone().expect("several ran");
            assert_eq!(flows.each.len(), 2);
            assert!(flows.seconds <= flows.span && report.sound(), "{transport} {pattern:?}: {flows:?}");
        }
    }
}

#[test]
fn pairs_of_datagrams_come_to_an_end_whatever_is_lost() {
    let programs = Programs::new();
    for pattern in [Pattern::PingPong, Pattern::Stream] {
        let spec = TrialSpec { check: false, ..trial_of(pattern, 2) };
        let report = measured(&programs, transport::udp::NAME, Topology::Pairs, &spec);
        assert!(report.far.received > 0, "{pattern:?}");
    }
}

#[test]
fn receivers_of_datagrams_wait_for_no_more_than_was_sent() {
    let programs = Programs::new();
    let spec = TrialSpec { reverse: true, check: false, size: 60_000, ..trial_of(Pattern::Stream, 2) };
    let mut asked = Plan { reverse: true, patience: 3600.0, ..group(transport::udp::NAME, Topology::FanOut, 2) };
    // One that went on waiting for what was lost would wait for as long as this.
    asked.paths[0].settings.set("loss-timeout", transport::Value::from(3000.0));
    let mut session = opened(&programs, asked);
    if !(0..100).any(|_| session.trial(&spec).unwrap().far.lost > 0) {
        println!("skipped: nothing was lost here");
    }
}

#[test]
fn near_processes_stream_into_one_far_process_and_out_of_it() {
    let programs = Programs::new();
    for transport in LOCAL {
        for (topology, reverse) in [(Topology::FanIn, false), (Topology::FanOut, true)] {
            let spec = TrialSpec { reverse, ..trial_of(Pattern::Stream, 3) };
            let report = measured(&programs, transport, topology, &spec);
            assert_eq!(report.far.received, 3 * 303, "{transport} {topology:?}");
            assert_eq!(report.flows.expect("several ran").each.len(), 3);
        }
    }
}

#[test]
fn a_single_pair_is_reported_as_a_path_of_two_processes_is() {
    let programs = Programs::new();
    let report = measured(&programs, transport::tcp::NAME, Topology::Pairs, &trial_of(Pattern::PingPong, 1));
    assert_eq!((report.flows, report.repeats), (None, 300));
    assert!(report.median > 0.0 && !report.histogram.is_empty());
    let report = measured(&programs, transport::tcp::NAME, Topology::Pairs, &trial_of(Pattern::Stream, 1));
    assert!(report.flows.is_none() && report.far.seconds > 0.0);
}

#[test]
fn each_process_is_told_with_its_rank_and_cpu() {
    let programs = Programs::new();
    let cpu = host::allowed_cpus()[0];
    for (topology, far) in [(Topology::Pairs, 3), (Topology::FanIn, 1)] {
        let asked = Plan { pin: Some((cpu, cpu)), ..group(transport::unix::NAME, topology, 3) };
        let party = programs.group(asked, &no_stop()).open(0).unwrap();
        let ranks = |role| party.members.iter().filter(|m| m.role == role).map(|m| m.rank).collect::<Vec<_>>();
        assert_eq!((ranks(Role::Near), ranks(Role::Far)), (vec![1, 2, 3], (1..=far).collect()), "{topology:?}");
        assert!(party.members.iter().all(|m| !m.cpus.is_empty()), "{:?}", party.members);
        assert_eq!(party.flows.len(), 3);
        assert!(party.flows.iter().all(|flow| flow.near_cpu.is_some() && flow.far_cpu.is_some()));
        assert!(party.far.is_some_and(|far| !far.hostname.is_empty()));
    }
}

#[test]
fn each_round_has_fresh_processes_and_the_old_ones_are_gone() {
    let programs = Programs::new();
    let mut session = opened(&programs, group(transport::unix::NAME, Topology::Pairs, 2));
    let (near, far) = session.pids();
    assert_eq!((near.len(), far.len()), (2, 2));
    session.open(1).unwrap();
    assert!(near.iter().chain(&far).all(|pid| is_gone(*pid)));
    let (near, far) = session.pids();
    session.trial(&trial_of(Pattern::PingPong, 2)).unwrap();
    session.rest();
    session.trial(&trial_of(Pattern::PingPong, 2)).unwrap();
    session.close().unwrap();
    assert!(near.iter().chain(&far).all(|pid| is_gone(*pid)));
}

#[test]
fn trials_with_connections_of_their_own_find_the_same_processes() {
    let programs = Programs::new();
    let mut session = opened(&programs, Plan { reconnect: true, ..group(transport::tcp::NAME, Topology::FanIn, 2) });
    let pids = session.pids();
    for _ in 0..3 {
        session.trial(&trial_of(Pattern::Stream, 2)).unwrap();
    }
    assert_eq!(session.pids(), pids);
}

/// Runs an endless trial, during which a signal goes to one of the processes, and says what comes of it; all processes are gone then, and the
/// next round is measured.
fn struck(programs: &Programs, topology: Topology, near: bool, what: Signal, spec: &TrialSpec) -> String {
    // Only a stopped process is noticed by the patience: a busy machine must not be taken for one.
    let patience = if what == Signal::STOP { 2.0 } else { 60.0 };
    let mut session = opened(programs, Plan { patience, ..group(transport::tcp::NAME, topology, spec.flows) });
    let (members, fars) = session.pids();
    let victim = if near { members[1] } else { *fars.last().unwrap() };
    let striking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        signal(victim, what);
    });
    let text = session.trial(spec).unwrap_err().to_string();
    striking.join().unwrap();
    // Their parent has waited for near ones by now; far ones end with the session's next step.
    assert!(session.trial(spec).is_err(), "there is nobody to ask");
    session.open(1).unwrap();
    for pid in members.iter().chain(&fars) {
        until("the end of a process", || is_gone(*pid));
    }
    session.trial(&TrialSpec { repeats: 20, ..spec.clone() }).unwrap();
    text
}

#[test]
fn a_killed_near_process_is_told_with_its_number_and_signal() {
    let programs = Programs::new();
    for (topology, what, pattern) in [
        (Topology::Pairs, "pair", Pattern::PingPong),
        (Topology::Pairs, "pair", Pattern::Stream),
        (Topology::FanIn, "member", Pattern::Stream),
        (Topology::FanOut, "member", Pattern::Stream),
    ] {
        let spec = TrialSpec { flows: 3, pattern, reverse: topology == Topology::FanOut, ..endless() };
        let text = struck(&programs, topology, true, Signal::KILL, &spec);
        assert!(text.contains(&format!("{what} 2 of 3: the near process ended")), "{topology:?} {pattern:?}: {text}");
        assert!(text.contains("signal 9"), "{text}");
    }
}

#[test]
fn a_killed_far_process_is_told_with_its_signal_and_of_pairs_with_its_number() {
    let programs = Programs::new();
    let spec = TrialSpec { flows: 3, ..endless() };
    let text = struck(&programs, Topology::Pairs, false, Signal::KILL, &spec);
    assert!(text.contains("pair 3 of 3: the far side ended: it was killed by signal 9"), "{text}");
    let text = struck(&programs, Topology::FanIn, false, Signal::KILL, &TrialSpec { pattern: Pattern::Stream, ..spec });
    assert!(text.starts_with("the far side ended: it was killed by signal 9"), "{text}");
}

#[test]
fn a_stopped_process_is_given_up_and_ends() {
    let programs = Programs::new();
    for (topology, near, says) in [
        (Topology::Pairs, true, "pair 2 of 2: the near process has been silent"),
        (Topology::Pairs, false, "pair 2 of 2: the far side has been silent"),
        (Topology::FanIn, true, "member 2 of 2: the near process has been silent"),
    ] {
        let spec = TrialSpec { flows: 2, pattern: Pattern::Stream, ..endless() };
        let text = struck(&programs, topology, near, Signal::STOP, &spec);
        assert!(text.contains(says) && text.contains("--patience"), "{topology:?} {near}: {text}");
    }
}

#[test]
fn both_processes_of_a_pair_stopped_hold_nobody() {
    let programs = Programs::new();
    let mut session = opened(&programs, Plan { patience: 0.5, ..group(transport::shm::NAME, Topology::Pairs, 2) });
    let (near, far) = session.pids();
    for pid in [near[0], far[0]] {
        signal(pid, Signal::STOP);
    }
    let text = session.trial(&TrialSpec { flows: 2, ..endless() }).unwrap_err().to_string();
    assert!(text.contains("pair 1 of 2") && text.contains("silent"), "{text}");
    session.close().unwrap();
    assert!(near.iter().chain(&far).all(|pid| is_gone(*pid)));
}

#[test]
fn a_connection_that_breaks_or_carries_wrong_bytes_is_told_with_its_number() {
    let programs = Programs::new();
    let faults = [
        (Fault { cut: Some(100), flow: Some(2), ..Fault::default() }, "was cut"),
        (Fault { corrupt: 1.0, flow: Some(2), seed: 3, ..Fault::default() }, "corrupt message"),
    ];
    for (fault, says) in faults {
        for (topology, names) in [(Topology::Pairs, "pair 2 of 3"), (Topology::FanIn, "2 of 3")] {
            let mut asked = group(transport::tcp::NAME, topology, 3);
            asked.decorators.fault = Some(fault.clone());
            let mut session = opened(&programs, asked);
            let text = session.trial(&trial_of(Pattern::Stream, 3)).unwrap_err().to_string();
            assert!(text.contains(says) && text.contains(names), "{topology:?} {fault:?}: {text}");
        }
    }
}

#[test]
fn a_person_who_asks_to_stop_is_not_told_of_failures() {
    let programs = Programs::new();
    let stop = no_stop();
    let mut session = programs.group(group(transport::tcp::NAME, Topology::Pairs, 2), &stop);
    session.open(0).unwrap();
    let (near, far) = session.pids();
    let later = super::ends::stop_soon(&stop);
    let e = session.trial(&TrialSpec { flows: 2, ..endless() }).unwrap_err();
    assert!(matches!(e, SessionError::Interrupted), "{e}");
    later.join().unwrap();
    session.close().unwrap();
    assert!(near.iter().chain(&far).all(|pid| is_gone(*pid)));
    assert!(matches!(session.open(1), Err(SessionError::Interrupted)));
}

#[test]
fn a_near_process_that_does_not_get_ready_is_quoted_with_its_number() {
    let programs = Programs::new();
    let peer = programs.peer();
    let own = programs.script(
        "broken",
        &format!("if [ \"$1\" = member ]; then echo 'no such luck' >&2; exit 3; fi; exec '{}'", peer.display()),
    );
    let plan = std::rc::Rc::new(group(transport::tcp::NAME, Topology::Pairs, 2));
    let reach = crate::near::session::Reach::Fresh(peer, Vec::new());
    let mut session = GroupSession::new(0, plan, no_stop(), reach, Vec::new(), own);
    let text = session.open(0).unwrap_err().to_string();
    for part in ["pair 1 of 2", "a near process", "status 3", "no such luck"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Changes what it reports of a stream.
type Lie = fn(&mut Vec<FarReport>);

const LIES: [(&str, Lie); 7] = [
    ("a stream of several without how it went on", |reports| reports[0].course = None),
    ("messages in the parts of a trial", |reports| course(reports).steps[0].iterations += 1),
    ("parts of a trial that took", |reports| course(reports).begin -= 1_000_000_000),
    ("flows that ran at once", |reports| {
        let course = course(reports);
        course.begin += 3_600_000_000_000;
        course.steps.iter_mut().for_each(|step| step.end += 3_600_000_000_000);
    }),
    ("messages received", |reports| reports[0].received += 1),
    ("reports of 2 flows, where 1 can be", |reports| reports.push(reports[0].clone())),
    ("s for", |reports| reports[0].seconds = 1e-300),
];

fn course(reports: &mut [FarReport]) -> &mut measure::Course {
    reports[0].course.as_mut().expect("it timed the stream")
}

/// Tells what it saw, changed by the lie whose number travels as the size of a cold pool.
fn liar() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let mut reports = path.trial(spec, sent)?;
        if let Some((_, lie)) = LIES.get(spec.pool as usize) {
            lie(&mut reports);
        }
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

/// A far side that serves with this work, as a path of pairs has one; it ends with the flag.
pub(super) fn serves<W: Work + 'static>(
    work: fn() -> W,
    stop: &Arc<AtomicBool>,
    rank: u32,
    asked: &Plan,
) -> std::rc::Rc<std::cell::RefCell<crate::near::meeting::Meeting>> {
    let (tell, events) = channel();
    let options = ServeOptions { bind: Ipv4Addr::LOCALHOST.into(), port: 0, keep: true, limits: Limits::default() };
    let theirs = Arc::clone(stop);
    std::thread::spawn(move || serve_with(&options, theirs, &mut |event| drop(tell.send(event)), work));
    let Ok(ServeEvent::Listening { addr, key }) = events.recv_timeout(LONG) else { panic!("not listening") };
    let stop = no_stop();
    let far_pin = FarPin::None;
    let terms = crate::near::meeting::Terms {
        pin: None,
        far_pin,
        plan: asked,
        stop: &stop,
        environment: false,
        rank,
        at: None,
        among: 1,
    };
    let met = crate::near::meeting::serving(&[addr], "the test", &key, &terms).unwrap();
    std::rc::Rc::new(std::cell::RefCell::new(met))
}

/// A session of two pairs, the far side of the second of which is a [`liar`].
fn with_a_liar(programs: &Programs, stop: &Arc<AtomicBool>) -> GroupSession {
    let asked = group(transport::tcp::NAME, Topology::Pairs, 2);
    let fair = serves(Path::new, stop, 0, &asked);
    let liar = serves(liar, stop, 1, &asked);
    let reach = crate::near::session::Reach::Shared(fair);
    GroupSession::new(0, std::rc::Rc::new(asked), no_stop(), reach, vec![liar], programs.peer())
}

#[test]
fn a_far_side_that_lies_of_one_pair_is_not_believed() {
    let programs = Programs::new();
    let stop = no_stop();
    let spec = |lie| TrialSpec { pool: lie, check: false, ..trial_of(Pattern::Stream, 2) };
    let mut honest = with_a_liar(&programs, &stop);
    honest.open(0).unwrap();
    honest.trial(&spec(99)).unwrap();
    for (lie, (says, _)) in (0..).zip(LIES) {
        let mut session = with_a_liar(&programs, &stop);
        session.open(0).unwrap();
        let text = session.trial(&spec(lie)).unwrap_err().to_string();
        assert!(text.contains(says) && text.contains("can't be"), "{lie}: {text}");
        assert!(text.contains("pair 2 of 2") || lie == 3, "whose moments are wrong is not known: {text}");
    }
    stop.store(true, Ordering::Relaxed);
}

/// Does its half of a trial and says nothing of it for longer than anybody waits.
fn mute() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let reports = path.trial(spec, sent)?;
        std::thread::sleep(LONG);
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

#[test]
fn a_far_side_that_is_late_with_its_report_is_told_with_the_time_that_was_waited() {
    let programs = Programs::new();
    let stop = no_stop();
    let asked = Plan { patience: 0.5, ..group(transport::tcp::NAME, Topology::Pairs, 1) };
    let mute = serves(mute, &stop, 0, &asked);
    let reach = crate::near::session::Reach::Shared(mute);
    let mut session = GroupSession::new(0, std::rc::Rc::new(asked), no_stop(), reach, Vec::new(), programs.peer());
    session.open(0).unwrap();
    let text = session.trial(&trial_of(Pattern::Stream, 1)).unwrap_err().to_string();
    // Half a second of patience, and the time beyond it that is given to every answer.
    assert!(text.contains("the far side has been silent") && seconds_silent(&text) >= 2.0, "{text}");
    stop.store(true, Ordering::Relaxed);
}

#[test]
fn pairs_need_a_far_process_each() {
    let served = Served::keeping();
    let far =
        crate::near::meet::Far::Listening { host: "127.0.0.1".into(), port: served.at.port(), key: served.key.clone() };
    let asked = group(transport::tcp::NAME, Topology::Pairs, 2);
    let e = crate::near::meet::meet(&far, &[&asked], FarPin::None, no_stop()).err().unwrap().to_string();
    assert!(e.contains("'pipegauge serve' is one process") && e.contains("--peer ssh://"), "{e}");
}

#[test]
fn pairs_and_a_fan_in_reach_far_processes_that_ssh_starts() {
    let programs = Programs::new();
    let ssh = programs.script(
        "ssh",
        &format!("{}\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nexec \"$@\"", super::whole::SSH),
    );
    let far = super::whole::ssh_at(&["user@host"], &programs);
    let mut asked = group(transport::tcp::NAME, Topology::Pairs, 2);
    asked.paths.push(PathPlan { flows: 3, topology: Topology::FanIn, ..transport::unix::NAME.into() });
    let sessions = crate::near::meet::meet_with(&far, &[&asked], FarPin::Auto, no_stop(), &ssh, &programs.peer())
        .unwrap()
        .remove(0);
    let mut sessions: Vec<_> = sessions.into_iter().zip([2, 3]).collect();
    for round in 0..2 {
        for (session, of) in &mut sessions {
            session.open(round).unwrap();
            let report = session.trial(&trial_of(Pattern::Stream, *of)).unwrap();
            assert_eq!(report.far.received, u64::from(*of) * 303);
            session.rest();
            let found = session.calibration(Duration::from_millis(10));
            assert_eq!(found.far.iter().map(|of| of.rank).collect::<Vec<_>>(), [1], "one host: {found:?}");
        }
    }
}

/// A stand-in for ssh, for which all hosts are this one, and the file in which it notes where it was to go.
fn noting_ssh(programs: &Programs) -> (std::path::PathBuf, std::path::PathBuf) {
    let went = programs.peer().with_file_name("went");
    let note = "for word; do case \"$word\" in user@*) echo \"$word\";; esac; done";
    let ssh = programs.script(
        "ssh",
        &format!(
            "({note}) >>'{}'\n{}\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nexec \"$@\"",
            went.display(),
            super::whole::SSH
        ),
    );
    (ssh, went)
}

/// Three processes on two hosts, both of which are this one, as a stand-in for ssh has it, which notes where it was to go.
#[test]
fn far_processes_take_the_hosts_in_turn() {
    let programs = Programs::new();
    let (ssh, went) = noting_ssh(&programs);
    let far = super::whole::ssh_at(&["user@a", "user@b"], &programs);
    let asked = group(transport::tcp::NAME, Topology::Pairs, 3);
    let met = crate::near::meet::meet_with(&far, &[&asked], FarPin::Auto, no_stop(), &ssh, &programs.peer());
    let mut sessions = met.unwrap().remove(0);
    for round in 0..2 {
        let party = sessions[0].open(round).unwrap();
        let far: Vec<_> = party.members.iter().filter(|one| one.role == Role::Far).collect();
        assert_eq!(far.len(), 3);
        // The second on the first host is beside the first one there.
        let cpus: Vec<_> = far.iter().map(|one| one.cpus.clone()).collect();
        assert_eq!(cpus[0], cpus[1], "each is the first of its host");
        let report = sessions[0].trial(&trial_of(Pattern::Stream, 3)).unwrap();
        assert_eq!(report.far.received, 3 * 303);
        assert_eq!(report.flows.map(|flows| flows.each.len()), Some(3));
        let found = sessions[0].calibration(Duration::from_millis(10));
        let ranks: Vec<u32> = found.far.iter().map(|of| of.rank).collect();
        assert!(found.near.is_some() && ranks == [1, 2], "each host's own: {found:?}");
        let report = sessions[0].trial(&trial_of(Pattern::Stream, 3)).unwrap();
        assert_eq!(report.far.received, 3 * 303, "what was asked of the hosts is answered");
        sessions[0].close().unwrap();
    }
    let went = std::fs::read_to_string(went).unwrap();
    assert_eq!(went.lines().collect::<Vec<_>>(), ["user@a", "user@b", "user@a"]);
}

/// Two hosts that are this one, as a stand-in for ssh has it, which notes where it was to go.
#[test]
fn near_processes_are_started_on_other_hosts_once_and_stay_for_all_rounds() {
    let programs = Programs::new();
    let (ssh, went) = noting_ssh(&programs);
    let program = programs.peer().display().to_string();
    let nears = Nears { targets: vec!["user@a".into(), "user@b".into()], program, pin: FarPin::Auto };
    let far = crate::near::meet::Far::Local { program: programs.peer(), at: vec!["127.0.0.1".into()] };
    let mut asked = group(transport::tcp::NAME, Topology::FanIn, 3);
    asked.paths.push(PathPlan { flows: 2, topology: Topology::FanOut, ..transport::udp::NAME.into() });
    let met = meet_all((&far, Some(nears)), &[&asked], FarPin::None, no_stop(), &ssh, &programs.peer());
    let mut sessions: Vec<_> = met.unwrap().remove(0).into_iter().zip([(3, false), (2, true)]).collect();
    for round in 0..3 {
        for (session, (of, reverse)) in &mut sessions {
            let party = session.open(round).unwrap();
            let near = party.members.iter().filter(|one| one.role == Role::Near);
            assert_eq!(near.clone().count(), *of as usize);
            assert!(near.clone().all(|one| !one.host.is_empty() && one.cpus.len() <= 1), "{:?}", party.members);
            let spec = TrialSpec { reverse: *reverse, ..trial_of(Pattern::Stream, *of) };
            let report = session.trial(&spec).unwrap();
            assert!(report.far.received > 0 && report.far.received + report.far.lost == u64::from(*of) * 303);
            assert_eq!(report.flows.map(|flows| flows.each.len()), Some(*of as usize));
            session.rest();
            session.close().unwrap();
        }
    }
    let went = std::fs::read_to_string(went).unwrap();
    // They begin at once, in any order.
    let mut went: Vec<_> = went.lines().collect();
    went.sort_unstable();
    assert_eq!(went, ["user@a", "user@a", "user@b"], "three near processes in all");
}

#[test]
fn a_near_process_on_another_host_that_can_not_be_started_is_quoted() {
    let programs = Programs::new();
    let ssh = programs.script("ssh", "echo 'user@a: Permission denied (publickey).' >&2; exit 255");
    let nears = Nears { targets: vec!["user@a".into(), "user@b".into()], program: "p".into(), pin: FarPin::None };
    let far = crate::near::meet::Far::Local { program: programs.peer(), at: vec!["127.0.0.1".into()] };
    let asked = group(transport::tcp::NAME, Topology::FanIn, 2);
    let met = meet_all((&far, Some(nears)), &[&asked], FarPin::None, no_stop(), &ssh, &programs.peer());
    let e = met.unwrap().remove(0).remove(0).open(0).err().unwrap().to_string();
    assert!(e.starts_with("member 1 of 2: ") && e.contains("Permission denied") && e.contains("255"), "{e}");
}

#[test]
fn all_processes_of_a_path_are_told_goodbye_before_any_is_waited_for() {
    let programs = Programs::new();
    let mut session = opened(&programs, group(transport::unix::NAME, Topology::Pairs, 3));
    let (near, far) = session.pids();
    assert_eq!((near.len(), far.len()), (3, 3));
    session.leave();
    // Nobody has waited for any of them, and none is held by another's end.
    for pid in near.into_iter().chain(far) {
        until("its end", || is_gone(pid) || is_zombie(pid));
    }
}

/// Whether a process has ended and nobody has waited for it yet.
fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[test]
fn a_living_process_whose_conversation_broke_is_not_said_to_have_ended() {
    let programs = Programs::new();
    let mut session = opened(&programs, group(transport::unix::NAME, Topology::Pairs, 2));
    let said = session.broken_talk();
    assert!(said.contains("conversation") && said.contains("as the test asked") && !said.contains("Ended"), "{said}");
}
