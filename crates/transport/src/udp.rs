//! UDP datagrams over IPv4 or IPv6, numbered, so that lost, late and double ones are counted.
//!
//! A block's first four bytes (all of a shorter block) don't travel: the datagram's number takes their place, so that a
//! block of n bytes is a datagram of n bytes. The caller's block is not changed by a send; what a receive fills in there is
//! the number ([`number_bytes`]).
//!
//! A receive waits at most `Settings::loss_timeout` and returns the next datagram that is not older than one returned
//! before; late, double and wrongly sized ones are counted and dropped.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sendmsg};

use crate::kinds::Kind;
use crate::patience::LOOK;
pub use crate::sequence::DatagramCounts;
use crate::sequence::{Arrival, Counters, Tracker};
use crate::settings::Effective;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::tcp::{addresses, busy_poll};
use crate::{Capabilities, Link, LinkError, Patience, Settings, Wait};

/// Largest payload of a datagram over IPv4: 65,535 bytes less the IP header (20) and the UDP header (8).
pub const MOST_V4: usize = 65_507;

/// Largest payload over IPv6, whose length field doesn't count the IP header: 65,535 bytes less the UDP header (8).
pub const MOST_V6: usize = 65_527;

/// The bytes at the start of a block of `len` bytes in which its number travels.
pub fn number_bytes(len: usize) -> usize {
    len.min(4)
}

/// Datagrams of the meeting that may still come before the first block: the other side's proof again, as it could not know
/// that it had arrived, and what to answer to it.
#[derive(Debug)]
pub(crate) struct Greeting {
    pub theirs: [u8; 32],
    pub answer: Option<[u8; 32]>,
}

/// One end of a pair of connected UDP sockets.
#[derive(Debug)]
pub struct Udp {
    fd: OwnedFd,
    reading: RecvFlags,
    writing: SendFlags,
    wait: Wait,
    most: usize,
    number: u32,
    tracker: Tracker,
    counters: Arc<Counters>,
    greeting: Option<Greeting>,
    loss: Duration,
    closed: bool,
    patience: Patience,
}

/// The first datagram's number. Not 0, so that a first block of zeros differs from [`crate::Proof::none`].
const FIRST: u32 = 1;

impl Udp {
    /// Takes over a connected socket, on which `greeting` may still arrive.
    pub(crate) fn new(
        fd: OwnedFd,
        peer: &SocketAddr,
        wait: Wait,
        greeting: Greeting,
        settings: &Settings,
        patience: &Patience,
    ) -> Result<Self, LinkError> {
        let loss = Duration::try_from_secs_f64(settings.loss_timeout).unwrap_or(patience.limit).min(patience.limit);
        // A time-out of zero would mean none at all.
        let receive = loss.clamp(Duration::from_millis(1), LOOK);
        let (reading, writing) = sys::modes(fd.as_fd(), wait, RecvFlags::TRUNC, receive)?;
        if wait == Wait::BusyPoll {
            busy_poll(fd.as_fd())?;
        }
        Ok(Self {
            fd,
            reading,
            writing,
            wait,
            most: if peer.is_ipv6() { MOST_V6 } else { MOST_V4 },
            number: FIRST,
            tracker: Tracker::new(FIRST),
            counters: Arc::default(),
            greeting: Some(greeting),
            loss,
            closed: false,
            patience: patience.clone(),
        })
    }

    /// What took effect on this socket.
    pub fn effective(&self) -> Effective {
        sys::effective(self.fd.as_fd(), self.wait, addresses(self.fd.as_fd()))
    }

    /// What this side's receives saw so far.
    pub fn counts(&self) -> DatagramCounts {
        self.counters.counts()
    }

    pub(crate) fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Takes remains of the meeting off the head of the queue without waiting, and answers them.
    #[cold]
    fn absorb(&mut self) -> Result<(), LinkError> {
        while let Some(greeting) = &self.greeting {
            let mut head = [0; 33];
            let look = RecvFlags::DONTWAIT | RecvFlags::PEEK | RecvFlags::TRUNC;
            match recv(&self.fd, &mut head[..], look) {
                Ok((_, 32)) if head[..32] == greeting.theirs => {
                    let _ = recv(&self.fd, &mut head[..], RecvFlags::DONTWAIT);
                    if let Some(answer) = greeting.answer {
                        // If it is lost, the other side asks again.
                        let _ = send(&self.fd, &answer, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                    }
                }
                Ok(_) => self.greeting = None,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                Err(e) => return Err(sys::fault(e, RECEIVING)),
            }
        }
        Ok(())
    }

    /// Waits for the first block behind remains of the meeting.
    #[cold]
    fn first(&mut self) -> Result<(), LinkError> {
        let start = Instant::now();
        while self.greeting.is_some() {
            let left = self.loss.saturating_sub(start.elapsed());
            if !sys::readable(&self.fd, left, self.wait == Wait::Spin, &self.patience)? {
                return Err(LinkError::Lost);
            }
            self.absorb()?;
        }
        Ok(())
    }

    /// Whether a datagram of `len` bytes, whose first bytes are in `head`, is the one to return.
    #[inline]
    fn fresh(&mut self, head: &[u8], len: usize) -> bool {
        let bytes = number_bytes(len).min(head.len());
        if bytes == 0 {
            // Not even a number: not one of ours, or the end of a closed socket.
            return false;
        }
        let mut low = [0; 4];
        low[..bytes].copy_from_slice(&head[..bytes]);
        let fits = len == head.len();
        match self.tracker.arrived(u32::from_le_bytes(low), bytes) {
            Arrival::Fresh { missed: 0 } if fits => true,
            arrival => self.counters.note(arrival, fits),
        }
    }

    /// Between two looks of a receive that has nothing yet: whether the wait goes on.
    #[cold]
    fn lost(&self, since: &mut Option<Instant>, waited: Duration) -> Result<(), LinkError> {
        if self.patience.stopped() {
            return Err(LinkError::Interrupted);
        }
        let now = Instant::now();
        let since = since.get_or_insert_with(|| now.checked_sub(waited).unwrap_or(now));
        if now.duration_since(*since) >= self.loss { Err(LinkError::Lost) } else { Ok(()) }
    }
}

impl Link for Udp {
    fn capabilities(&self) -> Capabilities {
        Capabilities { max_block: Some(self.most as u64), ..Kind::Udp.capabilities() }
    }

    #[inline]
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        if block.len() > self.most {
            return Err(LinkError::TooLarge { asked: block.len() as u64, most: self.most as u64 });
        }
        if block.is_empty() {
            return Ok(());
        }
        let number = self.number.to_le_bytes();
        let bytes = number_bytes(block.len());
        let slices = [IoSlice::new(&number[..bytes]), IoSlice::new(&block[bytes..])];
        let mut idle = Idle::default();
        while let Err(e) = sendmsg(&self.fd, &slices, &mut Default::default(), self.writing) {
            match e {
                Errno::AGAIN if self.wait == Wait::Spin => idle.spun(&self.patience, SENDING)?,
                Errno::AGAIN => idle.waited(&self.patience, SENDING, LOOK)?,
                e => sys::again(e, &self.patience, SENDING)?,
            }
        }
        self.number = self.number.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        if block.is_empty() {
            return Ok(());
        }
        if self.greeting.is_some() {
            self.first()?;
        }
        let (mut since, mut polls) = (None, 0u32);
        loop {
            match recv(&self.fd, &mut *block, self.reading) {
                Ok((_, len)) if self.fresh(block, len) => return Ok(()),
                Ok((_, 0)) if self.closed => return Err(LinkError::Closed { doing: RECEIVING }),
                Ok(_) => self.lost(&mut since, Duration::ZERO)?,
                Err(Errno::AGAIN) if self.wait != Wait::Spin => self.lost(&mut since, self.loss.min(LOOK))?,
                Err(Errno::AGAIN) => {
                    polls = polls.wrapping_add(1);
                    if polls % 64 == 0 {
                        self.lost(&mut since, Duration::ZERO)?;
                    }
                }
                Err(e) => sys::again(e, &self.patience, RECEIVING)?,
            }
        }
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        // A send never waits for the receiver.
        self.send(out)?;
        self.recv(into)
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let spin = self.wait == Wait::Spin;
        if self.greeting.is_none() {
            return sys::readable(&self.fd, wait, spin, &self.patience);
        }
        let start = Instant::now();
        loop {
            if !sys::readable(&self.fd, wait.saturating_sub(start.elapsed()), spin, &self.patience)? {
                return Ok(false);
            }
            self.absorb()?;
            if self.greeting.is_none() {
                return Ok(true);
            }
        }
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.closed = true;
        sys::shut(self.fd.as_fd())
    }
}
