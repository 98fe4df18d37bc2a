//! How the messages of a trial lie in the memory of its link.

use std::ops::Range;

use transport::Room;

use crate::{Cache, TrialSpec};

/// Where the messages of a trial lie: at one place (warm), or in turn over a pool (cold).
pub struct Slots<'a> {
    memory: &'a mut [u8],
    len: usize,
    stride: usize,
    count: usize,
    at: usize,
    /// Whether nothing may be written behind a message, which is looked at.
    guarded: bool,
    /// What lies behind each message before this place holds [`HELD`]: of a cold pool those that were handed out.
    watched: usize,
}

/// Bytes behind the memory of messages that are received with `--check`, and what they hold.
pub(crate) const GUARD: u64 = 64;
const HELD: u8 = 0xA5;
/// Fewest bytes between two messages of a cold pool.
const GAP: u64 = 64;

impl Slots<'_> {
    /// How many bytes behind the end of its message the first byte was written that is none of a message's; none without `--check`. It is the nearest
    /// one of the first message behind which something was written: nobody knows which iteration did it.
    pub(crate) fn spilled(&self) -> Option<u64> {
        let mut behind = (0..self.watched).step_by(self.stride).map(|start| &self.memory[self.behind(start)]);
        behind.find_map(|bytes| bytes.iter().position(|byte| *byte != HELD)).map(|at| at as u64)
    }

    /// Bytes of a message.
    pub(crate) fn size(&self) -> u64 {
        self.len as u64
    }

    /// What lies behind the message that begins at `start`, up to the next one or to the end.
    fn behind(&self, start: usize) -> Range<usize> {
        let next = start + self.stride;
        let end = if next < self.stride * self.count { next } else { self.memory.len() };
        start + self.len..end
    }

    /// Begins to watch what lies behind the message at `start`. A pool is filled as its messages are handed out: all of it at once would take as long as
    /// many trials.
    #[cold]
    fn watch(&mut self, start: usize) {
        let behind = self.behind(start);
        self.memory[behind].fill(HELD);
        self.watched = start + self.stride;
    }

    /// The memory of the next message.
    #[inline(always)]
    pub fn slot(&mut self) -> &mut [u8] {
        let start = self.at;
        if self.count > 1 {
            if self.guarded && start >= self.watched {
                self.watch(start);
            }
            self.at += self.stride;
            if self.at >= self.stride * self.count {
                self.at = 0;
            }
        }
        &mut self.memory[start..start + self.len]
    }
}

/// Room for one side's messages of `len` bytes in one direction: how far apart they lie, how many there are, bytes in all.
pub(crate) struct Layout {
    len: u64,
    pub(crate) stride: u128,
    pub(crate) count: u128,
    pub(crate) need: u128,
    pub(crate) room: u128,
    guard: u64,
}

/// How messages of `len` bytes lie, in numbers that do not overflow whatever a peer asks for.
pub(crate) fn layout(spec: &TrialSpec, len: u64) -> Layout {
    // Slots of a cold pool keep the alignment and leave a gap, so that no prefetcher finds the next one ready.
    let stride = (u128::from(len) + u128::from(GAP)).next_multiple_of(u128::from(spec.align.max(64)));
    let count = if spec.cache == Cache::Cold { (u128::from(spec.pool) / stride).max(2) } else { 1 };
    let need = if count > 1 { stride * count } else { u128::from(len) };
    let room = to_grow(need, count);
    Layout { len, stride, count, need, room, guard: 0 }
}

/// Sizes come in random order: room to grow keeps the number of reservations small.
fn to_grow(need: u128, count: u128) -> u128 {
    if count > 1 { need } else { need.next_power_of_two().max(64 * 1024) }
}

impl Layout {
    /// The same with a guard behind the messages, where contents are checked.
    pub(crate) fn guarded(self, spec: &TrialSpec) -> Self {
        if !spec.check {
            return self;
        }
        // Beside the room to grow: a size that is a power of two would take twice its memory else.
        let (need, room) = (self.need + u128::from(GUARD), self.room + u128::from(GUARD));
        Self { need, room, guard: GUARD, ..self }
    }

    /// Memory for them that begins `offset` bytes from the trial's alignment.
    pub(crate) fn room(&self, spec: &TrialSpec, offset: u64) -> Room {
        let align = spec.align.max(1) as usize;
        Room { len: self.need as usize, reserve: self.room as usize, align, offset: offset as usize }
    }

    /// The places of the messages in such memory.
    pub(crate) fn slots(self, memory: &mut [u8]) -> Slots<'_> {
        let Self { len, stride, count, need, guard, .. } = self;
        // A link may have more from a larger size before.
        let memory = &mut memory[..need as usize];
        let (len, stride, count, guarded) = (len as usize, stride as usize, count as usize, guard > 0);
        let mut slots = Slots { memory, len, stride, count, at: 0, guarded, watched: 0 };
        if guarded && count == 1 {
            slots.watch(0);
        }
        slots
    }
}

/// Most bytes behind a message of the trial that are looked at; none without `--check`.
pub(crate) fn watched(spec: &TrialSpec) -> u64 {
    let between = match spec.cache {
        Cache::Warm => 0,
        // The gap to the next message, which keeps the alignment.
        Cache::Cold => GAP.saturating_add(spec.align.max(64)),
    };
    if spec.check { GUARD.saturating_add(between) } else { 0 }
}

/// Most bytes that a side reserves for a trial, with those that alignment and offset take beside its messages: a side must have them before
/// it agrees to the trial.
pub fn reserved(spec: &TrialSpec) -> u128 {
    let facts = spec.pattern.facts();
    let (there, back) = (facts.messages)(spec);
    let beside = u128::from(spec.align) + u128::from(spec.offset.0.max(spec.offset.1)) + PAGE;
    layout(spec, there).guarded(spec).room + layout(spec, back).guarded(spec).room + 2 * beside + (facts.memory)(spec)
}

/// Memory comes in pages; none is larger on any system this runs on.
const PAGE: u128 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use transport::End;
    use transport::memcpy::Memcpy;

    use crate::{Pattern, Workspace};

    fn spec() -> TrialSpec {
        TrialSpec { burst: 1, seed: 1, ..TrialSpec::plain(Pattern::Request, 1, 1) }
    }

    #[test]
    fn no_more_is_reserved_than_was_said() {
        for cache in [Cache::Warm, Cache::Cold] {
            for size in [1, 100, 4096, 70_000, 1 << 20] {
                for align in [1, 64, 4096, 1 << 21] {
                    for (pool, check) in [(0, false), (0, true), (1 << 16, false), (1 << 16, true), (3 << 20, true)] {
                        let response = size / 2 + 1;
                        let spec = TrialSpec { size, response, align, cache, pool, check, offset: (0, 5000), ..spec() };
                        let mut end = End::new(Memcpy::new());
                        Workspace::new(false).slots(&mut end, &spec, size, response).unwrap();
                        let [there, back] = [size, response].map(|len| layout(&spec, len).room(&spec, 5000));
                        let (_, sent, received) = end.lend(&there, &back).unwrap();
                        let taken = (sent.len() + received.len()) as u128;
                        let beside = 2 * u128::from(align + 5000);
                        let said = reserved(&spec);
                        assert!(taken + beside <= said, "{spec:?}: {taken} bytes and {beside} beside, said {said}");
                    }
                }
            }
        }
    }

    #[test]
    fn looking_at_contents_takes_no_more_than_the_guard() {
        for size in [64 << 10, 16 << 20, (16 << 20) + 1] {
            let spec = TrialSpec { size, response: size, ..spec() };
            let checked = TrialSpec { check: true, ..spec.clone() };
            assert_eq!(reserved(&checked) - reserved(&spec), 2 * u128::from(GUARD), "{size}");
        }
    }

    #[test]
    fn a_byte_behind_any_message_is_found_and_how_far_behind() {
        for (cache, align) in [(Cache::Warm, 1), (Cache::Cold, 1), (Cache::Cold, 4096)] {
            for size in [1, 64, 4095, 4096, 65_536] {
                let checked = TrialSpec { size, cache, align, pool: 1 << 20, check: true, ..spec() };
                let mut end = End::new(Memcpy::new());
                let count = layout(&checked, size).count as usize;
                for (number, at) in [(0, 0), (0, GUARD as usize - 1), (count / 2, 7), (count - 1, 0)] {
                    let (_, _, mut into) = Workspace::new(true).slots(&mut end, &checked, size, size).unwrap();
                    // Twice through the pool: what the first time left is not made good by the second.
                    for turn in 0..2 * count {
                        let message = into.slot();
                        assert_eq!(message.len() as u64, size);
                        message.fill(turn as u8);
                        if turn == number {
                            let behind = into.behind(number * into.stride).start + at;
                            assert_eq!(into.spilled(), None);
                            into.memory[behind] ^= 1;
                        }
                    }
                    let found = into.spilled();
                    assert_eq!(found, Some(at as u64), "{cache:?} {size}: message {number} of {count}");
                    assert!(found.is_some_and(|at| at < watched(&checked)));
                    let unchecked = TrialSpec { check: false, ..checked.clone() };
                    let (_, _, mut into) = Workspace::new(true).slots(&mut end, &unchecked, size, size).unwrap();
                    into.slot().fill(1);
                    assert_eq!((into.watched, into.spilled(), watched(&unchecked)), (0, None, 0));
                }
            }
        }
    }

    #[test]
    fn all_between_two_messages_is_looked_at_and_no_more_is_believed() {
        for (size, align) in [(1, 1), (64, 64), (65, 4096), (4096, 1 << 21)] {
            let checked = TrialSpec { size, align, cache: Cache::Cold, pool: 1 << 10, check: true, ..spec() };
            let mut end = End::new(Memcpy::new());
            let (_, _, mut into) = Workspace::new(true).slots(&mut end, &checked, size, size).unwrap();
            for number in 0..into.count {
                let start = number * into.stride;
                into.slot();
                let behind = into.behind(start);
                assert!(behind.len() as u64 >= GAP && behind.len() as u64 <= watched(&checked), "{size} {align}");
                for at in [behind.start, behind.end - 1] {
                    into.memory[at] ^= 1;
                    assert_eq!(into.spilled(), Some((at - behind.start) as u64), "{size} {align}");
                    into.memory[at] ^= 1;
                }
            }
        }
    }

    #[test]
    fn no_numbers_overflow() {
        let most = TrialSpec { size: u64::MAX, response: u64::MAX, pool: u64::MAX, cache: Cache::Cold, ..spec() };
        for pattern in Pattern::ALL {
            let spec = TrialSpec { pattern: *pattern, align: u64::MAX, offset: (u64::MAX, 0), ..most.clone() };
            assert!(reserved(&spec) > u128::from(u64::MAX), "{pattern:?}");
        }
    }
}
