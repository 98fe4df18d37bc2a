//! Strangers, other keys, and what was said before, over SIGN and CRYPT.

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

/// The first sends to the second, and a stranger says the same to the third, with whom it would begin the first's stream.
#[test]
fn what_was_sent_to_one_is_taken_by_no_other() {
    // Without either it is taken for the third's: the test can tell.
    for (stack, taken) in [(CRYPT, 0), (SIGN, 0), ("MBRSHIP:FRAG:NAK:COM:sim", 1)] {
        let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n), 7)).collect());
        group.join();
        let [_, b, c] = [0, 1, 2].map(|at| group.members[at].me());
        let (now, mut under_way) = (Time(group.now), Vec::new());
        group.members[0].try_send(now, b, Bytes::from_static(b"to the second")).unwrap();
        group.take(0, &mut under_way);
        let (_, from, bytes) = under_way.pop().unwrap();
        group.members[2].handle(now, Input::Datagram(from, bytes));
        group.take(2, &mut Vec::new());
        assert_eq!(group.delivered[2], taken, "{stack}");
        group.members[0].try_send(now, c, Bytes::from_static(b"to the third")).unwrap();
        group.run(200);
        assert_eq!(group.delivered[1..], [1, 1], "{stack}");
    }
}

/// Over udp a cast's copies are the same: it does not matter whose copy comes.
#[test]
fn a_cast_is_taken_by_all_and_once() {
    for stack in [CRYPT, SIGN] {
        let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n), 7)).collect());
        group.join();
        group.members[0].handle(Time(group.now), Input::Cast(Bytes::from_static(b"x")));
        group.run(50);
        assert_eq!(group.delivered, [1; 3], "{stack}");
    }
}

#[test]
fn what_dead_members_said_moves_nobody() {
    // Without either the same replay makes it try: the test can tell.
    for (stack, moves) in [(CRYPT, false), (SIGN, false), ("MBRSHIP:FRAG:NAK:COM:sim", true)] {
        let mut group = Pair::new(vec![member(stack, 1, 11, 7), member(stack, 2, 12, 7)]);
        group.join();
        assert_eq!(group.size(0), 2);
        let said = std::mem::take(&mut group.said);
        // The first comes back as another life; the second is gone. A stranger says all again that either of them said.
        let mut fresh = Pair::new(vec![member(stack, 1, 21, 7)]);
        fresh.run(10);
        for (_, from, bytes) in &said {
            fresh.members[0].handle(Time(fresh.now), Input::Datagram(*from, bytes.clone()));
            fresh.run(1);
        }
        fresh.run(2000);
        assert_eq!(fresh.size(0), 1, "{stack}");
        assert_eq!(fresh.members[0].view().unwrap().id.number > 1, moves, "an attempt at a view, over {stack}");
    }
}

/// All that was said in a group's life, joins, views, suspicions and casts, is said again to its members: nothing moves.
#[test]
fn what_the_living_said_is_refused_when_it_is_said_again() {
    for (stack, moves) in [(CRYPT, false), (SIGN, false), ("MBRSHIP:FRAG:NAK:COM:sim", true)] {
        let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n), 7)).collect());
        group.join();
        group.members[1].handle(Time(group.now), Input::Cast(Bytes::from_static(b"x")));
        group.run(20);
        // One is slandered, left out, and merged again.
        let slandered = group.members[2].me();
        group.members[0].handle(Time(group.now), Input::Suspect(slandered));
        group.run(3000);
        assert_eq!((group.size(0), group.size(2)), (2, 1));
        let at = group.members[0].me().addr;
        group.members[2].handle(Time(group.now), Input::Merge(at));
        group.run(500);
        assert_eq!(group.size(0), 3, "{stack}");
        let (view, delivered) = (group.members[0].view().unwrap().id, group.delivered.clone());
        for (to, from, bytes) in std::mem::take(&mut group.said) {
            let at = group.members.iter().position(|m| m.me().addr == to).unwrap();
            group.members[at].handle(Time(group.now), Input::Datagram(from, bytes));
            group.take(at, &mut Vec::new());
        }
        group.run(5000);
        assert_eq!(group.delivered, delivered, "{stack}");
        assert_eq!(group.members[0].view().unwrap().id != view, moves, "a view changed, over {stack}");
    }
}
