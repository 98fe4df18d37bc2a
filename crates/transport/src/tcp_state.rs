//! What the kernel knows of a TCP connection at a moment (`TCP_INFO`).

use std::os::fd::{AsRawFd, BorrowedFd};

/// The state of a TCP connection. Fields that a kernel does not tell are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Segments that were sent again since the connection was made.
    pub retransmits: u64,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u64,
    /// Congestion window, segments.
    pub window: u64,
    /// Rate at which data was delivered most recently, bytes a second.
    pub delivery_rate: u64,
}

/// The state of the connection of a socket; none of any other socket.
pub(crate) fn read(fd: BorrowedFd<'_>) -> Option<TcpState> {
    let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: both pointers lead to memory of the length that `len` says, the kernel writes no more than that, and all zeros, where it
    // writes less, are a valid value.
    let (code, info) = unsafe {
        let at = info.as_mut_ptr().cast();
        (libc::getsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut len), info.assume_init())
    };
    (code == 0).then(|| TcpState {
        retransmits: info.tcpi_total_retrans.into(),
        rtt_us: info.tcpi_rtt.into(),
        window: info.tcpi_snd_cwnd.into(),
        delivery_rate: info.tcpi_delivery_rate,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_tcp_connection_has_a_state_and_no_other_socket_has() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = listener.accept().unwrap().0;
        near.write_all(&[7; 4]).unwrap();
        far.read_exact(&mut [0; 4]).unwrap();
        let state = read(near.as_fd()).unwrap();
        assert!(state.window > 0 && state.rtt_us > 0, "{state:?}");
        let (local, _) = UnixStream::pair().unwrap();
        assert_eq!(read(local.as_fd()), None);
    }
}
