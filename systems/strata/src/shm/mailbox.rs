//! All queues of a member, and waiting for all of them.
//!
//! A member that is awake looks at its queues alone. Before it sleeps it arms the bell of each, so that senders wake it, and looks once more; one epoll has all connections, and new ones.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use super::meet::{self, NoWay};
use super::queue::{BATCH, Receiver, Sender};
use crate::message::Msg;
use crate::rng::Rng;
use crate::time::Time;

/// Queues in each direction: more members have no use on one host, and each takes memory and a descriptor.
const QUEUES: usize = 1024;
/// Connections that have not said yet whose they are.
const SILENT: usize = 64;
/// Turns between two looks at the connections while this member does not sleep.
const TURNS: u32 = 32;
/// Turns of the connections in one look.
const ROUNDS: usize = 4;
/// For how long nobody is looked for at an address where nobody was.
const ABSENT: Duration = Duration::from_millis(2);
/// Addresses of which that is kept.
const KEPT: usize = 4096;
/// Free addresses that are tried.
const TRIES: u32 = 256;
const NOTICES: Duration = Duration::from_secs(10);
/// Not the number of a connection.
const DOOR: u64 = 0;

/// A queue to another member.
struct Outgoing {
    number: u64,
    socket: OwnedFd,
    queue: Sender,
}

/// A queue from another member.
struct Incoming {
    at: SocketAddr,
    socket: OwnedFd,
    queue: Receiver,
    /// Nothing more is put in.
    ended: bool,
}

/// Where a member's datagrams come, and from where they go.
pub(crate) struct Mailbox {
    me: SocketAddr,
    door: OwnedFd,
    epoll: OwnedFd,
    /// The number of the last connection.
    last: u64,
    to: BTreeMap<SocketAddr, Outgoing>,
    from: BTreeMap<u64, Incoming>,
    silent: BTreeMap<u64, OwnedFd>,
    absent: BTreeMap<SocketAddr, Instant>,
    /// Connections may wait at the door, without a word that they do.
    waiting: bool,
    watched: bool,
    turns: u32,
    scratch: Box<[u8]>,
    /// What is to be told, and when something was.
    wrong: Option<String>,
    noticed: Option<Time>,
}

/// An address without what only IPv6's sockets know of it.
fn plain(at: SocketAddr) -> SocketAddr {
    SocketAddr::new(at.ip(), at.port())
}

impl Mailbox {
    /// Takes an address; of port 0 a free one, drawn by a seed.
    pub(crate) fn open(at: SocketAddr, seed: u64) -> io::Result<Self> {
        let (me, door) = taken(plain(at), seed)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        // Told once: where no descriptor is free for a connection, it would be told for ever.
        epoll::add(&epoll, &door, EventData::new_u64(DOOR), EventFlags::IN | EventFlags::ET)?;
        Ok(Self {
            me,
            door,
            epoll,
            last: DOOR,
            to: BTreeMap::new(),
            from: BTreeMap::new(),
            silent: BTreeMap::new(),
            absent: BTreeMap::new(),
            waiting: false,
            watched: false,
            turns: 0,
            scratch: vec![0; BATCH].into_boxed_slice(),
            wrong: None,
            noticed: None,
        })
    }

    /// Where datagrams reach this member.
    pub(crate) fn address(&self) -> SocketAddr {
        self.me
    }

    /// Takes a batch of each queue. Whether there is more.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(SocketAddr, Bytes)) -> io::Result<bool> {
        self.turns += 1;
        if self.watched || self.turns >= TURNS {
            self.look()?;
        }
        let (scratch, wrong) = (&mut self.scratch, &mut self.wrong);
        let mut more = false;
        self.from.retain(|_, from| match from.queue.take(scratch, |bytes| take(from.at, bytes)) {
            Ok(some) => {
                more |= some;
                some || !from.ended
            }
            Err(e) => {
                *wrong = Some(format!("a queue in shared memory from {} is given up: {e}", from.at));
                false
            }
        });
        Ok(more)
    }

    /// A datagram goes out with the next flush, or is lost.
    pub(crate) fn put(&mut self, to: SocketAddr, msg: &Msg) {
        let to = plain(to);
        if to == self.me || (!self.to.contains_key(&to) && !self.reaches(to)) {
            return;
        }
        let put = self.to.get_mut(&to).map(|to| to.queue.put(msg.head(), msg.body()));
        if let Some(Err(e)) = put {
            self.to.remove(&to);
            self.wrong = Some(format!("a queue in shared memory to {to} is given up: {e}"));
        }
    }

    /// Tells the others of what was put.
    pub(crate) fn flush(&mut self) {
        for to in self.to.values_mut() {
            if to.queue.tell() {
                meet::wake(&to.socket);
            }
        }
    }

    /// What there is to tell a person, at most once in ten seconds.
    pub(crate) fn notice(&mut self, now: Time) -> Option<String> {
        if self.wrong.is_none() || self.noticed.is_some_and(|at| now.since(at) < NOTICES) {
            return None;
        }
        self.noticed = Some(now);
        self.wrong.take()
    }

    /// From now until the next [`Mailbox::receive`] what comes makes the descriptor readable. False where something has come already.
    pub(crate) fn watch(&mut self) -> bool {
        self.watched = true;
        // All are armed, whether one has something or not.
        let mut none = true;
        for from in self.from.values() {
            none &= from.queue.watch();
        }
        none
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Whether there is a queue to this address now.
    fn reaches(&mut self, at: SocketAddr) -> bool {
        if self.absent.get(&at).is_some_and(|since| since.elapsed() < ABSENT) {
            return false;
        }
        self.absent.remove(&at);
        let made = if self.to.len() < QUEUES { self.connected(at) } else { Err(NoWay::Nobody) };
        match made {
            Ok(to) => {
                self.to.insert(at, to);
                return true;
            }
            Err(NoWay::Nobody) => {}
            Err(e) => self.wrong = Some(format!("{at} can't be reached in shared memory: {e}")),
        }
        if self.absent.len() >= KEPT {
            self.absent.clear();
        }
        self.absent.insert(at, Instant::now());
        false
    }

    fn connected(&mut self, at: SocketAddr) -> Result<Outgoing, NoWay> {
        let socket = meet::connect(at)?;
        let (queue, file) = Sender::new().map_err(|e| NoWay::Memory(e.to_string()))?;
        meet::greet(&socket, self.me, &file)?;
        let number = self.number();
        // Of its end alone: what the other may send is not read.
        epoll::add(&self.epoll, &socket, EventData::new_u64(number), EventFlags::RDHUP | EventFlags::ET)?;
        Ok(Outgoing { number, socket, queue })
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// What the connections say: bytes that woke this member, new ones, and those that have ended.
    fn look(&mut self) -> io::Result<()> {
        self.turns = 0;
        if std::mem::take(&mut self.watched) {
            self.from.values().for_each(|from| from.queue.wake());
        }
        if self.waiting {
            self.accept();
        }
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut events = Vec::with_capacity(64);
        for _ in 0..ROUNDS {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&now)) {
                Ok(0) | Err(Errno::INTR) => break,
                Ok(_) => {}
                Err(e) => return Err(e.into()),
            }
            let full = events.len() == events.capacity();
            for event in events.drain(..) {
                let (number, flags) = (event.data.u64(), event.flags);
                if number == DOOR {
                    self.accept();
                } else {
                    self.said(number, flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR));
                }
            }
            if !full {
                break;
            }
        }
        Ok(())
    }

    /// Something was said over a connection, or its other end has gone.
    fn said(&mut self, number: u64, gone: bool) {
        if self.silent.contains_key(&number) {
            self.greeted(number);
        }
        if let Some(from) = self.from.get_mut(&number) {
            from.ended |= !meet::woken(&from.socket) || gone;
        } else if gone {
            // What was put in for who has gone is lost, as it is for who crashes before it has taken what lies in its socket.
            self.to.retain(|_, to| to.number != number);
        }
    }

    /// Takes new connections.
    fn accept(&mut self) {
        self.waiting = true;
        for _ in 0..SILENT {
            match meet::accept(self.door.as_fd()) {
                Ok(Some(socket)) => self.came(socket),
                Ok(None) => self.wrong = Some(format!("a process of another user connected to {}: refused", self.me)),
                Err(Errno::AGAIN) => {
                    self.waiting = false;
                    return;
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(e) => {
                    let text = format!("taking a connection in shared memory at {}: {e}", self.me);
                    self.wrong = Some(text);
                    return;
                }
            }
        }
    }

    fn came(&mut self, socket: OwnedFd) {
        if self.from.len() >= QUEUES {
            let text = format!("{QUEUES} queues in shared memory lead to {}, which takes no more", self.me);
            self.wrong = Some(text);
            return;
        }
        if self.silent.len() >= SILENT {
            self.silent.pop_first();
        }
        let number = self.number();
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        match epoll::add(&self.epoll, &socket, EventData::new_u64(number), flags) {
            Ok(()) => {
                self.silent.insert(number, socket);
                self.greeted(number);
            }
            Err(e) => self.wrong = Some(format!("watching a connection to {}: {e}", self.me)),
        }
    }

    /// A connection is a queue when it has said whose it is.
    fn greeted(&mut self, number: u64) {
        let Some(socket) = self.silent.remove(&number) else { return };
        match meet::greeted(&socket) {
            Err(Errno::AGAIN | Errno::INTR) => _ = self.silent.insert(number, socket),
            // It has gone without a word.
            Err(Errno::CONNRESET) => {}
            Err(e) => {
                let what = "does not greet as this version of strata does";
                self.wrong = Some(format!("what connected to {} in shared memory {what}: {e}", self.me));
            }
            Ok((at, _)) if at == self.me => {}
            Ok((at, file)) => match Receiver::of(&file) {
                Ok(queue) => _ = self.from.insert(number, Incoming { at, socket, queue, ended: false }),
                Err(e) => self.wrong = Some(format!("a queue in shared memory from {at} is refused: {e}")),
            },
        }
    }
}

#[cfg(test)]
impl Mailbox {
    /// Queues from here and to here.
    pub(super) fn queues(&self) -> (usize, usize) {
        (self.to.len(), self.from.len())
    }

    /// The receiver at an address says that it has read what was never written.
    pub(super) fn spoil(&self, to: SocketAddr) {
        self.to[&to].queue.memory().set_word(128, u64::MAX);
    }

    pub(super) fn forget_notices(&mut self) {
        (self.wrong, self.noticed) = (None, None);
    }
}

/// An address that is this process's from now on.
fn taken(at: SocketAddr, seed: u64) -> io::Result<(SocketAddr, OwnedFd)> {
    if at.port() != 0 {
        return Ok((at, meet::listen(at)?));
    }
    let mut rng = Rng::new(seed);
    for _ in 0..TRIES {
        let at = SocketAddr::new(at.ip(), rng.between(1024, 65_535) as u16);
        match meet::listen(at) {
            Err(Errno::ADDRINUSE) => {}
            door => return Ok((at, door?)),
        }
    }
    Err(Errno::ADDRINUSE.into())
}
