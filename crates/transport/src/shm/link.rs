//! The Link port over the ring.

mod region;
pub(super) mod wait;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use self::region::Regions;
use self::wait::Want;
use super::idle::Idle;
use super::map::Map;
use super::place::Piece;
use super::ring::{BadIndex, Consumer, Producer, Turn};
use super::slot::{INLINE, Said};
use super::sync::Ordering;
use crate::settings::Effective;
use crate::{Capabilities, Link, LinkError, OneSided, Patience, Semantics, Settings, VisitOneSided, Wait, sys};

/// The wait modes of shared memory, the default first.
pub(super) const WAITS: [Wait; 2] = [Wait::Spin, Wait::Block];

/// What shared-memory links can do.
pub(super) fn capabilities() -> Capabilities {
    Capabilities { semantics: Semantics::Message, one_sided: true, waits: WAITS.to_vec(), ..Capabilities::plain() }
}

/// Whether shared memory can be had here.
pub(super) fn availability() -> Result<(), LinkError> {
    Map::create(0).map(drop)
}

/// One end of a link through shared memory.
///
/// One side [creates](Shm::create) it and passes the file descriptor to the other, which [attaches](Shm::attach). A link
/// on which an operation failed half-way (interrupted, stalled) is out of step: further receives end with a `Protocol`
/// error.
pub struct Shm {
    pub(super) map: Map,
    /// This side's number: 0 the creator, 1 the attacher.
    pub(super) me: usize,
    pub(super) tx: Producer,
    pub(super) rx: Consumer,
    /// A message taken, and its reply, that `tx` and `rx` do not know of yet. [`Shm::begin`] and `send` settle it.
    pub(super) turn: Turn,
    pub(super) blocking: bool,
    /// Both sides may run on one CPU only, and it is the same one.
    pub(super) crowded: bool,
    closed: bool,
    pub(super) patience: Patience,
    pub(super) alive: Option<OwnedFd>,
    regions: Regions,
}

impl std::fmt::Debug for Shm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shm").field("me", &self.me).field("wait", &self.wait()).finish_non_exhaustive()
    }
}

impl Shm {
    /// Creates the shared memory and this end of the link. The file descriptor is for the peer, which must have the same
    /// settings.
    ///
    /// Errors: `Unsupported` for a wait mode other than spin and block; `Io` where the system has no memory to give.
    pub fn create(settings: &Settings, patience: &Patience) -> Result<(Shm, OwnedFd), LinkError> {
        let blocking = blocking(settings)?;
        let (map, file) = Map::create(blocking.into())?;
        Ok((Self::new(map, 0, blocking, patience), file))
    }

    /// The other end, over the file descriptor that came from the creator. Nothing in it is believed unchecked.
    ///
    /// Errors: `Protocol` for a file that the peer could still resize, or that is not a ring of this version and these
    /// settings; `Unsupported` and `Io` as for [`Shm::create`].
    pub fn attach(file: OwnedFd, settings: &Settings, patience: &Patience) -> Result<Shm, LinkError> {
        let blocking = blocking(settings)?;
        let map = Map::attach(&file, blocking.into())?;
        Ok(Self::new(map, 1, blocking, patience))
    }

    fn new(map: Map, me: usize, blocking: bool, patience: &Patience) -> Self {
        let mut shm = Self {
            map,
            me,
            tx: Producer::new(),
            rx: Consumer::new(),
            turn: Turn::default(),
            blocking,
            crowded: false,
            closed: false,
            patience: patience.clone(),
            alive: None,
            regions: Regions::default(),
        };
        shm.find_home();
        shm
    }

    /// Takes a UNIX socket to the peer: when the peer's end of it closes, the peer is gone. It is looked at only after a
    /// while without progress. Regions travel over it.
    pub fn watch(&mut self, alive: OwnedFd) {
        self.alive = Some(alive);
    }

    /// How this side waits.
    pub fn wait(&self) -> Wait {
        if self.blocking { Wait::Block } else { Wait::Spin }
    }

    /// Sends the next piece of a message; its length, or none where there is no room.
    #[inline(always)]
    fn push(&mut self, rest: &[u8]) -> Result<Option<usize>, LinkError> {
        let lane = &self.map.shared().lanes[self.me];
        let Some(piece) = self.tx.reserve(lane, rest.len()).map_err(broken)? else { return Ok(None) };
        if let Piece::Data { at, len } = piece {
            self.map.put(self.me, at, &rest[..len]);
        }
        self.tx.publish(lane, rest.len(), piece, rest, self.rx.seen());
        self.tell_peer();
        Ok(Some(piece.len()))
    }

    /// Receives the next piece of a message; its length, or none where nothing is there.
    #[inline(always)]
    fn pull(&mut self, rest: &mut [u8]) -> Result<Option<usize>, LinkError> {
        let peer = 1 - self.me;
        let lane = &self.map.shared().lanes[peer];
        let Some(said) = self.rx.look(lane) else { return Ok(None) };
        if said.left != Said::left(rest.len()) {
            return Err(mismatch(said.left, rest.len()));
        }
        let piece = self.rx.piece(said, rest.len());
        match piece {
            Piece::Slot(_) => self.rx.read(lane, rest),
            Piece::Data { at, len } => self.map.get(peer, at, &mut rest[..len]),
        }
        let told = self.rx.release(lane, piece, said);
        self.tx.acknowledge(said.seen).map_err(broken)?;
        if told {
            self.tell_peer();
        }
        Ok(Some(piece.len()))
    }

    /// Receives a small message that answers all that this side has sent, if it comes within a round of looks. False where
    /// something else came, or nothing.
    #[inline(always)]
    fn recv_short(&mut self, message: &mut [u8]) -> bool {
        if !self.turn.expect(&self.rx, &self.tx, message.len()) {
            return false;
        }
        let lane = &self.map.shared().lanes[1 - self.me];
        let (slot, number) = self.turn.awaits(lane);
        // A loop of nothing but the look at one word: with more in it, the CPU guessed its end wrong each time.
        for _ in 0..Idle::polls(self.crowded) {
            if slot.there(number) {
                let Some(told) = self.turn.take(lane, message) else { return false };
                if told {
                    self.tell_peer();
                }
                return true;
            }
        }
        false
    }

    /// Sends a message of any length, piece by piece. Out of line, so that the short way has no registers to save for it.
    #[inline(never)]
    fn send_pieces(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let (mut sent, mut idle) = (0, None);
        loop {
            match self.push(&message[sent..])? {
                Some(len) => {
                    sent += len;
                    if sent == message.len() {
                        return Ok(());
                    }
                    idle = None;
                }
                None => _ = self.await_news(&mut idle, Want::Space, None, "sending")?,
            }
        }
    }

    /// Receives a message of any length, piece by piece. Out of line, as [`Shm::send_pieces`].
    #[inline(never)]
    fn recv_pieces(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let (mut got, mut idle) = (0, None);
        loop {
            match self.pull(&mut message[got..])? {
                Some(len) => {
                    got += len;
                    if got == message.len() {
                        return Ok(());
                    }
                    idle = None;
                }
                None => _ = self.await_news(&mut idle, Want::Message, None, "receiving")?,
            }
        }
    }

    /// Writes down what was taken and replied to. In line: a call after the reply cost a round trip of 1 byte 12 ns.
    #[inline(always)]
    fn settle(&mut self) {
        self.turn.settle(&mut self.rx, &mut self.tx);
    }

    /// [`Shm::settle`], out of line, for whatever is no reply.
    #[cold]
    fn settle_late(&mut self) {
        self.settle();
    }

    /// To be called where an operation begins. `Closed` where this side has closed the link.
    #[inline(always)]
    pub(super) fn begin(&mut self, doing: &'static str) -> Result<(), LinkError> {
        if !self.turn.settled() {
            self.settle_late();
        }
        if self.closed { Err(LinkError::Closed { doing }) } else { Ok(()) }
    }
}

impl Link for Shm {
    fn capabilities(&self) -> Capabilities {
        capabilities()
    }

    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        Some(self)
    }

    fn visit_one_sided<V: VisitOneSided>(&mut self, visitor: V) -> Option<V::Out> {
        Some(visitor.visit(self))
    }

    fn effective(&self) -> Effective {
        Effective { wait: Some(self.wait()), ..Effective::default() }
    }

    // In line whoever calls, as the way from a message to its reply is what a latency consists of.
    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        if self.turn.taken() && message.len() <= INLINE {
            self.turn.reply(&self.map.shared().lanes[self.me], message);
            self.tell_peer();
            self.settle();
            return Ok(());
        }
        self.begin("sending")?;
        self.send_pieces(message)
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.begin("receiving")?;
        if message.len() <= INLINE && self.recv_short(message) {
            return Ok(());
        }
        self.recv_pieces(message)
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.begin("exchanging")?;
        let (mut sent, mut got) = (0, 0);
        let (mut all_sent, mut all_got) = (false, false);
        let mut idle = None;
        while !(all_sent && all_got) {
            let mut moved = false;
            if !all_sent && let Some(len) = self.push(&out[sent..])? {
                (sent, moved) = (sent + len, true);
                all_sent = sent == out.len();
            }
            if !all_got && let Some(len) = self.pull(&mut into[got..])? {
                (got, moved) = (got + len, true);
                all_got = got == into.len();
            }
            if moved {
                idle = None;
            } else {
                let want = match (all_sent, all_got) {
                    (true, _) => Want::Message,
                    (_, true) => Want::Space,
                    _ => Want::Either,
                };
                self.await_news(&mut idle, want, None, "exchanging")?;
            }
        }
        Ok(())
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.begin("waiting")?;
        if self.wanted(Want::Message) {
            return Ok(true);
        }
        if wait.is_zero() {
            // What was sent before the close counts.
            let closed = self.peer_closed();
            return if self.wanted(Want::Message) {
                Ok(true)
            } else if closed {
                Err(LinkError::Closed { doing: "waiting" })
            } else {
                Ok(false)
            };
        }
        // A time too far to be told is none.
        self.await_news(&mut None, Want::Message, Instant::now().checked_add(wait), "waiting")
    }

    fn close(&mut self) -> Result<(), LinkError> {
        if self.begin("closing").is_ok() {
            self.closed = true;
            self.map.shared().sides[self.me].closed.store(1, Ordering::Release);
            self.tell_peer();
        }
        Ok(())
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// Whether the settings ask for a wait that may sleep.
fn blocking(settings: &Settings) -> Result<bool, LinkError> {
    Ok(sys::wait(&WAITS, settings)? == Wait::Block)
}

#[cold]
fn broken(bad: BadIndex) -> LinkError {
    let BadIndex { claimed, sent } = bad;
    LinkError::Protocol(format!("it claims to have taken {claimed} messages where {sent} were sent"))
}

#[cold]
fn mismatch(left: u32, expected: usize) -> LinkError {
    LinkError::Protocol(format!("a message of {left} bytes came where one of {expected} bytes was expected"))
}
