//! Nodes, the network, the virtual clock, and the script that plays on them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::journal::{Entry, Id, Journal, Life};
use super::network::Network;
use super::replica::Replica;
use super::{FaultKind, Scenario};
use crate::addr::{Addr, Endpoint};
use crate::event::{Input, Output, To};
use crate::member::Member;
use crate::property::Property;
use crate::stack::Kind;
use crate::stalls::IN_VAIN;
use crate::state::{Say, Transfer};
use crate::time::Time;
use crate::view::{View, ViewId};

/// Datagrams that wait at a paused node, as in a socket's buffer.
const BUFFER: usize = 300;
/// Virtual time in which a healed group must settle.
const SETTLE: u64 = 30_000_000_000;
/// In which each stream comes further.
const HEALED: u64 = 1_000_000_000;
/// How often is looked whether it has.
const LOOK: u64 = 100_000_000;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive(usize, Addr, Bytes),
    Wake(usize),
    Say(usize),
    Fault(usize),
    /// A node that is to leave leaves at the latest.
    Leave(usize),
    Resume(usize),
    Heal,
    Look,
}

struct Node {
    member: Option<Member>,
    replica: Option<Replica>,
    life: usize,
    /// Casts and sends of this life.
    said: (u32, u32),
    paused: u64,
    /// By when it leaves, while its vote is not yet given back.
    leaving: Option<u64>,
    inbox: VecDeque<(Addr, Bytes)>,
    /// Clock: parts in a million too fast, and what it showed at the start.
    drift: i64,
    offset: u64,
    wake: u64,
}

impl Node {
    fn local(&self, now: u64) -> Time {
        Time(self.offset + (i128::from(now) + i128::from(now) * i128::from(self.drift) / 1_000_000) as u64)
    }

    /// The first moment at which the node's clock shows at least this.
    fn global(&self, at: Time) -> u64 {
        let since = i128::from(at.0.saturating_sub(self.offset));
        let mut now = (since * 1_000_000 / (1_000_000 + i128::from(self.drift))) as u64;
        while self.local(now) < at {
            now += 1;
        }
        now
    }
}

pub(super) struct Played {
    pub journal: Journal,
    pub stuck: Option<String>,
    pub datagrams: u64,
    pub foretold: u64,
    pub settled: f64,
}

pub(super) struct World<'a> {
    scenario: &'a Scenario,
    now: u64,
    count: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    nodes: Vec<Node>,
    network: Network,
    journal: Journal,
    /// Views as they were told first: thousands of members keep one list of members.
    views: BTreeMap<ViewId, Arc<View>>,
    delivered: usize,
    /// The first notice of something that waited in vain, long after all was healed.
    stalled: Option<String>,
    fixed: bool,
}

/// Where a node is.
fn addr(node: usize) -> Addr {
    Addr::from(([10, 0, (node >> 8) as u8, node as u8], 7000))
}

fn node(addr: Addr) -> Option<usize> {
    match addr.ip() {
        std::net::IpAddr::V4(ip) if addr.port() == 7000 => {
            let [_, _, high, low] = ip.octets();
            Some(usize::from(high) << 8 | usize::from(low))
        }
        _ => None,
    }
}

impl<'a> World<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let mut network = Network::new(scenario);
        let nodes = (0..scenario.members)
            .map(|_| Node {
                member: None,
                replica: None,
                life: 0,
                said: (0, 0),
                paused: 0,
                leaving: None,
                inbox: VecDeque::new(),
                drift: network.rng.between(0, 400) as i64 - 200,
                offset: network.rng.below(1 << 40),
                wake: u64::MAX,
            })
            .collect();
        let mut world = Self {
            scenario,
            now: 0,
            count: 0,
            events: BinaryHeap::new(),
            nodes,
            network,
            journal: Journal::default(),
            views: BTreeMap::new(),
            delivered: 0,
            stalled: None,
            fixed: !scenario.spec.layers.contains(&Kind::Mbrship),
        };
        for at in 0..scenario.members {
            world.begin(at);
        }
        for (at, cast) in scenario.casts.iter().enumerate() {
            world.push(cast.0, Event::Say(at));
        }
        for (at, fault) in scenario.faults.iter().enumerate() {
            world.push(fault.at, Event::Fault(at));
        }
        world.push(scenario.heal, Event::Heal);
        world
    }

    fn push(&mut self, at: u64, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    /// A life begins.
    fn begin(&mut self, at: usize) {
        let life = self.journal.lives.len();
        let born = if self.fixed { 0 } else { self.network.rng.draw() };
        let me = Endpoint { addr: addr(at), born };
        let mut config = self.scenario.config.clone();
        // One contact is enough while it lives. Who never met anybody else can't find the others after it has gone.
        let goes = |f: &super::Fault| matches!(f.kind, FaultKind::Crash(0) | FaultKind::Leave(0));
        let contacts = if self.scenario.faults.iter().any(goes) { self.nodes.len() } else { 1 };
        config.contacts = (0..contacts).map(addr).collect();
        if self.fixed {
            config.fixed = (0..self.nodes.len()).map(addr).collect();
        }
        let seed = self.network.rng.draw();
        let Ok(mut member) = Member::new(&self.scenario.spec, config, me, seed) else { return };
        self.journal.lives.push(Life {
            me,
            entries: Vec::new(),
            crashed: false,
            left: false,
            undelivered: 0,
            points: Vec::new(),
            state: Vec::new(),
            wrong: None,
        });
        let now = self.nodes[at].local(self.now);
        member.start(now);
        if at != 0 && !self.fixed {
            member.handle(now, Input::Merge(addr(0)));
        }
        let node = &mut self.nodes[at];
        node.replica = self.scenario.state.map(|filling| {
            #[allow(unused_mut)]
            let mut transfer = Transfer::new(me, life == 0);
            #[cfg(test)]
            transfer.break_by(self.scenario.config.mutant);
            Replica::new(transfer, filling)
        });
        (node.life, node.said, node.paused, node.wake, node.leaving) = (life, (0, 0), 0, u64::MAX, None);
        node.inbox.clear();
        node.member = Some(member);
        self.drain(at);
    }

    fn handle(&mut self, at: usize, input: Input) {
        let now = self.nodes[at].local(self.now);
        if let Some(member) = &mut self.nodes[at].member {
            member.handle(now, input);
            member.handle(now, Input::Idle);
            self.drain(at);
            self.leave_once_told(at);
        }
    }

    /// As [`crate::net::Replica`] leaves: first its vote, for which it waits as long as its member then does for what it cast.
    fn leave(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        if node.member.is_none() {
            return;
        }
        let Some(replica) = &mut node.replica else { return self.handle(at, Input::Leave) };
        if !replica.transfer.leaves() {
            replica.transfer.leave();
            let until = self.now + self.scenario.config.drain.as_nanos() as u64;
            node.leaving = Some(until);
            self.push(until, Event::Leave(at));
            self.replicate(at);
            self.handle(at, Input::Idle);
        }
    }

    fn leave_once_told(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let told = node.replica.as_ref().is_some_and(|r| r.transfer.may_leave());
        if node.paused <= self.now && node.leaving.is_some_and(|until| told || self.now >= until) {
            node.leaving = None;
            self.handle(at, Input::Leave);
        }
    }

    fn drain(&mut self, at: usize) {
        while let Some(output) = self.nodes[at].member.as_mut().and_then(Member::next) {
            let life = self.nodes[at].life;
            match output {
                Output::Transmit(To::One(to), msg) => {
                    let bytes = msg.joined();
                    if let Some(to) = node(to)
                        && to < self.nodes.len()
                    {
                        self.network.count(&bytes);
                        self.carry(at, to, &bytes);
                    }
                }
                // Whoever listens at the address is sent it, members of the view or not, and each may lose it.
                Output::Transmit(To::All, msg) => {
                    let bytes = msg.joined();
                    self.network.count(&bytes);
                    for to in (0..self.nodes.len()).filter(|to| *to != at) {
                        self.carry(at, to, &bytes);
                    }
                }
                // Every datagram is what its sender sent, so that what waits comes once all is healed.
                Output::Notice(text) if text.starts_with(IN_VAIN) && self.now > self.scenario.heal + HEALED => {
                    self.stalled.get_or_insert(text);
                }
                Output::Multicasts(..) | Output::Stable(_) | Output::Trace(_) | Output::Notice(_) => {}
                Output::Deliver(mut d) => {
                    self.delivered += 1;
                    if let Some(replica) = &mut self.nodes[at].replica {
                        replica.transfer.delivered(d.clone());
                        self.replicate(at);
                        match Transfer::unwrap(&d.body) {
                            Some(body) => d.body = body,
                            None => continue,
                        }
                    }
                    let id = Self::named(&d.body);
                    let entry = Entry::Deliver { id, from: d.from, cast: d.cast, transitional: d.transitional };
                    self.journal.lives[life].entries.push(entry);
                }
                Output::View(view) => {
                    let told = self.views.entry(view.id).or_insert_with(|| view.clone());
                    let kept = if *told == view { told } else { &view };
                    self.journal.lives[life].entries.push(Entry::View(kept.clone()));
                    if let Some(replica) = &mut self.nodes[at].replica {
                        replica.transfer.view(view);
                        self.replicate(at);
                    }
                }
                Output::SetTimer(due) => {
                    let when = self.nodes[at].global(due).max(self.now);
                    self.nodes[at].wake = when;
                    self.push(when, Event::Wake(at));
                }
                Output::Exit => {
                    self.journal.lives[life].left = true;
                    self.journal.lives[life].undelivered =
                        self.nodes[at].member.as_ref().map_or(0, Member::undelivered);
                    self.nodes[at].member = None;
                }
            }
        }
    }

    fn carry(&mut self, from: usize, to: usize, bytes: &Bytes) {
        for (when, bytes) in self.network.carry(from, to, self.now, bytes) {
            self.push(when, Event::Arrive(to, addr(from), bytes));
        }
    }

    /// The application of a node takes what its transfer tells, and its member what the transfer says.
    fn replicate(&mut self, at: usize) {
        let Some(mut replica) = self.nodes[at].replica.take() else { return };
        let life = &mut self.journal.lives[self.nodes[at].life];
        match replica.run(Self::named) {
            Ok(points) => life.points.extend(points),
            Err(why) => life.wrong = life.wrong.take().or(Some(why)),
        }
        life.state = replica.ids();
        let now = self.nodes[at].local(self.now);
        if let Some(member) = &mut self.nodes[at].member {
            while let Some(say) = replica.transfer.say() {
                match say {
                    Say::Cast(bytes) => member.handle(now, Input::Cast(bytes)),
                    Say::Send(to, bytes) => member.handle(now, Input::Send(to, bytes)),
                }
            }
            member.handle(now, Input::Idle);
        }
        self.nodes[at].replica = Some(replica);
    }

    /// A message says whose it is, and its filling follows from that.
    fn body(id: Id, size: usize) -> Bytes {
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&id.life.to_le_bytes());
        bytes.extend_from_slice(&id.number.to_le_bytes());
        bytes.extend((bytes.len()..size).map(|at| (at as u32 ^ id.number.wrapping_mul(31) ^ id.life) as u8));
        bytes.into()
    }

    fn named(bytes: &Bytes) -> Option<Id> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let id = Id { life: word(0)?, number: word(4)? };
        (Self::body(id, bytes.len()) == *bytes).then_some(id)
    }

    fn say(&mut self, which: usize) {
        let (_, at, size, to) = self.scenario.casts[which];
        let now = self.nodes[at].local(self.now);
        if self.nodes[at].paused > self.now {
            return;
        }
        let life = self.nodes[at].life as u32;
        let peer = to.map(|to| self.nodes[to].life);
        let said = self.nodes[at].said;
        let replicated = match &self.nodes[at].replica {
            Some(replica) if !replica.transfer.has_state() || replica.transfer.leaves() => return,
            other => other.is_some(),
        };
        let body = |id| {
            let body = Self::body(id, size);
            if replicated { Transfer::wrap(&body) } else { body }
        };
        let Some(member) = &mut self.nodes[at].member else { return };
        let entry = match peer {
            None => {
                let id = Id { life, number: said.0 };
                if member.try_cast(now, body(id)).is_err() {
                    return;
                }
                self.nodes[at].said.0 += 1;
                Entry::Cast(id)
            }
            Some(peer) => {
                // To a member of the view only; elsewhere it would be dropped, as documented.
                let to = self.journal.lives[peer].me;
                if member.view().and_then(|v| v.rank(&to)).is_none() {
                    return;
                }
                // Numbers of sends are apart from those of casts by the highest bit.
                let id = Id { life, number: said.1 | 1 << 31 };
                if member.try_send(now, to, body(id)).is_err() {
                    return;
                }
                self.nodes[at].said.1 += 1;
                Entry::Send(id, peer as u32)
            }
        };
        self.journal.lives[life as usize].entries.push(entry);
        self.handle(at, Input::Idle);
    }

    fn fault(&mut self, which: usize) {
        match self.scenario.faults[which].kind {
            FaultKind::Crash(at) => {
                if self.nodes[at].member.take().is_some() {
                    let life = self.nodes[at].life;
                    self.journal.lives[life].crashed = true;
                }
            }
            FaultKind::Restart(at) => {
                if self.nodes[at].member.is_none() {
                    self.begin(at);
                }
            }
            FaultKind::Pause(at, long) => {
                let until = (self.now + long).min(self.scenario.heal);
                self.nodes[at].paused = until;
                self.push(until, Event::Resume(at));
            }
            FaultKind::Part(set, both, long) => self.network.part(set, both, self.now + long),
            FaultKind::Deaf(from, to, long) => self.network.deafen(from, to, self.now + long),
            FaultKind::Storm(loss, long) => self.network.storm(loss, self.now + long),
            FaultKind::Leave(at) => {
                if self.nodes[at].paused <= self.now {
                    self.leave(at);
                }
            }
            FaultKind::Doubt(at) => {
                if self.nodes[at].paused <= self.now {
                    self.handle(at, Input::Renew);
                }
            }
            FaultKind::Slander(at, whom) => {
                let whom = self.journal.lives[self.nodes[whom].life].me;
                if self.nodes[at].paused <= self.now {
                    self.handle(at, Input::Suspect(whom));
                }
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Arrive(at, from, bytes) => {
                if self.nodes[at].paused <= now {
                    self.handle(at, Input::Datagram(from, bytes));
                } else if self.nodes[at].inbox.len() < BUFFER {
                    self.nodes[at].inbox.push_back((from, bytes));
                }
            }
            Event::Wake(at) => {
                if self.nodes[at].wake == now && self.nodes[at].paused <= now {
                    self.nodes[at].wake = u64::MAX;
                    self.handle(at, Input::Timer);
                }
            }
            Event::Say(which) => self.say(which),
            Event::Fault(which) => self.fault(which),
            Event::Leave(at) => self.leave_once_told(at),
            Event::Resume(at) => {
                while let Some((from, bytes)) = self.nodes[at].inbox.pop_front() {
                    self.handle(at, Input::Datagram(from, bytes));
                }
                self.handle(at, Input::Timer);
            }
            Event::Heal => {
                self.network.heal();
                self.push(now + LOOK, Event::Look);
            }
            Event::Look => {}
        }
    }

    /// Plays up to this moment.
    pub(super) fn until(&mut self, at: u64) {
        while self.events.peek().is_some_and(|Reverse((when, ..))| *when <= at)
            && let Some(Reverse((now, _, event))) = self.events.pop()
        {
            self.now = now;
            self.happen(event);
        }
        self.now = at;
    }

    /// A node casts so many bytes now.
    pub(super) fn cast(&mut self, at: usize, size: usize) {
        let id = Id { life: self.nodes[at].life as u32, number: self.nodes[at].said.0 };
        self.nodes[at].said.0 += 1;
        self.handle(at, Input::Cast(Self::body(id, size)));
    }

    /// Datagrams and bytes so far.
    pub(super) fn sent(&self) -> (u64, u64) {
        (self.network.sent, self.network.bytes)
    }

    /// Deliveries so far, at all members.
    pub(super) fn delivered(&self) -> usize {
        self.delivered
    }

    /// Plays the script, heals, and lets the group settle.
    pub(super) fn play(mut self) -> Played {
        let mut stuck = None;
        while stuck.is_none()
            && let Some(Reverse((now, _, event))) = self.events.pop()
        {
            self.now = now;
            if event == Event::Look {
                match self.unsettled() {
                    None => break,
                    Some(why) if now > self.scenario.heal + SETTLE => {
                        stuck = Some(format!("liveness: {} s after healing {why}", SETTLE / 1_000_000_000));
                    }
                    Some(_) => self.push(now + LOOK, Event::Look),
                }
            } else {
                self.happen(event);
            }
        }
        let stuck = stuck.or(self.stalled.map(|text| format!("liveness: a member said: {text}")));
        let settled = (self.now - self.scenario.heal.min(self.now)) as f64 / 1e9;
        let foretold = self.nodes.iter().filter_map(|n| n.member.as_ref()).map(Member::foretold).sum();
        Played { foretold, journal: self.journal, stuck, datagrams: self.network.sent, settled }
    }

    /// What is not yet as it must be in the end: one view of all that live, and nothing held. Without MERGE parted views stay parted, and each must be that of all its members.
    pub(super) fn unsettled(&self) -> Option<String> {
        let live: Vec<_> = self.nodes.iter().filter_map(|n| n.member.as_ref()).collect();
        let mut all: Vec<_> = live.iter().map(|m| m.me()).collect();
        all.sort_unstable();
        let one = self.fixed || self.scenario.promises().has(Property::Merge);
        for member in &live {
            let Some(view) = member.view() else { return Some(format!("{} has no view", member.me())) };
            if member.held() != 0 {
                return Some(format!("{} holds {} messages", member.me(), member.held()));
            }
            if !one {
                let lives = |m: &Endpoint| live.iter().any(|l| l.me() == *m && l.view() == Some(view));
                if let Some(other) = view.members.iter().find(|m| !lives(m)) {
                    return Some(format!("{} has the view {:?}, and {other} is not in it", member.me(), view.id));
                }
                continue;
            }
            let mut have = view.members.clone();
            have.sort_unstable();
            if have != all {
                return Some(format!("{} has the view {:?} of {:?}, and {all:?} live", member.me(), view.id, have));
            }
            if Some(view) != live[0].view() {
                return Some(format!("{} and {} have different views", member.me(), live[0].me()));
            }
        }
        let replicas: Vec<_> =
            self.nodes.iter().filter(|n| n.member.is_some()).filter_map(|n| n.replica.as_ref()).collect();
        if replicas.iter().any(|r| r.transfer.has_state()) {
            if replicas.iter().any(|r| !r.transfer.is_current()) {
                return Some("a member has not received the state".to_owned());
            }
            if let Some(held) = replicas.iter().map(|r| r.transfer.held()).find(|&held| held > 0) {
                return Some(format!("a transfer holds {held} messages or states"));
            }
        }
        None
    }
}
