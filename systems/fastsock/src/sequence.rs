//! What only the two ends of a connection know: the numbers with which TCP begins to count the bytes of both directions.
//!
//! Within a network namespace two addresses and two ports name one connection. Between namespaces they do not: others may have the same addresses, and containers that
//! are alike choose like ports; and a proxy may use the addresses of whom it works for. The two numbers, of 32 bits each, are drawn for each connection from a secret
//! and a clock, and every packet of it carries its place from there on; a proxy's two connections have two pairs. Linux tells them to nobody; so a raw socket takes
//! copies of the packets that come in (`CAP_NET_RAW`), and what the kernel has counted since is taken off. Nothing of that touches the connection.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, socklen_t};

use crate::tcp::Ends;
use crate::{real, tcp};

/// Bytes of copies that wait to be looked at, at most (the kernel counts twice that).
const ROOM: c_int = 128 << 10;
/// Looks in a row, where packets keep coming.
const MOST: usize = 16;
/// Of a packet: the longest heads that there can be.
const HEADS: usize = 128;

/// Where both directions begin: the bytes that this side sends, and those that it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begins {
    pub sent: u32,
    pub received: u32,
}

impl Begins {
    /// As the other end sees it.
    pub fn turned(self) -> Self {
        Self { sent: self.received, received: self.sent }
    }

    /// As a word.
    pub fn word(self) -> u64 {
        u64::from(self.sent) << 32 | u64::from(self.received)
    }

    /// From a word.
    pub fn of(word: u64) -> Self {
        Self { sent: (word >> 32) as u32, received: word as u32 }
    }
}

/// What the packets of a connection that came in said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Told {
    /// Behind the last byte that came.
    behind: u32,
    /// Behind the last byte of this side's that was acknowledged.
    acknowledged: u32,
}

impl Told {
    /// The later word of both.
    fn and(self, other: Self) -> Self {
        let later = |a: u32, b: u32| if b.wrapping_sub(a).cast_signed() > 0 { b } else { a };
        Self { behind: later(self.behind, other.behind), acknowledged: later(self.acknowledged, other.acknowledged) }
    }
}

/// Address and port of an end.
fn parts(end: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = end.rsplit_once(':')?;
    Some((ip.parse().ok()?, port.parse().ok()?))
}

/// A raw socket that takes copies of a connection's packets from now on. None where this process may not have one.
pub fn watch(ends: &Ends) -> Option<OwnedFd> {
    let ((here, here_port), (there, there_port)) = (parts(&ends.here)?, parts(&ends.there)?);
    let family = if here.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: a new descriptor.
    let raw =
        unsafe { real::socket(family, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, libc::IPPROTO_TCP) };
    if raw < 0 {
        return None;
    }
    // SAFETY: just made.
    let raw = unsafe { OwnedFd::from_raw_fd(raw) };
    let filter = filter(here.is_ipv4(), here_port, there_port);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    set(&raw, libc::SO_ATTACH_FILTER, &program)?;
    set(&raw, libc::SO_RCVBUF, &ROOM)?;
    // From this peer, to this address.
    let (own, peer) = (address(here), address(there));
    // SAFETY: addresses of these lengths.
    let bound = unsafe {
        real::bind(raw.as_raw_fd(), (&raw const own.0).cast(), own.1) == 0
            && real::whole::connect(raw.as_raw_fd(), (&raw const peer.0).cast(), peer.1) == 0
    };
    // What came before this was said is of anybody.
    bound.then(|| {
        told(raw.as_raw_fd(), here_port, there_port, here.is_ipv4());
        raw
    })
}

fn set<T>(raw: &OwnedFd, option: c_int, value: &T) -> Option<()> {
    let (at, len) = (std::ptr::from_ref(value).cast::<c_void>(), size_of::<T>() as socklen_t);
    // SAFETY: an option of this form.
    (unsafe { real::setsockopt(raw.as_raw_fd(), libc::SOL_SOCKET, option, at, len) } == 0).then_some(())
}

fn address(ip: IpAddr) -> (libc::sockaddr_storage, socklen_t) {
    // SAFETY: integers only, for which zero is a value.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    storage.ss_family = if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as libc::sa_family_t;
    let len = match ip {
        IpAddr::V4(ip) => {
            // SAFETY: an address of this family has this form.
            unsafe { (*(&raw mut storage).cast::<libc::sockaddr_in>()).sin_addr.s_addr = u32::from(ip).to_be() };
            size_of::<libc::sockaddr_in>()
        }
        IpAddr::V6(ip) => {
            // SAFETY: as above.
            unsafe { (*(&raw mut storage).cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr = ip.octets() };
            size_of::<libc::sockaddr_in6>()
        }
    };
    (storage, len as socklen_t)
}

/// Lets packets between these ports pass, whole (linux/filter.h). Where they begin with the head of IP, that of TCP is behind it.
fn filter(with_head: bool, here: u16, there: u16) -> [libc::sock_filter; 7] {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let behind = if with_head { step(0xb1, 0, 0, 0) } else { step(0x01, 0, 0, 0) };
    [
        behind,
        step(0x48, 0, 0, 0),
        step(0x15, 0, 3, there.into()),
        step(0x48, 0, 0, 2),
        step(0x15, 0, 1, here.into()),
        step(0x06, 0, 0, u32::MAX),
        step(0x06, 0, 0, 0),
    ]
}

/// What a packet says: its first bytes, and how long it is. Nothing, if it is none of the connection or of its bytes.
fn packet(bytes: &[u8], len: usize, with_head: bool, here: u16, there: u16) -> Option<Told> {
    let head = if with_head { usize::from(bytes.first()? & 0xf) * 4 } else { 0 };
    let tcp = bytes.get(head..)?;
    let word = |at: usize| Some(u32::from_be_bytes(tcp.get(at..at + 4)?.try_into().ok()?));
    let (ports, flags) = (word(0)?, tcp.get(13)?);
    // ACK, and neither SYN, FIN nor RST.
    if ports != u32::from(there) << 16 | u32::from(here) || flags & 0x17 != 0x10 {
        return None;
    }
    let own = usize::from(tcp[12] >> 4) * 4;
    let payload = u32::try_from(len.checked_sub(head + own)?).ok()?;
    Some(Told { behind: word(4)?.wrapping_add(payload), acknowledged: word(8)? })
}

/// What has come since the last look.
fn told(raw: c_int, here: u16, there: u16, with_head: bool) -> Option<Told> {
    let mut all: Option<Told> = None;
    // As many as there is room for, and no more: they may come faster than they are read.
    for _ in 0..1024 {
        let mut bytes = [0_u8; HEADS];
        // SAFETY: room for as many bytes. The answer is how long the packet is.
        let len = unsafe { real::recv(raw, bytes.as_mut_ptr().cast(), HEADS, libc::MSG_TRUNC | libc::MSG_DONTWAIT) };
        let Ok(len) = usize::try_from(len) else { break };
        if let Some(one) = packet(&bytes[..len.min(HEADS)], len, with_head, here, there) {
            all = Some(all.map_or(one, |before| before.and(one)));
        }
    }
    all
}

/// Where both directions of a connection began, by the packets that came since the last look and what the kernel has counted. None if none came, or they come too fast.
/// It may be wrong where the kernel was amid a packet, or copies were dropped: who asks twice, at two moments, gets the same twice only if it is right.
pub fn look(raw: c_int, fd: c_int, ends: &Ends) -> Option<Begins> {
    let ((here, here_port), (_, there_port)) = (parts(&ends.here)?, parts(&ends.there)?);
    let next = || told(raw, here_port, there_port, here.is_ipv4());
    let mut last = next()?;
    for _ in 0..MOST {
        let moved = tcp::moved(fd)?;
        match next() {
            Some(more) => last = last.and(more),
            None => {
                let sent = last.acknowledged.wrapping_sub(moved.acknowledged as u32);
                return Some(Begins { sent, received: last.behind.wrapping_sub(moved.arrived as u32) });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(flags: u8) -> Vec<u8> {
        let mut tcp = vec![0; 32];
        tcp[..4].copy_from_slice(&[0, 80, 0, 90]);
        tcp[4..8].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
        tcp[8..12].copy_from_slice(&7_u32.to_be_bytes());
        (tcp[12], tcp[13]) = (8 << 4, flags);
        tcp
    }

    #[test]
    fn a_packet_tells_where_it_ends_and_what_it_acknowledges() {
        let told = Told { behind: 16, acknowledged: 7 };
        let tcp = segment(0x18);
        assert_eq!(packet(&tcp, 32 + 32, false, 90, 80), Some(told));
        let whole = [&[0x45; 20][..], &tcp].concat();
        assert_eq!(packet(&whole, 20 + 32 + 32, true, 90, 80), Some(told));
        // Other ports, the packets that begin and end a connection, and what is cut.
        assert_eq!(packet(&tcp, 64, false, 80, 90), None);
        for flags in [0x12, 0x11, 0x14, 0x08] {
            assert_eq!(packet(&segment(flags), 64, false, 90, 80), None, "{flags:x}");
        }
        for len in 0..20 {
            assert!(packet(&tcp[..len], 64, false, 90, 80).is_none() || len >= 14, "{len}");
        }
        assert_eq!(packet(&tcp, 31, false, 90, 80), None);
        assert_eq!(packet(&[], 0, true, 90, 80), None);
    }

    #[test]
    fn the_later_of_two_words_counts_also_across_the_end_of_the_numbers() {
        let (early, late) = (Told { behind: u32::MAX, acknowledged: 5 }, Told { behind: 3, acknowledged: 4 });
        assert_eq!(early.and(late), Told { behind: 3, acknowledged: 5 });
        assert_eq!(late.and(early), early.and(late));
    }

    #[test]
    fn what_one_end_sends_the_other_receives() {
        let begins = Begins { sent: 1, received: u32::MAX };
        assert_eq!(begins.turned(), Begins { sent: u32::MAX, received: 1 });
        assert_eq!(Begins::of(begins.word()), begins);
    }
}
