//! Datagrams in and out. `quinn-udp` has the system calls: recvmmsg, and GSO and GRO where the kernel has them, probed as a socket is made. It has no sendmmsg: each destination takes
//! a `sendmsg` of its own, of all datagrams that wait for it (`lanes`).

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Socket as Raw, Type};

/// What GRO may join into one receive.
const BUFFER: usize = 64 << 10;
/// Receives in one call: few, since GRO joins what one sender sent together.
const BATCH: usize = 8;
/// Asked of the kernel, which grants at most `net.core.rmem_max` and `wmem_max`.
const KERNEL: usize = 4 << 20;

pub(super) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    buffers: [Box<[u8]>; BATCH],
}

impl Socket {
    /// A socket at this address.
    pub(super) fn bind(at: SocketAddr) -> io::Result<Self> {
        Self::over(UdpSocket::bind(at)?)
    }

    /// A socket that receives what is sent to this multicast group through this interface.
    pub(super) fn join(group: SocketAddrV4, interface: Ipv4Addr) -> io::Result<Self> {
        let raw = Raw::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        raw.set_reuse_address(true)?;
        raw.bind(&SocketAddr::V4(group).into())?;
        raw.join_multicast_v4(group.ip(), &interface)?;
        Self::over(raw.into())
    }

    fn over(io: UdpSocket) -> io::Result<Self> {
        io.set_nonblocking(true)?;
        let state = UdpSocketState::new((&io).into())?;
        // Smaller buffers lose more under bursts, which NAK repairs: no reason to fail.
        let _ = state.set_recv_buffer_size((&io).into(), KERNEL);
        let _ = state.set_send_buffer_size((&io).into(), KERNEL);
        let buffers = std::array::from_fn(|_| vec![0; BUFFER].into_boxed_slice());
        Ok(Self { io, state, buffers })
    }

    /// Multicasts leave by the interface with this address, and come back to other members on this host.
    pub(super) fn multicast_from(&self, interface: Ipv4Addr) -> io::Result<()> {
        let raw = socket2::SockRef::from(&self.io);
        raw.set_multicast_if_v4(&interface)?;
        raw.set_multicast_loop_v4(true)
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Datagrams that one call may send.
    pub(super) fn segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Sends datagrams of `size` bytes each (the last may be shorter) in one call. A full buffer, or no way there, loses them, as a queue on
    /// the way would: NAK repairs what can be repaired, and silence tells of the rest.
    pub(super) fn send(&self, to: SocketAddr, contents: &[u8], size: usize) {
        let segment_size = (contents.len() > size).then_some(size);
        let transmit = Transmit { destination: to, ecn: None, contents, segment_size, src_ip: None };
        let _ = self.state.try_send((&self.io).into(), &transmit);
    }

    /// Takes what is there, up to one batch, and whether there may be more. Each receive is copied once, and its datagrams share that copy.
    pub(super) fn receive(&mut self, mut take: impl FnMut(SocketAddr, Bytes)) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH];
        let mut slices = self.buffers.each_mut().map(|b| IoSliceMut::new(b));
        let n = match self.state.recv((&self.io).into(), &mut slices, &mut metas) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // A destination was not there; says nothing about what we receive.
            Err(e) if matches!(e.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted) => {
                return Ok(true);
            }
            Err(e) => return Err(e),
        };
        for (meta, buffer) in metas.iter().zip(&self.buffers).take(n) {
            let mut rest = Bytes::copy_from_slice(&buffer[..meta.len]);
            while !rest.is_empty() {
                take(meta.addr, rest.split_to(meta.stride.clamp(1, rest.len())));
            }
        }
        Ok(n == BATCH)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}
