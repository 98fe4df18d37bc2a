//! A message: a body that copies share, and room in front of it for the headers of all layers.

use bytes::Bytes;

use crate::wire::{Reader, Short};

/// Bytes of headers that a message has room for before its headers and body are joined in a new buffer. What a layer's fixed header takes, times the
/// layers of the longest sensible stack, fits (`layers::tests::headers_fit`); vectors of CAUSAL don't always.
pub const HEADROOM: usize = 96;

/// A body and the headers pushed in front of it. A clone copies the headers and shares the body, so that NAK's log keeps a reference count and no copy.
/// Room for headers is made as the first is pushed: what was received, whose headers are only popped, needs none.
#[derive(Clone)]
pub struct Msg {
    head: Option<Box<Head>>,
    body: Bytes,
}

#[derive(Clone)]
struct Head {
    room: [u8; HEADROOM],
    start: u8,
}

impl Head {
    #[cold]
    fn empty() -> Box<Self> {
        Box::new(Self { room: [0; HEADROOM], start: HEADROOM as u8 })
    }

    fn bytes(&self) -> &[u8] {
        &self.room[usize::from(self.start)..]
    }
}

impl Msg {
    /// A message without headers.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { head: None, body: body.into() }
    }

    /// Bytes of headers and body.
    pub fn len(&self) -> usize {
        self.head().len() + self.body.len()
    }

    /// Whether there are neither headers nor a body.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The headers that were pushed here.
    pub fn head(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| head.bytes())
    }

    /// What is behind them. Of a message that was received, headers that are not yet popped stand in it.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The first byte.
    pub fn first(&self) -> Option<u8> {
        self.head().first().or(self.body.first()).copied()
    }

    /// Puts a header in front.
    #[inline]
    pub fn push(&mut self, header: &[u8]) {
        let head = self.head.get_or_insert_with(Head::empty);
        let end = usize::from(head.start);
        match end.checked_sub(header.len()) {
            Some(start) => {
                head.room[start..end].copy_from_slice(header);
                head.start = start as u8;
            }
            None => self.push_joined(header),
        }
    }

    #[cold]
    fn push_joined(&mut self, header: &[u8]) {
        let mut all = Vec::with_capacity(header.len() + self.len());
        all.extend_from_slice(header);
        all.extend_from_slice(self.head());
        all.extend_from_slice(&self.body);
        *self = Self::new(all);
    }

    /// Takes a header of this one byte off the front, if it is there.
    #[inline]
    pub fn take(&mut self, header: u8) -> bool {
        match &mut self.head {
            Some(head) if usize::from(head.start) < HEADROOM => {
                let there = head.room[usize::from(head.start)] == header;
                head.start += u8::from(there);
                there
            }
            _ => {
                let there = self.body.first() == Some(&header);
                if there {
                    bytes::Buf::advance(&mut self.body, 1);
                }
                there
            }
        }
    }

    /// Takes a header of `N` bytes off the front.
    ///
    /// # Errors
    /// [`Short`] where the message has fewer.
    #[inline]
    pub fn pop<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        if let Some(head) = &mut self.head {
            if let Some(header) = head.bytes().first_chunk() {
                let header = *header;
                head.start += N as u8;
                return Ok(header);
            }
            self.join();
        }
        let header = *self.body.first_chunk().ok_or(Short)?;
        bytes::Buf::advance(&mut self.body, N);
        Ok(header)
    }

    /// Takes a LEB128 count off the front.
    ///
    /// # Errors
    /// [`Short`] where the message ends before it, or it is longer than 64 bits.
    pub fn pop_count(&mut self) -> Result<u64, Short> {
        let mut bytes = [0; 10];
        for at in 0..bytes.len() {
            bytes[at] = self.pop::<1>()?[0];
            if bytes[at] & 0x80 == 0 {
                return Reader(&bytes[..=at]).count();
            }
        }
        Err(Short)
    }

    /// All of it as one shared buffer, without a copy where no header was pushed.
    pub fn joined(mut self) -> Bytes {
        self.join();
        self.body
    }

    fn join(&mut self) {
        if !self.head().is_empty() {
            let mut all = Vec::with_capacity(self.len());
            all.extend_from_slice(self.head());
            all.extend_from_slice(&self.body);
            *self = Self::new(all);
        }
        self.head = None;
    }
}

impl std::fmt::Debug for Msg {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}+{} B", self.head().len(), self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_off_in_the_order_they_went_on() {
        let mut msg = Msg::new(&b"body"[..]);
        msg.push(b"inner");
        msg.push(b"out");
        assert_eq!(msg.pop::<3>(), Ok(*b"out"));
        assert_eq!(msg.pop::<5>(), Ok(*b"inner"));
        assert_eq!(msg.joined(), &b"body"[..]);
    }

    #[test]
    fn a_header_longer_than_the_room_is_kept_too() {
        let mut msg = Msg::new(&b"body"[..]);
        msg.push(b"inner");
        msg.push(&[7; HEADROOM]);
        assert_eq!(msg.pop::<HEADROOM>(), Ok([7; HEADROOM]));
        // The rest stands in the body now.
        assert_eq!(msg.pop::<5>(), Ok(*b"inner"));
        assert_eq!(msg.pop::<5>(), Err(Short));
    }

    #[test]
    fn one_byte_is_taken_where_it_is_there() {
        let mut msg = Msg::new(&b"b"[..]);
        msg.push(b"a");
        assert!(!msg.take(b'b') && msg.take(b'a') && !msg.take(b'a') && msg.take(b'b') && !msg.take(b'b'));
        assert!(msg.is_empty());
    }

    #[test]
    fn a_pop_across_headers_and_body_sees_both() {
        let mut msg = Msg::new(&b"cd"[..]);
        msg.push(b"ab");
        assert_eq!(msg.pop::<4>(), Ok(*b"abcd"));
        assert!(msg.is_empty());
    }
}
