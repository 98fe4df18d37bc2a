//! Registered memory, as its owner and as its peer see it.

use crate::error::Error;

/// Memory that this side registered for its peer to put into. Plain data: what it names is released by
/// [`crate::Endpoint::release`] or with the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    pub(crate) at: u32,
    pub(crate) len: u32,
}

impl Region {
    /// Bytes.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The word that names it to the peer: sent as an argument, read by [`RemoteRegion::from_token`].
    pub fn token(self) -> u64 {
        u64::from(self.at) << 32 | u64::from(self.len)
    }
}

/// Memory that the peer registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RemoteRegion {
    at: u32,
    len: u32,
}

impl RemoteRegion {
    /// The region that the peer's [`Region::token`] names. Whether it can be one is checked with each put.
    pub fn from_token(token: u64) -> Self {
        Self { at: (token >> 32) as u32, len: token as u32 }
    }

    /// Bytes.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where the region and `len` bytes at `at` of it start in an area of `area` bytes, if they lie within.
    pub(crate) fn check(self, at: usize, len: usize, area: u32) -> Result<(u32, u32), Error> {
        if u64::from(self.at) + u64::from(self.len) > area.into() {
            return Err(Error::NoSuchRegion { word: u64::from(self.at) << 32 | u64::from(self.len) });
        }
        if at > self.len() || len > self.len() - at {
            return Err(Error::OutsideRegion { at, len, region: self.len() });
        }
        Ok((self.at, at as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_put_outside_of_region_or_area() {
        let region = RemoteRegion::from_token(Region { at: 128, len: 100 }.token());
        assert!(matches!(region.check(0, 100, 4096), Ok((128, 0))));
        assert!(matches!(region.check(100, 0, 228), Ok((128, 100))));
        for (at, len) in [(1, 100), (101, 0), (usize::MAX, 1), (1, usize::MAX)] {
            assert!(matches!(region.check(at, len, 4096), Err(Error::OutsideRegion { .. })), "{at} {len}");
        }
        assert!(matches!(region.check(0, 1, 227), Err(Error::NoSuchRegion { .. })));
        let wild = RemoteRegion::from_token(u64::MAX);
        assert!(matches!(wild.check(0, 1, 1 << 30), Err(Error::NoSuchRegion { word: u64::MAX })));
    }
}
