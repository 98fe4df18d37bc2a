//! Groups over UDP multicast by an interface other than the loopback one: within one network namespace and between two that a cable joins, which this
//! test makes and which end with it.

mod pairs;

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pairs::{Settings, content, proof, settings};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use transport::{AnyLink, Delivered, Link, Patience, multicast};

/// What a namespace has at its end of the cable.
const CABLE: &str = "v0";
const V4: [&str; 2] = ["10.77.9.1", "10.77.9.2"];
const V6: [&str; 2] = ["fd77:9::1", "fd77:9::2"];

/// Who is not root gets a user namespace of their own.
const OWN_USERS: [&str; 2] = ["--user", "--map-root-user"];
/// Set where this program runs in one.
const INSIDE: &str = "PIPEGAUGE_TEST_OWN_USERS";

/// Runs this test in one, as its threads can enter none.
fn again() {
    let test = std::thread::current().name().expect("a test has a thread of its own").to_owned();
    let mut own = Command::new("unshare");
    own.args(OWN_USERS).arg(std::env::current_exe().unwrap()).args(["--exact", &test, "--nocapture"]).env(INSIDE, "1");
    assert!(own.status().unwrap().success(), "{test} in a user namespace");
}

/// Two network namespaces, each held by a process that ends with its standard input.
struct Two([Child; 2]);

impl Drop for Two {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

impl Two {
    /// None, having said why, where they can't be had.
    fn new() -> Option<Self> {
        let works = |ways: &[&str]| {
            let tried = Command::new("unshare").args(ways).args(["--net", "ip", "link"]).stderr(Stdio::null()).output();
            tried.is_ok_and(|out| out.status.success())
        };
        if !works(&[]) {
            match std::env::var_os(INSIDE).is_none() && works(&OWN_USERS) {
                true => again(),
                false => {
                    eprintln!("skipped: network namespaces of one's own are not to be had here (unshare --net, ip)")
                }
            }
            return None;
        }
        let hold = || {
            let mut command = Command::new("unshare");
            command.args(["--net", "sh", "-c", "ip link set lo up; echo up; read end"]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut said = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
            assert_eq!(said, "up\n");
            child
        };
        let two = Self([hold(), hold()]);
        let other = two.0[1].id();
        let made = two.within(0, &format!("ip link add {CABLE} type veth peer name {CABLE} netns {other}"));
        if !made {
            eprintln!("skipped: a cable between namespaces is not to be had here (ip link add type veth)");
            return None;
        }
        for (side, (v4, v6)) in V4.into_iter().zip(V6).enumerate() {
            // Addresses are ready at once where nobody looks whether another host has them.
            let quick = format!("echo 0 > /proc/sys/net/ipv6/conf/{CABLE}/accept_dad 2>/dev/null");
            let up = format!("ip addr add {v4}/24 dev {CABLE} && ip link set {CABLE} up");
            assert!(two.within(side, &format!("{quick}; {up}")), "{side}");
            two.within(side, &format!("ip -6 addr add {v6}/64 dev {CABLE} nodad 2>/dev/null"));
        }
        let ready = format!(
            "for n in $(seq 500); do ip -6 addr show dev {CABLE} | grep -q tentative || exit 0; sleep 0.02; done; exit 1"
        );
        assert!(two.within(0, &ready) && two.within(1, &ready));
        Some(two)
    }

    /// Whether a script went well in one of them.
    fn within(&self, side: usize, script: &str) -> bool {
        let net = format!("--net=/proc/{}/ns/net", self.0[side].id());
        Command::new("nsenter").args([&net, "sh", "-c", script]).status().unwrap().success()
    }

    /// What a thread makes there: sockets stay where they were made.
    fn there<T: Send>(&self, side: usize, make: impl FnOnce() -> T + Send) -> T {
        let net = std::fs::File::open(format!("/proc/{}/ns/net", self.0[side].id())).unwrap();
        let enter = || move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        std::thread::scope(|s| s.spawn(|| (enter(), make()).1).join().unwrap())
    }

    /// Addresses on the cable, of each IP version that this kernel has there.
    fn addresses(&self) -> impl Iterator<Item = [IpAddr; 2]> {
        let six = self.within(0, &format!("ip -6 addr show dev {CABLE} | grep -q {}", V6[0]));
        if !six {
            eprintln!("not tried: groups of IPv6: this kernel gives the cable no address of it");
        }
        [V4, V6].into_iter().take(if six { 2 } else { 1 }).map(|ends| ends.map(|ip| ip.parse().unwrap()))
    }

    /// A group of two whose near member is in the first namespace, its other one at `at` in that of this side.
    fn group(&self, side: usize, at: IpAddr, settings: &Settings) -> [AnyLink; 2] {
        let (at, patience, transport) = (SocketAddr::new(at, 0), Patience::default(), &multicast::TRANSPORT);
        let mut door = self.there(side, || pairs::bind(multicast::NAME, settings, at, &patience)).unwrap();
        let doors = [(door.address(), at)];
        std::thread::scope(|s| {
            let far = s.spawn(|| self.there(side, || door.accept(&proof(7))));
            let gather = || transport::Transport::gather(transport, &settings.set, &doors, &[proof(7)], &patience);
            let near = self.there(0, gather).unwrap();
            [near, far.join().unwrap().unwrap()]
        })
    }
}

/// A group on the cable, of this IP version.
fn on_the_cable(at: IpAddr, hops: &str) -> Settings {
    let group = if at.is_ipv6() { "ff02::504a" } else { "239.192.80.74" };
    settings().with("interface", CABLE).with("address", group).with("ttl", hops)
}

/// Each member casts messages of several sizes, which the other one delivers and answers.
fn speaks(links: &mut [AnyLink; 2], what: &str) {
    let most = links[0].capabilities().max_block.unwrap() as usize;
    for (round, size) in (1..).zip([1, 1430, 1431, most]) {
        for caster in 0..2 {
            let message = content(size, u64::from(round) * 10 + caster as u64);
            links[caster].group().unwrap().cast(&message).unwrap();
            let (mut came, mut answer) = (vec![0; size], [0]);
            let other = links[1 - caster].group().unwrap();
            let delivered =
                other.deliver(&mut came).unwrap_or_else(|e| panic!("{what}, {size} bytes of {caster}: {e}"));
            assert_eq!(delivered, Delivered { from: caster as u32, number: round }, "{what}");
            assert!(came == message, "{what}");
            other.answer(caster as u32, &message[..1]).unwrap();
            assert_eq!(links[caster].group().unwrap().answered(&mut answer).unwrap(), 1 - caster as u32, "{what}");
            assert_eq!(answer, message[..1], "{what}");
        }
    }
    for link in links {
        assert_eq!(link.datagrams().unwrap(), Default::default(), "{what}: nothing is lost, late, double or strange");
    }
}

#[test]
fn members_in_two_namespaces_speak_over_the_cable_between_them() {
    let Some(two) = Two::new() else { return };
    for ends in two.addresses() {
        speaks(&mut two.group(1, ends[1], &on_the_cable(ends[1], "1")), &format!("between {ends:?}"));
    }
}

/// Casts come from the interface's address then, and answers from that of the meeting.
#[test]
fn members_that_meet_by_the_loopback_interface_cast_by_another_one() {
    let Some(two) = Two::new() else { return };
    for ends in two.addresses() {
        let here: IpAddr = if ends[0].is_ipv6() { [0, 0, 0, 0, 0, 0, 0, 1].into() } else { [127, 0, 0, 1].into() };
        speaks(&mut two.group(0, here, &on_the_cable(here, "0")), &format!("at {here}"));
        if here.is_ipv6() {
            // A group within one interface finds one by itself.
            let mut links = two.group(0, here, &settings().with("family", transport::Family::V6));
            speaks(&mut links, "within one interface");
            let said = links[1].effective().addresses.unwrap();
            assert!(said.starts_with("[ff11::5047%") && said.contains(&format!(" by {CABLE},")), "{said}");
            // The loopback one is taken once it has a route, and can be asked for from then on.
            let asked = settings().with("family", transport::Family::V6).with("interface", "lo");
            let door = two.there(0, || pairs::bind(multicast::NAME, &asked, (here, 0).into(), &Patience::default()));
            let e = door.err().expect("Linux has no such route by itself").to_string();
            let remedy =
                e.split('\'').find(|part| part.starts_with("ip -6 route add")).unwrap_or_else(|| panic!("{e}"));
            assert!(two.within(0, remedy), "{e}");
            for settings in [&asked, &settings().with("family", transport::Family::V6)] {
                let mut links = two.group(0, here, settings);
                speaks(&mut links, "at the loopback interface");
                let said = links[0].effective().addresses.unwrap();
                assert!(said.contains(" by lo,"), "{said}");
            }
        }
    }
}

#[test]
fn nothing_leaves_the_host_with_no_hops() {
    let Some(two) = Two::new() else { return };
    for ends in two.addresses() {
        for (hops, arrives) in [("0", false), ("1", true)] {
            let settings = on_the_cable(ends[0], hops).with("port", "40775");
            let mut links = two.group(0, ends[0], &settings);
            let group: SocketAddr = links[0].effective().addresses.unwrap().split(' ').next().unwrap().parse().unwrap();
            let listener = two.there(1, || {
                let scope = std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
                let line = scope.lines().find(|line| line.trim_end().ends_with(CABLE)).unwrap_or_default();
                let index = line.split_whitespace().nth(1).and_then(|n| u32::from_str_radix(n, 16).ok()).unwrap_or(0);
                let any: IpAddr = if group.is_ipv6() { [0; 16].into() } else { [0; 4].into() };
                let socket = UdpSocket::bind((any, 40775)).unwrap();
                match (group.ip(), ends[1]) {
                    (IpAddr::V4(group), IpAddr::V4(at)) => socket.join_multicast_v4(&group, &at).unwrap(),
                    (IpAddr::V6(group), _) => socket.join_multicast_v6(&group, index).unwrap(),
                    other => panic!("{other:?}"),
                }
                socket
            });
            listener.set_read_timeout(Some(Duration::from_millis(if arrives { 20_000 } else { 200 }))).unwrap();
            links[0].group().unwrap().cast(&[5; 100]).unwrap();
            links[1].group().unwrap().deliver(&mut [0; 100]).unwrap();
            let came = listener.recv(&mut [0; 200]).ok();
            assert_eq!(came, arrives.then_some(100 + multicast::HEADER_BYTES), "{group} with {hops} hops");
        }
    }
}
