//! Real processes in a network namespace that loses datagrams and parts members, and what a long run leaves behind. Waits are bounded, and decide nothing else.

mod group;

use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

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
    member_with(&[], within, host, contacts, suspect)
}

/// The same with these flags.
fn member_with(flags: &[&str], within: &Namespace, host: u8, contacts: &[&Process], suspect: u64) -> Process {
    let mut command = within.command(PROGRAM);
    command.args(["member", "--bind", &format!("127.0.0.{host}:7000")]).args(flags);
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
    withstands_loss(&namespace!(), &[]);
}

/// A multicast that is lost is lost to all.
#[test]
fn lost_multicasts_lose_no_message_and_change_no_order() {
    let stack = "TOTAL:MBRSHIP:FRAG:NAK:COM:multicast";
    withstands_loss(&namespace!(), &["--stack", stack, "--multicast", "239.1.1.1:7000"]);
}

fn withstands_loss(within: &Namespace, flags: &[&str]) {
    let a = member_with(flags, within, 1, &[], 10_000);
    let b = member_with(flags, within, 2, &[&a], 10_000);
    let c = member_with(flags, within, 3, &[&a], 10_000);
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
    let a = Process::start(&[], 4000);
    let b = Process::start(&[a.addr()], 4000);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut rng = Rng::new(3);
    long_run([&a, &b], 140, 500, 1, || {
        for _ in 0..20 {
            let garbage: Vec<u8> = (0..rng.between(0, 1400)).map(|_| rng.draw() as u8).collect();
            [&a, &b].iter().for_each(|p| _ = stranger.send_to(&garbage, p.addr()).unwrap());
        }
    });
}

/// Nor do those of which every hundredth datagram is lost: more bytes than what is tolerated.
#[test]
fn memory_stays_flat_while_datagrams_are_lost() {
    let within = namespace!();
    let a = member(&within, 1, &[], 4000);
    let b = member(&within, 2, &[&a], 4000);
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    within.lose(1);
    long_run([&a, &b], 100, 100, 1000, || {});
}

/// Rounds in which both cast so many numbers of so many digits at least, with something else between the casts and their arrival: all arrive in order, and memory is after the last of them what it was after some.
fn long_run(all: [&Process; 2], rounds: u64, casts: u64, digits: usize, mut between: impl FnMut()) {
    all.iter().for_each(|p| p.wait_for_view_of(2));
    let line = |n: u64| format!("{n:0>digits$}");
    stays_flat(all, 20, rounds, |round| {
        let numbers = round * casts..(round + 1) * casts;
        let last = line(numbers.end - 1);
        let lines: String = numbers.map(|n| line(n) + "\n").collect();
        all.iter().for_each(|p| p.write(&lines));
        between();
        for p in all {
            all.iter().for_each(|from| p.wait_for_line(&format!("{}: {last}", from.name())));
        }
    });
    for p in all {
        for from in all {
            assert_eq!(numbered(&p.lines(), &from.name()), (0..rounds * casts).collect::<Vec<_>>());
        }
    }
}

/// After the last round members have no more memory and descriptors than after so many. In between go 120,000 messages, each of which takes more than a hundred bytes where it is kept apart, or eight million bytes of larger ones.
fn stays_flat(all: [&Process; 2], before: u64, rounds: u64, mut round: impl FnMut(u64)) {
    let has = |p: &Process| (p.memory(), p.descriptors());
    (0..before).for_each(&mut round);
    let had = all.map(has);
    (before..rounds).for_each(&mut round);
    for (p, (memory, descriptors)) in all.iter().zip(had) {
        let (now, open) = has(p);
        assert!(now < memory + (4 << 20), "{} had {memory} bytes, and has {now}", p.name());
        assert_eq!(open, descriptors, "{}: descriptors", p.name());
    }
}

/// Members that are killed, whose next life takes their place, and others that leave, each of which cast a lot: nothing of them is kept by who stays.
#[test]
fn memory_stays_flat_while_members_come_and_go() {
    const CASTS: usize = 250;
    const SUSPECT: u64 = 60_000;
    let a = Process::start(&[], SUSPECT);
    let b = Process::start(&[a.addr()], SUSPECT);
    let at = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let line = |n: usize| format!("{n:0>1000}");
    let lines = &(0..CASTS).map(|n| line(n) + "\n").collect::<String>();
    stays_flat([&a, &b], 4, 20, |n| {
        let mut command = Command::new(PROGRAM);
        command.args(["member", "--bind", &at.to_string()]);
        let mut killed = Process::start_as(command, &[a.addr()], SUSPECT);
        let mut command = Command::new(PROGRAM);
        command.args(["member", "--suspect", &SUSPECT.to_string(), "--contacts", &b.addr().to_string()]);
        let mut leaves = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = leaves.stdin.take().unwrap();
        // It casts once it has joined, and leaves when all is out; its own lines come back meanwhile.
        let said = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(lines.as_bytes()).unwrap());
            leaves.wait_with_output().unwrap()
        });
        assert!(said.status.success());
        let name = String::from_utf8_lossy(&said.stdout).lines().next().unwrap().replace("member ", "");
        killed.write(lines);
        a.say(n);
        for p in [&a, &b] {
            for from in [&name, &killed.name()] {
                p.wait_for_line(&format!("{from}: {}", line(CASTS - 1)));
            }
            p.wait_for_number(n, &a);
        }
        killed.kill();
    });
}
