//! CRYPT: strangers read nothing, make nothing that is taken, and what they heard is refused when they say it again.
//!
//! Protocol: each datagram is sealed with ChaCha20-Poly1305 (RFC 8439) under a key of its sender's own, drawn from the group's by HKDF-SHA-256 (RFC 5869) with the sender's address and number of this life,
//! and a counter as its nonce, so that no nonce comes twice; the address of the member that it is for, unless it goes to all, is authenticated with it. By that counter replays are refused, and unknown senders are challenged (`senders`).
//! What needs no proof is bounded: a datagram that does not open costs nothing but the try, and now and then an answer without a text, which tells its sender that keys differ (`refusals`).
//! Header: 9 bytes, kind and counter, and a tag of 16 behind the text. Timers: none. Requires P1, P10, P11; provides nothing that has a name.
//! All members share one key: one of them can play another. Datagrams' sizes and times, senders and receivers are in the open.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf;

use super::refusals::Refusals;
use super::senders::{REFUSED, Senders, Verdict, bound_for, covered, header};
use crate::addr::{Addr, Endpoint};
use crate::event::{Down, To, Up};
use crate::key::Key;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::wire::Writer;

/// Bytes of header and tag.
pub(super) const HEADER: usize = 9 + 16;
const TAG: usize = 16;
pub(super) struct Crypt {
    group: hkdf::Prk,
    own: Option<LessSafeKey>,
    counter: u64,
    senders: Senders<LessSafeKey>,
    refusals: Refusals,
}

impl Crypt {
    pub(super) fn new(key: &Key) -> Self {
        let group = hkdf::Salt::new(hkdf::HKDF_SHA256, b"strata CRYPT 2").extract(&key.0);
        Self { group, own: None, counter: 0, senders: Senders::default(), refusals: Refusals::default() }
    }

    fn key_of(&self, who: Endpoint) -> Option<LessSafeKey> {
        let mut name = Writer::new();
        who.write(&mut name);
        let key = UnboundKey::from(self.group.expand(&[name.0.as_slice()], &CHACHA20_POLY1305).ok()?);
        Some(LessSafeKey::new(key))
    }

    fn seal(&mut self, (kind, to): (u8, Option<Addr>), head: &[u8], body: &[u8], me: Endpoint) -> Option<Msg> {
        if self.own.is_none() {
            self.own = self.key_of(me);
        }
        self.counter += 1;
        let mut text = Vec::with_capacity(HEADER + head.len() + body.len());
        text.extend_from_slice(head);
        text.extend_from_slice(body);
        let header = header(kind, self.counter);
        let aad = Aad::from(covered(&header, to));
        self.own.as_ref()?.seal_in_place_append_tag(nonce(self.counter), aad, &mut text).ok()?;
        let mut msg = Msg::new(text);
        msg.push(&header);
        Some(msg)
    }

    fn open(&mut self, from: Endpoint, mut msg: Msg, cx: &mut Cx<impl Near>) -> Option<()> {
        let header = msg.pop::<9>().ok()?;
        let counter = u64::from_le_bytes(header[1..].try_into().ok()?);
        let mut text = msg.joined().to_vec();
        let key = match self.senders.key(&from) {
            Some(key) => key.clone(),
            None => self.key_of(from)?,
        };
        let sealed = text.len();
        let aad = Aad::from(covered(&header, Some(cx.me.addr)));
        let Ok(opened) = key.open_in_place(nonce(counter), aad, &mut text) else {
            return self.refuse(from, sealed <= TAG, cx);
        };
        let len = opened.len();
        text.truncate(len);
        // From here on it is certain that a member made this, some time.
        let me = cx.me;
        match self.senders.judge(from, (header[0], counter, &text), me, &mut cx.rng, || key) {
            Verdict::Take => cx.up(Up::Packet(from, Msg::new(text))),
            Verdict::Drop => {}
            Verdict::Say(kind, proof) => {
                let sealed = self.seal((kind, Some(from.addr)), &proof, &[], me)?;
                cx.down(Down::Packet(To::One(from.addr), sealed));
            }
        }
        Some(())
    }

    fn refuse(&mut self, from: Endpoint, empty: bool, cx: &mut Cx<impl Near>) -> Option<()> {
        self.refusals.notice(
            from,
            "is sealed with a key that is not this member's key, or for another member, or is damaged",
            cx,
        );
        if self.refusals.answers(empty, cx) {
            let nothing = self.seal((REFUSED, Some(from.addr)), &[], &[], cx.me)?;
            cx.down(Down::Packet(To::One(from.addr), nothing));
        }
        Some(())
    }
}

fn nonce(counter: u64) -> Nonce {
    let mut to = [0; 12];
    to[..8].copy_from_slice(&counter.to_le_bytes());
    Nonce::assume_unique_for_key(to)
}

impl Layer for Crypt {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Packet(to, msg) => {
                if let Some(sealed) = self.seal(bound_for(&to), msg.head(), msg.body(), cx.me) {
                    cx.down(Down::Packet(to, sealed));
                }
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Packet(from, msg) => {
                // Whatever is wrong with it, it is dropped.
                let _ = self.open(from, msg, cx);
            }
            other => cx.up(other),
        }
    }
}
