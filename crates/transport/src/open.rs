//! How a pair of links comes to be: the far side's [`Acceptor`] and the near side's [`Connector`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::net::SocketType;

pub use crate::any::{Altered, AnyLink, Visit};
use crate::door::Door;
use crate::greet::{self, DatagramDoor};
pub use crate::kinds::{Address, Kind, UnknownKind};
use crate::meet::{self, Place, wrong_proof};
use crate::seqpacket::Seqpacket;
use crate::shm::Shm;
use crate::udp::{Greeting, Udp};
use crate::{Family, Link, LinkError, Patience, Proof, Settings, Wait, pipe, tcp, unix};

/// The far side's door for the data connections of one path.
#[derive(Debug)]
pub struct Acceptor {
    kind: Kind,
    settings: Settings,
    wait: Wait,
    patience: Patience,
    entrance: Entrance,
}

#[derive(Debug)]
enum Entrance {
    Tcp { door: Door, at: SocketAddr },
    Local { door: Door, place: Place },
    Udp(DatagramDoor),
}

impl Acceptor {
    /// Opens the door. `at` is the address to bind for IP kinds (the control connection's local address, whose port isn't
    /// used; a link-local one has its interface with it); local kinds make a socket in a fresh directory only its owner may enter, removed on drop.
    ///
    /// `Unsupported` for kinds within one process and for wait modes that the kind doesn't know; `Io` where the system
    /// refuses.
    pub fn bind(kind: Kind, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Self, LinkError> {
        let wait = kind.wait(settings)?;
        let entrance = match kind {
            Kind::Memcpy | Kind::Theory | Kind::Alone => return Err(ONE_PROCESS),
            Kind::Tcp => {
                let (listener, at) = tcp::listen(local(at, settings)?, settings)?;
                Entrance::Tcp { door: Door::new(listener, SocketType::STREAM, patience)?, at }
            }
            Kind::Udp => Entrance::Udp(DatagramDoor::new(local(at, settings)?, settings)?),
            Kind::Pipe | Kind::Shm | Kind::Unix | Kind::Seqpacket => {
                let (place, listener) = Place::new(socket_type(kind))?;
                Entrance::Local { door: Door::new(listener, socket_type(kind), patience)?, place }
            }
        };
        Ok(Self { kind, settings: settings.clone(), wait, patience: patience.clone(), entrance })
    }

    /// What the near side connects to.
    pub fn address(&self) -> Address {
        match &self.entrance {
            Entrance::Tcp { at, .. } => Address::Socket(*at),
            Entrance::Local { place, .. } => Address::Path(place.path.clone()),
            Entrance::Udp(door) => Address::Socket(door.at),
        }
    }

    /// The next connection that shows `proof`. Strangers are turned away without a word and don't end the wait.
    pub fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (settings, patience, wait) = (&self.settings, &self.patience, self.wait);
        let (fd, place) = match &mut self.entrance {
            Entrance::Udp(door) => {
                let (fd, peer) = door.accept(proof, settings, patience)?;
                let greeting = Greeting { theirs: proof.near, answer: Some(proof.far) };
                return Ok(AnyLink::Udp(Udp::new(fd, &peer, wait, greeting, settings, patience)?));
            }
            Entrance::Tcp { door, .. } => {
                let mut link = tcp::link(door.accept(&proof.near)?, wait, settings, patience)?;
                link.send(&proof.far)?;
                return Ok(AnyLink::Tcp(link));
            }
            Entrance::Local { door, place } => (door.accept(&proof.near)?, &place.path),
        };
        match self.kind {
            Kind::Pipe => {
                let ((reader, writer), theirs) = pipe::pair(settings)?;
                let link = pipe::link(reader, writer, wait, patience)?;
                meet::hand_over(fd.as_fd(), &proof.far, &[theirs.0.as_fd(), theirs.1.as_fd()])?;
                Ok(AnyLink::Pipe(link))
            }
            Kind::Shm => {
                let (mut link, file) = Shm::create(settings, patience)?;
                meet::hand_over(fd.as_fd(), &proof.far, &[file.as_fd()])?;
                link.watch(fd);
                Ok(AnyLink::Shm(link))
            }
            kind => {
                let mut link = socket_link(kind, fd, wait, place, settings, patience)?;
                link.send(&proof.far)?;
                Ok(link)
            }
        }
    }

    /// The far half of connect, request, response, close: accepts, checks the proof, reads `request`, answers the far
    /// proof and `response`, waits for the peer's close.
    pub fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        let (settings, patience, wait) = (&self.settings, &self.patience, self.wait);
        let mut link = match &mut self.entrance {
            Entrance::Tcp { door, .. } => tcp::link(door.accept(&proof.near)?, wait, settings, patience)?,
            Entrance::Local { door, .. } if self.kind == Kind::Unix => {
                unix::link(door.accept(&proof.near)?, wait, None, settings, patience)?
            }
            _ => return Err(NO_TRANSACTIONS),
        };
        link.recv(request)?;
        link.send_both(&proof.far, response)?;
        link.recv_end()
    }
}

/// The near side's way to an [`Acceptor`].
#[derive(Debug)]
pub struct Connector {
    kind: Kind,
    settings: Settings,
    address: Address,
    patience: Patience,
    /// Found out once: a transaction, which is timed, must not reserve memory for it. None where it is not known.
    wait: Option<Wait>,
}

impl Connector {
    /// A way to `address`; nothing is connected yet.
    pub fn new(kind: Kind, settings: &Settings, address: Address, patience: &Patience) -> Self {
        let wait = kind.wait(settings).ok();
        Self { kind, settings: settings.clone(), address, patience: patience.clone(), wait }
    }

    /// Connects, shows the near proof and waits for the far one. The link is behind the decorators that the settings ask
    /// for.
    pub fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let link = self.bare(proof)?;
        Ok(link.altered(&self.settings, &self.patience))
    }

    fn bare(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (settings, patience) = (&self.settings, &self.patience);
        let wait = self.wait()?;
        let mut link = match (self.kind, &self.address) {
            (Kind::Memcpy | Kind::Theory | Kind::Alone, _) => return Err(ONE_PROCESS),
            (Kind::Tcp, Address::Socket(to)) => {
                AnyLink::Tcp(tcp::link(tcp::connect(*to, settings, patience)?, wait, settings, patience)?)
            }
            (Kind::Udp, Address::Socket(to)) => {
                let fd = greet::connect(*to, settings)?;
                greet::greet(fd.as_fd(), *to, proof, patience)?;
                let greeting = Greeting { theirs: proof.far, answer: None };
                return Ok(AnyLink::Udp(Udp::new(fd, to, wait, greeting, settings, patience)?));
            }
            (Kind::Pipe, Address::Path(path)) => {
                let fd = meet::connect(path, SocketType::STREAM)?;
                meet::hand_over(fd.as_fd(), &proof.near, &[])?;
                let [reader, writer] = meet::take_over(fd.as_fd(), &proof.far, patience)?;
                return Ok(AnyLink::Pipe(pipe::link(reader, writer, wait, patience)?));
            }
            (Kind::Shm, Address::Path(path)) => {
                let fd = meet::connect(path, SocketType::STREAM)?;
                meet::hand_over(fd.as_fd(), &proof.near, &[])?;
                let [file] = meet::take_over(fd.as_fd(), &proof.far, patience)?;
                let mut link = Shm::attach(file, settings, patience)?;
                link.watch(fd);
                return Ok(AnyLink::Shm(link));
            }
            (kind @ (Kind::Unix | Kind::Seqpacket), Address::Path(path)) => {
                socket_link(kind, meet::connect(path, socket_type(kind))?, wait, path, settings, patience)?
            }
            (kind, address) => return Err(unsuitable(kind, address)),
        };
        link.send(&proof.near)?;
        let mut shown = [0; 32];
        link.recv(&mut shown)?;
        if Proof::matches(&shown, &proof.far) { Ok(link) } else { Err(wrong_proof()) }
    }

    /// One transaction on a connection of its own: connect, near proof and `request`, far proof and `response`, close.
    /// The proofs add 32 bytes to each direction and no round trip. Decorators don't reach into it: `Unsupported` where
    /// the settings ask for them.
    pub fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        let (settings, patience) = (&self.settings, &self.patience);
        if settings.fault.is_some() || settings.shape.is_some() || settings.trace.is_some() {
            return Err(LinkError::Unsupported("break, shape or trace connections that are made for each transaction"));
        }
        let wait = self.wait()?;
        let mut link = match (self.kind, &self.address) {
            (Kind::Tcp, Address::Socket(to)) => {
                tcp::link(tcp::connect(*to, settings, patience)?, wait, settings, patience)?
            }
            (Kind::Unix, Address::Path(path)) => {
                unix::link(meet::connect(path, SocketType::STREAM)?, wait, None, settings, patience)?
            }
            (kind @ (Kind::Tcp | Kind::Unix), address) => return Err(unsuitable(kind, address)),
            _ => return Err(NO_TRANSACTIONS),
        };
        link.send_both(&proof.near, request)?;
        let mut shown = [0; 32];
        link.recv_both(&mut shown, response)?;
        if Proof::matches(&shown, &proof.far) { Ok(()) } else { Err(wrong_proof()) }
    }

    /// The wait mode in use; the error where the kind doesn't know the one asked for.
    fn wait(&self) -> Result<Wait, LinkError> {
        self.wait.map_or_else(|| self.kind.wait(&self.settings), Ok)
    }
}

const ONE_PROCESS: LinkError = LinkError::Unsupported("connect two processes (it plays both ends in one)");
const NO_TRANSACTIONS: LinkError =
    LinkError::Unsupported("make a connection for each transaction (the connect pattern is for tcp and unix)");

#[cold]
fn unsuitable(kind: Kind, address: &Address) -> LinkError {
    LinkError::Protocol(match address {
        Address::Socket(at) => format!("it offered the IP address {at} for {kind}, which meets at a path"),
        Address::Path(at) => format!("it offered the path {} for {kind}, which meets at an IP address", at.display()),
    })
}

/// The type of the socket at which a local kind meets.
fn socket_type(kind: Kind) -> SocketType {
    if kind == Kind::Seqpacket { SocketType::SEQPACKET } else { SocketType::STREAM }
}

/// The link over a connected UNIX socket that is the data path itself.
fn socket_link(
    kind: Kind,
    fd: OwnedFd,
    wait: Wait,
    at: &Path,
    settings: &Settings,
    patience: &Patience,
) -> Result<AnyLink, LinkError> {
    Ok(match kind {
        Kind::Seqpacket => AnyLink::Seqpacket(Seqpacket::new(fd, wait, at, settings, patience)?),
        _ => AnyLink::Unix(unix::link(fd, wait, Some(at), settings, patience)?),
    })
}

/// Where to bind: `at` in the family asked for. Loopback and "any" addresses exist in both.
fn local(at: SocketAddr, settings: &Settings) -> Result<SocketAddr, LinkError> {
    let ip = match (at.ip().to_canonical(), settings.family) {
        (ip @ IpAddr::V4(_), None | Some(Family::V4)) | (ip @ IpAddr::V6(_), None | Some(Family::V6)) => ip,
        (ip, Some(Family::V6)) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        (ip, Some(Family::V4)) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        (ip, Some(Family::V6)) if ip.is_unspecified() => Ipv6Addr::UNSPECIFIED.into(),
        (ip, Some(Family::V4)) if ip.is_unspecified() => Ipv4Addr::UNSPECIFIED.into(),
        (ip, family) => {
            let asked = if family == Some(Family::V6) { "IPv6" } else { "IPv4" };
            let e = std::io::Error::new(
                std::io::ErrorKind::AddrNotAvailable,
                format!("{asked} was asked for; let the control connection use an {asked} address, or leave out -4/-6"),
            );
            return Err(LinkError::io(format!("choosing an address beside {ip}"), e));
        }
    };
    Ok(match (ip, at) {
        (IpAddr::V6(ip), SocketAddr::V6(at)) if ip == *at.ip() => SocketAddrV6::new(ip, 0, 0, at.scope_id()).into(),
        (ip, _) => SocketAddr::new(ip, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_local_address_keeps_its_interface() {
        let at: SocketAddr = "[fe80::2%7]:4000".parse().unwrap();
        assert_eq!(local(at, &Settings::default()).unwrap(), "[fe80::2%7]:0".parse().unwrap());
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:4000".parse().unwrap();
        assert_eq!(local(mapped, &Settings::default()).unwrap(), "192.0.2.1:0".parse().unwrap());
    }

    #[test]
    fn a_door_opens_at_a_link_local_address_of_this_host() {
        // Address, interface number, ... and name.
        let addresses = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
        let Some(line) = addresses.lines().find(|line| line.starts_with("fe80")) else { return };
        let mut fields = line.split_whitespace().map(|field| u128::from_str_radix(field, 16).unwrap_or(0));
        let (Some(ip), Some(scope)) = (fields.next(), fields.next()) else { return };
        let at = SocketAddrV6::new(Ipv6Addr::from(ip), 0, 0, scope as u32).into();
        for kind in [Kind::Tcp, Kind::Udp] {
            let door = Acceptor::bind(kind, &Settings::default(), at, &Patience::default()).unwrap();
            assert!(matches!(door.address(), Address::Socket(SocketAddr::V6(a)) if a.scope_id() == scope as u32));
        }
    }
}
