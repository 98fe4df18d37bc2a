//! How two sides meet by datagrams, which may be lost, come twice, or come from anybody.
//!
//! The near side shows its proof again and again until the far proof comes back. The far side answers from a socket of its
//! own that is connected to the source of the right proof and takes nothing from others; its address is the door's, which stays
//! open for the next connection.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use rustix::net::{RecvFlags, SendFlags, SocketType, sockopt};

use crate::ip::{self, bound_to, no_answer};
use crate::patience::LOOK;
use crate::sys;
use crate::{LinkError, Patience, Proof, Settings};

/// How often the near side shows its proof over a path that may lose it.
const AGAIN: Duration = Duration::from_millis(50);

/// The near side of a meeting by datagrams: shows the near proof until the far one comes. `fd` is connected to `to`.
pub(crate) fn greet(fd: BorrowedFd<'_>, to: SocketAddr, proof: &Proof, patience: &Patience) -> Result<(), LinkError> {
    let doing = || format!("connecting to {to}");
    let start = Instant::now();
    loop {
        rustix::net::send(fd, &proof.near, SendFlags::NOSIGNAL).map_err(|e| LinkError::io(doing(), e))?;
        let sent = Instant::now();
        while sent.elapsed() < AGAIN {
            if !sys::readable(fd, AGAIN.saturating_sub(sent.elapsed()), false, patience)? {
                break;
            }
            let mut shown = [0; 32];
            match rustix::net::recv(fd, &mut shown[..], RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
                Ok((_, 32)) if Proof::matches(&shown, &proof.far) => return Ok(()),
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(LinkError::io(doing(), e)),
            }
        }
        match patience.check(start, "connecting") {
            Err(LinkError::Stalled { waited, .. }) => return Err(no_answer(to, waited)),
            other => other?,
        }
    }
}

/// A bound socket that any number of near sides can find, one after another.
#[derive(Debug)]
pub(crate) struct DatagramDoor {
    fd: OwnedFd,
    pub at: SocketAddr,
}

/// A socket bound to `at`, on a port that this user's other sockets may share.
fn bound(at: SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = socket(&at, settings)?;
    sockopt::set_socket_reuseport(&fd, true)
        .and_then(|()| rustix::net::bind(&fd, &at))
        .map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
    Ok(fd)
}

fn socket(of: &SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = ip::socket(of, SocketType::DGRAM)?;
    // By default a router's word that a datagram is too large for the rest of the path becomes an error of the next call,
    // whichever that is, and the datagram is lost. Without it routers (IPv4) or this host (IPv6) cut datagrams up.
    match of {
        SocketAddr::V4(_) => sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::DONT),
        SocketAddr::V6(_) => sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::DONT),
    }
    .map_err(|e| LinkError::io("allowing datagrams to be cut up on their way", e))?;
    if let Some(bytes) = settings.whole("sockbuf") {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    Ok(fd)
}

/// A socket connected to `to`, at a port of the system's choice.
pub(crate) fn connect(to: SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = socket(&to, settings)?;
    rustix::net::connect(&fd, &to).map_err(|e| LinkError::io(format!("connecting to {to}"), e))?;
    Ok(fd)
}

impl DatagramDoor {
    pub fn new(at: SocketAddr, settings: &Settings) -> Result<Self, LinkError> {
        let fd = bound(at, settings)?;
        let at = bound_to(fd.as_fd())?;
        sys::bound_calls(fd.as_fd(), LOOK)?;
        Ok(Self { fd, at })
    }

    /// A socket connected to the next near side that shows its proof, to which the far proof has been sent, and its
    /// address.
    pub fn accept(
        &mut self,
        proof: &Proof,
        settings: &Settings,
        patience: &Patience,
    ) -> Result<(OwnedFd, SocketAddr), LinkError> {
        let start = Instant::now();
        let peer = loop {
            patience.check(start, "waiting for the peer to connect")?;
            let mut shown = [0; 32];
            match rustix::net::recvfrom(&self.fd, &mut shown[..], RecvFlags::TRUNC) {
                Ok((_, 32, Some(from))) if Proof::matches(&shown, &proof.near) => {
                    break SocketAddr::try_from(from).map_err(|e| LinkError::io("reading a datagram's source", e))?;
                }
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(LinkError::io(format!("receiving on {}", self.at), e)),
            }
        };
        let doing = |e| LinkError::io(format!("answering {peer}"), e);
        let fd = bound(self.at, settings)?;
        rustix::net::connect(&fd, &peer).map_err(doing)?;
        // Whatever was sent to this port before the socket was connected may be anybody's. Repeated proofs among it are
        // repeated again.
        discard(fd.as_fd());
        discard(self.fd.as_fd());
        rustix::net::send(&fd, &proof.far, SendFlags::NOSIGNAL).map_err(doing)?;
        Ok((fd, peer))
    }
}

/// Empties a socket's queue, as far as it goes: a stranger who sends without end doesn't keep this side.
fn discard(fd: BorrowedFd<'_>) {
    for _ in 0..10_000 {
        if rustix::net::recv(fd, &mut [0; 1][..], RecvFlags::DONTWAIT).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_path_is_no_error_of_the_sockets() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let door = DatagramDoor::new(at.parse().unwrap(), &Settings::default()).unwrap();
            let near = connect(door.at, &Settings::default()).unwrap();
            let far = bound(door.at, &Settings::default()).unwrap();
            for fd in [near, far] {
                if door.at.is_ipv4() {
                    assert_eq!(sockopt::ip_mtu_discover(fd).unwrap(), Ipv4PathMtuDiscovery::DONT);
                } else {
                    assert_eq!(sockopt::ipv6_mtu_discover(fd).unwrap(), Ipv6PathMtuDiscovery::DONT);
                }
            }
        }
    }
}
