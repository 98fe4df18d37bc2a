//! UNIX stream sockets.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use crate::kinds::Kind;
use crate::stream::{Socket, Stream};
use crate::{LinkError, Patience, Settings, Wait, sys};

/// One end of a UNIX stream connection.
pub type Unix = Stream<Socket>;

/// Takes over a connected socket. `at` is where it met, where anybody will ask.
pub(crate) fn link(
    fd: OwnedFd,
    wait: Wait,
    at: Option<&Path>,
    settings: &Settings,
    patience: &Patience,
) -> Result<Unix, LinkError> {
    if let Some(bytes) = settings.sockbuf {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    let at = at.map(|path| path.display().to_string());
    let report = |socket: &Socket| sys::effective(socket.fd(), socket.wait(), socket.at());
    Ok(Stream::new(Socket::new(fd, Kind::Unix, wait, at, report)?, patience))
}
