//! Real processes over loopback: killed, stopped, joining under load, and fed with garbage and with what was said before. Waits are bounded, and decide nothing else.

mod group;

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use group::{PROGRAM, Process, numbered};
use strata::net::{Event, Handle, Options};
use strata::stack::Spec;
use strata::{Config, Endpoint, Input, Key, Member, Output, Rng, Time, To};

/// Casts and deliveries of survivors go on in one order when a member is killed, and who comes back at once is a new member.
#[test]
fn a_killed_member_costs_the_others_nothing() {
    let a = Process::start(&[], 4000);
    let b = Process::start(&[a.addr()], 4000);
    let mut c = Process::start(&[a.addr()], 4000);
    let all = [&a, &b, &c];
    all.iter().for_each(|p| p.wait_for_view_of(3));
    for n in 0..100 {
        all.iter().for_each(|p| p.say(n));
    }
    c.kill();
    for n in 100..200 {
        a.say(n);
        b.say(n);
    }
    a.wait_for_view_of(2);
    b.wait_for_view_of(2);
    let d = Process::start(&[b.addr()], 4000);
    [&a, &b, &d].iter().for_each(|p| p.wait_for_view_of(3));
    a.say(200);
    [&a, &b, &d].iter().for_each(|p| p.wait_for(|line| line.starts_with(&format!("{}: 200", a.name()))));
    let since = |p: &Process| p.lines().into_iter().skip_while(|l| !l.contains(" of 3: ")).collect::<Vec<_>>();
    let (from_a, from_b) = (since(&a), since(&b));
    // Both may have one more line by now than the other.
    let shorter = from_a.len().min(from_b.len());
    assert_eq!(from_a[..shorter], from_b[..shorter], "views and messages in one order");
    for p in [&a, &b] {
        assert_eq!(numbered(&p.lines(), &a.name()), (0..=200).collect::<Vec<_>>());
        assert_eq!(numbered(&p.lines(), &b.name()), (0..200).collect::<Vec<_>>());
        let of_c = numbered(&p.lines(), &c.name());
        assert_eq!(of_c, (0..of_c.len() as u64).collect::<Vec<_>>(), "a prefix of what was cast");
    }
}

/// A member that stands still for longer than the patience of the others is left out, and back in one view when it goes on.
#[test]
fn a_stopped_member_comes_back() {
    let a = Process::start(&[], 1500);
    let b = Process::start(&[a.addr()], 1500);
    let c = Process::start(&[a.addr()], 1500);
    [&a, &b, &c].iter().for_each(|p| p.wait_for_view_of(3));
    c.stop();
    for n in 0..50 {
        a.say(n);
        b.say(n);
    }
    a.wait_for_view_of(2);
    c.go_on();
    [&a, &b, &c].iter().for_each(|p| p.wait_for_view_of(3));
    for n in 50..60 {
        c.say(n);
    }
    for p in [&a, &b, &c] {
        p.wait_for(|line| line.starts_with(&format!("{}: 59", c.name())));
        for from in [&a, &b, &c] {
            let numbers = numbered(&p.lines(), &from.name());
            assert!(numbers.is_sorted_by(|x, y| x < y), "in order and once: {numbers:?}");
        }
    }
    assert_eq!(numbered(&b.lines(), &a.name()), (0..50).collect::<Vec<_>>());
}

/// Who joins while others cast is given all that they cast from its first view on.
#[test]
fn a_member_joins_under_load() {
    let a = Process::start(&[], 4000);
    let b = Process::start(&[a.addr()], 4000);
    a.wait_for_view_of(2);
    b.wait_for_view_of(2);
    for n in 0..500 {
        a.say(n);
        b.say(n);
    }
    let c = Process::start(&[b.addr()], 4000);
    for n in 500..1000 {
        a.say(n);
        b.say(n);
    }
    for p in [&a, &b, &c] {
        p.wait_for_view_of(3);
        for from in [&a, &b] {
            p.wait_for(|line| line.starts_with(&format!("{}: 999", from.name())));
        }
    }
    for from in [&a, &b] {
        assert_eq!(numbered(&a.lines(), &from.name()), (0..1000).collect::<Vec<_>>());
        let late = numbered(&c.lines(), &from.name());
        assert_eq!(late, (1000 - late.len() as u64..1000).collect::<Vec<_>>(), "without a gap");
    }
}

/// Garbage, headers of the right group with garbage behind them, and every datagram that a member sent or was sent, again: nothing is delivered twice, and nothing falls.
#[test]
fn garbage_and_replays_change_nothing() {
    withstands(group::STACK, None);
}

/// The same of members whose datagrams are sealed or signed.
#[test]
fn garbage_and_replays_change_nothing_where_a_key_is_shared() {
    for layer in ["CRYPT", "SIGN"] {
        withstands(&format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:{layer}:COM:udp"), None);
    }
}

/// The same where it comes by multicast, too: to the second socket of each.
#[test]
fn garbage_and_replays_to_all_change_nothing() {
    let Some(to) = multicast_group(4) else { return };
    withstands("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:multicast", Some(to));
}

fn withstands(stack: &str, casts: Option<SocketAddrV4>) {
    let folder = own_folder(stack);
    let key = folder.join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let sealed = stack.contains("CRYPT") || stack.contains("SIGN");
    let member = |contacts: &[std::net::SocketAddr]| {
        let mut command = Command::new(PROGRAM);
        command.args(["member", "--stack", stack]);
        command.args(casts.map(|to| format!("--multicast={to}")));
        command.args(sealed.then(|| format!("--key={}", key.display())));
        Process::start_as(command, contacts, 4000)
    };
    let a = member(&[]);
    let b = member(&[a.addr()]);
    std::fs::remove_dir_all(&folder).unwrap();
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    let mut guest = Guest::join(&a, stack, casts);
    guest.run(|_| a.lines().iter().chain(&b.lines()).filter(|l| l.contains(" of 3: ")).count() >= 2);
    for n in 0..20 {
        a.say(n);
        guest.cast(format!("{n}").as_bytes());
    }
    guest.run(|g| g.delivered >= 40);
    let mut rng = Rng::new(7);
    let said = guest.said.clone();
    // How many datagrams carry the casts is the stack's to say: on a busy machine it packs many into one.
    assert!(guest.delivered >= 40 && said.len() > 2, "there is something to replay: {}", said.len());
    let to_all: Vec<_> = [a.addr(), b.addr()].into_iter().chain(casts.map(Into::into)).collect();
    for round in 0..200 {
        for to in &to_all {
            let mut bytes: Vec<u8> = (0..rng.between(0, 200)).map(|_| rng.draw() as u8).collect();
            if round % 2 == 0 {
                bytes.splice(0..0, said[0][..15].iter().copied());
            }
            guest.socket.send_to(&bytes, to).unwrap();
        }
    }
    for datagram in &said {
        for to in &to_all {
            guest.socket.send_to(datagram, to).unwrap();
        }
    }
    a.say(20);
    guest.run(|g| g.delivered >= 41);
    for p in [&a, &b] {
        p.wait_for(|line| line.starts_with(&format!("{}: 20", a.name())));
        assert_eq!(numbered(&p.lines(), &a.name()), (0..=20).collect::<Vec<_>>(), "{stack}");
        assert_eq!(numbered(&p.lines(), &guest.member.me().to_string()), (0..20).collect::<Vec<_>>(), "{stack}");
    }
}

/// A folder of this test's own.
fn own_folder(name: &str) -> std::path::PathBuf {
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = std::env::temp_dir().join(format!("strata-processes-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Casts as IP multicast, all else as UDP: where this host multicasts over loopback.
#[test]
fn casts_go_by_multicast() {
    let Some(to) = multicast_group(2) else { return };
    let options = |contacts| Options {
        stack: "FC:TOTAL:MBRSHIP:FRAG:NAK:COM:multicast".to_owned(),
        contacts,
        multicast: Some(to),
        patience: group::PATIENCE,
        config: Config { suspect: Duration::from_secs(20), ..Config::default() },
        ..Options::default()
    };
    let a = Handle::join(options(vec![])).unwrap();
    let b = Handle::join(options(vec![a.me().addr])).unwrap();
    for n in 0..100u8 {
        a.cast(vec![n; 3000]).unwrap();
        b.cast(vec![n; 10]).unwrap();
    }
    let given = |of: &Handle| {
        let mut list = Vec::new();
        while list.len() < 200 {
            if let Event::Message(m) = of.next_within(group::PATIENCE).expect("something comes") {
                list.push((m.from, m.body));
            }
        }
        list
    };
    assert_eq!(given(&a), given(&b));
    // Who joins is told of the view with the others, whatever else there is to tell.
    let c = Handle::join(options(vec![a.me().addr])).unwrap();
    while !matches!(c.next_within(group::PATIENCE).expect("the view of all comes"), Event::View(view) if view.members.len() == 3)
    {
    }
}

/// Views that change because members stand still, and members that join, are no reason to say that casts don't come, where they do.
#[test]
fn a_network_with_multicast_is_not_told_to_have_none_while_views_change() {
    let Some(to) = multicast_group(3) else { return };
    let said = |n: u32| std::env::temp_dir().join(format!("strata-notices-{}-{n}", std::process::id()));
    let member = |n: u32, contacts: &[&Process]| {
        let mut command = Command::new(PROGRAM);
        let (stack, to) = ("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:multicast", to.to_string());
        command.args(["member", "--stack", stack, "--multicast", &to]);
        command.stderr(std::fs::File::create(said(n)).unwrap());
        let contacts: Vec<_> = contacts.iter().map(|p| p.addr()).collect();
        Process::start_as(command, &contacts, 300)
    };
    let a = member(0, &[]);
    let b = member(1, &[&a]);
    for _ in 0..4 {
        [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
        b.stop();
        a.wait_for_view_of(1);
        b.go_on();
    }
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    drop((a, b));
    for n in 0..2 {
        let text = std::fs::read_to_string(said(n)).unwrap();
        std::fs::remove_file(said(n)).unwrap();
        assert!(!text.contains("multicast"), "member {n} says: {text}");
    }
}

/// An address for a test's casts, by its last number; none, which is said, where this host does not multicast over loopback.
fn multicast_group(last: u8) -> Option<SocketAddrV4> {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let to = SocketAddrV4::new(Ipv4Addr::new(239, 77, 13, last), port);
    multicasts(to).inspect_err(|why| println!("skipped: this host does not multicast over loopback: {why}")).ok()?;
    Some(to)
}

/// Whether a datagram to this group comes back.
fn multicasts(to: SocketAddrV4) -> std::io::Result<()> {
    let heard = hears(to)?;
    heard.set_read_timeout(Some(Duration::from_secs(1)))?;
    let from = UdpSocket::bind("127.0.0.1:0")?;
    socket2::SockRef::from(&from).set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
    from.send_to(b"x", to)?;
    heard.recv_from(&mut [0; 8])?;
    Ok(())
}

/// A socket, of perhaps several, that hears what is sent to this group over loopback.
fn hears(to: SocketAddrV4) -> std::io::Result<UdpSocket> {
    let raw = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    raw.set_reuse_address(true)?;
    raw.bind(&to.into())?;
    raw.join_multicast_v4(to.ip(), &Ipv4Addr::LOCALHOST)?;
    Ok(raw.into())
}

/// A member in this process, whose datagrams the test sees.
struct Guest {
    member: Member,
    socket: UdpSocket,
    /// Where casts go, and the socket that hears those of the others, where they go by multicast.
    casts: Option<(SocketAddrV4, UdpSocket)>,
    began: Instant,
    said: Vec<Vec<u8>>,
    delivered: usize,
}

impl Guest {
    fn join(at: &Process, stack: &str, casts: Option<SocketAddrV4>) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        socket2::SockRef::from(&socket).set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        let spec: Spec = stack.parse().unwrap();
        let me = Endpoint { addr: socket.local_addr().unwrap(), born: 99 };
        let (suspect, key) = (Duration::from_secs(4), Some(Key([7; 32])));
        let config = Config { suspect, key, multicast: casts, ..Config::default() };
        let mut member = Member::new(&spec, config, me, 1).unwrap();
        member.start(Time(0));
        member.handle(Time(0), Input::Merge(at.addr()));
        let casts = casts.map(|to| {
            let heard = hears(to).unwrap();
            heard.set_nonblocking(true).unwrap();
            (to, heard)
        });
        Self { member, socket, casts, began: Instant::now(), said: Vec::new(), delivered: 0 }
    }

    fn now(&self) -> Time {
        Time(self.began.elapsed().as_nanos() as u64)
    }

    fn cast(&mut self, body: &[u8]) {
        let now = self.now();
        self.member.try_cast(now, body.to_vec().into()).unwrap();
    }

    fn run(&mut self, until: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + group::PATIENCE;
        let mut buffer = vec![0; 65536];
        while !until(self) {
            assert!(Instant::now() < deadline, "the guest waited too long");
            if let Ok((n, from)) = self.socket.recv_from(&mut buffer) {
                self.came(buffer[..n].to_vec(), |bytes| Input::Datagram(from, bytes));
            }
            while let Some(Ok((n, from))) = self.casts.as_ref().map(|(_, heard)| heard.recv_from(&mut buffer)) {
                self.came(buffer[..n].to_vec(), |bytes| Input::Multicast(from, bytes));
            }
            let now = self.now();
            self.member.handle(now, Input::Timer);
            self.member.handle(now, Input::Idle);
            while let Some(output) = self.member.next() {
                match output {
                    Output::Transmit(to, msg) => {
                        let bytes = msg.joined().to_vec();
                        let to = match to {
                            To::One(to) => to,
                            To::All => self.casts.as_ref().expect("a stack over multicast").0.into(),
                        };
                        self.socket.send_to(&bytes, to).unwrap();
                        self.said.insert(0, bytes);
                    }
                    Output::Deliver(_) => self.delivered += 1,
                    _ => {}
                }
            }
        }
    }

    fn came(&mut self, bytes: Vec<u8>, how: impl Fn(bytes::Bytes) -> Input) {
        let now = self.now();
        self.said.push(bytes.clone());
        self.member.handle(now, how(bytes.into()));
    }
}
