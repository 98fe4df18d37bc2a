//! Asking others to merge, and being asked.

use super::wire::Control;
use super::{Mbrship, RETRY};
use crate::addr::{Addr, Endpoint};
use crate::layer::{Cx, Near};
use crate::view::View;

/// How often an address is asked before it is given up; MERGE, or whoever joins, may begin anew.
const TRIES: u32 = 25;
/// Addresses that are asked at once.
const MOST: usize = 64;
/// Views that wait for one attempt.
const JOINERS: usize = 256;
/// How often the time doubles for which who answered nothing is not heard, from `flush`.
const DOUBLINGS: u32 = 5;

impl Mbrship {
    pub(super) fn want_merge(&mut self, addr: Addr, cx: &mut Cx<impl Near>) {
        if addr == cx.me.addr || self.members().iter().any(|m| m.addr == addr && !self.suspects.contains(m)) {
            return;
        }
        if self.asks.len() < MOST {
            self.asks.insert(addr, TRIES);
        }
        if self.steady() {
            cx.wake(RETRY, cx.now);
        }
    }

    /// As leader of a steady view: asks each address once.
    pub(super) fn ask_to_merge(&mut self, cx: &mut Cx<impl Near>) {
        let Some(view) = self.view.clone() else { return };
        let control = Control::MergeAsk((*view).clone());
        self.asks.retain(|_, tries| {
            *tries -= 1;
            *tries > 0
        });
        for &addr in self.asks.keys() {
            Self::to_addr(addr, &control, cx);
        }
    }

    pub(super) fn got_merge_ask(&mut self, from: Endpoint, view: View, cx: &mut Cx<impl Near>) {
        let Some(own) = self.view.clone() else { return };
        if view.id == own.id || !view.members.contains(&from) {
            return;
        }
        if self.silent.get(&from).is_some_and(|s| cx.now < s.1) {
            return;
        }
        let other = |m: &&Endpoint| m.addr == from.addr && **m != from;
        if own.members.iter().any(|m| other(&m)) && self.former.contains(&from) {
            return;
        }
        // Who leads another view has left this one, or never was here.
        if own.members.contains(&from) && !view.members.contains(&cx.me) {
            self.suspects.insert(from);
        }
        // An address has one life at a time; that of this member it knows itself.
        let old = own.members.iter().find(|m| other(m) && **m != cx.me);
        self.suspects.extend(old);
        let acting = self.acting(cx.me);
        if acting != cx.me {
            self.to(from, &Control::Redirect(acting), cx);
            if old.is_some() {
                self.consider(cx);
            }
            return;
        }
        let room = self.joiners.len() < JOINERS || self.joiners.contains_key(&from);
        if room && (self.steady() || !own.members.contains(&from)) {
            self.suspects.remove(&from);
            self.joiners.insert(from, (view, cx.now));
        }
        if self.steady() || old.is_some() {
            self.consider(cx);
        }
    }

    /// This one of another view took part in an attempt and answered nothing.
    pub(super) fn was_silent(&mut self, who: Endpoint, cx: &mut Cx<impl Near>) {
        let (now, flush) = (cx.now, cx.config.flush);
        let past = flush * (1 << DOUBLINGS);
        self.silent.retain(|_, s| now.since(s.1) < past);
        if self.silent.len() >= JOINERS && !self.silent.contains_key(&who) {
            self.silent.pop_first();
        }
        // Once may be chance: a host that is loaded, or many that join at once.
        let (times, until) = self.silent.entry(who).and_modify(|s| s.0 = (s.0 + 1).min(DOUBLINGS)).or_insert((0, now));
        *until = if *times == 0 { now } else { now + flush * (1 << *times) };
    }

    pub(super) fn got_redirect(&mut self, from: Endpoint, leader: Endpoint, cx: &mut Cx<impl Near>) {
        if self.asks.remove(&from.addr).is_some() {
            self.want_merge(leader.addr, cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::layers::pair::{Pair, member};
    use crate::{Input, Time};

    /// The member at this place of a view of three crashes, and a new life at its address asks that one: how long until it is in a view of three.
    fn comes_back(crashed: usize, asks: usize) -> u64 {
        let stack = "MBRSHIP:FRAG:NAK:COM:sim";
        let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n), 1)).collect());
        group.join();
        assert_eq!(group.size(0), 3);
        let port = group.members[crashed].me().addr.port();
        group.members[crashed] = member(stack, port, 77, 1);
        let began = group.now;
        while group.size(crashed) < 3 {
            // As who joins asks: again after a while.
            if (group.now - began).is_multiple_of(200_000_000) {
                let (now, at) = (Time(group.now), group.members[asks].me().addr);
                group.members[crashed].handle(now, Input::Merge(at));
            }
            group.run(1);
            assert!(group.now - began < 10_000_000_000);
        }
        (group.now - began) / 1_000_000
    }

    #[test]
    fn a_new_life_at_a_members_address_takes_its_place_before_silence_is_noticed() {
        for crashed in 0..3 {
            for asks in (0..3).filter(|a| *a != crashed) {
                let took = comes_back(crashed, asks);
                assert!(took < 300, "{crashed} crashed and asked {asks}: {took} ms");
            }
        }
    }

    #[test]
    fn many_that_ask_at_one_moment_come_in_with_few_views() {
        let stack = "MBRSHIP:FRAG:NAK:COM:sim";
        let mut group = Pair::new((1..41).map(|n| member(stack, n, u64::from(n), 1)).collect());
        group.join();
        assert_eq!(group.size(0), 40);
        let views = group.members[0].view().unwrap().id.number;
        assert!(views <= 6, "{views} views");
    }
}
