//! A program as a path: what is sent goes to the standard input of a command, or to a socket, and what its far end gives back is received. At
//! that end is an echo: `cat`, `pipegauge echo`, or anything that returns the bytes that it gets. So whatever lies between can be judged: ssh,
//! a VPN, a proxy, a message broker.
//!
//! | module | job |
//! |---|---|
//! | `child` | the command: started, heard, ended |
//! | `echoed` | the link: bytes there and back, without a deadlock however large messages are |

mod child;
mod echoed;

use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

pub use echoed::Echoed;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::options::Form;
use crate::port::{Ends, Transport};
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Patience, Settings};
use child::Child;

/// How often a UNIX socket is tried whose queue is full.
const FULL: Duration = Duration::from_millis(20);

/// What it is called.
pub const NAME: Name = Name::literal("exec");

/// The transport.
pub static TRANSPORT: Exec = Exec;

/// The option that is a command.
pub const COMMAND: &str = "command";
const CONNECT: &str = "connect";
const BOTH: &str = "run a command and connect to a socket: name one of both";
const NEITHER: &str = "run nothing: say what, as in exec:cat or exec:connect=127.0.0.1:7000";

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: COMMAND,
        flag: None,
        form: Form::Text("a command for sh", |text| !text.trim().is_empty()),
        default: "none",
        help: "what is run, by sh -c; all that follows `exec:` is this where it begins with no option",
        answers: &[],
        steers: true,
        moved: None,
    },
    OptionSpec {
        name: CONNECT,
        flag: None,
        form: Form::Text("HOST:PORT, or the path of a UNIX socket", |text| text.contains('/') || text.contains(':')),
        default: "none",
        help: "connect to this socket instead of running a command",
        answers: &[],
        steers: true,
        moved: None,
    },
];

/// A command or a socket with an echo at its end.
#[derive(Debug)]
pub struct Exec;

impl Transport for Exec {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "a command or a socket at whose end is an echo (exec:ssh host cat)"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["exec", "command", "program"]
    }
    fn capabilities(&self, _: &Settings) -> Capabilities {
        Capabilities { two_ended: false, waits: Vec::new(), ..Capabilities::plain() }
    }
    fn ends(&self) -> Ends {
        Ends::Echoed
    }
    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }
    fn takes_the_rest(&self) -> Option<&'static str> {
        Some(COMMAND)
    }
    fn fits(&self, settings: &Settings) -> Result<(), LinkError> {
        match (settings.text(COMMAND), settings.text(CONNECT)) {
            (Some(_), Some(_)) => Err(LinkError::Unsupported(BOTH)),
            (None, None) => Err(LinkError::Unsupported(NEITHER)),
            _ => Ok(()),
        }
    }

    fn solo(&self, settings: &Settings, patience: &Patience) -> Result<AnyLink, LinkError> {
        let link = match (settings.text(COMMAND), settings.text(CONNECT)) {
            (Some(command), None) => {
                let (child, to, from) = Child::start(command)?;
                Echoed::greeted(to, from, Some(child), patience)?
            }
            (None, Some(place)) => {
                let (to, from) = connected(place, patience)?;
                Echoed::greeted(to, from, None, patience)?
            }
            (Some(_), Some(_)) => return Err(LinkError::Unsupported(BOTH)),
            (None, None) => return Err(LinkError::Unsupported(NEITHER)),
        };
        Ok(AnyLink::new(link))
    }
}

/// Both directions of a connection to a UNIX socket (a path) or a TCP port.
fn connected(place: &str, patience: &Patience) -> Result<(OwnedFd, OwnedFd), LinkError> {
    let failed = |e| LinkError::io(format!("connecting to {place}"), e);
    let to: OwnedFd = if place.contains('/') {
        unix(place, patience)?
    } else {
        let all: Vec<_> = place.to_socket_addrs().map_err(failed)?.collect();
        let mut last = std::io::Error::other("the name has no address");
        let found = all.iter().find_map(|at| TcpStream::connect_timeout(at, patience.limit).map_err(|e| last = e).ok());
        let stream = found.ok_or(last).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.into()
    };
    let from = to.try_clone().map_err(failed)?;
    Ok((to, from))
}

/// A connection to a UNIX socket. The system would wait without end for one whose queue is full.
fn unix(place: &str, patience: &Patience) -> Result<OwnedFd, LinkError> {
    let doing = || format!("connecting to {place}");
    let to = SocketAddrUnix::new(place).map_err(|e| LinkError::io(doing(), e))?;
    let kind = SocketType::STREAM;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
        .map_err(|e| LinkError::io(doing(), e))?;
    let start = Instant::now();
    loop {
        match rustix::net::connect(&fd, &to) {
            Ok(()) => break,
            Err(Errno::AGAIN | Errno::INTR) => {
                patience.check(start, "waiting for a place in the queue of a UNIX socket that accepts nobody")?;
                std::thread::sleep(FULL);
            }
            Err(e) => return Err(LinkError::io(doing(), e)),
        }
    }
    rustix::io::ioctl_fionbio(&fd, false).map_err(|e| LinkError::io(doing(), e))?;
    Ok(fd)
}
