//! Memory to memory within one process: the ceiling of every path that copies.
//!
//! A send copies the message into the link's own memory and a receive copies it out again, so that a round trip is two
//! copies and half of it is one.

use std::hint::black_box;
use std::time::Duration;

use crate::port::{Ends, Transport};
use crate::{AnyLink, Buffer, Capabilities, Link, LinkError, Name, OptionSpec, Patience, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("memcpy");

/// The transport.
pub static TRANSPORT: Copies = Copies;

/// Copies within one process.
#[derive(Debug)]
pub struct Copies;

impl Transport for Copies {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "copy within one process: the ceiling of every path that copies"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["memcpy", "memory copy", "mem copy", "memory to memory", "in process copy"]
    }
    fn capabilities(&self, _: &Settings) -> Capabilities {
        Capabilities::alone()
    }
    fn ends(&self) -> Ends {
        Ends::Copied
    }
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }
    fn solo(&self, _: &Settings, _: &Patience) -> Result<AnyLink, LinkError> {
        Ok(AnyLink::new(Memcpy::new()))
    }
}

/// Both ends of a path that is one memory, which grows with the largest message.
#[derive(Debug, Default)]
pub struct Memcpy {
    memory: Option<Buffer>,
    waiting: bool,
}

impl Memcpy {
    /// A path with no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first `len` bytes of the memory.
    #[inline]
    fn memory(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        if self.memory.as_ref().is_none_or(|m| m.len() < len) {
            self.grow(len)?;
        }
        Ok(self.memory.as_mut().map_or(&mut [], |m| &mut m[..len]))
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), LinkError> {
        let mut larger = Buffer::new(len, 4096, 0)
            .map_err(|e| LinkError::io(format!("reserving {len} bytes to copy through"), e))?;
        if let Some(old) = &self.memory {
            larger[..old.len()].copy_from_slice(old);
        }
        self.memory = Some(larger);
        Ok(())
    }
}

impl Link for Memcpy {
    fn capabilities(&self) -> Capabilities {
        Capabilities::alone()
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        // Without the black boxes the compiler could join the two copies of a round trip into one.
        black_box(self.memory(message.len())?).copy_from_slice(message);
        self.waiting = true;
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        message.copy_from_slice(black_box(self.memory(message.len())?));
        black_box(message);
        self.waiting = false;
        Ok(())
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }

    fn ready(&mut self, _wait: Duration) -> Result<bool, LinkError> {
        // Nobody else could send while this waits.
        Ok(self.waiting)
    }

    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_comes_back() {
        let mut link = Memcpy::new();
        for len in [1usize, 7, 100_000, 4096] {
            let message: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let mut into = vec![0; len];
            assert!(!link.ready(Duration::ZERO).unwrap());
            link.send(&message).unwrap();
            assert!(link.ready(Duration::ZERO).unwrap());
            link.recv(&mut into).unwrap();
            assert_eq!(message, into);
        }
    }

    #[test]
    fn an_answer_may_be_larger_than_what_was_sent() {
        let mut link = Memcpy::new();
        link.send(b"ab").unwrap();
        let mut into = [9; 5000];
        link.recv(&mut into).unwrap();
        assert_eq!(&into[..3], b"ab\0");
    }
}
