//! Real processes over shared memory: killed, begun anew, stopped, joining under load, and beside others who connect to them and say nonsense. Waits are bounded, and decide nothing else.

mod group;

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use group::{PATIENCE, PROGRAM, Process, numbered};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketType};
use strata::Config;
use strata::net::{Event, Failed, Handle, Options};

const STACK: &str = "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:shm";

/// A member at this address, or a free one.
fn member(bind: Option<SocketAddr>, contacts: &[SocketAddr], suspect: u64) -> Process {
    let mut command = Command::new(PROGRAM);
    command.args(["member", "--stack", STACK]);
    command.args(bind.map(|at| format!("--bind={at}")));
    Process::start_as(command, contacts, suspect)
}

fn options(stack: &str, contacts: Vec<SocketAddr>) -> Options {
    let config = Config { suspect: Duration::from_secs(20), ..Config::default() };
    Options { stack: stack.to_owned(), contacts, patience: PATIENCE, config, ..Options::default() }
}

/// Whether a process has this address in shared memory, as the kernel lists the names of sockets.
fn held(at: SocketAddr) -> bool {
    let name = format!("@{}", name(at));
    std::fs::read_to_string("/proc/net/unix").unwrap().lines().any(|line| line.ends_with(&name))
}

fn name(at: SocketAddr) -> String {
    format!("strata/{}/{at}", rustix::process::geteuid().as_raw())
}

fn until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Casts and deliveries of survivors go on in one order when a member is killed; who comes back at its address is a new member; the killed one leaves neither its address nor a descriptor.
#[test]
fn a_killed_member_costs_the_others_nothing_and_comes_back_at_its_address() {
    let a = member(None, &[], 4000);
    let b = member(None, &[a.addr()], 4000);
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    let before = (a.descriptors(), b.descriptors());
    let mut c = member(None, &[a.addr()], 4000);
    let (at, first) = (c.addr(), c.name());
    let all = [&a, &b, &c];
    all.iter().for_each(|p| p.wait_for_view_of(3));
    for n in 0..100 {
        all.iter().for_each(|p| p.say(n));
    }
    assert!(held(at));
    c.kill();
    assert!(!held(at), "a name of a killed process");
    for n in 100..200 {
        a.say(n);
        b.say(n);
    }
    a.wait_for_view_of(2);
    b.wait_for_view_of(2);
    until("queues of a killed member are kept", || (a.descriptors(), b.descriptors()) == before);
    let d = member(Some(at), &[b.addr()], 4000);
    assert!(d.addr() == at && d.name() != first);
    [&a, &b, &d].iter().for_each(|p| p.wait_for_view_of(3));
    a.say(200);
    d.say(0);
    [&a, &b, &d].iter().for_each(|p| p.wait_for_number(200, &a));
    [&a, &b, &d].iter().for_each(|p| p.wait_for_number(0, &d));
    let since = |p: &Process| p.lines().into_iter().skip_while(|l| !l.contains(" of 3: ")).collect::<Vec<_>>();
    let (from_a, from_b) = (since(&a), since(&b));
    // Both may have one more line by now than the other.
    let shorter = from_a.len().min(from_b.len());
    assert_eq!(from_a[..shorter], from_b[..shorter], "views and messages in one order");
    for p in [&a, &b] {
        assert_eq!(numbered(&p.lines(), &a.name()), (0..=200).collect::<Vec<_>>());
        assert_eq!(numbered(&p.lines(), &b.name()), (0..200).collect::<Vec<_>>());
        let of_c = numbered(&p.lines(), &first);
        assert_eq!(of_c, (0..of_c.len() as u64).collect::<Vec<_>>(), "a prefix of what was cast");
    }
}

/// At once, before the others suspect it, and again and again: each time the address leads to the new life.
#[test]
fn a_member_that_is_killed_and_begun_anew_at_once_is_let_in_each_time() {
    let a = member(None, &[], 4000);
    let mut b = member(None, &[a.addr()], 4000);
    let at = b.addr();
    for n in 0..5 {
        [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
        a.say(n);
        b.wait_for_number(n, &a);
        b.kill();
        b = member(Some(at), &[a.addr()], 4000);
    }
    let name = b.name();
    a.wait_for(|line| line.starts_with("view ") && line.contains(&name));
}

/// A member that stands still takes nothing, so that its queues fill; it is left out, and back in one view when it goes on.
#[test]
fn a_stopped_member_comes_back() {
    let a = member(None, &[], 1500);
    let b = member(None, &[a.addr()], 1500);
    let c = member(None, &[a.addr()], 1500);
    [&a, &b, &c].iter().for_each(|p| p.wait_for_view_of(3));
    c.stop();
    a.say_all(0..20_000);
    b.say_all(0..20_000);
    a.wait_for_view_of(2);
    b.wait_for_number(19_999, &a);
    a.wait_for_number(19_999, &b);
    c.go_on();
    [&a, &b, &c].iter().for_each(|p| p.wait_for_view_of(3));
    c.say(7);
    for p in [&a, &b, &c] {
        p.wait_for_number(7, &c);
        for from in [&a, &b, &c] {
            let numbers = numbered(&p.lines(), &from.name());
            assert!(numbers.is_sorted_by(|x, y| x < y), "in order and once: {numbers:?}");
        }
    }
    assert_eq!(numbered(&b.lines(), &a.name()), (0..20_000).collect::<Vec<_>>());
}

/// Who joins while others cast more than queues hold is given all that they cast from its first view on.
#[test]
fn a_member_joins_under_load() {
    let a = member(None, &[], 20_000);
    let b = member(None, &[a.addr()], 20_000);
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    a.say_all(0..20_000);
    b.say_all(0..20_000);
    let c = member(None, &[b.addr()], 20_000);
    a.say_all(20_000..40_000);
    b.say_all(20_000..40_000);
    for p in [&a, &b, &c] {
        p.wait_for_view_of(3);
        for from in [&a, &b] {
            p.wait_for_number(39_999, from);
        }
    }
    for from in [&a, &b] {
        assert_eq!(numbered(&a.lines(), &from.name()), (0..40_000).collect::<Vec<_>>());
        let late = numbered(&c.lines(), &from.name());
        assert_eq!(late, (40_000 - late.len() as u64..40_000).collect::<Vec<_>>(), "without a gap");
    }
}

/// Who connects to members and says nothing, or nonsense, takes no room for good and disturbs nobody.
#[test]
fn nonsense_at_an_address_changes_nothing() {
    let a = member(None, &[], 4000);
    let b = member(None, &[a.addr()], 4000);
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    let before = (a.descriptors(), b.descriptors());
    let mut stays = Vec::new();
    for n in 0..400u32 {
        for p in [&a, &b] {
            let address = SocketAddrUnix::new_abstract_name(name(p.addr()).as_bytes()).unwrap();
            let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
            // It waits where more wait than the member lets.
            rustix::net::connect(&socket, &address).unwrap();
            if n % 2 == 0 {
                let words = n.to_le_bytes().repeat(1 + n as usize % 20);
                // It may have been refused by then.
                let _ = rustix::net::send(&socket, &words, SendFlags::NOSIGNAL);
            }
            if n % 3 == 0 {
                stays.push(socket);
            }
        }
    }
    for n in 0..100 {
        a.say(n);
        b.say(n);
    }
    for p in [&a, &b] {
        p.wait_for_number(99, &a);
        p.wait_for_number(99, &b);
        assert_eq!(numbered(&p.lines(), &a.name()), (0..100).collect::<Vec<_>>());
        assert_eq!(p.lines().iter().filter(|l| l.starts_with("view ")).count(), 2, "no view changed");
        assert!(p.descriptors() < before.0.max(before.1) + 100, "{}", p.descriptors());
    }
    drop(stays);
    until("connections of nobody are kept", || (a.descriptors(), b.descriptors()) == before);
}

/// The blocking interface, large messages and small ones, in one order; a member of another carrier at the same address is another.
#[test]
fn members_with_threads_cast_in_one_order_beside_members_over_udp() {
    let udp = Handle::join(options(&STACK.replace("shm", "udp"), Vec::new())).unwrap();
    let at = udp.me().addr;
    let a = Handle::join(Options { bind: at, ..options(STACK, Vec::new()) }).unwrap();
    assert_eq!(a.me().addr, at);
    let b = Handle::join(options(STACK, vec![at])).unwrap();
    for n in 0..100u8 {
        a.cast(vec![n; 30_000]).unwrap();
        b.cast(vec![n; 10]).unwrap();
    }
    let given = |of: &Handle| {
        let mut list = Vec::new();
        while list.len() < 200 {
            if let Event::Message(m) = of.next_within(PATIENCE).expect("something comes") {
                list.push((m.from, m.body));
            }
        }
        list
    };
    assert_eq!(given(&a), given(&b));
    let rest = b.leave().unwrap();
    assert!(matches!(rest.last(), Some(Event::Left)));
    while !matches!(a.next_within(PATIENCE).expect("the view of one comes"), Event::View(view) if view.members.len() == 1)
    {
    }
}

#[test]
fn who_asks_nobody_is_told_so() {
    let patience = Duration::from_millis(300);
    // A port that nobody draws.
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
    let joined = Handle::join(Options { patience, ..options(STACK, vec![nobody]) });
    let Err(Failed::Nobody { contacts, .. }) = joined else { panic!("nobody is there") };
    assert_eq!(contacts, [nobody]);
}

/// Without MBRSHIP the view is a list of addresses, and what is sent before all are there is repeated.
#[test]
fn a_fixed_view_needs_no_member_to_be_first() {
    let own = std::process::id().to_be_bytes();
    let at = |port| SocketAddr::from(([10, own[1], own[2], own[3]], port));
    let fixed = vec![at(1), at(2)];
    let join = |bind| {
        let config = Config { fixed: fixed.clone(), ..options(STACK, Vec::new()).config };
        Handle::join(Options { bind, config, ..options("FRAG:NAK:COM:shm", Vec::new()) }).unwrap()
    };
    let a = join(at(1));
    a.cast("early").unwrap();
    let b = join(at(2));
    b.cast("late").unwrap();
    for of in [&a, &b] {
        let mut came = Vec::new();
        while came.len() < 2 {
            if let Event::Message(m) = of.next_within(PATIENCE).expect("something comes") {
                came.push(m.body);
            }
        }
        came.sort();
        assert_eq!(came, ["early", "late"]);
    }
}
