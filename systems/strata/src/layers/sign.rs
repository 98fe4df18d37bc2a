//! SIGN: who has not the group's key makes no datagram that is taken.
//!
//! Protocol: HMAC-SHA-256, cut to 16 bytes, over the sender's address and number of this life, which COM's header carries unprotected, over a kind and a counter, over the address of the member that it is for, unless it goes to all, and over all that is above. By the counter replays are refused, and
//! unknown senders are challenged (`senders`). What is said can be read by anybody: CRYPT hides it.
//! Who has another key is answered now and then by a mark over nothing, which tells it so (`refusals`).
//! Header: 25 bytes: kind, counter, mark. Timers: none. Requires P1, P10, P11; provides nothing that has a name.
//! It stands with MBRSHIP only, by which lives of a member differ: else what an earlier run said would be taken in the next.

use bytes::Bytes;
use ring::hmac;

use super::refusals::Refusals;
use super::senders::{CAST, DATA, REFUSED, Senders, Verdict, bound_for, covered, header};
use crate::addr::{Addr, Endpoint};
use crate::event::{Down, To, Up};
use crate::key::Key;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::wire::{Short, Writer};

/// Bytes of a mark, and of the header.
const MARK: usize = 16;
pub(super) const HEADER: usize = 9 + MARK;

pub(super) struct Sign {
    key: hmac::Key,
    counter: u64,
    senders: Senders<()>,
    refusals: Refusals,
}

impl Sign {
    pub(super) fn new(key: &Key) -> Self {
        // A key of its own, so that one file may serve SIGN and CRYPT.
        let own = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), b"strata SIGN 3");
        let key = hmac::Key::new(hmac::HMAC_SHA256, own.as_ref());
        Self { key, counter: 0, senders: Senders::default(), refusals: Refusals::default() }
    }

    fn mark(&self, of: Endpoint, covered: &[u8], head: &[u8], body: &[u8]) -> [u8; MARK] {
        let mut who = Writer::new();
        of.write(&mut who);
        let mut context = hmac::Context::with_key(&self.key);
        [&who.0[..], covered, head, body].iter().for_each(|part| context.update(part));
        let mut mark = [0; MARK];
        mark.copy_from_slice(&context.sign().as_ref()[..MARK]);
        mark
    }

    fn signed(&mut self, kind: u8, to: Option<Addr>, mut msg: Msg, me: Endpoint) -> Msg {
        self.counter += 1;
        let header = header(kind, self.counter);
        let mark = self.mark(me, &covered(&header, to), msg.head(), msg.body());
        msg.push(&mark);
        msg.push(&header);
        msg
    }

    fn verify(&mut self, from: Endpoint, mut msg: Msg, cx: &mut Cx<impl Near>) -> Result<(), Short> {
        let header = msg.pop::<9>()?;
        let said = msg.pop::<MARK>()?;
        let due = self.mark(from, &covered(&header, Some(cx.me.addr)), msg.head(), msg.body());
        // In constant time: all bytes are compared, whatever the first ones say.
        if said.iter().zip(due).fold(0, |differs, (a, b)| differs | (a ^ b)) != 0 {
            self.refusals.notice(
                from,
                "is signed with a key that is not this member's key, or for another member, or is damaged",
                cx,
            );
            if self.refusals.answers(msg.is_empty(), cx) {
                let nothing = self.signed(REFUSED, Some(from.addr), Msg::new(Vec::new()), cx.me);
                cx.down(Down::Packet(To::One(from.addr), nothing));
            }
            return Ok(());
        }
        let counter = u64::from_le_bytes([
            header[1], header[2], header[3], header[4], header[5], header[6], header[7], header[8],
        ]);
        let me = cx.me;
        // Only a challenge or its answer is looked into.
        let text = if matches!(header[0], DATA | CAST) { Bytes::new() } else { msg.clone().joined() };
        match self.senders.judge(from, (header[0], counter, &text), me, &mut cx.rng, || ()) {
            Verdict::Take => cx.up(Up::Packet(from, msg)),
            Verdict::Drop => {}
            Verdict::Say(kind, proof) => {
                let proof = self.signed(kind, Some(from.addr), Msg::new(proof.to_vec()), me);
                cx.down(Down::Packet(To::One(from.addr), proof));
            }
        }
        Ok(())
    }
}

impl Layer for Sign {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Packet(to, msg) => {
                let (kind, receiver) = bound_for(&to);
                let signed = self.signed(kind, receiver, msg, cx.me);
                cx.down(Down::Packet(to, signed));
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Packet(from, msg) => {
                // What is too short is dropped.
                let _ = self.verify(from, msg, cx);
            }
            other => cx.up(other),
        }
    }
}
