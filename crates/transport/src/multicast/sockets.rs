//! The sockets of a member: one that has joined the group, and one of its own, by which it sends and gets answers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::SocketType;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use socket2::{InterfaceIndexOrAddress, SockFilter, SockRef};

use super::header::FROM_AT;
use super::interface::{Interface, any};
use super::place::{LOOPBACK, Place};
use crate::ip::{self, bound_to};
use crate::{Family, LinkError, Settings, sys};

impl Interface {
    /// A socket that has joined the group at `port`; where that is 0, at one that is free.
    pub fn joined(
        &self,
        place: &Place,
        port: u16,
        rank: u16,
        settings: &Settings,
    ) -> Result<(OwnedFd, SocketAddr), LinkError> {
        let at = place.at(port, self.index);
        let doing = |what: &str| format!("{what} the group {at} by interface '{}'", self.name);
        let fd = socket(place.family(), settings)?;
        // Every member on this host has a socket there.
        sockopt::set_socket_reuseaddr(&fd, true)
            .and_then(|()| rustix::net::bind(&fd, &at))
            .map_err(|e| LinkError::io(doing("binding to"), e))?;
        let at = bound_to(fd.as_fd())?;
        let socket = SockRef::from(&fd);
        socket
            .attach_filter(&not_from(rank))
            .and_then(|()| self.join(place.group, &socket))
            .map_err(|e| LinkError::io(doing("joining"), e))?;
        Ok((fd, at))
    }

    /// Without the first option a socket also gets what other sockets of this host joined to.
    fn join(&self, group: IpAddr, socket: &SockRef<'_>) -> io::Result<()> {
        match group {
            IpAddr::V4(group) => {
                socket.set_multicast_all_v4(false)?;
                socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(self.index))
            }
            IpAddr::V6(group) => {
                socket.set_multicast_all_v6(false)?;
                socket.join_multicast_v6(&group, self.index)
            }
        }
    }

    /// A member's own socket: it sends to the group by the interface, no further than the time to live allows.
    pub fn own(&self, place: &Place, at: IpAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
        let fd = socket(place.family(), settings)?;
        // By another interface than that of the doors messages go from another address than answers: the kernel takes the one that fits.
        let at = if self.name == LOOPBACK { SocketAddr::new(at, 0) } else { any(place.family()) };
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
        self.sends(place, &fd).map_err(|e| {
            LinkError::io(format!("sending to the group {} by interface '{}'", place.group, self.name), e)
        })?;
        Ok(fd)
    }

    /// Members on this host get what is sent only where it is looped back, whatever the interface.
    fn sends(&self, place: &Place, fd: &OwnedFd) -> rustix::io::Result<()> {
        match place.family() {
            Family::V4 => {
                let nowhere = Ipv4Addr::UNSPECIFIED;
                sockopt::set_ip_multicast_if_with_ifindex(fd, &nowhere, &nowhere, self.index)?;
                sockopt::set_ip_multicast_loop(fd, true)?;
                sockopt::set_ip_multicast_ttl(fd, u32::from(place.ttl))
            }
            Family::V6 => {
                sockopt::set_ipv6_multicast_if(fd, self.index)?;
                sockopt::set_ipv6_multicast_loop(fd, true)?;
                sockopt::set_ipv6_multicast_hops(fd, u32::from(place.ttl))
            }
        }
    }
}

fn socket(family: Family, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = ip::socket(&any(family), SocketType::DGRAM)?;
    // As UDP's sockets: what is too large for the path is cut up, and no error of the next call.
    match family {
        Family::V4 => sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::DONT),
        Family::V6 => sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::DONT),
    }
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
