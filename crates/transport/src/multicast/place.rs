//! What is set on a group: its address, port, interface and how far it goes. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::str::FromStr;

use super::header::HEADER;
use crate::udp::{MOST_V4, MOST_V6};
use crate::{Family, LinkError, Settings};

/// The group where nobody sets one: of the addresses that stay within an organisation (RFC 2365, section 6.2).
const GROUP_V4: Ipv4Addr = Ipv4Addr::new(239, 192, 80, 71);
/// That of IPv6: a transient one whose scope is one interface (RFC 4291, section 2.7), so that neither a message nor word of who has joined leaves the
/// host by whatever interface.
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff11, 0, 0, 0, 0, 0, 0, 0x5047);
/// The interface where nobody sets one: what is sent by it stays on this host.
pub(super) const LOOPBACK: &str = "lo";

/// What is set on a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub group: IpAddr,
    /// None where the system chooses.
    pub port: Option<u16>,
    /// None where nobody sets one.
    pub interface: Option<String>,
    pub ttl: u8,
    /// The IP version that was asked for besides.
    asked: Option<Family>,
}

impl Place {
    /// From checked settings.
    pub fn of(settings: &Settings) -> Self {
        fn read<T: FromStr>(settings: &Settings, option: &str) -> Option<T> {
            settings.text(option)?.parse().ok()
        }
        let asked = settings.family();
        let usual = if asked == Some(Family::V6) { GROUP_V6.into() } else { GROUP_V4.into() };
        Self {
            group: read(settings, "address").unwrap_or(usual),
            port: read(settings, "port"),
            interface: settings.text("interface").map(str::to_owned),
            ttl: read(settings, "ttl").unwrap_or(0),
            asked,
        }
    }

    /// The IP version of the group.
    pub fn family(&self) -> Family {
        if self.group.is_ipv6() { Family::V6 } else { Family::V4 }
    }

    /// Refuses a group of another IP version than was asked for.
    pub fn agrees(&self) -> Result<(), LinkError> {
        let Some(asked) = self.asked.filter(|asked| *asked != self.family()) else { return Ok(()) };
        let (asked, of) = (words(asked), words(self.family()));
        let e = std::io::Error::new(
            std::io::ErrorKind::AddrNotAvailable,
            format!(
                "it is of {of}, and {asked} was asked for (leave out -4, -6 and family=, or give multicast:address= a group of {asked})"
            ),
        );
        Err(LinkError::io(format!("sending to the group {}", self.group), e))
    }

    /// Largest message: what a datagram carries, less the header.
    pub fn most(&self) -> usize {
        most(self.family())
    }

    /// Whether nothing that is sent leaves this host.
    pub fn stays(&self) -> bool {
        self.ttl == 0 || self.within_an_interface() || self.interface.as_deref().is_none_or(|name| name == LOOPBACK)
    }

    /// Whether it is a group of IPv6 that never leaves its interface.
    pub fn within_an_interface(&self) -> bool {
        matches!(self.group, IpAddr::V6(ip) if scope(&ip) == 1)
    }

    /// Whether the system chooses the interface.
    pub fn chooses(&self) -> bool {
        self.interface.is_none() && self.within_an_interface()
    }

    /// Refuses an address of another IP version than the group's, which members were to meet at.
    pub fn elsewhere(&self, at: IpAddr) -> LinkError {
        let (of, other) = (words(self.family()), words(if at.is_ipv6() { Family::V6 } else { Family::V4 }));
        let e = std::io::Error::new(
            std::io::ErrorKind::AddrNotAvailable,
            format!(
                "it is of {of}: give an address of {of} with --peer-address, or multicast:address= a group of {other}"
            ),
        );
        LinkError::io(format!("meeting at {at} for the group {}", self.group), e)
    }

    /// Where the group is at `port`, by the interface of this index.
    pub fn at(&self, port: u16, index: u32) -> SocketAddr {
        match self.group {
            IpAddr::V4(ip) => SocketAddr::new(ip.into(), port),
            IpAddr::V6(ip) => SocketAddrV6::new(ip, port, 0, index).into(),
        }
    }
}

fn words(family: Family) -> &'static str {
    if family == Family::V6 { "IPv6" } else { "IPv4" }
}

/// Largest message of a group of this IP version.
pub(super) const fn most(family: Family) -> usize {
    match family {
        Family::V4 => MOST_V4 - HEADER,
        Family::V6 => MOST_V6 - HEADER,
    }
}

/// Whether `text` is the address of a group.
pub(super) fn is_group(text: &str) -> bool {
    match text.parse() {
        Ok(IpAddr::V4(ip)) => ip.is_multicast(),
        // Scope 0 is reserved, and no host takes what is sent there.
        Ok(IpAddr::V6(ip)) => ip.is_multicast() && scope(&ip) > 0,
        Err(_) => false,
    }
}

/// How far a group of IPv6 reaches: 1 is an interface, 2 a link.
fn scope(ip: &Ipv6Addr) -> u8 {
    ip.octets()[1] & 0x0F
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &[(&str, &str)]) -> Place {
        Place::of(&options.iter().fold(Settings::default(), |set, (option, value)| set.with(option, *value)))
    }

    #[test]
    fn a_group_is_of_the_ip_version_of_its_address_or_of_the_one_that_is_asked_for() {
        for (options, group, most) in [
            (&[][..], "239.192.80.71", 65_491),
            (&[("family", "4")], "239.192.80.71", 65_491),
            (&[("family", "6")], "ff11::5047", 65_511),
            (&[("address", "ff02::9")], "ff02::9", 65_511),
            (&[("address", "ff02::9"), ("family", "6")], "ff02::9", 65_511),
        ] {
            let place = set(options);
            assert_eq!((place.group.to_string().as_str(), place.most()), (group, most), "{options:?}");
            place.agrees().unwrap();
        }
        for (group, family, says) in
            [("ff02::9", "4", "it is of IPv6, and IPv4 was asked for"), ("224.0.0.9", "6", "a group of IPv6")]
        {
            let e = set(&[("address", group), ("family", family)]).agrees().unwrap_err().to_string();
            assert!(e.contains(says) && e.contains(group), "{e}");
        }
    }

    #[test]
    fn what_stays_on_this_host_is_known_from_scope_interface_and_hops() {
        for (options, stays) in [
            (&[("family", "6")][..], true),
            (&[("family", "6"), ("interface", "eth0"), ("ttl", "9")], true),
            (&[("address", "ff01::1"), ("interface", "eth0"), ("ttl", "9")], true),
            (&[("address", "ff02::9"), ("ttl", "1")], true),
            (&[("address", "ff02::9"), ("interface", "eth0")], true),
            (&[("address", "ff02::9"), ("interface", "eth0"), ("ttl", "1")], false),
            (&[("interface", "eth0"), ("ttl", "1")], false),
        ] {
            assert_eq!(set(options).stays(), stays, "{options:?}");
        }
    }

    #[test]
    fn addresses_of_groups_are_told_from_others() {
        for group in ["224.0.0.1", "239.255.255.255", "ff01::1", "ff02::5047", "ff3e::1"] {
            assert!(is_group(group), "{group}");
        }
        for other in ["10.0.0.1", "240.0.0.1", "::1", "fe80::1", "ff00::1", "ff10::1", "ff02::1%lo", "[ff02::1]", ""] {
            assert!(!is_group(other), "{other}");
        }
    }
}
