//! The protocol of one direction: who may write which slot and which bytes of the data ring, and when.
//!
//! Each side keeps its place in private memory; the lane holds only what the other side must learn. Nothing here waits or
//! makes a system call, and the bytes of large messages are copied by the caller, so that loom can check the ordering.
//!
//! What travels is derived, not told: both sides cut a message by the same rule ([`Place::piece`]), so a slot says only how
//! many bytes of the message are left. A peer can lie about that number and be found out, never make this side read or
//! write outside the ring.
//!
//! Places go round the ring, but for one thing: when the peer's last message said that it is done with all of this side's,
//! the sender goes back to the start (`slots_back`, `data_back` in [`Said`]), so that a ping-pong keeps using the same few
//! lines. Going round 64 slots cost a 1-byte ping-pong 7% over the bare cache line, and going round 1 MiB of data a 1 KiB
//! one 45%; with 4 slots only, a stream of small messages was 2.6 times slower. Slots that are skipped count as held by
//! the message that skips them, so the order in which memory is freed stays the order of the messages.

mod answer;

pub(super) use answer::Turn;

use super::place::{DATA, Piece, Place, SLOTS};
use super::slot::{Said, Slot};
use super::sync::{AtomicU64, Ordering};

/// Slots that a conversation uses.
const WARM_SLOTS: u32 = if cfg!(loom) { 2 } else { 4 };
/// Small messages that the consumer may have taken without saying so in `freed`, besides the few of a conversation that skip no
/// slots. Less than the lane, or the producer could wait for ever; more than one, so that the line of `freed` does not move between the CPUs with each message. (To hold
/// back news of freed data as well gained nothing.)
const UNTOLD: u64 = (SLOTS as u64).div_ceil(4);

/// What the two sides of one direction share. All-zero memory is an empty lane.
#[repr(C, align(128))]
pub(super) struct Lane {
    freed: Freed,
    slots: [Slot; SLOTS as usize],
}

/// Messages the consumer is done with. In lines of its own (CPUs fetch them in pairs), which the producer reads only when
/// it believes the lane to be full.
#[repr(C, align(128))]
struct Freed(AtomicU64);

impl Lane {
    #[inline(always)]
    fn slot(&self, place: Place) -> &Slot {
        &self.slots[(place.slot % SLOTS) as usize]
    }

    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self { freed: Freed(AtomicU64::new(0)), slots: std::array::from_fn(|_| Slot::new()) }
    }
}

/// The other side claims to have taken messages that were never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadIndex {
    /// Messages it claims to be done with.
    pub(super) claimed: u64,
    /// Messages sent so far.
    pub(super) sent: u64,
}

/// What a message under way keeps from being used.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    slots: u32,
    data: u32,
}

/// The sending side of a lane.
#[derive(Debug)]
pub(super) struct Producer {
    /// Number of the next message.
    next: u64,
    /// What the last incoming message said about this lane: messages its sender is done with. Never above `next`.
    acknowledged: u64,
    /// Messages whose slots and bytes are accounted for as free.
    freed: u64,
    place: Place,
    /// Free slots, from `place` on.
    slots: u32,
    /// Free bytes of the data ring, from `place` on.
    room: usize,
    /// Indexed by message number: at most [`SLOTS`] are under way.
    held: [Held; SLOTS as usize],
}

impl Producer {
    pub(super) fn new() -> Self {
        let held = [Held::default(); SLOTS as usize];
        Self { next: 0, acknowledged: 0, freed: 0, place: Place::default(), slots: SLOTS, room: DATA, held }
    }

    /// Where the next piece of a message with `left` bytes left goes, if there is room for it.
    #[inline(always)]
    pub(super) fn reserve(&mut self, lane: &Lane, left: usize) -> Result<Option<Piece>, BadIndex> {
        if self.answered() {
            // Nothing is under way: no need to count, and the data can start anywhere.
            (self.freed, self.slots, self.room) = (self.next, SLOTS, DATA);
            self.place.data = 0;
        }
        let piece = self.place.piece(left);
        if !self.fits(piece) {
            self.learn(lane)?;
            if !self.fits(piece) {
                return Ok(None);
            }
        }
        Ok(Some(piece))
    }

    /// Whether the peer's last message said that it is done with all of this side's: a conversation.
    #[inline(always)]
    fn answered(&self) -> bool {
        self.acknowledged == self.next
    }

    /// Whether an answer to all that is under way can be told from one to none, modulo 2^32.
    #[inline(always)]
    fn tells_answers(&self) -> bool {
        self.next - self.acknowledged <= u64::from(u32::MAX)
    }

    #[inline(always)]
    fn fits(&self, piece: Piece) -> bool {
        self.slots > 0 && piece.room() <= self.room
    }

    /// Whether the consumer has freed something since this side last looked.
    #[inline]
    pub(super) fn news(&self, lane: &Lane) -> bool {
        lane.freed.0.load(Ordering::Relaxed) > self.freed
    }

    /// Messages that the consumer is known to be done with.
    pub(super) fn freed(&self) -> u64 {
        self.freed
    }

    #[cold]
    fn learn(&mut self, lane: &Lane) -> Result<(), BadIndex> {
        // Acquire: what the consumer read from the freed memory, it read before this side writes there again.
        let freed = lane.freed.0.load(Ordering::Acquire);
        self.check(freed)?;
        // An old number is no lie (`acknowledged` may have overtaken it) and frees nothing.
        while self.freed < freed {
            let held = self.held[(self.freed % u64::from(SLOTS)) as usize];
            self.slots += held.slots;
            self.room += held.data as usize;
            self.freed += 1;
        }
        Ok(())
    }

    fn check(&self, claimed: u64) -> Result<(), BadIndex> {
        if claimed > self.next { Err(BadIndex { claimed, sent: self.next }) } else { Ok(()) }
    }

    /// Takes what an incoming message says: its sender is done with `seen` messages of this lane, modulo 2^32. (The message
    /// was looked at with Acquire, which orders this as in `learn`.)
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, seen: u32) -> Result<(), BadIndex> {
        // The number only ever rises, from `acknowledged` to at most `next`. Should these two ever be 2^32 apart, it can't be told
        // any more, and is ignored from then on.
        if self.tells_answers() {
            let acknowledged = self.acknowledged + u64::from(seen.wrapping_sub(self.acknowledged as u32));
            self.check(acknowledged)?;
            self.acknowledged = acknowledged;
        }
        Ok(())
    }

    /// Announces `piece`, just reserved, of a message with `left` bytes left: `bytes` are its payload if it travels in the
    /// slot; otherwise they lie in the data ring already. `seen` is for the peer's [`Producer::acknowledge`].
    #[inline(always)]
    pub(super) fn publish(&mut self, lane: &Lane, left: usize, piece: Piece, bytes: &[u8], seen: u32) {
        let slot = self.place.slot;
        let data_back = self.answered();
        let slots_back = data_back && slot + 1 >= WARM_SLOTS;
        let to = lane.slot(self.place);
        if let Piece::Slot(_) = piece {
            to.write(bytes);
        }
        to.say(self.next, Said { left: Said::left(left), slots_back, data_back, seen });
        let held = Held { slots: if slots_back { SLOTS - slot } else { 1 }, data: piece.room() as u32 };
        self.held[(self.next % u64::from(SLOTS)) as usize] = held;
        self.slots -= held.slots;
        self.room -= held.data as usize;
        self.place.pass(piece, slots_back);
        self.next += 1;
    }
}

/// The receiving side of a lane.
#[derive(Debug)]
pub(super) struct Consumer {
    /// Number of the next message.
    next: u64,
    /// Messages that `freed` says are done with.
    told: u64,
    place: Place,
}

impl Consumer {
    pub(super) fn new() -> Self {
        Self { next: 0, told: 0, place: Place::default() }
    }

    /// Messages taken, modulo 2^32: what goes back to the peer as `seen`.
    #[inline(always)]
    pub(super) fn seen(&self) -> u32 {
        self.next as u32
    }

    /// What the next message says, if one is there.
    #[inline(always)]
    pub(super) fn look(&self, lane: &Lane) -> Option<Said> {
        lane.slot(self.place).look(self.next)
    }

    /// Where the next piece lies, given what its slot said and that `left` bytes of the message are expected.
    #[inline(always)]
    pub(super) fn piece(&mut self, said: Said, left: usize) -> Piece {
        if said.data_back {
            self.place.data = 0;
        }
        self.place.piece(left)
    }

    /// Reads the bytes of a [`Piece::Slot`].
    #[inline(always)]
    pub(super) fn read(&self, lane: &Lane, bytes: &mut [u8]) {
        lane.slot(self.place).read(bytes);
    }

    /// Frees the message; true if the producer could learn of it, that is, should be woken if it sleeps.
    #[inline(always)]
    pub(super) fn release(&mut self, lane: &Lane, piece: Piece, said: Said) -> bool {
        self.place.pass(piece, said.slots_back);
        self.next += 1;
        // At once for whatever holds more than a slot: the producer may be waiting for just that.
        let tell = piece.room() > 0 || said.slots_back || self.next - self.told >= UNTOLD;
        if tell {
            self.told = self.next;
            // Release: everything read from the freed memory was read before.
            lane.freed.0.store(self.next, Ordering::Release);
        }
        tell
    }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
