//! Control messages that no member of the group has sent, or that come far too late: no member falls over them, and none is cut off by one.

use bytes::Bytes;

use super::wire::Control;
use crate::layers::nak::RAW;
use crate::layers::pair::{Pair, member};
use crate::stack::Kind;
use crate::view::{View, ViewId};
use crate::{Endpoint, Input, Time};

const STACK: &str = "MBRSHIP:FRAG:NAK:COM:sim";

/// So many members, of which the first ones are in one view.
fn group(members: u16, joined: usize) -> Pair {
    let mut group = Pair::new((1..=members).map(|n| member(STACK, n, u64::from(n), 1)).collect());
    for at in 1..joined {
        ask(&mut group, at);
    }
    group.run(300);
    assert_eq!(group.size(0), joined);
    group
}

/// The member at this place asks the first to let it in.
fn ask(group: &mut Pair, at: usize) {
    let (now, to) = (Time(group.now), group.members[0].me().addr);
    group.members[at].handle(now, Input::Merge(to));
}

fn forge(group: &mut Pair, at: usize, from: Endpoint, control: &Control) {
    let text = [&[0; 8][..], &control.message().joined()].concat();
    let bytes = group.raw(from, Kind::Mbrship, &text);
    group.members[at].handle(Time(group.now), Input::Datagram(from.addr, bytes));
}

/// A REPORT by a rank that is none, which has more than all others: each would have to be asked for.
#[test]
fn who_has_no_rank_in_the_view_is_no_holder() {
    let mut group = group(3, 3);
    let [a, b, c] = [0, 1, 2].map(|at| group.members[at].me());
    let view = group.members[0].view().unwrap().id;
    let attempt = ViewId { number: view.number + 1, leader: a };
    group.members[0].handle(Time(group.now), Input::Suspect(c));
    forge(&mut group, 0, b, &Control::Report(attempt, view, 60_000, vec![5; 3]));
    group.run(100);
    assert_eq!((group.size(0), group.size(1)), (2, 2));
    assert_eq!(group.members[0].view().unwrap().id, attempt, "the attempt that was meant");
}

/// Whoever takes the highest number for seen could make no view after it.
#[test]
fn a_number_that_no_group_comes_to_keeps_nobody_out() {
    let stranger = Endpoint { addr: ([10, 0, 0, 1], 99).into(), born: 5 };
    let last = ViewId { number: (1 << 62) - 1, leader: stranger };
    for kind in 0..3 {
        for at in 0..2 {
            let mut group = group(3, 2);
            let me = group.members[at].me();
            let control = match kind {
                0 => Control::MergeAsk(View { id: last, members: vec![stranger] }),
                1 => Control::Refuse(last, last),
                _ => Control::Flush(last, vec![stranger, me]),
            };
            forge(&mut group, at, stranger, &control);
            group.run(10);
            ask(&mut group, 2);
            group.run(3000);
            assert_eq!([0, 1, 2].map(|at| group.size(at)), [3; 3], "after {control:?} to {at}");
        }
    }
}

/// Numbers that groups may come to, each as far beyond the last as is believed: one member alone would go by them.
#[test]
fn steps_of_numbers_cut_no_member_off() {
    let mut group = group(3, 2);
    let number = group.members[0].view().unwrap().id.number;
    for step in 1..=4u16 {
        let stranger = Endpoint { addr: ([10, 0, 0, 1], 90 + step).into(), born: 5 };
        let far = ViewId { number: number + u64::from(step) * (super::AHEAD / 4), leader: stranger };
        forge(&mut group, 0, stranger, &Control::MergeAsk(View { id: far, members: vec![stranger] }));
        forge(&mut group, 0, stranger, &Control::Refuse(far, far));
    }
    group.run(3000);
    assert_eq!([0, 1].map(|at| group.size(at)), [2; 2], "the strangers are silent");
    ask(&mut group, 2);
    group.run(3000);
    assert_eq!([0, 1, 2].map(|at| group.size(at)), [3; 3]);
}

/// A member asks, comes in and crashes, and another life comes in at its address. What the first had asked comes a second time, late.
#[test]
fn what_a_life_asked_that_another_has_replaced_moves_nobody() {
    for noticed in [false, true] {
        let mut group = group(2, 2);
        let (to, old) = (group.members[0].me().addr, group.members[1].me());
        let asks = |(t, f, bytes): &&(_, _, Bytes)| (*t, *f) == (to, old.addr) && asks(bytes);
        let late = group.said.iter().find(asks).unwrap().2.clone();
        group.members[1] = member(STACK, old.addr.port(), 77, 1);
        if noticed {
            group.run(3000);
            assert_eq!(group.size(0), 1, "its silence");
        }
        ask(&mut group, 1);
        group.run(1000);
        assert_eq!((group.size(0), group.size(1)), (2, 2));
        let view = group.members[0].view().unwrap().id;
        group.members[0].handle(Time(group.now), Input::Datagram(old.addr, late));
        group.run(3000);
        assert_eq!([0, 1].map(|at| group.members[at].view().unwrap().id), [view; 2], "noticed: {noticed}");
    }
}

/// Whether a datagram of a stack like this asks to merge.
fn asks(bytes: &Bytes) -> bool {
    let text = bytes.get(15..).and_then(|rest| rest.strip_prefix(&[RAW, Kind::Mbrship as u8]));
    text.and_then(|text| Control::read(text.get(8..)?).ok()).is_some_and(|c| matches!(c, Control::MergeAsk(_)))
}
