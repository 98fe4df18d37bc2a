//! Zones of link-local IPv6 addresses ("eth0" in fe80::1%eth0): each host numbers its interfaces by itself.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// The number of an interface of this host; none where there is no such interface.
fn index(zone: &str) -> Option<u32> {
    if let Ok(number) = zone.parse() {
        return Some(number);
    }
    // Any socket can be asked.
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    name_to_index(&socket, zone).ok()
}

/// Whether an address leads anywhere only together with an interface.
pub(crate) fn needs(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// `ip` and `port`, on the interface `zone` of this host where the address needs one; none where it is missing.
pub(crate) fn socket(ip: IpAddr, port: u16, zone: Option<&str>) -> Option<SocketAddr> {
    match ip {
        IpAddr::V6(v6) if needs(ip) => Some(SocketAddrV6::new(v6, port, 0, index(zone?)?).into()),
        ip => Some(SocketAddr::new(ip, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_have_a_zone_and_others_none() {
        let scope = |ip: &str, zone| match socket(ip.parse().unwrap(), 9, zone)? {
            SocketAddr::V6(v6) => Some(v6.scope_id()),
            SocketAddr::V4(_) => Some(0),
        };
        let lo = std::fs::read_to_string("/sys/class/net/lo/ifindex").unwrap().trim().parse().unwrap();
        assert_eq!(scope("fe80::2", Some("lo")), Some(lo));
        assert_eq!(scope("fe80::2", Some("7")), Some(7));
        assert_eq!((scope("fe80::2", Some("nosuch")), scope("fe80::2", None)), (None, None));
        for other in ["::1", "2001:db8::1", "192.0.2.1"] {
            assert_eq!(scope(other, Some("lo")), Some(0), "{other}");
        }
    }
}
