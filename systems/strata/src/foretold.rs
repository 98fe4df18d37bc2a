//! What FAST asks of the layers below it: the header that each expects next, and what follows from a cast whose header was that.

use bytes::Bytes;

use crate::message::{HEADROOM, Msg};

/// Headers that one foretold header can have which move on with each cast.
const MOVING: usize = 8;

/// The header of the next cast of a member, as the layers expect it, the lowest first. Some of its bytes are not foretold: what a layer tells with a cast, and not about it.
pub struct Foretold {
    bytes: [u8; HEADROOM],
    mask: [u8; HEADROOM],
    len: usize,
    parts: [Part; MOVING],
    moving: usize,
    /// The place of the layer that is asked, and which of the parts is its own already.
    asked: (u16, Option<usize>),
}

/// Where the header of a layer stands that moves on.
#[derive(Clone, Copy, Default)]
struct Part {
    place: u16,
    start: usize,
    end: usize,
}

impl Default for Foretold {
    fn default() -> Self {
        let parts = [Part::default(); MOVING];
        Self { bytes: [0; HEADROOM], mask: [0; HEADROOM], len: 0, parts, moving: 0, asked: (0, None) }
    }
}

impl Foretold {
    /// A layer's header that is the same for all casts of this member, until something else comes: the layer is asked no more until then, and not told of casts. Whether there is room.
    #[inline]
    pub fn stays(&mut self, header: &[u8]) -> bool {
        let room = self.room(header);
        if room {
            self.write(header, header.len());
        }
        room
    }

    /// A layer's header that is another one with each cast: so many of its first bytes are foretold. The layer is asked again for each datagram, and [`crate::Layer::took`] has what came so. Whether there is room.
    #[inline]
    pub fn moves(&mut self, header: &[u8], foretold: usize) -> bool {
        let (place, again) = self.asked;
        if let Some(Part { start, end, .. }) = again.map(|part| self.parts[part]) {
            let same = end - start == header.len();
            if same {
                self.bytes[start..start + foretold].copy_from_slice(&header[..foretold]);
            }
            return same;
        }
        let room = self.moving < MOVING && self.room(header);
        if room {
            self.parts[self.moving] = Part { place, start: self.len, end: self.len + header.len() };
            self.moving += 1;
            self.write(header, foretold);
        }
        room
    }

    fn room(&self, header: &[u8]) -> bool {
        self.len + header.len() <= HEADROOM
    }

    fn write(&mut self, header: &[u8], foretold: usize) {
        let (start, middle, end) = (self.len, self.len + foretold, self.len + header.len());
        self.bytes[start..middle].copy_from_slice(&header[..foretold]);
        self.mask[start..middle].fill(0xff);
        self.len = end;
    }

    /// The layer at this place is asked next.
    pub(crate) fn asks(&mut self, place: u16) {
        self.asked = (place, None);
    }

    /// How many headers move on.
    pub(crate) fn moving(&self) -> usize {
        self.moving
    }

    /// The layer whose header this is that moves on, the lowest first, is asked again: its place.
    pub(crate) fn asks_again(&mut self, part: usize) -> u16 {
        self.asked = (self.parts[part].place, Some(part));
        self.parts[part].place
    }

    /// One comparison: whether a datagram begins so.
    pub fn fits(&self, datagram: &[u8]) -> bool {
        let Some(header) = datagram.get(..self.len) else { return false };
        let known = self.mask.iter().zip(&self.bytes);
        header.iter().zip(known).fold(0, |all, (byte, (mask, foretold))| all | (byte & mask) ^ foretold) == 0
    }

    /// What is behind all headers.
    pub(crate) fn body(&self, datagram: &Bytes) -> Bytes {
        datagram.slice(self.len..)
    }

    /// The layer whose header moves on, and what came for it.
    pub(crate) fn came<'a>(&self, part: usize, from: u16, datagram: &'a Bytes) -> (u16, Came<'a>) {
        let Part { place, start, end } = self.parts[part];
        (place, Came { from, datagram, start, end })
    }
}

/// A cast that came as foretold, for one of the layers whose headers move on.
pub struct Came<'a> {
    from: u16,
    datagram: &'a Bytes,
    start: usize,
    end: usize,
}

impl Came<'_> {
    /// Its sender's rank.
    pub fn from(&self) -> u16 {
        self.from
    }

    /// This layer's header.
    pub fn header(&self) -> &[u8] {
        &self.datagram[self.start..self.end]
    }

    /// What is behind it.
    pub fn rest(&self) -> Msg {
        Msg::new(self.datagram.slice(self.end..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_foretold_may_be_anything_and_the_rest_nothing_else() {
        let mut foretold = Foretold::default();
        assert!(foretold.stays(b"ab") && foretold.moves(b"c?", 1));
        assert!(foretold.fits(b"abc1body") && foretold.fits(b"abc2"));
        for other in [&b"xbc1body"[..], b"axc1body", b"abx1body", b"abc"] {
            assert!(!foretold.fits(other));
        }
        let datagram = Bytes::from_static(b"abc1body");
        let (_, came) = foretold.came(0, 1, &datagram);
        assert_eq!((came.from(), came.header()), (1, &b"c1"[..]));
        assert_eq!(came.rest().joined(), &b"body"[..]);
        assert_eq!(foretold.body(&datagram), &b"body"[..]);
    }

    #[test]
    fn who_is_asked_again_writes_where_its_header_stands() {
        let mut foretold = Foretold::default();
        for (place, header) in [(4, b"n1"), (2, b"t1")] {
            foretold.asks(place);
            assert!(foretold.moves(header, 2));
        }
        assert!(foretold.stays(b"s"));
        assert_eq!((foretold.moving(), foretold.asks_again(0)), (2, 4));
        assert!(foretold.moves(b"n2", 2) && !foretold.moves(b"n2+", 2), "a header of another length fits nowhere");
        assert!(foretold.fits(b"n2t1s") && !foretold.fits(b"n1t1s"));
        assert_eq!(foretold.asks_again(1), 2);
        assert!(foretold.moves(b"t2", 2) && foretold.fits(b"n2t2s"));
    }

    #[test]
    fn headers_beyond_the_room_are_not_foretold() {
        let mut foretold = Foretold::default();
        assert!(foretold.stays(&[1; 90]));
        assert!(!foretold.stays(&[1; 7]) && !foretold.moves(&[1; 7], 7));
        assert!((0..MOVING).all(|_| foretold.moves(&[], 0)) && !foretold.moves(&[], 0));
    }
}
