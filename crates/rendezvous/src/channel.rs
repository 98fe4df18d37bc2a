//! Messages over TLS over a connected socket, every wait with a deadline.
//!
//! The socket never blocks: each operation reads or writes what it can and waits in `poll` for the rest, at most until
//! its deadline. A deadline bounds the whole operation, so a peer that sends a byte now and then gains nothing by it.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::{CertificateError, Connection};
use serde::Serialize;
use serde::de::DeserializeOwned;
use socket2::Socket;

use crate::frame;
use crate::secret::SessionKeys;
use crate::tls::{self, Identity};
use crate::{MeetError, Peer, alert};

/// How often a wait looks at the stop flag.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time for one message to leave: the control connection is never full unless the other side stopped reading.
const LEAVE: Duration = Duration::from_secs(5);

/// One end of a control connection.
pub(crate) struct Channel {
    socket: Socket,
    tls: Connection,
    /// Decrypted bytes that are not yet a whole frame, or a frame not yet asked for.
    inbox: Vec<u8>,
    most: usize,
    stop: Arc<AtomicBool>,
    /// The other side has said that nothing more will come.
    ended: bool,
    /// This end's address and the other's.
    pub(crate) local: Peer,
    pub(crate) peer: Peer,
}

impl Channel {
    /// The near side's end: the client, which knows the far side by `pin`.
    pub(crate) fn near(socket: impl Into<Socket>, pin: [u8; 32], stop: Arc<AtomicBool>) -> Result<Self, MeetError> {
        let tls = tls::client(pin)?;
        Self::over(socket.into(), tls.into(), stop)
    }

    /// The far side's end: the server.
    pub(crate) fn far(
        socket: impl Into<Socket>,
        identity: &Identity,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, MeetError> {
        let tls = identity.session()?;
        Self::over(socket.into(), tls.into(), stop)
    }

    fn over(socket: Socket, tls: Connection, stop: Arc<AtomicBool>) -> Result<Self, MeetError> {
        let doing = "preparing the control connection";
        // An end that another process has reset already has no address of its peer any more.
        let preparing = || |e: std::io::Error| if is_gone(e.kind()) { gone(doing) } else { MeetError::io(doing)(e) };
        let end = |at: socket2::SockAddr| at.as_socket().map_or(Peer::Here, Peer::At);
        let local = end(socket.local_addr().map_err(preparing())?);
        let peer = end(socket.peer_addr().map_err(preparing())?);
        socket.set_nonblocking(true).map_err(preparing())?;
        if matches!(peer, Peer::At(_)) {
            socket.set_tcp_nodelay(true).map_err(preparing())?;
            // A host that vanished without a word is noticed within 30 s; one that is only stopped still answers.
            let probes =
                socket2::TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
            socket.set_tcp_keepalive(&probes.with_retries(4)).map_err(preparing())?;
            socket.set_tcp_user_timeout(Some(Duration::from_secs(30))).map_err(preparing())?;
        }
        Ok(Self { socket, tls, inbox: Vec::new(), most: frame::STRANGER, stop, ended: false, local, peer })
    }

    /// Completes the TLS handshake.
    pub(crate) fn handshake(&mut self, deadline: Instant) -> Result<(), MeetError> {
        let (doing, began) = ("making the control connection secure", Instant::now());
        loop {
            self.write_out(deadline, doing)?;
            if !self.tls.is_handshaking() {
                return Ok(());
            }
            if !self.read_some(doing)? {
                self.pause(PollFlags::IN, began, deadline, doing)?;
            }
        }
    }

    /// The session's exported keys; the handshake must be complete.
    pub(crate) fn keys(&self) -> Result<SessionKeys, MeetError> {
        SessionKeys::of(&self.tls)
    }

    /// The other side has proved the secret: it may send longer messages.
    pub(crate) fn trust(&mut self) {
        self.most = frame::KNOWN;
    }

    /// The other side may send messages of so many bytes.
    pub(crate) fn take_up_to(&mut self, most: usize) {
        self.most = most;
    }

    /// Whether a message, or the end of the connection, is here, so that [`Channel::recv`] returns at once.
    pub(crate) fn arrived(&mut self) -> bool {
        loop {
            match frame::is_whole(&self.inbox, self.most) {
                Ok(false) if !self.ended => {}
                _ => return true,
            }
            match self.read_some("looking for a control message") {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Sends one message. Goes on after a stop: a farewell must still leave.
    pub(crate) fn send<T: Serialize>(&mut self, message: &T) -> Result<(), MeetError> {
        self.send_within(message, LEAVE)
    }

    /// Sends one message within `time`.
    pub(crate) fn send_within<T: Serialize>(&mut self, message: &T, time: Duration) -> Result<(), MeetError> {
        let body = serde_json::to_vec(message).map_err(|e| MeetError::Protocol(e.to_string()))?;
        let whole = frame::encode(&body, self.most)?;
        let doing = "sending a control message";
        let deadline = Instant::now() + time;
        // rustls holds a bounded amount of unsent data: hand over piece by piece.
        let mut rest = &whole[..];
        while !rest.is_empty() {
            let taken = self.tls.writer().write(rest).map_err(MeetError::io(doing))?;
            rest = &rest[taken..];
            self.write_out(deadline, doing)?;
        }
        Ok(())
    }

    /// Sends bytes that need not be a frame.
    #[cfg(test)]
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.tls.writer().write_all(bytes).expect("fits");
        self.write_out(Instant::now() + LEAVE, "sending").expect("is sent");
    }

    /// The next message, by `deadline` at the latest; `doing` says what for.
    pub(crate) fn recv<T: DeserializeOwned>(&mut self, deadline: Instant, doing: &'static str) -> Result<T, MeetError> {
        let began = Instant::now();
        loop {
            // What is already there counts, even if this process was stopped beyond the deadline.
            if let Some(body) = frame::take(&mut self.inbox, self.most)? {
                return units::received::json(&body)
                    .map_err(|e| MeetError::Protocol(format!("a message that this side does not know ({e})")));
            }
            if self.ended {
                return Err(gone(doing));
            }
            if !self.read_some(doing)? {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(MeetError::Interrupted);
                }
                self.pause(PollFlags::IN, began, deadline, doing)?;
            }
        }
    }

    /// Like [`Channel::recv`], but not ended by a stop: for the last words of a far side after Ctrl-C or a failure.
    pub(crate) fn recv_anyway<T: DeserializeOwned>(
        &mut self,
        deadline: Instant,
        doing: &'static str,
    ) -> Result<T, MeetError> {
        let stop = std::mem::replace(&mut self.stop, Arc::new(AtomicBool::new(false)));
        let received = self.recv(deadline, doing);
        self.stop = stop;
        received
    }

    /// The flag that ends waits.
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The socket, for a watch.
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Ends the connection; whoever waits on the socket wakes.
    pub(crate) fn shutdown(&mut self) {
        self.tls.send_close_notify();
        // One try: this must not wait for a peer that no longer reads.
        let _ = self.tls.write_tls(&mut self.socket);
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    /// Reads what has arrived; whether anything had.
    fn read_some(&mut self, doing: &'static str) -> Result<bool, MeetError> {
        match self.tls.read_tls(&mut self.socket) {
            Ok(0) => {
                self.ended = true;
                // What was sent before the end may make the last frame whole.
                if self.inbox.len() < 4 { Err(gone(doing)) } else { Ok(true) }
            }
            Ok(_) => {
                if let Err(e) = self.tls.process_new_packets() {
                    // The alert that says what was wrong leaves if it can.
                    let _ = self.tls.write_tls(&mut self.socket);
                    return Err(self.tls_error(e));
                }
                self.decrypt()
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
            Err(e) if is_gone(e.kind()) => Err(gone(doing)),
            Err(source) => Err(MeetError::Io { doing: "reading the control connection", source }),
        }
    }

    fn decrypt(&mut self) -> Result<bool, MeetError> {
        let mut piece = [0; 4096];
        loop {
            match self.tls.reader().read(&mut piece) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(true);
                }
                Ok(n) => self.inbox.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(source) => return Err(MeetError::Io { doing: "reading the control connection", source }),
            }
        }
    }

    fn tls_error(&self, e: rustls::Error) -> MeetError {
        match e {
            rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => {
                MeetError::WrongCertificate { peer: self.peer }
            }
            // The near side sends the same alert where the far side's certificate is not the one it wants.
            rustls::Error::AlertReceived(alert::BUSY) if matches!(self.tls, Connection::Client(_)) => {
                MeetError::Busy { peer: self.peer }
            }
            e => e.into(),
        }
    }

    fn write_out(&mut self, deadline: Instant, doing: &'static str) -> Result<(), MeetError> {
        let began = Instant::now();
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.pause(PollFlags::OUT, began, deadline, doing)?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_gone(e.kind()) => {
                    // A peer that turned this side away may have said why before it closed.
                    if self.tls.is_handshaking() {
                        while self.read_some(doing)? {}
                    }
                    return Err(gone(doing));
                }
                Err(source) => return Err(MeetError::Io { doing: "writing to the control connection", source }),
            }
        }
        Ok(())
    }

    fn pause(
        &self,
        events: PollFlags,
        began: Instant,
        deadline: Instant,
        doing: &'static str,
    ) -> Result<(), MeetError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(MeetError::Silent { doing, waited: began.elapsed() });
        }
        // Rounded up: a wait of less than a clock tick must not become a busy loop.
        let look = left.min(LOOK).max(Duration::from_micros(50));
        let time = Timespec { tv_sec: look.as_secs() as i64, tv_nsec: i64::from(look.subsec_nanos()) };
        match poll(&mut [PollFd::new(&self.socket, events)], Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(MeetError::Io { doing: "waiting on the control connection", source: e.into() }),
        }
    }
}

/// The first of `channels` that has a message or has ended, if one has within `time`.
pub(crate) fn first(channels: &mut [&mut Channel], time: Duration) -> Option<usize> {
    if let Some(here) = channels.iter_mut().position(|channel| channel.arrived()) {
        return Some(here);
    }
    let mut fds: Vec<PollFd<'_>> = channels.iter().map(|channel| PollFd::new(&channel.socket, PollFlags::IN)).collect();
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    let _ = poll(&mut fds, Some(&time));
    drop(fds);
    channels.iter_mut().position(|channel| channel.arrived())
}

fn gone(doing: &'static str) -> MeetError {
    MeetError::Gone { doing, how: String::new() }
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
            | ErrorKind::TimedOut
            | ErrorKind::NotConnected
    )
}
