//! What the kernel knows of a connection.

use std::mem::MaybeUninit;

use libc::{c_int, socklen_t};

use crate::real;

/// `TCP_INQ` of linux/tcp.h.
const TCP_INQ: c_int = 36;

/// What the kernel does to the stream by itself: TLS (`TCP_ULP` of linux/tcp.h). Not 0 where it is asked for: the first letters of what that is.
const TCP_ULP: c_int = 31;

/// Options of which each changes what a receive or a wait tells, and that only the kernel knows how to serve, with the least value that does.
const KERNELS: [(c_int, c_int, c_int); 9] = [
    (libc::SOL_SOCKET, libc::SO_RCVLOWAT, 2),
    (libc::SOL_SOCKET, libc::SO_TIMESTAMP, 1),
    (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1),
    (libc::SOL_SOCKET, libc::SO_TIMESTAMPING, 1),
    // The same with times of 64 bits on systems of 32 (asm-generic/socket.h).
    (libc::SOL_SOCKET, 63, 1),
    (libc::SOL_SOCKET, 64, 1),
    (libc::SOL_SOCKET, libc::SO_PEEK_OFF, 0),
    (libc::IPPROTO_TCP, TCP_INQ, 1),
    (libc::IPPROTO_TCP, TCP_ULP, 1),
];

/// Whether an option with this value makes a connection one that only the kernel can serve.
pub fn kernel_serves(level: c_int, name: c_int, value: c_int) -> bool {
    KERNELS.iter().any(|&(at, option, least)| (at, option) == (level, name) && value >= least)
}

/// Whether from this option on the kernel makes something else of what it is given, and of what comes: nothing may be on its way past it when it is set.
pub fn changes_stream(level: c_int, name: c_int) -> bool {
    (level, name) == (libc::IPPROTO_TCP, TCP_ULP)
}

/// Whether anything is set, perhaps by a listener that it has it from, or before it was connected, that makes it one.
pub fn is_kernels(fd: c_int) -> bool {
    let set = |&(level, name, least): &(c_int, c_int, c_int)| {
        let mut bytes = [0; 8];
        option(fd, level, name, &mut bytes)
            .is_some_and(|len| len >= 4 && c_int::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) >= least)
    };
    // SAFETY: asks for flags.
    let flags = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
    flags & libc::O_ASYNC != 0 || KERNELS.iter().any(set)
}

/// Numbers of bytes over TCP since the connection was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// Taken by the kernel to be sent.
    pub sent: u64,
    /// Handed to this side.
    pub received: u64,
}

/// What a descriptor means, a socket or a file: the number of its device, and its own there. None if it means nothing.
pub fn identity(fd: c_int) -> Option<(u64, u64)> {
    let mut about = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: room for what is asked; zero is a value of each part.
    unsafe {
        let asked = libc::fstat(fd, about.as_mut_ptr()) == 0;
        let about = about.assume_init();
        asked.then_some((about.st_dev, about.st_ino))
    }
}

/// The socket's number, by which the kernel's own tables name it; 0 if there is none.
pub fn inode(fd: c_int) -> u64 {
    identity(fd).map_or(0, |(_, inode)| inode)
}

/// Asks whether an urgent byte is next (linux/sockios.h).
pub const SIOCATMARK: libc::c_ulong = 0x8905;

/// Whether an urgent byte is the next of what the kernel has.
pub fn at_mark(fd: c_int) -> bool {
    let mut mark: c_int = 0;
    // SAFETY: asks for one int.
    let asked = unsafe { real::ioctl(fd, SIOCATMARK, (&raw mut mark).addr()) };
    asked == 0 && mark != 0
}

/// The two ends of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    pub here: String,
    pub there: String,
}

/// An option of a socket, as bytes; how many there are.
fn option(fd: c_int, level: c_int, name: c_int, into: &mut [u8]) -> Option<usize> {
    let mut len = into.len() as socklen_t;
    // SAFETY: `into` has room for `len` bytes.
    let got = unsafe { real::getsockopt(fd, level, name, into.as_mut_ptr().cast(), &raw mut len) };
    (got == 0).then_some(len as usize)
}

fn number(fd: c_int, name: c_int) -> Option<c_int> {
    let mut bytes = [0; 4];
    (option(fd, libc::SOL_SOCKET, name, &mut bytes)? == 4).then(|| c_int::from_ne_bytes(bytes))
}

/// A time limit of a socket (`SO_RCVTIMEO`, `SO_SNDTIMEO`), nanoseconds; none if it has none.
pub fn limit(fd: c_int, name: c_int) -> Option<i64> {
    let mut bytes = [0; 16];
    if option(fd, libc::SOL_SOCKET, name, &mut bytes)? != 16 {
        return None;
    }
    let (halves, _) = bytes.as_chunks::<8>();
    let [seconds, micros] = [halves[0], halves[1]].map(i64::from_ne_bytes);
    let limit = seconds.saturating_mul(1_000_000_000).saturating_add(micros * 1000);
    (limit > 0).then_some(limit)
}

/// Bytes sent and received so far, from the kernel's own counters (`struct tcp_info` of linux/tcp.h). None where the kernel does not tell,
/// or the peer has closed already.
pub fn bytes(fd: c_int) -> Option<Bytes> {
    for _ in 0..100 {
        let before = counters(fd)?;
        let unread = unread(fd)?;
        let after = counters(fd)?;
        // The same before and after: nothing arrived between the questions.
        if before.1 == after.1 {
            return Some(Bytes { sent: after.0, received: after.1.checked_sub(unread)? });
        }
    }
    None
}

/// Bytes that the kernel took, and bytes that arrived.
fn counters(fd: c_int) -> Option<(u64, u64)> {
    let mut info = [0; 216];
    if option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)? < info.len() || info[0] != ESTABLISHED {
        return None;
    }
    let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| info[at + i]));
    let (received, sent, again) = (long(128), long(200), long(208));
    let waiting = u32::from_ne_bytes(std::array::from_fn(|i| info[144 + i]));
    Some((sent.checked_sub(again)? + u64::from(waiting), received))
}

/// `TCP_ESTABLISHED` and `TCP_CLOSE` of linux/tcp.h.
const ESTABLISHED: u8 = 1;
const CLOSE: u8 = 7;

/// Whether it is a TCP socket that is not connected, nor listens.
pub fn is_unconnected(fd: c_int) -> bool {
    let mut state = [0];
    option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut state) == Some(1) && state == [CLOSE]
}

/// Whether other sockets may listen on its port.
pub fn shares_port(fd: c_int) -> bool {
    number(fd, libc::SO_REUSEPORT).is_none_or(|shares| shares != 0)
}

/// Whether small segments are sent at once; none if it is no TCP socket.
pub fn nodelay(fd: c_int) -> Option<bool> {
    let mut bytes = [0; 4];
    let tcp = number(fd, libc::SO_PROTOCOL)? == libc::IPPROTO_TCP;
    (tcp && option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &mut bytes)? == 4).then_some(bytes != [0; 4])
}

/// What the kernel has counted of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Bytes of this side's that the other has acknowledged.
    pub acknowledged: u64,
    /// Bytes that have arrived.
    pub arrived: u64,
}

/// Asks for that.
pub fn moved(fd: c_int) -> Option<Moved> {
    for _ in 0..100 {
        let before = counters(fd)?;
        let mut under_way: c_int = 0;
        // SAFETY: asks for one int.
        if unsafe { real::ioctl(fd, libc::TIOCOUTQ, (&raw mut under_way).addr()) } != 0 {
            return None;
        }
        // The same before and after: nothing arrived between the questions.
        if before == counters(fd)? {
            let acknowledged = before.0.checked_sub(u64::try_from(under_way).ok()?)?;
            return Some(Moved { acknowledged, arrived: before.1 });
        }
    }
    None
}

/// Both ends of a TCP connection of this host with itself; none of another.
pub fn local_ends(fd: c_int) -> Option<Ends> {
    let ends = ends(fd)?;
    let (ip_here, ip_there) = (ends.here.rsplit_once(':')?.0, ends.there.rsplit_once(':')?.0);
    (ip_here == ip_there).then_some(ends)
}

/// Both ends of a TCP connection.
pub fn ends(fd: c_int) -> Option<Ends> {
    if number(fd, libc::SO_TYPE)? != libc::SOCK_STREAM || number(fd, libc::SO_PROTOCOL)? != libc::IPPROTO_TCP {
        return None;
    }
    Some(Ends { here: address(fd, libc::getsockname)?, there: address(fd, libc::getpeername)? })
}

type Name = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut socklen_t) -> c_int;

/// One end's address, the same text on both sides: an IPv4 address mapped into IPv6 is an IPv4 address.
fn address(fd: c_int, name: Name) -> Option<String> {
    let mut storage = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut len = size_of::<libc::sockaddr_storage>() as socklen_t;
    // SAFETY: the storage has room for any address.
    if unsafe { name(fd, storage.as_mut_ptr().cast(), &raw mut len) } != 0 {
        return None;
    }
    // SAFETY: zeroed, then written by the kernel: integers only.
    let storage = unsafe { storage.assume_init() };
    match c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: an address of this family has this form.
            let v4 = unsafe { &*(&raw const storage).cast::<libc::sockaddr_in>() };
            let ip = std::net::Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(format!("{ip}:{}", u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let v6 = unsafe { &*(&raw const storage).cast::<libc::sockaddr_in6>() };
            let ip = std::net::Ipv6Addr::from(v6.sin6_addr.s6_addr).to_canonical();
            Some(format!("{ip}:{}", u16::from_be(v6.sin6_port)))
        }
        _ => None,
    }
}

/// Whether the connection ends at a port.
pub fn port(end: &str) -> Option<u16> {
    end.rsplit_once(':')?.1.parse().ok()
}

/// What the kernel says of the receiving direction, without taking anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing there, and it is open.
    Open,
    /// Bytes are there.
    Bytes,
    /// The end of the stream.
    End,
    /// An error, which the kernel tells once: to the program's next call that it concerns, whichever that is.
    Error,
}

/// Asks. Not by a receive, even one that only looks: that would take an error.
pub fn state(fd: c_int) -> State {
    let mut ask = libc::pollfd { fd, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 };
    // SAFETY: one entry.
    let found = unsafe { real::whole::poll(&raw mut ask, 1, 0) };
    let ended = ask.revents & (libc::POLLRDHUP | libc::POLLHUP) != 0;
    match ask.revents {
        0 => State::Open,
        _ if found < 0 => State::Open,
        all if all & (libc::POLLERR | libc::POLLNVAL) != 0 => State::Error,
        _ if ended && unread(fd) == Some(0) => State::End,
        _ => State::Bytes,
    }
}

/// Bytes that have arrived and wait to be received.
pub fn unread(fd: c_int) -> Option<u64> {
    let mut unread: c_int = 0;
    // SAFETY: asks for one int.
    let asked = unsafe { real::ioctl(fd, libc::FIONREAD as libc::c_ulong, (&raw mut unread).addr()) };
    u64::try_from(unread).ok().filter(|_| asked == 0)
}

/// Whether the peer has sent its end of file, or the connection has failed.
pub fn peer_ended(fd: c_int) -> bool {
    let mut ask = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one entry.
    unsafe { real::whole::poll(&raw mut ask, 1, 0) == 1 }
}

/// Ends the connection with an error on both sides (`ECONNRESET`), and what has arrived goes: what the kernel does where a socket that is connected is connected to
/// nothing (connect(2)). False if it does not.
pub fn reset(fd: c_int) -> bool {
    let nothing = libc::sockaddr { sa_family: libc::AF_UNSPEC as libc::sa_family_t, sa_data: [0; 14] };
    // SAFETY: an address of this length.
    unsafe { real::whole::connect(fd, &raw const nothing, size_of::<libc::sockaddr>() as socklen_t) == 0 }
}

/// The stream is not whole any more: the connection ends so that nobody takes what there is of it for all, with an error on both sides wherever the kernel does that.
pub fn cut(fd: c_int) {
    if !reset(fd) {
        // SAFETY: a descriptor of the program's, or a copy of it; a wrong one is refused.
        unsafe { real::shutdown(fd, libc::SHUT_RDWR) };
    }
}

/// Room in the kernel for what is to be sent without a wait: its buffer is as it was when this is dropped, and what it holds by then stays in it.
pub struct Room {
    fd: c_int,
    /// How large the buffer was, and whether it was left to the kernel how large it is.
    before: Option<(c_int, Option<c_int>)>,
}

/// Whether the kernel changes the sizes of a socket's buffers itself (asm-generic/socket.h, Linux 5.14).
const SO_BUF_LOCK: c_int = 72;

impl Room {
    pub fn new(fd: c_int) -> Self {
        Self { fd, before: None }
    }

    /// Asks for a buffer that holds `bytes`, once: false if it was asked for before, or can't be had.
    pub fn make(&mut self, bytes: usize) -> bool {
        let Some(before) = number(self.fd, libc::SO_SNDBUF).filter(|_| self.before.is_none()) else { return false };
        self.before = Some((before, number(self.fd, SO_BUF_LOCK)));
        // The kernel takes twice of what it is asked for, and the system's limit is on what it is asked for. As much again for its own needs.
        set_number(
            self.fd,
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            before.saturating_add(c_int::try_from(2 * bytes).unwrap_or(c_int::MAX)),
        )
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some((before, lock)) = self.before {
            set_number(self.fd, libc::SOL_SOCKET, libc::SO_SNDBUF, before / 2);
            if let Some(lock) = lock {
                set_number(self.fd, libc::SOL_SOCKET, SO_BUF_LOCK, lock);
            }
        }
    }
}

/// What was sent goes out now, also a short segment before the peer has acknowledged the last one: to it, it was there before.
pub fn push(fd: c_int) {
    if nodelay(fd) == Some(false) {
        for value in [1, 0] {
            set_number(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, value);
        }
    }
}

fn set_number(fd: c_int, level: c_int, name: c_int, value: c_int) -> bool {
    let len = size_of::<c_int>() as socklen_t;
    // SAFETY: an option of this form.
    unsafe { real::setsockopt(fd, level, name, (&raw const value).cast(), len) == 0 }
}

/// Whether calls on the descriptor are not to wait.
pub fn nonblocking(fd: c_int) -> bool {
    // SAFETY: asks for flags.
    unsafe { real::fcntl(fd, libc::F_GETFL, 0) & libc::O_NONBLOCK != 0 }
}
