//! Datagrams through shared memory, from one process to one other. Each is its length and its bytes, one after another in a ring.
//!
//! The other end may be hostile: what it says of the ring's state is held against what this end knows (`am::ring`), and lengths are read once, from a copy.

use std::os::fd::OwnedFd;

use am::bell::{Bell, Cause};
use am::memory::Memory;
use am::ring::{BadIndex, Capacity, Lane, Reader, Writer};
use bytes::{Buf, Bytes};

/// Largest datagram: that of UDP over IPv4, so that settings that work over one carrier do so over the other.
pub(super) const MOST: usize = 65_507;
/// Bytes of a datagram's length.
pub(super) const LENGTH: usize = 4;
/// A ring holds four of the largest datagrams, and about as many of Ethernet's size as a UDP socket's buffer of the usual size.
pub(super) const RING: Capacity = Capacity::new(256 << 10).unwrap();
/// Where the receiver's bell lies, behind the ring's state.
const BELL: usize = size_of::<Lane>();
/// Where the ring's bytes begin.
pub(super) const BYTES: usize = 4096;
/// Bytes of all.
pub(super) const LEN: usize = BYTES + RING.bytes();
/// Bytes that are taken at once: the largest datagram is among them as a whole.
pub(super) const BATCH: usize = LENGTH + MOST;

/// Why nothing more is taken from a queue, or put into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error(transparent)]
    Index(#[from] BadIndex),
    #[error("the peer claims a datagram of {0} bytes, which is longer than any, or than what it wrote")]
    Length(u32),
}

/// The end that puts datagrams in.
pub(super) struct Sender {
    memory: Memory,
    writer: Writer,
    /// Bytes behind what the receiver was told of.
    untold: usize,
}

impl Sender {
    /// An empty queue, and the file that its receiver is to be given.
    pub(super) fn new() -> Result<(Self, OwnedFd), am::Error> {
        let (memory, file) = Memory::create("strata", LEN)?;
        Ok((Self { memory, writer: Writer::new(RING, 0), untold: 0 }, file))
    }

    /// Puts a datagram behind the others. False where it has no room.
    pub(super) fn put(&mut self, head: &[u8], body: &[u8]) -> Result<bool, Broken> {
        let len = head.len() + body.len();
        let end = self.untold + LENGTH + len;
        let room = self.writer.room(self.memory.object::<Lane>(0), end.min(RING.bytes()))?;
        if len > MOST || end > room {
            return Ok(false);
        }
        for part in [&(len as u32).to_le_bytes()[..], head, body] {
            self.memory.put_span(BYTES, self.writer.place(self.untold, part.len()), part);
            self.untold += part.len();
        }
        Ok(true)
    }

    /// Tells the receiver of what was put. Whether it is to be woken.
    pub(super) fn tell(&mut self) -> bool {
        if self.untold == 0 {
            return false;
        }
        self.writer.publish(self.memory.object::<Lane>(0), std::mem::take(&mut self.untold));
        self.memory.object::<Bell>(BELL).take(Cause::BYTES)
    }

    /// Its memory, for tests that do with it what a sender never does.
    #[cfg(test)]
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// The end that takes them out.
pub(super) struct Receiver {
    memory: Memory,
    reader: Reader,
}

impl Receiver {
    /// Of a file that a sender handed over.
    pub(super) fn of(file: &OwnedFd) -> Result<Self, am::Error> {
        Ok(Self { memory: Memory::attach(file, LEN)?, reader: Reader::new(RING, 0) })
    }

    /// Takes what is there, as far as it fits into `scratch` ([`BATCH`] bytes). Whether there is more. It is copied, and its datagrams share that copy.
    pub(super) fn take(&mut self, scratch: &mut [u8], mut each: impl FnMut(Bytes)) -> Result<bool, Broken> {
        let lane = self.memory.object::<Lane>(0);
        let there = self.reader.ready(lane, scratch.len())?;
        if there == 0 {
            return Ok(false);
        }
        let batch = &mut scratch[..there.min(BATCH)];
        self.memory.get_span(BYTES, self.reader.place(0, batch.len()), batch);
        let whole = whole(batch, there > batch.len())?;
        self.reader.consume(whole);
        self.reader.tell(lane, 1);
        let mut rest = Bytes::copy_from_slice(&batch[..whole]);
        while rest.len() >= LENGTH {
            let len = rest.get_u32_le() as usize;
            each(rest.split_to(len.min(rest.len())));
        }
        Ok(there > whole)
    }

    /// From now until [`Receiver::wake`] the sender is to wake this end. False where something has come already.
    pub(super) fn watch(&self) -> bool {
        self.memory.object::<Bell>(BELL).arm(Cause::BYTES);
        self.reader.known() == 0 && !self.reader.news(self.memory.object::<Lane>(0))
    }

    /// This end looks by itself again.
    pub(super) fn wake(&self) {
        self.memory.object::<Bell>(BELL).disarm();
    }
}

/// Bytes of the datagrams that are whole in a piece of the ring's bytes, which may cut the last where `more` bytes follow it. Pure.
fn whole(bytes: &[u8], more: bool) -> Result<usize, Broken> {
    let mut end = 0;
    loop {
        let rest = &bytes[end..];
        let Some(length) = rest.first_chunk::<LENGTH>() else {
            // A sender tells of whole datagrams only.
            let ends = rest.is_empty() || (more && end > 0);
            return if ends { Ok(end) } else { Err(Broken::Length(rest.len() as u32)) };
        };
        let len = u32::from_le_bytes(*length);
        if len as usize > MOST {
            return Err(Broken::Length(len));
        }
        if len as usize > rest.len() - LENGTH {
            return if more && end > 0 { Ok(end) } else { Err(Broken::Length(len)) };
        }
        end += LENGTH + len as usize;
    }
}
