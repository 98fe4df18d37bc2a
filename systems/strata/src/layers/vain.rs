//! What waits in vain because a datagram was altered or forged: it is told of, and the group goes on. Where datagrams are only lost, nobody takes anything for lost.

use bytes::Bytes;

use crate::layers::pair::{Pair, member};
use crate::stalls::IN_VAIN;
use crate::{Config, Endpoint, Input, Member, Rng, Time};

/// Stacks without a checksum.
const STACKS: [&str; 7] = [
    "MERGE:MBRSHIP:FRAG:NAK:COM:sim",
    "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim",
    "MERGE:SEQ:MBRSHIP:FRAG:NAK:COM:sim",
    "MERGE:CAUSAL:MBRSHIP:FRAG:NAK:COM:sim",
    "MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim",
    "FC:FAST:TOTAL:MBRSHIP:FRAG:NAK:COM:sim",
    "MBRSHIP:FRAG:NAK:COM:sim",
];
/// COM's header: damage there is dropped at once.
const COM: usize = 15;

fn group(stack: &str) -> Pair {
    let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n) + 10, 7)).collect());
    group.join();
    assert_eq!(group.size(0), 3);
    group
}

fn cast(group: &mut Pair, at: usize, body: Vec<u8>) {
    let now = Time(group.now);
    let _ = group.members[at].try_cast(now, body.into());
}

/// Whether each member was given the last of all in its view.
fn flows(group: &Pair, last: &[u8]) -> bool {
    let given = |at: usize| {
        let view = group.members[at].view().unwrap();
        view.members.iter().all(|m| group.last[at].get(m).is_some_and(|body| body[..] == *last))
    };
    (0..group.members.len()).all(given)
}

/// How many seconds pass until what all cast arrives at all in their views.
fn until_all_flows(group: &mut Pair, what: &str) -> u32 {
    for second in 0..60u32 {
        let last = second.to_le_bytes();
        (0..3).for_each(|at| cast(group, at, last.to_vec()));
        group.run(1000);
        if flows(group, &last) {
            return second;
        }
    }
    let views: Vec<_> = group.members.iter().map(|m| m.view().unwrap().id.to_string()).collect();
    panic!("{what}: deliveries stopped for good; views {views:?}, notices {:?}", group.notices);
}

#[test]
fn datagrams_sent_again_with_a_byte_changed_stop_no_stream_for_good() {
    for (seed, stack) in (0..3).flat_map(|seed| STACKS.map(|stack| (seed, stack))) {
        let mut rng = Rng::new(seed);
        let mut group = group(stack);
        group.loss = 0.02;
        let mut told = 0;
        for n in 0..100u8 {
            (0..3).for_each(|at| cast(&mut group, at, vec![n; 20 << (n % 8)]));
            group.run(20);
            let said: Vec<_> = group.said[group.said.len().saturating_sub(300)..].to_vec();
            for (_, from, bytes) in said {
                let mut bytes = bytes.to_vec();
                if bytes.len() <= COM {
                    continue;
                }
                let at = COM + rng.below((bytes.len() - COM) as u64) as usize;
                bytes[at] = rng.draw() as u8;
                let bytes = Bytes::from(bytes);
                for to in 0..3 {
                    group.members[to].handle(Time(group.now), Input::Datagram(from, bytes.clone()));
                    let mut out = Vec::new();
                    group.take(to, &mut out);
                    told += 1;
                }
            }
        }
        assert!(told > 30_000, "{told} datagrams");
        let seconds = until_all_flows(&mut group, &format!("{stack}, seed {seed}"));
        println!("{stack}, seed {seed}: all flows after {seconds} s");
    }
}

/// NAK's header of a cast or status by a member of a view, behind COM's.
fn nak(group: &Pair, by: Endpoint, kind: u8, rest: &[u8]) -> Bytes {
    let tag = group.members[0].view().unwrap().id.tag();
    [&group.said[0].2[..7], &by.born.to_le_bytes(), &[kind], &tag.to_le_bytes(), rest].concat().into()
}

fn forge(group: &mut Pair, to: usize, by: Endpoint, datagram: Bytes) {
    group.members[to].handle(Time(group.now), Input::Datagram(by.addr, datagram));
    let mut out = Vec::new();
    group.take(to, &mut out);
}

/// A cast far ahead that its origin never made: by its number there are others before it.
fn ahead(group: &Pair, by: usize) -> Bytes {
    let view = group.members[0].view().unwrap();
    let origin = group.members[by].me();
    let rank = view.rank(&origin).unwrap();
    nak(group, origin, 1, &[&rank.to_le_bytes()[..], &500u64.to_le_bytes(), b"\x01never"].concat())
}

#[test]
fn a_gap_that_nobody_fills_is_told_of_and_a_new_view_of_the_same_members_begins() {
    // No MERGE: nobody is parted, who would not come back.
    let stack = "MBRSHIP:FRAG:NAK:COM:sim";
    for (by, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let mut group = group(stack);
        let view = group.members[0].view().unwrap().id;
        let (origin, datagram) = (group.members[by].me(), ahead(&group, by));
        forge(&mut group, to, origin, datagram);
        group.run(3500);
        assert_eq!(group.members[0].view().unwrap().id, view, "not before its time");
        group.run(2000);
        assert_eq!([0, 1, 2].map(|at| group.size(at)), [3; 3]);
        assert_ne!(group.members[0].view().unwrap().id, view);
        let told = |n: &String| n.starts_with(IN_VAIN) && n.contains(&origin.addr.to_string());
        assert!(group.notices[to].len() == 1 && told(&group.notices[to][0]), "{:?}", group.notices);
        assert!(until_all_flows(&mut group, stack) < 2);
    }
}

#[test]
fn in_a_fixed_view_a_gap_that_nobody_fills_is_told_of() {
    let fixed: Vec<_> = (1..4).map(|n| ([10, 0, 0, 1], n).into()).collect();
    let one = |n: u16| {
        let config = Config { fixed: fixed.clone(), ..Config::default() };
        let me = Endpoint { addr: ([10, 0, 0, 1], n).into(), born: 0 };
        let mut member = Member::new(&"FRAG:NAK:COM:sim".parse().unwrap(), config, me, n.into()).unwrap();
        member.start(Time(0));
        member
    };
    let mut group = Pair::new((1..4).map(one).collect());
    group.run(300);
    let (origin, datagram) = (group.members[0].me(), ahead(&group, 0));
    forge(&mut group, 1, origin, datagram);
    group.run(6000);
    assert!(group.notices[1].iter().any(|n| n.starts_with(IN_VAIN) && n.contains("no MBRSHIP")), "{:?}", group.notices);
    assert!(group.notices[0].is_empty() && group.notices[2].is_empty());
}

/// Two members are said to have whatever the third casts, before it has cast it. Believed, it would forget what the others lack.
#[test]
fn who_says_to_have_more_than_there_is_frees_nothing() {
    let mut group = group("MBRSHIP:FRAG:NAK:COM:sim");
    let (origin, view) = (group.members[0].me(), group.members[0].view().unwrap().clone());
    let mut counts = vec![0u64; 3];
    counts[usize::from(view.rank(&origin).unwrap())] = 1000;
    let mut list = crate::wire::Writer::default();
    list.counts(&counts);
    list.counts(&[]);
    list.counts(&[]);
    for by in [1, 2].map(|at| group.members[at].me()) {
        let status = nak(&group, by, 3, &list.0);
        forge(&mut group, 0, by, status);
    }
    group.loss = 0.1;
    for n in 0..200u8 {
        cast(&mut group, 0, vec![n]);
        group.run(1);
    }
    group.run(1000);
    assert_eq!(group.delivered, [200; 3]);
    assert_eq!(group.members[0].view().unwrap().id, view.id);
}

#[test]
fn where_datagrams_are_only_lost_nobody_waits_in_vain() {
    for stack in STACKS {
        let mut group = group(stack);
        let view = group.members[0].view().unwrap().id;
        group.loss = 0.1;
        for n in 0..3000u32 {
            if n % 3 == 0 {
                (0..3).for_each(|at| cast(&mut group, at, vec![n as u8; 20 << (n % 9)]));
            }
            group.run(10);
        }
        group.loss = 0.0;
        assert_eq!(until_all_flows(&mut group, stack), 0, "{stack}");
        assert_eq!(group.members[0].view().unwrap().id, view, "{stack}");
        assert!(group.notices.iter().all(Vec::is_empty), "{stack}: {:?}", group.notices);
        assert_eq!(group.delivered, [group.delivered[0]; 3], "{stack}");
    }
}

/// A leader that lacks what the others have and nobody can send any more lets them go on, and says so.
#[test]
fn a_leader_that_alone_can_not_reach_the_cut_lets_the_others_go() {
    let stack = "MERGE:MBRSHIP:FRAG:NAK:COM:sim";
    let mut group = group(stack);
    let members = group.members[0].view().unwrap().members.clone();
    let place = |who: &Endpoint| group.members.iter().position(|m| m.me() == *who).unwrap();
    let (leader, other) = (place(&members[0]), place(&members[1]));
    // The leader has the place of the other's first cast taken by nothing: what it says to have is what the others then forget.
    let mut counts = vec![0u64; 3];
    counts[1] = 1;
    let mut list = crate::wire::Writer::default();
    list.counts(&counts);
    list.counts(&[]);
    list.counts(&[]);
    let lie = nak(&group, members[0], 3, &list.0);
    cast(&mut group, other, vec![1]);
    let mut out = Vec::new();
    group.take(other, &mut out);
    for (to, from, bytes) in out {
        // The leader's copy is lost.
        if to != members[0].addr {
            let at = group.members.iter().position(|m| m.me().addr == to).unwrap();
            group.members[at].handle(Time(group.now), Input::Datagram(from, bytes));
        }
    }
    for at in (0..3).filter(|at| *at != leader) {
        forge(&mut group, at, members[0], lie.clone());
    }
    group.run(30_000);
    let said: Vec<_> = group.notices[leader].clone();
    assert!(said.iter().any(|n| n.starts_with(IN_VAIN)), "{said:?}");
    assert!(said.iter().any(|n| n.contains("lacks casts")), "{said:?}");
    assert_eq!([0, 1, 2].map(|at| group.size(at)), [3; 3], "MERGE makes one view of them");
    assert!(until_all_flows(&mut group, stack) < 3);
}
