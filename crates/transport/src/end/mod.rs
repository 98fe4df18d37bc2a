//! [`End`]: a link, and the memory of its domain that messages lie in.

mod asked;

use std::ops::{Deref, DerefMut};

pub use self::asked::{Asked, Room};
use crate::{Buffer, Link, LinkError};

/// A link and the memory that it made for its messages: one value, so that memory is never used with another link, and ends before the link
/// that made it. It is lent as slices, which the borrow keeps within the link's life:
///
/// ```
/// use transport::{End, Room, memcpy::Memcpy};
/// let mut end = End::new(Memcpy::new());
/// let (_link, out, _into) = end.lend(&Room::of(100, 64), &Room::NONE)?;
/// out[99] = 1;
/// # Ok::<(), transport::LinkError>(())
/// ```
///
/// Memory can't be kept beyond its link:
///
/// ```compile_fail,E0505
/// use transport::{End, Room, memcpy::Memcpy};
/// let mut end = End::new(Memcpy::new());
/// let (_link, out, _into) = end.lend(&Room::of(100, 64), &Room::NONE)?;
/// drop(end);
/// out[99] = 1;
/// # Ok::<(), transport::LinkError>(())
/// ```
///
/// Nor can it be had from a link without an end:
///
/// ```compile_fail,E0451
/// use transport::{Asked, Link, Room, memcpy::Memcpy};
/// let kept = Memcpy::new().buffer(&Asked { room: Room::of(100, 64), sent: true })?;
/// # Ok::<(), transport::LinkError>(())
/// ```
pub struct End<L: Link> {
    /// What is sent lies in the first, what is received in the second. Declared, and so dropped, before the link.
    memory: [Option<Held>; 2],
    /// There until it is taken out.
    link: Option<L>,
}

/// Memory and what it was reserved for.
struct Held {
    memory: Buffer,
    align: usize,
    offset: usize,
}

impl<L: Link> End<L> {
    /// The end of a link, without memory yet.
    pub fn new(link: L) -> Self {
        Self { memory: [None, None], link: Some(link) }
    }

    /// The link, memory to send from and memory to receive into, which is that of the last call where it fits. Contents are whatever they
    /// were, zeros at first.
    ///
    /// Errors: those of [`Link::buffer`].
    pub fn lend(&mut self, out: &Room, into: &Room) -> Result<(&mut L, &mut [u8], &mut [u8]), LinkError> {
        let Self { memory: [sent, received], link } = self;
        let link = link.as_mut().expect(THERE);
        let out = lent(sent, link, &Asked { room: *out, sent: true })?;
        let into = lent(received, link, &Asked { room: *into, sent: false })?;
        Ok((link, out, into))
    }

    /// The link alone; its memory ends.
    pub fn into_link(mut self) -> L {
        self.memory = [None, None];
        self.link.take().expect(THERE)
    }
}

fn lent<'a, L: Link>(held: &'a mut Option<Held>, link: &mut L, asked: &Asked) -> Result<&'a mut [u8], LinkError> {
    let Room { len, align, offset, .. } = asked.room;
    let fits = |h: &Held| h.memory.len() >= len && (h.align, h.offset) == (align, offset);
    if !held.as_ref().is_some_and(fits) {
        *held = None;
        let memory = link.buffer(asked)?;
        *held = Some(Held { memory, align, offset });
    }
    Ok(held.as_mut().map_or(&mut [], |held| &mut held.memory))
}

impl<L: Link> Deref for End<L> {
    type Target = L;
    fn deref(&self) -> &L {
        self.link.as_ref().expect(THERE)
    }
}

impl<L: Link> DerefMut for End<L> {
    fn deref_mut(&mut self) -> &mut L {
        self.link.as_mut().expect(THERE)
    }
}

/// Posts end before their memory does: closing a link ends what is under way on it.
impl<L: Link> Drop for End<L> {
    fn drop(&mut self) {
        if let Some(link) = self.link.as_mut().filter(|link| link.capabilities().queued) {
            // Nobody is left to be told of an error.
            let _ = link.close();
        }
    }
}

const THERE: &str = "a link is there until it is taken out, which ends its end";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memcpy::Memcpy;

    fn at(memory: &[u8]) -> usize {
        memory.as_ptr().addr()
    }

    #[test]
    fn memory_is_kept_while_it_fits() {
        let mut end = End::new(Memcpy::new());
        let room = Room { len: 100, reserve: 9000, align: 4096, offset: 3 };
        let mut lent =
            |room: &Room| end.lend(room, &Room::NONE).map(|(_, out, into)| (at(out), out.len(), into.len())).unwrap();
        let first = lent(&room);
        assert_eq!((first.0 % 4096, first.1, first.2), (3, 9000, 0));
        assert_eq!(lent(&Room { len: 9000, ..room }), first);
        assert_eq!(lent(&Room { len: 9001, reserve: 20_000, ..room }).1, 20_000);
        assert_eq!(lent(&Room { offset: 4, ..room }).0 % 4096, 4);
        assert_eq!(lent(&Room { align: 64, offset: 0, ..room }).0 % 64, 0);
    }
}
