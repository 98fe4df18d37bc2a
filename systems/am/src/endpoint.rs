//! One end of a connection, with handlers.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use crate::bell::Cause;
use crate::channel::{Arrived, Outgoing};
use crate::error::{Broken, Error};
use crate::handlers::Handlers;
use crate::meet;
use crate::memory::Memory;
use crate::message::{Message, Payload};
use crate::options::{Options, Wait};
use crate::port::{self, Port};
use crate::record::Place;
use crate::region::{Region, RemoteRegion};
use crate::region_map::RegionMap;
use crate::reply::Reply;
use crate::ring::Span;

/// Most messages of each kind that one call of [`Endpoint::poll`] handles, so that it ends however fast the peer sends.
pub const BATCH: usize = 256;

/// One end of a connection between two processes.
///
/// It belongs to one thread at a time and to one process: after a `fork` only one of the two may use it.
#[derive(Debug)]
pub struct Endpoint<S> {
    port: Port,
    handlers: Handlers<S>,
}

/// Where others connect.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    options: Options,
}

impl Listener {
    /// Listens under a name, which lives as long as the listener, within this network namespace.
    ///
    /// # Errors
    /// If the name is taken, the options can't be, or the system refuses.
    pub fn bind(name: &str, options: Options) -> Result<Self, Error> {
        options.sizes()?;
        Ok(Self { socket: meet::listen(name)?, options })
    }

    /// Waits for a process that connects, and connects with it. One of another user is refused with [`Error::OtherUser`]; the listener goes
    /// on. The greeting takes at most the options' patience.
    ///
    /// # Errors
    /// What the system or the other process did.
    pub fn accept<S>(&self, handlers: Handlers<S>) -> Result<Endpoint<S>, Error> {
        Endpoint::lead(meet::accept(self.socket.as_fd())?, handlers, &self.options)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl<S> Endpoint<S> {
    /// Connects to a listener. Sizes are the listener's.
    ///
    /// # Errors
    /// If nobody listens, or another user does, or the system refuses.
    pub fn connect(name: &str, handlers: Handlers<S>, options: Options) -> Result<Self, Error> {
        Self::follow(meet::connect(name)?, handlers, &options)
    }

    /// Makes the memory and hands it to the process at the other end of a connected `AF_UNIX` socket that keeps message boundaries, which calls
    /// [`Endpoint::follow`]. The socket is used for nothing else from then on.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub fn lead(socket: OwnedFd, handlers: Handlers<S>, options: &Options) -> Result<Self, Error> {
        let sizes = options.sizes()?;
        let memory = meet::lead(socket.as_fd(), sizes, options.patience)?;
        Ok(Self { port: Port::new(memory, sizes, 0, socket, options), handlers })
    }

    /// The other end of [`Endpoint::lead`].
    ///
    /// # Errors
    /// As [`Endpoint::connect`].
    pub fn follow(socket: OwnedFd, handlers: Handlers<S>, options: &Options) -> Result<Self, Error> {
        let (memory, sizes) = meet::follow(socket.as_fd(), options.patience)?;
        Ok(Self { port: Port::new(memory, sizes, 1, socket, options), handlers })
    }

    /// Most bytes that a message carries through the ring.
    pub fn medium(&self) -> usize {
        self.port.sizes.medium()
    }

    /// Sends a request: its handler at the peer, at most eight arguments, and a payload of at most [`Endpoint::medium`] bytes, which is copied.
    /// While the ring is full, it handles what arrives, with `state`, and waits.
    ///
    /// # Errors
    /// If it can't be sent as it is, if the peer ended, broke the protocol, or took nothing for the whole of the patience.
    #[inline(always)]
    pub fn request(&mut self, state: &mut S, handler: u16, arguments: &[u64], payload: &[u8]) -> Result<(), Error> {
        let message = Outgoing { handler, arguments, payload, bulk: None };
        if self.offer(&message)? { Ok(()) } else { self.insist(state, &message) }
    }

    /// As [`Endpoint::request`], but false instead of waiting. Handles nothing.
    ///
    /// # Errors
    /// As [`Endpoint::request`], but for the patience.
    #[inline(always)]
    pub fn try_request(&mut self, handler: u16, arguments: &[u64], payload: &[u8]) -> Result<bool, Error> {
        self.offer(&Outgoing { handler, arguments, payload, bulk: None })
    }

    /// Puts `bytes` at `at` of a region that the peer registered, then sends a request that says so. The handler finds them as its
    /// message's payload. It is up to the two sides to agree when the region may be written: the put does not ask.
    ///
    /// # Errors
    /// As [`Endpoint::request`], and if the bytes do not lie within the region.
    pub fn put(
        &mut self,
        state: &mut S,
        region: RemoteRegion,
        at: usize,
        bytes: &[u8],
        handler: u16,
        arguments: &[u64],
    ) -> Result<(), Error> {
        let mut message = Outgoing { handler, arguments, payload: &[], bulk: None };
        message.head(0)?;
        self.port.usable()?;
        message.bulk = Some(port::put(&self.port.memory, self.port.sizes, 1 - self.port.me, region, at, bytes)?);
        if self.offer(&message)? { Ok(()) } else { self.insist(state, &message) }
    }

    /// Sends a request if there is room.
    #[inline(always)]
    fn offer(&mut self, message: &Outgoing<'_>) -> Result<bool, Error> {
        let port = &mut self.port;
        port.usable()?;
        let head = message.head(port.sizes.medium())?;
        match port.requests_out.fits(&port.memory, head.total()) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(bad) => return Err(port.fail(bad.into())),
        }
        port.requests_out.write(&port.memory, head, message);
        port::ring(&port.memory, 1 - port.me, Cause::BYTES);
        Ok(true)
    }

    /// Sends a request for which there was no room.
    #[cold]
    fn insist(&mut self, state: &mut S, message: &Outgoing<'_>) -> Result<(), Error> {
        let doing = "waiting for room to send a request";
        let patience = self.port.patience;
        // Not renewed by what arrives: a peer that sends without end and takes nothing must not keep this side here.
        let until = Instant::now() + patience;
        while !self.offer(message)? {
            let nothing = self.poll(state)? == 0 && !self.port.await_news(true, Some(until), doing)?;
            if nothing || Instant::now() >= until {
                return Err(Error::Stalled { doing, patience });
            }
        }
        Ok(())
    }

    /// Handles what has arrived, at most [`BATCH`] messages of each kind, replies first; returns how many. Does not wait.
    ///
    /// # Errors
    /// If nothing is left and the peer has ended, or if it broke the protocol.
    #[inline(always)]
    pub fn poll(&mut self, state: &mut S) -> Result<usize, Error> {
        self.poll_until(state, |_| false)
    }

    /// The same until `done`, which is asked before each message.
    #[inline(always)]
    fn poll_until(&mut self, state: &mut S, done: impl FnMut(&S) -> bool) -> Result<usize, Error> {
        self.port.usable()?;
        // Asked first: what the peer sent before it closed is there to be taken.
        let closed = self.port.peer_closed();
        match self.handle(state, done) {
            Ok(0) if closed || self.port.found_gone() => Err(self.port.ended(closed, "polling")),
            Ok(handled) => Ok(handled),
            Err(broken) => Err(self.port.fail(broken)),
        }
    }

    /// Waits until something has arrived, and handles it; returns how many messages. 0 once `limit` has passed.
    ///
    /// # Errors
    /// As [`Endpoint::poll`].
    #[inline(always)]
    pub fn wait(&mut self, state: &mut S, limit: Option<Duration>) -> Result<usize, Error> {
        let mut until = None;
        loop {
            let handled = self.poll(state)?;
            if handled > 0 {
                return Ok(handled);
            }
            match until {
                None => until = limit.map(|limit| Instant::now() + limit),
                // News may come to nothing: a peer that shows something and takes it back must not keep this side here.
                Some(until) if Instant::now() >= until => return Ok(0),
                Some(_) => {}
            }
            if !self.port.await_news(false, until, "waiting for a message")? {
                return Ok(0);
            }
        }
    }

    /// Handles messages until `done` is true of the state, at most `limit` long; whether it is. No message is handled after that: what comes
    /// next stays where it is, for a call that is ready for it.
    ///
    /// # Errors
    /// As [`Endpoint::poll`].
    #[inline(always)]
    pub fn wait_until(
        &mut self,
        state: &mut S,
        limit: Option<Duration>,
        mut done: impl FnMut(&S) -> bool,
    ) -> Result<bool, Error> {
        let mut until = None;
        loop {
            if done(state) {
                return Ok(true);
            }
            if self.poll_until(state, &mut done)? > 0 && done(state) {
                return Ok(true);
            }
            match until {
                None => until = limit.map(|limit| Instant::now() + limit),
                Some(until) if Instant::now() >= until => return Ok(false),
                Some(_) => {}
            }
            if !self.port.await_news(false, until, "waiting for a message")? {
                return Ok(false);
            }
        }
    }

    /// From now on a call waits this long for a peer that takes nothing.
    pub fn set_patience(&mut self, patience: Duration) {
        self.port.patience = patience;
    }

    /// How it waits.
    pub fn waits(&self) -> Wait {
        self.port.waits()
    }

    /// Bytes of each of the connection's rings.
    pub fn ring_bytes(&self) -> usize {
        self.port.sizes.ring.bytes()
    }

    #[inline(always)]
    fn handle(&mut self, state: &mut S, mut done: impl FnMut(&S) -> bool) -> Result<usize, Broken> {
        let mut handled = 0;
        while handled < BATCH && !done(state) && self.handle_reply(state)? {
            handled += 1;
        }
        let replies = handled;
        while handled < replies + BATCH && !done(state) && self.handle_request(state)? {
            handled += 1;
        }
        let port = &mut self.port;
        if port.requests_in.tell(&port.memory) | port.replies_in.tell(&port.memory) {
            port::ring(&port.memory, 1 - port.me, Cause::ROOM);
        }
        Ok(handled)
    }

    #[inline(always)]
    fn handle_reply(&mut self, state: &mut S) -> Result<bool, Broken> {
        let Self { port, handlers } = self;
        let Some(arrived) = port.replies_in.take(&port.memory)? else { return Ok(false) };
        let message = message(&port.memory, &port.regions, port.area(), &arrived, port.replies_in.start())?;
        let handler = arrived.head.handler;
        let Some(run) = handlers.replies.get_mut(usize::from(handler)).and_then(Option::as_mut) else {
            return Err(Broken::Handler { kind: "reply", handler });
        };
        run(state, message);
        Ok(true)
    }

    #[inline(always)]
    fn handle_request(&mut self, state: &mut S) -> Result<bool, Broken> {
        let Self { port, handlers } = self;
        if !port.requests_in.news(&port.memory) || !port.may_reply()? {
            return Ok(false);
        }
        let Some(arrived) = port.requests_in.take(&port.memory)? else { return Ok(false) };
        let message = message(&port.memory, &port.regions, port.area(), &arrived, port.requests_in.start())?;
        let handler = arrived.head.handler;
        let Some(run) = handlers.requests.get_mut(usize::from(handler)).and_then(Option::as_mut) else {
            return Err(Broken::Handler { kind: "request", handler });
        };
        let reply = Reply { memory: &port.memory, sizes: port.sizes, me: port.me, replies: &mut port.replies_out };
        run(state, message, reply);
        Ok(true)
    }

    /// Registers `len` bytes of this side's area of shared memory, for the peer to put into. Their contents are what was last there.
    ///
    /// # Errors
    /// If there is no free piece that long.
    pub fn register(&mut self, len: usize) -> Result<Region, Error> {
        let total = self.port.sizes.region as usize;
        let at = self.port.regions.take(len).map_err(|free| Error::NoRoom { len, free, total })?;
        Ok(Region { at, len: len as u32 })
    }

    /// Gives a region back. The peer must not put into it any more: a put that arrives afterwards breaks the protocol. False if it was not
    /// registered.
    pub fn release(&mut self, region: Region) -> bool {
        self.port.regions.give(region.at)
    }

    /// The bytes at `at` of a region.
    ///
    /// # Errors
    /// If they do not lie within it.
    pub fn read(&self, region: Region, at: usize, into: &mut [u8]) -> Result<(), Error> {
        let start = self.within(region, at, into.len())?;
        self.port.memory.get(start, into);
        Ok(())
    }

    /// Writes into a region of this side.
    ///
    /// # Errors
    /// If the bytes do not lie within it.
    pub fn write(&mut self, region: Region, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let start = self.within(region, at, bytes.len())?;
        self.port.memory.put(start, bytes);
        Ok(())
    }

    /// The address of a region, for who looks at it without a copy. The peer can write there at any time.
    ///
    /// # Errors
    /// If it is not registered.
    pub fn address(&self, region: Region) -> Result<NonNull<u8>, Error> {
        let start = self.within(region, 0, region.len())?;
        Ok(self.port.memory.address(start, region.len()))
    }

    fn within(&self, region: Region, at: usize, len: usize) -> Result<usize, Error> {
        let outside = Error::OutsideRegion { at, len, region: region.len() };
        let (Ok(short_at), Ok(short_len)) = (u32::try_from(at), u32::try_from(len)) else { return Err(outside) };
        match self.port.regions.holds(region.at, short_at, short_len) {
            Some(_) => Ok(self.port.area() + region.at as usize + at),
            None => Err(outside),
        }
    }
}

/// The message that its handler gets. `area` is where this side's regions lie.
#[inline(always)]
fn message<'a>(
    memory: &'a Memory,
    regions: &RegionMap,
    area: usize,
    arrived: &Arrived,
    ring: usize,
) -> Result<Message<'a>, Broken> {
    let head = arrived.head;
    let (payload, region) = match arrived.place {
        Place::Ring => (Payload { memory, base: ring, span: arrived.span }, None),
        Place::Region { region, at } => {
            let broken = Broken::Region { region, at, len: head.len };
            let len = regions.holds(region, at, head.len).ok_or(broken)?;
            let span = Span { at: at as usize, first: head.len as usize, second: 0 };
            let payload = Payload { memory, base: area + region as usize, span };
            (payload, Some((Region { at: region, len }, at as usize)))
        }
    };
    Ok(Message { arguments: arrived.arguments, count: head.arguments, payload, region })
}
