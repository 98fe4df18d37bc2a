//! A connection and its socket: what comes is handed to the protocol, what that wants to send leaves, timers go off. No call here waits.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ReadError,
    SendDatagramError, ServerConfig, StreamId, Transmit, VarInt, WriteError,
};

use super::config;
use super::sockets::Plug;
use crate::LinkError;
use crate::settings::Effective;
use crate::sys::RECEIVING;
use crate::udp::Greeting;

/// Bytes that are given to the protocol before some of them leave.
const PART: usize = 64 << 10;

/// Why a connection carries nothing more.
#[derive(Debug, Clone)]
enum Lost {
    /// The other side, or this one, ended it, or is gone.
    Ended,
    /// The other side broke the rules.
    Wrong(String),
}

/// A connection with all that is under way.
pub struct Pump {
    plug: Plug,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    greeting: Greeting,
    connected: bool,
    drained: bool,
    lost: Option<Lost>,
    /// The other side's direction of the stream is over.
    ended: bool,
    /// What came and was not asked for yet.
    rest: Bytes,
    /// A datagram that came and was not asked for yet.
    come: Option<Bytes>,
    /// What the socket had no room for.
    held: Option<Transmit>,
    buffer: Vec<u8>,
    send_window: u64,
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Pump {
    fn new(
        plug: Plug,
        server: Option<Arc<ServerConfig>>,
        greeting: Greeting,
        send_window: u64,
    ) -> Result<Self, LinkError> {
        Ok(Self {
            plug,
            endpoint: Endpoint::new(config::endpoint()?, server, true, None),
            connection: None,
            stream: None,
            greeting,
            connected: false,
            drained: false,
            lost: None,
            ended: false,
            rest: Bytes::new(),
            come: None,
            held: None,
            buffer: Vec::new(),
            send_window,
        })
    }

    /// The far side of a connected socket.
    pub fn far(plug: Plug, config: Arc<ServerConfig>, greeting: Greeting, window: u64) -> Result<Self, LinkError> {
        Self::new(plug, Some(config), greeting, window)
    }

    /// The near side, which speaks first.
    pub fn near(plug: Plug, config: ClientConfig, greeting: Greeting, window: u64) -> Result<Self, LinkError> {
        let peer = plug.peer();
        let mut pump = Self::new(plug, None, greeting, window)?;
        let connection = pump.endpoint.connect(Instant::now(), config, peer, config::SERVER);
        pump.connection =
            Some(connection.map_err(|e| LinkError::io("beginning a QUIC connection", std::io::Error::other(e)))?);
        Ok(pump)
    }

    pub fn plug(&self) -> &Plug {
        &self.plug
    }

    /// Whether the handshake is over and there is a stream; the near side opens it.
    pub fn opened(&mut self) -> bool {
        if self.stream.is_none() && self.connected {
            let Some((_, connection)) = &mut self.connection else { return false };
            let side = connection.side();
            let mut streams = connection.streams();
            self.stream = if side.is_client() { streams.open(Dir::Bi) } else { streams.accept(Dir::Bi) };
        }
        self.stream.is_some()
    }

    /// Whether there is something that the socket had no room for.
    pub fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// How long until a timer goes off, at most `most`.
    pub fn timer(&mut self, most: Duration) -> Duration {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        due.map_or(most, |due| due.saturating_duration_since(Instant::now()).min(most))
    }

    /// Everything that can be done at once: takes what has come, and sends what is due.
    pub fn turn(&mut self) {
        let now = Instant::now();
        while self.receive(now) {}
        self.go(now);
    }

    /// Takes what one call takes from the socket; false where there was nothing.
    fn receive(&mut self, now: Instant) -> bool {
        let Self { plug, endpoint, connection, greeting, buffer, .. } = self;
        let (peer, mut answers, mut again) = (plug.peer(), Vec::new(), false);
        let taken = plug.receive(|datagram, ecn| {
            if datagram == greeting.theirs {
                // It could not know that its proof had come.
                again = true;
                return;
            }
            buffer.clear();
            match endpoint.handle(now, peer, None, ecn, BytesMut::from(datagram), buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some((known, connection)) = connection
                        && *known == handle
                    {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) if connection.is_some() => endpoint.ignore(incoming),
                // To an address that has not answered three times as much may be sent as came from there (RFC 9000, 8.1): with datagrams of
                // more than that nothing. A retry has it answer.
                Some(DatagramEvent::NewConnection(incoming)) if !incoming.remote_address_validated() => {
                    match endpoint.retry(incoming, buffer) {
                        Ok(transmit) => answers.push((transmit, buffer.clone())),
                        Err(e) => endpoint.ignore(e.into_incoming()),
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => match endpoint.accept(incoming, now, buffer, None) {
                    Ok(accepted) => *connection = Some(accepted),
                    Err(e) => answers.extend(e.response.map(|t| (t, buffer.clone()))),
                },
                Some(DatagramEvent::Response(transmit)) => answers.push((transmit, buffer.clone())),
                None => {}
            }
        });
        // What is lost of these is asked for again.
        for (transmit, contents) in answers {
            let _ = self.plug.send(&transmit, &contents[..transmit.size]);
        }
        if let Some(answer) = self.greeting.answer.filter(|_| again) {
            let _ = rustix::net::send(self.plug.fd(), &answer, rustix::net::SendFlags::NOSIGNAL);
        }
        match taken {
            Ok(n) => n > 0,
            Err(e) => {
                self.told(&e);
                false
            }
        }
    }

    /// What the system says of the other side.
    fn told(&mut self, e: &std::io::Error) {
        // Nothing is bound there any more.
        if e.kind() == ErrorKind::ConnectionRefused && self.lost.is_none() {
            self.lost = Some(Lost::Ended);
        }
    }

    /// Timers, events, and what is due to be sent.
    fn go(&mut self, now: Instant) {
        loop {
            let Some((handle, connection)) = &mut self.connection else { return };
            if connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if self.drained {
                    continue;
                }
                self.drained = event.is_drained();
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected => self.connected = true,
                    Event::ConnectionLost { reason } => self.lost = Some(meaning(&reason)),
                    _ => {}
                }
            }
            if self.held.is_none() {
                self.buffer.clear();
                let at_once = self.plug.at_once(connection.current_mtu());
                self.held = connection.poll_transmit(now, at_once, &mut self.buffer);
            }
            let Some(transmit) = &self.held else { return };
            match self.plug.send(transmit, &self.buffer[..transmit.size]) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => self.told(&e),
                Ok(()) => {}
            }
            self.held = None;
        }
    }

    /// Why nothing more is carried, in a link's words.
    fn gone(&self, doing: &'static str) -> LinkError {
        match &self.lost {
            Some(Lost::Wrong(why)) => LinkError::Protocol(format!("QUIC: {why}")),
            _ => LinkError::Closed { doing },
        }
    }

    /// The same, where something is wrong already.
    pub fn check(&self, doing: &'static str) -> Result<(), LinkError> {
        if self.lost.is_some() { Err(self.gone(doing)) } else { Ok(()) }
    }

    /// Gives the protocol as much of `from` as it takes, and sends what may leave.
    pub fn write(&mut self, from: &[u8], doing: &'static str) -> Result<usize, LinkError> {
        let mut at = 0;
        while at < from.len() {
            self.check(doing)?;
            let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { break };
            match connection.send_stream(stream).write(&from[at..from.len().min(at + PART)]) {
                Ok(n) => at += n,
                Err(WriteError::Blocked) => break,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return Err(self.gone(doing)),
            }
            self.go(Instant::now());
        }
        Ok(at)
    }

    /// Fills `into` as far as something has come.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, LinkError> {
        let mut at = 0;
        while at < into.len() && self.fill() {
            let n = (into.len() - at).min(self.rest.len());
            into[at..at + n].copy_from_slice(&self.rest.split_to(n));
            at += n;
        }
        if at == 0 && !into.is_empty() && (self.ended || self.lost.is_some()) {
            return Err(self.gone(RECEIVING));
        }
        Ok(at)
    }

    /// Whether there is something to read.
    fn fill(&mut self) -> bool {
        if !self.rest.is_empty() {
            return true;
        }
        let (Some((_, connection)), Some(stream), false) = (&mut self.connection, self.stream, self.ended) else {
            return false;
        };
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else {
            self.ended = true;
            return false;
        };
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => self.rest = chunk.bytes,
            Ok(None) | Err(ReadError::Reset(_)) => self.ended = true,
            Err(ReadError::Blocked) => {}
        }
        !self.rest.is_empty()
    }

    /// The largest message that fits a datagram; none where the other side takes no datagrams.
    pub fn largest(&mut self) -> Option<usize> {
        self.connection.as_mut()?.1.datagrams().max_size()
    }

    /// Sends a message as a datagram; gives it back where there is no room for it yet.
    pub fn cast(&mut self, message: Bytes, doing: &'static str) -> Result<Option<Bytes>, LinkError> {
        self.check(doing)?;
        let Some((_, connection)) = &mut self.connection else { return Ok(Some(message)) };
        let asked = message.len() as u64;
        match connection.datagrams().send(message, false) {
            Ok(()) => {}
            Err(SendDatagramError::Blocked(message)) => return Ok(Some(message)),
            // What the way carries may have become less.
            Err(SendDatagramError::TooLarge) => {
                let most = connection.datagrams().max_size().unwrap_or(0) as u64;
                return Err(LinkError::TooLarge { asked, most });
            }
            Err(SendDatagramError::UnsupportedByPeer | SendDatagramError::Disabled) => {
                return Err(LinkError::Protocol("QUIC: it takes no datagrams".to_owned()));
            }
        }
        self.go(Instant::now());
        Ok(None)
    }

    /// The next datagram that has come.
    pub fn next(&mut self) -> Option<Bytes> {
        self.come.take().or_else(|| self.connection.as_mut()?.1.datagrams().recv())
    }

    /// Whether a receive of a datagram would find something, be it the end.
    pub fn any(&mut self) -> bool {
        self.come = self.next();
        self.come.is_some() || self.lost.is_some()
    }

    /// Whether datagrams wait to leave.
    pub fn holds_any(&mut self, window: usize) -> bool {
        // An empty buffer has room for all but one datagram's own head.
        let Some((_, connection)) = &mut self.connection else { return false };
        self.lost.is_none() && connection.datagrams().send_buffer_space() + 1024 < window
    }

    /// Whether a receive would find something, be it the end.
    pub fn ready(&mut self) -> bool {
        self.fill() || self.ended || self.lost.is_some()
    }

    /// Whether something was sent that the other side has not said to have.
    pub fn owes(&mut self) -> bool {
        let (Some((_, connection)), Some(stream), None) = (&mut self.connection, self.stream, &self.lost) else {
            return false;
        };
        // The protocol keeps to itself what is unacknowledged; with a window of one byte it takes nothing while there is any.
        connection.set_send_window(1);
        let owes = matches!(connection.send_stream(stream).write(&[]), Err(WriteError::Blocked));
        connection.set_send_window(self.send_window);
        owes
    }

    /// Says that nothing more will be sent, and soon after that the connection ends.
    pub fn end(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), VarInt::from_u32(0), Bytes::new());
            self.go(Instant::now());
        }
        self.lost.get_or_insert(Lost::Ended);
        self.ended = true;
        self.rest = Bytes::new();
    }

    /// What took effect.
    pub fn effective(&self, known: &[(&'static str, String)], socket: Effective) -> Effective {
        let mtu = self.connection.as_ref().map(|(_, connection)| connection.current_mtu().to_string());
        let known = known.iter().map(|(name, said)| (*name, said.clone())).chain(mtu.map(|mtu| ("packet", mtu)));
        Effective { options: known.map(|(name, said)| (name.to_owned(), said)).collect(), ..socket }
    }
}

/// What the end of a connection means.
fn meaning(reason: &ConnectionError) -> Lost {
    match reason {
        ConnectionError::TransportError(_)
        | ConnectionError::VersionMismatch
        | ConnectionError::ConnectionClosed(_) => Lost::Wrong(reason.to_string()),
        _ => Lost::Ended,
    }
}
