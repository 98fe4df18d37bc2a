//! Damaged datagrams of every layer, in every state: no member falls over them, and none keeps what grows.

use crate::layers::pair::{Pair, member};
use crate::{Addr, Input, Output, Rng, Time};

/// Stacks without a checksum, so that damage reaches each layer.
const STACKS: [&str; 4] = [
    "FC:MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim",
    "MERGE:SEQ:MBRSHIP:FRAG:NAK:COM:sim",
    "MERGE:CAUSAL:MBRSHIP:FRAG*2:NAK:COM:sim",
    "MERGE:MBRSHIP:FRAG:NAK:CRYPT:COM:sim",
];
/// COM's header stays as it is: damage there is dropped at once.
const COM: usize = 15;

fn damaged(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.between(1, 4) {
        let body = bytes.len().saturating_sub(COM) as u64;
        if body == 0 {
            break;
        }
        let at = COM + rng.below(body) as usize;
        match rng.below(4) {
            0 => bytes.truncate(at),
            1 => bytes[at] = 0xff,
            2 => bytes.insert(at, rng.draw() as u8),
            _ => bytes[at] ^= 1 << rng.below(8),
        }
    }
    bytes
}

#[test]
fn no_damaged_datagram_fells_a_member() {
    let mut rng = Rng::new(11);
    for stack in STACKS {
        for round in 0..40 {
            let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n) + 10, 7)).collect());
            group.join();
            for n in 0..30u8 {
                let now = Time(group.now);
                group.members[usize::from(n) % 3].handle(now, Input::Cast(vec![n; 40 << (n % 8)].into()));
            }
            group.run(20);
            if round % 2 == 1 {
                let (now, whom) = (Time(group.now), group.members[2].me());
                group.members[0].handle(now, Input::Suspect(whom));
            }
            let said = group.said.clone();
            for _ in 0..300 {
                let (_, from, bytes) = &said[rng.below(said.len() as u64) as usize];
                let bytes = damaged(bytes, &mut rng);
                for member in &mut group.members {
                    let from: Addr = *from;
                    member.handle(Time(group.now), Input::Datagram(from, bytes.clone().into()));
                    member.handle(Time(group.now), Input::Idle);
                    let sent = std::iter::from_fn(|| member.next()).filter(|o| matches!(o, Output::Transmit(..)));
                    assert!(sent.count() < 2000, "one datagram made a member send without end");
                }
                group.run(rng.below(3));
            }
            group.run(3000);
            assert!(group.members.iter().all(|m| m.held() < 20_000), "{stack}: what is held grows");
        }
    }
}
