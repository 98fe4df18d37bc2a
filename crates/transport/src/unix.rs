//! UNIX stream sockets.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use crate::local::{self, Local};
use crate::meet::{Made, shake};
use crate::options::{self, SOCKBUF};
use crate::stream::{Socket, Stream};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Proof, Settings, sys};

/// What it is called.
pub const NAME: Name = Name::literal("unix");

/// The transport.
pub static TRANSPORT: UnixStreams = UnixStreams;

/// UNIX stream sockets between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct UnixStreams;

fn capabilities() -> Capabilities {
    Capabilities { connects: true, ..Capabilities::plain() }
}

impl Local for UnixStreams {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "a UNIX stream socket";
    const SPOKEN: &'static [&'static str] = &[
        "unix",
        "unix socket",
        "unix sockets",
        "unix domain socket",
        "unix domain sockets",
        "domain socket",
        "domain sockets",
        "uds",
        "unix stream",
        "unix stream socket",
        "unix stream sockets",
        "af_unix",
    ];
    const OPTIONS: &'static [OptionSpec] = &[SOCKBUF, options::wait(local::WAIT_NAMES, "block")];
    const ONCE: Option<fn(OwnedFd, &Made) -> Result<Unix, LinkError>> = Some(|fd, made| link(fd, None, made));

    fn can(_: &Settings) -> Capabilities {
        capabilities()
    }
    fn far(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = link(fd, Some(at), made)?;
        link.send(&proof.far)?;
        Ok(AnyLink::new(link.watched()?))
    }
    fn near(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = link(fd, Some(at), made)?;
        shake(&mut link, proof)?;
        Ok(AnyLink::new(link.watched()?))
    }
}

/// One end of a UNIX stream connection.
pub type Unix = Stream<Socket>;

/// Takes over a connected socket. `at` is where it met, where anybody will ask.
fn link(fd: OwnedFd, at: Option<&Path>, made: &Made) -> Result<Unix, LinkError> {
    if let Some(bytes) = made.settings.whole("sockbuf") {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    let at = at.map(|path| path.display().to_string());
    let report = |socket: &Socket| sys::effective(socket.fd(), socket.wait(), socket.at());
    Ok(Stream::new(Socket::new(fd, capabilities, made.wait, at, report)?, &made.patience))
}
