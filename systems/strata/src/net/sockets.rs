//! UDP as a carrier: a socket of the member's own, perhaps one of a multicast group, and datagrams that wait to go out together.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use super::failed::Failed;
use super::hearing::Hearing;
use super::lanes::Lanes;
use super::socket::Socket;
use crate::addr::Endpoint;
use crate::event::{Input, To};
use crate::message::Msg;
use crate::time::Time;

pub(super) struct Sockets {
    at: SocketAddr,
    socket: Socket,
    casts: Option<(Socket, SocketAddr)>,
    /// Multicasts that had come were all taken.
    taken: bool,
    hearing: Hearing,
    lanes: Lanes,
}

impl Sockets {
    /// A socket at this address.
    pub(super) fn bind(at: SocketAddr) -> Result<Self, Failed> {
        let free = "binding to a free port at an address of this host, here";
        let socket = Socket::bind(at).map_err(Failed::at(free, at))?;
        let at = socket.address().map_err(Failed::at("asking for the address of", at))?;
        let (hearing, lanes) = Default::default();
        Ok(Self { at, socket, casts: None, taken: false, hearing, lanes })
    }

    /// The same, with casts to a multicast group.
    pub(super) fn casting(at: SocketAddr, group: Option<SocketAddrV4>) -> Result<Self, Failed> {
        let mut made = Self::bind(at)?;
        match (group, made.at.ip()) {
            (Some(group), IpAddr::V4(interface)) if group.ip().is_multicast() && group.port() != 0 => {
                let at = SocketAddr::V4(group);
                made.socket.multicast_from(interface).map_err(Failed::at("choosing the interface for", at))?;
                let casts = Socket::join(group, interface).map_err(Failed::at("joining the multicast group", at))?;
                made.casts = Some((casts, at));
                Ok(made)
            }
            _ => Err(Failed::Carrier(
                "multicast",
                "give an IPv4 multicast address with a port, such as 239.1.2.3:7000, and bind to an IPv4 address",
            )),
        }
    }

    /// Where datagrams reach this member.
    pub(super) fn address(&self) -> SocketAddr {
        self.at
    }

    /// Takes what has come, at most so much that nothing else waits for long. Whether there may be more.
    pub(super) fn receive(&mut self, mut take: impl FnMut(Input)) -> io::Result<bool> {
        let mut more = self.socket.receive(|from, bytes| take(Input::Datagram(from, bytes)))?;
        if let Some((socket, _)) = &mut self.casts {
            let (me, hearing) = (self.at, &mut self.hearing);
            let multicasts = socket.receive(|from, bytes| {
                if from != me {
                    hearing.heard(from);
                }
                take(Input::Multicast(from, bytes));
            })?;
            // What members said how many they sent came before this.
            self.taken = !multicasts;
            more |= multicasts;
        }
        Ok(more)
    }

    pub(super) fn put(&mut self, to: To, msg: &Msg) {
        match (to, &self.casts) {
            (To::One(to), _) => self.lanes.put(to, msg, &self.socket),
            (To::All, Some((_, group))) => self.lanes.put(*group, msg, &self.socket),
            (To::All, None) => {}
        }
    }

    pub(super) fn flush(&mut self) {
        self.lanes.flush(&self.socket);
    }

    /// A member says how many datagrams it has multicast.
    pub(super) fn told(&mut self, by: Endpoint, multicasts: u64) {
        if self.casts.is_some() {
            self.hearing.told(by, multicasts);
        }
    }

    /// What there is to tell a person.
    pub(super) fn notice(&mut self, now: Time) -> Option<String> {
        let (_, group) = self.casts.as_ref().filter(|_| self.taken)?;
        self.hearing.taken(now, *group, self.at)
    }

    pub(super) fn descriptors(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [Some(self.socket.as_fd()), self.casts.as_ref().map(|(socket, _)| socket.as_fd())]
    }
}
