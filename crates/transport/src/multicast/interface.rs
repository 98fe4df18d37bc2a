//! Which interface carries a group.

use std::ffi::c_char;
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{SocketType, netdevice, sockopt};

use super::place::{LOOPBACK, Place};
use crate::{Family, LinkError, ip};

/// The interface that carries a group.
#[derive(Debug)]
pub(super) struct Interface {
    pub name: String,
    pub index: u32,
}

impl Interface {
    /// That of this place, if it can carry the group.
    pub fn of(place: &Place) -> Result<Self, LinkError> {
        place.agrees()?;
        let fd = ip::socket(&any(place.family()), SocketType::DGRAM)?;
        let refuse = |name: &str, why: String| {
            let e = Error::new(ErrorKind::AddrNotAvailable, why);
            LinkError::io(format!("sending to the group {} by interface '{name}'", place.group), e)
        };
        match &place.interface {
            None if place.chooses() => Self::first(place, fd.as_fd()).map_err(|tried| {
                let why = match tried.is_empty() {
                    true => "no interface has an address of IPv6 ('ip -6 address' lists them)".to_owned(),
                    false => tried.join("; "),
                };
                let doing = format!("looking for an interface that carries the group {}", place.group);
                LinkError::io(doing, Error::new(ErrorKind::AddrNotAvailable, why))
            }),
            named => {
                let name = named.as_deref().unwrap_or(LOOPBACK);
                Self::named(place, fd.as_fd(), name).map_err(|why| refuse(name, why))
            }
        }
    }

    /// The one of this index, which the near member chose.
    pub fn at(place: &Place, index: u32) -> Result<Self, LinkError> {
        place.agrees()?;
        let fd = ip::socket(&any(place.family()), SocketType::DGRAM)?;
        netdevice::index_to_name(&fd, index)
            .map_err(|e| e.to_string())
            .and_then(|name| Self::named(place, fd.as_fd(), &name))
            .map_err(|why| {
                let doing = format!(
                    "sending to the group {} by the interface of number {index}, which the near member chose",
                    place.group
                );
                LinkError::io(doing, Error::new(ErrorKind::AddrNotAvailable, why))
            })
    }

    /// The first that carries a group which stays within whichever interface it is; what keeps each from it where none does.
    fn first(place: &Place, fd: BorrowedFd<'_>) -> Result<Self, Vec<String>> {
        // Of this thread's network, which is another one than the first thread's where a thread entered a namespace.
        let addresses = std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
        let mut tried = Vec::new();
        for name in with_addresses(&addresses) {
            match Self::named(place, fd, &name) {
                Ok(found) => return Ok(found),
                Err(why) => tried.push(format!("by '{name}': {why}")),
            }
        }
        Err(tried)
    }

    /// The one of this name, or what keeps it from carrying the group.
    fn named(place: &Place, fd: BorrowedFd<'_>, name: &str) -> Result<Self, String> {
        let index = netdevice::name_to_index(fd, name)
            .map_err(|e| format!("{e} ('ip link' lists the interfaces; multicast:interface=NAME chooses one)"))?;
        let flags = flags(fd, name).map_err(|e| e.to_string())?;
        if flags & libc::IFF_UP == 0 {
            return Err(format!("it is down ('ip link set {name} up' brings it up)"));
        }
        if flags & (libc::IFF_MULTICAST | libc::IFF_LOOPBACK) == 0 {
            return Err(format!(
                "it does no multicast ('ip link set {name} multicast on' allows it, or choose another)"
            ));
        }
        if place.family() == Family::V6 {
            routed(place, index).map_err(|e| unrouted(e, name, flags & libc::IFF_LOOPBACK != 0))?;
        }
        Ok(Self { name: name.to_owned(), index })
    }
}

/// Whether there is a route to a group of IPv6 by this interface, and an address to send from. Nothing is sent. Of IPv4 the kernel needs none.
fn routed(place: &Place, index: u32) -> Result<(), Errno> {
    let fd: OwnedFd = ip::socket_of(&any(Family::V6), SocketType::DGRAM, None)?;
    sockopt::set_ipv6_multicast_if(&fd, index)?;
    // A port that nobody listens at, as nobody will be sent to.
    rustix::net::connect(&fd, &place.at(9, index))
}

/// What to do where there is no route.
fn unrouted(e: Errno, name: &str, loopback: bool) -> String {
    match e {
        Errno::NETUNREACH if loopback => format!(
            "Linux routes no group of IPv6 by it ({}, or choose another by multicast:interface=NAME)",
            on_loopback()
        ),
        e => format!(
            "{e} ('ip -6 address show {name}' lists its addresses of IPv6, which take seconds to become ready, or choose another by multicast:interface=NAME)"
        ),
    }
}

/// How the loopback interface comes to carry groups. A route of the type `multicast` would be one that rejects there.
fn on_loopback() -> String {
    format!("'ip -6 route add local ff00::/8 dev {LOOPBACK} table local' makes a route by '{LOOPBACK}'")
}

/// The unspecified address of this IP version, at no port.
pub(super) fn any(family: Family) -> SocketAddr {
    match family {
        Family::V4 => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0),
        Family::V6 => SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0),
    }
}

/// The interfaces that have an address of IPv6, as the kernel lists them (proc_pid_net(5): address, index, ..., name): the loopback one first, others by
/// their index.
fn with_addresses(listed: &str) -> Vec<String> {
    let of = |line: &str| {
        let mut fields = line.split_whitespace();
        let index = u32::from_str_radix(fields.nth(1)?, 16).ok()?;
        Some((index, fields.next_back()?.to_owned()))
    };
    let mut all: Vec<(u32, String)> = listed.lines().filter_map(of).collect();
    all.sort_by_key(|(index, name)| (name != LOOPBACK, *index));
    all.dedup();
    all.into_iter().map(|(_, name)| name).collect()
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
        return Err(Error::last_os_error());
    }
    // SAFETY: the call was this one, which fills in the flags.
    Ok(i32::from(unsafe { request.ifr_ifru.ifru_flags }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_with_ipv6_come_once_each_and_the_loopback_one_first() {
        let listed = "fd000000000000000000000000000002 04 40 00 82     eth1\n\
                      fe8000000000000000fc00fffe000001 04 40 20 80     eth1\n\
                      fe8000000000000000fc00fffe000002 02 40 20 80    ifb0\n\
                      00000000000000000000000000000001 01 80 10 80       lo\n\
                      nonsense\n";
        assert_eq!(with_addresses(listed), ["lo", "ifb0", "eth1"]);
        assert!(with_addresses("").is_empty());
    }

    #[test]
    fn what_keeps_a_group_of_ipv6_from_an_interface_is_said_with_the_remedy() {
        let said = unrouted(Errno::NETUNREACH, "lo", true);
        assert!(said.contains("'ip -6 route add local ff00::/8 dev lo table local'"), "{said}");
        let said = unrouted(Errno::ADDRNOTAVAIL, "eth1", false);
        assert!(said.contains("'ip -6 address show eth1'") && said.contains("interface=NAME"), "{said}");
    }
}
