//! A bell with everybody who may wait for it at once: one that sleeps on its word, one that waits for the event descriptor beside other things, and one that rings.

use loom::sync::{Arc, Condvar, Mutex};

use crate::armed;
use crate::sync::{AtomicU32, Ordering};

/// The kernel's futex: comparing and going to sleep are one step for whoever wakes. It has no time limit here, so that a lost wake-up is a deadlock, which loom reports.
struct Futex {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    fn wait(&self, word: &AtomicU32, value: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    fn wake(&self) {
        let _queue = self.queue.lock().unwrap();
        self.woken.notify_all();
    }
}

/// An event descriptor.
struct Event {
    readable: Mutex<bool>,
    told: Condvar,
}

impl Event {
    fn tell(&self) {
        *self.readable.lock().unwrap() = true;
        self.told.notify_all();
    }

    fn drain(&self) {
        *self.readable.lock().unwrap() = false;
    }

    fn poll(&self) {
        let mut readable = self.readable.lock().unwrap();
        while !*readable {
            readable = self.told.wait(readable).unwrap();
        }
    }
}

/// What two sides share of a direction: bytes that are written, whether their sender has closed, and the bell for whoever waits for either.
struct Shared {
    tail: AtomicU32,
    closed: AtomicU32,
    bell: AtomicU32,
    futex: Futex,
    event: Event,
}

impl Shared {
    fn new() -> Self {
        let [tail, closed, bell] = std::array::from_fn(|_| AtomicU32::new(0));
        let futex = Futex { queue: Mutex::new(()), woken: Condvar::new() };
        Self { tail, closed, bell, futex, event: Event { readable: Mutex::new(false), told: Condvar::new() } }
    }

    fn ring(&self) {
        if armed::due(&self.bell) {
            let told = armed::take(&self.bell);
            if told.watchers {
                self.event.tell();
            }
            if told.sleepers {
                self.futex.wake();
            }
        }
    }

    /// Writes so many bytes, one by one, and closes.
    fn writes(&self, bytes: u32) {
        for byte in 1..=bytes {
            self.tail.store(byte, Ordering::Release);
            self.ring();
        }
        self.closed.store(1, Ordering::Release);
        self.ring();
    }

    /// Whether there is more than so many bytes, or the end.
    fn news(&self, seen: u32) -> bool {
        self.tail.load(Ordering::Acquire) != seen || self.closed.load(Ordering::Acquire) != 0
    }

    /// Waits by `wait` for what is not yet seen until the end; how many bytes there were.
    fn reads(&self, wait: impl Fn(&Self, u32)) -> u32 {
        loop {
            // Asked first: what was written before is there then.
            let closed = self.closed.load(Ordering::Acquire) != 0;
            let seen = self.tail.load(Ordering::Acquire);
            if closed {
                return seen;
            }
            wait(self, seen);
        }
    }

    fn sleeps(&self, seen: u32) {
        let word = armed::sleep(&self.bell);
        if !self.news(seen) {
            self.futex.wait(&self.bell, word);
        }
    }

    /// As `ready::arm` does it: the event descriptor is made unreadable only by who looks afterwards.
    fn polls(&self, seen: u32) {
        self.event.drain();
        armed::watch(&self.bell);
        if !self.news(seen) {
            self.event.poll();
        }
    }
}

type Wait = fn(&Shared, u32);

fn explore(bytes: u32, waits: &'static [Wait]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let shared = Arc::new(Shared::new());
        let threads: Vec<_> = waits
            .iter()
            .map(|&wait| {
                let shared = shared.clone();
                loom::thread::spawn(move || assert_eq!(shared.reads(wait), bytes))
            })
            .collect();
        shared.writes(bytes);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn who_sleeps_or_polls_gets_all_bytes_and_the_close() {
    for wait in [&[Shared::sleeps as Wait], &[Shared::polls as Wait]] {
        explore(2, wait);
    }
}

#[test]
fn one_that_goes_on_does_not_disarm_the_other() {
    explore(1, &[Shared::sleeps, Shared::polls]);
}

#[test]
fn two_that_sleep_are_both_woken_and_one_that_arms_later_keeps_none_asleep() {
    explore(1, &[Shared::sleeps, Shared::sleeps]);
}
