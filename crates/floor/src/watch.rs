//! A thread that ends a receive that lasts too long.
//!
//! The kernel has a time limit for it, whose timer costs each receive that waits: of a blocking round trip that would be timed, too. So a
//! thread looks now and then whether a receive is still the one that it saw before, and shuts the socket down where that lasts.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;

use crate::FloorError;

/// Looks within the time that is too long.
const LOOKS: u32 = 4;

#[derive(Default)]
struct Shared {
    /// Odd within a receive, even between two; each has a number of its own.
    turn: AtomicU64,
    /// A receive was ended.
    ended: AtomicBool,
    /// Nobody receives any more.
    over: AtomicBool,
}

/// The thread; it ends with this value.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches receives from `socket`, which may last as long as `patience`.
    pub(crate) fn over(socket: impl AsFd, patience: Duration) -> Result<Self, FloorError> {
        let io = FloorError::io::<std::io::Error>;
        let socket = socket.as_fd().try_clone_to_owned().map_err(io("duplicating a file descriptor"))?;
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || look(&theirs, &socket, patience))
            .map_err(FloorError::io("starting a thread"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Runs one receive; two plain stores are all that it costs.
    #[inline(always)]
    pub(crate) fn during<T>(&self, receive: impl FnOnce() -> T) -> T {
        let turn = self.shared.turn.load(Ordering::Relaxed);
        self.shared.turn.store(turn + 1, Ordering::Release);
        let got = receive();
        self.shared.turn.store(turn + 2, Ordering::Release);
        got
    }

    /// Whether a receive was ended: it then reads as the end of the stream.
    pub(crate) fn ended(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn look(shared: &Shared, socket: &OwnedFd, patience: Duration) {
    let start = Instant::now();
    let mut seen = Seen::default();
    while !shared.over.load(Ordering::Acquire) {
        std::thread::park_timeout(patience / LOOKS);
        if seen.for_so_long(shared.turn.load(Ordering::Acquire), start.elapsed()) >= patience {
            shared.ended.store(true, Ordering::Release);
            // An error means that it is not connected any more, and that no receive waits.
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
            return;
        }
    }
}

/// The turn that was seen last, and when it was seen first.
#[derive(Default)]
struct Seen {
    turn: u64,
    since: Duration,
}

impl Seen {
    /// For how long one and the same receive has been seen; 0 between two.
    fn for_so_long(&mut self, turn: u64, now: Duration) -> Duration {
        if turn != self.turn || turn.is_multiple_of(2) {
            *self = Self { turn, since: now };
        }
        now - self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_receive_has_a_turn_of_its_own() {
        let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
        let watch = Watch::over(&near, Duration::from_secs(600)).unwrap();
        let turn = || watch.shared.turn.load(Ordering::Relaxed);
        assert_eq!((turn(), watch.during(turn), turn(), watch.during(turn), turn()), (0, 1, 2, 3, 4));
    }

    #[test]
    fn many_short_receives_are_not_one_long_one() {
        let (mut seen, second) = (Seen::default(), Duration::from_secs(1));
        let looks = [(0, 0), (1, 0), (1, 1), (1, 2), (3, 0), (4, 0), (4, 0), (5, 0), (5, 1)];
        for (at, (turn, long)) in (0..).zip(looks) {
            assert_eq!(seen.for_so_long(turn, second * at), second * long, "look {at} at turn {turn}");
        }
    }
}
