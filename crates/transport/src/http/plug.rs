//! The TCP socket below a connection, as hyper wants one. No call here waits; what can't be done at once wakes its task at the next turn.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// A connected socket, shared by the connection and the link.
#[derive(Debug, Clone)]
pub struct Plug(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    fd: OwnedFd,
    reading: Waiting,
    writing: Waiting,
    /// Bytes that left.
    left: AtomicU64,
}

/// Whether the last call of a direction found nothing, or no room, and who made it.
#[derive(Debug, Default)]
struct Waiting {
    waits: AtomicBool,
    who: Mutex<Option<Waker>>,
}

impl Waiting {
    fn outcome<T>(&self, outcome: Result<T, Errno>, context: &Context<'_>) -> Poll<io::Result<T>> {
        let again = matches!(outcome, Err(Errno::AGAIN | Errno::INTR));
        self.waits.store(again, Ordering::Relaxed);
        if !again {
            return Poll::Ready(outcome.map_err(Into::into));
        }
        let mut who = self.who.lock().unwrap_or_else(PoisonError::into_inner);
        if !who.as_ref().is_some_and(|who| who.will_wake(context.waker())) {
            *who = Some(context.waker().clone());
        }
        Poll::Pending
    }

    fn wake(&self) {
        if let Some(who) = &*self.who.lock().unwrap_or_else(PoisonError::into_inner) {
            who.wake_by_ref();
        }
    }
}

const NEVER: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

impl Plug {
    pub fn new(fd: OwnedFd) -> Self {
        let (reading, writing) = Default::default();
        Self(Arc::new(Inner { fd, reading, writing, left: AtomicU64::new(0) }))
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }

    /// Has whoever waits for the socket try again.
    pub fn wake(&self) {
        self.0.reading.wake();
        self.0.writing.wake();
    }

    /// Whether somebody waits for bytes.
    pub fn wants_bytes(&self) -> bool {
        self.0.reading.waits.load(Ordering::Relaxed)
    }

    /// Whether somebody waits for room.
    pub fn wants_room(&self) -> bool {
        self.0.writing.waits.load(Ordering::Relaxed)
    }

    /// Bytes that left so far.
    pub fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed)
    }

    fn sent(&self, outcome: Result<usize, Errno>, context: &Context<'_>) -> Poll<io::Result<usize>> {
        if let Ok(n) = outcome {
            self.0.left.fetch_add(n as u64, Ordering::Relaxed);
        }
        self.0.writing.outcome(outcome, context)
    }
}

impl Read for Plug {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // SAFETY: nothing but the system writes there, and that only initialises.
        let room = unsafe { into.as_mut() };
        let came = rustix::net::recv(self.fd(), room, RecvFlags::DONTWAIT).map(|((came, _), _)| came.len());
        self.0.reading.outcome(came, context).map_ok(|n| {
            // SAFETY: the call says that it wrote so many bytes, and `room` was no shorter.
            unsafe { into.advance(n) };
        })
    }
}

impl Write for Plug {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.sent(rustix::net::send(self.fd(), from, NEVER), context)
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Already gone is what was asked for.
        let _ = rustix::net::shutdown(self.fd(), rustix::net::Shutdown::Write);
        Poll::Ready(Ok(()))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.sent(rustix::net::sendmsg(self.fd(), from, &mut Default::default(), NEVER), context)
    }
}
