//! What all layers of a member share: clock, settings, generator, timers, events that wait, and the edge to the application.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Delivery, Down, Output, Up};
use crate::layers::fc;
use crate::message::Msg;
use crate::rng::Rng;
use crate::spread::Spread;
use crate::stalls::Stalls;
use crate::time::Time;
use crate::untold::Untold;
use crate::view::View;

pub(crate) enum Event {
    Down(Down),
    Up(Up),
}

/// Events for layers that were busy as they were sent, in order, and how many wait at each layer from either side.
#[derive(Default)]
pub(crate) struct Queue {
    events: VecDeque<(u16, Event)>,
    waiting: Vec<(u32, u32)>,
    held: bool,
}

impl Queue {
    pub(crate) fn push(&mut self, to: u16, event: Event) {
        let to_len = usize::from(to) + 1;
        if self.waiting.len() < to_len {
            self.waiting.resize(to_len, (0, 0));
        }
        let (down, up) = &mut self.waiting[usize::from(to)];
        match event {
            Event::Down(_) => *down += 1,
            Event::Up(_) => *up += 1,
        }
        self.events.push_back((to, event));
    }

    pub(crate) fn pop(&mut self) -> Option<(u16, Event)> {
        let (to, event) = self.events.pop_front()?;
        let (down, up) = &mut self.waiting[usize::from(to)];
        match event {
            Event::Down(_) => *down -= 1,
            Event::Up(_) => *up -= 1,
        }
        Some((to, event))
    }

    /// Whether all that goes down waits.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    #[inline]
    pub(crate) fn none_down(&self, to: u16) -> bool {
        !self.held && (self.events.is_empty() || self.waiting.get(usize::from(to)).is_none_or(|w| w.0 == 0))
    }

    #[inline]
    pub(crate) fn none_up(&self, to: u16) -> bool {
        self.events.is_empty() || self.waiting.get(usize::from(to)).is_none_or(|w| w.1 == 0)
    }
}

const NOTICES: Duration = Duration::from_secs(10);
/// The place of timers that are no layer's.
pub(crate) const NO_LAYER: u16 = u16::MAX;
/// By when what was cast has gone out before this member leaves.
pub(crate) const DRAINED: u32 = 0;
/// When what waits is looked at.
pub(crate) const LOOK: u32 = 1;

/// Moments by layer and token: a handful, so a list.
#[derive(Default)]
pub(crate) struct Timers(Vec<(Time, u16, u32)>);

impl Timers {
    fn place(&self, layer: u16, token: u32) -> Option<usize> {
        self.0.iter().position(|t| (t.1, t.2) == (layer, token))
    }

    pub(crate) fn set(&mut self, layer: u16, token: u32, at: Time) {
        match self.place(layer, token) {
            Some(place) => self.0[place].0 = at,
            None => self.0.push((at, layer, token)),
        }
    }

    pub(crate) fn cancel(&mut self, layer: u16, token: u32) {
        if let Some(place) = self.place(layer, token) {
            self.0.swap_remove(place);
        }
    }

    pub(crate) fn awaits(&self, layer: u16, token: u32) -> bool {
        self.place(layer, token).is_some()
    }

    pub(crate) fn next(&self) -> Option<Time> {
        self.0.iter().map(|t| t.0).min()
    }

    /// Takes one that is due: the lowest layer number and token first.
    pub(crate) fn due(&mut self, now: Time) -> Option<(u16, u32)> {
        let &(_, layer, token) = self.0.iter().filter(|t| t.0 <= now).min_by_key(|t| (t.1, t.2))?;
        self.cancel(layer, token);
        Some((layer, token))
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What all layers share.
pub struct Shared {
    /// The moment.
    pub now: Time,
    /// Who this is.
    pub me: Endpoint,
    /// Settings.
    pub config: Config,
    /// The member's generator.
    pub rng: Rng,
    /// Bytes of own casts in NAK's log, which not all members have yet.
    pub unstable: usize,
    /// How many casts those are.
    pub under_way: u64,
    /// Datagrams of this member that were multicast.
    pub multicasts: u64,
    pub(crate) queue: Queue,
    pub(crate) timers: Timers,
    /// For the network and its clock, and for the application.
    pub(crate) out: VecDeque<Output>,
    pub(crate) told: Untold,
    pub(crate) view: Option<Arc<View>>,
    /// What the application cast or sent while the view was ending.
    pub(crate) waiting: VecDeque<(Option<Endpoint>, Bytes)>,
    pub(crate) waiting_bytes: usize,
    pub(crate) blocked: bool,
    /// When it was told last that nothing is heard of a member of a fixed view.
    silence: Option<Time>,
    /// The datagram that is handled was sent to all.
    pub(crate) to_all: bool,
    /// Own casts that the application was not given yet.
    pub(crate) undelivered: u64,
    /// How far those have come that it was given.
    pub(crate) spread: Spread,
    /// This member is to leave.
    pub(crate) leaves: bool,
    /// Own casts that who was dropped since then may lack.
    pub(crate) lost: u64,
    pub(crate) gone: bool,
}

impl Shared {
    pub(crate) fn new(config: Config, me: Endpoint, seed: u64) -> Self {
        Self {
            now: Time(0),
            me,
            config,
            rng: Rng::new(seed),
            unstable: 0,
            under_way: 0,
            multicasts: 0,
            queue: Queue::default(),
            timers: Timers::default(),
            out: VecDeque::new(),
            told: Untold::default(),
            view: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            blocked: false,
            silence: None,
            to_all: false,
            undelivered: 0,
            spread: Spread::default(),
            leaves: false,
            lost: 0,
            gone: false,
        }
    }

    /// Whether this deliberate mistake is switched on. Always false outside of this crate's tests.
    #[inline]
    pub(crate) fn mutant(&self, which: crate::mutant::Mutant) -> bool {
        cfg!(test) && self.config.mutant == Some(which)
    }

    pub(crate) fn wait(&mut self, to: Option<Endpoint>, body: Bytes) {
        self.waiting_bytes += body.len();
        self.waiting.push_back((to, body));
    }

    /// To who is no longer in the view nothing can be sent: the message is dropped, as one to a member that crashes is.
    pub(crate) fn send(&mut self, to: Endpoint, body: Bytes) {
        if let Some(rank) = self.view.as_ref().and_then(|v| v.rank(&to)) {
            self.queue.push(0, Event::Down(Down::Send(rank, Msg::new(body))));
        }
    }

    /// What comes out above the highest layer.
    pub(crate) fn top(&mut self, up: Up) {
        match up {
            Up::Cast(cast) => {
                let from = self.member(cast.from);
                if from == self.me {
                    self.given(1);
                }
                let (transitional, number) = (cast.transitional, cast.number);
                let body = cast.msg.joined();
                self.told.push(Output::Deliver(Delivery { from, cast: true, transitional, number, body }));
            }
            Up::Send(from, msg) => {
                let from = self.member(from);
                let body = msg.joined();
                self.told.push(Output::Deliver(Delivery { from, cast: false, transitional: false, number: 0, body }));
            }
            Up::View(view) => {
                self.look_for_stalls(view.members.len() > 1);
                self.view = Some(view.clone());
                self.told.push(Output::View(view));
                self.blocked = false;
                self.waiting_bytes = 0;
                for (to, body) in std::mem::take(&mut self.waiting) {
                    match to {
                        None => self.queue.push(0, Event::Down(Down::Cast(Msg::new(body)))),
                        Some(to) => self.send(to, body),
                    }
                }
            }
            Up::Block => {
                self.blocked = true;
                self.queue.push(0, Event::Down(Down::BlockOk));
            }
            Up::Stable(counts) => self.told.push(Output::Stable(counts)),
            Up::Exit => {
                self.gone = true;
                self.timers.clear();
                self.view_ended();
                let casts = self.may_lack();
                if casts > 0 {
                    self.told.push(Output::Notice(format!(
                        "{casts} casts of this member had not reached all others as it left, after {:?} or as some were dropped: they may be lost",
                        self.config.drain
                    )));
                }
                self.told.push(Output::Exit);
            }
            // Where there is MBRSHIP it is told.
            Up::Problem(rank) if !self.config.fixed.is_empty() => self.silent(rank),
            Up::Raw(..) | Up::Packet(..) | Up::Frozen(_) | Up::CutReached | Up::Problem(_) => {}
        }
    }

    /// So many own casts come out above the highest layer.
    fn given(&mut self, casts: u64) {
        self.undelivered = self.undelivered.saturating_sub(casts);
        self.spread.given(casts);
    }

    /// Own casts that others may lack, as this member has left.
    pub(crate) fn may_lack(&self) -> u64 {
        self.undelivered + self.lost
    }

    /// Nothing is heard of a member of a fixed view, which has no other that could begin without it.
    fn silent(&mut self, rank: u16) {
        if self.silence.is_some_and(|at| self.now.since(at) < NOTICES) {
            return;
        }
        self.silence = Some(self.now);
        let by = self.config.multicast.map_or_else(String::new, |to| format!(" (casts go by multicast to {to})"));
        self.told.push(Output::Notice(format!(
            "nothing was heard of {} for {:?}: is it there, with the same stack and list of members, and does the network carry what it sends{by}? A fixed view waits for it",
            self.member(rank).addr, self.config.suspect
        )));
    }

    /// Sets the time of the next look at what waits, where there are others to wait for.
    pub(crate) fn look_for_stalls(&mut self, others: bool) {
        if others {
            let at = self.now + Stalls::period(self.config.stall);
            self.timers.set(NO_LAYER, LOOK, at);
        } else {
            self.timers.cancel(NO_LAYER, LOOK);
        }
    }

    /// The view has ended, for NAK: another begins.
    pub(crate) fn view_ended(&mut self) {
        if self.leaves {
            self.lost += self.spread.lacking();
        }
        self.spread = Spread::default();
    }

    /// A pack of casts, without FC's header, above the highest layer.
    pub(crate) fn top_pack(&mut self, from: u16, transitional: bool, rest: Bytes) {
        let from = self.member(from);
        if from == self.me {
            self.given(fc::packed(rest.clone()));
        }
        self.told.push_pack(from, transitional, rest);
    }

    /// Layers name ranks of the view that the application was told last: views and casts come up in order.
    fn member(&self, rank: u16) -> Endpoint {
        self.view.as_ref().and_then(|v| v.members.get(usize::from(rank))).copied().unwrap_or(self.me)
    }
}
