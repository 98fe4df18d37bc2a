//! The ring's bookkeeping against plain arithmetic.

use std::sync::atomic::Ordering;

use super::*;

const CAPACITY: Capacity = Capacity::new(64).unwrap();

/// A ring with its bytes, both its sides, and the number of the next byte at each: byte `n` of the stream is `n mod 251`.
struct Pair {
    lane: Lane,
    bytes: [u8; 64],
    writer: Writer,
    reader: Reader,
    written: u64,
    read: u64,
}

impl Pair {
    fn new(at: u64) -> Self {
        let (writer, reader) = (Writer::new(CAPACITY, at), Reader::new(CAPACITY, at));
        Self { lane: Lane::new(at), bytes: [0; 64], writer, reader, written: 0, read: 0 }
    }

    fn write(&mut self, len: usize) {
        assert!(self.writer.room(&self.lane, len).unwrap() >= len);
        let Span { at, first, second } = self.writer.place(0, len);
        for place in (at..at + first).chain(0..second) {
            self.bytes[place] = (self.written % 251) as u8;
            self.written += 1;
        }
        self.writer.publish(&self.lane, len);
    }

    fn read(&mut self, len: usize) {
        assert!(self.reader.ready(&self.lane, len).unwrap() >= len);
        let Span { at, first, second } = self.reader.place(0, len);
        for place in (at..at + first).chain(0..second) {
            assert_eq!(self.bytes[place], (self.read % 251) as u8, "byte {} of the stream", self.read);
            self.read += 1;
        }
        self.reader.consume(len);
        self.reader.tell(&self.lane, 1);
    }
}

#[test]
fn what_lies_ahead_is_free_or_written_and_no_more_than_is_known() {
    for start in 0..64 {
        let mut pair = Pair::new(start);
        pair.write(40);
        // Of 64 bytes 24 are free, and of the 40 none is known to be there before a look.
        assert_eq!(pair.writer.ahead(10, 100), CAPACITY.span(start + 50, 14));
        assert_eq!((pair.writer.ahead(24, 8).first, pair.writer.ahead(usize::MAX, 8).first), (0, 0));
        assert_eq!(pair.reader.ahead(0, 8).first, 0);
        pair.read(8);
        assert_eq!(pair.reader.ahead(30, 64), CAPACITY.span(start + 38, 2));
        assert_eq!(pair.reader.ahead(0, 16), CAPACITY.span(start + 8, 16));
        assert_eq!((pair.reader.ahead(32, 8).first, pair.reader.ahead(usize::MAX, 8).first), (0, 0));
    }
}

#[test]
fn every_length_at_every_place_of_the_ring_survives() {
    for start in 0..64 {
        for len in 0..=64 {
            let mut pair = Pair::new(start);
            pair.write(len);
            pair.read(len);
            pair.write(64);
            pair.read(64);
        }
    }
}

#[test]
fn offsets_go_over_the_end_of_64_bits() {
    let mut pair = Pair::new(u64::MAX - 100);
    for len in (0..=64).cycle().take(1000) {
        pair.write(len);
        pair.read(len / 2);
        pair.read(len - len / 2);
    }
    assert_eq!(pair.writer.tail(), (u64::MAX - 100).wrapping_add(pair.written));
    assert_eq!(pair.reader.head(), pair.writer.tail());
    assert!(pair.writer.all_read(&pair.lane));
}

#[test]
fn a_full_ring_has_no_room_and_an_empty_one_no_bytes() {
    let mut pair = Pair::new(7);
    assert_eq!(pair.reader.ready(&pair.lane, 1), Ok(0));
    assert!(!pair.reader.news(&pair.lane));
    pair.write(64);
    assert!(pair.reader.news(&pair.lane));
    assert_eq!(pair.writer.room(&pair.lane, 1), Ok(0));
    assert!(!pair.writer.news(&pair.lane));
    pair.read(1);
    assert!(pair.writer.news(&pair.lane));
    assert_eq!(pair.writer.room(&pair.lane, 1), Ok(1));
}

#[test]
fn what_is_read_is_told_once_enough_is_free() {
    let mut pair = Pair::new(0);
    pair.write(20);
    assert_eq!(pair.reader.ready(&pair.lane, 20), Ok(20));
    pair.reader.consume(15);
    assert!(!pair.reader.tell(&pair.lane, 16));
    pair.reader.consume(1);
    assert!(pair.reader.tell(&pair.lane, 16));
    assert!(!pair.reader.tell(&pair.lane, 0), "there is nothing new to tell");
    assert_eq!(pair.writer.room(&pair.lane, 64), Ok(60));
}

#[test]
fn a_reader_can_not_claim_what_was_not_written() {
    for (claimed, fits) in [(100, true), (105, true), (110, true), (111, false), (99, false), (u64::MAX, false)] {
        let mut pair = Pair::new(100);
        pair.write(10);
        pair.lane.head.0.store(claimed, Ordering::Relaxed);
        let room = pair.writer.room(&pair.lane, 64);
        assert_eq!(room.is_ok(), fits, "{claimed}: {room:?}");
        assert!(room.is_ok_and(|room| room <= 64) || !fits);
    }
}

#[test]
fn a_writer_can_not_claim_more_than_the_ring_holds_or_take_back() {
    for (claimed, fits) in [(110, true), (164, true), (165, false), (109, false), (100, false), (0, false)] {
        let mut pair = Pair::new(100);
        pair.write(10);
        assert_eq!(pair.reader.ready(&pair.lane, 10), Ok(10));
        pair.lane.tail.0.store(claimed, Ordering::Relaxed);
        let ready = pair.reader.ready(&pair.lane, 11);
        assert_eq!(ready.is_ok(), fits, "{claimed}: {ready:?}");
    }
}

#[test]
fn a_capacity_is_a_power_of_two() {
    for bytes in [0, 1, 63, 65, 100, (1 << 30) + 1, 1 << 31] {
        assert_eq!(Capacity::new(bytes), None, "{bytes}");
    }
    assert_eq!(Capacity::new(1 << 30).map(Capacity::bytes), Some(1 << 30));
}
