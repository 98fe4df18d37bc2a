//! TCP over IPv4 or IPv6.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{SocketType, sockopt};
use socket2::SockRef;

use crate::door::Door;
use crate::ip::{self, bound_to, busy_poll, no_answer};
use crate::meet::{Made, shake};
use crate::options::{self, Answer, FAMILY, Form, Knob, Moved, SOCKBUF};
use crate::patience::LOOK;
use crate::registry::{Accept, Acceptor, Address, Connect, Connector, Transport};
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::sys;
use crate::{AnyLink, Capabilities, End, Link, LinkError, Name, OptionSpec, Patience, Proof, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("tcp");

/// The transport.
pub static TRANSPORT: Tcps = Tcps;

/// TCP between two processes of one host or two.
#[derive(Debug)]
pub struct Tcps;

static OPTIONS: [OptionSpec; 6] = [
    SOCKBUF,
    OptionSpec {
        name: "nodelay",
        flag: Some("--nodelay, --no-nodelay"),
        form: Form::Switch,
        default: "on",
        help: "send small segments at once",
        answers: &[Answer { part: "", of: |e| e.nodelay.map(|on| on.to_string()) }],
        moved: None,
    },
    OptionSpec {
        name: "mss",
        flag: Some("--mss"),
        // What the kernel lets a socket ask for: `TCP_MIN_MSS` to `MAX_TCP_WINDOW`.
        form: Form::Bytes(88, 32_767),
        default: "what the path gives",
        help: "largest segment",
        answers: &[Answer { part: "", of: |e| e.mss.map(|bytes| bytes.to_string()) }],
        moved: Some(Moved {
            knob: Knob::Packet,
            unset: None,
            now: |e| e.mss.map(u64::from),
            doubles: false,
            limits: &[],
            // The smallest segment that every IPv4 host takes (RFC 9293, 3.7.1).
            least: 536,
        }),
    },
    OptionSpec {
        name: "congestion",
        flag: Some("--congestion"),
        form: Form::Word(15),
        default: "the system's",
        help: "congestion control, by the kernel's name",
        answers: &[Answer { part: "", of: |e| e.congestion.clone() }],
        moved: None,
    },
    FAMILY,
    options::wait(ip::WAIT_NAMES, "block"),
];

impl Transport for Tcps {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "TCP over IPv4 or IPv6"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["tcp", "tcp/ip", "tcp ip", "tcpip", "tcp socket", "tcp sockets", "tcp connection", "tcp link"]
    }
    fn capabilities(&self, _: &Settings) -> Capabilities {
        capabilities()
    }
    fn availability(&self) -> Result<(), LinkError> {
        ip::availability(SocketType::STREAM)
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        ip::reaches_itself()
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        let (listener, at) = listen(ip::beside(at, settings)?, settings)?;
        Ok(Box::new(Listener { door: Door::new(listener, SocketType::STREAM, patience)?, at, made }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        Ok(Box::new(Dialler { to: ip::door(address, peer, settings)?, made }))
    }
}

fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, queued: true, waits: ip::WAITS.to_vec(), ..Capabilities::plain() }
}

struct Listener {
    door: Door,
    at: SocketAddr,
    made: Made,
}

impl Accept for Listener {
    fn address(&self) -> Address {
        ip::told(self.at)
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = link(self.door.accept(&proof.near)?, &self.made)?;
        link.send(&proof.far)?;
        Ok(AnyLink::Tcp(End::new(link.watched()?)))
    }
    fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        link(self.door.accept(&proof.near)?, &self.made)?.answer_once(proof, request, response)
    }
}

struct Dialler {
    to: SocketAddr,
    made: Made,
}

impl Dialler {
    fn link(&self) -> Result<Tcp, LinkError> {
        link(connect(self.to, &self.made.settings, &self.made.patience)?, &self.made)
    }
}

impl Connect for Dialler {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = self.link()?;
        shake(&mut link, proof)?;
        Ok(AnyLink::Tcp(End::new(link.watched()?)))
    }
    fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        self.link()?.ask_once(proof, request, response)
    }
}

/// Connections that may wait to be accepted.
pub(crate) const BACKLOG: i32 = 128;

/// One end of a TCP connection.
pub type Tcp = Stream<Socket>;

/// Takes over a connected socket.
fn link(fd: OwnedFd, made: &Made) -> Result<Tcp, LinkError> {
    let Made { settings, wait, patience } = made;
    sockopt::set_tcp_nodelay(&fd, settings.switch("nodelay").unwrap_or(true))
        .map_err(|e| LinkError::io("setting TCP_NODELAY", e))?;
    if *wait == Wait::BusyPoll {
        busy_poll(fd.as_fd())?;
    }
    Ok(Stream::new(Socket::new(fd, capabilities, *wait, None, effective)?, patience))
}

/// What took effect on a TCP connection.
fn effective(socket: &Socket) -> Effective {
    let fd = socket.fd();
    Effective {
        mss: SockRef::from(&fd).tcp_mss().ok(),
        congestion: sockopt::tcp_congestion(fd).ok(),
        nodelay: sockopt::tcp_nodelay(fd).ok(),
        ..sys::effective(fd, socket.wait(), ip::addresses(fd))
    }
}

/// A socket for `address` with everything that must be set before it connects or listens.
fn socket(address: &SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = ip::socket(address, SocketType::STREAM)?;
    if let Some(bytes) = settings.whole("sockbuf") {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    if let Some(mss) = settings.whole("mss") {
        SockRef::from(&fd)
            .set_tcp_mss(u32::try_from(mss).unwrap_or(u32::MAX))
            .map_err(|e| LinkError::io(format!("setting a largest segment of {mss} bytes"), e))?;
    }
    if let Some(name) = settings.text("congestion") {
        sockopt::set_tcp_congestion(&fd, name).map_err(|e| {
            let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let known = known.as_deref().map_or("unknown", str::trim);
            LinkError::io(format!("setting congestion control '{name}' (available here: {known})"), e)
        })?;
    }
    Ok(fd)
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
        let settings = Settings::default().with("congestion", "nosuch");
        let e = listen(loopback(), &settings).unwrap_err().to_string();
        assert!(e.contains("nosuch") && e.contains("available here") && e.contains("reno"), "{e}");
    }

    #[test]
    fn the_kernel_takes_segments_in_the_range_and_no_others() {
        let with = |mss: u64| listen(loopback(), &Settings::default().with("mss", mss));
        let Form::Bytes(least, most) = OPTIONS[2].form else { panic!("{:?}", OPTIONS[2]) };
        for good in [least, most] {
            with(good).unwrap();
        }
        for bad in [5, least - 1, most + 1, u64::MAX] {
            let e = with(bad).unwrap_err().to_string();
            assert!(e.contains(&bad.to_string()), "{e}");
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
        let settings = Settings::default()
            .with("sockbuf", 65_536u64)
            .with("mss", 1000u64)
            .with("congestion", "reno")
            .with("nodelay", false);
        let (door, address) = listen(loopback(), &settings).unwrap();
        let patience = Patience::default();
        let near = connect(address, &settings, &patience).unwrap();
        let far = rustix::net::accept(&door).unwrap();
        let made = Made { settings, wait: Wait::Spin, patience };
        for fd in [near, far] {
            let e = link(fd, &made).unwrap().effective();
            assert_eq!(e.send_buffer, Some(131_072));
            assert_eq!(e.receive_buffer, Some(131_072));
            assert!(e.mss.is_some_and(|m| m <= 1000), "{e:?}");
            assert_eq!(e.congestion.as_deref(), Some("reno"));
            assert_eq!((e.nodelay, e.wait), (Some(false), Some(Wait::Spin)));
            assert!(e.addresses.is_some_and(|a| a.contains(&address.to_string())));
        }
    }
}
