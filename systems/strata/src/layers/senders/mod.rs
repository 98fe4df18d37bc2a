//! Which senders SIGN and CRYPT know, and what of theirs was taken already: so that nothing is taken twice, and nothing that a dead member said.
//!
//! A receiver keeps a window of 1,024 counters for each sender (as IPsec does: RFC 4303, section 3.4.3) and refuses what is in it or before it. A sender that it does not know has to show first that it lives: its
//! datagram is dropped, it is sent a CHALLENGE with a random number, and is known when that comes back in a RESPONSE, whose counter begins the window. Both name the life that they are for. So a member
//! takes nothing that was said before it knew the sender: neither what a dead member said, nor what this one said to others. From then on what goes to one member is taken by no other, since the mark names its address; a cast is marked for all. Layers above repeat what was dropped. Known senders and open challenges are at most [`KNOWN`], the oldest go first.
//! Pure; what is asked here must have been proven to be a member's own, some time.

mod window;

use std::collections::BTreeMap;

use crate::addr::{Addr, Endpoint, write_addr};
use crate::event::To;
use crate::rng::Rng;
use crate::wire::Writer;
use window::Window;

/// Senders that are known, and challenges that are open.
const KNOWN: usize = 4096;
/// Bytes of a challenge, and of what carries one or answers it: with the number of the life that it is for.
const RANDOM: usize = 16;
pub(super) const PROOF: usize = RANDOM + 8;

/// Kinds of datagrams. What layers above say goes to one member, or to all.
pub(super) const DATA: u8 = 1;
pub(super) const CAST: u8 = 5;
pub(super) const CHALLENGE: u8 = 2;
pub(super) const RESPONSE: u8 = 3;
pub(super) const REFUSED: u8 = 4;

struct Sender<K> {
    key: K,
    /// None until it answered a challenge.
    window: Option<Window>,
    challenge: [u8; RANDOM],
    /// For who goes first when there are too many.
    seen: u64,
}

/// Senders, with what is kept of each beside.
pub(super) struct Senders<K> {
    known: BTreeMap<Endpoint, Sender<K>>,
    clock: u64,
}

impl<K> Default for Senders<K> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), clock: 0 }
    }
}

/// What is to be done with a datagram that a member made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Its text goes up.
    Take,
    /// It is dropped.
    Drop,
    /// It is dropped, and its sender is sent this kind with this text.
    Say(u8, [u8; PROOF]),
}

impl<K> Senders<K> {
    pub(super) fn key(&self, of: &Endpoint) -> Option<&K> {
        self.known.get(of).map(|sender| &sender.key)
    }

    /// A datagram of this kind, with this counter and text, came; `key` is what is kept of a sender that is not known yet.
    pub(super) fn judge(
        &mut self,
        from: Endpoint,
        (kind, counter, text): (u8, u64, &[u8]),
        me: Endpoint,
        rng: &mut Rng,
        key: impl FnOnce() -> K,
    ) -> Verdict {
        self.clock += 1;
        let proof: Option<(&[u8], &[u8])> = (text.len() == PROOF).then(|| text.split_at(RANDOM));
        match (kind, proof) {
            (DATA | CAST, _) => {
                match self.known.get_mut(&from).and_then(|s| s.window.as_mut().map(|w| (w, &mut s.seen))) {
                    Some((window, seen)) => {
                        *seen = self.clock;
                        if window.fresh(counter) { Verdict::Take } else { Verdict::Drop }
                    }
                    None => Verdict::Say(CHALLENGE, proof_of(self.challenge(from, rng, key), from)),
                }
            }
            // It was made for this life of this member, by who asks now or asked before: an answer to an old one is of no use to anybody.
            (CHALLENGE, Some((random, life))) if life == me.born.to_le_bytes() => {
                let mut challenge = [0; RANDOM];
                challenge.copy_from_slice(random);
                Verdict::Say(RESPONSE, proof_of(challenge, from))
            }
            (RESPONSE, Some((random, life))) if life == me.born.to_le_bytes() => {
                if let Some(sender) = self.known.get_mut(&from)
                    && sender.window.is_none()
                    && random == sender.challenge
                {
                    sender.window = Some(Window::after(counter));
                }
                Verdict::Drop
            }
            _ => Verdict::Drop,
        }
    }

    fn challenge(&mut self, from: Endpoint, rng: &mut Rng, key: impl FnOnce() -> K) -> [u8; RANDOM] {
        if let Some(sender) = self.known.get(&from) {
            return sender.challenge;
        }
        if self.known.len() >= KNOWN
            && let Some(oldest) = self.known.iter().min_by_key(|(_, s)| s.seen).map(|(who, _)| *who)
        {
            self.known.remove(&oldest);
        }
        // It is authenticated and must only never come twice: the member's generator, seeded by the system's random numbers, will do, and simulated runs repeat.
        let mut challenge = [0; RANDOM];
        challenge[..8].copy_from_slice(&rng.draw().to_le_bytes());
        challenge[8..].copy_from_slice(&rng.draw().to_le_bytes());
        self.known.insert(from, Sender { key: key(), window: None, challenge, seen: self.clock });
        challenge
    }
}

fn proof_of(challenge: [u8; RANDOM], to: Endpoint) -> [u8; PROOF] {
    let mut proof = [0; PROOF];
    proof[..RANDOM].copy_from_slice(&challenge);
    proof[RANDOM..].copy_from_slice(&to.born.to_le_bytes());
    proof
}

/// Kind and counter, as they stand in headers.
pub(super) fn header(kind: u8, counter: u64) -> [u8; 9] {
    let mut to = [kind; 9];
    to[1..].copy_from_slice(&counter.to_le_bytes());
    to
}

/// The kind of what layers above say, and the address that it is for.
pub(super) fn bound_for(to: &To) -> (u8, Option<Addr>) {
    match to {
        To::All => (CAST, None),
        To::One(at) => (DATA, Some(*at)),
    }
}

/// What a mark covers beside sender and contents: kind, counter, and the address that the datagram is for. One that goes to all has none: over udp its copies are the same.
pub(super) fn covered(header: &[u8; 9], receiver: Option<Addr>) -> Vec<u8> {
    let mut to = Writer::new();
    to.bytes(header);
    if let Some(at) = receiver.filter(|_| header[0] != CAST) {
        write_addr(&at, &mut to);
    }
    to.0
}

#[cfg(test)]
mod tests;
