//! What lies where in the memory of a connection.
//!
//! First the control words, then four rings (each side's requests and replies), then an area for each side's regions. Requests and
//! replies have rings of their own, so that a reply never waits behind a request: that is what keeps two sides that both send from
//! waiting for each other for ever.

use std::os::fd::OwnedFd;

use crate::bell::Bell;
use crate::error::Error;
use crate::memory::{Memory, Shared};
use crate::ring::{Capacity, Lane};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// "activems" in ASCII: says that the file is one of ours.
const MAGIC: u64 = u64::from_le_bytes(*b"activems");
/// Where the rings start.
const RINGS: usize = 4096;

/// The first part. All-zero memory is a fresh one, but for the mark.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Control {
    magic: AtomicU64,
    ring_bytes: AtomicU64,
    region_bytes: AtomicU64,
    /// The listener's first.
    pub sides: [Side; 2],
    /// By sender, then by [`Kind`].
    pub lanes: [[Lane; 2]; 2],
}

/// What the other side may learn about one side.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Side {
    /// Rung when something changes for this side.
    pub bell: Bell,
    /// Not 0 once this side has closed the connection.
    pub closed: AtomicU32,
    /// The CPU on which this side last waited, plus one. Only a hint.
    pub cpu: AtomicU32,
}

// SAFETY: atomic integers only.
unsafe impl Shared for Control {}

/// The two kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// May be answered with a reply.
    Request = 0,
    /// May not be answered.
    Reply = 1,
}

/// Sizes of a connection's parts, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Of each of the four rings.
    pub ring: Capacity,
    /// Of each of the two areas for regions: whole pages.
    pub region: u32,
}

impl Sizes {
    /// Of the whole memory.
    pub fn total(self) -> usize {
        RINGS + 4 * self.ring.bytes() + 2 * self.region as usize
    }

    /// Where a ring starts.
    #[inline(always)]
    pub fn ring_start(self, sender: usize, kind: Kind) -> usize {
        RINGS + (2 * (sender & 1) + kind as usize) * self.ring.bytes()
    }

    /// Where a side's area starts.
    #[inline(always)]
    pub fn area_start(self, side: usize) -> usize {
        RINGS + 4 * self.ring.bytes() + (side & 1) * self.region as usize
    }

    /// Most bytes that a medium message carries: a quarter of a ring, so that one is written while another is read.
    pub fn medium(self) -> usize {
        self.ring.bytes() / 4
    }
}

/// Makes the memory of a connection.
///
/// # Errors
/// What the system refused.
pub fn create(sizes: Sizes) -> Result<(Memory, OwnedFd), Error> {
    let (memory, file) = Memory::create("am", sizes.total())?;
    let control: &Control = memory.object(0);
    control.ring_bytes.store(sizes.ring.bytes() as u64, Ordering::Relaxed);
    control.region_bytes.store(sizes.region.into(), Ordering::Relaxed);
    control.magic.store(MAGIC, Ordering::Release);
    Ok((memory, file))
}

/// Maps the memory that the peer made, after checking that it is what [`create`] makes.
///
/// # Errors
/// What is wrong with it.
pub fn attach(file: &OwnedFd, sizes: Sizes) -> Result<Memory, Error> {
    let memory = Memory::attach(file, sizes.total())?;
    let control: &Control = memory.object(0);
    let found = (
        control.magic.load(Ordering::Acquire),
        control.ring_bytes.load(Ordering::Relaxed),
        control.region_bytes.load(Ordering::Relaxed),
    );
    if found != (MAGIC, sizes.ring.bytes() as u64, sizes.region.into()) {
        return Err(Error::Memory {
            found: format!("is not marked as a connection of these sizes (found {found:x?})"),
        });
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { ring: Capacity::new(4096).unwrap(), region: 4096 };

    #[test]
    fn parts_do_not_overlap_and_fill_the_memory() {
        assert!(size_of::<Control>() <= RINGS);
        let mut parts: Vec<_> = [0, 1]
            .iter()
            .flat_map(|&side| [SIZES.ring_start(side, Kind::Request), SIZES.ring_start(side, Kind::Reply)])
            .chain([SIZES.area_start(0), SIZES.area_start(1)])
            .collect();
        parts.sort_unstable();
        parts.push(SIZES.total());
        assert_eq!(parts[0], RINGS);
        assert!(parts.windows(2).all(|pair| pair[1] - pair[0] == 4096), "{parts:?}");
    }

    #[test]
    fn lines_that_different_sides_write_are_apart() {
        assert_eq!(std::mem::offset_of!(Control, sides) % 128, 0);
        assert_eq!(std::mem::offset_of!(Control, lanes) % 128, 0);
        assert_eq!((size_of::<Side>() % 128, size_of::<Lane>()), (0, 256));
    }

    #[test]
    fn memory_without_the_mark_or_of_other_sizes_is_refused() {
        let (memory, file) = create(SIZES).unwrap();
        assert!(attach(&file, SIZES).is_ok());
        // The same total, cut differently.
        let other = Sizes { ring: SIZES.ring, region: 8192 };
        assert!(matches!(attach(&file, other), Err(Error::Memory { .. })));
        memory.set_word(0, MAGIC + 1);
        assert!(matches!(attach(&file, SIZES), Err(Error::Memory { found }) if found.contains("not marked")));
    }
}
