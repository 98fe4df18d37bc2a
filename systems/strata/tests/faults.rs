//! Real processes in a network namespace that loses datagrams and parts members, and what a long run leaves behind. Waits are bounded, and decide nothing else.

mod group;

use std::net::UdpSocket;

use group::namespace::Namespace;
use group::{PROGRAM, Process, numbered};
use strata::Rng;

/// The namespace, or the test is skipped.
macro_rules! namespace {
    () => {
        match Namespace::new() {
            Ok(made) => made,
            Err(why) => {
                println!("skipped: {why}");
                return;
            }
        }
    };
}

/// A member with an address of its own in a namespace.
fn member(within: &Namespace, host: u8, contacts: &[&Process], suspect: u64) -> Process {
    let mut command = within.command(PROGRAM);
    command.args(["member", "--bind", &format!("127.0.0.{host}:7000")]);
    let contacts: Vec<_> = contacts.iter().map(|p| p.addr()).collect();
    Process::start_as(command, &contacts, suspect)
}

/// Views and messages since the first view of so many.
fn since_view_of(members: usize, of: &Process) -> Vec<String> {
    let view = format!(" of {members}: ");
    let is_view = |l: &String| l.starts_with("view ") && l.contains(&view);
    of.lines().into_iter().skip_while(|l| !is_view(l)).collect()
}

fn last_view(of: &Process) -> String {
    of.lines().into_iter().rfind(|l| l.starts_with("view ")).unwrap()
}

#[test]
fn lost_datagrams_lose_no_message_and_change_no_order() {
    let within = namespace!();
    let a = member(&within, 1, &[], 10_000);
    let b = member(&within, 2, &[&a], 10_000);
    let c = member(&within, 3, &[&a], 10_000);
    let all = [&a, &b, &c];
    all.iter().for_each(|p| p.wait_for_view_of(3));
    for (percent, numbers) in [(1, 0..400), (10, 400..800)] {
        within.lose(percent);
        let last = numbers.end - 1;
        all.iter().for_each(|p| p.say_all(numbers.clone()));
        for p in all {
            all.iter().for_each(|from| p.wait_for_number(last, from));
        }
    }
    for p in all {
        assert_eq!(since_view_of(3, p), since_view_of(3, &a), "one view, and one order of all");
        for from in all {
            assert_eq!(numbered(&p.lines(), &from.name()), (0..800).collect::<Vec<_>>());
        }
    }
}

/// One is killed and another joins while all cast and every tenth datagram is lost.
#[test]
fn members_come_and_go_while_datagrams_are_lost() {
    let within = namespace!();
    let a = member(&within, 1, &[], 6000);
    let b = member(&within, 2, &[&a], 6000);
    let mut c = member(&within, 3, &[&a], 6000);
    [&a, &b, &c].iter().for_each(|p| p.wait_for_view_of(3));
    within.lose(10);
    [&a, &b, &c].iter().for_each(|p| p.say_all(0..200));
    c.kill();
    let d = member(&within, 4, &[&a, &b], 6000);
    [&a, &b].iter().for_each(|p| p.say_all(200..400));
    // The one that was killed may be in the view of the first three with the fourth.
    let fourth = d.name();
    let without_c = |l: &str| l.starts_with("view ") && l.contains(" of 3: ") && l.contains(&fourth);
    [&a, &b, &d].iter().for_each(|p| p.wait_for(without_c));
    within.heal();
    [&a, &b, &d].iter().for_each(|p| p.wait_for_view_of(3));
    d.say(0);
    [&a, &b].iter().for_each(|p| p.say(400));
    for p in [&a, &b, &d] {
        p.wait_for_number(0, &d);
        [&a, &b].iter().for_each(|from| p.wait_for_number(400, from));
    }
    for from in [&a, &b] {
        for p in [&a, &b] {
            assert_eq!(numbered(&p.lines(), &from.name()), (0..=400).collect::<Vec<_>>());
        }
        let late = numbered(&d.lines(), &from.name());
        assert_eq!(late, (401 - late.len() as u64..401).collect::<Vec<_>>(), "without a gap");
    }
    let of_c = [&a, &b].map(|p| numbered(&p.lines(), &c.name()));
    assert_eq!(of_c[0], of_c[1], "both were given the same of who was killed");
    assert_eq!(of_c[0], (0..of_c[0].len() as u64).collect::<Vec<_>>(), "a prefix");
    assert_eq!(last_view(&a), last_view(&b));
    assert_eq!(last_view(&a), last_view(&d));
}

#[test]
fn a_partition_heals_into_one_view() {
    let within = namespace!();
    let a = member(&within, 1, &[], 4000);
    let b = member(&within, 2, &[&a], 4000);
    let c = member(&within, 3, &[&a], 4000);
    let all = [&a, &b, &c];
    all.iter().for_each(|p| p.wait_for_view_of(3));
    all.iter().for_each(|p| p.say_all(0..50));
    for p in all {
        all.iter().for_each(|from| p.wait_for_number(49, from));
    }
    within.part(&["127.0.0.3"]);
    a.wait_for_view_of(2);
    b.wait_for_view_of(2);
    c.wait_for_view_of(1);
    all.iter().for_each(|p| p.say_all(50..100));
    for p in [&a, &b] {
        [&a, &b].iter().for_each(|from| p.wait_for_number(99, from));
    }
    c.wait_for_number(99, &c);
    within.heal();
    all.iter().for_each(|p| p.wait_for_view_of(3));
    all.iter().for_each(|p| p.say_all(100..150));
    for p in all {
        all.iter().for_each(|from| p.wait_for_number(149, from));
        assert_eq!(last_view(p), last_view(&a), "one view in the end");
    }
    for p in [&a, &b] {
        for from in [&a, &b] {
            assert_eq!(numbered(&p.lines(), &from.name()), (0..150).collect::<Vec<_>>());
        }
    }
    let both_ends: Vec<_> = (0..50).chain(100..150).collect();
    assert_eq!(numbered(&a.lines(), &c.name()), both_ends, "what was cast beyond the partition is not told later");
    assert_eq!(numbered(&c.lines(), &a.name()), both_ends);
    assert_eq!(numbered(&c.lines(), &c.name()), (0..150).collect::<Vec<_>>());
}

/// Tens of thousands of messages, with garbage at every port between them, leave nothing behind in a member.
#[test]
fn memory_stays_flat_over_a_long_run() {
    const ROUND: u64 = 500;
    const BEFORE: u64 = 20;
    const ROUNDS: u64 = 140;
    let a = Process::start(&[], 4000);
    let b = Process::start(&[a.addr()], 4000);
    let all = [&a, &b];
    all.iter().for_each(|p| p.wait_for_view_of(2));
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut rng = Rng::new(3);
    let mut round = |n: u64| {
        all.iter().for_each(|p| p.say_all(n * ROUND..(n + 1) * ROUND));
        for _ in 0..20 {
            let garbage: Vec<u8> = (0..rng.between(0, 1400)).map(|_| rng.draw() as u8).collect();
            all.iter().for_each(|p| _ = stranger.send_to(&garbage, p.addr()).unwrap());
        }
        for p in all {
            all.iter().for_each(|from| p.wait_for_number((n + 1) * ROUND - 1, from));
        }
    };
    (0..BEFORE).for_each(&mut round);
    let before = all.map(Process::memory);
    (BEFORE..ROUNDS).for_each(&mut round);
    let after = all.map(Process::memory);
    for (p, (before, after)) in all.iter().zip(before.into_iter().zip(after)) {
        // 120,000 messages went through in between, each of which takes more than a hundred bytes where it is kept.
        assert!(after < before + (4 << 20), "{} had {before} bytes, and has {after}", p.name());
        for from in all {
            assert_eq!(numbered(&p.lines(), &from.name()), (0..ROUNDS * ROUND).collect::<Vec<_>>());
        }
    }
}
