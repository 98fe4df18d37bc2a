//! UNIX datagram sockets: messages, reliable and in order, without a connection.
//!
//! The far side makes a pair of sockets that are connected to each other and hands one to the near side over a UNIX stream socket.
//! `net.unix.max_dgram_qlen` bounds the queue of a receiver that is not connected to its sender; of such a pair the sender's buffer
//! bounds what is under way. A datagram socket does not tell that its peer is gone, so the stream stays open and tells it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::net::SocketType;

use crate::local::Local;
use crate::meet::{self, Made};
use crate::packet::{self, Packets};
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Proof, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("unixgram");

/// The transport.
pub static TRANSPORT: UnixDatagrams = UnixDatagrams;

/// UNIX datagram sockets between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct UnixDatagrams;

impl Local for UnixDatagrams {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "UNIX datagram sockets: reliable and in order, message boundaries kept";
    const SPOKEN: &'static [&'static str] = &[
        "unixgram",
        "unix datagram",
        "unix datagrams",
        "unix datagram socket",
        "unix datagram sockets",
        "unix dgram",
        "unix dgram socket",
        "unix dgram sockets",
    ];
    const OPTIONS: &'static [OptionSpec] = packet::OPTIONS;

    fn can(settings: &Settings) -> Capabilities {
        packet::can(SocketType::DGRAM, settings)
    }
    fn needs() -> Result<(), LinkError> {
        packet::needs(SocketType::DGRAM)
    }
    fn far(life: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let (mine, theirs) = packet::connected(SocketType::DGRAM)?;
        meet::hand_over(life.as_fd(), &proof.far, &[theirs.as_fd()])?;
        Ok(AnyLink::new(Packets::new(mine, Some(life), at, made)?))
    }
    fn near(life: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        meet::hand_over(life.as_fd(), &proof.near, &[])?;
        let [mine] = meet::take_over(life.as_fd(), &proof.far, &made.patience)?;
        Ok(AnyLink::new(Packets::new(mine, Some(life), at, made)?))
    }
}

/// One end of a pair of connected UNIX datagram sockets.
pub type Unixgram = Packets;
