//! What transports over IP share: addresses, ports, families.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType};
use socket2::SockRef;

use crate::port::Address;
use crate::{Family, LinkError, Settings, Wait};

/// The wait modes of IP sockets, the default first.
pub(crate) const WAITS: [Wait; 3] = [Wait::Block, Wait::Spin, Wait::BusyPoll];

/// Their names.
pub(crate) const WAIT_NAMES: &[&str] = &[Wait::Block.name(), Wait::Spin.name(), Wait::BusyPoll.name()];

/// Microseconds of polling the device under [`Wait::BusyPoll`]; the value the kernel's documentation recommends.
const BUSY_POLL: u32 = 50;

/// Turns on the kernel's polling of the device for a socket's blocking calls.
pub(crate) fn busy_poll(fd: BorrowedFd<'_>) -> Result<(), LinkError> {
    SockRef::from(&fd).set_busy_poll(BUSY_POLL).map_err(|e| {
        LinkError::io(
            "setting SO_BUSY_POLL (--wait busy-poll; it needs CAP_NET_ADMIN, or net.core.busy_read of 50 or more)",
            e,
        )
    })
}

/// Both ends of a connected IP socket, in words.
pub(crate) fn addresses(fd: BorrowedFd<'_>) -> Option<String> {
    let address = |a: std::io::Result<socket2::SockAddr>| a.ok().and_then(|a| a.as_socket());
    let socket = SockRef::from(&fd);
    Some(format!("{} to {}", address(socket.local_addr())?, address(socket.peer_addr())?))
}

/// A socket of the family of `address`.
pub(crate) fn socket(address: &SocketAddr, of: SocketType) -> Result<OwnedFd, LinkError> {
    socket_of(address, of, None).map_err(|e| no_socket(address, e))
}

/// The same of a protocol, or the system's reason.
pub(crate) fn socket_of(address: &SocketAddr, of: SocketType, protocol: Option<Protocol>) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    rustix::net::socket_with(family, of, SocketFlags::CLOEXEC, protocol)
}

/// No socket for `address` can be had.
#[cold]
pub(crate) fn no_socket(address: &SocketAddr, e: Errno) -> LinkError {
    LinkError::io(format!("making an {} socket", if address.is_ipv6() { "IPv6" } else { "IPv4" }), e)
}

/// The local address of an IP socket.
pub(crate) fn bound_to(fd: BorrowedFd<'_>) -> Result<SocketAddr, LinkError> {
    let address = rustix::net::getsockname(fd).map_err(|e| LinkError::io("asking for a socket's address", e))?;
    SocketAddr::try_from(address).map_err(|e| LinkError::io("asking for a socket's address", e))
}

/// Nobody answered within the patience.
pub(crate) fn no_answer(to: SocketAddr, waited: Duration) -> LinkError {
    let e = std::io::Error::new(
        std::io::ErrorKind::TimedOut,
        format!("no answer for {:.1} s: a firewall, or nothing at this address", waited.as_secs_f64()),
    );
    LinkError::io(format!("connecting to {to}"), e)
}

/// Whether an IP socket can be had on either loopback address.
pub(crate) fn availability(of: SocketType) -> Result<(), LinkError> {
    on_loopback(|ip| {
        let at = SocketAddr::new(ip, 0);
        let fd = socket(&at, of)?;
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))
    })
}

/// Whether the loopback interface is up. Nothing is sent.
pub(crate) fn reaches_itself() -> Result<(), LinkError> {
    on_loopback(|ip| {
        let at = SocketAddr::new(ip, 9);
        let fd = socket(&at, SocketType::DGRAM)?;
        rustix::net::connect(&fd, &at).map_err(|e| {
            let doing =
                format!("reaching this host itself at {ip} (bring the loopback interface up: 'ip link set lo up')");
            LinkError::io(doing, e)
        })
    })
}

/// Tries either loopback address; the error is that of IPv4.
pub(crate) fn on_loopback(try_at: impl Fn(IpAddr) -> Result<(), LinkError>) -> Result<(), LinkError> {
    try_at(Ipv4Addr::LOCALHOST.into()).or_else(|v4| try_at(Ipv6Addr::LOCALHOST.into()).map_err(|_| v4))
}

/// The port that a door at `at` tells the near side: all that it may say of where data goes.
pub(crate) fn told(at: SocketAddr) -> Address {
    Address::new(at.port().to_string())
}

/// Where a far side of this address, `peer`, waits with the door that it told: at its own address, whatever it says, and at the port
/// that it names.
pub(crate) fn door(address: &Address, peer: SocketAddr, settings: &Settings) -> Result<SocketAddr, LinkError> {
    let text = address.text()?;
    let port = text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| {
        let text = units::received::clean(text, 40);
        LinkError::Protocol(format!("it offered '{text}' where a port is due: data goes to {} only", peer.ip()))
    })?;
    let mut at = beside(peer, settings)?;
    at.set_port(port);
    Ok(at)
}

/// `at` in the family asked for, without its port. Loopback and "any" addresses exist in both.
pub(crate) fn beside(at: SocketAddr, settings: &Settings) -> Result<SocketAddr, LinkError> {
    let family = settings.family();
    let ip = match (at.ip().to_canonical(), family) {
        (ip @ IpAddr::V4(_), None | Some(Family::V4)) | (ip @ IpAddr::V6(_), None | Some(Family::V6)) => ip,
        (ip, Some(Family::V6)) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        (ip, Some(Family::V4)) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        (ip, Some(Family::V6)) if ip.is_unspecified() => Ipv6Addr::UNSPECIFIED.into(),
        (ip, Some(Family::V4)) if ip.is_unspecified() => Ipv4Addr::UNSPECIFIED.into(),
        (ip, family) => {
            let asked = if family == Some(Family::V6) { "IPv6" } else { "IPv4" };
            let e = std::io::Error::new(
                std::io::ErrorKind::AddrNotAvailable,
                format!("{asked} was asked for: give an {asked} address with --peer, or leave out -4/-6"),
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
    use crate::{Patience, Transport, registry};

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_link_local_address_keeps_its_interface() {
        let plain = Settings::default();
        assert_eq!(beside(at("[fe80::2%7]:4000"), &plain).unwrap(), at("[fe80::2%7]:0"));
        assert_eq!(beside(at("[::ffff:192.0.2.1]:4000"), &plain).unwrap(), at("192.0.2.1:0"));
    }

    #[test]
    fn data_goes_to_the_peers_own_address_and_to_the_port_that_it_names() {
        let asked = |family| Settings::default().with("family", family);
        let to = |told: &str, peer: &str, settings: &Settings| door(&Address::new(told), at(peer), settings);
        let plain = Settings::default();
        assert_eq!(to("9", "192.0.2.1:7", &plain).unwrap(), at("192.0.2.1:9"));
        assert_eq!(to("9", "[fe80::2%3]:7", &asked(Family::V6)).unwrap(), at("[fe80::2%3]:9"));
        assert_eq!(to("9", "127.0.0.1:7", &asked(Family::V6)).unwrap(), at("[::1]:9"));
        assert!(to("9", "192.0.2.1:7", &asked(Family::V6)).is_err(), "an address of another version is nobody's");
        let long = "9".repeat(5000);
        for told in ["", "0", "65536", "10.0.0.1:9", "[2001:db8::1]:9", "/tmp/x", "9\n", &long] {
            let e = to(told, "192.0.2.1:7", &plain).unwrap_err();
            assert!(matches!(e, LinkError::Protocol(_)) && e.to_string().len() < 200, "{told:?}: {e}");
        }
    }

    #[test]
    fn a_door_opens_at_a_link_local_address_of_this_host() {
        // Address, interface number, ... and name.
        let addresses = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
        let Some(line) = addresses.lines().find(|line| line.starts_with("fe80")) else { return };
        let mut fields = line.split_whitespace().map(|field| u128::from_str_radix(field, 16).unwrap_or(0));
        let (Some(ip), Some(scope)) = (fields.next(), fields.next()) else { return };
        let at = SocketAddrV6::new(Ipv6Addr::from(ip), 0, 0, scope as u32).into();
        // The IP version of a group is its own, and not that of the door.
        let over_ip = |t: &&dyn Transport| t.options().iter().any(|o| o.name == "family");
        let joins = |t: &&dyn Transport| t.capabilities(&Settings::default()).group;
        for t in registry::all().filter(|t| over_ip(t) && !joins(t) && t.availability().is_ok()) {
            t.listen(&Settings::default(), at, &Patience::default()).unwrap();
        }
    }
}
