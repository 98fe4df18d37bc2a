//! FC: packing and credit.
//!
//! Protocol: casts are collected until there is no more input ([`Layer::idle`]) and go down packed into one; no delay is added when the application is slower than the network. Where `credit`
//! casts are not yet delivered here (as while TOTAL waits for its token), or `flight` of them, or half of `backlog` in bytes, are in NAK's log because somebody does not have them yet, the rest
//! waits, and is packed when credit comes back: so a fast sender does not fill a slow member's buffers, where what ends a view would have to wait, too. What waits counts as backlog, so that `try_cast` says when it would block; Horus's FC gave no such signal.
//! Header: 1 byte, one message or a pack; a pack has lengths as varints. Timers: none. Requires P3, P4, P10, P11; provides nothing that has a name; keeps P13 and P14 from those above,
//! since what is numbered below are packs.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};

use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;
use crate::wire::{Reader, Writer};

const ONE: u8 = 1;
const PACK: u8 = 2;
/// Casts in one pack: what a member has to do at once stays below a millisecond.
const MOST: usize = 2048;

#[derive(Default)]
pub(super) struct Fc {
    rank: u16,
    queue: VecDeque<Msg>,
    bytes: usize,
    under_way: usize,
    /// Packs that went down so far.
    sent: u64,
    blocked: bool,
}

impl Fc {
    fn flush(&mut self, cx: &mut Cx<impl Near>) {
        while !self.blocked
            && !self.queue.is_empty()
            && self.under_way < cx.config.credit
            && cx.unstable < cx.config.backlog / 2
            && cx.under_way < cx.config.flight
        {
            self.under_way += 1;
            self.sent += 1;
            let msg = self.pack(cx.config.pack);
            cx.down(Down::Cast(msg));
        }
    }

    /// As many as fit, at least one.
    fn pack(&mut self, most: usize) -> Msg {
        let alone = self.queue.len() == 1 || self.queue.front().is_some_and(|m| m.len() >= most);
        if alone && let Some(mut msg) = self.queue.pop_front() {
            self.bytes -= msg.len();
            msg.push(&[ONE]);
            return msg;
        }
        let mut to = Writer(Vec::with_capacity(most.min(self.bytes + 3 * self.queue.len().min(MOST)) + 16));
        to.u8(PACK);
        for _ in 0..MOST {
            let Some(msg) = self.queue.front() else { break };
            if to.0.len() > 1 && to.0.len() + msg.len() + 10 > most {
                break;
            }
            to.count(msg.len() as u64);
            to.bytes(msg.head());
            to.bytes(msg.body());
            self.bytes -= msg.len();
            self.queue.pop_front();
        }
        Msg::new(to.0)
    }

    fn unpack(cast: Cast, cx: &mut Cx<impl Near>) {
        let mut rest = cast.msg.joined();
        let skip_last = cx.mutant(Mutant::PackDropsLast);
        if cx.at == 0 && !skip_last {
            return cx.top_pack(cast.from, cast.transitional, rest);
        }
        while let Some(body) = unpacked(&mut rest) {
            if !(skip_last && rest.is_empty()) {
                let msg = Msg::new(body);
                cx.up(Up::Cast(Cast { msg, from: cast.from, number: 0, transitional: cast.transitional }));
            }
        }
    }
}

/// The next message of a pack, which is taken off it.
#[inline]
pub(crate) fn unpacked(rest: &mut Bytes) -> Option<Bytes> {
    if rest.is_empty() {
        return None;
    }
    let mut reader = Reader(rest);
    let len = reader.length(1).ok()?;
    let header = rest.len() - reader.0.len();
    rest.advance(header);
    Some(rest.split_to(len))
}

/// How many messages a pack has.
pub(crate) fn packed(mut rest: Bytes) -> u64 {
    std::iter::from_fn(|| unpacked(&mut rest).map(|_| 1)).sum()
}

impl Layer for Fc {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(msg) => {
                self.bytes += msg.len();
                self.queue.push_back(msg);
                if self.bytes >= cx.config.pack {
                    self.flush(cx);
                }
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(mut cast) => {
                if cast.from == self.rank {
                    self.under_way = self.under_way.saturating_sub(1);
                }
                match cast.msg.pop() {
                    Ok([PACK]) => Self::unpack(cast, cx),
                    Ok([ONE]) => cx.up(Up::Cast(Cast { number: 0, ..cast })),
                    _ => {}
                }
            }
            Up::Block => {
                self.blocked = true;
                cx.up(Up::Block);
            }
            Up::View(view) => {
                self.rank = view.rank(&cx.me).unwrap_or(0);
                self.under_way = 0;
                self.blocked = false;
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn idle(&mut self, cx: &mut Cx<impl Near>) {
        self.flush(cx);
    }

    fn backlog(&self) -> usize {
        self.bytes
    }

    fn held(&self) -> usize {
        self.queue.len()
    }

    fn waits(&self, to: &mut Waits, shared: &Shared) {
        // An application that acknowledges by itself may take its time.
        if !(self.queue.is_empty() || self.blocked || shared.config.app_acks) {
            to.add(0, self.rank, self.sent, "casts, and the others do not confirm what it cast before");
        }
    }
}
