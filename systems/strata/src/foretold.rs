//! What FAST asks of the layers below it: the header that each expects next, and what follows from a cast whose header was that.

use bytes::Bytes;

use crate::message::{HEADROOM, Msg};

/// Layers that one header can stand for.
const LAYERS: usize = 16;

/// The header of the next cast of a member, as the layers expect it, the lowest first. Some of its bits are not foretold: what a layer tells with a cast, and not about it.
#[derive(Clone)]
pub struct Foretold {
    bytes: [u8; HEADROOM],
    mask: [u8; HEADROOM],
    ends: [u8; LAYERS],
    layers: u8,
    len: u8,
}

impl Default for Foretold {
    fn default() -> Self {
        Self { bytes: [0; HEADROOM], mask: [0; HEADROOM], ends: [0; LAYERS], layers: 0, len: 0 }
    }
}

impl Foretold {
    /// A layer's header: so many of its first bytes are foretold. Whether there is room.
    pub fn add(&mut self, header: &[u8], foretold: usize) -> bool {
        let start = usize::from(self.len);
        let end = start + header.len();
        if end > HEADROOM || usize::from(self.layers) == LAYERS {
            return false;
        }
        self.bytes[start..end].copy_from_slice(header);
        self.mask[start..end].fill(0);
        self.mask[start..start + foretold].fill(0xff);
        self.bytes[start + foretold..end].fill(0);
        self.len = end as u8;
        self.ends[usize::from(self.layers)] = end as u8;
        self.layers += 1;
        true
    }

    /// One comparison: whether a datagram begins so.
    pub fn fits(&self, datagram: &[u8]) -> bool {
        let len = usize::from(self.len);
        let Some(header) = datagram.get(..len) else { return false };
        let differs = |i: usize| (header[i] & self.mask[i]) ^ self.bytes[i];
        (0..len).fold(0, |all, i| all | differs(i)) == 0
    }

    /// What is behind all headers.
    pub(crate) fn body(&self, datagram: &Bytes) -> Bytes {
        datagram.slice(usize::from(self.len)..)
    }
}

/// A cast that came as foretold, on its way past the layers that had foretold it, the lowest first.
pub struct Came {
    from: u16,
    datagram: Bytes,
    foretold: Foretold,
    layer: usize,
}

impl Came {
    pub(crate) fn new(from: u16, datagram: Bytes, foretold: Foretold) -> Self {
        Self { from, datagram, foretold, layer: 0 }
    }

    /// Its sender's rank.
    pub fn from(&self) -> u16 {
        self.from
    }

    /// This layer's header, which is taken off.
    pub fn header(&mut self) -> &[u8] {
        let start = self.layer.checked_sub(1).map_or(0, |below| usize::from(self.foretold.ends[below]));
        let end = usize::from(self.foretold.ends[self.layer]);
        self.layer += 1;
        &self.datagram[start..end]
    }

    /// What is behind the headers that were taken off.
    pub fn rest(&self) -> Msg {
        let start = self.layer.checked_sub(1).map_or(0, |below| usize::from(self.foretold.ends[below]));
        Msg::new(self.datagram.slice(start..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_foretold_may_be_anything_and_the_rest_nothing_else() {
        let mut foretold = Foretold::default();
        assert!(foretold.add(b"ab", 2) && foretold.add(b"c?", 1));
        assert!(foretold.fits(b"abc1body") && foretold.fits(b"abc2"));
        for other in [&b"xbc1body"[..], b"axc1body", b"abx1body", b"abc"] {
            assert!(!foretold.fits(other));
        }
        let mut came = Came::new(1, Bytes::from_static(b"abc1body"), foretold);
        assert_eq!(came.header(), b"ab");
        assert_eq!(came.rest().joined(), &b"c1body"[..]);
        assert_eq!(came.header(), b"c1");
        assert_eq!(came.rest().joined(), &b"body"[..]);
    }

    #[test]
    fn headers_beyond_the_room_are_not_foretold() {
        let mut foretold = Foretold::default();
        assert!(foretold.add(&[1; 90], 90));
        assert!(!foretold.add(&[1; 7], 7));
    }
}
