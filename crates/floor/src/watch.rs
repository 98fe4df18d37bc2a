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
    let (mut seen, mut since) = (0, Instant::now());
    while !shared.over.load(Ordering::Acquire) {
        std::thread::park_timeout(patience / LOOKS);
        let turn = shared.turn.load(Ordering::Acquire);
        if turn != seen || turn.is_multiple_of(2) {
            (seen, since) = (turn, Instant::now());
        } else if since.elapsed() >= patience {
            shared.ended.store(true, Ordering::Release);
            // An error means that it is not connected any more, and that no receive waits.
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
            return;
        }
    }
}
