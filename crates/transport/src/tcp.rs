//! TCP over IPv4 or IPv6.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use socket2::SockRef;

use crate::kinds::Kind;
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::sys;
use crate::{LinkError, Patience, Settings, Wait};

/// Largest segments that the kernel lets a socket ask for (`TCP_MIN_MSS` to `MAX_TCP_WINDOW`), bytes.
pub const MSS: RangeInclusive<u32> = 88..=32_767;

/// Microseconds of polling the device under [`Wait::BusyPoll`]; the value the kernel's documentation recommends.
pub(crate) const BUSY_POLL: u32 = 50;

/// Connections that may wait to be accepted.
pub(crate) const BACKLOG: i32 = 128;

/// One end of a TCP connection.
pub type Tcp = Stream<Socket>;

/// Takes over a connected socket.
pub(crate) fn link(fd: OwnedFd, wait: Wait, settings: &Settings, patience: &Patience) -> Result<Tcp, LinkError> {
    sockopt::set_tcp_nodelay(&fd, settings.nodelay).map_err(|e| LinkError::io("setting TCP_NODELAY", e))?;
    if wait == Wait::BusyPoll {
        busy_poll(fd.as_fd())?;
    }
    Ok(Stream::new(Socket::new(fd, Kind::Tcp, wait, None, effective)?, patience))
}

/// What took effect on a TCP connection.
fn effective(socket: &Socket) -> Effective {
    let fd = socket.fd();
    Effective {
        mss: SockRef::from(&fd).tcp_mss().ok(),
        congestion: sockopt::tcp_congestion(fd).ok(),
        nodelay: sockopt::tcp_nodelay(fd).ok(),
        ..sys::effective(fd, socket.wait(), addresses(fd))
    }
}

/// Both ends of a connected IP socket, in words.
pub(crate) fn addresses(fd: BorrowedFd<'_>) -> Option<String> {
    let address = |a: std::io::Result<socket2::SockAddr>| a.ok().and_then(|a| a.as_socket());
    let socket = SockRef::from(&fd);
    Some(format!("{} to {}", address(socket.local_addr())?, address(socket.peer_addr())?))
}

/// Turns on the kernel's polling of the device for a socket's blocking calls.
pub(crate) fn busy_poll(fd: BorrowedFd<'_>) -> Result<(), LinkError> {
    SockRef::from(&fd).set_busy_poll(BUSY_POLL).map_err(|e| {
        LinkError::io(
            "setting SO_BUSY_POLL (--wait busy-poll; it needs CAP_NET_ADMIN, or net.core.busy_read of 50 or more)",
            e,
        )
    })
}

/// A socket for `address` with everything that must be set before it connects or listens.
fn socket(address: &SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = ip_socket(address, SocketType::STREAM)?;
    if let Some(bytes) = settings.sockbuf {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    if let Some(mss) = settings.mss {
        SockRef::from(&fd).set_tcp_mss(mss).map_err(|e| {
            let (least, most) = (MSS.start(), MSS.end());
            LinkError::io(format!("setting a largest segment of {mss} bytes ({least} to {most} are valid)"), e)
        })?;
    }
    if let Some(name) = &settings.congestion {
        sockopt::set_tcp_congestion(&fd, name).map_err(|e| {
            let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let known = known.as_deref().map_or("unknown", str::trim);
            LinkError::io(format!("setting congestion control '{name}' (available here: {known})"), e)
        })?;
    }
    Ok(fd)
}

/// A socket of the family of `address`.
pub(crate) fn ip_socket(address: &SocketAddr, of: SocketType) -> Result<OwnedFd, LinkError> {
    let (family, name) = if address.is_ipv6() { (AddressFamily::INET6, "IPv6") } else { (AddressFamily::INET, "IPv4") };
    rustix::net::socket_with(family, of, SocketFlags::CLOEXEC, None)
        .map_err(|e| LinkError::io(format!("making an {name} socket"), e))
}

/// A listening socket at `at` and the address it got.
pub(crate) fn listen(at: SocketAddr, settings: &Settings) -> Result<(OwnedFd, SocketAddr), LinkError> {
    let fd = socket(&at, settings)?;
    rustix::net::bind(&fd, &at)
        .and_then(|()| rustix::net::listen(&fd, BACKLOG))
        .map_err(|e| LinkError::io(format!("listening on {at}"), e))?;
    let bound = bound_to(fd.as_fd())?;
    Ok((fd, bound))
}

/// The local address of an IP socket.
pub(crate) fn bound_to(fd: BorrowedFd<'_>) -> Result<SocketAddr, LinkError> {
    let address = rustix::net::getsockname(fd).map_err(|e| LinkError::io("asking for a socket's address", e))?;
    SocketAddr::try_from(address).map_err(|e| LinkError::io("asking for a socket's address", e))
}

/// A socket connected to `to`.
pub(crate) fn connect(to: SocketAddr, settings: &Settings, patience: &Patience) -> Result<OwnedFd, LinkError> {
    let fd = socket(&to, settings)?;
    // A blocking connect honours the send timeout and then goes on in the background.
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, Some(LOOK))
        .map_err(|e| LinkError::io("setting a socket's timeouts", e))?;
    match rustix::net::connect(&fd, &to) {
        Ok(()) => Ok(fd),
        Err(Errno::INPROGRESS | Errno::INTR | Errno::AGAIN) => {
            finish_connect(fd.as_fd(), to, patience)?;
            Ok(fd)
        }
        Err(e) => Err(refused(to, e)),
    }
}

#[cold]
fn refused(to: SocketAddr, e: Errno) -> LinkError {
    let doing = match e {
        Errno::ADDRNOTAVAIL => format!(
            "connecting to {to} (no local port is free: those of connections closed within the last minute are still \
             held; make fewer connections, or set net.ipv4.tcp_tw_reuse to 1)"
        ),
        _ => format!("connecting to {to}"),
    };
    LinkError::io(doing, e)
}

/// Nobody answered within the patience.
pub(crate) fn no_answer(to: SocketAddr, waited: Duration) -> LinkError {
    let e = std::io::Error::new(
        std::io::ErrorKind::TimedOut,
        format!("no answer for {:.1} s: a firewall, or nothing at this address", waited.as_secs_f64()),
    );
    LinkError::io(format!("connecting to {to}"), e)
}

#[cold]
fn finish_connect(fd: BorrowedFd<'_>, to: SocketAddr, patience: &Patience) -> Result<(), LinkError> {
    let start = Instant::now();
    loop {
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
        if sys::poll_for(&mut fds, LOOK).map_err(|e| refused(to, e))? {
            return sockopt::socket_error(fd).and_then(|e| e).map_err(|e| refused(to, e));
        }
        match patience.check(start, "connecting") {
            Ok(()) => {}
            Err(LinkError::Stalled { waited, .. }) => return Err(no_answer(to, waited)),
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    #[test]
    fn an_unknown_congestion_control_is_named_with_those_there_are() {
        let settings = Settings { congestion: Some("nosuch".into()), ..Settings::default() };
        let e = listen(loopback(), &settings).unwrap_err().to_string();
        assert!(e.contains("nosuch") && e.contains("available here") && e.contains("reno"), "{e}");
    }

    #[test]
    fn the_kernel_takes_segments_in_the_range_and_no_others() {
        let with = |mss| listen(loopback(), &Settings { mss: Some(mss), ..Settings::default() });
        for good in [*MSS.start(), *MSS.end()] {
            with(good).unwrap();
        }
        for bad in [5, *MSS.start() - 1, *MSS.end() + 1] {
            let e = with(bad).unwrap_err().to_string();
            assert!(e.contains("88 to 32767"), "{e}");
        }
    }

    #[test]
    fn a_refused_connection_names_the_address() {
        let (fd, address) = listen(loopback(), &Settings::default()).unwrap();
        drop(fd);
        let e = connect(address, &Settings::default(), &Patience::default()).unwrap_err();
        assert!(matches!(e, LinkError::Io { .. }), "{e:?}");
        assert!(e.to_string().contains(&address.to_string()), "{e}");
    }

    #[test]
    fn an_address_in_use_is_named() {
        let (_fd, address) = listen(loopback(), &Settings::default()).unwrap();
        let e = listen(address, &Settings::default()).unwrap_err().to_string();
        assert!(e.contains(&address.to_string()), "{e}");
    }

    #[test]
    fn settings_take_effect_and_are_reported() {
        let settings = Settings {
            sockbuf: Some(65_536),
            mss: Some(1000),
            congestion: Some("reno".into()),
            nodelay: false,
            ..Settings::default()
        };
        let (door, address) = listen(loopback(), &settings).unwrap();
        let patience = Patience::default();
        let near = connect(address, &settings, &patience).unwrap();
        let far = rustix::net::accept(&door).unwrap();
        for fd in [near, far] {
            let e = link(fd, Wait::Spin, &settings, &patience).unwrap().effective();
            assert_eq!(e.send_buffer, Some(131_072));
            assert_eq!(e.receive_buffer, Some(131_072));
            assert!(e.mss.is_some_and(|m| m <= 1000), "{e:?}");
            assert_eq!(e.congestion.as_deref(), Some("reno"));
            assert_eq!((e.nodelay, e.wait), (Some(false), Some(Wait::Spin)));
            assert!(e.addresses.is_some_and(|a| a.contains(&address.to_string())));
        }
    }
}
