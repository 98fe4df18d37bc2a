//! What a UNIX socket between processes of one user says of the process at its other end.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;

/// Whether a process of the same user is at the other end.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Whether the other process ends within this time, where it writes nothing: what there is to read is its end.
pub(crate) fn has_ended(held: &UnixStream, within: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(held.as_fd(), PollFlags::IN | PollFlags::HUP)];
    let within = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    poll(&mut fds, Some(&within)).is_ok_and(|n| n > 0)
}
