//! TOTAL: one order of all casts, by a token.
//!
//! Protocol: who holds the token gives its casts the next numbers and may send; it passes the token with its last cast, or by itself, to the next that asked, in the order of ranks. Where none asked, the last
//! cast takes the token to the next of those that have sent since the holder's turn before: among members that all send, nobody asks, and a single sender keeps the token. Whoever has something to
//! send and no token asks by a cast, a while later where the token moves and may come by itself. Questions are numbered, and a pass says up to which its receiver's are answered, so that a question that comes late is not answered twice; who holds the token has no question open (Suzuki
//! and Kasami, *A distributed mutual exclusion algorithm*, ACM TOCS 1985). A new holder sends only after it has delivered all that was numbered before: a number is lost only with
//! all who had delivered it, and whoever sent later ones is among them. So what anybody delivered in a view, crashed members included, is a prefix of one
//! sequence, and the order is causal.
//! At a view's end what lies beyond a lost number is dropped by all alike (none of its senders moves on); what was not sent is sent in the next view, where rank 0 has the token.
//! Header: 15 bytes: kind, number, whom the token goes to, which of its questions that answers. Timers: WAIT. Requires P3, P8, P9, P15; provides P5 and P6.

use std::collections::{BTreeMap, VecDeque};

use crate::event::{Cast, Down, Up};
use crate::foretold::{Came, Foretold};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;
use crate::wire::Short;

/// Bytes of the header.
pub(super) const HEADER: usize = 15;
const DATA: u8 = 1;
const ASK: u8 = 2;
const PASS: u8 = 3;
const WAIT: u32 = 0;
const NOBODY: u16 = u16::MAX;
/// Casts that one holder sends before it passes the token on, if others wait.
const TURN: usize = 64;

#[derive(Default)]
pub(super) struct Total {
    rank: u16,
    holding: bool,
    /// Holding: the next number to give. All below `floor` must be delivered before.
    number: u64,
    floor: u64,
    delivered: u64,
    early: BTreeMap<u64, Cast>,
    pending: VecDeque<Msg>,
    bytes: usize,
    /// Questions that each member asked, and those that were answered.
    asked: Vec<u32>,
    answered: Vec<u32>,
    /// The number after each member's last cast, and the first that this member gave in its turn before and in this.
    sent: Vec<u64>,
    turns: [u64; 2],
    /// Whether the token went on with the last that was heard of it.
    moving: bool,
    blocked: bool,
}

impl Total {
    fn wants(&self, rank: usize) -> bool {
        self.asked[rank] > self.answered[rank]
    }

    /// Who gets the token next: the first that fits, after this member.
    fn heir(&self, fits: impl Fn(usize) -> bool) -> u16 {
        let n = self.asked.len();
        let me = usize::from(self.rank);
        (1..n).map(|step| (me + step) % n).find(|&r| fits(r)).map_or(NOBODY, |r| r as u16)
    }

    /// Who wants it, or else who is likely to.
    fn likely(&self) -> u16 {
        match self.heir(|r| self.wants(r)) {
            NOBODY => self.heir(|r| self.sent[r] > self.turns[0]),
            heir => heir,
        }
    }

    fn header(&self, kind: u8, number: u64, heir: u16) -> [u8; HEADER] {
        let mut to = [0; HEADER];
        to[0] = kind;
        to[1..9].copy_from_slice(&number.to_le_bytes());
        to[9..11].copy_from_slice(&heir.to_le_bytes());
        let answers = if kind == ASK { self.asked[usize::from(self.rank)] } else { 0 };
        let answers = self.asked.get(usize::from(heir)).copied().unwrap_or(answers);
        to[11..].copy_from_slice(&answers.to_le_bytes());
        to
    }

    fn ask(&mut self, cx: &mut Cx<impl Near>) {
        self.asked[usize::from(self.rank)] += 1;
        let mut msg = Msg::new(Vec::new());
        msg.push(&self.header(ASK, 0, NOBODY));
        cx.down(Down::Cast(msg));
    }

    fn go(&mut self, cx: &mut Cx<impl Near>) {
        if self.blocked || self.asked.is_empty() {
            return;
        }
        let me = usize::from(self.rank);
        if !self.holding {
            if !self.pending.is_empty() && !self.wants(me) {
                if !self.moving {
                    self.ask(cx);
                } else if !cx.awaits(WAIT) {
                    cx.wake(WAIT, cx.now + cx.config.nak_delay);
                }
            }
            return;
        }
        if self.delivered < self.floor && !cx.mutant(Mutant::TokenEarly) {
            return;
        }
        if !self.pending.is_empty() {
            self.turns = [self.turns[1], self.number];
        }
        let mut sent = 0;
        while let Some(mut msg) = self.pending.pop_front() {
            sent += 1;
            self.bytes -= msg.len();
            let last = self.pending.is_empty() || sent >= TURN;
            let heir = if last { self.likely() } else { NOBODY };
            msg.push(&self.header(DATA, self.number, heir));
            self.number += 1;
            cx.down(Down::Cast(msg));
            if heir != NOBODY {
                return self.passed(heir, cx);
            }
        }
        let heir = self.heir(|r| self.wants(r));
        if heir != NOBODY {
            let mut msg = Msg::new(Vec::new());
            msg.push(&self.header(PASS, self.number, heir));
            cx.down(Down::Cast(msg));
            self.passed(heir, cx);
        }
    }

    fn passed(&mut self, heir: u16, cx: &mut Cx<impl Near>) {
        self.holding = false;
        self.moving = true;
        cx.cancel(WAIT);
        let heir = usize::from(heir);
        self.answered[heir] = self.asked[heir];
        self.go(cx);
    }

    fn cast(&mut self, mut cast: Cast, cx: &mut Cx<impl Near>) -> Result<(), Short> {
        let header = cast.msg.pop::<HEADER>()?;
        let number = self.heard(cast.from, &header, cx);
        if header[0] == DATA {
            if cx.mutant(Mutant::TotalByArrival) {
                self.delivered += 1;
                cx.up(Up::Cast(cast));
            } else {
                self.early.insert(number, cast);
                while let Some(cast) = self.early.remove(&self.delivered) {
                    self.delivered += 1;
                    cx.up(Up::Cast(cast));
                }
            }
        }
        Ok(())
    }

    /// What a header says of the token; the cast's number.
    fn heard(&mut self, from: u16, header: &[u8; HEADER], cx: &mut Cx<impl Near>) -> u64 {
        let [kind, number @ .., h0, h1, a0, a1, a2, a3] = *header;
        let (number, heir) = (u64::from_le_bytes(number), u16::from_le_bytes([h0, h1]));
        let answers = u32::from_le_bytes([a0, a1, a2, a3]);
        let own = from == self.rank;
        let from = usize::from(from);
        match kind {
            ASK => self.asked[from] = answers.max(self.asked[from]),
            DATA | PASS => {
                self.answered[from] = self.asked[from];
                self.moving = heir != NOBODY;
                self.sent[from] = self.sent[from].max(number.saturating_add(u64::from(kind == DATA)));
                // What this member passed it has noted as it did so.
                if let (false, Some(answered)) = (own, self.answered.get_mut(usize::from(heir))) {
                    *answered = answers.max(*answered);
                    if heir == self.rank {
                        self.holding = true;
                        cx.cancel(WAIT);
                        self.number = number.saturating_add(u64::from(kind == DATA));
                        self.floor = self.number;
                        self.answered[usize::from(heir)] = self.asked[usize::from(heir)];
                    }
                }
            }
            _ => {}
        }
        number
    }
}

impl Layer for Total {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(msg) => {
                self.bytes += msg.len();
                self.pending.push_back(msg);
                if self.bytes >= cx.config.pack {
                    self.go(cx);
                }
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(cast) => {
                let _ = self.cast(cast, cx);
            }
            Up::Block => {
                self.blocked = true;
                cx.up(Up::Block);
            }
            Up::View(view) => {
                let n = view.members.len();
                self.rank = view.rank(&cx.me).unwrap_or(0);
                self.holding = self.rank == 0;
                (self.number, self.floor, self.delivered) = (0, 0, 0);
                self.early.clear();
                self.asked = vec![0; n];
                self.answered = vec![0; n];
                self.sent = vec![0; n];
                self.turns = [0, 0];
                self.moving = false;
                cx.cancel(WAIT);
                self.blocked = false;
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn foretell(&self, _: u16, to: &mut Foretold, shared: &Shared) -> bool {
        // Where the token goes is not foretold.
        let foretold = if shared.mutant(Mutant::FastSkipsOrder) { 1 } else { 9 };
        self.early.is_empty()
            && !self.asked.is_empty()
            && to.moves(&self.header(DATA, self.delivered, NOBODY), foretold)
    }

    fn took(&mut self, came: &Came, cx: &mut Cx<impl Near>) {
        let from = came.from();
        if let Some(header) = came.header().first_chunk() {
            self.heard(from, header, cx);
            self.delivered += 1;
        }
    }

    /// All that came at a moment is sent in one turn.
    fn idle(&mut self, cx: &mut Cx<impl Near>) {
        self.go(cx);
    }

    /// The token did not come by itself.
    fn timer(&mut self, _: u32, cx: &mut Cx<impl Near>) {
        if !(self.holding || self.blocked || self.pending.is_empty() || self.wants(usize::from(self.rank))) {
            self.ask(cx);
        }
    }

    fn backlog(&self) -> usize {
        self.bytes
    }

    fn held(&self) -> usize {
        self.pending.len() + self.early.len()
    }

    fn waits(&self, to: &mut Waits, _: &Shared) {
        if let Some(cast) = self.early.values().next() {
            to.add(
                0,
                cast.from,
                self.delivered,
                "has cast what comes later in the total order than what is here, and nothing comes in between",
            );
        } else if !self.pending.is_empty() && !self.blocked {
            to.add(
                0,
                self.rank,
                self.delivered,
                "has something to cast, and the token of the total order does not come",
            );
        }
    }
}
