//! The header of a group's datagrams: who sent which message to whom, and a proof that it is one of this measurement. Pure.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// Bytes of a header.
pub(super) const HEADER: usize = 16;

/// Where the sender's rank stands in it, for the kernel's filter: two bytes, the high one first.
pub(super) const FROM_AT: usize = 4;

/// To all members.
pub(super) const ALL: u16 = u16::MAX;

/// The secret of one group, which its members are told as they meet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupKey(pub [u8; 16]);

/// What a datagram says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Which message of its sender's to this receiver, or to all, it is.
    pub number: u32,
    /// The sender's rank.
    pub from: u16,
    /// The receiver's, or [`ALL`].
    pub to: u16,
}

impl Header {
    /// The header of a message of `len` bytes.
    #[inline]
    pub fn sealed(&self, key: &GroupKey, len: usize) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[FROM_AT..6].copy_from_slice(&self.from.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.to.to_be_bytes());
        let proof = proof(key, &bytes[..8], len);
        bytes[8..].copy_from_slice(&proof.to_le_bytes());
        bytes
    }

    /// What a header says that came before a message of `len` bytes; none where it does not prove that a member of the group wrote it.
    #[inline]
    pub fn opened(bytes: &[u8; HEADER], key: &GroupKey, len: usize) -> Option<Self> {
        let (said, shown) = bytes.split_at(8);
        if proof(key, said, len).to_le_bytes() != shown {
            return None;
        }
        Some(Self {
            number: u32::from_le_bytes([said[0], said[1], said[2], said[3]]),
            from: u16::from_be_bytes([said[4], said[5]]),
            to: u16::from_be_bytes([said[6], said[7]]),
        })
    }
}

/// SipHash-2-4 (Aumasson and Bernstein, *SipHash: a fast short-input PRF*, 2012) of what the header says and of the message's length: who does not
/// know the key can make none, and a copy of one that was sent has the number of it, which tells it from a new one. Contents are not covered: `--check` looks at
/// them, and a longer proof would be measured as a part of the path.
#[inline]
fn proof(GroupKey(key): &GroupKey, said: &[u8], len: usize) -> u64 {
    let mut hash = SipHasher24::new_with_key(key);
    hash.write(said);
    hash.write_u64(len as u64);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: GroupKey = GroupKey([7; 16]);
    const HEAD: Header = Header { number: 0x0102_0304, from: 2, to: ALL };

    #[test]
    fn a_header_says_what_was_sealed() {
        for head in [HEAD, Header { number: u32::MAX, from: 127, to: 0 }] {
            assert_eq!(Header::opened(&head.sealed(&KEY, 100), &KEY, 100), Some(head));
        }
        assert_eq!(HEAD.sealed(&KEY, 1)[FROM_AT..FROM_AT + 2], [0, 2], "where the filter looks");
    }

    #[test]
    fn nothing_else_passes_for_one() {
        let sealed = HEAD.sealed(&KEY, 100);
        assert_eq!(Header::opened(&sealed, &GroupKey([8; 16]), 100), None, "of an earlier run");
        assert_eq!(Header::opened(&sealed, &KEY, 101), None, "before another message");
        assert_eq!(Header::opened(&[0; HEADER], &KEY, 100), None);
        for bit in 0..8 * HEADER {
            let mut changed = sealed;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::opened(&changed, &KEY, 100), None, "bit {bit}");
        }
    }
}
