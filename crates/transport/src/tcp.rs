//! TCP over IPv4 or IPv6.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::sockopt;
use socket2::SockRef;

use crate::ip::{self, busy_poll};
use crate::ip_stream::{OverIp, Plain, Streams};
use crate::meet::Made;
use crate::options::{self, Answer, FAMILY, Form, Knob, Moved, SOCKBUF};
use crate::preload::{self, PRELOAD};
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::sys;
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("tcp");

/// The transport.
pub static TRANSPORT: Streams<Tcps> = Streams::new();

/// TCP between two processes of one host or two.
#[derive(Debug)]
pub struct Tcps;

/// Whether a small segment waits for the answer to the one before.
pub(crate) const NODELAY: OptionSpec = OptionSpec {
    name: "nodelay",
    flag: Some("--nodelay, --no-nodelay"),
    form: Form::Switch,
    default: "on",
    help: "send small segments at once",
    answers: &[Answer { part: "", of: |e| e.nodelay.map(|on| on.to_string()) }],
    steers: false,
    moved: None,
};

/// Congestion control.
pub(crate) const CONGESTION: OptionSpec = OptionSpec {
    name: "congestion",
    flag: Some("--congestion"),
    form: Form::Word(15),
    default: "the system's",
    help: "congestion control, by the kernel's name",
    answers: &[Answer { part: "", of: |e| e.congestion.clone() }],
    steers: false,
    moved: None,
};

/// What can be set on streams of TCP.
pub(crate) const OPTIONS: [OptionSpec; 6] = [
    SOCKBUF,
    NODELAY,
    OptionSpec {
        name: "mss",
        flag: Some("--mss"),
        // What the kernel lets a socket ask for: `TCP_MIN_MSS` to `MAX_TCP_WINDOW`.
        form: Form::Bytes(88, 32_767),
        default: "what the path gives",
        help: "largest segment",
        answers: &[Answer { part: "", of: |e| e.mss.map(|bytes| bytes.to_string()) }],
        steers: false,
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
    CONGESTION,
    FAMILY,
    options::wait(ip::WAIT_NAMES, "block"),
];

/// What can be set on plain ones, whose calls are the C library's.
const ALL: [OptionSpec; 7] = {
    let [sockbuf, nodelay, mss, congestion, family, wait] = OPTIONS;
    [sockbuf, nodelay, mss, congestion, family, wait, PRELOAD]
};

impl OverIp for Tcps {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "TCP over IPv4 or IPv6";
    const SPOKEN: &'static [&'static str] =
        &["tcp", "tcp/ip", "tcp ip", "tcpip", "tcp socket", "tcp sockets", "tcp connection", "tcp link"];
    const OPTIONS: &'static [OptionSpec] = &ALL;
    const WAITS: &'static [Wait] = &ip::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn here(settings: &Settings) -> Result<(), LinkError> {
        preload::mapped(settings).map(drop)
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        if let Some(mss) = settings.whole("mss") {
            SockRef::from(&fd)
                .set_tcp_mss(u32::try_from(mss).unwrap_or(u32::MAX))
                .map_err(|e| LinkError::io(format!("setting a largest segment of {mss} bytes"), e))?;
        }
        choose_congestion(fd, settings)
    }
}

impl Plain for Tcps {
    fn link(fd: OwnedFd, made: &Made) -> Result<Tcp, LinkError> {
        let loaded = preload::mapped(&made.settings)?;
        Ok(Stream::new(socket(fd, made)?.below(loaded), &made.patience))
    }
    fn met(link: Tcp, _: &Made) -> Result<AnyLink, LinkError> {
        Ok(AnyLink::new(link.watched()?))
    }
}

fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, queued: true, waits: ip::WAITS.to_vec(), ..Capabilities::plain() }
}

/// One end of a TCP connection.
pub type Tcp = Stream<Socket>;

/// Sends small segments at once unless the option says otherwise.
pub(crate) fn set_nodelay(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
    sockopt::set_tcp_nodelay(fd, settings.switch("nodelay").unwrap_or(true))
        .map_err(|e| LinkError::io("setting TCP_NODELAY", e))
}

/// Sets the congestion control that the option names.
pub(crate) fn choose_congestion(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
    let Some(name) = settings.text("congestion") else { return Ok(()) };
    sockopt::set_tcp_congestion(fd, name).map_err(|e| {
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let known = known.as_deref().map_or("unknown", str::trim);
        LinkError::io(format!("setting congestion control '{name}' (available here: {known})"), e)
    })
}

/// Takes over a connected socket.
pub(crate) fn socket(fd: OwnedFd, made: &Made) -> Result<Socket, LinkError> {
    set_nodelay(fd.as_fd(), &made.settings)?;
    if made.wait == Wait::BusyPoll {
        busy_poll(fd.as_fd())?;
    }
    Socket::new(fd, capabilities, made.wait, None, effective)
}

/// What took effect on a TCP connection.
pub(crate) fn effective(socket: &Socket) -> Effective {
    let mut told = took_effect(socket.fd(), socket.wait());
    told.options.extend(socket.loaded().map(|file| (preload::OPTION.to_owned(), file)));
    told
}

/// The same of a connection that is used otherwise.
pub(crate) fn took_effect(fd: BorrowedFd<'_>, wait: Wait) -> Effective {
    Effective {
        mss: SockRef::from(&fd).tcp_mss().ok(),
        congestion: sockopt::tcp_congestion(fd).ok(),
        nodelay: sockopt::tcp_nodelay(fd).ok(),
        ..sys::effective(fd, wait, ip::addresses(fd))
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::{Link, Patience, ip_stream};

    fn listen(at: SocketAddr, settings: &Settings) -> Result<(OwnedFd, SocketAddr), LinkError> {
        ip_stream::listen::<Tcps>(at, settings)
    }

    fn connect(to: SocketAddr, settings: &Settings, patience: &Patience) -> Result<OwnedFd, LinkError> {
        ip_stream::connect::<Tcps>(to, settings, patience)
    }

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
            let e = Tcps::link(fd, &made).unwrap().effective();
            assert_eq!(e.send_buffer, Some(131_072));
            assert_eq!(e.receive_buffer, Some(131_072));
            assert!(e.mss.is_some_and(|m| m <= 1000), "{e:?}");
            assert_eq!(e.congestion.as_deref(), Some("reno"));
            assert_eq!((e.nodelay, e.wait), (Some(false), Some(Wait::Spin)));
            assert!(e.addresses.is_some_and(|a| a.contains(&address.to_string())));
        }
    }
}
