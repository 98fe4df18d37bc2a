//! The sockets of a member: one that has joined the group, and one of its own, by which it sends and gets answers.

use std::ffi::c_char;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery};
use rustix::net::{SocketType, netdevice};
use socket2::{InterfaceIndexOrAddress, SockFilter, SockRef};

use super::header::FROM_AT;
use crate::ip::{self, bound_to};
use crate::{LinkError, Settings, sys};

/// The group where nobody sets one: of the addresses that stay within an organisation (RFC 2365, section 6.2).
pub(super) const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 80, 71);
/// The interface where nobody sets one: what is sent by it stays on this host.
pub(super) const LOOPBACK: &str = "lo";

/// What is set on a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub group: Ipv4Addr,
    /// None where the system chooses.
    pub port: Option<u16>,
    pub interface: String,
    pub ttl: u8,
}

impl Place {
    /// From checked settings.
    pub fn of(settings: &Settings) -> Self {
        fn read<T: std::str::FromStr>(settings: &Settings, option: &str) -> Option<T> {
            settings.text(option)?.parse().ok()
        }
        Self {
            group: read(settings, "address").unwrap_or(GROUP),
            port: read(settings, "port"),
            interface: settings.text("interface").unwrap_or(LOOPBACK).to_owned(),
            ttl: read(settings, "ttl").unwrap_or(0),
        }
    }

    /// Whether nothing that is sent leaves this host.
    pub fn stays(&self) -> bool {
        self.ttl == 0 || self.interface == LOOPBACK
    }

    /// The index of the interface, if it can carry the group.
    pub fn index(&self) -> Result<u32, LinkError> {
        let at = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let fd = ip::socket(&at, SocketType::DGRAM)?;
        let refuse = |why: String| {
            let e = std::io::Error::new(std::io::ErrorKind::AddrNotAvailable, why);
            LinkError::io(format!("sending to the group {} by interface '{}'", self.group, self.interface), e)
        };
        let index = netdevice::name_to_index(&fd, &self.interface).map_err(|e| {
            refuse(format!("{e} ('ip link' lists the interfaces; multicast:interface=NAME chooses one)"))
        })?;
        let flags = flags(fd.as_fd(), &self.interface).map_err(|e| refuse(e.to_string()))?;
        if flags & libc::IFF_UP == 0 {
            return Err(refuse(format!("it is down ('ip link set {} up' brings it up)", self.interface)));
        }
        if flags & (libc::IFF_MULTICAST | libc::IFF_LOOPBACK) == 0 {
            let name = &self.interface;
            return Err(refuse(format!(
                "it does no multicast ('ip link set {name} multicast on' allows it, or choose another)"
            )));
        }
        Ok(index)
    }

    /// A socket that has joined the group at `port`; where that is 0, at one that is free.
    pub fn joined(&self, port: u16, rank: u16, settings: &Settings) -> Result<(OwnedFd, SocketAddrV4), LinkError> {
        let index = self.index()?;
        let at = SocketAddrV4::new(self.group, port);
        let doing = |what: &str| format!("{what} the group {at} by interface '{}'", self.interface);
        let fd = socket(settings)?;
        // Every member on this host has a socket there.
        sockopt::set_socket_reuseaddr(&fd, true)
            .and_then(|()| rustix::net::bind(&fd, &at))
            .map_err(|e| LinkError::io(doing("binding to"), e))?;
        let SocketAddr::V4(at) = bound_to(fd.as_fd())? else { return Err(LinkError::Unsupported("use IPv6 groups")) };
        let socket = SockRef::from(&fd);
        // Without this a socket also gets what other sockets of this host joined to.
        socket
            .set_multicast_all_v4(false)
            .and_then(|()| socket.attach_filter(&not_from(rank)))
            .and_then(|()| socket.join_multicast_v4_n(&self.group, &InterfaceIndexOrAddress::Index(index)))
            .map_err(|e| LinkError::io(doing("joining"), e))?;
        Ok((fd, at))
    }

    /// A member's own socket: it sends to the group by the interface, no further than the time to live allows.
    pub fn own(&self, at: IpAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
        let index = self.index()?;
        let fd = socket(settings)?;
        let at = SocketAddr::new(if self.interface == LOOPBACK { at } else { Ipv4Addr::UNSPECIFIED.into() }, 0);
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
        // Members on this host get what is sent only where it is looped back, whatever the interface.
        sockopt::set_ip_multicast_if_with_ifindex(&fd, &Ipv4Addr::UNSPECIFIED, &Ipv4Addr::UNSPECIFIED, index)
            .and_then(|()| sockopt::set_ip_multicast_loop(&fd, true))
            .and_then(|()| sockopt::set_ip_multicast_ttl(&fd, u32::from(self.ttl)))
            .map_err(|e| {
                LinkError::io(format!("sending to the group {} by interface '{}'", self.group, self.interface), e)
            })?;
        Ok(fd)
    }
}

fn socket(settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = ip::socket(&SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0), SocketType::DGRAM)?;
    // As UDP's sockets: what is too large for the path is cut up, and no error of the next call.
    sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::DONT)
        .map_err(|e| LinkError::io("allowing datagrams to be cut up on their way", e))?;
    if let Some(bytes) = settings.whole("sockbuf") {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    Ok(fd)
}

/// A filter that lets pass what has another rank than this in its header: a member's own casts would fill the buffer of a member that does not
/// deliver, and cost it a wake-up each. What is too short for a header passes, to be counted.
fn not_from(rank: u16) -> [SockFilter; 6] {
    /// The filter sees the UDP header first.
    const UDP: u32 = 8;
    let (load_length, at_least, load_half, equal, end) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_LEN,
        libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
        libc::BPF_LD | libc::BPF_H | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    let from = UDP + FROM_AT as u32;
    [
        SockFilter::new(load_length as u16, 0, 0, 0),
        SockFilter::new(at_least as u16, 0, 3, from + 2),
        SockFilter::new(load_half as u16, 0, 0, from),
        SockFilter::new(equal as u16, 0, 1, u32::from(rank)),
        SockFilter::new(end as u16, 0, 0, 0),
        SockFilter::new(end as u16, 0, 0, u32::MAX),
    ]
}

/// The flags of an interface.
fn flags(fd: BorrowedFd<'_>, name: &str) -> std::io::Result<i32> {
    // SAFETY: all zeros is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero: the kernel found an interface of this name, and its names are shorter.
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *to = from as c_char;
    }
    // SAFETY: the descriptor is open, and the kernel reads and writes one `ifreq`, which lives through the call.
    let outcome = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) };
    if outcome < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the call was this one, which fills in the flags.
    Ok(i32::from(unsafe { request.ifr_ifru.ifru_flags }))
}
