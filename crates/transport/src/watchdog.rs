//! Cuts off calls that the kernel won't bound, or bounds at a price.
//!
//! A blocking read or write of a pipe has no time-out, and polling before each one would cost 8% of a pipe's latency
//! (measured: 2.38 us against 2.19 us one way); a receive of a socket has one, whose timer costs each call that waits. So a
//! thread looks every [`LOOK`] whether a call has lasted too long, and makes it return: of a pipe by moving a byte through the
//! pipe itself, which it opens by way of `/proc/self/fd`, of a socket by shutting it down. That spoils the stream, so a link whose
//! call was cut off never carries another message.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::Shutdown;

use crate::patience::LOOK;
use crate::{LinkError, Patience, sys};

const DOING: &str = "starting to watch over a connection's calls";

/// What a link and its watchdog know of each other.
#[derive(Debug, Default)]
struct Shared {
    /// Odd within a call, even between calls; each call has a number of its own.
    turn: AtomicU64,
    /// The call writes.
    writing: AtomicBool,
    /// Nanoseconds that the call was cut off after; 0 before that, 1 where a stop was asked for.
    cut: AtomicU64,
    /// The link is gone.
    end: AtomicBool,
}

/// The thread that watches one link's calls. Ends with this value.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Watches calls that read from `reader` and write to `writer`, a pipe's ends; both must stay open until this value is gone.
    pub fn over_pipe(reader: BorrowedFd<'_>, writer: BorrowedFd<'_>, patience: &Patience) -> Result<Self, LinkError> {
        let (reader, writer) = (path(reader), path(writer));
        // Said now rather than in the middle of a measurement.
        open(&reader, OFlags::RDONLY)
            .map_err(|e| LinkError::io("watching over a pipe (its ends must be reachable as /proc/self/fd)", e))?;
        // An error means that the pipe is full or its peer is gone: the call returns by itself, or the next look tries again.
        Self::new(patience, move |writing| {
            if writing {
                let _ = open(&writer, OFlags::RDONLY).map(|fd| rustix::io::read(&fd, &mut [0; 65_536][..]));
            } else {
                let _ = open(&reader, OFlags::WRONLY).map(|fd| rustix::io::write(&fd, &[0]));
            }
        })
    }

    /// Watches calls on a connected socket. `life` is a stream that ends with the peer, where the socket doesn't tell that.
    pub fn over_socket(
        fd: BorrowedFd<'_>,
        life: Option<BorrowedFd<'_>>,
        patience: &Patience,
    ) -> Result<Self, LinkError> {
        let own = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().map_err(|e| LinkError::io(DOING, e));
        let (fd, life) = (own(fd)?, life.map(own).transpose()?);
        // An error means that it is not connected any more: then no call on it waits.
        let cut = move |_| {
            let _ = rustix::net::shutdown(&fd, Shutdown::Both);
        };
        Self::beside(patience, cut, move || life.as_ref().is_some_and(|life| sys::ended(life.as_fd())))
    }

    /// Watches calls that `cut` makes return, which is told whether the call writes.
    fn new(patience: &Patience, cut: impl Fn(bool) + Send + 'static) -> Result<Self, LinkError> {
        Self::beside(patience, cut, || false)
    }

    /// The same; calls end as well once the peer is `gone`, and what it left behind is received before that.
    fn beside(
        patience: &Patience,
        cut: impl Fn(bool) + Send + 'static,
        gone: impl Fn() -> bool + Send + 'static,
    ) -> Result<Self, LinkError> {
        let shared = Arc::new(Shared::default());
        let (theirs, patience) = (shared.clone(), patience.clone());
        let thread = std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || watch(&theirs, &patience, cut, gone))
            .map_err(|e| LinkError::io(DOING, e))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Runs `call`; two plain stores around it are all it costs.
    #[inline]
    pub fn over<T>(&self, writing: bool, call: impl FnOnce() -> T) -> T {
        let turn = self.shared.turn.load(Ordering::Relaxed);
        self.shared.writing.store(writing, Ordering::Relaxed);
        self.shared.turn.store(turn | 1, Ordering::Release);
        let out = call();
        self.shared.turn.store((turn | 1) + 1, Ordering::Release);
        out
    }

    /// Whether a call was cut off.
    #[inline]
    pub fn barked(&self) -> bool {
        self.shared.cut.load(Ordering::Relaxed) != 0
    }

    /// Why, in a link's words.
    pub fn verdict(&self) -> Option<LinkError> {
        let doing = if self.shared.writing.load(Ordering::Relaxed) { "sending" } else { "receiving" };
        match self.shared.cut.load(Ordering::Acquire) {
            0 => None,
            1 => Some(LinkError::Interrupted),
            ns => Some(LinkError::Stalled { doing, waited: Duration::from_nanos(ns) }),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic in the thread would be our own bug and has been printed.
            let _ = thread.join();
        }
    }
}

/// Where this process finds an open file of its own again.
pub(crate) fn path(fd: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Opens a pipe's end once more, so that calls through it don't wait.
pub(crate) fn open(path: &str, way: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, way | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

fn watch(shared: &Shared, patience: &Patience, end: impl Fn(bool), gone: impl Fn() -> bool) {
    // It wakes ten times a second, which the CPU that is measured on must not notice.
    sys::anywhere();
    let (mut seen, mut since) = (0, Instant::now());
    while !shared.end.load(Ordering::Acquire) {
        std::thread::park_timeout(LOOK);
        let turn = shared.turn.load(Ordering::Acquire);
        if turn != seen {
            (seen, since) = (turn, Instant::now());
        }
        if turn & 1 == 0 {
            continue;
        }
        if gone() {
            end(shared.writing.load(Ordering::Relaxed));
            continue;
        }
        let cut = match patience.check(since, "waiting") {
            Ok(()) => continue,
            Err(LinkError::Stalled { waited, .. }) => (waited.as_nanos() as u64).max(2),
            Err(_) => 1,
        };
        let _ = shared.cut.compare_exchange(0, cut, Ordering::AcqRel, Ordering::Relaxed);
        end(shared.writing.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// CPUs that the threads of this process with the name of a watchdog may run on.
    fn cpus_of_watchdogs() -> Vec<u32> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let watchdogs =
            tasks.filter(|t| std::fs::read_to_string(t.path().join("comm")).is_ok_and(|n| n == "watchdog\n"));
        let ids = watchdogs.filter_map(|t| Pid::from_raw(t.file_name().to_str()?.parse().ok()?));
        ids.filter_map(|id| sched_getaffinity(Some(id)).ok()).map(|set| set.count()).collect()
    }

    #[test]
    fn it_stays_off_the_cpu_that_its_maker_is_pinned_to() {
        std::thread::spawn(|| {
            let allowed = sched_getaffinity(None).unwrap();
            if allowed.count() < 2 {
                return;
            }
            let (reader, writer) = rustix::pipe::pipe().unwrap();
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap());
            sched_setaffinity(None, &one).unwrap();
            let _watchdog = Watchdog::over_pipe(reader.as_fd(), writer.as_fd(), &Patience::default()).unwrap();
            let began = Instant::now();
            // It may not have run yet; other tests' watchdogs are pinned no more than this one.
            while cpus_of_watchdogs().iter().min().is_none_or(|fewest| *fewest == 1) {
                assert!(began.elapsed() < Duration::from_secs(20), "a watchdog is pinned");
                std::thread::sleep(Duration::from_millis(5));
            }
        })
        .join()
        .unwrap();
    }
}
