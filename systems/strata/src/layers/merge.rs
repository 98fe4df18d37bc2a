//! MERGE: finds other views of the group and merges with them.
//!
//! Protocol: every `probe`, with jitter, the oldest member of a view probes the addresses that it was given as contacts and those of members that it once had a view with and has none now. Who is probed
//! and has another view answers with its own. Of two views the smaller asks the leader of the larger to merge (at equal size the one whose leader is later in the order of endpoints), so
//! that both sides agree who asks whom; a side that should be asked probes back. A member that says to be in a later view, though it is in ours, has left ours: a suspect.
//! No header on casts; probes are single datagrams: question or answer, view, leader, size. Timers: PROBE. Requires P15; provides P16.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::addr::{Addr, Endpoint};
use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::shared::Shared;
use crate::stack::Kind;
use crate::view::{View, ViewId};
use crate::wire::{Reader, Short, Writer};

const PROBE: u32 = 0;
/// Addresses of former members that are kept.
const KNOWN: usize = 4096;

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

#[derive(Default)]
pub(super) struct Merge {
    view: Option<Arc<View>>,
    known: BTreeSet<Addr>,
}

impl Merge {
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
        if self.known.len() < KNOWN {
            self.known.insert(from.addr);
        }
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
                for member in &view.members {
                    if self.known.len() < KNOWN {
                        self.known.insert(member.addr);
                    }
                }
                if self.view.is_none() {
                    self.known.extend(cx.config.contacts.iter().copied());
                    let wait = cx.config.probe.mul_f64(cx.rng.below(256) as f64 / 256.0);
                    cx.wake(PROBE, cx.now + wait);
                }
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
        let present: BTreeSet<_> = view.members.iter().map(|m| m.addr).collect();
        let absent: Vec<_> = self.known.iter().filter(|a| !present.contains(a)).copied().collect();
        for addr in absent {
            self.say(addr, true, cx);
        }
    }
}
