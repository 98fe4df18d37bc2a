//! The short way of a conversation: a small message to a peer that is done with everything sent before, and back.
//!
//! Both sides know what such a message's header must be before it comes. The receiver compares one word instead of taking it
//! apart, and the sender has nothing to reserve. `examples/shm_steps.rs` times what is left above the bare protocol. Whatever is not
//! as expected goes the general way.

use super::{Consumer, Held, Lane, Producer, WARM_SLOTS};
use crate::shm::place::{DATA, Piece, Place, SLOTS};
use crate::shm::slot::{Said, Slot};

/// What an answer in `slot` says of a message of `left` bytes.
#[inline(always)]
fn said(slot: u32, left: usize, seen: u32) -> Said {
    Said { left: left as u32, slots_back: slot + 1 >= WARM_SLOTS, data_back: true, seen }
}

impl Producer {
    /// Messages sent, modulo 2^32: what an answer to all of them says as `seen`.
    #[inline(always)]
    pub(in crate::shm) fn sent(&self) -> u32 {
        self.next as u32
    }

    /// The peer's last message answered all that was sent: what [`Producer::acknowledge`] does, which ignores what it can't tell.
    #[inline(always)]
    pub(in crate::shm) fn acknowledge_all(&mut self) {
        if self.next - self.acknowledged <= u64::from(u32::MAX) {
            self.acknowledged = self.next;
        }
    }

    /// Sends `bytes`, at most [`INLINE`](crate::shm::slot::INLINE), if the peer is done with all messages before: what
    /// [`Producer::reserve`] and [`Producer::publish`] do. False where it is not; nothing has happened then.
    #[inline(always)]
    pub(in crate::shm) fn answer(&mut self, lane: &Lane, bytes: &[u8], seen: u32) -> bool {
        if !self.answered() {
            return false;
        }
        let slot = self.place.slot;
        let said = said(slot, bytes.len(), seen);
        let to = lane.slot(self.place);
        to.write(bytes);
        to.say(self.next, said);
        let held = Held { slots: if said.slots_back { SLOTS - slot } else { 1 }, data: 0 };
        self.held[(self.next % u64::from(SLOTS)) as usize] = held;
        (self.freed, self.slots, self.room) = (self.next, SLOTS - held.slots, DATA);
        self.place = Place { slot: if said.slots_back { 0 } else { slot + 1 }, data: 0 };
        self.next += 1;
        true
    }
}

/// The answer that a consumer waits for.
#[derive(Clone, Copy)]
pub(in crate::shm) struct Answer<'a> {
    slot: &'a Slot,
    number: u64,
    said: Said,
    word: u64,
}

impl Answer<'_> {
    /// Whether the next message is there, an answer or not.
    #[inline(always)]
    pub(in crate::shm) fn there(self) -> bool {
        self.slot.there(self.number)
    }
}

impl Consumer {
    /// The next message, should it have `len` bytes, at most [`INLINE`](crate::shm::slot::INLINE), and answer all `sent`.
    #[inline(always)]
    pub(in crate::shm) fn awaited<'a>(&self, lane: &'a Lane, len: usize, sent: u32) -> Answer<'a> {
        let said = said(self.place.slot, len, sent);
        Answer { slot: lane.slot(self.place), number: self.next, said, word: said.word() }
    }

    /// Takes a message that is there. None where it is not as expected, and nothing has happened; else whether the
    /// producer should be woken, as [`Consumer::release`] has it.
    #[inline(always)]
    pub(in crate::shm) fn accept(&mut self, lane: &Lane, answer: Answer<'_>, bytes: &mut [u8]) -> Option<bool> {
        if answer.slot.header() != answer.word {
            return None;
        }
        answer.slot.read(bytes);
        self.place.data = 0;
        Some(self.release(lane, Piece::Slot(bytes.len()), answer.said))
    }
}
