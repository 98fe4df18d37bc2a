//! For tests: a few members over a network whose datagrams the test sees, and which is perfect unless the test says otherwise.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::nak::RAW;
use crate::addr::Addr;
use crate::stack::Kind;
use crate::{Config, Endpoint, Input, Key, Member, Output, Rng, Time, To};

pub(crate) struct Pair {
    pub members: Vec<Member>,
    /// All that was said: to whom, from whom.
    pub said: Vec<(Addr, Addr, Bytes)>,
    pub delivered: Vec<usize>,
    pub notices: Vec<Vec<String>>,
    /// At each member, the last message of each.
    pub last: Vec<BTreeMap<Endpoint, Bytes>>,
    /// This share of datagrams is lost.
    pub loss: f64,
    /// What a datagram is when it arrives.
    pub altered: fn(Bytes) -> Bytes,
    rng: Rng,
    pub now: u64,
}

pub(crate) fn member(stack: &str, port: u16, born: u64, key: u8) -> Member {
    let addr = Addr::from(([10, 0, 0, 1], port));
    let config = Config { key: Some(Key([key; 32])), ..Config::default() };
    let mut member = Member::new(&stack.parse().unwrap(), config, Endpoint { addr, born }, born).unwrap();
    member.start(Time(0));
    member
}

impl Pair {
    pub(crate) fn new(members: Vec<Member>) -> Self {
        let delivered = vec![0; members.len()];
        let notices = vec![Vec::new(); members.len()];
        let last = vec![BTreeMap::new(); members.len()];
        Self {
            members,
            said: Vec::new(),
            delivered,
            notices,
            last,
            loss: 0.0,
            altered: |bytes| bytes,
            rng: Rng::new(5),
            now: 0,
        }
    }

    /// A network that is perfect but for `loss`, for so many milliseconds.
    pub(crate) fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += 1_000_000;
            let mut under_way = Vec::new();
            for at in 0..self.members.len() {
                self.members[at].handle(Time(self.now), Input::Timer);
                self.take(at, &mut under_way);
            }
            while let Some((to, from, bytes)) = under_way.pop() {
                let bytes = (self.altered)(bytes);
                self.said.push((to, from, bytes.clone()));
                if self.rng.chance(self.loss) {
                    continue;
                }
                if let Some(at) = self.members.iter().position(|m| m.me().addr == to) {
                    self.members[at].handle(Time(self.now), Input::Datagram(from, bytes));
                    self.take(at, &mut under_way);
                }
            }
        }
    }

    pub(crate) fn take(&mut self, at: usize, under_way: &mut Vec<(Addr, Addr, Bytes)>) {
        self.members[at].handle(Time(self.now), Input::Idle);
        let me = self.members[at].me().addr;
        while let Some(output) = self.members[at].next() {
            match output {
                Output::Transmit(To::One(to), msg) => under_way.insert(0, (to, me, msg.joined())),
                Output::Deliver(d) => {
                    self.delivered[at] += 1;
                    self.last[at].insert(d.from, d.body);
                }
                Output::Notice(text) => self.notices[at].push(text),
                _ => {}
            }
        }
    }

    pub(crate) fn join(&mut self) {
        let to = self.members[0].me().addr;
        for at in 1..self.members.len() {
            self.members[at].handle(Time(self.now), Input::Merge(to));
        }
        self.run(300);
    }

    /// A datagram as that endpoint would send it to the layer of this kind, in stacks with nothing between NAK and COM. The group must have said something, of which it takes COM's header.
    pub(crate) fn raw(&self, from: Endpoint, kind: Kind, text: &[u8]) -> Bytes {
        [&self.said[0].2[..7], &from.born.to_le_bytes(), &[RAW, kind as u8], text].concat().into()
    }

    pub(crate) fn size(&self, at: usize) -> usize {
        self.members[at].view().unwrap().members.len()
    }
}
