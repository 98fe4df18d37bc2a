//! The Link port over an endpoint of Active Messages: a message is a request for each of its pieces.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use am::{Endpoint, Error, Handlers, MAX_ARGUMENTS};

use super::inbox::{Bad, Inbox};
use super::{KIND, Kind, RING, capabilities, wait_of};
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{RECEIVING, SENDING};
use crate::{Capabilities, Link, LinkError, Patience};

/// The handlers of requests, by number: a piece through the ring, one in the arguments, one in the region, where the region is.
const MEDIUM: u16 = 0;
const SHORT: u16 = 1;
const BULK: u16 = 2;
const REGION: u16 = 3;
/// The handler of replies: a part of the region may be written again.
const CREDIT: u16 = 0;

/// Largest piece through the ring: of a longer message one is written while another is read. What shared memory's ring does best with, too.
const PIECE: usize = 32 << 10;
/// Bytes in the arguments of one message: the first argument says how much of the message is left.
const IN_ARGUMENTS: usize = 8 * (MAX_ARGUMENTS - 1);
/// Part of the region that a bulk message takes, and how many there are.
pub(super) const SLOT: usize = 64 << 10;
pub(super) const SLOTS: u32 = 16;

/// What this side tells of how its messages arrive.
pub(super) fn handlers() -> Handlers<Inbox> {
    Handlers::new()
        .on_request(MEDIUM, |inbox: &mut Inbox, message, _| inbox.arrive_with(&message))
        .on_request(SHORT, |inbox: &mut Inbox, message, _| {
            let left = message.argument(0);
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(IN_ARGUMENTS);
            inbox.arrive(left, len, |into| {
                for (i, bytes) in into.chunks_mut(8).enumerate() {
                    bytes.copy_from_slice(&message.argument(1 + i).to_le_bytes()[..bytes.len()]);
                }
            });
        })
        .on_request(BULK, |inbox: &mut Inbox, message, reply| {
            inbox.arrive_with(&message);
            // A reply without a payload fits always.
            let _ = reply.send(CREDIT, &[], &[]);
        })
        .on_request(REGION, |inbox: &mut Inbox, message, _| {
            inbox.region = Some(am::RemoteRegion::from_token(message.argument(0)));
        })
        .on_reply(CREDIT, |inbox: &mut Inbox, _| inbox.credit())
}

/// One end of a connection of Active Messages.
#[derive(Debug)]
pub struct Am {
    port: Port,
    inbox: Inbox,
}

/// All of a link but what its handlers work on.
#[derive(Debug)]
struct Port {
    /// None once it is closed.
    endpoint: Option<Endpoint<Inbox>>,
    kind: Kind,
    /// Largest piece of a message.
    piece: usize,
    /// The part of the peer's region that is written next.
    slot: u32,
    patience: Patience,
}

impl Am {
    /// Takes over an endpoint whose handlers are [`handlers`].
    pub(super) fn new(mut endpoint: Endpoint<Inbox>, kind: Kind, patience: &Patience) -> Result<Self, LinkError> {
        // A wait comes back to look at the link's own patience.
        endpoint.set_patience(LOOK);
        let piece = match kind {
            Kind::Medium => PIECE.min(endpoint.medium()),
            Kind::Short => IN_ARGUMENTS,
            Kind::Bulk => SLOT,
        };
        let port = Port { endpoint: Some(endpoint), kind, piece, slot: 0, patience: patience.clone() };
        let mut link = Self { port, inbox: Inbox::new(SLOTS) };
        if kind == Kind::Bulk {
            link.exchange_regions()?;
        }
        Ok(link)
    }

    /// Each side says where the other writes.
    fn exchange_regions(&mut self) -> Result<(), LinkError> {
        const DOING: &str = "exchanging where bulk messages go";
        let Self { port, inbox } = self;
        let region = port.endpoint(DOING)?.register(SLOT * SLOTS as usize).map_err(|e| of(e, DOING))?;
        port.request(inbox, |endpoint, inbox| endpoint.request(inbox, REGION, &[region.token()], &[]))?;
        port.wait(inbox, DOING, |inbox| inbox.region.is_some(), |_| 0)
    }
}

impl Port {
    #[inline(always)]
    fn endpoint(&mut self, doing: &'static str) -> Result<&mut Endpoint<Inbox>, LinkError> {
        self.endpoint.as_mut().ok_or(LinkError::Closed { doing })
    }

    /// Handles messages until `done`. Each change of `progress` renews the patience.
    #[inline(always)]
    fn wait(
        &mut self,
        inbox: &mut Inbox,
        doing: &'static str,
        done: impl Fn(&Inbox) -> bool,
        progress: impl Fn(&Inbox) -> usize,
    ) -> Result<(), LinkError> {
        let (mut since, mut before) = (None, progress(inbox));
        let done = |inbox: &Inbox| done(inbox) || inbox.bad.is_some();
        while !self.endpoint(doing)?.wait_until(inbox, Some(LOOK), done).map_err(|e| of(e, doing))? {
            let now = progress(inbox);
            if now != before {
                (since, before) = (None, now);
            }
            self.patience.check(*since.get_or_insert_with(a_look_ago), doing)?;
        }
        sound(inbox)
    }

    /// Makes a call that sends, again until there is room for it.
    #[inline(always)]
    fn request(
        &mut self,
        inbox: &mut Inbox,
        mut call: impl FnMut(&mut Endpoint<Inbox>, &mut Inbox) -> Result<(), Error>,
    ) -> Result<(), LinkError> {
        let mut since = None;
        loop {
            match call(self.endpoint(SENDING)?, inbox) {
                Ok(()) => return sound(inbox),
                Err(Error::Stalled { .. }) => {
                    sound(inbox)?;
                    self.patience.check(*since.get_or_insert_with(a_look_ago), SENDING)?;
                }
                Err(e) => return Err(of(e, SENDING)),
            }
        }
    }

    /// Sends a message, a request for each piece.
    #[inline(always)]
    fn send(&mut self, inbox: &mut Inbox, message: &[u8]) -> Result<(), LinkError> {
        let mut rest = message;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(self.piece));
            let left = rest.len() as u64;
            match self.kind {
                Kind::Medium => {
                    self.request(inbox, |endpoint, inbox| endpoint.request(inbox, MEDIUM, &[left], piece))?;
                }
                Kind::Short => {
                    let mut words = [left, 0, 0, 0, 0, 0, 0, 0];
                    for (word, bytes) in words[1..].iter_mut().zip(piece.chunks(8)) {
                        let mut whole = [0; 8];
                        whole[..bytes.len()].copy_from_slice(bytes);
                        *word = u64::from_le_bytes(whole);
                    }
                    let words = &words[..1 + piece.len().div_ceil(8)];
                    self.request(inbox, |endpoint, inbox| endpoint.request(inbox, SHORT, words, &[]))?;
                }
                Kind::Bulk => self.put(inbox, piece, left)?,
            }
            rest = after;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Writes a piece into the peer's region, where there is a part of it that the peer has read.
    fn put(&mut self, inbox: &mut Inbox, piece: &[u8], left: u64) -> Result<(), LinkError> {
        if inbox.credits == 0 {
            self.wait(inbox, SENDING, |inbox| inbox.credits > 0, |_| 0)?;
        }
        let region = inbox.region.ok_or(LinkError::Closed { doing: SENDING })?;
        let at = self.slot as usize * SLOT;
        self.request(inbox, |endpoint, inbox| endpoint.put(inbox, region, at, piece, BULK, &[left]))?;
        inbox.credits = inbox.credits.saturating_sub(1);
        self.slot = (self.slot + 1) % SLOTS;
        Ok(())
    }
}

/// When a wait began that came back with nothing.
#[cold]
fn a_look_ago() -> Instant {
    let now = Instant::now();
    now.checked_sub(LOOK).unwrap_or(now)
}

/// An error if the peer broke the rules.
#[inline(always)]
fn sound(inbox: &Inbox) -> Result<(), LinkError> {
    match inbox.bad {
        None => Ok(()),
        Some(bad) => Err(broken(bad)),
    }
}

#[cold]
fn broken(bad: Bad) -> LinkError {
    LinkError::Protocol(match bad {
        Bad::Length { said, awaited } => {
            format!("a message with {said} bytes left came where {awaited} bytes were expected")
        }
        Bad::Piece => "a piece of a message is longer than what is left of it, or empty".to_owned(),
        Bad::Flood => "it sends far more than anybody receives here".to_owned(),
        Bad::Credit => "it gave back more of its region than was written".to_owned(),
    })
}

/// What an endpoint's error means to a link.
#[cold]
pub(super) fn of(e: Error, doing: &'static str) -> LinkError {
    match e {
        Error::Closed { .. } | Error::Died { .. } => LinkError::Closed { doing },
        Error::Protocol(broken) => LinkError::Protocol(broken.to_string()),
        Error::NoSuchRegion { .. } | Error::OutsideRegion { .. } => LinkError::Protocol(e.to_string()),
        Error::Io { doing, source } => LinkError::Io { doing, source },
        e => LinkError::io(doing, std::io::Error::other(e)),
    }
}

impl Link for Am {
    fn capabilities(&self) -> Capabilities {
        capabilities()
    }

    fn effective(&self) -> Effective {
        let Some(endpoint) = &self.port.endpoint else { return Effective::default() };
        Effective {
            wait: wait_of(endpoint.waits()),
            options: BTreeMap::from([
                (KIND.to_owned(), self.port.kind.name().to_owned()),
                (RING.to_owned(), endpoint.ring_bytes().to_string()),
            ]),
            ..Effective::default()
        }
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.port.send(&mut self.inbox, message)
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let Self { port, inbox } = self;
        inbox.awaiting(message, |inbox| port.wait(inbox, RECEIVING, Inbox::done, Inbox::got))
    }

    /// What arrives while a send waits for room goes to its place at once.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        let Self { port, inbox } = self;
        inbox.awaiting(into, |inbox| {
            port.send(inbox, out)?;
            port.wait(inbox, RECEIVING, Inbox::done, Inbox::got)
        })
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        const DOING: &str = "waiting";
        let Self { port, inbox } = self;
        let start = Instant::now();
        loop {
            let endpoint = port.endpoint(DOING)?;
            let left = wait.saturating_sub(start.elapsed());
            if inbox.holds() {
                return Ok(true);
            }
            if left.is_zero() {
                endpoint.poll(inbox).map_err(|e| of(e, DOING))?;
                return Ok(inbox.holds());
            }
            endpoint.wait_until(inbox, Some(left.min(LOOK)), Inbox::holds).map_err(|e| of(e, DOING))?;
            sound(inbox)?;
            if port.patience.stopped() {
                return Err(LinkError::Interrupted);
            }
        }
    }

    fn close(&mut self) -> Result<(), LinkError> {
        // It says so to the peer as it goes.
        self.port.endpoint = None;
        Ok(())
    }
}
