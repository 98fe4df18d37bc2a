//! UDP datagrams over IPv4 or IPv6, numbered, so that lost, late and double ones are counted.
//!
//! A message's first four bytes (all of a shorter message) don't travel: the datagram's number takes their place, so that a
//! message of n bytes is a datagram of n bytes. The caller's message is not changed by a send; what a receive fills in there is
//! the number ([`number_bytes`]).
//!
//! A receive waits at most the option `loss-timeout` and returns the next datagram that is not older than one returned
//! before; late, double and wrongly sized ones are counted and dropped.
//!
//! With the options `batch` and `offload` several datagrams share a system call ([`batch`]).

mod batch;
mod many;

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketType, recv, send, sendmsg};

use self::batch::Batch;
use crate::greet::{self, DatagramDoor};
use crate::ip::{self, busy_poll};
use crate::meet::Made;
use crate::options::{self, Answer, FAMILY, Form, LOSS_TIMEOUT, SOCKBUF};
use crate::patience::LOOK;
use crate::port::{Accept, Acceptor, Address, Connect, Connector, Transport};
pub use crate::sequence::DatagramCounts;
use crate::sequence::{Arrival, Counters, Tracker};
use crate::settings::{Effective, LOSS};
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{
    AnyLink, Capabilities, Family, Link, LinkError, Name, OptionSpec, Patience, Proof, Semantics, Settings, Wait,
};

/// What it is called.
pub const NAME: Name = Name::literal("udp");

/// The transport.
pub static TRANSPORT: Datagrams = Datagrams;

/// UDP between two processes of one host or two.
#[derive(Debug)]
pub struct Datagrams;

static OPTIONS: [OptionSpec; 6] = [
    SOCKBUF,
    FAMILY,
    LOSS_TIMEOUT,
    options::wait(ip::WAIT_NAMES, "block"),
    OptionSpec {
        name: "batch",
        flag: None,
        form: Form::Text("a number from 1 to 64", |text| text.parse().is_ok_and(|n| (1..=many::MOST).contains(&n))),
        default: "1, or 32 with offload",
        help: "datagrams that share a system call (sendmmsg, recvmmsg)",
        answers: &[Answer { part: "", of: |e| e.options.get("batch").cloned() }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: "offload",
        flag: None,
        form: Form::Switch,
        default: "off",
        help: "let the kernel cut and join datagrams of one size (UDP_SEGMENT, UDP_GRO)",
        answers: &[Answer { part: "", of: |e| e.options.get("offload").cloned() }],
        steers: false,
        moved: None,
    },
];

/// Datagrams of a batch where the kernel cuts and joins them and nobody says how many.
const OFFLOADED: usize = 32;

/// What holds datagrams back, where these settings ask for that.
fn batch(settings: &Settings) -> Option<Box<Batch>> {
    let offload = settings.switch("offload").unwrap_or(false);
    let asked = settings.text("batch").and_then(|text| text.parse().ok());
    let most = asked.unwrap_or(if offload { OFFLOADED } else { 1 });
    (most > 1).then(|| Box::new(Batch::new(most, offload)))
}

impl Transport for Datagrams {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "UDP: loss and reordering are counted"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["udp", "udp socket", "udp sockets", "datagram", "datagrams", "udp/ip", "udp datagrams"]
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        capabilities(if settings.family() == Some(Family::V6) { MOST_V6 } else { MOST_V4 })
    }
    fn availability(&self) -> Result<(), LinkError> {
        ip::availability(SocketType::DGRAM)
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        ip::reaches_itself()
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        Ok(Box::new(Listener { door: DatagramDoor::new(ip::beside(at, settings)?, settings)?, made }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        Ok(Box::new(Dialler { to: ip::door(address, peer, settings)?, made }))
    }
}

fn capabilities(most: usize) -> Capabilities {
    Capabilities {
        semantics: Semantics::Message,
        ordered: false,
        reliable: false,
        max_block: Some(most as u64),
        local_only: false,
        waits: ip::WAITS.to_vec(),
        ..Capabilities::plain()
    }
}

fn link(fd: OwnedFd, peer: &SocketAddr, greeting: Greeting, made: &Made) -> Result<AnyLink, LinkError> {
    Ok(AnyLink::new(Udp::new(fd, peer, made.wait, greeting, &made.settings, &made.patience)?))
}

struct Listener {
    door: DatagramDoor,
    made: Made,
}

impl Accept for Listener {
    fn address(&self) -> Address {
        ip::told(self.door.at)
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (fd, peer) = self.door.accept(proof, &self.made.settings, &self.made.patience)?;
        link(fd, &peer, Greeting { theirs: proof.near, answer: Some(proof.far) }, &self.made)
    }
}

struct Dialler {
    to: SocketAddr,
    made: Made,
}

impl Connect for Dialler {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let fd = greet::connect(self.to, &self.made.settings)?;
        greet::greet(fd.as_fd(), self.to, proof, &self.made.patience)?;
        link(fd, &self.to, Greeting { theirs: proof.far, answer: None }, &self.made)
    }
}

/// Largest payload of a datagram over IPv4: 65,535 bytes less the IP header (20) and the UDP header (8).
pub const MOST_V4: usize = 65_507;

/// Largest payload over IPv6, whose length field doesn't count the IP header: 65,535 bytes less the UDP header (8).
pub const MOST_V6: usize = 65_527;

/// The bytes at the start of a message of `len` bytes in which its number travels.
pub fn number_bytes(len: usize) -> usize {
    len.min(4)
}

/// Datagrams of the meeting that may still come before the first message: the other side's proof again, as it could not know
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
    counters: Counters,
    greeting: Option<Greeting>,
    loss: Duration,
    closed: bool,
    patience: Patience,
    batch: Option<Box<Batch>>,
}

/// The first datagram's number. Not 0, so that a first message of zeros differs from [`crate::Proof::none`].
pub(crate) const FIRST: u32 = 1;

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
        let loss = settings.real("loss-timeout").unwrap_or(LOSS);
        let loss = Duration::try_from_secs_f64(loss).unwrap_or(patience.limit).min(patience.limit);
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
            counters: Counters::default(),
            greeting: Some(greeting),
            loss,
            closed: false,
            patience: patience.clone(),
            batch: batch(settings),
        })
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

    /// Waits for the first message behind remains of the meeting.
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

    /// Sends what is held back.
    fn send_held(&mut self) -> Result<(), LinkError> {
        let Self { fd, writing, wait, patience, batch: Some(batch), .. } = self else { return Ok(()) };
        let mut idle = Idle::default();
        while batch.holds_any() {
            match batch.send(fd.as_fd(), *writing) {
                Ok(()) => idle.moved(),
                Err(Errno::AGAIN) if *wait == Wait::Spin => idle.spun(patience, SENDING)?,
                Err(Errno::AGAIN) => idle.waited(patience, SENDING, LOOK)?,
                Err(e) => sys::again(e, patience, SENDING)?,
            }
        }
        Ok(())
    }

    /// Holds a datagram back, and sends what is held where that is enough.
    fn hold(&mut self, number: &[u8], rest: &[u8]) -> Result<(), LinkError> {
        let (len, most) = (number.len() + rest.len(), self.most);
        if self.batch.as_ref().is_some_and(|batch| !batch.takes(len, most)) {
            self.send_held()?;
        }
        let full = self.batch.as_mut().is_some_and(|batch| batch.hold(number, rest));
        if full { self.send_held() } else { Ok(()) }
    }

    /// The next datagram, and its length on the wire.
    #[inline]
    fn next(&mut self, into: &mut [u8]) -> Result<usize, Errno> {
        let Some(batch) = &mut self.batch else { return recv(&self.fd, into, self.reading).map(|(_, len)| len) };
        loop {
            if let Some(len) = batch.take(into) {
                return Ok(len);
            }
            batch.receive(self.fd.as_fd(), self.reading)?;
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
        capabilities(self.most)
    }

    fn effective(&self) -> Effective {
        let mut options =
            BTreeMap::from([("batch".to_owned(), "1".to_owned()), ("offload".to_owned(), "off".to_owned())]);
        if let Some(batch) = &self.batch {
            options.insert("batch".to_owned(), batch.most().to_string());
            options.insert("offload".to_owned(), batch.effect().to_owned());
        }
        Effective { options, ..sys::effective(self.fd.as_fd(), self.wait, ip::addresses(self.fd.as_fd())) }
    }

    fn datagrams(&self) -> Option<DatagramCounts> {
        Some(self.counters.counts())
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        if message.len() > self.most {
            return Err(LinkError::TooLarge { asked: message.len() as u64, most: self.most as u64 });
        }
        if message.is_empty() {
            return Ok(());
        }
        let number = self.number.to_le_bytes();
        let bytes = number_bytes(message.len());
        if self.batch.is_some() {
            self.number = self.number.wrapping_add(1);
            return self.hold(&number[..bytes], &message[bytes..]);
        }
        let slices = [IoSlice::new(&number[..bytes]), IoSlice::new(&message[bytes..])];
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
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        if message.is_empty() {
            return Ok(());
        }
        if self.batch.is_some() {
            self.send_held()?;
        }
        if self.greeting.is_some() {
            self.first()?;
        }
        let (mut since, mut polls) = (None, 0u32);
        loop {
            match self.next(message) {
                Ok(len) if self.fresh(message, len) => return Ok(()),
                Ok(0) if self.closed => return Err(LinkError::Closed { doing: RECEIVING }),
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
        self.send_held()?;
        if self.batch.as_ref().is_some_and(|batch| batch.has_come()) {
            return Ok(true);
        }
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

    fn flush(&mut self) -> Result<(), LinkError> {
        self.send_held()
    }

    fn close(&mut self) -> Result<(), LinkError> {
        // A peer that is gone misses nothing.
        let _ = self.send_held();
        self.closed = true;
        sys::shut(self.fd.as_fd())
    }
}
