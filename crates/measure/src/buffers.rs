//! How the messages of a trial lie in the memory of its link.

use transport::Room;

use crate::{Cache, TrialSpec};

/// Where the messages of a trial lie: at one place (warm), or in turn over a pool (cold).
pub struct Slots<'a> {
    memory: &'a mut [u8],
    len: usize,
    stride: usize,
    count: usize,
    at: usize,
    /// Bytes behind the last message that nothing may be written to.
    guard: usize,
}

/// Bytes behind the memory of messages that are received with `--check`, and what they hold.
pub(crate) const GUARD: u64 = 64;
const HELD: u8 = 0xA5;

impl Slots<'_> {
    /// The first byte that was written behind the messages' memory, counted from the beginning of the last message; none without `--check`.
    pub(crate) fn spilled(&self) -> Option<u64> {
        let messages = self.memory.len() - self.guard;
        let at = self.memory[messages..].iter().position(|byte| *byte != HELD)?;
        Some((messages - self.stride * (self.count - 1) + at) as u64)
    }

    /// The memory of the next message.
    #[inline(always)]
    pub fn slot(&mut self) -> &mut [u8] {
        let start = self.at;
        if self.count > 1 {
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
    let stride = (u128::from(len) + 64).next_multiple_of(u128::from(spec.align.max(64)));
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
        let guard = guard as usize;
        // A link may have more from a larger size before.
        let memory = &mut memory[..need as usize];
        let messages = memory.len() - guard;
        memory[messages..].fill(HELD);
        Slots { memory, len: len as usize, stride: stride as usize, count: count as usize, at: 0, guard }
    }
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
    fn a_byte_behind_the_last_message_is_found_where_it_is() {
        for cache in [Cache::Warm, Cache::Cold] {
            for (size, at) in [(1, 0), (64, 0), (4096, 63), (65_536, 7)] {
                let checked = TrialSpec { size, cache, pool: 1 << 20, check: true, ..spec() };
                let mut end = End::new(Memcpy::new());
                let (_, _, into) = Workspace::new(true).slots(&mut end, &checked, size, size).unwrap();
                assert_eq!(into.spilled(), None);
                let behind = into.memory.len() - GUARD as usize + at;
                into.memory[behind] ^= 1;
                let last = into.stride * (into.count - 1);
                if cache == Cache::Warm {
                    assert_eq!(behind as u64, size + at as u64);
                }
                assert_eq!(into.spilled(), Some((behind - last) as u64), "{cache:?} {size}");
                let unchecked = TrialSpec { check: false, ..checked };
                let (_, _, into) = Workspace::new(true).slots(&mut end, &unchecked, size, size).unwrap();
                assert_eq!((into.guard, into.spilled()), (0, None));
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
