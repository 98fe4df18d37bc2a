//! Loom goes through the interleavings that the memory model allows (up to three preemptions): of a direction's way back to TCP, of bells (`model/bells.rs`), and of
//! connections that are used again (`model/turns.rs`), and of a direction's two rings (`model/rings.rs`).
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p fastsock --test model`
#![cfg(loom)]

#[allow(dead_code, reason = "the library has use for all of it")]
#[path = "../src/back.rs"]
mod back;

#[path = "../src/armed.rs"]
mod armed;

#[path = "model/bells.rs"]
mod bells;

#[path = "../src/turns.rs"]
mod turns;

#[path = "model/turns.rs"]
mod ends;

// What the rings take of `am` they take from a crate of that name: here it is this one, where am's own words have loom's atomics.
extern crate self as am;

#[allow(dead_code, reason = "the library has use for all of it")]
#[path = "../../am/src/ring.rs"]
mod ring;

#[path = "model/rings.rs"]
mod rings;

use rings::{arena, memory};

mod sync {
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

    /// Loom knows of no instruction that is a fence by itself.
    pub fn fence_of_locked() {
        fence(Ordering::SeqCst);
    }
}

use std::collections::VecDeque;

use loom::sync::{Arc, Mutex};
use sync::{AtomicU32, Ordering};

/// Bytes that are sent, 1 to this.
const BYTES: u32 = 3;

/// What two sides share of a direction, and the kernel's queue.
struct Shared {
    ring: [AtomicU32; BYTES as usize],
    tail: AtomicU32,
    head: AtomicU32,
    busy: AtomicU32,
    wants: AtomicU32,
    back: AtomicU32,
    tcp: Mutex<VecDeque<u32>>,
}

impl Shared {
    fn new() -> Self {
        let word = || AtomicU32::new(0);
        Self {
            ring: std::array::from_fn(|_| word()),
            tail: word(),
            head: word(),
            busy: word(),
            wants: word(),
            back: word(),
            tcp: Mutex::new(VecDeque::new()),
        }
    }

    /// What is in the ring behind the first `from` bytes.
    fn rest(&self, from: u32) -> Vec<u32> {
        let tail = self.tail.load(Ordering::Acquire);
        (from..tail).map(|at| self.ring[at as usize].load(Ordering::Relaxed)).collect()
    }
}

/// Sends all bytes, by the ring as long as it may. `alone`: goes back by itself before the byte of this number.
fn sends(shared: &Shared, alone: u32) {
    let mut on_tcp = false;
    for byte in 1..=BYTES {
        let writes = !on_tcp && back::enter(&shared.busy, &shared.wants) && byte != alone;
        if writes {
            shared.ring[byte as usize - 1].store(byte, Ordering::Relaxed);
            shared.tail.store(byte, Ordering::Release);
        } else {
            if !on_tcp {
                leaves(shared);
            }
            on_tcp = true;
            shared.tcp.lock().unwrap().push_back(byte);
        }
        back::done(&shared.busy);
    }
    // A peer that waits hears of it, whatever it waits for.
    if !on_tcp && back::asked(&shared.back) {
        leaves(shared);
    }
}

/// The sender goes to TCP, and sends there first what it was asked for.
fn leaves(shared: &Shared) {
    if let Some(taken) = back::leave(&shared.back) {
        let again = shared.rest(shared.head.load(Ordering::Acquire) + taken);
        shared.tcp.lock().unwrap().extend(again);
    }
}

/// What a receiver does.
#[derive(Clone, Copy, Default)]
struct Receiver {
    /// It asks for what is left by TCP, if the sender can still be asked.
    asks: bool,
    /// It takes so many bytes from the ring after it asked, as long as the sender has not heard of it.
    takes: usize,
    /// It reads the ring after all, if the sender has not heard yet that it asked, and no write is under way.
    regrets: bool,
    /// It does not wait until no write is under way, and looks whether one is instead.
    hasty: bool,
}

/// How a receiver got the ring's last bytes.
#[derive(PartialEq)]
enum End {
    Read,
    Asked,
    /// Not at all: the connection ends.
    GivenUp,
}

/// Reads what the ring has, then goes back, and gets the rest.
fn receives(shared: &Shared, receiver: Receiver) -> (Vec<u32>, End) {
    let mut got = shared.rest(0);
    shared.head.store(got.len() as u32, Ordering::Release);
    let mut asked = receiver.asks && back::ask(&shared.back);
    if back::want(&shared.wants) && !receiver.hasty {
        while !back::quiet(&shared.busy) {
            loom::thread::yield_now();
        }
    }
    for _ in 0..if asked { receiver.takes } else { 0 } {
        if let Some(&next) = shared.rest(got.len() as u32).first()
            && back::take(&shared.back, 1)
        {
            got.push(next);
        }
    }
    if asked && receiver.regrets && back::settled(&shared.busy, &shared.back) && back::take_back(&shared.back) {
        asked = false;
    }
    if !asked && receiver.hasty && !back::settled(&shared.busy, &shared.back) {
        // Nobody can say what the write brings yet.
        return (got, End::GivenUp);
    }
    if !asked {
        // All that it ever will hold.
        let rest = shared.rest(got.len() as u32);
        got.extend(rest);
    }
    (got, if asked { End::Asked } else { End::Read })
}

fn explore(alone: u32, receiver: Receiver) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let shared = Arc::new(Shared::new());
        let sender = shared.clone();
        let thread = loom::thread::spawn(move || sends(&sender, alone));
        let (mut got, end) = receives(&shared, receiver);
        thread.join().unwrap();
        if end == End::GivenUp {
            assert_eq!(got, (1..=got.len() as u32).collect::<Vec<_>>());
            return;
        }
        if end == End::Asked && back::asked(&shared.back) {
            // The sender had ended its calls before it was asked: with its next one.
            leaves(&shared);
        }
        got.extend(shared.tcp.lock().unwrap().drain(..));
        assert_eq!(got, (1..=BYTES).collect::<Vec<_>>());
    });
}

#[test]
fn the_rest_of_the_ring_comes_before_what_goes_over_tcp() {
    explore(0, Receiver::default());
}

#[test]
fn what_was_asked_for_comes_once_and_first() {
    explore(0, Receiver { asks: true, ..Receiver::default() });
}

#[test]
fn who_reads_on_after_it_asked_gets_nothing_twice() {
    explore(0, Receiver { asks: true, regrets: true, ..Receiver::default() });
}

#[test]
fn who_takes_a_part_after_it_asked_gets_the_rest_over_tcp() {
    for takes in 1..=2 {
        explore(0, Receiver { asks: true, takes, ..Receiver::default() });
        explore(0, Receiver { asks: true, takes, regrets: true, ..Receiver::default() });
    }
}

#[test]
fn who_does_not_wait_for_a_write_that_is_under_way_leaves_what_it_asked_for_to_tcp() {
    explore(0, Receiver { asks: true, hasty: true, ..Receiver::default() });
    explore(0, Receiver { asks: true, hasty: true, regrets: true, ..Receiver::default() });
    explore(0, Receiver { asks: true, hasty: true, takes: 1, ..Receiver::default() });
}

#[test]
fn who_neither_asks_nor_waits_takes_the_ring_only_when_it_holds_all_that_it_ever_will() {
    for alone in 0..=BYTES {
        explore(alone, Receiver { hasty: true, ..Receiver::default() });
        explore(alone, Receiver { asks: true, hasty: true, regrets: true, ..Receiver::default() });
    }
}

#[test]
fn who_asks_too_late_reads_the_ring() {
    for alone in 1..=BYTES {
        explore(alone, Receiver { asks: true, ..Receiver::default() });
        explore(alone, Receiver { asks: true, regrets: true, ..Receiver::default() });
    }
}
