//! The UDP socket below a connection: several datagrams in a call, either way.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use crate::LinkError;

/// Calls' worth of datagrams that are taken at once, each up to what the kernel joins.
const TAKEN: usize = 8;
const PIECE: usize = 64 << 10;

/// Largest payload of a datagram.
const MOST: usize = crate::udp::MOST_V4;

/// A connected UDP socket.
pub struct Plug {
    fd: OwnedFd,
    state: UdpSocketState,
    peer: SocketAddr,
    taken: Box<[u8]>,
}

impl Plug {
    pub fn new(fd: OwnedFd, peer: SocketAddr) -> Result<Self, LinkError> {
        let state = UdpSocketState::new(UdpSockRef::from(&fd)).map_err(|e| LinkError::io("setting up a socket", e))?;
        Ok(Self { fd, state, peer, taken: vec![0; TAKEN * PIECE].into_boxed_slice() })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Datagrams of this size that one call may send.
    pub fn at_once(&self, bytes: u16) -> usize {
        // All of a call together are one datagram to the kernel until it cuts them.
        self.state.max_gso_segments().min(MOST / usize::from(bytes.max(1))).max(1)
    }

    /// Whether the kernel cuts sends into datagrams.
    pub fn cuts(&self) -> bool {
        self.state.max_gso_segments() > 1
    }

    /// Sends what one call may. What the path has no room for counts as lost, as if a router had dropped it.
    pub fn send(&self, transmit: &quinn_proto::Transmit, contents: &[u8]) -> io::Result<()> {
        let transmit = Transmit {
            destination: self.peer,
            ecn: transmit.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
            contents,
            segment_size: transmit.segment_size,
            src_ip: None,
        };
        self.state.try_send(UdpSockRef::from(&self.fd), &transmit)
    }

    /// Hands over every datagram that one call takes, without waiting; how many.
    pub fn receive(&mut self, mut each: impl FnMut(&[u8], Option<quinn_proto::EcnCodepoint>)) -> io::Result<usize> {
        let mut meta = [RecvMeta::default(); TAKEN];
        let mut pieces = self.taken.chunks_mut(PIECE).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; TAKEN] =
            std::array::from_fn(|_| pieces.next().unwrap_or(IoSliceMut::new(&mut [])));
        let calls = self.state.recv(UdpSockRef::from(&self.fd), &mut slices, &mut meta)?;
        let mut all = 0;
        for (piece, meta) in self.taken.chunks(PIECE).zip(&meta[..calls]) {
            let ecn = meta.ecn.and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
            for datagram in piece[..meta.len].chunks(meta.stride.max(1)) {
                each(datagram, ecn);
                all += 1;
            }
        }
        Ok(all)
    }
}
