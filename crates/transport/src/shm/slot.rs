//! One slot of a lane: a cache line that carries a whole small message, or announces a piece in the data ring.

use super::sync::{AtomicU64, Ordering};

/// Words of payload in a slot. Loom explores every order of every atomic, so its slots are small.
pub(super) const WORDS: usize = if cfg!(loom) { 1 } else { 6 };

/// Largest message that travels inside a slot, bytes: number, header and payload fill one 64-byte line, so that a small
/// message costs one line transfer between the two CPUs.
pub(super) const INLINE: usize = WORDS * 8;

/// The header in one word: bytes left (30 bits), two flags, `seen` (32 bits). Each further store to a line that the other
/// side is looking at costs: a stream of small messages was a third slower with two words.
const LEFT: u64 = (1 << 30) - 1;
const SLOTS_BACK: u64 = 1 << 30;
const DATA_BACK: u64 = 1 << 31;

/// What a slot says about its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    /// Bytes of the message not yet announced by earlier slots, as [`Said::left`] has it.
    pub(super) left: u32,
    /// The next message goes into the first slot again.
    pub(super) slots_back: bool,
    /// This message's data, if any, lies at the start of the data ring.
    pub(super) data_back: bool,
    /// Messages of the other direction that the sender of this one is done with, modulo 2^32.
    pub(super) seen: u32,
}

impl Said {
    /// The number of bytes left as a slot says it: what is a gigabyte or more is said as such. The sides still can't
    /// disagree unnoticed, as their numbers fall in step.
    #[inline(always)]
    pub(super) fn left(bytes: usize) -> u32 {
        bytes.min(LEFT as usize) as u32
    }

    /// The header that says it.
    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        let flags = if self.slots_back { SLOTS_BACK } else { 0 } | if self.data_back { DATA_BACK } else { 0 };
        u64::from(self.left) | flags | u64::from(self.seen) << 32
    }
}

/// A slot. All-zero memory is a slot that was never written.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Number of the message plus one, written last; its change is what the receiver waits for. Wide enough never to
    /// come round: a slot may rest for a long time.
    number: AtomicU64,
    header: AtomicU64,
    /// The payload, where it is at most [`INLINE`] bytes.
    words: [AtomicU64; WORDS],
}

impl Slot {
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self { number: zero(), header: zero(), words: std::array::from_fn(|_| zero()) }
    }

    /// Whether message `number` is there yet.
    #[inline(always)]
    pub(super) fn there(&self, number: u64) -> bool {
        // Acquire: with the number come header, payload and the piece in the data ring.
        self.number.load(Ordering::Acquire) == number.wrapping_add(1)
    }

    /// The header of the message that is there.
    #[inline(always)]
    pub(super) fn header(&self) -> u64 {
        self.header.load(Ordering::Relaxed)
    }

    /// What the slot says as message `number`, if that is there yet.
    #[inline(always)]
    pub(super) fn look(&self, number: u64) -> Option<Said> {
        if !self.there(number) {
            return None;
        }
        let header = self.header();
        Some(Said {
            left: (header & LEFT) as u32,
            slots_back: header & SLOTS_BACK != 0,
            data_back: header & DATA_BACK != 0,
            seen: (header >> 32) as u32,
        })
    }

    /// Publishes message `number`.
    #[inline(always)]
    pub(super) fn say(&self, number: u64, said: Said) {
        self.say_word(number, said.word());
    }

    /// [`Slot::say`], with a header that is worked out.
    #[inline(always)]
    pub(super) fn say_word(&self, number: u64, word: u64) {
        self.header.store(word, Ordering::Relaxed);
        self.number.store(number.wrapping_add(1), Ordering::Release);
    }

    /// Writes at most [`INLINE`] bytes; to be followed by [`Slot::say`].
    #[inline(always)]
    pub(super) fn write(&self, bytes: &[u8]) {
        for (word, piece) in self.words.iter().zip(bytes.chunks(8)) {
            word.store(pack(piece), Ordering::Relaxed);
        }
    }

    /// Reads the payload; each word is loaded once, so a peer that keeps writing can give wrong bytes and nothing worse.
    #[inline(always)]
    pub(super) fn read(&self, bytes: &mut [u8]) {
        for (word, piece) in self.words.iter().zip(bytes.chunks_mut(8)) {
            unpack(word.load(Ordering::Relaxed), piece);
        }
    }
}

/// Up to eight bytes as a word: two pieces that overlap, since a copy of variable length would be a call into the C library.
#[inline(always)]
fn pack(piece: &[u8]) -> u64 {
    let len = piece.len();
    if let Some((whole, _)) = piece.split_first_chunk() {
        u64::from_le_bytes(*whole)
    } else if let (Some((first, _)), Some((_, last))) = (piece.split_first_chunk(), piece.split_last_chunk()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << ((len - 4) * 8)
    } else if let (Some((first, _)), Some((_, last))) = (piece.split_first_chunk(), piece.split_last_chunk()) {
        u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << ((len - 2) * 8)
    } else {
        piece.first().map_or(0, |&byte| byte.into())
    }
}

#[inline(always)]
fn unpack(word: u64, piece: &mut [u8]) {
    let len = piece.len();
    if let Some((whole, _)) = piece.split_first_chunk_mut() {
        *whole = word.to_le_bytes();
    } else if len >= 4 {
        piece[..4].copy_from_slice(&(word as u32).to_le_bytes());
        piece[len - 4..].copy_from_slice(&((word >> ((len - 4) * 8)) as u32).to_le_bytes());
    } else if len >= 2 {
        piece[..2].copy_from_slice(&(word as u16).to_le_bytes());
        piece[len - 2..].copy_from_slice(&((word >> ((len - 2) * 8)) as u16).to_le_bytes());
    } else if let Some(byte) = piece.first_mut() {
        *byte = word as u8;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_one_cache_line() {
        assert_eq!((size_of::<Slot>(), align_of::<Slot>()), (64, 64));
    }

    #[test]
    fn every_inline_length_and_flag_survives() {
        // SAFETY: a slot is only atomic integers, for which zero is a value.
        let slot: Slot = unsafe { std::mem::zeroed() };
        for len in 0..=INLINE {
            let sent: Vec<u8> = (0..len).map(|i| (i * 37 + len) as u8 | 1).collect();
            let left = if len == 0 { LEFT as u32 } else { len as u32 };
            let said = Said { left, slots_back: len % 2 == 0, data_back: len % 3 == 0, seen: u32::MAX - len as u32 };
            slot.write(&sent);
            slot.say(len as u64, said);
            let mut got = vec![0; len];
            slot.read(&mut got);
            assert_eq!(got, sent);
            assert_eq!(slot.look(len as u64), Some(said));
            assert_eq!(slot.look(len as u64 + 1), None);
        }
    }
}
