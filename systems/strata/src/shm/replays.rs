//! What members say over shared memory, recorded, and put into their rings again by another process of the same user, which greets as whom it likes. SIGN and CRYPT refuse it, as over UDP (`layers/senders/tests.rs`); without them
//! NAK takes nothing twice.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::meet;
use super::queue::Sender;
use super::tests::{PATIENCE, mailbox};
use super::*;
use crate::net::{Event, Handle, Options};
use crate::{Config, Endpoint, Input, Key, Member, Output, Time, To};

/// Each with what protects it, and whether that refuses replays.
const PLAIN: (&str, bool) = ("", false);
const SIGN: (&str, bool) = ("SIGN:", true);
const CRYPT: (&str, bool) = ("CRYPT:", true);
const ALL: [(&str, bool); 3] = [PLAIN, SIGN, CRYPT];

fn config() -> Config {
    Config { key: Some(Key([7; 32])), ..Config::default() }
}

/// A datagram: to whom, from whom.
type Said = (SocketAddr, SocketAddr, Bytes);

/// A member with its mailbox.
struct Node {
    member: Member,
    mailbox: Mailbox,
    /// Messages that it was given: from whom, and the body.
    told: Vec<(Endpoint, Bytes)>,
    views: usize,
    /// What it said itself.
    spoke: Vec<Said>,
}

impl Node {
    fn new(stack: &str, mailbox: Mailbox, born: u64) -> Self {
        let me = Endpoint { addr: mailbox.address(), born };
        let mut member = Member::new(&stack.parse().unwrap(), config(), me, born).unwrap();
        member.start(Time(0));
        Self { member, mailbox, told: Vec::new(), views: 0, spoke: Vec::new() }
    }

    fn me(&self) -> Endpoint {
        self.member.me()
    }

    fn size(&self) -> usize {
        self.member.view().unwrap().members.len()
    }

    /// Takes what has come, and says what there is to say. Whether anything had come.
    fn turn(&mut self, now: u64, said: &mut Vec<Said>) -> bool {
        let (now, me) = (Time(now), self.me().addr);
        let mut came = Vec::new();
        // Connections, too, are looked at where it was asked to.
        self.mailbox.watch();
        while self.mailbox.receive(|from, bytes| came.push((me, from, bytes))).unwrap() {}
        for (_, from, bytes) in &came {
            self.member.handle(now, Input::Datagram(*from, bytes.clone()));
        }
        self.member.handle(now, Input::Timer);
        self.member.handle(now, Input::Idle);
        while let Some(output) = self.member.next() {
            match output {
                Output::Transmit(To::One(to), msg) => {
                    self.mailbox.put(to, &msg);
                    self.spoke.push((to, me, msg.joined()));
                }
                Output::Deliver(delivery) => self.told.push((delivery.from, delivery.body)),
                Output::View(_) => self.views += 1,
                _ => {}
            }
        }
        self.mailbox.flush();
        let any = !came.is_empty();
        said.extend(came);
        any
    }
}

/// Members, at a clock of their own.
struct Group {
    nodes: Vec<Node>,
    /// All that has come to one of them, in order.
    said: Vec<Said>,
    now: u64,
}

impl Group {
    fn joined(stack: &str, members: u64) -> Self {
        let nodes = (1..=members).map(|born| Node::new(stack, mailbox(), born)).collect();
        let mut group = Self { nodes, said: Vec::new(), now: 0 };
        let to = group.nodes[0].me().addr;
        for node in &mut group.nodes[1..] {
            node.member.handle(Time(0), Input::Merge(to));
        }
        group.run(500);
        assert!(group.nodes.iter().all(|node| node.size() as u64 == members), "{stack}");
        group
    }

    /// For so many milliseconds.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += 1_000_000;
            let mut more = true;
            while std::mem::take(&mut more) {
                for node in &mut self.nodes {
                    more |= node.turn(self.now, &mut self.said);
                }
            }
        }
    }

    fn cast(&mut self, at: usize, body: &[u8]) {
        self.nodes[at].member.handle(Time(self.now), Input::Cast(Bytes::copy_from_slice(body)));
    }

    /// A stranger says all of this again, each to who it was said to.
    fn hear_again(&mut self, stranger: &mut Stranger, said: &[Said]) {
        for (to, from, bytes) in said {
            stranger.say(*to, *from, bytes);
            let node = self.nodes.iter_mut().find(|node| node.me().addr == *to).unwrap();
            node.turn(self.now, &mut self.said);
        }
    }

    fn told(&self) -> Vec<Vec<(Endpoint, Bytes)>> {
        self.nodes.iter().map(|node| node.told.clone()).collect()
    }

    fn views(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| node.views).collect()
    }
}

/// Who greets as others.
#[derive(Default)]
struct Stranger(BTreeMap<(SocketAddr, SocketAddr), (OwnedFd, Sender)>);

impl Stranger {
    fn say(&mut self, to: SocketAddr, from: SocketAddr, bytes: &[u8]) {
        let (socket, queue) = self.0.entry((to, from)).or_insert_with(|| {
            let socket = meet::connect(to).unwrap();
            let (queue, file) = Sender::new().unwrap();
            meet::greet(&socket, from, &file).unwrap();
            (socket, queue)
        });
        // A member that takes none for now has a full ring.
        let until = Instant::now() + PATIENCE;
        while !queue.put(bytes, &[]).unwrap() {
            assert!(Instant::now() < until, "nobody takes it");
            std::thread::sleep(Duration::from_millis(1));
        }
        if queue.tell() {
            meet::wake(socket);
        }
    }
}

#[test]
fn casts_that_are_said_again_are_told_once_and_the_group_goes_on() {
    for (below, _) in ALL {
        let mut group = Group::joined(&format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:{below}COM:shm"), 3);
        group.said.clear();
        for n in 0..30 {
            (0..3).for_each(|at| group.cast(at, &[at as u8, n]));
            group.run(3);
        }
        group.run(1000);
        let (told, views, said) = (group.told(), group.views(), std::mem::take(&mut group.said));
        assert!(told.iter().all(|of| of.len() == 90 && *of == told[0]), "{below}");
        let mut stranger = Stranger::default();
        let backwards: Vec<_> = said.iter().rev().cloned().collect();
        for again in [&said, &said, &backwards] {
            group.hear_again(&mut stranger, again);
            group.run(10);
        }
        group.run(3000);
        assert_eq!(group.told(), told, "{below}");
        assert_eq!(group.views(), views, "a view changed, over {below}");
        (0..3).for_each(|at| group.cast(at, b"on"));
        group.run(1000);
        let on = group.told();
        assert!(on.iter().all(|of| of.len() == 93 && *of == on[0]), "{below}");
    }
}

/// All that was said in a group's life, joins, views, suspicions and casts.
#[test]
fn what_the_living_said_is_refused_when_it_is_said_again() {
    for (below, refused) in ALL {
        let mut group = Group::joined(&format!("MBRSHIP:FRAG:NAK:{below}COM:shm"), 3);
        group.cast(1, b"x");
        group.run(20);
        // One is slandered, left out, and merged again.
        let slandered = group.nodes[2].me();
        group.nodes[0].member.handle(Time(group.now), Input::Suspect(slandered));
        group.run(3000);
        assert_eq!((group.nodes[0].size(), group.nodes[2].size()), (2, 1));
        let at = group.nodes[0].me().addr;
        group.nodes[2].member.handle(Time(group.now), Input::Merge(at));
        group.run(500);
        assert_eq!(group.nodes[0].size(), 3, "{below}");
        let (told, views, said) = (group.told(), group.views(), std::mem::take(&mut group.said));
        group.hear_again(&mut Stranger::default(), &said);
        group.run(5000);
        assert_eq!(group.told(), told, "{below}");
        // Without either the same makes views change: the test can tell.
        assert_eq!(group.views() == views, refused, "over {below}");
    }
}

/// A member begins anew at its address, and is told all that was ever said to the life before it.
#[test]
fn what_dead_members_said_moves_nobody() {
    for (below, refused) in ALL {
        let stack = format!("MBRSHIP:FRAG:NAK:{below}COM:shm");
        let mut group = Group::joined(&stack, 2);
        let (at, said) = (group.nodes[0].me().addr, std::mem::take(&mut group.said));
        drop(group);
        let fresh = Node::new(&stack, Mailbox::open(at, 1).unwrap(), 21);
        let mut fresh = Group { nodes: vec![fresh], said: Vec::new(), now: 0 };
        fresh.run(10);
        let said: Vec<_> = said.into_iter().map(|(_, from, bytes)| (at, from, bytes)).filter(|s| s.1 != at).collect();
        let mut stranger = Stranger::default();
        for again in said.chunks(1) {
            fresh.hear_again(&mut stranger, again);
            fresh.run(1);
        }
        fresh.run(2000);
        assert_eq!(fresh.nodes[0].size(), 1, "{below}");
        let moved = fresh.nodes[0].member.view().unwrap().id.number > 1;
        assert_eq!(moved, !refused, "an attempt at a view, over {below}");
    }
}

/// The first sends to the second, and a stranger says the same to the third, with whom it would begin the first's stream.
#[test]
fn what_was_sent_to_one_is_taken_by_no_other() {
    for (below, refused) in ALL {
        let mut group = Group::joined(&format!("MBRSHIP:FRAG:NAK:{below}COM:shm"), 3);
        let [a, b, c] = [0, 1, 2].map(|at| group.nodes[at].me());
        group.said.clear();
        let sent = |group: &mut Group, to, text: &'static str| {
            group.nodes[0].member.try_send(Time(group.now), to, Bytes::from_static(text.as_bytes())).unwrap();
        };
        sent(&mut group, b, "to the second");
        group.nodes[0].turn(group.now, &mut Vec::new());
        group.nodes[1].turn(group.now, &mut group.said);
        let said = std::mem::take(&mut group.said);
        let (_, _, bytes) = said.iter().find(|(_, from, _)| *from == a.addr).expect("it has come");
        group.hear_again(&mut Stranger::default(), &[(c.addr, a.addr, bytes.clone())]);
        assert_eq!(group.nodes[2].told.is_empty(), refused, "{below}");
        sent(&mut group, c, "to the third");
        group.run(200);
        assert_eq!((group.nodes[1].told.len(), group.nodes[2].told.len()), (1, 1), "{below}");
    }
}

/// Members with threads, which sleep, and a guest that says all again that it said or was told, as itself.
#[test]
fn replays_change_nothing_for_members_that_wait() {
    for (below, _) in ALL {
        let stack = format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:{below}COM:shm");
        let join = |contacts| {
            let config = Config { suspect: Duration::from_secs(20), ..config() };
            Handle::join(Options { stack: stack.clone(), contacts, config, patience: PATIENCE, ..Options::default() })
                .unwrap()
        };
        let a = join(Vec::new());
        let b = join(vec![a.me().addr]);
        let began = Instant::now();
        let mut guest = Node::new(&stack, mailbox(), 99);
        let mut said = Vec::new();
        let run = |guest: &mut Node, said: &mut Vec<Said>, done: &dyn Fn(&Node) -> bool| {
            while !done(guest) {
                assert!(began.elapsed() < PATIENCE, "the guest waited too long");
                if !guest.turn(began.elapsed().as_nanos() as u64, said) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        };
        guest.member.handle(Time(0), Input::Merge(a.me().addr));
        run(&mut guest, &mut said, &|guest| guest.size() == 3);
        for n in 0..20u8 {
            a.cast(vec![n]).unwrap();
            guest.member.handle(Time(began.elapsed().as_nanos() as u64), Input::Cast(vec![n].into()));
        }
        run(&mut guest, &mut said, &|guest| guest.told.len() == 40);
        let me = guest.me();
        let mut stranger = Stranger::default();
        for (_, _, bytes) in guest.spoke.iter().chain(&said) {
            for to in [&a, &b] {
                stranger.say(to.me().addr, me.addr, bytes);
            }
        }
        a.cast(vec![20]).unwrap();
        run(&mut guest, &mut said, &|guest| guest.told.len() == 41);
        for of in [&a, &b] {
            let mut numbers = BTreeMap::<Endpoint, Vec<u8>>::new();
            while numbers.get(&a.me()).is_none_or(|from| !from.contains(&20)) {
                match of.next_within(PATIENCE).expect("something comes") {
                    Event::Message(m) => numbers.entry(m.from).or_default().push(m.body[0]),
                    Event::View(view) => assert!(view.members.len() <= 3),
                    _ => {}
                }
            }
            assert_eq!(numbers[&a.me()], (0..=20).collect::<Vec<_>>(), "{below}");
            assert_eq!(numbers[&me], (0..20).collect::<Vec<_>>(), "{below}");
        }
    }
}
