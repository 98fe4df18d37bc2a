//! The kinds of transport: what each is called, what it can do, and whether it can be used here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use rustix::net::SocketType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meet::Place;
use crate::{Capabilities, LinkError, Semantics, Settings, Wait, seqpacket, shm, tcp, theory, udp};

/// A built-in transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Memory to memory in one process: the ceiling.
    Memcpy,
    /// Two pipes between two processes.
    Pipe,
    /// A lock-free ring in shared memory between two processes.
    Shm,
    /// A UNIX stream socket.
    Unix,
    /// A UNIX sequenced-packet socket.
    Seqpacket,
    /// TCP over IPv4 or IPv6.
    Tcp,
    /// UDP datagrams; loss and reordering are counted.
    Udp,
    /// A modelled link with a virtual clock.
    Theory,
    /// No path: one process that does all of a program's work by itself, for comparison. Nobody can ask for its name.
    Alone,
}

/// Where the far side waits for data connections; travels over the control connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// An IP address and port.
    Socket(SocketAddr),
    /// A socket in the file system, in a directory only its owner may enter.
    Path(PathBuf),
}

impl Kind {
    /// Every kind that is a path, in the order in which they are listed.
    pub const ALL: [Kind; 8] =
        [Kind::Memcpy, Kind::Pipe, Kind::Shm, Kind::Unix, Kind::Seqpacket, Kind::Tcp, Kind::Udp, Kind::Theory];

    /// The name a person types.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Memcpy => "memcpy",
            Kind::Pipe => "pipe",
            Kind::Shm => "shm",
            Kind::Unix => "unix",
            Kind::Seqpacket => "seqpacket",
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
            Kind::Theory => "theory",
            Kind::Alone => "alone",
        }
    }

    /// One line for `pipegauge list`.
    pub fn summary(self) -> &'static str {
        match self {
            Kind::Memcpy => "copy within one process: the ceiling of every path that copies",
            Kind::Pipe => "two pipes between two processes",
            Kind::Shm => "a lock-free ring in shared memory between two processes",
            Kind::Unix => "a UNIX stream socket",
            Kind::Seqpacket => "a UNIX sequenced-packet socket: message boundaries kept",
            Kind::Tcp => "TCP over IPv4 or IPv6",
            Kind::Udp => "UDP: loss and reordering are counted",
            Kind::Theory => "a modelled link with a virtual clock: exact, for tests and what-ifs",
            Kind::Alone => "no path: one process by itself",
        }
    }

    /// What links of this kind can do with default settings. A link's own [`Capabilities`] may be narrower in what its
    /// settings limit (`--sockbuf` for seqpacket) or wider (UDP over IPv6 carries 20 bytes more).
    pub fn capabilities(self) -> Capabilities {
        let stream = Capabilities::plain();
        match self {
            Kind::Memcpy | Kind::Alone => Capabilities {
                semantics: Semantics::Message,
                two_ended: false,
                poll: false,
                waits: Vec::new(),
                ..stream
            },
            Kind::Pipe => stream,
            Kind::Shm => shm::capabilities(),
            Kind::Unix => Capabilities { connects: true, ..stream },
            Kind::Seqpacket => {
                Capabilities { semantics: Semantics::Message, max_block: Some(seqpacket::limit() as u64), ..stream }
            }
            Kind::Tcp => Capabilities {
                connects: true,
                local_only: false,
                waits: vec![Wait::Block, Wait::Spin, Wait::BusyPoll],
                ..stream
            },
            Kind::Udp => Capabilities {
                semantics: Semantics::Message,
                ordered: false,
                reliable: false,
                max_block: Some(udp::MOST_V4 as u64),
                local_only: false,
                waits: vec![Wait::Block, Wait::Spin, Wait::BusyPoll],
                ..stream
            },
            Kind::Theory => theory::capabilities(&theory::Theory::default()),
        }
    }

    /// Whether this kind can be used here, by trying what it needs; the error says why not, in words.
    pub fn availability(self) -> Result<(), String> {
        let tried = match self {
            Kind::Memcpy | Kind::Theory | Kind::Alone => Ok(()),
            Kind::Pipe => place(SocketType::STREAM).and_then(|()| crate::pipe::pair(&Settings::default()).map(drop)),
            Kind::Shm => {
                shm::availability()?;
                place(SocketType::STREAM)
            }
            Kind::Unix => place(SocketType::STREAM),
            Kind::Seqpacket => place(SocketType::SEQPACKET).and_then(|()| match seqpacket::limit() {
                0 => Err(LinkError::Unsupported("carry a message of any size here")),
                _ => Ok(()),
            }),
            Kind::Tcp => loopback(SocketType::STREAM),
            Kind::Udp => loopback(SocketType::DGRAM),
        };
        tried.map_err(|e| e.to_string())
    }

    /// Whether two processes of this host can meet over this kind, besides [`Kind::availability`]: IP needs a loopback interface
    /// that is up. Nothing is sent.
    pub fn reaches_itself(self) -> Result<(), String> {
        if !matches!(self, Kind::Tcp | Kind::Udp) {
            return Ok(());
        }
        let try_at = |ip: IpAddr| {
            let at = SocketAddr::new(ip, 9);
            let fd = tcp::ip_socket(&at, SocketType::DGRAM)?;
            rustix::net::connect(&fd, &at)
                .map_err(|e| LinkError::io(format!("this host can't reach itself at {ip}"), e))
        };
        try_at(Ipv4Addr::LOCALHOST.into())
            .or_else(|v4| try_at(Ipv6Addr::LOCALHOST.into()).map_err(|_| v4))
            .map_err(|e| format!("{e}; bring the loopback interface up ('ip link set lo up')"))
    }

    /// The wait mode that `settings` mean for this kind. A kind that never waits for a peer takes any.
    pub(crate) fn wait(self, settings: &Settings) -> Result<Wait, LinkError> {
        let known = self.capabilities().waits;
        let default = known.first().copied().unwrap_or(Wait::Block);
        match settings.wait {
            Some(asked) if !known.is_empty() && !known.contains(&asked) => Err(LinkError::Unsupported(match asked {
                Wait::BusyPoll => "poll a device (--wait busy-poll is for tcp and udp; use block or spin)",
                Wait::Spin => "spin (use --wait block)",
                Wait::Block => "block (use --wait spin)",
            })),
            Some(asked) => Ok(asked),
            None => Ok(default),
        }
    }
}

fn place(of: SocketType) -> Result<(), LinkError> {
    Place::new(of).map(drop)
}

/// Whether an IP socket can be had on either loopback address.
fn loopback(of: SocketType) -> Result<(), LinkError> {
    let try_at = |ip: IpAddr| {
        let at = SocketAddr::new(ip, 0);
        let fd = tcp::ip_socket(&at, of)?;
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))
    };
    try_at(Ipv4Addr::LOCALHOST.into()).or_else(|v4| try_at(Ipv6Addr::LOCALHOST.into()).map_err(|_| v4))
}

/// No transport has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no transport is named '{0}'; there are: memcpy, pipe, shm, unix, seqpacket, tcp, udp, theory (pipegauge list says more)"
)]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;
    fn from_str(s: &str) -> Result<Self, UnknownKind> {
        Kind::ALL.into_iter().find(|k| k.name() == s).ok_or_else(|| UnknownKind(s.to_owned()))
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_an_unknown_one_lists_all() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let e = "TCP".parse::<Kind>().unwrap_err().to_string();
        for kind in Kind::ALL {
            assert!(e.contains(kind.name()), "{e}");
        }
    }

    #[test]
    fn the_first_wait_mode_is_the_default_and_an_unknown_one_is_refused() {
        let with = |wait| Settings { wait, ..Settings::default() };
        assert_eq!(Kind::Tcp.wait(&with(None)).unwrap(), Wait::Block);
        assert_eq!(Kind::Tcp.wait(&with(Some(Wait::BusyPoll))).unwrap(), Wait::BusyPoll);
        assert!(matches!(Kind::Unix.wait(&with(Some(Wait::BusyPoll))), Err(LinkError::Unsupported(_))));
        assert!(Kind::Memcpy.wait(&with(Some(Wait::BusyPoll))).is_ok());
    }
}
