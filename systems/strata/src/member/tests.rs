//! How a member leaves: not before all have what it cast, and with a notice of how much they may lack.

use std::time::Duration;

use super::*;
use crate::Addr;
use crate::layers::pair::Pair;

fn addr(port: u16) -> Addr {
    ([10, 0, 0, 1], port).into()
}

fn member(stack: &str, port: u16, config: Config) -> Member {
    let born = if config.fixed.is_empty() { u64::from(port) } else { 0 };
    let me = Endpoint { addr: addr(port), born };
    let mut member = Member::new(&stack.parse().unwrap(), config, me, u64::from(port)).unwrap();
    member.start(Time(0));
    member
}

/// Until the first has left.
fn run(group: &mut Pair, most: Duration) {
    let until = Time(group.now) + most;
    while !group.members[0].is_gone() {
        assert!(Time(group.now) < until, "it has not left");
        group.run(1);
    }
}

/// The only datagram of a cast is lost. Who casts and leaves stays until the other has it all the same.
#[test]
fn a_member_of_a_fixed_view_leaves_once_all_have_what_it_cast() {
    let config = Config { fixed: vec![addr(1), addr(2)], ..Config::default() };
    let mut group = Pair::new([1, 2].map(|port| member("FRAG:NAK:COM:sim", port, config.clone())).into());
    group.run(10);
    let now = Time(group.now);
    group.members[0].try_cast(now, Bytes::from_static(b"last")).unwrap();
    group.members[0].handle(now, Input::Leave);
    let mut lost = Vec::new();
    group.take(0, &mut lost);
    assert_eq!(lost.len(), 1);
    run(&mut group, config.drain / 2);
    assert_eq!(group.delivered, [1, 1]);
    assert_eq!(group.notices[0], [""; 0], "nothing may be lost");
}

/// What a member says that casts ten messages, some of which nobody hears, and leaves.
fn said(suspect: u64, heard: usize, hears: bool) -> Vec<String> {
    let config = Config { suspect: Duration::from_secs(suspect), ..Config::default() };
    let mut group = Pair::new([1, 2].map(|port| member("MBRSHIP:FRAG:NAK:COM:sim", port, config.clone())).into());
    group.join();
    for n in 0..10 {
        if n == heard {
            group.run(500);
            if !hears {
                group.members.pop();
            }
        }
        group.members[0].try_cast(Time(group.now), Bytes::from_static(b"x")).unwrap();
    }
    group.members[0].handle(Time(group.now), Input::Leave);
    run(&mut group, config.drain * 2);
    group.notices[0].clone()
}

#[test]
fn who_leaves_says_how_much_the_others_may_lack() {
    for suspect in [60, 1] {
        // Dropped as this one goes, or before.
        for (heard, words) in [(0, "10 casts"), (7, "3 casts")] {
            let said = said(suspect, heard, false);
            assert!(said.len() == 1 && said[0].starts_with(words), "{suspect} s, {heard} were heard: {said:?}");
        }
        assert_eq!(said(suspect, 0, true), [""; 0], "who hears has all");
    }
}
