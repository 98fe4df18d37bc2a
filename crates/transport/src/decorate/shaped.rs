//! [`Shaped`]: the rate and latency of a slower path, by waiting.

use std::collections::VecDeque;
use std::time::Duration;

use super::Shape;
use super::sleeping::{Sleeping, nanoseconds, wait};
use crate::clock::Clock;
use crate::{Asked, Buffer, Link, LinkError, Patience};

/// Bytes held back at most; a send beyond waits until the oldest has gone.
const HELD_MOST: usize = 64 << 20;

/// A message that is still under way.
#[derive(Debug)]
struct Held {
    due: u64,
    message: Vec<u8>,
}

/// A link that is slowed down to a rate and a latency, both ways, by waits on this side alone.
///
/// A send takes the time that the rate gives its message. The message is then held, in a copy, for twice the latency before
/// it goes into the link within: the far side can't be asked to wait, so the way there carries the latency of the way
/// back as well. A receive adds the time that the rate gives its message. So a round trip takes what the link within
/// takes, plus twice the latency, plus both messages' time at the rate; streams and several messages under way keep the
/// rate.
///
/// Limits:
/// - What is held goes out as this side sends, receives, waits or flushes: a stream must end with [`Link::flush`].
/// - A message that the far side sends of itself has its rate but no latency, except in an exchange, which has both.
/// - Where the link within can't wait with a deadline, a receive first waits for everything held to go.
/// - Waits sleep to within 0.3 ms and then spin; rates are exact to a nanosecond a message.
/// - A latency costs a copy of each message; at most 64 MiB are held, beyond which a send waits.
#[derive(Debug)]
pub struct Shaped<L, C = Sleeping> {
    inner: L,
    polls: bool,
    clock: C,
    patience: Patience,
    ns_per_byte: f64,
    latency: u64,
    out_free: u64,
    in_free: u64,
    /// How much later than the model the last send returned: the next one may begin as much earlier, so that the cost
    /// of the link within doesn't come on top of the rate.
    overrun: u64,
    held: VecDeque<Held>,
    held_bytes: usize,
    spare: Vec<Vec<u8>>,
}

impl<L: Link> Shaped<L> {
    /// `inner` with the rate and latency of `shape`; waits end early when `patience` is asked to stop.
    pub fn new(inner: L, shape: &Shape, patience: &Patience) -> Self {
        Self::with_clock(inner, shape, patience, Sleeping::new(patience))
    }
}

impl<L: Link, C: Clock> Shaped<L, C> {
    /// As [`Shaped::new`], on another clock.
    pub fn with_clock(inner: L, shape: &Shape, patience: &Patience, clock: C) -> Self {
        Self {
            polls: inner.capabilities().poll,
            inner,
            clock,
            patience: patience.clone(),
            ns_per_byte: if shape.rate > 0.0 { 8e9 / shape.rate } else { 0.0 },
            latency: nanoseconds(shape.latency),
            out_free: 0,
            in_free: 0,
            overrun: 0,
            held: VecDeque::new(),
            held_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// Nanoseconds that the rate gives `len` bytes.
    fn line(&self, len: usize) -> u64 {
        (len as f64 * self.ns_per_byte).round() as u64
    }

    fn wait(&self, at: u64) -> Result<(), LinkError> {
        wait(&self.clock, &self.patience, at)
    }

    /// Occupies the outgoing line for `len` bytes; returns when they have left.
    fn occupy(&mut self, len: usize) -> u64 {
        let begin = self.clock.now() - self.overrun;
        self.out_free = self.out_free.max(begin).saturating_add(self.line(len));
        self.out_free
    }

    /// Holds a copy of `message`, which left at `left`, until it is due.
    fn hold(&mut self, message: &[u8], left: u64) -> Result<(), LinkError> {
        while self.held_bytes.saturating_add(message.len()) > HELD_MOST && !self.held.is_empty() {
            self.pass_one()?;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(message);
        self.held_bytes += copy.len();
        self.held.push_back(Held { due: left.saturating_add(self.latency.saturating_mul(2)), message: copy });
        Ok(())
    }

    /// Waits until the oldest held message is due and sends it.
    fn pass_one(&mut self) -> Result<(), LinkError> {
        let Some(Held { due, message }) = self.held.pop_front() else { return Ok(()) };
        self.held_bytes -= message.len();
        self.wait(due)?;
        let outcome = self.inner.send(&message);
        self.spare.push(message);
        outcome
    }

    fn pass_all(&mut self) -> Result<(), LinkError> {
        while !self.held.is_empty() {
            self.pass_one()?;
        }
        Ok(())
    }

    /// Lets time pass until `at`; what becomes due meanwhile goes out.
    fn pass_until(&mut self, at: u64) -> Result<(), LinkError> {
        while self.held.front().is_some_and(|h| h.due <= at) {
            self.pass_one()?;
        }
        self.wait(at)
    }

    /// Sends what is due, or becomes so by `until`, while nothing has come in yet.
    fn pass_till_something_comes(&mut self, until: u64) -> Result<(), LinkError> {
        while let Some(due) = self.held.front().map(|h| h.due).filter(|due| *due <= until) {
            let left = due.saturating_sub(self.clock.now());
            if left > 0 && self.polls && self.inner.ready(Duration::from_nanos(left))? {
                break;
            }
            self.pass_one()?;
        }
        Ok(())
    }

    /// A message of `len` bytes is in, having begun to come at `since`: waits for the time that the rate gives it.
    fn arrive(&mut self, since: u64, len: usize) -> Result<(), LinkError> {
        self.in_free = self.in_free.max(since).saturating_add(self.line(len));
        self.pass_until(self.in_free)
    }
}

impl<L: Link, C: Clock> Link for Shaped<L, C> {
    left_to_inner!();

    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        self.inner.buffer(asked)
    }

    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let left = self.occupy(message.len());
        self.pass_until(left)?;
        if self.latency == 0 {
            self.inner.send(message)?;
        } else {
            self.hold(message, left)?;
        }
        // No more than a message: a stall of the peer must not be followed by a rush.
        self.overrun = self.clock.now().saturating_sub(left).min(self.line(message.len()));
        Ok(())
    }

    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.overrun = 0;
        self.pass_till_something_comes(u64::MAX)?;
        self.inner.recv(message)?;
        self.arrive(self.clock.now(), message.len())
    }

    /// Takes the latency once, and the longer of both messages' times at the rate.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.overrun = 0;
        self.pass_all()?;
        let since = self.clock.now().saturating_add(self.latency);
        let left = self.occupy(out.len());
        self.wait(left.saturating_add(self.latency))?;
        self.inner.exchange(out, into)?;
        self.arrive(since, into.len())
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let now = self.clock.now();
        let until = now.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
        self.pass_till_something_comes(until)?;
        self.inner.ready(Duration::from_nanos(until.saturating_sub(self.clock.now())))
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        self.pass_all()?;
        self.inner.flush()
    }

    fn close(&mut self) -> Result<(), LinkError> {
        let passed = self.pass_all();
        self.inner.close().and(passed)
    }
}

#[cfg(test)]
mod tests;
