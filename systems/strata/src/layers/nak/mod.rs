//! NAK: reliable FIFO streams by negative acknowledgements.
//!
//! Protocol: each view has one stream of casts a member, and one of sends for each pair. A receiver that misses something waits `nak_delay` (datagrams overtake each other even on
//! one host), then asks the sender, and whoever else said to have it when the sender does not answer. Each member keeps what it sent *and what it
//! received* until all members of the view have it, so that what a crashed sender sent to some can be had from them. A *status* tells all others how much of each stream
//! a member has; it follows soon after traffic (`tail`, growing with the group and doubling up to `status`), so that a lost last cast is missed, logs are freed and silence
//! is measured: who says nothing in this view for `suspect` is a problem, told upward. After a pause of this member itself everybody starts anew.
//!
//! The end of a view: `Freeze` stops deliveries and the ears for those who don't move on, and reports how many casts of each stream were delivered; `Cut` names how many of each are
//! to be delivered, and who has them. This is the reconciliation of JavaGroups' FLUSH (user's guide, "FLUSH": members answer with their highest sequence numbers, what some
//! lack is sent again), with retransmissions in the place of messages that travel with the answers.
//!
//! Headers (`wire`): 19 bytes for casts and sends: kind, the view's tag, the origin's rank, number. Timers: STATUS, ASK. Requires P1, P10, P11; provides P3 and P4.
//! What stands in for the missing property of stability below MBRSHIP is here: the log is freed by statuses.

mod asking;
mod outbox;
mod stability;
mod stream;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::addr::{Addr, Endpoint};
use crate::event::{Cast, Down, To, Up};
use crate::foretold::{Came, Foretold};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;
use crate::time::Time;
use crate::view::View;

use outbox::Outbox;
use stability::Matrix;
use stream::Stream;
pub(super) use wire::HEADER;
#[cfg(test)]
pub(super) use wire::RAW;
use wire::{Flow, Head, Status};

const STATUS: u32 = 0;
const ASK: u32 = 1;
/// A status follows at once after this many deliveries since the last: logs stay short and credit flows.
const EAGER: u64 = 32;

#[derive(Default)]
pub(super) struct Nak {
    view: Option<Arc<View>>,
    tag: u64,
    rank: u16,
    /// Who is at which rank; numbers of lives first, since they differ at once.
    ranks: BTreeMap<(u64, Addr), u16>,
    casts: Vec<Stream>,
    sends_in: Vec<Stream>,
    sends_out: Vec<Outbox>,
    matrix: Matrix,
    heard: Vec<Time>,
    /// Statuses of each member that may be true, and whether its last was not.
    fair: Vec<(u64, bool)>,
    problems: Vec<bool>,
    ticked: Time,
    period: Duration,
    /// Deliveries since the last status.
    untold: u64,
    /// Streams of which something lacks that is to be asked for.
    asking: BTreeSet<(Flow, usize)>,
    frozen: bool,
    listen: Vec<bool>,
    cut: Option<Vec<(u64, u16)>>,
}

impl Nak {
    fn install(&mut self, view: Arc<View>, cx: &mut Cx<impl Near>) {
        let n = view.members.len();
        self.tag = view.id.tag();
        self.rank = view.rank(&cx.me).unwrap_or(0);
        self.ranks = view.members.iter().enumerate().map(|(at, m)| ((m.born, m.addr), at as u16)).collect();
        self.casts = (0..n).map(|_| Stream::default()).collect();
        self.sends_in = (0..n).map(|_| Stream::default()).collect();
        self.sends_out = (0..n).map(|_| Outbox::default()).collect();
        self.matrix = Matrix::new(n);
        self.heard = vec![cx.now; n];
        self.fair = vec![(0, false); n];
        self.problems = vec![false; n];
        self.listen = vec![true; n];
        self.frozen = false;
        self.cut = None;
        self.untold = 0;
        self.asking.clear();
        (cx.unstable, cx.under_way) = (0, 0);
        cx.view_ended();
        self.ticked = cx.now;
        self.view = Some(view.clone());
        self.period = self.soon(cx);
        cx.cancel(ASK);
        if n > 1 {
            cx.wake(STATUS, cx.now + self.period);
        } else {
            cx.cancel(STATUS);
        }
        if !cx.config.fixed.is_empty() {
            // No MBRSHIP tells those above.
            cx.up(Up::View(view.clone()));
        }
        cx.down(Down::View(view));
    }

    /// How soon after traffic a status follows: later in larger groups, where each costs as many datagrams as there are members.
    fn soon(&self, cx: &Cx<impl Near>) -> Duration {
        (cx.config.tail * (self.casts.len() as u32).div_ceil(8)).min(cx.config.status)
    }

    fn cast(&mut self, msg: Msg, cx: &mut Cx<impl Near>) {
        let me = usize::from(self.rank);
        let number = self.casts[me].append(msg.clone());
        cx.spread.numbered(number + 1);
        cx.unstable += msg.len();
        cx.under_way += 1;
        let mut packet = msg.clone();
        packet.push(&Head { flow: Flow::Cast, tag: self.tag, origin: self.rank, number }.bytes());
        cx.down(Down::Packet(To::All, packet));
        cx.up(Up::Cast(Cast { from: self.rank, msg, number: 0, transitional: false }));
        self.delivered(me, cx);
        self.traffic(cx);
    }

    fn send(&mut self, to: u16, msg: Msg, cx: &mut Cx<impl Near>) {
        if to == self.rank {
            return cx.up(Up::Send(to, msg));
        }
        let Some(member) = self.view.as_ref().and_then(|v| v.members.get(usize::from(to))) else { return };
        let number = self.sends_out[usize::from(to)].append(msg.clone());
        let mut packet = msg;
        packet.push(&Head { flow: Flow::Send, tag: self.tag, origin: self.rank, number }.bytes());
        cx.down(Down::Packet(To::One(member.addr), packet));
        self.traffic(cx);
    }

    /// Our own count of a stream grew: free what all have.
    fn delivered(&mut self, rank: usize, cx: &mut Cx<impl Near>) {
        self.matrix.tell(usize::from(self.rank), rank, self.casts[rank].next(), cx.mutant(Mutant::NakForgetsEarly));
        self.free(rank, cx);
    }

    fn free(&mut self, rank: usize, cx: &mut Cx<impl Near>) {
        let base = self.casts[rank].base();
        let freed = self.casts[rank].free(self.matrix.stable(rank));
        if rank == usize::from(self.rank) {
            cx.unstable = cx.unstable.saturating_sub(freed);
            cx.under_way = cx.under_way.saturating_sub(self.casts[rank].base() - base);
            cx.spread.stable(self.casts[rank].base());
        }
    }

    /// There was traffic: say soon what is here.
    fn traffic(&mut self, cx: &mut Cx<impl Near>) {
        let soon = self.soon(cx);
        if self.casts.len() > 1 && self.period > soon {
            self.period = soon;
            cx.wake(STATUS, cx.now + soon);
        }
    }

    fn packet(&mut self, from: Endpoint, mut msg: Msg, cx: &mut Cx<impl Near>) {
        let Ok([kind]) = msg.pop() else { return };
        if kind == wire::RAW {
            if let Some(layer) = msg.pop().ok().and_then(|[k]| wire::layer(k)) {
                cx.up(Up::Raw(layer, from, msg));
            }
            return;
        }
        let Ok(tag) = msg.pop() else { return };
        let source = self.ranks.get(&(from.born, from.addr)).copied();
        let (true, Some(source)) = (u64::from_le_bytes(tag) == self.tag, source) else { return };
        let source = usize::from(source);
        if !(self.listen[source] || cx.mutant(Mutant::NakThaws)) || source == usize::from(self.rank) {
            return;
        }
        self.heard[source] = cx.now;
        // What can't be is dropped with the datagram.
        let _ = match kind {
            wire::CAST => self.got_cast(msg, cx),
            wire::SEND => self.got_send(source, msg, cx),
            wire::STATUS => self.got_status(source, msg, cx),
            wire::NAK => self.got_nak(source, msg, cx),
            _ => Ok(()),
        };
    }

    fn got_cast(&mut self, mut msg: Msg, cx: &mut Cx<impl Near>) -> Result<(), crate::wire::Short> {
        let (origin, number) = wire::rest(&mut msg)?;
        let rank = usize::from(origin);
        if rank >= self.casts.len() || origin == self.rank {
            return Ok(());
        }
        if cx.mutant(Mutant::NakDuplicates) && number < self.casts[rank].next() && !self.frozen {
            cx.up(Up::Cast(Cast { from: origin, msg: msg.clone(), number: 0, transitional: false }));
        }
        if self.casts[rank].accept(number, msg, cx.config.window) {
            self.advance(rank, cx);
            self.heeded(rank, cx);
        } else {
            self.traffic(cx);
            self.missing_of(Flow::Cast, rank, cx);
        }
        Ok(())
    }

    /// A cast of this rank came that was new.
    fn heeded(&mut self, rank: usize, cx: &mut Cx<impl Near>) {
        self.untold += 1;
        self.traffic(cx);
        self.missing_of(Flow::Cast, rank, cx);
    }

    /// Delivers what is in order, as far as the end of the view allows.
    fn advance(&mut self, rank: usize, cx: &mut Cx<impl Near>) {
        let limit = match &self.cut {
            Some(cut) => cut[rank].0,
            None if self.frozen && !cx.mutant(Mutant::NakThaws) => 0,
            None => u64::MAX,
        };
        let before = self.casts[rank].next();
        let skip = cx.mutant(Mutant::NakSkipsGap);
        while let Some(msg) = self.casts[rank].deliver(limit, skip) {
            cx.up(Up::Cast(Cast { from: rank as u16, msg, number: 0, transitional: false }));
        }
        if self.casts[rank].next() > before {
            self.delivered(rank, cx);
        }
        self.reached(cx);
    }

    fn got_send(&mut self, source: usize, mut msg: Msg, cx: &mut Cx<impl Near>) -> Result<(), crate::wire::Short> {
        let (_, number) = wire::rest(&mut msg)?;
        if self.sends_in[source].accept(number, msg, cx.config.window) {
            while let Some(msg) = self.sends_in[source].deliver(u64::MAX, false) {
                cx.up(Up::Send(source as u16, msg));
            }
            // Only the sender sends these again.
            let upto = self.sends_in[source].next();
            self.sends_in[source].free(upto);
        }
        self.traffic(cx);
        self.missing_of(Flow::Send, source, cx);
        Ok(())
    }

    fn got_status(&mut self, source: usize, msg: Msg, cx: &mut Cx<impl Near>) -> Result<(), crate::wire::Short> {
        let status = Status::read(&msg.joined(), self.casts.len())?;
        let me = usize::from(self.rank);
        // How much there is of this member's own streams it knows best. Who says to have more was altered on the way, or has taken what was; believed, it would free what others lack.
        let beyond = |list: &[u64], own: u64| list.get(me).is_some_and(|&count| count > own);
        let unfair =
            beyond(&status.casts, self.casts[me].next()) || beyond(&status.sends_in, self.sends_out[source].next());
        let (fair, last) = &mut self.fair[source];
        *last = unfair;
        if unfair {
            return Ok(());
        }
        *fair += 1;
        for (rank, &count) in status.casts.iter().enumerate() {
            if rank != me {
                self.casts[rank].exists(count);
            }
            if self.matrix.tell(source, rank, count, cx.mutant(Mutant::NakForgetsEarly)) {
                self.free(rank, cx);
            }
            self.look(Flow::Cast, rank, cx);
        }
        if let Some(&count) = status.sends_in.get(usize::from(self.rank)) {
            self.sends_out[source].free(count);
        }
        if let Some(&count) = status.sends_out.get(usize::from(self.rank)) {
            self.sends_in[source].exists(count);
            self.look(Flow::Send, source, cx);
        }
        self.reached(cx);
        self.wake_to_ask(cx);
        Ok(())
    }

    fn tell(&mut self, cx: &mut Cx<impl Near>) {
        self.untold = 0;
        let mut casts: Vec<_> = self.casts.iter().map(Stream::next).collect();
        if cx.mutant(Mutant::NakNoTail) {
            casts[usize::from(self.rank)] = self.casts[usize::from(self.rank)].base();
        }
        let status = Status {
            casts,
            sends_in: self.sends_in.iter().map(Stream::next).collect(),
            sends_out: self.sends_out.iter().map(Outbox::next).collect(),
        };
        cx.down(Down::Packet(To::All, Msg::new(status.bytes(self.tag))));
    }

    /// Whether nothing of ours is under way, as far as we know.
    fn quiet(&self) -> bool {
        self.casts.iter().all(|s| s.held() == 0 && !s.lacks()) && self.sends_out.iter().all(|o| o.held() == 0)
    }

    fn status_due(&mut self, cx: &mut Cx<impl Near>) {
        // A timer that comes very late tells of a pause of this member: it has no right to call the others silent.
        if cx.now.since(self.ticked) > self.period + cx.config.suspect / 2 {
            self.heard.fill(cx.now);
        }
        self.ticked = cx.now;
        self.tell(cx);
        self.period = if self.quiet() { cx.config.status } else { (self.period * 2).min(cx.config.status) };
        cx.wake(STATUS, cx.now + self.period);
        for rank in 0..self.heard.len() {
            if rank != usize::from(self.rank) && cx.now.since(self.heard[rank]) > cx.config.suspect {
                // Said once and again with each silent period: MBRSHIP may not have been able to act.
                self.problems[rank] = true;
                cx.up(Up::Problem(rank as u16));
            }
        }
    }

    fn freeze(&mut self, listen: Vec<bool>, cx: &mut Cx<impl Near>) {
        self.frozen = true;
        self.cut = None;
        self.listen = listen;
        self.listen.resize(self.casts.len(), false);
        let dropped = (0..self.listen.len()).filter(|&m| !self.listen[m]);
        cx.spread.ends(dropped.map(|m| self.matrix.has(m, usize::from(self.rank))).min());
        cx.up(Up::Frozen(self.casts.iter().map(Stream::next).collect()));
    }

    fn cut(&mut self, cut: Vec<(u64, u16)>, cx: &mut Cx<impl Near>) {
        if cut.len() != self.casts.len() {
            return;
        }
        for (stream, (count, _)) in self.casts.iter_mut().zip(&cut) {
            stream.exists(*count);
            stream.ask_at(cx.now);
        }
        self.cut = Some(cut);
        for rank in 0..self.casts.len() {
            self.advance(rank, cx);
        }
        self.missing(cx);
    }

    /// Tells MBRSHIP, once, that all of the cut was delivered, and that those who move on have this member's sends.
    fn reached(&mut self, cx: &mut Cx<impl Near>) {
        let Some(cut) = &self.cut else { return };
        let casts = self.casts.iter().zip(cut).all(|(s, (count, _))| s.next() >= *count);
        let sends = self.sends_out.iter().zip(&self.listen).all(|(out, &listens)| !listens || out.held() == 0);
        if casts && sends && self.frozen {
            self.cut = None;
            cx.up(Up::CutReached);
        }
    }
}

impl Layer for Nak {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::View(view) => self.install(view, cx),
            Down::Cast(msg) if self.view.is_some() => self.cast(msg, cx),
            Down::Send(to, msg) if self.view.is_some() => self.send(to, msg, cx),
            Down::Raw(layer, to, mut msg) => {
                msg.push(&[wire::RAW, layer as u8]);
                cx.down(Down::Packet(To::One(to), msg));
            }
            Down::Freeze(listen) => self.freeze(listen, cx),
            Down::Cut(cut) => self.cut(cut, cx),
            _ => {}
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        if let Up::Packet(from, msg) = event {
            self.packet(from, msg, cx);
        }
    }

    fn idle(&mut self, cx: &mut Cx<impl Near>) {
        if self.untold >= EAGER {
            self.tell(cx);
        }
    }

    fn timer(&mut self, token: u32, cx: &mut Cx<impl Near>) {
        match token {
            STATUS => self.status_due(cx),
            _ => self.ask(cx),
        }
    }

    fn foretell(&self, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        let rank = usize::from(from);
        let open = !self.frozen && from != self.rank && self.listen.get(rank).copied().unwrap_or(false);
        if !open || self.casts[rank].lacks() {
            return false;
        }
        let head = Head { flow: Flow::Cast, tag: self.tag, origin: from, number: self.casts[rank].next() };
        let counts = if shared.mutant(Mutant::FastSkipsNumber) { HEADER - 8 } else { HEADER };
        to.moves(&head.bytes(), counts)
    }

    fn took(&mut self, came: &Came, cx: &mut Cx<impl Near>) {
        let rank = usize::from(came.from());
        self.heard[rank] = cx.now;
        self.casts[rank].append(came.rest());
        self.casts[rank].tries = 0;
        self.delivered(rank, cx);
        self.heeded(rank, cx);
    }

    fn backlog(&self) -> usize {
        let own = self.casts.get(usize::from(self.rank)).map_or(0, Stream::bytes);
        own + self.sends_out.iter().map(Outbox::bytes).sum::<usize>()
    }

    fn held(&self) -> usize {
        self.casts.iter().chain(&self.sends_in).map(Stream::held).sum::<usize>()
            + self.sends_out.iter().map(Outbox::held).sum::<usize>()
    }

    fn waits(&self, to: &mut Waits, _: &Shared) {
        // What ends a view has bounds of its own.
        if self.frozen {
            return;
        }
        for rank in (0..self.rank).chain(self.rank + 1..self.casts.len() as u16) {
            let (at, stream) = (usize::from(rank), u32::from(rank) * 3);
            let gap = "has cast or sent something that was asked for again and again and does not come";
            for (flow, of) in [(0, &self.casts[at]), (1, &self.sends_in[at])] {
                if of.lacks() {
                    to.add(stream + flow, rank, of.next(), gap);
                }
            }
            if let (fair, true) = self.fair[at] {
                to.add(
                    stream + 2,
                    rank,
                    fair,
                    "says again and again to have more of this member's messages than there are",
                );
            }
        }
    }
}
