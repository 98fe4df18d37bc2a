//! Loom goes through the interleavings of ring, bell and closing that the memory model allows (up to three preemptions).
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
    /// Not 0 once the side has closed.
    closed: [AtomicU32; 2],
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
            closed: std::array::from_fn(|_| AtomicU32::new(0)),
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
        self.put(tag);
    }

    /// Writes a chunk for which there is room.
    fn put(&mut self, tag: u8) {
        let way = &self.shared.ways[self.me];
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
        self.take(tag);
    }

    /// Reads a chunk that is there.
    fn take(&mut self, tag: u8) {
        let way = &self.shared.ways[1 - self.me];
        let span = self.reader.place(0, CHUNK);
        // SAFETY: as in `write`.
        way.chunks[span.at / CHUNK].with(|byte| assert_eq!(unsafe { *byte }, tag));
        self.reader.consume(CHUNK);
        if self.reader.tell(&way.lane, CHUNK) {
            self.ring(Cause::ROOM);
        }
    }

    /// As an endpoint that is dropped.
    fn close(&self) {
        self.shared.closed[self.me].store(1, Ordering::Release);
        self.ring(Cause::EITHER);
    }

    fn peer_closed(&self) -> bool {
        self.shared.closed[1 - self.me].load(Ordering::Acquire) != 0
    }

    /// Reads until the peer has closed; how many chunks there were.
    fn read_to_the_end(&mut self) -> u8 {
        let shared = self.shared.clone();
        let lane = &shared.ways[1 - self.me].lane;
        for tag in 1.. {
            loop {
                // Asked first: what it wrote before is there then.
                let closed = self.peer_closed();
                if self.reader.ready(lane, CHUNK).unwrap() >= CHUNK {
                    break;
                }
                if closed {
                    return tag - 1;
                }
                self.pause(Cause::EITHER, || self.reader.news(lane) || self.peer_closed());
            }
            self.take(tag);
        }
        unreachable!("fewer chunks than that are written")
    }

    /// Writes chunks until the peer has closed.
    fn write_to_the_end(&mut self) {
        let shared = self.shared.clone();
        let lane = &shared.ways[self.me].lane;
        for tag in 1.. {
            while self.writer.room(lane, CHUNK).unwrap() < CHUNK {
                if self.peer_closed() {
                    return;
                }
                self.pause(Cause::EITHER, || self.writer.news(lane) || self.peer_closed());
            }
            self.put(tag);
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
fn who_waits_for_bytes_gets_all_and_learns_of_the_close_behind_them() {
    for mode in [Mode::Spin, Mode::Sleep, Mode::Watch] {
        let near = |end: &mut End| {
            (1..=2).for_each(|tag| end.write(tag));
            end.close();
        };
        explore(mode, 0, near, |end| assert_eq!(end.read_to_the_end(), 2));
    }
}

#[test]
fn who_waits_for_room_learns_of_the_close() {
    for mode in [Mode::Spin, Mode::Sleep, Mode::Watch] {
        let far = |end: &mut End| {
            end.read(1);
            end.close();
        };
        explore(mode, 0, End::write_to_the_end, far);
    }
}

#[test]
fn two_that_wait_for_each_other_and_close_both_end() {
    for mode in [Mode::Sleep, Mode::Watch] {
        let side = |end: &mut End| {
            end.write(1);
            end.close();
            assert_eq!(end.read_to_the_end(), 1);
        };
        explore(mode, 0, side, side);
    }
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
