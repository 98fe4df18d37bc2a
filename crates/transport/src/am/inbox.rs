//! What arrives, on its way to who receives it: the state that handlers are given.
//!
//! A handler copies a payload once, into the memory of the receive that awaits it. What comes while nobody receives (a send that waits for room
//! handles what arrives) is kept here.

use std::collections::VecDeque;

use am::{Message, RemoteRegion};

/// Most bytes that are kept for later.
const KEPT: usize = 64 << 20;
/// What a kept piece costs beside its bytes.
const EACH: usize = 64;

/// What a message has against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// So many bytes of a message are said to be left where so many are awaited.
    Length { said: u64, awaited: usize },
    /// A piece is longer than what is left of its message.
    Piece,
    /// More than is ever kept came while nobody received.
    Flood,
    /// More of its region was given back than was used.
    Credit,
}

/// A part of a message that came before it was asked for.
#[derive(Debug)]
struct Piece {
    /// Bytes left of the message, from the first of this piece.
    left: u64,
    bytes: Vec<u8>,
}

/// The memory of a receive that waits.
#[derive(Debug)]
struct Awaited {
    start: *mut u8,
    len: usize,
    got: usize,
    done: bool,
}

// SAFETY: the memory is borrowed exclusively by `Inbox::awaiting` for as long as this exists; it belongs to no thread.
unsafe impl Send for Awaited {}

impl Awaited {
    /// Has the next piece of the message copied to its place.
    fn take(&mut self, left: u64, len: usize, copy: impl FnOnce(&mut [u8])) -> Result<(), Bad> {
        let awaited = self.len - self.got;
        if left != awaited as u64 {
            return Err(Bad::Length { said: left, awaited });
        }
        if len > awaited || (len == 0 && awaited > 0) {
            return Err(Bad::Piece);
        }
        // SAFETY: `got + len` bytes lie within the memory (checked), which nobody else reaches as long as `self` exists: see `Inbox::awaiting`.
        copy(unsafe { std::slice::from_raw_parts_mut(self.start.add(self.got), len) });
        self.got += len;
        self.done = self.got == self.len;
        Ok(())
    }
}

/// The state of handlers. One stays in its link for good: it is neither moved out nor exchanged for another.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    awaited: Option<Awaited>,
    kept: VecDeque<Piece>,
    weight: usize,
    /// Parts of the peer's region that may be written.
    pub credits: u32,
    /// Most of them that there can be.
    window: u32,
    /// Where the peer has bulk messages written.
    pub region: Option<RemoteRegion>,
    /// How the peer broke the rules, once it did.
    pub bad: Option<Bad>,
}

impl Inbox {
    /// Of a link that may write so many parts of the peer's region.
    pub fn new(window: u32) -> Self {
        Self { credits: window, window, ..Self::default() }
    }

    /// Runs `receive` while what arrives goes straight into `message`, as far as it is not full.
    pub fn awaiting<R>(&mut self, message: &mut [u8], receive: impl FnOnce(&mut Self) -> R) -> R {
        /// The memory is forgotten before its borrow ends, also where `receive` panics.
        struct Until<'a>(&'a mut Inbox);
        impl Drop for Until<'_> {
            fn drop(&mut self) {
                self.0.awaited = None;
            }
        }
        self.awaited = Some(Awaited { start: message.as_mut_ptr(), len: message.len(), got: 0, done: false });
        let until = Until(self);
        until.0.hand_out();
        receive(until.0)
    }

    /// What was kept goes to who receives now.
    fn hand_out(&mut self) {
        while self.bad.is_none()
            && let Some(awaited) = self.awaited.as_mut().filter(|awaited| !awaited.done)
            && let Some(piece) = self.kept.pop_front()
        {
            self.weight -= piece.bytes.len() + EACH;
            let taken = awaited.take(piece.left, piece.bytes.len(), |into| into.copy_from_slice(&piece.bytes));
            self.bad = taken.err();
        }
    }

    /// A piece arrives.
    #[inline(always)]
    pub fn arrive(&mut self, left: u64, len: usize, copy: impl FnOnce(&mut [u8])) {
        if self.bad.is_some() {
            return;
        }
        match &mut self.awaited {
            Some(awaited) if !awaited.done => self.bad = awaited.take(left, len, copy).err(),
            _ => self.keep(left, len, copy),
        }
    }

    #[cold]
    fn keep(&mut self, left: u64, len: usize, copy: impl FnOnce(&mut [u8])) {
        self.weight += len + EACH;
        if self.weight > KEPT {
            self.bad = Some(Bad::Flood);
            return;
        }
        let mut bytes = vec![0; len];
        copy(&mut bytes);
        self.kept.push_back(Piece { left, bytes });
    }

    /// The same with the payload of a message.
    #[inline(always)]
    pub fn arrive_with(&mut self, message: &Message<'_>) {
        let payload = message.payload();
        self.arrive(message.argument(0), payload.len(), |into| _ = payload.copy_to(into));
    }

    /// The peer has taken a bulk message out of its region.
    pub fn credit(&mut self) {
        if self.credits < self.window {
            self.credits += 1;
        } else {
            self.bad.get_or_insert(Bad::Credit);
        }
    }

    /// Whether the whole message is there, or nothing more comes.
    #[inline(always)]
    pub fn done(&self) -> bool {
        self.awaited.as_ref().is_none_or(|awaited| awaited.done) || self.bad.is_some()
    }

    /// How much of it is there.
    pub fn got(&self) -> usize {
        self.awaited.as_ref().map_or(0, |awaited| awaited.got)
    }

    /// Whether something waits for a receive.
    pub fn holds(&self) -> bool {
        !self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(inbox: &mut Inbox, left: u64, bytes: &[u8]) {
        inbox.arrive(left, bytes.len(), |into| into.copy_from_slice(bytes));
    }

    #[test]
    fn pieces_go_to_who_receives_and_are_kept_for_who_does_not_yet() {
        let mut inbox = Inbox::default();
        arrive(&mut inbox, 5, b"abc");
        assert!(inbox.holds());
        let mut message = [0; 5];
        inbox.awaiting(&mut message, |inbox| {
            assert_eq!((inbox.got(), inbox.done()), (3, false));
            arrive(inbox, 2, b"de");
            assert!(inbox.done());
            // The next message has come already.
            arrive(inbox, 1, b"f");
        });
        assert_eq!((&message, inbox.bad), (b"abcde", None));
        let mut next = [0];
        inbox.awaiting(&mut next, |inbox| assert!(inbox.done()));
        assert_eq!((&next, inbox.holds()), (b"f", false));
        inbox.awaiting(&mut [], |inbox| {
            assert!(!inbox.done(), "an empty message is a message");
            arrive(inbox, 0, b"");
            assert!(inbox.done());
        });
    }

    #[test]
    fn a_message_of_another_length_touches_nothing() {
        for (left, bytes, bad) in [
            (4, &b"abcd"[..], Bad::Length { said: 4, awaited: 3 }),
            (2, b"ab", Bad::Length { said: 2, awaited: 3 }),
            (3, b"abcd", Bad::Piece),
            (3, b"", Bad::Piece),
            (u64::MAX, b"a", Bad::Length { said: u64::MAX, awaited: 3 }),
        ] {
            let (mut early, mut late, mut message) = (Inbox::default(), Inbox::default(), [7; 3]);
            arrive(&mut early, left, bytes);
            early.awaiting(&mut message, |inbox| assert!(inbox.done()));
            late.awaiting(&mut message, |inbox| {
                arrive(inbox, left, bytes);
                arrive(inbox, 3, b"xyz");
                assert!(inbox.done());
            });
            assert_eq!((early.bad, late.bad, message), (Some(bad), Some(bad), [7; 3]));
        }
    }

    #[test]
    fn what_is_kept_has_a_bound_whatever_its_pieces() {
        for len in [0, 1, 1 << 20] {
            let mut inbox = Inbox::default();
            let mut came = 0;
            while inbox.bad.is_none() {
                inbox.arrive(len as u64, len, |_| {});
                came += 1;
            }
            assert_eq!(inbox.bad, Some(Bad::Flood));
            assert!(came * (len + EACH) <= KEPT + len + EACH, "{len}: {came}");
        }
    }

    #[test]
    fn no_more_of_a_region_comes_back_than_was_used() {
        let mut inbox = Inbox::new(2);
        inbox.credits -= 1;
        inbox.credit();
        assert_eq!((inbox.credits, inbox.bad), (2, None));
        inbox.credit();
        assert_eq!((inbox.credits, inbox.bad), (2, Some(Bad::Credit)));
    }
}
