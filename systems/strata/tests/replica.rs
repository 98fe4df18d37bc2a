//! Handing the state over, over sockets, polled in turn by one thread: a large state in pieces, a sender that dies in the middle, messages that go on meanwhile.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use strata::Config;
use strata::net::{News, Options, Replica};
use strata::state::Change;

const PATIENCE: Duration = Duration::from_secs(60);
const STATE: usize = 24 << 20;

/// A replica whose state is a filling and the messages it was told.
struct Member {
    replica: Replica,
    filling: usize,
    told: Vec<Vec<u8>>,
    members: usize,
    gave: bool,
    received: usize,
}

impl Member {
    fn start(carrier: &str, contacts: &[SocketAddr], filling: usize) -> Self {
        let config = Config { suspect: Duration::from_millis(1500), ..Config::default() };
        // None waits for another in this one thread.
        let (contacts, patience) = (contacts.to_vec(), Duration::ZERO);
        let stack = format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:{carrier}");
        let options = Options { stack, contacts, config, patience, ..Options::default() };
        let replica = Replica::join(options).unwrap();
        Self { replica, filling, told: Vec::new(), members: 0, gave: false, received: 0 }
    }

    fn state(&self) -> Vec<u8> {
        let mut state: Vec<u8> = (0..self.filling).map(|at| (at % 251) as u8).collect();
        state.extend((self.filling as u64).to_le_bytes());
        self.told.iter().for_each(|m| state.extend(m));
        state
    }

    fn read(&mut self, state: &[u8]) {
        self.filling = STATE;
        let (filling, rest) = state.split_at(STATE);
        assert!(filling.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8), "the state is damaged");
        assert_eq!(rest[..8], (STATE as u64).to_le_bytes());
        self.told = rest[8..].chunks(2).map(<[u8]>::to_vec).collect();
        self.received += 1;
    }

    /// Handles what there is.
    fn turn(&mut self) {
        while let Some(news) = self.replica.poll(Duration::ZERO).unwrap() {
            match news {
                News::State(Change::View { view, .. }) => self.members = view.members.len(),
                News::State(Change::Wanted) => {
                    let state = self.state();
                    self.gave = self.replica.give(state);
                }
                News::State(Change::State(state)) => self.read(&state),
                News::State(Change::Message(m)) => self.told.push(m.body.to_vec()),
                News::State(Change::Orphaned) => panic!("somebody has the state"),
                News::State(Change::Counted) | News::Notice(_) | News::Trace(_) => {}
                News::Left => panic!("nobody leaves"),
            }
        }
    }
}

fn until(all: &mut [&mut Member], what: &str, mut done: impl FnMut(&[&mut Member]) -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done(all) {
        assert!(Instant::now() < end, "{what} did not come");
        all.iter_mut().for_each(|m| m.turn());
    }
}

#[test]
fn a_large_state_arrives_also_when_its_sender_dies_in_the_middle() {
    large("udp");
}

#[test]
fn a_large_state_arrives_in_shared_memory_also_when_its_sender_dies_in_the_middle() {
    large("shm");
}

fn large(carrier: &str) {
    let mut a = Member::start(carrier, &[], STATE);
    let contact = a.replica.me().addr;
    let mut b = Member::start(carrier, &[contact], 0);
    until(&mut [&mut a, &mut b], "the state at b", |all| all[1].received == 1);
    a.replica.try_cast(&b"x1"[..]).unwrap();
    until(&mut [&mut a, &mut b], "a message at b", |all| all.iter().all(|m| m.told.len() == 1));

    let mut c = Member::start(carrier, &[contact, b.replica.me().addr], 0);
    a.gave = false;
    let mut n = 0;
    until(&mut [&mut a, &mut b, &mut c], "the question for the state", |all| all[0].gave || all[1].gave);
    // A cast goes on while the state is on its way; a few turns move a few hundred kilobytes of it.
    for _ in 0..4 {
        n += 1;
        b.replica.try_cast(format!("y{n}").into_bytes()).unwrap();
        [&mut a, &mut b, &mut c].into_iter().for_each(Member::turn);
    }
    assert!(a.gave && !b.gave, "the oldest sends");
    assert_eq!(c.received, 0, "not all of it has come");
    drop(a);

    until(&mut [&mut b, &mut c], "the state from b", |all| all[1].received == 1);
    assert!(b.gave);
    c.replica.try_cast(&b"z1"[..]).unwrap();
    let all = 1 + n + 1;
    until(&mut [&mut b, &mut c], "all messages", |of| of.iter().all(|m| m.told.len() == all && m.members == 2));
    assert_eq!(b.told, c.told);
}

#[test]
fn who_casts_while_another_waits_for_the_state_is_held_back_until_it_is_there() {
    let mut a = Member::start("udp", &[], STATE);
    let contact = a.replica.me().addr;
    let mut b = Member::start("udp", &[contact], 0);
    let (mut cast, mut bytes) = (0, 0);
    let piece = vec![b'm'; 64 << 10];
    let end = Instant::now() + PATIENCE;
    while b.received == 0 {
        assert!(Instant::now() < end, "the state did not come");
        // As fast as it is taken, which the other can't tell as it is.
        while a.members == 2 && a.replica.try_cast(piece.clone()).is_ok() {
            (cast, bytes) = (cast + 1, bytes + piece.len());
        }
        a.turn();
        b.turn();
    }
    let most = Config::default().backlog;
    assert!(bytes > most / 2 && bytes <= most, "{bytes} bytes were cast, and {most} may wait");
    until(&mut [&mut a, &mut b], "what waited", |all| all[1].told.len() == cast);
    until(&mut [&mut a, &mut b], "what it says at a", |all| all[0].told.len() == cast);
    // What says that it has the state may come a moment later.
    while a.replica.try_cast(&b"on"[..]).is_err() {
        assert!(Instant::now() < end, "no cast is taken again");
        a.turn();
        b.turn();
    }
    until(&mut [&mut a, &mut b], "the last", |all| all.iter().all(|m| m.told.last().is_some_and(|m| m == b"on")));
}
