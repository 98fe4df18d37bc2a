//! Blocks over a stream of bytes: what TCP, UNIX stream sockets and pipes have in common.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::meet::wrong_proof;
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{Capabilities, Link, LinkError, Patience, Proof, TcpState, Wait, tcp_state};

/// Two directions of bytes. The calls mean what the system's mean; `AGAIN` from `read` and `write` is a wait that was in
/// vain.
pub trait Duct: Send {
    /// What the transport that it carries can do.
    fn capabilities(&self) -> Capabilities;
    /// Reads what is there; waits for it unless this duct spins.
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno>;
    /// Writes what fits; waits for room unless this duct spins.
    fn write(&self, from: &[u8]) -> Result<usize, Errno>;
    /// As `read`, never waiting.
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno>;
    /// As `write`, never waiting.
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno>;
    /// What becomes readable, and what becomes writable; `NOTCONN` once closed.
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno>;
    /// Whether it spins instead of waiting.
    fn spins(&self) -> bool;
    /// Ends both directions: the peer reads the end of the stream.
    fn shut(&mut self) -> Result<(), LinkError>;
    /// What took effect.
    fn effective(&self) -> Effective;
    /// The state of the TCP connection that it is; none of any other.
    fn tcp_state(&self) -> Option<TcpState> {
        None
    }
    /// Why a call was cut off by this side's own watch, where that is so.
    fn verdict(&self) -> Option<LinkError> {
        None
    }
}

/// One end of a stream of bytes: whole blocks over a duct, with patience.
#[derive(Debug)]
pub struct Stream<D> {
    duct: D,
    patience: Patience,
}

impl<D: Duct> Stream<D> {
    pub(crate) fn new(duct: D, patience: &Patience) -> Self {
        Self { duct, patience: patience.clone() }
    }

    /// What a call that moved nothing means for the wait.
    #[inline]
    fn pause(&self, e: Errno, idle: &mut Idle, doing: &'static str) -> Result<(), LinkError> {
        if e == Errno::AGAIN && self.duct.spins() {
            idle.spun(&self.patience, doing)
        } else {
            self.stuck(e, idle, doing)
        }
    }

    #[cold]
    fn stuck(&self, e: Errno, idle: &mut Idle, doing: &'static str) -> Result<(), LinkError> {
        match e {
            Errno::AGAIN => idle.waited(&self.patience, doing, LOOK),
            e => self.broken(e, doing),
        }
    }

    #[cold]
    fn broken(&self, e: Errno, doing: &'static str) -> Result<(), LinkError> {
        match self.duct.verdict() {
            Some(verdict) => Err(verdict),
            None => sys::again(e, &self.patience, doing),
        }
    }

    /// What becomes readable, and what becomes writable.
    fn ends(&self, doing: &'static str) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), LinkError> {
        self.duct.ends().map_err(|e| self.duct.verdict().unwrap_or_else(|| sys::fault(e, doing)))
    }

    /// Waits until either direction can move.
    fn either(&self) -> Result<bool, LinkError> {
        let (reader, writer) = self.ends(SENDING)?;
        let mut fds =
            [PollFd::from_borrowed_fd(reader, PollFlags::IN), PollFd::from_borrowed_fd(writer, PollFlags::OUT)];
        sys::poll_for(&mut fds, LOOK).map_err(|e| sys::fault(e, SENDING))
    }
}

impl<D: Duct> Link for Stream<D> {
    fn effective(&self) -> Effective {
        self.duct.effective()
    }
    fn tcp_state(&self) -> Option<TcpState> {
        self.duct.tcp_state()
    }
    fn capabilities(&self) -> Capabilities {
        self.duct.capabilities()
    }

    #[inline]
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        let mut at = 0;
        let mut idle = Idle::default();
        while at < block.len() {
            match self.duct.write(&block[at..]) {
                Ok(n) => {
                    at += n;
                    idle.moved();
                }
                Err(e) => self.pause(e, &mut idle, SENDING)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        let mut at = 0;
        let mut idle = Idle::default();
        while at < block.len() {
            match self.duct.read(&mut block[at..]) {
                Ok(0) => return Err(LinkError::Closed { doing: RECEIVING }),
                Ok(n) => {
                    at += n;
                    idle.moved();
                }
                Err(e) => self.pause(e, &mut idle, RECEIVING)?,
            }
        }
        Ok(())
    }

    /// Both directions in turn, neither waiting for the other; when one is done, the rest of the other is an ordinary send
    /// or receive. A small block thus costs the same two calls as a send and a receive.
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        const DOING: &str = "exchanging blocks";
        if out.is_empty() {
            return self.recv(into);
        }
        if into.is_empty() {
            return self.send(out);
        }
        let (mut sent, mut got) = (0, 0);
        let mut idle = Idle::default();
        loop {
            let before = sent + got;
            match self.duct.try_write(&out[sent..]) {
                Ok(n) => sent += n,
                Err(Errno::AGAIN) => {}
                Err(e) => self.stuck(e, &mut idle, SENDING)?,
            }
            if sent == out.len() {
                return self.recv(&mut into[got..]);
            }
            match self.duct.try_read(&mut into[got..]) {
                Ok(0) => return Err(LinkError::Closed { doing: RECEIVING }),
                Ok(n) => got += n,
                Err(Errno::AGAIN) => {}
                Err(e) => self.stuck(e, &mut idle, RECEIVING)?,
            }
            if got == into.len() {
                return self.send(&out[sent..]);
            }
            if sent + got > before {
                idle.moved();
            } else if self.duct.spins() {
                idle.spun(&self.patience, DOING)?;
            } else if !self.either()? {
                idle.waited(&self.patience, DOING, LOOK)?;
            }
        }
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let (reader, _) = self.ends(RECEIVING)?;
        sys::readable(reader, wait, self.duct.spins(), &self.patience)
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.duct.shut()
    }
}

/// A stream socket. Blocking calls come back every [`LOOK`] (see [`sys::modes`]); spinning ones at once.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    can: fn() -> Capabilities,
    wait: Wait,
    reading: RecvFlags,
    writing: SendFlags,
    /// Where it meets, for kinds whose addresses the socket doesn't tell.
    at: Option<String>,
    report: fn(&Socket) -> Effective,
}

impl Socket {
    /// Takes over a connected stream socket. `report` says what took effect on it.
    pub(crate) fn new(
        fd: OwnedFd,
        can: fn() -> Capabilities,
        wait: Wait,
        at: Option<String>,
        report: fn(&Socket) -> Effective,
    ) -> Result<Self, LinkError> {
        let (reading, writing) = sys::modes(fd.as_fd(), wait, RecvFlags::empty(), LOOK)?;
        Ok(Self { fd, can, wait, reading, writing, at, report })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn wait(&self) -> Wait {
        self.wait
    }

    pub(crate) fn at(&self) -> Option<String> {
        self.at.clone()
    }
}

impl Duct for Socket {
    fn capabilities(&self) -> Capabilities {
        (self.can)()
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(&self.fd, into, self.reading).map(|(n, _)| n)
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(&self.fd, from, self.writing)
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(&self.fd, into, RecvFlags::DONTWAIT).map(|(n, _)| n)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(&self.fd, from, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        Ok((self.fd.as_fd(), self.fd.as_fd()))
    }
    #[inline]
    fn spins(&self) -> bool {
        self.wait == Wait::Spin
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        sys::shut(self.fd())
    }
    fn effective(&self) -> Effective {
        (self.report)(self)
    }
    fn tcp_state(&self) -> Option<TcpState> {
        tcp_state::read(self.fd())
    }
}

impl Stream<Socket> {
    /// The near half of a transaction on a fresh connection.
    pub(crate) fn ask_once(mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        self.send_both(&proof.near, request)?;
        let mut shown = [0; 32];
        self.recv_both(&mut shown, response)?;
        if Proof::matches(&shown, &proof.far) { Ok(()) } else { Err(wrong_proof()) }
    }

    /// The far half, once the near proof was seen.
    pub(crate) fn answer_once(mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        self.recv(request)?;
        self.send_both(&proof.far, response)?;
        self.recv_end()
    }

    /// `first` and `second` in one call, so that they leave in one segment where they fit.
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> Result<(), LinkError> {
        let slices = [IoSlice::new(first), IoSlice::new(second)];
        let sent = match rustix::net::sendmsg(self.duct.fd(), &slices, &mut Default::default(), self.duct.writing) {
            Ok(n) => n,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(e) => return Err(sys::fault(e, SENDING)),
        };
        self.send(&first[sent.min(first.len())..])?;
        self.send(&second[sent.saturating_sub(first.len())..])
    }

    /// Fills `first` and then `second`, in one call where all is there.
    fn recv_both(&mut self, first: &mut [u8], second: &mut [u8]) -> Result<(), LinkError> {
        let mut slices = [IoSliceMut::new(first), IoSliceMut::new(second)];
        let got = match rustix::net::recvmsg(self.duct.fd(), &mut slices, &mut Default::default(), self.duct.reading) {
            Ok(m) if m.bytes == 0 => return Err(LinkError::Closed { doing: RECEIVING }),
            Ok(m) => m.bytes,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(e) => return Err(sys::fault(e, RECEIVING)),
        };
        let in_first = got.min(first.len());
        self.recv(&mut first[in_first..])?;
        self.recv(&mut second[got - in_first..])
    }

    /// Waits until the peer closes; anything else it sends is against the rules.
    fn recv_end(&mut self) -> Result<(), LinkError> {
        let mut byte = [0];
        match self.recv(&mut byte) {
            Err(LinkError::Closed { .. }) => Ok(()),
            Err(e) => Err(e),
            Ok(()) => Err(LinkError::Protocol("it sent more than its request".to_owned())),
        }
    }
}
