//! Which network namespace this process is in.

use std::os::fd::AsRawFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// A number of this process's network namespace that no other has until the system begins anew: the number of its file is given to another one
/// once it is gone. None where the kernel (before 5.14) does not tell it.
pub fn network_cookie() -> Option<u64> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    let mut cookie = 0_u64;
    let mut len = size_of::<u64>() as libc::socklen_t;
    // SAFETY: both pointers lead to memory of the types that the call fills, `len` says how much there is, and the socket is open.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut len,
        )
    };
    (done == 0 && len as usize == size_of::<u64>()).then_some(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_has_one_number_however_often_it_is_asked_for() {
        let Some(cookie) = network_cookie() else {
            println!("skipped: this kernel has no SO_NETNS_COOKIE");
            return;
        };
        assert_ne!(cookie, 0);
        assert_eq!(std::thread::spawn(network_cookie).join().unwrap(), Some(cookie));
    }
}
