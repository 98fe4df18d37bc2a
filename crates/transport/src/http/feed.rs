//! A body that is filled while it is sent, so that a message is copied piece by piece and not as a whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Bytes that are copied at a time.
pub const PIECE: usize = 64 << 10;

#[derive(Default)]
struct Slot {
    piece: Option<Bytes>,
    waker: Option<Waker>,
    /// The protocol is done with the body.
    over: bool,
}

fn slot(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body, for the protocol.
pub struct Feed {
    slot: Arc<Mutex<Slot>>,
    left: u64,
}

/// Its other end.
pub struct Feeder {
    slot: Arc<Mutex<Slot>>,
    len: usize,
    at: usize,
    /// The last byte of a message of several pieces goes by itself. HTTP/2 takes a piece once the receiver has given room for one byte of
    /// it, so that with the last byte all is known to have room.
    last_apart: bool,
}

/// A body of `len` bytes and its other end.
pub fn feed(len: usize, last_apart: bool) -> (Feed, Feeder) {
    let shared = Arc::<Mutex<Slot>>::default();
    (Feed { slot: Arc::clone(&shared), left: len as u64 }, Feeder { slot: shared, len, at: 0, last_apart })
}

impl Feed {
    /// A body of no bytes.
    pub fn empty() -> Self {
        feed(0, false).0
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        slot(&self.slot).over = true;
    }
}

impl Body for Feed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = {
            let mut slot = slot(&self.slot);
            if slot.piece.is_none() {
                slot.waker = Some(context.waker().clone());
            }
            slot.piece.take()
        };
        match piece {
            Some(piece) => {
                self.left = self.left.saturating_sub(piece.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None => Poll::Pending,
        }
    }
    fn is_end_stream(&self) -> bool {
        self.left == 0
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

impl Feeder {
    /// Gives the next piece of the message, where there is room for it; whether it did.
    pub fn give(&mut self, message: &[u8]) -> bool {
        let mut slot = slot(&self.slot);
        if self.at >= message.len() || slot.piece.is_some() || slot.over {
            return false;
        }
        let left = message.len() - self.at;
        let n = match left {
            _ if left > PIECE => PIECE,
            2.. if self.last_apart && self.at > 0 => left - 1,
            _ => left,
        };
        slot.piece = Some(Bytes::copy_from_slice(&message[self.at..self.at + n]));
        self.at += n;
        if let Some(waker) = slot.waker.take() {
            waker.wake();
        }
        true
    }

    /// Whether the protocol is done with the body, all of it or not.
    pub fn over(&self) -> bool {
        slot(&self.slot).over
    }

    /// Whether the protocol took all.
    pub fn whole(&self) -> bool {
        self.at == self.len && slot(&self.slot).piece.is_none()
    }
}
