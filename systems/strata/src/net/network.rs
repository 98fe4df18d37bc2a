//! What carries a member's datagrams, by the end of its stack: UDP or shared memory.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::BorrowedFd;

use super::failed::Failed;
use super::random;
use super::sockets::Sockets;
use crate::addr::Endpoint;
use crate::event::{Input, To};
use crate::message::Msg;
use crate::shm::Mailbox;
use crate::stack::Carrier;
use crate::time::Time;

pub(super) enum Network {
    Udp(Box<Sockets>),
    Shm(Box<Mailbox>),
}

impl Network {
    /// Where others reach a member at this address from now on.
    pub(super) fn open(carrier: Carrier, at: SocketAddr, multicast: Option<SocketAddrV4>) -> Result<Self, Failed> {
        match carrier {
            Carrier::Udp => Ok(Self::Udp(Box::new(Sockets::bind(at)?))),
            Carrier::Multicast => Ok(Self::Udp(Box::new(Sockets::casting(at, multicast)?))),
            Carrier::Shm => {
                let seed = random().map_err(Failed::at("drawing a random number for", at))?;
                let what = "taking a free address in shared memory, which no other process of this network namespace has, here";
                Ok(Self::Shm(Box::new(Mailbox::open(at, seed).map_err(Failed::at(what, at))?)))
            }
            Carrier::Sim => Err(Failed::Carrier("sim", "it is for `strata sim` only; write udp or shm")),
        }
    }

    /// Where datagrams reach this member.
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Udp(sockets) => sockets.address(),
            Self::Shm(mailbox) => mailbox.address(),
        }
    }

    /// Takes what has come, at most so much that nothing else waits for long. Whether there may be more.
    pub(super) fn receive(&mut self, mut take: impl FnMut(Input)) -> io::Result<bool> {
        match self {
            Self::Udp(sockets) => sockets.receive(take),
            Self::Shm(mailbox) => mailbox.receive(|from, bytes| take(Input::Datagram(from, bytes))),
        }
    }

    /// A datagram goes out with the next flush. It may be lost.
    pub(super) fn put(&mut self, to: To, msg: &Msg) {
        match (self, to) {
            (Self::Udp(sockets), to) => sockets.put(to, msg),
            (Self::Shm(mailbox), To::One(to)) => mailbox.put(to, msg),
            // COM makes a datagram for each member of it.
            (Self::Shm(_), To::All) => {}
        }
    }

    /// Sends what was put.
    pub(super) fn flush(&mut self) {
        match self {
            Self::Udp(sockets) => sockets.flush(),
            Self::Shm(mailbox) => mailbox.flush(),
        }
    }

    /// A member says how many datagrams it has multicast.
    pub(super) fn told(&mut self, by: Endpoint, multicasts: u64) {
        if let Self::Udp(sockets) = self {
            sockets.told(by, multicasts);
        }
    }

    /// What there is to tell a person.
    pub(super) fn notice(&mut self, now: Time) -> Option<String> {
        match self {
            Self::Udp(sockets) => sockets.notice(now),
            Self::Shm(mailbox) => mailbox.notice(now),
        }
    }

    /// From now until the next [`Network::receive`] what comes makes a descriptor readable. False where something has come already.
    pub(super) fn watch(&mut self) -> bool {
        match self {
            // A socket is readable as long as there is something.
            Self::Udp(_) => true,
            Self::Shm(mailbox) => mailbox.watch(),
        }
    }

    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let all = match self {
            Self::Udp(sockets) => sockets.descriptors(),
            Self::Shm(mailbox) => [Some(mailbox.descriptor()), None],
        };
        all.into_iter().flatten()
    }
}
