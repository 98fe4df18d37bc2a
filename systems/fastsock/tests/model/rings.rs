//! A direction whose ring grows amid the stream: the writer goes on in the large ring at a byte that it names, while the reader is anywhere. Rings, their growing and what the reader
//! makes of it are the library's own words (`src/ring.rs`, and am's `ring`); the memory is cells that loom watches for races.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use arena::Way;
use both::{Sink, Source};
use memory::Memory;

#[allow(dead_code, reason = "the library has use for all of it")]
#[path = "../../src/ring.rs"]
mod both;

/// Where things lie, and how long rings are here: as short as they may be.
pub(crate) mod arena {
    use crate::ring::{Capacity, Lane};
    use crate::sync::AtomicU64;

    pub(crate) const SMALL: Capacity = Capacity::new(64).expect("a power of two");
    pub(crate) const LARGE: Capacity = Capacity::new(128).expect("a power of two");
    pub(crate) const AHEAD: usize = 64;
    pub(crate) const AHEAD_MOST: usize = 64;
    pub(crate) const LEN: usize = SMALL.bytes() + LARGE.bytes();

    pub(crate) struct Way {
        pub(crate) lane: Lane,
        pub(crate) grown: AtomicU64,
    }

    pub(crate) fn ring(_sender: usize, large: bool) -> usize {
        if large { SMALL.bytes() } else { 0 }
    }
}

/// What both sides share of bytes.
pub(crate) mod memory {
    use super::{UnsafeCell, arena};
    use crate::ring::Span;

    pub(crate) struct Memory(Vec<UnsafeCell<u8>>);

    // SAFETY: loom finds any two accesses that are not in order; that is the test.
    unsafe impl Sync for Memory {}
    // SAFETY: as above.
    unsafe impl Send for Memory {}

    impl Memory {
        pub(crate) fn new() -> Self {
            Self((0..arena::LEN).map(|_| UnsafeCell::new(0)).collect())
        }

        pub(crate) fn reserve(&self, _at: usize, _len: usize) -> bool {
            true
        }

        pub(crate) fn fetch_to_read(&self, _at: usize, _len: usize) {}

        fn places(ring: usize, span: Span) -> impl Iterator<Item = usize> {
            (ring + span.at..ring + span.at + span.first).chain(ring..ring + span.second)
        }

        pub(crate) fn get_span(&self, ring: usize, span: Span, into: &mut [u8]) {
            for (at, to) in Self::places(ring, span).zip(into) {
                // SAFETY: loom says if anybody writes there meanwhile.
                *to = self.0[at].with(|from| unsafe { *from });
            }
        }

        pub(crate) fn put_span(&self, ring: usize, span: Span, from: impl Iterator<Item = u8>) {
            for (at, byte) in Self::places(ring, span).zip(from) {
                // SAFETY: as above.
                self.0[at].with_mut(|to| unsafe { *to = byte });
            }
        }
    }
}

/// Bytes of a message, a part of the small ring; where it is full with the second, the third makes it grow.
const PART: usize = 32;
/// Which side sends.
const SENDER: usize = 0;

/// A byte of the stream tells its place.
fn byte(at: usize) -> u8 {
    at as u8 + 1
}

fn send(shared: &(Way, Memory), parts: usize) {
    let (way, memory) = shared;
    let mut sink = Sink::new(false);
    for part in 0..parts {
        if sink.is_short(way, PART, false) {
            sink.grow(memory, way, SENDER, || true);
        }
        while sink.room(way, PART).expect("the reader tells no lies") < PART {
            loom::thread::yield_now();
        }
        let from = part * PART;
        memory.put_span(sink.start(SENDER), sink.writer.place(0, PART), (from..from + PART).map(byte));
        sink.writer.publish(&way.lane, PART);
    }
}

/// Takes all of the stream as it comes: what lies in one ring at a time, or (`looks`) all that is there after a look at it.
fn receive(shared: &(Way, Memory), parts: usize, looks: bool) {
    let (way, memory) = shared;
    let (mut source, mut at) = (Source::new(), 0);
    while at < parts * PART {
        let there = if looks { source.all(way) } else { source.ready(way) }.expect("the writer tells no lies");
        if there == 0 {
            loom::thread::yield_now();
            continue;
        }
        let mut bytes = vec![0; there];
        source.copy(memory, SENDER, 0, &mut bytes);
        assert!(bytes.iter().enumerate().all(|(i, &got)| got == byte(at + i)), "byte {at} and what follows: {bytes:?}");
        // What is taken lies in one of the rings.
        let takes = if looks { source.ready(way).expect("as before").min(there) } else { there };
        source.reader.consume(takes);
        source.tell(way);
        at += takes;
    }
}

fn explore(parts: usize, looks: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let way = Way { lane: crate::ring::Lane::new(0), grown: crate::sync::AtomicU64::new(0) };
        let shared = Arc::new((way, Memory::new()));
        let sends = {
            let shared = shared.clone();
            loom::thread::spawn(move || send(&shared, parts))
        };
        receive(&shared, parts, looks);
        sends.join().unwrap();
    });
}

#[test]
fn a_ring_that_grows_amid_the_stream_loses_no_byte() {
    explore(4, false);
}

#[test]
fn nor_does_it_to_who_looks_at_all_of_both_rings_first() {
    explore(3, true);
}
