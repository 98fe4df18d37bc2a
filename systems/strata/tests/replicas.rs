//! Replicas with threads of their own: who joins under load is given the state, and casts wait for that; who leaves, and who is dropped.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use strata::net::{News, Options, ReplicaHandle};
use strata::state::Change;
use strata::{Config, Refused};

/// Far longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// Bytes of the state beside the messages.
const FILLING: usize = 8 << 20;
const BACKLOG: usize = 256 << 10;
/// Bytes of a message, of which the first say who cast it and its number.
const MESSAGE: usize = 1000;

fn options(carrier: &str, contacts: &[SocketAddr], suspect: u64) -> Options {
    let config = Config { suspect: Duration::from_millis(suspect), backlog: BACKLOG, ..Config::default() };
    let stack = format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:{carrier}");
    Options { stack, contacts: contacts.to_vec(), config, patience: PATIENCE, ..Options::default() }
}

fn message(caster: u8, number: u32) -> Vec<u8> {
    let mut body = vec![caster; MESSAGE];
    body[1..5].copy_from_slice(&number.to_le_bytes());
    body
}

/// What a member knows: a filling, and the messages.
#[derive(Default)]
struct Kept {
    filling: Vec<u8>,
    told: Vec<[u8; 5]>,
    /// Members of the last view, and whether that is primary.
    view: (usize, bool),
    gave: usize,
    received: usize,
    counted: bool,
    orphaned: bool,
    left: bool,
    /// Messages of the one that joins last.
    of_joiner: usize,
}

impl Kept {
    fn founded() -> Self {
        Self { filling: (0..FILLING).map(|at| (at % 251) as u8).collect(), ..Self::default() }
    }

    fn state(&self) -> Vec<u8> {
        [&self.filling[..], self.told.as_flattened()].concat()
    }

    fn take(&mut self, news: News, replica: &ReplicaHandle) {
        match news {
            News::State(Change::View { view, primary }) => self.view = (view.members.len(), primary),
            News::State(Change::Wanted) => {
                assert!(replica.give(self.state()), "it is asked");
                assert!(!replica.give("another"), "it has answered");
                self.gave += 1;
            }
            News::State(Change::State(state)) => {
                self.filling = state[..FILLING].to_vec();
                self.told = state[FILLING..].as_chunks().0.to_vec();
                self.received += 1;
            }
            News::State(Change::Message(m)) => {
                self.told.push(m.body[..5].try_into().unwrap());
                self.of_joiner += usize::from(m.body[0] == 2);
            }
            News::State(Change::Counted) => self.counted = true,
            News::State(Change::Orphaned) => self.orphaned = true,
            News::Notice(_) | News::Trace(_) => {}
            News::Left => self.left = true,
        }
    }

    /// The numbers of one caster's messages, in the order told.
    fn numbers(&self, caster: u8) -> Vec<u32> {
        let of = self.told.iter().filter(|m| m[0] == caster);
        of.map(|m| u32::from_le_bytes(m[1..].try_into().unwrap())).collect()
    }
}

/// A replica, and a thread that takes its news.
struct Member {
    replica: Arc<ReplicaHandle>,
    kept: Arc<(Mutex<Kept>, Condvar)>,
    taking: JoinHandle<()>,
}

impl Member {
    fn start(replica: ReplicaHandle, kept: Kept) -> Self {
        let (replica, kept) = (Arc::new(replica), Arc::new((Mutex::new(kept), Condvar::new())));
        let (from, to) = (replica.clone(), kept.clone());
        let taking = std::thread::spawn(move || {
            while let Some(news) = from.next() {
                to.0.lock().unwrap().take(news, &from);
                to.1.notify_all();
            }
        });
        Self { replica, kept, taking }
    }

    fn addr(&self) -> SocketAddr {
        self.replica.me().addr
    }

    fn until(&self, what: &str, done: impl Fn(&Kept) -> bool) {
        let (kept, changed) = &*self.kept;
        let (_kept, waited) = changed.wait_timeout_while(kept.lock().unwrap(), PATIENCE, |kept| !done(kept)).unwrap();
        assert!(!waited.timed_out(), "{what} did not come");
    }

    fn with<T>(&self, does: impl FnOnce(&Kept) -> T) -> T {
        does(&self.kept.0.lock().unwrap())
    }

    /// Leaves, and goes on until it has left.
    fn leave(self) -> Kept {
        self.replica.leave();
        self.until("the last of its news", |kept| kept.left);
        self.taking.join().unwrap();
        let replica = Arc::into_inner(self.replica).unwrap();
        assert_eq!(replica.cast("late"), Err(Refused::Gone));
        assert!(replica.leave_and_wait().unwrap().is_empty(), "nothing failed, and nothing comes after that");
        std::mem::take(&mut *self.kept.0.lock().unwrap())
    }
}

#[test]
fn a_member_joins_under_load_and_all_have_the_same_in_one_order() {
    under_load("udp");
}

#[test]
fn a_member_joins_under_load_in_shared_memory_and_all_have_the_same_in_one_order() {
    under_load("shm");
}

fn under_load(carrier: &str) {
    let join = |contacts: &[SocketAddr]| ReplicaHandle::join(options(carrier, contacts, 30_000)).unwrap();
    let a = Member::start(join(&[]), Kept::founded());
    let b = Member::start(join(&[a.addr()]), Kept::default());
    b.until("the state at b", |kept| kept.received == 1);
    let ends = Mutex::new(false);
    let (c, casts) = std::thread::scope(|scope| {
        let load = [(0, &a), (1, &b)].map(|(caster, member)| {
            let ends = &ends;
            scope.spawn(move || {
                let mut number = 0;
                while !*ends.lock().unwrap() {
                    member.replica.cast(message(caster, number)).unwrap();
                    number += 1;
                }
                number
            })
        });
        a.until("the load", |kept| kept.told.len() > 1000);
        let c = Member::start(join(&[b.addr()]), Kept::default());
        c.until("the state at c", |kept| kept.received == 1);
        for number in 0..100 {
            c.replica.cast(message(2, number)).unwrap();
        }
        a.until("what the joiner casts", |kept| kept.of_joiner == 100);
        *ends.lock().unwrap() = true;
        (c, load.map(|caster| caster.join().unwrap()))
    });
    let sum = 100 + casts.iter().sum::<u32>() as usize;
    for member in [&a, &b, &c] {
        member.until("all messages", |kept| kept.told.len() == sum);
    }
    let state = a.with(Kept::state);
    for member in [&b, &c] {
        // Megabytes, which nobody wants to read.
        assert!(member.with(Kept::state) == state, "the states differ");
    }
    for (caster, casts) in [(0, casts[0]), (1, casts[1]), (2, 100)] {
        assert_eq!(a.with(|kept| kept.numbers(caster)), (0..casts).collect::<Vec<_>>());
    }
    assert_eq!([&a, &b, &c].map(|m| m.with(|kept| kept.gave)).iter().sum::<usize>(), 2, "each was given it once");

    // The oldest leaves, and the others go on as a primary view; then another.
    [&b, &c].iter().for_each(|m| m.until("that it counts", |kept| kept.counted));
    let a = a.leave();
    assert!(a.state() == state);
    for member in [&b, &c] {
        member.until("the view without the first", |kept| kept.view == (2, true));
    }
    b.replica.cast(message(1, casts[1])).unwrap();
    let b = b.leave();
    assert_eq!(b.told.len(), sum + 1);
    c.until("the view of one, with what the other cast last", |kept| {
        kept.view == (1, true) && kept.told.len() == sum + 1
    });
    assert_eq!(c.leave().told.last(), b.told.last());
}

/// What the two have when the one is asked for the state by the other, and has not answered.
fn asked() -> (ReplicaHandle, Kept, Member) {
    let a = ReplicaHandle::join(options("udp", &[], 30_000)).unwrap();
    let b = Member::start(ReplicaHandle::join(options("udp", &[a.me().addr], 30_000)).unwrap(), Kept::default());
    let mut kept = Kept::founded();
    loop {
        match a.next_within(PATIENCE).expect("it is asked") {
            News::State(Change::Wanted) => return (a, kept, b),
            news => kept.take(news, &a),
        }
    }
}

#[test]
fn who_casts_while_another_waits_for_the_state_is_held_back_until_it_is_there() {
    let (a, mut kept, b) = asked();
    let (mut number, end) = (0, Instant::now() + PATIENCE);
    let backlog = loop {
        assert!(Instant::now() < end, "all is taken");
        match a.try_cast(message(0, number)) {
            Ok(()) => number += 1,
            Err(Refused::WouldBlock { backlog }) => break backlog,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(backlog > 0);
    // As much in the group, and as much before it.
    assert!(number as usize * MESSAGE <= 2 * BACKLOG, "{number} were taken");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| a.cast(message(0, number)));
        assert!(a.give(kept.state()));
        kept.gave += 1;
        let mut seen = 0;
        while seen <= number as usize {
            kept.take(a.next_within(PATIENCE).expect("what it cast comes"), &a);
            seen = kept.told.len();
        }
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
    b.until("all messages", |b| b.told.len() == number as usize + 1);
    assert!(b.with(Kept::state) == kept.state());
    assert_eq!((b.with(|b| b.received), kept.numbers(0)), (1, (0..=number).collect()));
    assert_eq!(a.try_cast("x"), Ok(()));
}

/// The only one that has the state is asked for it, and is about to leave: it answers, and the other has it.
#[test]
fn who_leaves_gives_the_state_on() {
    let (a, mut kept, b) = asked();
    let state = kept.state();
    a.leave();
    assert!(a.give(state.clone()));
    while !kept.left {
        kept.take(a.next_within(PATIENCE).expect("it leaves"), &a);
    }
    b.until("the view of one", |b| b.view.0 == 1);
    assert!(b.with(Kept::state) == state);
    assert_eq!(b.leave().view, (1, true));
}

#[test]
fn who_leaves_and_gives_nothing_leaves_all_the_same() {
    let (a, _, b) = asked();
    let rest = a.leave_and_wait().unwrap();
    assert!(matches!(rest.last(), Some(News::Left)));
    b.until("that nobody has the state", |b| b.orphaned);
}

/// As after a crash the others suspect it, and go on.
#[test]
fn a_dropped_member_is_left_out_and_the_others_go_on() {
    let a = Member::start(ReplicaHandle::join(options("udp", &[], 4000)).unwrap(), Kept::founded());
    let b = ReplicaHandle::join(options("udp", &[a.addr()], 4000)).unwrap();
    while !matches!(b.next_within(PATIENCE).expect("it counts"), News::State(Change::Counted)) {}
    b.cast(message(1, 0)).unwrap();
    a.until("a message", |kept| kept.numbers(1) == [0]);
    drop(b);
    a.until("the view without it", |kept| kept.view == (1, true));
    a.replica.cast(message(0, 0)).unwrap();
    assert_eq!(a.leave().told.len(), 2);
}
