//! The memory of a block, from a page boundary on: where it starts changes a copy by a tenth.

use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

pub(crate) struct Block {
    memory: Vec<u8>,
    start: usize,
    size: usize,
}

impl Block {
    /// `size` bytes, written to, so that no page fault falls into the measurement.
    pub(crate) fn new(size: usize) -> Self {
        let memory = vec![0x5a; size + PAGE];
        let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Self { memory, start, size }
    }
}

impl Deref for Block {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_starts_at_a_page_and_is_as_long_as_asked() {
        for size in [1, 64, PAGE, 100_001] {
            let mut block = Block::new(size);
            assert_eq!((block.len(), block.as_ptr() as usize % PAGE), (size, 0));
            block[size - 1] = 1;
        }
    }
}
