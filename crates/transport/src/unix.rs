//! UNIX stream sockets.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt;

use crate::kinds::Kind;
use crate::settings::Effective;
use crate::stream::{Blocks, Socket};
use crate::sys;
use crate::{Capabilities, Link, LinkError, Patience, Settings, Wait};

/// One end of a UNIX stream connection.
#[derive(Debug)]
pub struct Unix {
    blocks: Blocks<Socket>,
    wait: Wait,
    at: String,
}

impl Unix {
    /// Takes over a socket connected at `at`.
    pub(crate) fn new(
        fd: OwnedFd,
        wait: Wait,
        at: &Path,
        settings: &Settings,
        patience: &Patience,
    ) -> Result<Self, LinkError> {
        if let Some(bytes) = settings.sockbuf {
            sys::ask_buffers(fd.as_fd(), bytes)?;
        }
        let duct = Socket::new(fd, wait == Wait::Spin)?;
        Ok(Self { blocks: Blocks { duct, patience: patience.clone() }, wait, at: at.display().to_string() })
    }

    pub(crate) fn blocks(&mut self) -> &mut Blocks<Socket> {
        &mut self.blocks
    }

    /// What took effect on this connection.
    pub fn effective(&self) -> Effective {
        socket_effective(self.blocks.duct.fd(), self.wait, &self.at)
    }
}

/// What a UNIX socket can say about itself.
pub(crate) fn socket_effective(fd: BorrowedFd<'_>, wait: Wait, at: &str) -> Effective {
    Effective {
        send_buffer: sockopt::socket_send_buffer_size(fd).ok().map(|n| n as u64),
        receive_buffer: sockopt::socket_recv_buffer_size(fd).ok().map(|n| n as u64),
        wait: Some(wait),
        addresses: Some(at.to_owned()),
        ..Effective::default()
    }
}

impl Link for Unix {
    fn capabilities(&self) -> Capabilities {
        Kind::Unix.capabilities()
    }
    #[inline]
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        self.blocks.send(block)
    }
    #[inline]
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        self.blocks.recv(block)
    }
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.blocks.exchange(out, into)
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.blocks.ready(wait)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.blocks.close()
    }
}
