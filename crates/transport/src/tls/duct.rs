//! One direction and the other of a TLS session over a TCP socket, as a [`Duct`].

use std::cell::RefCell;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustls::{Connection, SupportedCipherSuite};

use crate::settings::Effective;
use crate::stream::{Duct, Socket, Stream};
use crate::{Capabilities, LinkError, Patience, TcpState, tcp};

/// Most bytes that are encrypted at a time: four records, which leave in one call.
const CHUNK: usize = 64 << 10;

/// Most bytes that one call takes from the socket.
const TAKEN: usize = 64 << 10;

/// A TCP socket and the TLS session over it.
pub struct Tls {
    socket: Socket,
    session: RefCell<Session>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// The session, and what of it is under way.
struct Session {
    tls: Connection,
    /// What came from the socket; the session has had the bytes before `from`, and those from `to` on are nothing.
    come: Box<[u8]>,
    from: usize,
    to: usize,
    /// Bytes of the message that is being sent that are encrypted, and of which not all has left.
    going: usize,
    /// What the session found wrong with the peer.
    wrong: Option<rustls::Error>,
}

impl Session {
    /// Gives the session what has come, until there is something to read.
    fn feed(&mut self) -> Result<(), Errno> {
        while self.from < self.to {
            let Ok(n) = self.tls.read_tls(&mut &self.come[self.from..self.to]) else { return Err(Errno::PROTO) };
            self.from += n;
            match self.tls.process_new_packets() {
                Ok(now) if now.plaintext_bytes_to_read() > 0 || n == 0 => break,
                Ok(_) => {}
                Err(e) => {
                    self.wrong = Some(e);
                    return Err(Errno::PROTO);
                }
            }
        }
        Ok(())
    }

    /// Reads what has come, and more by `take` where there is nothing.
    fn read(&mut self, into: &mut [u8], take: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<usize, Errno> {
        loop {
            match self.tls.reader().read(into) {
                // Nothing: the peer said that it ends.
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return Ok(0),
            }
            if self.from == self.to {
                match take(&mut self.come)? {
                    0 => return Ok(0),
                    n => (self.from, self.to) = (0, n),
                }
            }
            self.feed()?;
        }
    }

    /// Encrypts the beginning of a message and sends that by `give`. Where there is no room for all, the same bytes must come again.
    fn write(&mut self, from: &[u8], give: impl Fn(&[IoSlice<'_>]) -> Result<usize, Errno>) -> Result<usize, Errno> {
        if self.going == 0 {
            let part = &from[..from.len().min(CHUNK)];
            self.going = self.tls.writer().write(part).map_err(|_| Errno::PROTO)?;
        }
        self.flush(give)?;
        Ok(std::mem::take(&mut self.going))
    }

    /// Sends all records that wait.
    fn flush(&mut self, give: impl Fn(&[IoSlice<'_>]) -> Result<usize, Errno>) -> Result<(), Errno> {
        let mut records = Records(give);
        while self.tls.wants_write() {
            self.tls.write_tls(&mut records).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::PROTO))?;
        }
        Ok(())
    }
}

/// Where records go, several in one call.
struct Records<F>(F);

impl<F: Fn(&[IoSlice<'_>]) -> Result<usize, Errno>> Write for Records<F> {
    fn write(&mut self, from: &[u8]) -> std::io::Result<usize> {
        self.write_vectored(&[IoSlice::new(from)])
    }
    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> std::io::Result<usize> {
        Ok((self.0)(from)?)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tls {
    /// A session over a socket, before its handshake.
    pub(super) fn new(socket: Socket, mut tls: Connection) -> Self {
        // Bounded by CHUNK.
        tls.set_buffer_limit(None);
        let come = vec![0; TAKEN].into_boxed_slice();
        Self { socket, session: RefCell::new(Session { tls, come, from: 0, to: 0, going: 0, wrong: None }) }
    }

    /// One step of the handshake: whether it is over. Waits as the socket does.
    fn shake(&self) -> Result<bool, Errno> {
        let mut session = self.session.borrow_mut();
        session.flush(|records| self.socket.write_of(records, false))?;
        if !session.tls.is_handshaking() {
            return Ok(true);
        }
        if session.from == session.to {
            match self.socket.read(&mut session.come)? {
                0 => return Err(Errno::CONNRESET),
                n => (session.from, session.to) = (0, n),
            }
        }
        session.feed()?;
        Ok(false)
    }

    fn suite(&self) -> Option<SupportedCipherSuite> {
        self.session.borrow().tls.negotiated_cipher_suite()
    }
}

impl Duct for Tls {
    fn capabilities(&self) -> Capabilities {
        super::capabilities()
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().read(into, |come| self.socket.read(come))
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().write(from, |records| self.socket.write_of(records, false))
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().read(into, |come| self.socket.try_read(come))
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().write(from, |records| self.socket.write_of(records, true))
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        self.socket.ends()
    }
    fn spins(&self) -> bool {
        self.socket.spins()
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        let session = self.session.get_mut();
        session.tls.send_close_notify();
        // Where there is no room the socket's end must do.
        let _ = session.flush(|records| self.socket.write_of(records, true));
        self.socket.shut()
    }
    fn effective(&self) -> Effective {
        let suite = self.suite().and_then(super::suite_name).map(|name| ("suite".to_owned(), name.to_owned()));
        Effective { options: suite.into_iter().collect(), ..tcp::effective(&self.socket) }
    }
    fn tcp_state(&self) -> Option<TcpState> {
        self.socket.tcp_state()
    }
    fn verdict(&self) -> Option<LinkError> {
        let wrong = self.session.borrow().wrong.as_ref().map(|e| LinkError::Protocol(format!("TLS: {e}")));
        wrong.or_else(|| self.socket.verdict())
    }
    fn left(&self) -> bool {
        self.socket.left()
    }
    fn holds(&self) -> bool {
        let mut session = self.session.borrow_mut();
        // What is wrong is told by the receive that follows.
        session.feed().is_err()
            || session.tls.process_new_packets().map_or(true, |now| now.plaintext_bytes_to_read() > 0)
    }
}

/// What a side does that waits for the other's part of the handshake.
const SHAKING: &str = "the TLS handshake";

impl Stream<Tls> {
    /// A session over a connected socket, after its handshake.
    pub(super) fn over(socket: Socket, tls: Connection, patience: &Patience) -> Result<Self, LinkError> {
        let mut idle = crate::sys::Idle::default();
        let stream = Self::new(Tls::new(socket, tls), patience);
        loop {
            match stream.duct().shake() {
                Ok(true) => return Ok(stream),
                Ok(false) => idle.moved(),
                Err(e) => stream.pause(e, &mut idle, SHAKING)?,
            }
        }
    }

    /// As that of a plain stream.
    pub(super) fn watched(mut self) -> Result<Self, LinkError> {
        self.with_duct(|tls, patience| tls.socket.watch(patience))?;
        Ok(self)
    }
}
