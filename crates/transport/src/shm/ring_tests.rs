//! The ring's bookkeeping against a plain list of what is under way.

use std::collections::VecDeque;

use super::*;
use crate::shm::place::CHUNK;
use crate::shm::slot::INLINE;

fn lane() -> Box<Lane> {
    // SAFETY: a lane is only atomic integers, for which zero is a value.
    unsafe { Box::new(std::mem::zeroed()) }
}

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

/// A lane with both its sides and the list of what is under way; and the lane back, by which the short way is opened.
struct Pair {
    lane: Box<Lane>,
    producer: Producer,
    consumer: Consumer,
    back: Box<Lane>,
    back_producer: Producer,
    back_consumer: Consumer,
    /// What the sender, and the receiver, take and reply to the short way.
    turns: [Turn; 2],
    /// Bytes left, piece and slot of each message under way.
    under_way: VecDeque<(usize, Piece, u32)>,
    /// Most slots and most bytes ever used.
    reach: (u32, usize),
    /// Answers go and come the short way.
    short: bool,
    /// Messages that were taken and that were sent the short way.
    accepted: usize,
    replied: usize,
}

impl Pair {
    fn new() -> Self {
        Self {
            lane: lane(),
            producer: Producer::new(),
            consumer: Consumer::new(),
            back: lane(),
            back_producer: Producer::new(),
            back_consumer: Consumer::new(),
            turns: Default::default(),
            under_way: VecDeque::new(),
            reach: (0, 0),
            short: true,
            accepted: 0,
            replied: 0,
        }
    }

    /// Takes the oldest message and checks that it is found where it was put.
    fn take(&mut self) {
        let Self { lane, consumer, back_producer, turns: [_, turn], .. } = self;
        let (left, sent, slot) = self.under_way.pop_front().unwrap();
        assert_eq!(consumer.place.slot, slot);
        let mut got = vec![0; left.min(INLINE)];
        assert!(turn.expect(consumer, back_producer, got.len()));
        let (at, number) = turn.awaits(lane);
        assert!(at.there(number));
        if self.short && left <= INLINE && turn.take(lane, &mut got).is_some() {
            assert_eq!(got, vec![7; left]);
            turn.settle(consumer, back_producer);
            self.accepted += 1;
            return;
        }
        let said = consumer.look(lane).expect("a message is there");
        assert_eq!(said.left, Said::left(left));
        let piece = consumer.piece(said, left);
        assert_eq!(piece, sent);
        consumer.release(lane, piece, said);
        back_producer.acknowledge(said.seen).unwrap();
    }

    /// The receiver, which has taken all, says so; whether the sender took that the short way, and may reply.
    fn opened(&mut self) -> bool {
        let Self { producer, back, back_producer, back_consumer, turns: [turn, _], .. } = self;
        let piece = back_producer.reserve(back, 1).unwrap().expect("what came back was taken each time");
        back_producer.publish(back, 1, piece, &[9], self.consumer.seen());
        let mut got = [0];
        assert!(turn.expect(back_consumer, producer, 1));
        if turn.take(back, &mut got).is_none() {
            let said = back_consumer.look(back).expect("a message is there");
            back_consumer.read(back, &mut got);
            back_consumer.release(back, piece, said);
            producer.acknowledge(said.seen).unwrap();
        }
        assert_eq!(got, [9]);
        turn.taken()
    }

    /// Sends a message; while there is no room, takes messages.
    fn send(&mut self, len: usize) {
        if self.short && len <= INLINE && len.is_multiple_of(2) && self.under_way.is_empty() && self.opened() {
            let [turn, _] = &mut self.turns;
            turn.reply(&self.lane, &vec![7; len]);
            let slot = self.producer.place.slot;
            turn.settle(&mut self.back_consumer, &mut self.producer);
            assert!(turn.settled());
            self.reach.0 = self.reach.0.max(slot + 1);
            self.under_way.push_back((len, Piece::Slot(len), slot));
            self.replied += 1;
            return;
        }
        let mut left = len;
        loop {
            let piece = loop {
                match self.producer.reserve(&self.lane, left).unwrap() {
                    Some(piece) => break piece,
                    None => {
                        assert!(!self.under_way.is_empty(), "no room although nothing is under way");
                        self.take();
                    }
                }
            };
            let slot = self.producer.place.slot;
            for (_, other, taken) in &self.under_way {
                assert_ne!(*taken, slot, "two messages share a slot");
                if let (Piece::Data { at, len }, Piece::Data { at: a, len: l }) = (piece, *other) {
                    assert!(at + len <= a || a + l <= at, "two pieces share bytes");
                }
            }
            if let Piece::Data { at, len } = piece {
                assert!(len > 0 && at + len <= DATA);
                self.reach.1 = self.reach.1.max(at + len);
            }
            self.reach.0 = self.reach.0.max(slot + 1);
            let seen = self.back_consumer.seen();
            self.producer.publish(&self.lane, left, piece, &vec![7; left.min(INLINE)], seen);
            self.under_way.push_back((left, piece, slot));
            left -= piece.len();
            if left == 0 {
                return;
            }
        }
    }
}

#[test]
fn nothing_under_way_shares_memory_whatever_the_lengths_and_answers() {
    for seed in 0..20 {
        let mut pair = Pair { short: seed % 3 > 0, ..Pair::new() };
        let mut state = seed;
        for i in 0..3_000 {
            let bits = 1 + random(&mut state) % 19;
            pair.send(random(&mut state) % (1 << bits));
            // Some answers come when all is taken, some when little is, some are old.
            for _ in 0..random(&mut state) % (2 + i % 40) {
                if !pair.under_way.is_empty() {
                    pair.take();
                }
            }
            if !random(&mut state).is_multiple_of(3) {
                // Never less than the last: messages come in order.
                let old =
                    (random(&mut state) as u64 % 3).min(u64::from(pair.consumer.seen()) - pair.producer.acknowledged);
                pair.producer.acknowledge(pair.consumer.seen() - old as u32).unwrap();
            }
        }
        while !pair.under_way.is_empty() {
            pair.take();
        }
        assert_eq!(pair.consumer.look(&pair.lane), None);
        // All is free again, once the producer was told.
        pair.producer.acknowledge(pair.consumer.seen()).unwrap();
        pair.producer.reserve(&pair.lane, 1).unwrap();
        assert_eq!((pair.producer.slots, pair.producer.room), (SLOTS, DATA));
        let (accepted, replied) = (pair.accepted, pair.replied);
        let right = if pair.short { accepted > 100 && replied > 100 } else { accepted == 0 && replied == 0 };
        assert!(right, "short: {}, {accepted} taken, {replied} sent", pair.short);
    }
}

#[test]
fn a_conversation_stays_on_the_same_few_lines() {
    for (len, slots, data) in
        [(1, WARM_SLOTS, 0), (2, WARM_SLOTS, 0), (1024, WARM_SLOTS, 1024), (2 * CHUNK, WARM_SLOTS + 1, 2 * CHUNK)]
    {
        let mut pair = Pair::new();
        for _ in 0..1_000 {
            pair.send(len);
            while !pair.under_way.is_empty() {
                pair.take();
            }
            pair.producer.acknowledge(pair.consumer.seen()).unwrap();
        }
        assert!(pair.reach.0 <= slots && pair.reach.1 <= data, "{len}: {:?}", pair.reach);
        assert_eq!(pair.replied > 990, len == 2, "{len}: {} replies", pair.replied);
    }
}

#[test]
fn a_stream_goes_round_the_whole_ring() {
    let mut pair = Pair::new();
    for _ in 0..1_000 {
        pair.send(CHUNK / 2);
    }
    assert_eq!(pair.reach, (SLOTS, DATA));
}

#[test]
fn a_message_of_many_rings_passes() {
    let mut pair = Pair::new();
    pair.send(5 * DATA + 77);
    assert_eq!(pair.reach.1, DATA);
}

#[test]
fn the_producer_stops_at_a_full_lane_and_goes_on_when_told() {
    let mut pair = Pair::new();
    for _ in 0..SLOTS {
        pair.send(1);
    }
    assert_eq!(pair.producer.reserve(&pair.lane, 1), Ok(None));
    for taken in 1..=UNTOLD {
        pair.take();
        assert_eq!(pair.producer.news(&pair.lane), taken == UNTOLD, "told once for {UNTOLD} small messages");
    }
    assert_eq!(pair.producer.reserve(&pair.lane, 1), Ok(Some(Piece::Slot(1))));
}

#[test]
fn an_index_from_beyond_is_refused() {
    for claimed in [u64::from(SLOTS) + 1, u64::MAX, 1 << 63] {
        let mut pair = Pair::new();
        for _ in 0..SLOTS {
            pair.send(1);
        }
        let bad = Err(BadIndex { claimed, sent: SLOTS.into() });
        pair.lane.freed.0.store(claimed, Ordering::Relaxed);
        assert_eq!(pair.producer.reserve(&pair.lane, 1), bad.map(|()| None));
    }
    let mut pair = Pair::new();
    for _ in 0..SLOTS {
        pair.send(1);
    }
    for claimed in [SLOTS + 1, 1 << 31, u32::MAX] {
        let bad = Err(BadIndex { claimed: claimed.into(), sent: SLOTS.into() });
        assert_eq!(pair.producer.acknowledge(claimed), bad);
    }
    assert_eq!(pair.producer.acknowledge(SLOTS), Ok(()));
}

#[test]
fn answers_are_told_apart_until_they_can_not_be() {
    let mut producer = Producer::new();
    (producer.next, producer.acknowledged) = (u64::from(u32::MAX) + 10, 20);
    producer.acknowledge(5).unwrap();
    assert_eq!(producer.acknowledged, (1 << 32) + 5);
    producer.next = producer.acknowledged + (1 << 32);
    producer.acknowledge(5).unwrap();
    assert!(!producer.answered(), "2^32 messages under way look like none");
}

#[test]
fn an_answer_to_all_is_ignored_too_where_it_can_not_be_told_from_none() {
    let (mut producer, consumer) = (Producer::new(), Consumer::new());
    producer.next = u64::from(u32::MAX);
    assert!(Turn::default().expect(&consumer, &producer, 1), "so many under way can be told");
    producer.next += 1;
    assert!(!Turn::default().expect(&consumer, &producer, 1), "2^32 messages under way look like none");
}

/// A sender that has no room waits for what the message before gave back; its receiver may do other things for long.
#[test]
fn an_answer_that_skips_slots_gives_them_back_before_it_is_settled() {
    let mut pair = Pair::new();
    for round in 0..WARM_SLOTS {
        pair.send(2);
        let skips = round + 1 == WARM_SLOTS;
        let turn = &mut pair.turns[1];
        assert!(turn.expect(&pair.consumer, &pair.back_producer, 2));
        assert_eq!(turn.take(&pair.lane, &mut [0; 2]), Some(skips), "{round}");
        assert_eq!(pair.producer.news(&pair.lane), skips, "{round}");
        turn.settle(&mut pair.consumer, &mut pair.back_producer);
        assert_eq!(pair.replied as u32, round + 1);
        pair.under_way.clear();
    }
    assert_eq!(pair.producer.reserve(&pair.lane, 1), Ok(Some(Piece::Slot(1))));
}

/// A side of a conversation.
struct Talker {
    tx: Producer,
    rx: Consumer,
    turn: Turn,
}

/// Two sides that have sent `sent` messages each, all taken, and their lanes.
fn talkers(sent: u64) -> ([Talker; 2], [Box<Lane>; 2]) {
    let side = || Talker {
        tx: Producer { next: sent, acknowledged: sent, freed: sent, ..Producer::new() },
        rx: Consumer { next: sent, told: sent, ..Consumer::new() },
        turn: Turn::default(),
    };
    ([side(), side()], [lane(), lane()])
}

#[test]
fn the_short_way_writes_down_what_the_general_one_does() {
    // The number that answers is one of 32 bits.
    for sent in [0, u64::from(u32::MAX) - 5] {
        let (mut general, lanes) = talkers(sent);
        let (mut short, short_lanes) = talkers(sent);
        let mut replies = 0;
        for step in 0..40 {
            let (me, peer) = (step % 2, 1 - step % 2);
            let bytes = &[step as u8; INLINE][..step % (INLINE + 1)];
            let mut got = vec![0; bytes.len()];
            let send = |side: &mut Talker, lane: &Lane| {
                let piece = side.tx.reserve(lane, bytes.len()).unwrap().expect("nothing is under way");
                side.tx.publish(lane, bytes.len(), piece, bytes, side.rx.seen());
            };
            send(&mut general[me], &lanes[me]);
            let side = &mut short[me];
            if side.turn.taken() {
                side.turn.reply(&short_lanes[me], bytes);
                side.turn.settle(&mut side.rx, &mut side.tx);
                replies += 1;
            } else {
                send(side, &short_lanes[me]);
            }
            let Talker { tx, rx, .. } = &mut general[peer];
            let said = rx.look(&lanes[me]).expect("a message is there");
            let piece = rx.piece(said, bytes.len());
            rx.release(&lanes[me], piece, said);
            tx.acknowledge(said.seen).unwrap();
            let Talker { tx, rx, turn } = &mut short[peer];
            assert!(turn.expect(rx, tx, bytes.len()));
            assert!(turn.take(&short_lanes[me], &mut got).is_some(), "{sent}, {step}");
            assert_eq!(got, bytes);
            // Who sent has settled; who took has not, and does so by its reply.
            let told = |side: &Talker| format!("{:?} {:?}", side.tx, side.rx);
            assert_eq!(told(&general[me]), told(&short[me]), "{sent}, {step}");
        }
        assert_eq!(replies, 39);
    }
}

#[test]
fn slots_that_a_message_skipped_come_back_without_an_answer() {
    let mut pair = Pair::new();
    for _ in 1..WARM_SLOTS {
        pair.send(1);
        pair.take();
        pair.producer.acknowledge(pair.consumer.seen()).unwrap();
    }
    // This one goes back to the start; the peer takes it and what follows, and says nothing more.
    for _ in 0..WARM_SLOTS {
        pair.send(1);
    }
    assert_eq!(pair.producer.reserve(&pair.lane, 1), Ok(None));
    while !pair.under_way.is_empty() {
        pair.take();
    }
    assert_eq!(pair.producer.reserve(&pair.lane, 1), Ok(Some(Piece::Slot(1))));
}

/// The peer writes what it likes into the lane between any two steps: numbers, headers with any `seen`, payload, `freed`. This
/// side's own book-keeping stays within the ring, and what can't be is an error.
#[test]
fn a_lane_that_changes_at_random_leads_to_no_place_outside_the_ring() {
    let (out, back) = (lane(), lane());
    let mut state = 5;
    let (mut steps, mut refused, mut took, mut short, mut replied, mut data) = (0, 0, 0, 0, 0, 0);
    while steps < 100_000 {
        let (mut tx, mut rx, mut turn) = (Producer::new(), Consumer::new(), Turn::default());
        // A link ends at its first error; the next one begins on memory as hostile as this was left.
        loop {
            steps += 1;
            scribble(&mut state, &out, &back, &tx, &rx);
            let len = random(&mut state) % (INLINE + 1);
            let step = random(&mut state) % 4;
            if step > 0 {
                turn.settle(&mut rx, &mut tx);
            }
            let done = match step {
                0 => turn.taken().then(|| (turn.reply(&out, &vec![7; len]), replied += 1)).map(drop).ok_or(None),
                1 => sends(&mut tx, &out, random(&mut state) % (2 * CHUNK), rx.seen()),
                2 => {
                    let begun = turn.expect(&rx, &tx, len);
                    let (slot, number) = turn.awaits(&back);
                    let taken = (begun && slot.there(number)).then(|| turn.take(&back, &mut vec![0; len])).flatten();
                    taken.map(|_| short += 1).ok_or(None)
                }
                _ => rx.look(&back).ok_or(None).and_then(|said| {
                    tx.acknowledge(said.seen).map_err(Some)?;
                    let piece = rx.piece(said, random(&mut state) % (2 * CHUNK));
                    match piece {
                        Piece::Slot(len) => rx.read(&back, &mut vec![0; len]),
                        Piece::Data { at, len } => {
                            assert!(len > 0 && at < DATA && len <= DATA - at, "{at} {len}");
                            data += 1;
                        }
                    }
                    rx.release(&back, piece, said);
                    took += 1;
                    Ok(())
                }),
            };
            assert!(tx.acknowledged <= tx.next && tx.freed <= tx.next, "{tx:?}");
            // As much as all may be free; a place is that of a slot and a byte that are there.
            assert!(tx.slots <= SLOTS && tx.room <= DATA, "{tx:?}");
            assert!(tx.place.slot < SLOTS && tx.place.data < DATA, "{tx:?}");
            assert!(rx.told <= rx.next && rx.place.slot < SLOTS && rx.place.data < DATA, "{rx:?}");
            if let Err(Some(bad)) = done {
                assert!(bad.claimed > bad.sent);
                refused += 1;
                break;
            }
            if steps >= 100_000 {
                break;
            }
        }
    }
    assert!(refused > 100 && took > 1000 && short > 100, "{refused} refused, {took} taken, {short} the short way");
    assert!(data > 100 && replied > 30, "{data} in the data ring, {replied} replies");
}

/// Sends a message of so many bytes as far as there is room.
fn sends(tx: &mut Producer, out: &Lane, mut left: usize, seen: u32) -> Result<(), Option<BadIndex>> {
    loop {
        let piece = tx.reserve(out, left).map_err(Some)?.ok_or(None)?;
        match piece {
            Piece::Slot(len) => assert!(len <= INLINE),
            Piece::Data { at, len } => assert!(len > 0 && at < DATA && len <= DATA - at, "{at} {len}"),
        }
        tx.publish(out, left, piece, &[7; INLINE][..left.min(INLINE)], seen);
        left -= piece.len();
        if left == 0 {
            return Ok(());
        }
    }
}

/// Changes a part of the lanes: half of the time to what the other side could have written, else to anything.
fn scribble(state: &mut u64, out: &Lane, back: &Lane, tx: &Producer, rx: &Consumer) {
    let mut next = || random(state);
    let outlier = (next() as u64) << (next() % 34);
    match next() % 8 {
        0 => out.freed.0.store(
            if next() % 64 == 0 { outlier } else { tx.next - tx.next.min(next() as u64 % 3) },
            Ordering::Relaxed,
        ),
        1 => back.freed.0.store(outlier, Ordering::Relaxed),
        2 => out.slot(Place { slot: next() as u32, data: 0 }).say(outlier, hostile(outlier, next())),
        _ => {
            let slot = back.slot(rx.place);
            slot.write(&outlier.to_le_bytes());
            let fair = Said {
                left: (next() % (INLINE + 1)) as u32,
                slots_back: rx.place.slot + 1 >= WARM_SLOTS,
                data_back: true,
                seen: tx.next as u32,
            };
            let said = if next() % 50 == 0 { hostile(outlier, next()) } else { fair };
            slot.say(if next() % 8 == 0 { outlier } else { rx.next }, said);
        }
    }
}

fn hostile(outlier: u64, other: usize) -> Said {
    let seen = (outlier ^ other as u64) as u32;
    Said { left: other as u32 & ((1 << 30) - 1), slots_back: other & 1 == 0, data_back: other & 2 == 0, seen }
}
