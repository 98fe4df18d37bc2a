//! Groups: one near process that casts to far processes, each a member; and what becomes of a round when one of them lies, ends, stops or is silent.

use std::net::UdpSocket;

use measure::Session;
use measure::topology::Role;
use rustix::process::Signal;
use transport::{multicast, strata};

use super::double::Double;
use super::ends::{endless, is_gone, no_stop, signal, until};
use super::members::{group, opened, serves, trial_of};
use super::whole::Programs;
use super::*;
use crate::far::path::Path;
use crate::near::group::GroupSession;
use measure::Topology;

/// A plan of strata, with the stack of the papers; none where this build has no such transport.
fn over_strata(receivers: u32) -> Option<Plan> {
    strata::NAME.transport().unwrap().availability().ok()?;
    let mut asked = group(strata::NAME, Topology::Group, receivers);
    asked.paths[0].settings.set("stack", transport::Value::from("TOTAL:MBRSHIP:FRAG:NAK:COM:udp"));
    Some(asked)
}

/// Plans over each transport that is a group, and over each IP version of which this host carries groups.
fn plans(receivers: u32) -> impl Iterator<Item = Plan> {
    std::iter::once(plan_of(receivers)).chain(over_v6(receivers)).chain(over_strata(receivers))
}

/// A plan of a group of IPv6; none, having said why, where the transport finds that no interface carries one.
fn over_v6(receivers: u32) -> Option<Plan> {
    let asked = Settings::default().with("family", transport::Family::V6);
    let door = multicast::TRANSPORT.listen(&asked, ([127, 0, 0, 1], 0).into(), &Patience::default());
    if let Err(e) = door {
        eprintln!("not tried: no groups of IPv6: {e}");
        return None;
    }
    let mut asked = plan_of(receivers);
    asked.paths[0].settings.set("family", transport::Family::V6);
    Some(asked)
}

/// A plan of a group of one that casts and so many that receive, which waits for what is late on a busy machine.
fn plan_of(receivers: u32) -> Plan {
    let mut asked = group(multicast::NAME, Topology::Group, receivers);
    asked.paths[0].settings.set("loss-timeout", transport::Value::from(20.0));
    asked
}

#[test]
fn every_member_answers_each_cast_and_contents_are_checked() {
    let programs = Programs::new();
    for (receivers, plan) in
        [1, 2, 4].into_iter().flat_map(|receivers| plans(receivers).map(move |plan| (receivers, plan)))
    {
        let mut session = opened(&programs, plan);
        for size in [1, 64, 1457, 60_000] {
            let spec = TrialSpec { size, ..trial_of(Pattern::Cast, receivers) };
            let report = session.trial(&spec).unwrap();
            assert_eq!((report.repeats, report.lost, report.far.received), (300, 0, 303 * u64::from(receivers)));
            assert!(report.median > 0.0 && report.sound(), "{report:?}");
            assert_eq!(report.flows.map_or(1, |flows| flows.each.len()), receivers as usize);
        }
        // Links that no pattern stands between see what is cast, not who answers what.
        let spec = TrialSpec { check: false, ..trial_of(Pattern::Cast, receivers) };
        assert_eq!(session.trial(&spec).unwrap().repeats, 300);
    }
}

#[test]
fn a_stream_is_counted_by_each_member_that_receives_it() {
    let programs = Programs::new();
    for plan in plans(3) {
        let mut session = opened(&programs, plan);
        for check in [true, false] {
            let spec = TrialSpec { check, ..trial_of(Pattern::Stream, 3) };
            let report = session.trial(&spec).unwrap();
            assert_eq!(report.far.received + report.far.lost, 3 * 303);
            assert!(report.far.lost == 0 || !session.capabilities().reliable);
            let flows = report.flows.clone().expect("several received");
            assert_eq!(flows.each.iter().map(|flow| flow.lost).sum::<u64>(), report.far.lost);
            assert!(report.sound() && report.cost.is_none_or(|cost| cost.iterations == 300), "{:?}", report.cost);
        }
        let spec = TrialSpec { offered: Some(64.0 * 8.0 * 3000.0), ..trial_of(Pattern::Stream, 3) };
        let report = session.trial(&spec).unwrap();
        let flows = report.flows.expect("several received");
        assert!(flows.each.iter().all(|flow| flow.sent > 0.0 && flow.sent < 3100.0), "{flows:?}");
    }
}

#[test]
fn a_trial_of_a_whole_group_that_takes_too_long_ends_for_all_and_the_next_one_is_measured() {
    let programs = Programs::new();
    for plan in plans(2) {
        let over = plan.paths[0].transport;
        let mut session = opened(&programs, plan);
        for pattern in [Pattern::Group, Pattern::OneSender] {
            let spec = TrialSpec { burst: 2, ..trial_of(pattern, 2) };
            let endless = TrialSpec { repeats: 1 << 24, within: Some(20_000_000), ..spec.clone() };
            for check in [true, false] {
                let report = session.trial(&TrialSpec { check, ..endless.clone() }).unwrap();
                assert!(
                    report.repeats >= 1 && report.repeats < endless.repeats,
                    "{over} {pattern:?}: {}",
                    report.repeats
                );
                let report = session.trial(&TrialSpec { check, ..spec.clone() }).unwrap();
                assert_eq!((report.repeats, report.lost), (spec.repeats, 0), "{over} {pattern:?}");
            }
        }
    }
}

#[test]
fn a_trial_of_a_whole_group_is_counted_rightly_whatever_pattern_the_connection_had_before() {
    let programs = Programs::new();
    for plan in plans(2) {
        let over = plan.paths[0].transport;
        let mut session = opened(&programs, plan);
        for before in [Pattern::Stream, Pattern::Cast, Pattern::Group, Pattern::OneSender] {
            for pattern in [Pattern::Group, Pattern::OneSender] {
                // A message of a byte tells its number only up to 255: here 256 casts came before it.
                for (size, repeats) in [(1, 253), (100, 300)] {
                    let earlier = TrialSpec { size, repeats, burst: 1, ..trial_of(before, 2) };
                    session.trial(&earlier).unwrap_or_else(|e| panic!("{over} {before:?}: {e}"));
                    let spec = TrialSpec { size, burst: 2, ..trial_of(pattern, 2) };
                    let report =
                        session.trial(&spec).unwrap_or_else(|e| panic!("{over} {pattern:?} after {before:?}: {e}"));
                    assert_eq!((report.repeats, report.lost), (300, 0), "{over} {pattern:?} after {before:?}");
                    assert_eq!(report.far.received, 2 * 2 * 303, "{over} {pattern:?} after {before:?}");
                }
            }
        }
    }
}

#[test]
fn a_group_has_one_near_process_and_a_far_one_for_each_other_member() {
    let programs = Programs::new();
    let party = programs.group(plan_of(3), &no_stop()).open(0).unwrap();
    let ranks = |role| party.members.iter().filter(|m| m.role == role).map(|m| m.rank).collect::<Vec<_>>();
    assert_eq!((ranks(Role::Near), ranks(Role::Far)), (vec![1], vec![1, 2, 3]));
    let addresses = party.near_effective.addresses.unwrap();
    assert!(addresses.contains("by lo, ttl 0, member 0 of 4"), "{addresses}");
}

#[test]
fn garbage_at_the_groups_port_is_counted_and_changes_nothing() {
    let programs = Programs::new();
    let mut asked = plan_of(2);
    asked.paths[0].settings.set("port", transport::Value::from("40773"));
    let mut session = opened(&programs, asked);
    let stop = no_stop();
    let theirs = Arc::clone(&stop);
    let stranger = std::thread::spawn(move || {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_multicast_ttl_v4(0).unwrap();
        rustix::net::sockopt::set_ip_multicast_if(&socket, &Ipv4Addr::LOCALHOST).unwrap();
        for size in [1, 16, 80].into_iter().cycle() {
            if theirs.load(Ordering::Relaxed) {
                return;
            }
            socket.send_to(&vec![7; size], (Ipv4Addr::new(239, 192, 80, 71), 40773)).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let mut strangers = 0;
    for _ in 0..200 {
        let report = session.trial(&trial_of(Pattern::Cast, 2)).unwrap();
        assert_eq!((report.repeats, report.lost, report.far.received), (300, 0, 606));
        strangers += report.far.strangers;
        if strangers > 0 {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    stranger.join().unwrap();
    assert!(strangers > 0, "receivers count what they drop");
}

/// Runs an endless trial, during which a signal goes to one of the processes, and says what comes of it; all processes are gone then, and the
/// next round is measured.
fn struck(programs: &Programs, mut asked: Plan, near: bool, what: Signal, pattern: Pattern) -> String {
    asked.patience = if what == Signal::STOP { 2.0 } else { 60.0 };
    if asked.paths[0].transport == multicast::NAME {
        // Casts that wait for a stopped member are lost one after another, which is no cause of its own.
        let loss = if what == Signal::STOP { 0.05 } else { 60.0 };
        asked.paths[0].settings.set("loss-timeout", transport::Value::from(loss));
    }
    let mut session = opened(programs, asked);
    let (members, fars) = session.pids();
    assert_eq!((members.len(), fars.len()), (1, 2));
    let victim = if near { members[0] } else { fars[1] };
    let striking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        signal(victim, what);
    });
    let spec = TrialSpec { flows: 2, pattern, ..endless() };
    let text = session.trial(&spec).unwrap_err().to_string();
    striking.join().unwrap();
    assert!(session.trial(&spec).is_err(), "there is nobody to ask");
    session.open(1).unwrap();
    for pid in members.iter().chain(&fars) {
        until("the end of a process", || is_gone(*pid));
    }
    session.trial(&TrialSpec { repeats: 20, ..spec }).unwrap();
    text
}

#[test]
fn a_member_that_is_killed_or_stopped_is_named_and_holds_nobody() {
    let programs = Programs::new();
    for pattern in [Pattern::Cast, Pattern::Stream] {
        for (near, what, says) in [
            (false, Signal::KILL, "receiving member 2 of 2: the far side ended: it was killed by signal 9"),
            (true, Signal::KILL, "the near process ended: it was killed by signal 9"),
            (false, Signal::STOP, "receiving member 2 of 2: the far side has been silent"),
            (true, Signal::STOP, "the near process has been silent"),
        ] {
            for plan in plans(2) {
                let over = plan.paths[0].transport;
                let text = struck(&programs, plan, near, what, pattern);
                assert!(text.starts_with(says), "{over} {pattern:?} {says}: {text}");
            }
        }
    }
}

/// Changes what a member reports.
type Lie = fn(&mut Vec<FarReport>);

const LIES: [(&str, Lie); 8] = [
    ("messages received", |reports| reports[0].received = u64::MAX),
    ("messages lost", |reports| reports[0].lost += 1),
    ("messages duplicated", |reports| reports[0].duplicated = u64::MAX),
    ("datagrams of others", |reports| reports[0].strangers = u64::MAX),
    ("s for", |reports| reports[0].seconds = -1.0),
    ("reports of 2 flows, where 1 can be", |reports| reports.push(reports[0].clone())),
    ("bytes timed", |reports| reports[0].bytes += 1_000_000),
    ("a stream of several without how it went on", |reports| reports[0].course = None),
];

/// Tells what it saw, changed by the lie whose number travels as the size of a cold pool; one lie more is to say nothing until it is broken off.
fn liar() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        match LIES.get(spec.pool as usize) {
            Some((_, lie)) => {
                let mut reports = path.trial(spec, sent)?;
                lie(&mut reports);
                Ok(reports)
            }
            None if spec.pool == LIES.len() as u64 => {
                // It takes no cast and answers none, as if it were asleep.
                std::thread::sleep(Duration::from_millis(1500));
                path.trial(spec, sent)
            }
            None => path.trial(spec, sent),
        }
    };
    Double { trial, ..Double::new() }
}

/// A session of a group of three, the last of which is a [`liar`].
fn with_a_liar(programs: &Programs, stop: &Arc<AtomicBool>) -> GroupSession {
    let mut asked = plan_of(2);
    asked.paths[0].settings.set("loss-timeout", transport::Value::from(0.05));
    let fair = serves(Path::new, stop, 0, &asked);
    let liar = serves(liar, stop, 1, &asked);
    let reach = crate::near::session::Reach::Shared(fair);
    GroupSession::new(0, std::rc::Rc::new(asked), no_stop(), reach, vec![liar], programs.peer())
}

#[test]
fn a_member_that_lies_of_what_it_delivered_or_never_answers_is_named() {
    let programs = Programs::new();
    let stop = no_stop();
    let spec = |lie, pattern| TrialSpec { pool: lie, check: false, ..trial_of(pattern, 2) };
    let mut honest = with_a_liar(&programs, &stop);
    honest.open(0).unwrap();
    honest.trial(&spec(99, Pattern::Stream)).unwrap();
    honest.trial(&spec(99, Pattern::Cast)).unwrap();
    for (lie, (says, _)) in (0..).zip(LIES) {
        let mut session = with_a_liar(&programs, &stop);
        session.open(0).unwrap();
        let text = session.trial(&spec(lie, Pattern::Stream)).unwrap_err().to_string();
        assert!(text.contains("receiving member 2 of 2") && text.contains(says), "{says}: {text}");
    }
    let mut session = with_a_liar(&programs, &stop);
    session.open(0).unwrap();
    let e = session.trial(&spec(LIES.len() as u64, Pattern::Cast)).unwrap_err();
    assert!(matches!(e.root(), SessionError::NothingArrives { .. }), "{e}");
    stop.store(true, Ordering::Relaxed);
}
