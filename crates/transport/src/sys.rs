//! What the links share of the system: waiting with patience, the meaning of errors, random names.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendFlags, Shutdown};

use crate::patience::LOOK;
use crate::settings::Effective;
use crate::{LinkError, Patience, Settings, Wait};

pub(crate) const SENDING: &str = "sending";
pub(crate) const RECEIVING: &str = "receiving";

/// Connections that may wait to be accepted.
pub(crate) const BACKLOG: i32 = 128;

/// Keeps count of a wait without progress. It reads the clock only once nothing has moved for a while.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    polls: u32,
    since: Option<Instant>,
}

/// Empty polls between two looks at the patience: about a millisecond of system calls.
const POLLS: u32 = 1024;

impl Idle {
    /// Something moved: the wait starts anew.
    #[inline]
    pub fn moved(&mut self) {
        self.polls = 0;
        self.since = None;
    }

    /// A call that waits came back empty after `waited`.
    #[cold]
    pub fn waited(&mut self, patience: &Patience, doing: &'static str, waited: Duration) -> Result<(), LinkError> {
        let since = *self.since.get_or_insert_with(|| {
            let now = Instant::now();
            now.checked_sub(waited).unwrap_or(now)
        });
        patience.check(since, doing)
    }

    /// Whether the last empty poll was one that looked at the patience: time to look at whatever else is not worth a look each time.
    #[inline]
    pub fn looked(&self) -> bool {
        self.polls == 0
    }

    /// A call that doesn't wait came back empty.
    #[inline]
    pub fn spun(&mut self, patience: &Patience, doing: &'static str) -> Result<(), LinkError> {
        self.polls += 1;
        if self.polls < POLLS {
            return Ok(());
        }
        self.polls = 0;
        self.waited(patience, doing, Duration::ZERO)
    }
}

/// The wait mode that `settings` mean for a transport that knows these, its default first.
pub(crate) fn wait(known: &[Wait], settings: &Settings) -> Result<Wait, LinkError> {
    match settings.wait() {
        Some(asked) if !known.contains(&asked) => Err(LinkError::Unsupported(match asked {
            Wait::BusyPoll => "poll a device (--wait busy-poll is for sockets over IP; use block or spin)",
            Wait::Spin => "spin (use --wait block)",
            Wait::Sleep => "sleep without a look first (--wait sleep is for am; use block or spin)",
            Wait::Block => "block (use --wait spin)",
        })),
        Some(asked) => Ok(asked),
        None => Ok(known.first().copied().unwrap_or(Wait::Block)),
    }
}

/// What an error of the system means to a link. Would-block and interrupted calls are the caller's to handle.
#[cold]
pub(crate) fn fault(e: Errno, doing: &'static str) -> LinkError {
    match e {
        // The last is what SCTP says to a send that waits while its association ends.
        Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED | Errno::NOTCONN | Errno::CONNABORTED | Errno::SRCH => {
            LinkError::Closed { doing }
        }
        e => LinkError::io(doing, e),
    }
}

/// Why the last call of the C library in this thread failed.
#[cold]
pub(crate) fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// After a call that failed otherwise than by would-block: whether to call again, which is so where a signal came between
/// that asks for nothing.
#[cold]
pub(crate) fn again(e: Errno, patience: &Patience, doing: &'static str) -> Result<(), LinkError> {
    match e {
        Errno::INTR if patience.stopped() => Err(LinkError::Interrupted),
        Errno::INTR => Ok(()),
        e => Err(fault(e, doing)),
    }
}

/// Flags for a socket's calls, `reading` among them, so that none of them waits where `wait` is to spin; otherwise bounds
/// those that wait (see [`bound_calls`]).
pub(crate) fn modes(
    fd: BorrowedFd<'_>,
    wait: Wait,
    reading: RecvFlags,
    receive: Duration,
) -> Result<(RecvFlags, SendFlags), LinkError> {
    if wait == Wait::Spin {
        return Ok((reading | RecvFlags::DONTWAIT, SendFlags::NOSIGNAL | SendFlags::DONTWAIT));
    }
    bound_calls(fd, receive)?;
    Ok((reading, SendFlags::NOSIGNAL))
}

/// Ends both directions of a socket: a peer with a connection reads its end.
pub(crate) fn shut(fd: BorrowedFd<'_>) -> Result<(), LinkError> {
    match rustix::net::shutdown(fd, Shutdown::Both) {
        // Already gone is what was asked for.
        Ok(()) | Err(Errno::NOTCONN) => Ok(()),
        Err(e) => Err(LinkError::io("closing a socket", e)),
    }
}

/// What every socket can say about itself.
pub(crate) fn effective(fd: BorrowedFd<'_>, wait: Wait, addresses: Option<String>) -> Effective {
    Effective {
        send_buffer: sockopt::socket_send_buffer_size(fd).ok().map(|n| n as u64),
        receive_buffer: sockopt::socket_recv_buffer_size(fd).ok().map(|n| n as u64),
        wait: Some(wait),
        addresses,
        ..Effective::default()
    }
}

/// `d` as the kernel takes it.
pub(crate) fn timespec(d: Duration) -> Timespec {
    Timespec { tv_sec: d.as_secs().min(i64::MAX as u64) as i64, tv_nsec: d.subsec_nanos().into() }
}

/// Gives a socket's blocking calls a bound, so that a waiting side comes back to look at its patience.
pub(crate) fn bound_calls(fd: BorrowedFd<'_>, receive: Duration) -> Result<(), LinkError> {
    sockopt::set_socket_timeout(fd, Timeout::Recv, Some(receive))
        .and_then(|()| sockopt::set_socket_timeout(fd, Timeout::Send, Some(LOOK)))
        .map_err(|e| LinkError::io("setting a socket's timeouts", e))
}

/// Takes the bound of a socket's receives away again, and with it a timer for each receive that waits: a watchdog has them.
pub(crate) fn unbound_receives(fd: BorrowedFd<'_>) -> Result<(), LinkError> {
    sockopt::set_socket_timeout(fd, Timeout::Recv, None).map_err(|e| LinkError::io("setting a socket's timeouts", e))
}

/// Waits until one of `fds` has one of its events, at most `wait`. False when the time is up.
pub(crate) fn poll_for(fds: &mut [PollFd<'_>], wait: Duration) -> Result<bool, Errno> {
    match poll(fds, Some(&timespec(wait))) {
        Ok(n) => Ok(n > 0),
        Err(Errno::INTR) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Waits at most `wait` until `fd` can be read, by polling without sleep if `spin`. The end of a stream counts as
/// readable: the receive then says `Closed`.
pub(crate) fn readable(fd: impl AsFd, wait: Duration, spin: bool, patience: &Patience) -> Result<bool, LinkError> {
    one_readable(&mut [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)], wait, spin, patience)
}

/// Whether a stream that carries nothing has ended.
pub(crate) fn ended(fd: BorrowedFd<'_>) -> bool {
    poll_for(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Duration::ZERO).is_ok_and(|ended| ended)
}

/// The same until one of `fds`, each of which asks for what can be read.
pub(crate) fn one_readable(
    fds: &mut [PollFd<'_>],
    wait: Duration,
    spin: bool,
    patience: &Patience,
) -> Result<bool, LinkError> {
    let mut look = |d: Duration| poll_for(fds, d).map_err(|e| fault(e, "waiting for a message"));
    if look(Duration::ZERO)? {
        return Ok(true);
    }
    let start = Instant::now();
    loop {
        if patience.stopped() {
            return Err(LinkError::Interrupted);
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        if look(if spin { Duration::ZERO } else { left.min(LOOK) })? {
            return Ok(true);
        }
    }
}

/// Asks for send and receive buffers of `bytes` each. What the kernel made of it is for `Effective` to say.
pub(crate) fn ask_buffers(fd: BorrowedFd<'_>, bytes: u64) -> Result<(), LinkError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(i32::MAX as usize);
    sockopt::set_socket_send_buffer_size(fd, bytes)
        .and_then(|()| sockopt::set_socket_recv_buffer_size(fd, bytes))
        .map_err(|e| LinkError::io(format!("asking for socket buffers of {bytes} bytes"), e))
}

/// Leaves the CPU that the measuring thread may be pinned to: a new thread inherits it. For threads that watch.
pub fn anywhere() {
    let mut all = rustix::thread::CpuSet::new();
    for cpu in 0..rustix::thread::CpuSet::MAX_CPU {
        all.set(cpu);
    }
    // The kernel takes the CPUs that exist and are allowed out of it; where it refuses, the thread stays where it is.
    let _ = rustix::thread::sched_setaffinity(None, &all);
}

/// Whether this program runs with other rights than its user's, so that the loader heeds no variable.
pub(crate) fn secure() -> bool {
    // SAFETY: asks for a number that the kernel gave this process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], LinkError> {
    let mut bytes = [0u8; N];
    let n = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())
        .map_err(|e| LinkError::io("drawing random bytes", e))?;
    if n != N {
        return Err(LinkError::Protocol(format!("the system gave {n} random bytes, not {N}")));
    }
    Ok(bytes)
}

/// 16 hexadecimal digits that nobody can guess.
pub(crate) fn random_name() -> Result<String, LinkError> {
    Ok(format!("{:016x}", u64::from_ne_bytes(random()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn spinning_looks_at_the_stop_flag_within_some_polls() {
        let patience = Patience::new(Duration::from_secs(3600), Arc::new(AtomicBool::new(true)));
        let mut idle = Idle::default();
        let polls = (0..10 * POLLS).take_while(|_| idle.spun(&patience, RECEIVING).is_ok()).count();
        assert_eq!(polls as u32, POLLS - 1);
    }

    #[test]
    fn a_wait_without_progress_ends_and_progress_renews_it() {
        let patience = Patience::new(Duration::from_secs(1), Arc::new(AtomicBool::new(false)));
        let mut idle = Idle::default();
        assert!(idle.waited(&patience, RECEIVING, Duration::from_millis(100)).is_ok());
        idle.moved();
        let e = idle.waited(&patience, RECEIVING, Duration::from_secs(2)).unwrap_err();
        assert!(matches!(e, LinkError::Stalled { doing: RECEIVING, waited } if waited >= Duration::from_secs(2)));
    }

    #[test]
    fn a_thread_that_was_pinned_may_run_anywhere_again() {
        let cpus = || rustix::thread::sched_getaffinity(None).unwrap();
        std::thread::spawn(move || {
            let before = cpus();
            let mut one = rustix::thread::CpuSet::new();
            one.set((0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)).unwrap());
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            anywhere();
            assert!(cpus().count() >= before.count());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn random_names_differ() {
        let (a, b) = (random_name().unwrap(), random_name().unwrap());
        assert_eq!(a.len(), 16);
        assert_ne!(a, b);
    }
}
