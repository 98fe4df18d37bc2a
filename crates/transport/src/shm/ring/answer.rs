//! The short way of a conversation: a small message that answers all that this side has sent, and this side's reply to it.
//!
//! Both sides know what such a message must look like before it comes, and what the reply must look like too. So all of that
//! is worked out before the wait ([`Turn::expect`]). What it changes is written down ([`Turn::settle`]) after the reply, while the
//! peer is at work; without a reply, when the next operation begins. Between the message and its reply lie one comparison, the
//! copies and, where slots are skipped, the store that frees them (what that saved: ARCHITECTURE.md). Whatever is not as
//! expected goes the general way.

use super::{Consumer, Held, Lane, Ordering, Producer, WARM_SLOTS};
use crate::shm::place::{DATA, Place, SLOTS};
use crate::shm::slot::{Said, Slot};

/// The header of a message in `slot` that answers all, with `left` bytes.
#[inline(always)]
fn word(slot: u32, left: usize, seen: u32) -> u64 {
    Said { left: left as u32, slots_back: skips(slot), data_back: true, seen }.word()
}

/// Whether an answer in `slot` skips all slots after it: what follows goes into the first one again.
#[inline(always)]
fn skips(slot: u32) -> bool {
    slot + 1 >= WARM_SLOTS
}

/// Where one of the two messages lies, and what its slot says.
#[derive(Debug, Clone, Copy, Default)]
struct Message {
    slot: u32,
    number: u64,
    word: u64,
}

impl Message {
    #[inline(always)]
    fn at(self, lane: &Lane) -> &Slot {
        lane.slot(Place { slot: self.slot, data: 0 })
    }
}

/// A message that answers all that this side has sent, and the reply to it.
///
/// From [`Turn::take`] to [`Turn::settle`] the producer and the consumer do not know of either: nothing but [`Turn::reply`]
/// may come between.
#[derive(Debug, Default)]
pub(in crate::shm) struct Turn {
    answer: Message,
    /// The reply, whose length is still missing in its word.
    reply: Message,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is taken that is not written down.
    #[default]
    Settled,
    /// The answer is taken.
    Taken,
    /// The answer is taken and replied to.
    Replied,
}

impl Turn {
    /// Works out the next message, should it have `len` bytes, at most [`INLINE`](crate::shm::slot::INLINE), and answer all
    /// that `tx` has sent; and the reply to it. All before is to be settled. False where an answer to all could not be told
    /// from one to none.
    #[inline(always)]
    pub(in crate::shm) fn expect(&mut self, rx: &Consumer, tx: &Producer, len: usize) -> bool {
        let (from, to) = (rx.place.slot, tx.place.slot);
        self.answer = Message { slot: from, number: rx.next, word: word(from, len, tx.next as u32) };
        self.reply = Message { slot: to, number: tx.next, word: word(to, 0, (rx.next + 1) as u32) };
        tx.tells_answers()
    }

    /// The slot to look at for the next message, an answer or not, and its number.
    #[inline(always)]
    pub(in crate::shm) fn awaits<'a>(&self, lane: &'a Lane) -> (&'a Slot, u64) {
        (self.answer.at(lane), self.answer.number)
    }

    /// Takes the message that is there. None where it is not as expected, and nothing has happened; else whether its producer
    /// was told so, and should be woken.
    #[inline(always)]
    pub(in crate::shm) fn take(&mut self, lane: &Lane, bytes: &mut [u8]) -> Option<bool> {
        let slot = self.answer.at(lane);
        if slot.header() != self.answer.word {
            return None;
        }
        slot.read(bytes);
        self.stage = Stage::Taken;
        let told = skips(self.answer.slot);
        if told {
            // At once: it holds all slots that it skips, and the producer may be waiting for them.
            lane.freed.0.store(self.answer.number + 1, Ordering::Release);
        }
        Some(told)
    }

    /// Whether an answer is taken that can be replied to.
    #[inline(always)]
    pub(in crate::shm) fn taken(&self) -> bool {
        self.stage == Stage::Taken
    }

    /// Sends `bytes`, at most [`INLINE`](crate::shm::slot::INLINE), in reply to what was taken.
    #[inline(always)]
    pub(in crate::shm) fn reply(&mut self, lane: &Lane, bytes: &[u8]) {
        let slot = self.reply.at(lane);
        slot.write(bytes);
        slot.say_word(self.reply.number, self.reply.word | bytes.len() as u64);
        self.stage = Stage::Replied;
    }

    /// Whether there is nothing to write down.
    #[inline(always)]
    pub(in crate::shm) fn settled(&self) -> bool {
        self.stage == Stage::Settled
    }

    /// Writes down what was taken and replied to: what [`Consumer::release`], [`Producer::acknowledge`], [`Producer::reserve`] and
    /// [`Producer::publish`] do. Its producer is told of nothing here: an answer that skips no slots can wait for one that does, or
    /// for a message that goes the general way.
    #[inline(always)]
    pub(in crate::shm) fn settle(&mut self, rx: &mut Consumer, tx: &mut Producer) {
        let stage = std::mem::take(&mut self.stage);
        if stage == Stage::Settled {
            return;
        }
        rx.next += 1;
        if skips(rx.place.slot) {
            rx.told = rx.next;
        }
        rx.place = after(rx.place.slot);
        tx.acknowledged = tx.next;
        if stage == Stage::Replied {
            let slot = tx.place.slot;
            let held = Held { slots: if skips(slot) { SLOTS - slot } else { 1 }, data: 0 };
            tx.held[(tx.next % u64::from(SLOTS)) as usize] = held;
            (tx.freed, tx.slots, tx.room) = (tx.next, SLOTS - held.slots, DATA);
            tx.place = after(slot);
            tx.next += 1;
        }
    }
}

/// The place after that of an answer in `slot`.
#[inline(always)]
fn after(slot: u32) -> Place {
    Place { slot: if skips(slot) { 0 } else { slot + 1 }, data: 0 }
}
