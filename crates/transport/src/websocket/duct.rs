//! A WebSocket connection as a [`Duct`]. Whole messages go in and come out; what of one is under way is kept here.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use tungstenite::error::ProtocolError;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::settings::Effective;
use crate::stream::{Duct, Socket, Stream};
use crate::{Capabilities, LinkError, TcpState, tcp};

/// One end of a WebSocket connection.
pub type Websocket = Stream<Framed>;

/// A TCP socket as the library wants one.
pub(super) struct Plug {
    pub socket: Socket,
    /// Calls must not wait.
    never: bool,
    /// Something came or left since that was asked last.
    moved: bool,
    /// The handshake is under way.
    shaking: bool,
}

impl Plug {
    pub fn new(socket: Socket) -> Self {
        Self { socket, never: false, moved: false, shaking: true }
    }

    /// What the library is told of a call's error.
    #[cold]
    fn told(&self, e: Errno) -> io::Error {
        match e {
            // The library's handshake ends at what it does not know, so that a signal would end it. This one it knows, and asks again.
            Errno::INTR if self.shaking => Errno::AGAIN.into(),
            e => e.into(),
        }
    }
}

impl Read for Plug {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let came = if self.never { self.socket.try_read(into) } else { self.socket.read(into) };
        let n = came.map_err(|e| self.told(e))?;
        self.moved = true;
        Ok(n)
    }
}

impl Write for Plug {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let left = if self.never { self.socket.try_write(from) } else { self.socket.write(from) };
        let n = left.map_err(|e| self.told(e))?;
        self.moved = true;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What can be said of a connection besides what its socket says.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// The side that is the client: it masks.
    pub client: &'static str,
    /// Largest frame that is sent; none where messages go whole.
    pub frame: Option<usize>,
    /// Most bytes that are read at a time.
    pub buffer: u64,
}

/// A connection after its handshake.
pub struct Framed {
    session: RefCell<Session>,
    facts: Facts,
    /// A copy of the socket's descriptor, to wait for.
    copy: OwnedFd,
    spins: bool,
}

impl std::fmt::Debug for Framed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Framed").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// The connection, and what of it is under way.
struct Session {
    socket: WebSocket<Plug>,
    /// Largest frame that is sent.
    frame: usize,
    /// Bytes of the message that is being sent that are in frames already, of which the last may not have left.
    framed: usize,
    /// What is left of the message that came.
    rest: Bytes,
    /// What is wrong with the peer.
    wrong: Option<String>,
}

impl Session {
    /// Sends a message. Where there is no room for all, the same bytes must come again.
    #[inline]
    fn write(&mut self, from: &[u8], never: bool) -> Result<usize, Errno> {
        self.socket.get_mut().never = never;
        loop {
            if self.framed > 0 {
                let flushed = self.socket.flush();
                flushed.or_else(|e| self.meaning(e))?;
            }
            if self.framed == from.len() {
                return Ok(std::mem::take(&mut self.framed));
            }
            let (begin, end) = (self.framed, from.len().min(self.framed.saturating_add(self.frame)));
            let part = Bytes::copy_from_slice(&from[begin..end]);
            let message = if begin == 0 && end == from.len() {
                Message::Binary(part)
            } else {
                let kind = if begin == 0 { Data::Binary } else { Data::Continue };
                Message::Frame(Frame::message(part, OpCode::Data(kind), end == from.len()))
            };
            match self.socket.write(message) {
                // What the system says is said again by the flush: the library has the frame.
                Ok(()) | Err(Error::Io(_)) => self.framed = end,
                Err(e) => self.meaning(e)?,
            }
        }
    }

    /// Takes what has come of a message of the length of `into`; waits for it, unless it may `never` wait.
    #[inline]
    fn read(&mut self, into: &mut [u8], never: bool) -> Result<usize, Errno> {
        if self.rest.is_empty() {
            if !self.next(never, into.len())? {
                return Ok(0);
            }
            if self.rest.len() != into.len() {
                let (came, due) = (self.rest.len(), into.len());
                self.wrong = Some(format!("a message of {came} bytes came where one of {due} bytes is due"));
                return Err(Errno::PROTO);
            }
        }
        let n = into.len().min(self.rest.len());
        into[..n].copy_from_slice(&self.rest[..n]);
        self.rest = self.rest.split_off(n);
        Ok(n)
    }

    /// Waits for the next message with anything in it, which has at most so many bytes; false at the end.
    #[inline]
    fn next(&mut self, never: bool, most: usize) -> Result<bool, Errno> {
        self.socket.get_mut().never = never;
        // No memory for what nobody asked for. Frames that are no messages have up to 125 bytes (RFC 6455, 5.5).
        let most = Some(most.max(125));
        self.socket.set_config(|config| (config.max_message_size, config.max_frame_size) = (most, most));
        loop {
            match self.socket.read() {
                Ok(Message::Binary(message)) if message.is_empty() => {}
                Ok(Message::Binary(message)) => {
                    self.rest = message;
                    return Ok(true);
                }
                Ok(Message::Close(_)) => return Ok(false),
                Ok(Message::Text(_)) => {
                    self.wrong = Some("a text came where a binary message is due".to_owned());
                    return Err(Errno::PROTO);
                }
                Ok(_) => {}
                Err(
                    Error::ConnectionClosed
                    | Error::AlreadyClosed
                    | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake),
                ) => return Ok(false),
                Err(e) => self.meaning(e)?,
            }
        }
    }

    /// What an error of the library means to a call.
    #[cold]
    fn meaning(&mut self, e: Error) -> Result<(), Errno> {
        match e {
            Error::Io(e) => Err(Errno::from_io_error(&e).unwrap_or(Errno::PROTO)),
            Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(ProtocolError::SendAfterClosing) => {
                Err(Errno::PIPE)
            }
            e => {
                self.wrong = Some(e.to_string());
                Err(Errno::PROTO)
            }
        }
    }
}

impl Framed {
    /// A connection whose handshake is over.
    pub(super) fn new(mut socket: WebSocket<Plug>, facts: Facts) -> Result<Self, Errno> {
        socket.get_mut().shaking = false;
        let plain = &socket.get_ref().socket;
        let (copy, spins) = (rustix::io::fcntl_dupfd_cloexec(plain.fd(), 0)?, plain.spins());
        let frame = facts.frame.unwrap_or(usize::MAX);
        let session = RefCell::new(Session { socket, frame, framed: 0, rest: Bytes::new(), wrong: None });
        Ok(Self { session, facts, copy, spins })
    }

    fn with_socket<T>(&self, f: impl FnOnce(&Socket) -> T) -> T {
        f(&self.session.borrow().socket.get_ref().socket)
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.session.get_mut().socket.get_mut().socket
    }
}

impl Duct for Framed {
    fn capabilities(&self) -> Capabilities {
        super::capabilities()
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().read(into, false)
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().write(from, false)
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().read(into, true)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.session.borrow_mut().write(from, true)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        Ok((self.copy.as_fd(), self.copy.as_fd()))
    }
    fn spins(&self) -> bool {
        self.spins
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        let session = self.session.get_mut();
        session.socket.get_mut().never = true;
        // Where there is no room the socket's end must do.
        let _ = session.socket.close(None);
        session.socket.get_mut().socket.shut()
    }
    fn effective(&self) -> Effective {
        let Facts { client, frame, buffer } = &self.facts;
        let frame = frame.map_or("whole messages".to_owned(), |bytes| bytes.to_string());
        let options = [("client", (*client).to_owned()), ("frame", frame), ("buffer", buffer.to_string())];
        Effective {
            options: options.into_iter().map(|(name, said)| (name.to_owned(), said)).collect(),
            ..self.with_socket(tcp::effective)
        }
    }
    fn tcp_state(&self) -> Option<TcpState> {
        self.with_socket(Duct::tcp_state)
    }
    fn verdict(&self) -> Option<LinkError> {
        let wrong = self.session.borrow().wrong.as_ref().map(|e| LinkError::Protocol(format!("WebSocket: {e}")));
        wrong.or_else(|| self.with_socket(Duct::verdict))
    }
    fn left(&self) -> bool {
        self.with_socket(Duct::left)
    }
    fn holds(&self) -> bool {
        let mut session = self.session.borrow_mut();
        // An end, or what is wrong, is told by the receive that follows.
        !session.rest.is_empty() || session.next(true, super::MOST) != Err(Errno::AGAIN)
    }
    fn moved(&self) -> bool {
        std::mem::take(&mut self.session.borrow_mut().socket.get_mut().moved)
    }
}
