//! Strangers, other keys, and what was said before.

use bytes::Bytes;

use crate::layers::pair::{Pair, member};
use crate::{Addr, Input, Time};

const CRYPT: &str = "MBRSHIP:FRAG:NAK:CRYPT:COM:sim";
const SIGN: &str = "MBRSHIP:FRAG:NAK:SIGN:COM:sim";

#[test]
fn who_has_the_key_comes_in_and_who_has_not_stays_out() {
    for stack in [CRYPT, SIGN] {
        let mut group = Pair::new(vec![member(stack, 1, 11, 7), member(stack, 2, 12, 7), member(stack, 3, 13, 8)]);
        group.join();
        assert_eq!((group.size(0), group.size(1), group.size(2)), (2, 2, 1), "{stack}");
        group.members[1].handle(Time(group.now), Input::Cast(Bytes::from_static(b"hidden words")));
        group.run(50);
        assert_eq!(group.delivered, [1, 1, 0]);
        let readable = |b: &Bytes| b.windows(12).any(|w| w == b"hidden words");
        assert_eq!(group.said.iter().any(|(_, _, b)| readable(b)), stack == SIGN, "CRYPT hides, SIGN does not");
    }
}

#[test]
fn a_changed_bit_or_another_sender_is_refused() {
    for stack in [CRYPT, SIGN] {
        let mut group = Pair::new(vec![member(stack, 1, 11, 7), member(stack, 2, 12, 7)]);
        group.join();
        let before = group.said.len();
        group.members[1].handle(Time(group.now), Input::Cast(Bytes::from_static(b"x")));
        let mut under_way = Vec::new();
        group.take(1, &mut under_way);
        let (to, from, bytes) = under_way.pop().unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            group.members[0].handle(Time(group.now), Input::Datagram(from, changed.into()));
        }
        let elsewhere = Addr::from(([10, 0, 0, 1], 99));
        group.members[0].handle(Time(group.now), Input::Datagram(elsewhere, bytes.clone()));
        group.take(0, &mut Vec::new());
        assert_eq!(group.delivered[0], 0, "{stack}");
        group.members[0].handle(Time(group.now), Input::Datagram(from, bytes));
        group.take(0, &mut Vec::new());
        assert_eq!(group.delivered[0], 1, "the right one is taken: {stack}, {to}, after {before}");
    }
}

#[test]
fn what_dead_members_said_moves_nobody() {
    let mut group = Pair::new(vec![member(CRYPT, 1, 11, 7), member(CRYPT, 2, 12, 7)]);
    group.join();
    assert_eq!(group.size(0), 2);
    let said = std::mem::take(&mut group.said);
    // The first comes back as another life; the second is gone. A stranger says all again that either of them said.
    let mut fresh = Pair::new(vec![member(CRYPT, 1, 21, 7)]);
    fresh.run(10);
    for (_, from, bytes) in &said {
        fresh.members[0].handle(Time(fresh.now), Input::Datagram(*from, bytes.clone()));
        fresh.run(1);
    }
    fresh.run(500);
    assert_eq!(fresh.size(0), 1);
    assert_eq!(fresh.members[0].view().unwrap().id.number, 1, "not even an attempt at a view was made");
    // Without CRYPT the same replay makes it try: the test can tell.
    let stack = "MBRSHIP:FRAG:NAK:SIGN:COM:sim";
    let mut group = Pair::new(vec![member(stack, 1, 11, 7), member(stack, 2, 12, 7)]);
    group.join();
    let mut fresh = Pair::new(vec![member(stack, 1, 21, 7)]);
    for (_, from, bytes) in &group.said {
        fresh.members[0].handle(Time(fresh.now), Input::Datagram(*from, bytes.clone()));
        fresh.run(1);
    }
    fresh.run(2000);
    assert!(fresh.members[0].view().unwrap().id.number > 1, "SIGN lets replays disturb, as its doc says");
}
