//! MERGE: finds other views of the group and merges with them.
//!
//! Protocol: every `probe`, with jitter, the oldest member of a view probes the addresses that it was given as contacts and those of members that it once had a view with and has none now, more seldom the longer nothing was heard there; a stranger that answers nothing is forgotten (`absent`). Who is probed
//! and has another view answers with its own. Of two views the smaller asks the leader of the larger to merge (at equal size the one whose leader is later in the order of endpoints), so
//! that both sides agree who asks whom; a side that should be asked probes back. A member that says to be in a later view, though it is in ours, has left ours: a suspect. So is who is in ours while another life says to be at its address.
//! Where datagrams between two members are lost one way only, and for long, probes pass by others, and who is merged is soon suspected again. So whoever was parted from this member soon after it had
//! come back is not probed for a while, which doubles each time, from twice `probe` to 32 times; both sides saw the other go, and wait alike. After both were in one view for longer than the longest wait, the next parting counts as the first. A new life has no such past, nor has
//! who asks to be let in by itself.
//! No header on casts; probes are single datagrams: question or answer, view, leader, size. Timers: PROBE. Requires P15; provides P16.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::absent::Absent;
use crate::addr::{Addr, Endpoint};
use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stack::Kind;
use crate::time::Time;
use crate::view::{View, ViewId};
use crate::wire::{Reader, Short, Writer};

const PROBE: u32 = 0;
/// Former members that are kept.
const KNOWN: usize = 4096;
/// How often the wait for who was parted again doubles, from `probe`.
const DOUBLINGS: u32 = 5;

struct Probe {
    question: bool,
    view: ViewId,
    leader: Endpoint,
    size: u64,
}

impl Probe {
    fn message(&self) -> Msg {
        let mut to = Writer::new();
        to.u8(u8::from(self.question));
        self.view.write(&mut to);
        self.leader.write(&mut to);
        to.count(self.size);
        Msg::new(to.0)
    }

    fn read(bytes: &[u8]) -> Result<Self, Short> {
        let from = &mut Reader(bytes);
        Ok(Self {
            question: from.u8()? == 1,
            view: ViewId::read(from)?,
            leader: Endpoint::read(from)?,
            size: from.count()?,
        })
    }
}

/// Who was in a view with this member and was parted from it.
struct Parted {
    /// How many times in a row soon after it had come back.
    again: u32,
    until: Time,
}

#[derive(Default)]
pub(super) struct Merge {
    view: Option<Arc<View>>,
    absent: Absent,
    /// Since when each member of the view is with this one.
    since: BTreeMap<Endpoint, Time>,
    parted: BTreeMap<Endpoint, Parted>,
}

impl Merge {
    /// Notes who is in this view no more. Who was with this member for `calm` has no past.
    fn compare(&mut self, view: &View, now: Time, probe: Duration, calm: Duration) {
        let before = std::mem::take(&mut self.since);
        self.since = view.members.iter().map(|m| (*m, before.get(m).copied().unwrap_or(now))).collect();
        for (who, since) in before.iter().filter(|(who, _)| !self.since.contains_key(*who)) {
            let soon = now.since(*since) < calm;
            let again = self.parted.get(who).filter(|_| soon).map_or(0, |p| (p.again + 1).min(DOUBLINGS));
            let wait = if again == 0 { Duration::ZERO } else { probe * (1 << again) };
            self.absent.knows(who.addr, now);
            self.parted.insert(*who, Parted { again, until: now + wait });
        }
        let since = &self.since;
        self.parted.retain(|who, p| since.get(who).map_or(now.since(p.until), |&s| now.since(s)) < calm);
        while self.parted.len() > KNOWN {
            self.parted.pop_first();
        }
    }

    fn own(&self, question: bool) -> Option<Probe> {
        let view = self.view.as_ref()?;
        Some(Probe { question, view: view.id, leader: view.members[0], size: view.members.len() as u64 })
    }

    fn say(&self, to: Addr, question: bool, cx: &mut Cx<impl Near>) {
        if let Some(probe) = self.own(question) {
            cx.down(Down::Raw(Kind::Merge, to, probe.message()));
        }
    }

    fn got(&mut self, from: Endpoint, probe: Probe, cx: &mut Cx<impl Near>) {
        let Some(own) = self.own(false) else { return };
        let Some(view) = self.view.clone() else { return };
        if probe.view == own.view {
            return;
        }
        if view.members.contains(&from) {
            if probe.view.number > own.view.number {
                cx.down(Down::Suspect(from));
            }
            // Else it has not yet installed our view, and will.
            return;
        }
        if let Some(old) = view.members.iter().find(|m| m.addr == from.addr) {
            // A probe of the life before that one may come late.
            if self.parted.contains_key(&from) {
                return;
            }
            cx.down(Down::Suspect(*old));
        }
        self.absent.heard(from.addr, cx.now);
        if view.members[0] != cx.me {
            if probe.question {
                self.say(from.addr, false, cx);
            }
            return;
        }
        let larger = (probe.size, std::cmp::Reverse(probe.leader)) > (own.size, std::cmp::Reverse(own.leader));
        if larger {
            cx.down(Down::Merge(probe.leader.addr));
        } else if probe.question || probe.leader != from {
            self.say(probe.leader.addr, false, cx);
        }
    }
}

impl Layer for Merge {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        cx.down(event);
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Raw(Kind::Merge, from, msg) => {
                if let Ok(probe) = Probe::read(&msg.joined()) {
                    self.got(from, probe, cx);
                }
            }
            Up::View(view) => {
                if self.view.is_none() {
                    let now = cx.now;
                    cx.config.contacts.iter().for_each(|at| self.absent.knows(*at, now));
                    let wait = cx.config.probe.mul_f64(cx.rng.below(256) as f64 / 256.0);
                    cx.wake(PROBE, cx.now + wait);
                }
                // Longer than silence takes to be noticed, after which who was merged in vain is parted again.
                let calm = (cx.config.probe * (1 << DOUBLINGS)).saturating_add(cx.config.suspect.saturating_mul(2));
                self.compare(&view, cx.now, cx.config.probe, calm);
                self.view = Some(view.clone());
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn passes_down(&self, _: &mut Msg, _: &Shared) -> bool {
        true
    }

    fn passes_up(&self, _: &mut Cast, _: &Shared) -> bool {
        true
    }

    fn timer(&mut self, _: u32, cx: &mut Cx<impl Near>) {
        let wait = cx.config.probe.mul_f64(0.5 + cx.rng.below(256) as f64 / 256.0);
        cx.wake(PROBE, cx.now + wait);
        let Some(view) = self.view.clone() else { return };
        if view.members[0] != cx.me {
            return;
        }
        let waits = self.parted.iter().filter(|(_, p)| cx.now < p.until).map(|(who, _)| who.addr);
        let left: BTreeSet<_> = view.members.iter().map(|m| m.addr).chain(waits).collect();
        for addr in self.absent.due(cx.now, cx.config.probe, |a| left.contains(a)) {
            self.say(addr, true, cx);
            if cx.mutant(Mutant::AbsentForgotten) {
                self.absent = Absent::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use crate::layers::pair::{Pair, member};

    fn endpoint(n: u8) -> Endpoint {
        Endpoint { addr: ([10, 0, 0, n], 7).into(), born: u64::from(n) }
    }

    /// After how long, in seconds, B is parted from A again and again, each time this long after it came back, and for how long A leaves it alone.
    fn waits(stays: &[u64]) -> Vec<u64> {
        let (a, b) = (endpoint(1), endpoint(2));
        let (probe, calm) = (Duration::from_secs(1), Duration::from_secs(40));
        let mut merge = Merge::default();
        let mut now = Time(0);
        let mut view = |members: Vec<Endpoint>, now| {
            let view = View { id: ViewId { number: 1, leader: a }, members };
            merge.compare(&view, now, probe, calm);
            merge.parted.get(&b).map_or(0, |p| p.until.since(now).as_secs())
        };
        let stay = |stay: &u64| {
            assert_eq!(view(vec![a, b], now), 0);
            now = now + Duration::from_secs(*stay);
            let wait = view(vec![a], now);
            now = now + Duration::from_secs(wait + 1);
            wait
        };
        stays.iter().map(stay).collect()
    }

    #[test]
    fn a_late_probe_of_a_life_that_another_has_replaced_moves_nobody() {
        let stack = "MERGE:MBRSHIP:FRAG:NAK:COM:sim";
        let mut group = Pair::new(vec![member(stack, 1, 1, 1), member(stack, 2, 2, 1)]);
        group.join();
        let old = group.members[1].me();
        group.members[1] = member(stack, 2, 77, 1);
        group.join();
        assert_eq!((group.size(0), group.size(1)), (2, 2));
        let view = group.members[0].view().unwrap().id;
        let probe = Probe { question: true, view: ViewId { number: 1, leader: old }, leader: old, size: 1 };
        let late = group.raw(old, Kind::Merge, &probe.message().joined());
        group.members[0].handle(Time(group.now), Input::Datagram(old.addr, late));
        group.run(1000);
        assert_eq!(group.members[0].view().unwrap().id, view);
    }

    #[test]
    fn who_is_parted_again_soon_is_left_alone_for_twice_as_long_up_to_a_bound() {
        assert_eq!(waits(&[1, 1, 1, 1, 1, 1, 1, 1]), [0, 2, 4, 8, 16, 32, 32, 32]);
        assert_eq!(waits(&[1, 1, 1, 40, 1, 1]), [0, 2, 4, 0, 2, 4], "who stayed begins anew");
    }
}
