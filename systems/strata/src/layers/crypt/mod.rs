//! CRYPT: strangers read nothing, make nothing that is taken, and what they heard is refused when they say it again.
//!
//! Protocol: each datagram is sealed with ChaCha20-Poly1305 (RFC 8439) under a key of its sender's own, drawn from the group's by HKDF-SHA-256 (RFC 5869) with the sender's address and number of this life,
//! and a counter as its nonce, so that no nonce comes twice. A receiver keeps a window of 1,024 counters for each sender (as IPsec does: RFC 4303, section 3.4.3) and refuses what is in it or before it.
//! A sender that it does not know has to show first that it lives: the receiver drops the datagram, sends a sealed CHALLENGE with a random number, and knows the sender when that comes back in a sealed RESPONSE,
//! whose counter begins the window. So what a dead member said, or this one said to others, can't be said to a member that was not there. Layers above repeat what was dropped.
//! What needs no proof is bounded: a datagram that does not open costs nothing but the try; known senders and open challenges are at most [`KNOWN`] each, the oldest go first.
//! Header: 9 bytes, kind and counter, and a tag of 16 behind the text. Timers: none. Requires P1, P10, P11; provides nothing that has a name.
//! All members share one key: one of them can play another. Datagrams' sizes and times, senders and receivers are in the open.

mod window;

use std::collections::BTreeMap;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf;

use crate::addr::Endpoint;
use crate::event::{Down, To, Up};
use crate::key::Key;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::wire::Writer;
use window::Window;

/// Bytes of header and tag.
pub(super) const HEADER: usize = 9 + 16;
const DATA: u8 = 1;
const CHALLENGE: u8 = 2;
const RESPONSE: u8 = 3;
/// Senders that are known, and challenges that are open.
const KNOWN: usize = 4096;

struct Peer {
    key: LessSafeKey,
    /// None until it answered a challenge.
    window: Option<Window>,
    challenge: [u8; 16],
    /// For who goes first when there are too many.
    seen: u64,
}

pub(super) struct Crypt {
    group: hkdf::Prk,
    own: Option<LessSafeKey>,
    counter: u64,
    peers: BTreeMap<Endpoint, Peer>,
    clock: u64,
}

impl Crypt {
    pub(super) fn new(key: &Key) -> Self {
        let group = hkdf::Salt::new(hkdf::HKDF_SHA256, b"strata CRYPT 1").extract(&key.0);
        Self { group, own: None, counter: 0, peers: BTreeMap::new(), clock: 0 }
    }

    fn key_of(&self, who: Endpoint) -> Option<LessSafeKey> {
        let mut name = Writer::new();
        who.write(&mut name);
        let key = UnboundKey::from(self.group.expand(&[name.0.as_slice()], &CHACHA20_POLY1305).ok()?);
        Some(LessSafeKey::new(key))
    }

    fn seal(&mut self, kind: u8, head: &[u8], body: &[u8], me: Endpoint) -> Option<Msg> {
        if self.own.is_none() {
            self.own = self.key_of(me);
        }
        self.counter += 1;
        let mut text = Vec::with_capacity(HEADER + head.len() + body.len());
        text.extend_from_slice(head);
        text.extend_from_slice(body);
        let header = header(kind, self.counter);
        self.own.as_ref()?.seal_in_place_append_tag(nonce(self.counter), Aad::from(header), &mut text).ok()?;
        let mut msg = Msg::new(text);
        msg.push(&header);
        Some(msg)
    }

    fn open(&mut self, from: Endpoint, mut msg: Msg, cx: &mut Cx<impl Near>) -> Option<()> {
        let header = msg.pop::<9>().ok()?;
        let counter = u64::from_le_bytes(header[1..].try_into().ok()?);
        let mut text = msg.joined().to_vec();
        let key = match self.peers.get(&from) {
            Some(peer) => peer.key.clone(),
            None => self.key_of(from)?,
        };
        let len = key.open_in_place(nonce(counter), Aad::from(header), &mut text).ok()?.len();
        text.truncate(len);
        // From here on it is certain that a member made this, some time.
        self.clock += 1;
        let clock = self.clock;
        match header[0] {
            DATA => match self.peers.get_mut(&from).and_then(|p| p.window.as_mut().map(|w| (w, &mut p.seen))) {
                Some((window, seen)) => {
                    *seen = clock;
                    if window.fresh(counter) {
                        cx.up(Up::Packet(from, Msg::new(text)));
                    }
                }
                None => self.challenge(from, key, cx)?,
            },
            // It was made for this life of this member, by who asks now or asked before: an answer to an old one is of no use to anybody.
            CHALLENGE if text.len() == 16 + 8 && text[16..] == cx.me.born.to_le_bytes() => {
                let answer = self.seal(RESPONSE, &text[..16], &from.born.to_le_bytes(), cx.me)?;
                cx.down(Down::Packet(To::One(from.addr), answer));
            }
            RESPONSE if text.len() == 16 + 8 => {
                let peer = self.peers.get_mut(&from)?;
                if peer.window.is_none() && text[..16] == peer.challenge && text[16..] == cx.me.born.to_le_bytes() {
                    peer.window = Some(Window::after(counter));
                }
            }
            _ => {}
        }
        Some(())
    }

    fn challenge(&mut self, from: Endpoint, key: LessSafeKey, cx: &mut Cx<impl Near>) -> Option<()> {
        let clock = self.clock;
        if !self.peers.contains_key(&from) {
            if self.peers.len() >= KNOWN
                && let Some(oldest) = self.peers.iter().min_by_key(|(_, p)| p.seen).map(|(who, _)| *who)
            {
                self.peers.remove(&oldest);
            }
            // It is sealed and must only never come twice: the member's generator, seeded by the system's random numbers, will do, and simulated runs repeat.
            let mut challenge = [0; 16];
            challenge[..8].copy_from_slice(&cx.rng.draw().to_le_bytes());
            challenge[8..].copy_from_slice(&cx.rng.draw().to_le_bytes());
            self.peers.insert(from, Peer { key, window: None, challenge, seen: clock });
        }
        let challenge = self.peers.get(&from)?.challenge;
        let ask = self.seal(CHALLENGE, &challenge, &from.born.to_le_bytes(), cx.me)?;
        cx.down(Down::Packet(To::One(from.addr), ask));
        Some(())
    }
}

fn header(kind: u8, counter: u64) -> [u8; 9] {
    let mut to = [kind; 9];
    to[1..].copy_from_slice(&counter.to_le_bytes());
    to
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
                if let Some(sealed) = self.seal(DATA, msg.head(), msg.body(), cx.me) {
                    cx.down(Down::Packet(to, sealed));
                }
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Packet(from, msg) => {
                // What does not open is dropped without a word.
                let _ = self.open(from, msg, cx);
            }
            other => cx.up(other),
        }
    }
}

#[cfg(test)]
mod tests;
