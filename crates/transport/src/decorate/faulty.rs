//! [`Faulty`]: faults on the near side, from a seed.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Fault;
use super::sleeping::{Sleeping, nanoseconds, wait};
use crate::clock::Clock;
use crate::{Asked, Buffer, Link, LinkError, Patience};

/// What a [`Faulty`] link has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Messages not sent.
    pub dropped: u64,
    /// Messages with one byte changed.
    pub corrupted: u64,
    /// Messages delayed.
    pub delayed: u64,
    /// Stalls (at most one).
    pub stalled: u64,
    /// Cuts (at most one).
    pub cut: u64,
}

/// A link with faults on what it sends. The seed and the number of a message decide its fate, whatever its size.
///
/// - A dropped message is not sent, and the send says ok: on a reliable path the peer waits until its patience ends.
/// - A corrupted message has one byte changed, in a copy; the caller's memory stays as it was. Empty messages are spared.
/// - A delay and the stall hold the message up before it is sent; the stall also holds up the receive of the message with
///   its number, whichever comes first, and happens once.
/// - The cut sends the first half of its message and closes the link; this and every later operation says [`LinkError::Cut`]. On a
///   message path the peer sees a short message before the end.
///
/// Capabilities are those of the link within: the peer is not told of faults.
#[derive(Debug)]
pub struct Faulty<L, C = Sleeping> {
    inner: L,
    fault: Fault,
    clock: C,
    patience: Patience,
    draws: ChaCha8Rng,
    sent: u64,
    received: u64,
    counts: FaultCounts,
    copy: Vec<u8>,
}

/// What becomes of a message.
enum Fate {
    Whole,
    Dropped,
    Changed,
}

impl<L: Link> Faulty<L> {
    /// `fault` on `inner`; delays and stalls end early when `patience` is asked to stop.
    pub fn new(inner: L, fault: &Fault, patience: &Patience) -> Self {
        Self::with_clock(inner, fault, patience, Sleeping::new(patience))
    }
}

impl<L: Link, C: Clock> Faulty<L, C> {
    /// As [`Faulty::new`], on another clock.
    pub fn with_clock(inner: L, fault: &Fault, patience: &Patience, clock: C) -> Self {
        Self {
            inner,
            fault: fault.clone(),
            clock,
            patience: patience.clone(),
            draws: ChaCha8Rng::seed_from_u64(fault.seed),
            sent: 0,
            received: 0,
            counts: FaultCounts::default(),
            copy: Vec::new(),
        }
    }

    /// What has been done so far.
    pub fn counts(&self) -> FaultCounts {
        self.counts
    }

    fn usable(&self) -> Result<(), LinkError> {
        match self.fault.cut {
            Some(message) if self.counts.cut > 0 => Err(LinkError::Cut { message }),
            _ => Ok(()),
        }
    }

    fn pause(&self, seconds: f64) -> Result<(), LinkError> {
        wait(&self.clock, &self.patience, self.clock.now().saturating_add(nanoseconds(seconds)))
    }

    fn stall(&mut self, number: u64) -> Result<(), LinkError> {
        if self.fault.stall_at != Some(number) || self.counts.stalled > 0 {
            return Ok(());
        }
        self.counts.stalled = 1;
        self.pause(self.fault.stall)
    }

    /// Everything that befalls a message before it is sent. A changed message is in `self.copy`.
    fn befall(&mut self, message: &[u8]) -> Result<Fate, LinkError> {
        self.usable()?;
        let number = self.sent;
        self.sent += 1;
        self.stall(number)?;
        if self.fault.cut == Some(number) {
            self.counts.cut = 1;
            let half = self.inner.send(&message[..message.len() / 2]).and_then(|()| self.inner.flush());
            let closed = self.inner.close();
            half.and(closed)?;
            return Err(LinkError::Cut { message: number });
        }
        // Every message draws the same numbers, so that one fault doesn't change where the others fall.
        let [drop, corrupt, delay, place] = std::array::from_fn(|_| self.draws.random::<f64>());
        if delay < self.fault.delay_share && self.fault.delay > 0.0 {
            self.counts.delayed += 1;
            self.pause(self.fault.delay)?;
        }
        if drop < self.fault.drop {
            self.counts.dropped += 1;
            return Ok(Fate::Dropped);
        }
        if corrupt < self.fault.corrupt && !message.is_empty() {
            self.counts.corrupted += 1;
            self.copy.clear();
            self.copy.extend_from_slice(message);
            self.copy[(place * message.len() as f64) as usize] ^= 0x55;
            return Ok(Fate::Changed);
        }
        Ok(Fate::Whole)
    }

    fn before_receive(&mut self) -> Result<(), LinkError> {
        self.usable()?;
        let number = self.received;
        self.received += 1;
        self.stall(number)
    }
}

impl<L: Link, C: Clock> Link for Faulty<L, C> {
    left_to_inner!();

    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        self.inner.buffer(asked)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        match self.befall(message)? {
            Fate::Whole => self.inner.send(message),
            Fate::Changed => self.inner.send(&self.copy),
            Fate::Dropped => Ok(()),
        }
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.before_receive()?;
        self.inner.recv(message)
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        let fate = self.befall(out)?;
        self.before_receive()?;
        match fate {
            Fate::Whole => self.inner.exchange(out, into),
            Fate::Changed => self.inner.exchange(&self.copy, into),
            Fate::Dropped => self.inner.recv(into),
        }
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.usable()?;
        self.inner.ready(wait)
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        self.usable()?;
        self.inner.flush()
    }
    fn close(&mut self) -> Result<(), LinkError> {
        if self.counts.cut > 0 { Ok(()) } else { self.inner.close() }
    }
}

#[cfg(test)]
mod tests;
