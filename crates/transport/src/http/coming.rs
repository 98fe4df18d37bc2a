//! A message that is the body of what came.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use hyper::body::{Body, Incoming};

use super::meaning::End;
use crate::LinkError;
use crate::sys::RECEIVING;

/// The body, as far as it was not taken.
pub struct Coming {
    body: Incoming,
    /// Its length, where it was told.
    len: Option<u64>,
}

impl Coming {
    pub fn new(body: Incoming) -> Self {
        let len = body.size_hint().exact();
        Self { body, len }
    }

    /// The message's length, where it was told ahead.
    pub fn len(&self) -> Option<u64> {
        self.len
    }

    /// Takes what has come of a message of the length of `into`, of which there are `got` bytes; how many more there are.
    pub fn take(&mut self, into: &mut [u8], got: &mut usize, end: &End) -> Result<usize, LinkError> {
        if self.len != Some(into.len() as u64) {
            let came = self.len.map_or("unknown length".to_owned(), |len| format!("{len} bytes"));
            return Err(end.broken(format!("a message of {came} came where one of {} bytes is due", into.len())));
        }
        self.each(end, |bytes| {
            let room = into.get_mut(*got..*got + bytes.len())?;
            room.copy_from_slice(bytes);
            *got += bytes.len();
            Some(*got == into.len())
        })
    }

    /// The same at the end of `into`, of a message of any length that was told.
    pub fn keep(&mut self, into: &mut Vec<u8>, end: &End) -> Result<usize, LinkError> {
        let due = self.len.unwrap_or(0);
        self.each(end, |bytes| {
            into.extend_from_slice(bytes);
            let got = into.len() as u64;
            (got <= due).then_some(got == due)
        })
    }

    /// Hands over what has come to `taken`, which says whether that was all, or nothing where it was too much.
    fn each(&mut self, end: &End, mut taken: impl FnMut(&[u8]) -> Option<bool>) -> Result<usize, LinkError> {
        let mut context = Context::from_waker(Waker::noop());
        let mut moved = 0;
        loop {
            match Pin::new(&mut self.body).poll_frame(&mut context) {
                Poll::Pending => return Ok(moved),
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    moved += bytes.len();
                    match taken(&bytes) {
                        Some(false) => {}
                        Some(true) => return Ok(moved),
                        None => return Err(end.broken("a message is longer than its head says".to_owned())),
                    }
                }
                Poll::Ready(Some(Err(e))) => return Err(end.failed(e, RECEIVING)),
                Poll::Ready(None) => return Err(end.gone(RECEIVING)),
            }
        }
    }
}
