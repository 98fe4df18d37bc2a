//! Which parts of this side's area are registered. Pure.

use std::collections::BTreeMap;

/// Regions start at multiples of this, so that two never share a cache line.
const ALIGN: usize = 64;

/// Registered pieces of an area, by where they start.
#[derive(Debug)]
pub struct RegionMap {
    total: usize,
    taken: BTreeMap<u32, u32>,
}

impl RegionMap {
    /// An empty area of `total` bytes, at most 4 GiB.
    pub fn new(total: u32) -> Self {
        Self { total: total as usize, taken: BTreeMap::new() }
    }

    /// Takes the first free piece of `len` bytes; else says how long the largest is.
    pub fn take(&mut self, len: usize) -> Result<u32, usize> {
        let (mut from, mut largest) = (0, 0);
        let mut found = None;
        let ends = self.taken.iter().map(|(&at, &len)| (at as usize, at as usize + (len as usize).max(1)));
        for (at, end) in ends.chain([(self.total, self.total)]) {
            let free = at.saturating_sub(from);
            if free > 0 && len <= free && found.is_none() {
                found = Some(from as u32);
            }
            largest = largest.max(free);
            from = end.next_multiple_of(ALIGN);
        }
        let at = found.ok_or(largest)?;
        self.taken.insert(at, len as u32);
        Ok(at)
    }

    /// Gives a piece back. False if none starts there.
    pub fn give(&mut self, at: u32) -> bool {
        self.taken.remove(&at).is_some()
    }

    /// The length of the region that starts at `region`, if `len` bytes at `at` lie within it.
    pub fn holds(&self, region: u32, at: u32, len: u32) -> Option<u32> {
        self.taken.get(&region).copied().filter(|&total| at <= total && len <= total - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_never_share_a_line_and_fill_gaps() {
        let mut map = RegionMap::new(256);
        assert_eq!(map.take(65), Ok(0));
        assert_eq!(map.take(1), Ok(128));
        assert_eq!(map.take(65), Err(64));
        assert_eq!(map.take(64), Ok(192));
        assert_eq!(map.take(1), Err(0));
        assert!(map.give(0) && !map.give(0));
        assert_eq!(map.take(129), Err(128));
        assert_eq!(map.take(128), Ok(0));
    }

    #[test]
    fn an_empty_region_is_one_of_its_own() {
        let mut map = RegionMap::new(128);
        assert_eq!((map.take(0), map.take(0), map.take(0)), (Ok(0), Ok(64), Err(0)));
        assert_eq!((map.holds(0, 0, 0), map.holds(0, 0, 1)), (Some(0), None));
        assert_eq!(map.holds(64, 0, 0), Some(0));
    }

    #[test]
    fn only_what_lies_within_one_region_is_held() {
        let mut map = RegionMap::new(4096);
        assert_eq!((map.take(100), map.take(100)), (Ok(0), Ok(128)));
        assert_eq!((map.holds(128, 0, 100), map.holds(128, 100, 0)), (Some(100), Some(100)));
        for (region, at, len) in [(128, 1, 100), (128, 101, 0), (128, u32::MAX, u32::MAX), (127, 0, 1), (256, 0, 0)] {
            assert_eq!(map.holds(region, at, len), None, "{region} {at} {len}");
        }
    }
}
