//! Message contents that both sides derive from the trial's seed, for `--check`.

/// Which side wrote a message: one that comes back unchanged by mistake must not pass for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The side that measures.
    Near,
    /// The side that answers with contents of its own.
    Far,
}

/// Words of a message: a Weyl sequence through a mixer, so that every byte depends on seed, iteration and place.
struct Words(u64);

impl Words {
    fn new(seed: u64, iteration: u64, writer: Writer) -> Self {
        Self(seed ^ iteration.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ ((writer == Writer::Far) as u64) << 63)
    }

    fn next(&mut self) -> [u8; 8] {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (z ^ (z >> 32)).to_le_bytes()
    }
}

/// Fills a message with the contents of this iteration.
pub fn fill(message: &mut [u8], seed: u64, iteration: u64, writer: Writer) {
    let mut words = Words::new(seed, iteration, writer);
    for part in message.chunks_mut(8) {
        part.copy_from_slice(&words.next()[..part.len()]);
    }
}

/// The first wrong byte at or after `skip` (datagrams carry their number in front), or none.
pub fn first_wrong(message: &[u8], seed: u64, iteration: u64, writer: Writer, skip: usize) -> Option<u64> {
    let mut words = Words::new(seed, iteration, writer);
    for (place, part) in message.chunks(8).enumerate() {
        let right = words.next();
        if part != &right[..part.len()] {
            let wrong = (0..part.len()).find(|&i| part[i] != right[i] && place * 8 + i >= skip);
            if let Some(i) = wrong {
                return Some((place * 8 + i) as u64);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_wrong_byte_is_found_where_it_is() {
        for len in [1usize, 7, 8, 9, 100] {
            for at in 0..len {
                let mut message = vec![0; len];
                fill(&mut message, 5, 3, Writer::Near);
                assert_eq!(first_wrong(&message, 5, 3, Writer::Near, 0), None);
                message[at] ^= 1;
                assert_eq!(first_wrong(&message, 5, 3, Writer::Near, 0), Some(at as u64));
                assert_eq!(first_wrong(&message, 5, 3, Writer::Near, at + 1), None, "bytes before skip don't count");
            }
        }
    }

    #[test]
    fn iterations_seeds_and_sides_differ() {
        let mut message = vec![0; 64];
        fill(&mut message, 5, 3, Writer::Near);
        assert!(first_wrong(&message, 5, 4, Writer::Near, 0).is_some());
        assert!(first_wrong(&message, 6, 3, Writer::Near, 0).is_some());
        assert!(first_wrong(&message, 5, 3, Writer::Far, 0).is_some());
    }
}
