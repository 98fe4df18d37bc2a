//! The name under which the two ends of a connection meet: made of both addresses, as the end that connected has them.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

/// One address, the same text on both sides: an IPv4 address mapped into IPv6 is an IPv4 address.
fn end(address: SocketAddr) -> String {
    let mut text = match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.to_string(),
        // Shorter than as people write it, as a name has 80 bytes at most.
        IpAddr::V6(ip) => format!("{:032x}", u128::from(ip)),
    };
    let _ = write!(text, ":{:x}", address.port());
    text
}

/// Of the addresses of the end that connected and of the one that accepted.
pub fn name(connected: SocketAddr, accepted: SocketAddr) -> String {
    format!("fs/{}/{}", end(connected), end(accepted))
}

/// Whether both ends are on this host, as far as addresses tell: they have the same.
pub fn is_local(one: SocketAddr, other: SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn both_ends_make_the_same_name_and_it_fits() {
        let (four, mapped) = (at("127.0.0.1:40000"), at("[::ffff:127.0.0.1]:40000"));
        assert_eq!(name(four, at("127.0.0.1:80")), "fs/127.0.0.1:9c40/127.0.0.1:50");
        assert_eq!(name(mapped, at("[::ffff:127.0.0.1]:80")), name(four, at("127.0.0.1:80")));
        assert_ne!(name(four, at("127.0.0.1:80")), name(at("127.0.0.1:80"), four));
        let long = at("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
        assert!(name(long, long).len() <= 80);
    }

    #[test]
    fn ends_with_one_address_are_local() {
        assert!(is_local(at("10.0.0.1:1"), at("[::ffff:10.0.0.1]:2")) && !is_local(at("10.0.0.1:1"), at("10.0.0.2:1")));
    }
}
