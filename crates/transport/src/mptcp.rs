//! Multipath TCP: a stream that may run over several TCP connections at once.
//!
//! Where the other end or the way between doesn't know it, the kernel goes on with plain TCP. What it came to is told as what took
//! effect.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{Protocol, ipproto, sockopt};

use crate::ip;
use crate::ip_stream::{OverIp, Plain, Streams};
use crate::local;
use crate::meet::Made;
use crate::options::{self, FAMILY, SOCKBUF};
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::tcp::{self, CONGESTION, NODELAY};
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Settings, Wait, sys};

/// What it is called.
pub const NAME: Name = Name::literal("mptcp");

/// The transport.
pub static TRANSPORT: Streams<Mptcps> = Streams::new();

/// MPTCP between two processes of one host or two.
#[derive(Debug)]
pub struct Mptcps;

impl OverIp for Mptcps {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "multipath TCP over IPv4 or IPv6";
    const SPOKEN: &'static [&'static str] =
        &["mptcp", "multipath tcp", "multi path tcp", "mptcp socket", "mptcp sockets", "mptcp connection"];
    // No `mss`: not every kernel that has MPTCP takes it on such a socket.
    const OPTIONS: &'static [OptionSpec] =
        &[SOCKBUF, NODELAY, CONGESTION, FAMILY, options::wait(local::WAIT_NAMES, "block")];
    const PROTOCOL: Option<Protocol> = Some(ipproto::MPTCP);
    const WAITS: &'static [Wait] = &local::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn lacks(e: Errno) -> Option<&'static str> {
        match e {
            Errno::NOPROTOOPT => Some("it is switched off: set net.mptcp.enabled to 1 with sysctl"),
            Errno::PROTONOSUPPORT | Errno::INVAL => {
                Some("this kernel has no MPTCP: it takes Linux 5.6 or later with CONFIG_MPTCP")
            }
            _ => None,
        }
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        tcp::choose_congestion(fd, settings)
    }
}

impl Plain for Mptcps {
    fn link(fd: OwnedFd, made: &Made) -> Result<Mptcp, LinkError> {
        tcp::set_nodelay(fd.as_fd(), &made.settings)?;
        Ok(Stream::new(Socket::new(fd, capabilities, made.wait, None, effective)?, &made.patience))
    }
    fn met(link: Mptcp, _: &Made) -> Result<AnyLink, LinkError> {
        Ok(AnyLink::new(link.watched()?))
    }
}

fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, ..Capabilities::plain() }
}

/// One end of an MPTCP connection.
pub type Mptcp = Stream<Socket>;

/// What took effect on an MPTCP connection.
fn effective(socket: &Socket) -> Effective {
    let fd = socket.fd();
    let addresses = ip::addresses(fd).map(|addresses| format!("{addresses}, {}", carrier(fd)));
    Effective {
        congestion: sockopt::tcp_congestion(fd).ok(),
        nodelay: sockopt::tcp_nodelay(fd).ok(),
        ..sys::effective(fd, socket.wait(), addresses)
    }
}

/// What the connection runs over, in words.
fn carrier(fd: BorrowedFd<'_>) -> String {
    match flows(fd) {
        Some(1) => "MPTCP with 1 subflow".to_owned(),
        Some(n) => format!("MPTCP with {n} subflows"),
        None => "plain TCP: the other end or the way between does not take MPTCP".to_owned(),
    }
}

/// Subflows of an MPTCP connection, the first one among them; none of a connection that fell back to TCP.
fn flows(fd: BorrowedFd<'_>) -> Option<u32> {
    /// `SOL_MPTCP`, `MPTCP_INFO` and `MPTCP_INFO_FLAG_FALLBACK` of linux/mptcp.h.
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_INFO: libc::c_int = 1;
    const FALLBACK: u32 = 1;
    /// The start of `struct mptcp_info`.
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        subflows: u8,
        others: [u8; 5],
        flags: u32,
    }
    let mut info = Info::default();
    let mut len = size_of::<Info>() as libc::socklen_t;
    // SAFETY: both pointers lead to memory of the length that `len` says, the kernel writes no more than that, and any bytes are a valid
    // value.
    let code = unsafe {
        libc::getsockopt(fd.as_raw_fd(), SOL_MPTCP, MPTCP_INFO, std::ptr::from_mut(&mut info).cast(), &mut len)
    };
    // The kernel counts those beside the first; of a connection that fell back it tells nothing.
    (code == 0 && info.flags & FALLBACK == 0).then(|| u32::from(info.subflows) + 1)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use super::*;
    use crate::{Patience, Transport, ip_stream};

    fn at() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    fn here() -> bool {
        let here = TRANSPORT.availability();
        if let Err(e) = &here {
            eprintln!("not tried: {e}");
        }
        here.is_ok()
    }

    #[test]
    fn a_connection_is_known_from_one_that_fell_back_to_tcp() {
        if !here() {
            return;
        }
        let none = Settings::default();
        let connect = |to| ip_stream::connect::<Mptcps>(to, &none, &Patience::default()).unwrap();
        let (door, address) = ip_stream::listen::<Mptcps>(at(), &none).unwrap();
        let both = connect(address);
        let far = rustix::net::accept(&door).unwrap();
        for fd in [&both, &far] {
            assert_eq!(flows(fd.as_fd()), Some(1));
        }
        // Plain TCP at the near end, then at the far one.
        let _plain = TcpStream::connect(address).unwrap();
        let far = rustix::net::accept(&door).unwrap();
        assert_eq!(flows(far.as_fd()), None);
        let plain = TcpListener::bind(at()).unwrap();
        let near = connect(plain.local_addr().unwrap());
        assert!(carrier(near.as_fd()).starts_with("plain TCP"), "{}", carrier(near.as_fd()));
    }

    #[test]
    fn where_it_is_switched_off_or_missing_that_is_said() {
        assert!(Mptcps::lacks(Errno::PROTONOSUPPORT).unwrap().contains("CONFIG_MPTCP"));
        // A thread of its own in a network of its own: the setting is of that network.
        let said = std::thread::spawn(|| {
            // SAFETY: only this thread leaves the network that it shares; it uses no descriptor of it.
            let alone = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
            if !alone || std::fs::write("/proc/sys/net/mptcp/enabled", "0").is_err() {
                return None;
            }
            Some(TRANSPORT.availability())
        });
        match said.join().unwrap() {
            Some(said) => {
                let said = said.unwrap_err().to_string();
                assert!(said.contains("net.mptcp.enabled") && said.contains("mptcp socket"), "{said}");
            }
            None => eprintln!("not tried: no network namespace with MPTCP can be had here"),
        }
    }
}
