//! Loom goes through the interleavings of ring and bell that the memory model allows (up to three preemptions).
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p am --lib model`

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};

use crate::bell::{Bell, Cause, Sleeper};
use crate::ring::{Capacity, Lane, Reader, Writer};
use crate::sync::{AtomicU32, Ordering};

/// Bytes of a ring, and of the chunks that go through it.
const RING: Capacity = Capacity::new(64).unwrap();
const CHUNK: usize = 32;

/// The kernel's futex: comparing and going to sleep are one step for whoever wakes. It has no time limit here, so that a
/// lost wake-up is a deadlock, which loom reports.
struct Model {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Sleeper for Model {
    fn wait(&self, word: &AtomicU32, value: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(self.woken.wait(queue).unwrap());
        }
    }
    fn wake(&self, _word: &AtomicU32) {
        let _queue = self.queue.lock().unwrap();
        self.woken.notify_all();
    }
}

/// A socket on which a side waits for several bells at once: a byte in it stays until it is read.
struct Socket {
    bytes: Mutex<u32>,
    woken: Condvar,
}

impl Socket {
    fn wait(&self) {
        let mut bytes = self.bytes.lock().unwrap();
        while *bytes == 0 {
            bytes = self.woken.wait(bytes).unwrap();
        }
        *bytes = 0;
    }

    fn tell(&self) {
        *self.bytes.lock().unwrap() += 1;
        self.woken.notify_all();
    }
}

/// One direction; loom watches each chunk of the ring for races.
struct Way {
    lane: Lane,
    chunks: [UnsafeCell<u8>; 64 / CHUNK],
}

/// Two directions and two sides.
struct Shared {
    ways: [Way; 2],
    bells: [Bell; 2],
    sleepers: [Model; 2],
    sockets: [Socket; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Spin,
    Sleep,
    /// On a socket.
    Watch,
}

struct End {
    shared: Arc<Shared>,
    me: usize,
    mode: Mode,
    writer: Writer,
    reader: Reader,
}

impl End {
    /// Both ends of a connection whose streams begin at `at`.
    fn pair(mode: Mode, at: u64) -> [End; 2] {
        let way = || Way { lane: Lane::new(at), chunks: std::array::from_fn(|_| UnsafeCell::new(0)) };
        let model = |_| Model { queue: Mutex::new(()), woken: Condvar::new() };
        let shared = Arc::new(Shared {
            ways: [way(), way()],
            bells: [Bell::new(), Bell::new()],
            sleepers: std::array::from_fn(model),
            sockets: std::array::from_fn(|_| Socket { bytes: Mutex::new(0), woken: Condvar::new() }),
        });
        let (writer, reader) = (Writer::new(RING, at), Reader::new(RING, at));
        [0, 1].map(|me| End { shared: shared.clone(), me, mode, writer, reader })
    }

    fn pause(&self, cause: Cause, news: impl FnOnce() -> bool) {
        match self.mode {
            Mode::Spin => loom::thread::yield_now(),
            Mode::Sleep => self.shared.bells[self.me].sleep(&self.shared.sleepers[self.me], cause, news),
            Mode::Watch => {
                self.shared.bells[self.me].arm(cause);
                if !news() {
                    self.shared.sockets[self.me].wait();
                }
                self.shared.bells[self.me].disarm();
            }
        }
    }

    fn ring(&self, cause: Cause) {
        let bell = &self.shared.bells[1 - self.me];
        match self.mode {
            Mode::Spin => {}
            Mode::Sleep => bell.ring(&self.shared.sleepers[1 - self.me], cause),
            Mode::Watch if bell.take(cause) => self.shared.sockets[1 - self.me].tell(),
            Mode::Watch => {}
        }
    }

    fn write(&mut self, tag: u8) {
        let shared = self.shared.clone();
        let way = &shared.ways[self.me];
        while self.writer.room(&way.lane, CHUNK).unwrap() < CHUNK {
            self.pause(Cause::ROOM, || self.writer.news(&way.lane));
        }
        let span = self.writer.place(0, CHUNK);
        // SAFETY: loom checks that no one else touches the cell meanwhile; that is the test.
        way.chunks[span.at / CHUNK].with_mut(|byte| unsafe { *byte = tag });
        self.writer.publish(&way.lane, CHUNK);
        self.ring(Cause::BYTES);
    }

    fn read(&mut self, tag: u8) {
        let shared = self.shared.clone();
        let way = &shared.ways[1 - self.me];
        while self.reader.ready(&way.lane, CHUNK).unwrap() < CHUNK {
            self.pause(Cause::BYTES, || self.reader.news(&way.lane));
        }
        let span = self.reader.place(0, CHUNK);
        // SAFETY: as in `write`.
        way.chunks[span.at / CHUNK].with(|byte| assert_eq!(unsafe { *byte }, tag));
        self.reader.consume(CHUNK);
        if self.reader.tell(&way.lane, CHUNK) {
            self.ring(Cause::ROOM);
        }
    }
}

fn explore(mode: Mode, at: u64, near: fn(&mut End), far: fn(&mut End)) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let [mut a, mut b] = End::pair(mode, at);
        let thread = loom::thread::spawn(move || far(&mut b));
        near(&mut a);
        thread.join().unwrap();
    });
}

fn write_four(end: &mut End) {
    (1..=4).for_each(|tag| end.write(tag));
}

fn read_four(end: &mut End) {
    (1..=4).for_each(|tag| end.read(tag));
}

#[test]
fn a_stream_that_goes_round_the_ring_arrives_when_spinning() {
    explore(Mode::Spin, 0, write_four, read_four);
}

#[test]
fn a_stream_that_goes_over_the_end_of_64_bits_arrives() {
    explore(Mode::Spin, u64::MAX - 63, write_four, read_four);
}

#[test]
fn no_wake_up_is_lost_while_a_stream_goes_round_the_ring() {
    explore(Mode::Sleep, 0, write_four, read_four);
}

#[test]
fn no_wake_up_is_lost_where_a_side_waits_on_a_socket() {
    explore(Mode::Watch, 0, write_four, read_four);
}

#[test]
fn no_wake_up_is_lost_in_a_conversation() {
    let near = |end: &mut End| {
        for tag in 1..=2 {
            end.write(tag);
            end.read(tag + 100);
        }
    };
    let far = |end: &mut End| {
        for tag in 1..=2 {
            end.read(tag);
            end.write(tag + 100);
        }
    };
    explore(Mode::Sleep, 0, near, far);
}
