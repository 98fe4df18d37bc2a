//! Links for the tests of the decorators.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::{Capabilities, Link, LinkError, Semantics, Wait};

/// What the test links can do.
fn capabilities(semantics: Semantics) -> Capabilities {
    let poll = semantics == Semantics::Message;
    Capabilities { semantics, poll, waits: vec![Wait::Block], ..Capabilities::plain() }
}

/// Remembers what was sent and receives what was laid in.
#[derive(Debug, Default)]
pub struct Notebook {
    /// Messages sent.
    pub sent: Vec<Vec<u8>>,
    /// Messages to be received.
    pub inbox: VecDeque<Vec<u8>>,
    /// Whether the link was closed.
    pub closed: bool,
}

impl Link for Notebook {
    fn capabilities(&self) -> Capabilities {
        capabilities(Semantics::Message)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        if self.closed {
            return Err(LinkError::Closed { doing: "sending" });
        }
        self.sent.push(message.to_vec());
        Ok(())
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let next = self.inbox.pop_front().ok_or(LinkError::Closed { doing: "receiving" })?;
        message.copy_from_slice(&next);
        Ok(())
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(!self.inbox.is_empty())
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.closed = true;
        Ok(())
    }
}

/// A real stream between two ends, without polling.
#[derive(Debug)]
pub struct Plain(UnixStream);

impl Plain {
    /// Two connected ends.
    pub fn pair() -> (Self, Self) {
        let (a, b) = UnixStream::pair().unwrap();
        (Self(a), Self(b))
    }
}

impl Link for Plain {
    fn capabilities(&self) -> Capabilities {
        capabilities(Semantics::Stream)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.0.write_all(message).map_err(|_| LinkError::Closed { doing: "sending" })
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.0.read_exact(message).map_err(|_| LinkError::Closed { doing: "receiving" })
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Err(LinkError::Unsupported("wait with a deadline"))
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.0.shutdown(std::net::Shutdown::Both).map_err(|e| LinkError::io("closing", e))
    }
}
