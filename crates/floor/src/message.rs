//! The memory of a message, from a page boundary on: where it starts changes a copy by a tenth.

use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

pub(crate) struct Message {
    memory: Vec<u8>,
    start: usize,
    size: usize,
}

impl Message {
    /// `size` bytes, written to, so that no page fault falls into the measurement.
    pub(crate) fn new(size: usize) -> Self {
        let memory = vec![0x5a; size + PAGE];
        let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Self { memory, start, size }
    }
}

impl Deref for Message {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_starts_at_a_page_and_is_as_long_as_asked() {
        for size in [1, 64, PAGE, 100_001] {
            let mut message = Message::new(size);
            assert_eq!((message.len(), message.as_ptr() as usize % PAGE), (size, 0));
            message[size - 1] = 1;
        }
    }
}
