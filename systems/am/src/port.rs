//! One end of a connection, without handlers: rings, memory, waiting, and whether the peer still is there.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;

use crate::arena::{Control, Kind, Side, Sizes};
use crate::bell::Cause;
use crate::channel::{Receiver, Sender};
use crate::error::{Broken, Error};
use crate::futex::Futex;
use crate::memory::Memory;
use crate::options::{Options, Wait};
use crate::region::RemoteRegion;
use crate::region_map::RegionMap;
use crate::sync::Ordering;
use crate::wait::Waiter;

/// One end.
#[derive(Debug)]
pub struct Port {
    pub memory: Memory,
    pub sizes: Sizes,
    /// 0 at the listener, 1 at who connected.
    pub me: usize,
    pub requests_out: Sender,
    pub replies_out: Sender,
    pub requests_in: Receiver,
    pub replies_in: Receiver,
    pub regions: RegionMap,
    pub patience: Duration,
    waiter: Waiter,
    socket: OwnedFd,
    /// How the peer broke the rules, once it did.
    broken: Option<Broken>,
    /// The socket hung up.
    gone: bool,
    empty_polls: u32,
}

/// Polls that found nothing, between two questions to the socket.
const EMPTY_POLLS: u32 = 4096;

/// Wakes a side that sleeps for `cause`.
#[inline(always)]
pub fn ring(memory: &Memory, side: usize, cause: Cause) {
    memory.object::<Control>(0).sides[side & 1].bell.ring(&Futex::WAKE, cause);
}

/// Copies bytes into a region of `owner`; says where they are.
pub fn put(
    memory: &Memory,
    sizes: Sizes,
    owner: usize,
    region: RemoteRegion,
    at: usize,
    bytes: &[u8],
) -> Result<(u32, u32, u32), Error> {
    let (region, at) = region.check(at, bytes.len(), sizes.region)?;
    memory.put(sizes.area_start(owner) + region as usize + at as usize, bytes);
    Ok((region, at, bytes.len() as u32))
}

impl Port {
    pub fn new(memory: Memory, sizes: Sizes, me: usize, socket: OwnedFd, options: &Options) -> Self {
        let peer = 1 - me;
        Self {
            requests_out: Sender::new(sizes, me, Kind::Request),
            replies_out: Sender::new(sizes, me, Kind::Reply),
            requests_in: Receiver::new(sizes, peer, Kind::Request),
            replies_in: Receiver::new(sizes, peer, Kind::Reply),
            regions: RegionMap::new(sizes.region),
            patience: options.patience,
            waiter: Waiter::new(options.wait),
            broken: None,
            gone: false,
            empty_polls: 0,
            memory,
            sizes,
            me,
            socket,
        }
    }

    /// How it waits.
    pub fn waits(&self) -> Wait {
        self.waiter.wait()
    }

    /// Shared words of a side.
    #[inline(always)]
    pub fn side(&self, side: usize) -> &Side {
        &self.memory.object::<Control>(0).sides[side & 1]
    }

    /// An error if the connection has ended for a reason that this side found.
    #[inline(always)]
    pub fn usable(&self) -> Result<(), Error> {
        match self.broken {
            None => Ok(()),
            Some(broken) => Err(broken.into()),
        }
    }

    /// Whether the peer said that it closed. To be asked before looking for messages: what it sent before is there to be taken.
    #[inline(always)]
    pub fn peer_closed(&self) -> bool {
        self.side(1 - self.me).closed.load(Ordering::Acquire) != 0
    }

    /// Whether the peer's process ended, as far as is known. Who only polls learns it here: the socket is asked after every
    /// [`EMPTY_POLLS`] calls.
    #[inline(always)]
    pub fn found_gone(&mut self) -> bool {
        self.empty_polls = self.empty_polls.wrapping_add(1);
        if self.empty_polls.is_multiple_of(EMPTY_POLLS) && self.hung_up() {
            self.gone = true;
        }
        self.gone
    }

    /// Where this side's regions lie.
    #[inline(always)]
    pub fn area(&self) -> usize {
        self.sizes.area_start(self.me)
    }

    /// The peer broke the rules: nothing is believed any more, and it learns that by the socket.
    #[cold]
    pub fn fail(&mut self, broken: Broken) -> Error {
        self.broken = Some(broken);
        self.say_closed();
        broken.into()
    }

    fn say_closed(&self) {
        self.side(self.me).closed.store(1, Ordering::Release);
        ring(&self.memory, 1 - self.me, Cause::EITHER);
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Whether a request may be handled: the largest reply has room.
    #[inline(always)]
    pub fn may_reply(&mut self) -> Result<bool, Broken> {
        let largest = self.replies_out.largest();
        Ok(self.replies_out.fits(&self.memory, largest)?)
    }

    /// Whether a call to poll could find something to do, or a send could find room.
    #[inline(always)]
    fn news(&self, room: bool) -> bool {
        let memory = &self.memory;
        let request = self.requests_in.news(memory)
            && (self.replies_out.surely_fits(self.replies_out.largest()) || self.replies_out.news(memory));
        request || self.replies_in.news(memory) || (room && self.requests_out.news(memory))
    }

    /// Waits for news, with `room` also for room to send requests. False once `until` has passed. `doing` is for the error.
    ///
    /// # Errors
    /// If the peer closed the connection or its process ended, and it has sent nothing more.
    #[cold]
    pub fn await_news(&mut self, room: bool, until: Option<Instant>, doing: &'static str) -> Result<bool, Error> {
        let mut waiter = self.waiter;
        let found = self.await_with(&mut waiter, room, until, doing);
        self.waiter = waiter;
        found
    }

    fn await_with(
        &mut self,
        waiter: &mut Waiter,
        room: bool,
        until: Option<Instant>,
        doing: &'static str,
    ) -> Result<bool, Error> {
        let (mine, peers) = (self.me, 1 - self.me);
        let peer_waits = self.side(peers).bell.armed()
            && self.requests_out.all_read(&self.memory)
            && self.replies_out.all_read(&self.memory);
        let mut turn = waiter.begin(self.side(mine), self.side(peers), peer_waits);
        loop {
            if turn.spin(waiter, self.side(peers), until, || self.news(room)) {
                return Ok(true);
            }
            let closed = self.peer_closed();
            if turn.care() && self.hung_up() {
                self.gone = true;
            }
            if closed || self.gone {
                // What the peer did before it ended is seen now: the hang-up came after it.
                return if self.news(room) { Ok(true) } else { Err(self.ended(closed, doing)) };
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(self.news(room));
            }
            if let Some(limit) = turn.sleep(until) {
                // What was taken is told before sleeping, so that a peer that sees this side asleep knows that it waits.
                let told = [self.requests_in.tell_all(&self.memory), self.replies_in.tell_all(&self.memory)];
                if told.contains(&true) {
                    ring(&self.memory, peers, Cause::ROOM);
                }
                self.side(mine).bell.sleep(&Futex { limit }, Cause::EITHER, || self.news(room) || self.peer_closed());
            }
        }
    }

    /// Why there is nothing more to come.
    pub fn ended(&self, closed: bool, doing: &'static str) -> Error {
        if closed { Error::Closed { doing } } else { Error::Died { doing } }
    }

    /// Asks the socket whether the peer's end is still open.
    fn hung_up(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).is_ok_and(|found| found > 0)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.say_closed();
    }
}
