//! UNIX sequenced-packet sockets: a connection that keeps message boundaries.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::net::SocketType;

use crate::local::Local;
use crate::meet::{Made, shake};
use crate::packet::{self, Packets};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Proof, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("seqpacket");

/// The transport.
pub static TRANSPORT: Seqpackets = Seqpackets;

/// UNIX sequenced-packet sockets between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct Seqpackets;

impl Local for Seqpackets {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "a UNIX sequenced-packet socket: message boundaries kept";
    const SPOKEN: &'static [&'static str] = &[
        "seqpacket",
        "sequenced packet",
        "sequenced packets",
        "seq packet",
        "unix seqpacket",
        "seqpacket socket",
        "seqpacket sockets",
        "sequenced packet sockets",
        "sequenced packet socket",
    ];
    const OPTIONS: &'static [OptionSpec] = packet::OPTIONS;
    const TYPE: SocketType = SocketType::SEQPACKET;

    fn can(settings: &Settings) -> Capabilities {
        packet::can(SocketType::SEQPACKET, settings)
    }
    fn needs() -> Result<(), LinkError> {
        packet::needs(SocketType::SEQPACKET)
    }
    fn far(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = Seqpacket::new(fd, None, at, made)?;
        link.send(&proof.far)?;
        Ok(AnyLink::new(link))
    }
    fn near(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = Seqpacket::new(fd, None, at, made)?;
        shake(&mut link, proof)?;
        Ok(AnyLink::new(link))
    }
}

/// One end of a UNIX sequenced-packet connection.
pub type Seqpacket = Packets;
