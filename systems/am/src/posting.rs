//! Receive posting: a connection on which the receiver says where it wants the next bytes, and the sender writes them there.
//!
//! Fast Sockets receive into the buffer of a `recv` that is already waiting. Between processes that is one copy, by the sender, from its
//! buffer into the receiver's; a message that finds no posted buffer goes through the ring and is copied twice. Both sides count what
//! they copied ([`Copied`]).
//!
//! Messages arrive whole and in order, whichever way each went. Posted buffers are used in the order in which they were posted; a message that
//! is longer than the next of them goes through the ring, and the buffer stays posted.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::time::Duration;

use crate::endpoint::{Endpoint, Listener};
use crate::error::{Broken, Error};
use crate::handlers::Handlers;
use crate::message::Message;
use crate::options::Options;
use crate::region::{Region, RemoteRegion};

/// Handlers: a buffer was posted, one was filled, a piece of a message came through the ring.
const POSTED: u16 = 0;
const FILLED: u16 = 1;
const PIECE: u16 = 2;
/// Buffers that a side may have posted at once, and bytes that it keeps for an owner who does not take them.
const MOST_POSTED: usize = 1024;
const MOST_KEPT: usize = 256 << 20;
/// What a message counts beside its bytes.
const EACH: usize = 64;

/// Bytes that a side copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Into the peer's posted buffers.
    pub into_posted: u64,
    /// Into the ring.
    pub into_ring: u64,
    /// Out of the ring.
    pub out_of_ring: u64,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// In a buffer that this side posted; the message is its first `len` bytes. It is not posted any more.
    InPlace {
        /// The buffer.
        buffer: Region,
        /// Bytes of the message.
        len: usize,
    },
    /// Through the ring.
    Bytes(Vec<u8>),
}

/// What the handlers know.
#[derive(Debug, Default)]
struct State {
    /// Buffers of the peer's.
    theirs: VecDeque<RemoteRegion>,
    /// This side's own.
    mine: VecDeque<Region>,
    arrived: VecDeque<Received>,
    /// Of messages that came through the ring and were not taken.
    kept: usize,
    /// A message of which pieces are missing.
    begun: Vec<u8>,
    copied: Copied,
    broken: Option<Broken>,
}

impl State {
    fn posted(&mut self, message: &Message<'_>) {
        if self.theirs.len() == MOST_POSTED {
            return self.break_off();
        }
        self.theirs.push_back(RemoteRegion::from_token(message.argument(0)));
    }

    fn filled(&mut self, message: &Message<'_>) {
        // Buffers are filled in order, from their beginning.
        match (message.region(), self.mine.pop_front()) {
            (Some((region, 0)), Some(next)) if region == next => {
                let len = message.payload().len();
                self.arrived.push_back(Received::InPlace { buffer: region, len });
            }
            _ => self.break_off(),
        }
    }

    fn piece(&mut self, message: &Message<'_>) {
        let (payload, before) = (message.payload(), self.begun.len());
        if message.region().is_some() || payload.len() + EACH > MOST_KEPT - self.kept {
            return self.break_off();
        }
        self.begun.resize(before + payload.len(), 0);
        payload.copy_to(&mut self.begun[before..]);
        self.copied.out_of_ring += payload.len() as u64;
        self.kept += payload.len();
        if message.argument(0) != 0 {
            let whole = std::mem::take(&mut self.begun);
            self.kept += EACH;
            self.arrived.push_back(Received::Bytes(whole));
        }
    }

    fn break_off(&mut self) {
        self.broken = Some(Broken::Posting);
    }
}

/// A connection with receive posting.
#[derive(Debug)]
pub struct Posting {
    endpoint: Endpoint<State>,
    state: State,
}

fn handlers() -> Handlers<State> {
    Handlers::new()
        .on_request(POSTED, |state: &mut State, message, _| state.posted(&message))
        .on_request(FILLED, |state: &mut State, message, _| state.filled(&message))
        .on_request(PIECE, |state: &mut State, message, _| state.piece(&message))
}

impl Posting {
    /// Waits for a process that connects, as [`Listener::accept`].
    ///
    /// # Errors
    /// As there.
    pub fn accept(listener: &Listener) -> Result<Self, Error> {
        Ok(Self { endpoint: listener.accept(handlers())?, state: State::default() })
    }

    /// Connects to a listener.
    ///
    /// # Errors
    /// As [`Endpoint::connect`].
    pub fn connect(name: &str, options: Options) -> Result<Self, Error> {
        Ok(Self { endpoint: Endpoint::connect(name, handlers(), options)?, state: State::default() })
    }

    fn sound(&self) -> Result<(), Error> {
        self.state.broken.map_or(Ok(()), |broken| Err(broken.into()))
    }

    /// A buffer of `len` bytes, not posted yet.
    ///
    /// # Errors
    /// If there is no room for it ([`Options::region_bytes`]).
    pub fn buffer(&mut self, len: usize) -> Result<Region, Error> {
        self.endpoint.register(len)
    }

    /// Posts a buffer: a message of the peer's is to be written there. It must not be posted already.
    ///
    /// # Errors
    /// As [`Endpoint::request`], and if too many are posted.
    pub fn post(&mut self, buffer: Region) -> Result<(), Error> {
        self.sound()?;
        self.endpoint.address(buffer)?;
        if self.state.mine.len() == MOST_POSTED || self.state.mine.contains(&buffer) {
            return Err(Error::Option {
                option: "buffer",
                value: format!("one of {} that are posted", self.state.mine.len()),
                rule: "no more than 1024 are posted at once, and each once",
            });
        }
        self.state.mine.push_back(buffer);
        self.endpoint.request(&mut self.state, POSTED, &[buffer.token()], &[])
    }

    /// Sends a message: into the peer's next posted buffer if there is one and it is large enough, else through the ring. Waits while
    /// the ring is full. True if it went into a buffer.
    ///
    /// # Errors
    /// As [`Endpoint::put`].
    pub fn send(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        // What the peer has posted lately.
        self.endpoint.poll(&mut self.state)?;
        self.sound()?;
        if let Some(&region) = self.state.theirs.front()
            && region.len() >= bytes.len()
        {
            self.state.theirs.pop_front();
            self.endpoint.put(&mut self.state, region, 0, bytes, FILLED, &[])?;
            self.state.copied.into_posted += bytes.len() as u64;
            return Ok(true);
        }
        let most = self.endpoint.medium();
        let mut rest = bytes;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(most));
            self.endpoint.request(&mut self.state, PIECE, &[u64::from(after.is_empty())], piece)?;
            self.state.copied.into_ring += piece.len() as u64;
            rest = after;
            if rest.is_empty() {
                return Ok(false);
            }
        }
    }

    /// The next message; none if none has come within `limit`.
    ///
    /// # Errors
    /// As [`Endpoint::wait`].
    pub fn receive(&mut self, limit: Option<Duration>) -> Result<Option<Received>, Error> {
        let news = |state: &State| !state.arrived.is_empty() || state.broken.is_some();
        self.endpoint.wait_until(&mut self.state, limit, news)?;
        self.sound()?;
        let received = self.state.arrived.pop_front();
        if let Some(Received::Bytes(bytes)) = &received {
            self.state.kept -= bytes.len() + EACH;
        }
        Ok(received)
    }

    /// Learns what the peer has posted, and keeps what it has sent. Does not wait.
    ///
    /// # Errors
    /// As [`Endpoint::poll`].
    pub fn poll(&mut self) -> Result<(), Error> {
        self.endpoint.poll(&mut self.state)?;
        self.sound()
    }

    /// Buffers of the peer's that are posted, as far as is known.
    pub fn posted_by_peer(&self) -> usize {
        self.state.theirs.len()
    }

    /// Copies out of a buffer, for who does not want to look at it in place: another copy, the caller's own.
    ///
    /// # Errors
    /// If the bytes do not lie within it.
    pub fn read(&self, buffer: Region, at: usize, into: &mut [u8]) -> Result<(), Error> {
        self.endpoint.read(buffer, at, into)
    }

    /// Where a buffer lies, to be looked at without a copy. A peer that breaks the rules can write there at any time.
    ///
    /// # Errors
    /// If it is none of this side's.
    pub fn address(&self, buffer: Region) -> Result<NonNull<u8>, Error> {
        self.endpoint.address(buffer)
    }

    /// Gives a buffer back that is not posted. False if it is, or is none.
    pub fn release(&mut self, buffer: Region) -> bool {
        !self.state.mine.contains(&buffer) && self.endpoint.release(buffer)
    }

    /// What this side has copied so far.
    pub fn copied(&self) -> Copied {
        self.state.copied
    }
}
