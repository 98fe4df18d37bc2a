//! What a message looks like in the ring. Pure.
//!
//! A record is a head of one word, for a bulk message a word that says where its payload went, the arguments, a word each, and the
//! payload, padded to whole words. So every word lies whole in the ring, whose length is a multiple of a word.

use crate::error::Broken;

/// Most arguments of a message.
pub const MAX_ARGUMENTS: usize = 8;
/// Bytes of a word.
const WORD: usize = 8;
/// Most bytes of a record without its payload.
pub const MAX_HEAD: usize = (2 + MAX_ARGUMENTS) * WORD;

/// Where the payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the record.
    Ring,
    /// In the receiver's area: the start of a region, and how far from it.
    Region {
        /// From the start of the area.
        region: u32,
        /// From the start of the region.
        at: u32,
    },
}

/// A message's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Whose turn it is.
    pub handler: u16,
    /// How many.
    pub arguments: u8,
    /// Bytes of payload.
    pub len: u32,
    /// A word follows that says where the payload went.
    pub bulk: bool,
}

/// In the head's top byte, so that zeroed or misread memory is no record.
const IN_RING: u64 = 0xA1;
const BULK: u64 = 0xA2;

impl Head {
    /// The head as a word.
    #[inline(always)]
    pub fn word(self) -> u64 {
        let kind = if self.bulk { BULK } else { IN_RING };
        u64::from(self.len) | u64::from(self.handler) << 32 | u64::from(self.arguments) << 48 | kind << 56
    }

    /// The head that a word is.
    ///
    /// # Errors
    /// If it is none.
    #[inline(always)]
    pub fn of(word: u64) -> Result<Self, Broken> {
        let (kind, arguments) = (word >> 56, (word >> 48) as u8);
        if (kind != IN_RING && kind != BULK) || usize::from(arguments) > MAX_ARGUMENTS {
            return Err(Broken::Head(word));
        }
        Ok(Self { handler: (word >> 32) as u16, arguments, len: word as u32, bulk: kind == BULK })
    }

    /// Bytes from the start of the record to the first argument.
    #[inline(always)]
    pub fn before_arguments(self) -> usize {
        if self.bulk { 2 * WORD } else { WORD }
    }

    /// Bytes from the start of the record to its payload.
    #[inline(always)]
    pub fn before_payload(self) -> usize {
        self.before_arguments() + usize::from(self.arguments) * WORD
    }

    /// Bytes of the whole record.
    #[inline(always)]
    pub fn total(self) -> usize {
        self.before_payload() + if self.bulk { 0 } else { (self.len as usize).next_multiple_of(WORD) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for (handler, arguments, len, bulk) in
            [(0, 0, 0, false), (u16::MAX, 8, u32::MAX, true), (7, 3, 65_536, false), (1, 8, 1, true)]
        {
            let head = Head { handler, arguments, len, bulk };
            assert_eq!(Head::of(head.word()), Ok(head));
        }
    }

    #[test]
    fn zeros_unknown_kinds_and_too_many_arguments_are_no_head() {
        let good = Head { handler: 1, arguments: 8, len: 5, bulk: false }.word();
        for word in [0, u64::MAX, good & !(0xff << 56), good + (1 << 48), good ^ (1 << 63)] {
            assert_eq!(Head::of(word), Err(Broken::Head(word)));
        }
    }

    #[test]
    fn the_parts_of_a_record_follow_each_other() {
        let short = Head { handler: 0, arguments: 2, len: 0, bulk: false };
        assert_eq!((short.before_arguments(), short.before_payload(), short.total()), (8, 24, 24));
        assert_eq!(Head { len: 1, ..short }.total(), 32);
        assert_eq!(Head { len: 8, ..short }.total(), 32);
        assert_eq!(Head { len: 9, ..short }.total(), 40);
        let bulk = Head { bulk: true, len: 1 << 20, arguments: 8, ..short };
        assert_eq!((bulk.before_arguments(), bulk.total()), (16, MAX_HEAD));
    }
}
