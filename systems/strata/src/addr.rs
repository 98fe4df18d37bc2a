//! Who a member is: an address that datagrams reach it at, and a number that tells its lives apart.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::wire::{Reader, Short, Writer};

/// Where datagrams reach a member. Under the simulator these are made-up addresses of `10.0.0.0/8`.
pub type Addr = SocketAddr;

/// One life of one member. A process that crashed and came back at the same address is another endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// Where datagrams reach it.
    pub addr: Addr,
    /// Drawn at random as the member starts.
    pub born: u64,
}

impl Endpoint {
    /// Writes it as 15 bytes (IPv4) or 27 (IPv6).
    pub fn write(&self, to: &mut Writer) {
        write_addr(&self.addr, to);
        to.u64(self.born);
    }

    /// # Errors
    /// [`Short`] where fewer bytes are left, or the family is neither 4 nor 6.
    pub fn read(from: &mut Reader) -> Result<Self, Short> {
        Ok(Self { addr: read_addr(from)?, born: from.u64()? })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}#{:04x}", self.addr, self.born & 0xffff)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Family (4 or 6), address, port. The interface of a link-local IPv6 address means nothing elsewhere, so that no member is bound to one.
pub fn write_addr(addr: &Addr, to: &mut Writer) {
    match addr.ip() {
        IpAddr::V4(ip) => {
            to.u8(4);
            to.bytes(&ip.octets());
        }
        IpAddr::V6(ip) => {
            to.u8(6);
            to.bytes(&ip.octets());
        }
    }
    to.u16(addr.port());
}

/// # Errors
/// [`Short`] where fewer bytes are left, or the family is neither 4 nor 6.
pub fn read_addr(from: &mut Reader) -> Result<Addr, Short> {
    let ip = match from.u8()? {
        4 => IpAddr::from(Ipv4Addr::from(from.array::<4>()?)),
        6 => IpAddr::from(from.array::<16>()?),
        _ => return Err(Short),
    };
    Ok(Addr::new(ip, from.u16()?))
}
