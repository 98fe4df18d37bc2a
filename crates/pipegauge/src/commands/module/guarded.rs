//! Memory that a module is given to write to, with bytes on both sides of it that it is to leave alone.

use anyhow::{Result, ensure};

/// What lies beside the memory, and how much of it on each side.
const CANARY: u8 = 0xA5;
const BESIDE: usize = 64;

/// So many bytes of memory between two guards. Where nobody asks what was written, they keep a module that writes there from changing what this
/// program does.
pub struct Guarded {
    whole: Vec<u8>,
    at: usize,
    len: usize,
}

impl Guarded {
    /// `len` bytes.
    pub fn new(len: usize) -> Self {
        Self::at(0, len)
    }

    /// `len` bytes that begin so many behind the place of others.
    pub fn at(offset: usize, len: usize) -> Self {
        let at = BESIDE + offset;
        Self { whole: vec![CANARY; at + len + BESIDE], at, len }
    }

    /// What may be written to.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.whole[self.at..self.at + self.len]
    }

    /// What was written there, unless something was written beside it by `call`.
    pub fn written(&self, call: &str) -> Result<&[u8]> {
        let (before, rest) = self.whole.split_at(self.at);
        let (written, behind) = rest.split_at(self.len);
        for (guard, place) in [(before, "before"), (behind, "behind")] {
            ensure!(guard.iter().all(|b| *b == CANARY), "{call} wrote {place} the memory that it was given");
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_beside_the_memory_is_told_by_its_side() {
        let mut memory = Guarded::at(3, 5);
        memory.room().fill(1);
        assert_eq!(memory.written("x()").unwrap(), [1; 5]);
        for (at, says) in [(memory.at - 1, "x() wrote before"), (memory.at + 5, "x() wrote behind")] {
            let kept = std::mem::replace(&mut memory.whole[at], 9);
            assert!(memory.written("x()").unwrap_err().to_string().starts_with(says));
            memory.whole[at] = kept;
        }
    }
}
