//! Bytes through a ring that grows.

use super::*;
use crate::arena::{FIRST, LEN, control};

fn byte(at: usize) -> u8 {
    (at.wrapping_mul(2_654_435_761) >> 13) as u8
}

/// splitmix64 (Steele, Lea and Flood, 2014).
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as usize
}

fn memory() -> Memory {
    Memory::create_partly("test", LEN, FIRST).unwrap().0
}

fn put(sink: &mut Sink, memory: &Memory, way: &Way, from: usize, len: usize) {
    let bytes: Vec<u8> = (from..from + len).map(byte).collect();
    memory.put_span(sink.start(1), sink.writer.place(0, len), &bytes);
    sink.writer.publish(&way.lane, len);
}

#[test]
fn every_byte_comes_once_and_in_order_wherever_the_ring_grows() {
    for seed in 0..40 {
        let (memory, mut state) = (memory(), seed);
        let way = &control(&memory).ways[1];
        let (mut sink, mut source) = (Sink::new(false), Source::new());
        let (mut sent, mut got, grows_at) = (0, 0, random(&mut state) % 60_000);
        while got < 700_000 {
            let room = sink.room(way, usize::MAX).unwrap();
            let len = (random(&mut state) % 9000).min(room);
            put(&mut sink, &memory, way, sent, len);
            sent += len;
            if sent >= grows_at && way.grown.load(Ordering::Relaxed) == 0 {
                sink.grow(&memory, way, 1, || true);
                assert_eq!(way.grown.load(Ordering::Relaxed), sent as u64 + 1);
            }
            // A look at all that is there, over both rings.
            let mut look = source;
            let all = look.all(way).unwrap();
            assert_eq!(all, sent - got, "seed {seed}");
            let mut bytes = vec![0; all];
            look.copy(&memory, 1, 0, &mut bytes);
            assert!(bytes.iter().enumerate().all(|(i, &is)| is == byte(got + i)), "seed {seed}, from {got}");
            let mut wanted = random(&mut state) % 12_000;
            while wanted > 0 {
                let there = source.ready(way).unwrap().min(wanted);
                if there == 0 {
                    break;
                }
                let piece = source.piece(1, 0, there);
                assert_eq!(piece.len, there);
                let mut bytes = vec![0; there];
                memory.get_span(piece.start, piece.span, &mut bytes);
                assert!(bytes.iter().enumerate().all(|(i, &is)| is == byte(got + i)), "seed {seed}, from {got}");
                source.reader.consume(there);
                source.tell(way);
                (got, wanted) = (got + there, wanted - there);
            }
        }
    }
}

#[test]
fn it_grows_for_what_does_not_fit_and_for_streams_but_not_without_memory() {
    let memory = memory();
    let way = &control(&memory).ways[1];
    let mut sink = Sink::new(false);
    assert!(!sink.is_short(way, 16 << 10, false));
    assert!(sink.is_short(way, (16 << 10) + 1, false));
    // An answer between, over and over; then none.
    assert!((0..1000).all(|_| !sink.is_short(way, 100, false)));
    assert_eq!((0..1000).position(|_| sink.is_short(way, 100, true)), Some(255));
    sink.grow(&memory, way, 1, || false);
    assert!(!sink.is_short(way, usize::MAX, true), "asked once");
    assert_eq!((way.grown.load(Ordering::Relaxed), sink.room(way, usize::MAX).unwrap()), (0, 16 << 10));
}

#[test]
fn a_peer_that_says_what_can_not_be_is_refused() {
    for grown in [1 + (16 << 10) + 1, u64::MAX, 1 << 40] {
        let memory = memory();
        let way = &control(&memory).ways[1];
        let (mut sink, mut source) = (Sink::new(false), Source::new());
        put(&mut sink, &memory, way, 0, 100);
        way.grown.store(grown, Ordering::Relaxed);
        assert!(source.ready(way).is_err(), "{grown}");
        assert!(source.all(way).is_err(), "{grown}");
    }
    let memory = memory();
    let way = &control(&memory).ways[1];
    let mut large = Writer::new(LARGE, 0);
    large.publish(&way.lane, (16 << 10) + 1);
    assert!(Source::new().ready(way).is_err(), "more than the small ring holds");
}

#[test]
fn what_is_unread_is_never_more_than_was_sent_whatever_the_peer_says() {
    let memory = memory();
    let way = &control(&memory).ways[1];
    let (mut sink, mut source) = (Sink::new(false), Source::new());
    put(&mut sink, &memory, way, 0, 900);
    assert_eq!(sink.unread(way).unwrap(), 900);
    assert_eq!(source.ready(way).unwrap(), 900);
    source.reader.consume(400);
    source.tell_all(way);
    // The shared end moved on by the peer.
    let mut liar = sink;
    put(&mut liar, &memory, way, 900, 5000);
    assert_eq!(sink.unread(way).unwrap(), 500);
    assert_eq!(source.all(way).unwrap(), 5500);
    source.reader.consume(5500);
    source.tell_all(way);
    assert!(sink.unread(way).is_err());
}
