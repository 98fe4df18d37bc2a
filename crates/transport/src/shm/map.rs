//! The shared memory of a link: its layout, and the checks that a file is one.
//!
//! Everything within is atomic integers or raw bytes, so that whatever the peer writes is a value and not undefined behaviour.

use std::os::fd::OwnedFd;

use super::bell::Bell;
use super::file::Mapping;
use super::place::{CHUNK, DATA, SLOTS};
use super::ring::Lane;
use super::sync::{AtomicU32, AtomicU64, Ordering};
use crate::LinkError;

/// "pipegaug" in ASCII: says that the file is one of ours.
const MAGIC: u64 = u64::from_le_bytes(*b"pipegaug");
/// Version of the layout and of the ring's rules.
const VERSION: u64 = 1;
/// What both sides must agree on beyond the version: the ring's sizes.
const GEOMETRY: u64 = (SLOTS as u64) << 48 | (CHUNK as u64) << 24 | DATA as u64 >> 8;
/// Where the two data rings start.
const DATA_START: usize = size_of::<Shared>().next_multiple_of(4096);
/// Size of the file, bytes.
const SIZE: usize = DATA_START + 2 * DATA;

/// The first part of the file. All-zero memory is a fresh one, but for the header.
#[repr(C, align(128))]
pub(super) struct Shared {
    magic: AtomicU64,
    version: AtomicU64,
    geometry: AtomicU64,
    wait: AtomicU64,
    /// One of each side: the creator's first.
    pub(super) sides: [Side; 2],
    /// One of each direction, numbered by its sender.
    pub(super) lanes: [Lane; 2],
}

/// What the other side may learn about one side.
#[repr(C, align(128))]
pub(super) struct Side {
    /// Rung when something changes for this side.
    pub(super) bell: Bell,
    /// Not 0 once this side has closed the link.
    pub(super) closed: AtomicU32,
    /// The only CPU this side may run on, plus one; 0 if it may run on several. Only a hint: it decides when to yield.
    pub(super) home: AtomicU32,
}

/// The mapping.
pub(super) struct Map(Mapping);

impl Map {
    /// A fresh file, sealed and mapped, with the memory really there. `wait` must be what the attacher has.
    pub(super) fn create(wait: u64) -> Result<(Self, OwnedFd), LinkError> {
        let (mapping, file) = Mapping::create("pipegauge-shm", SIZE)?;
        let map = Self(mapping);
        let shared = map.shared();
        shared.version.store(VERSION, Ordering::Relaxed);
        shared.geometry.store(GEOMETRY, Ordering::Relaxed);
        shared.wait.store(wait, Ordering::Relaxed);
        shared.magic.store(MAGIC, Ordering::Release);
        Ok((map, file))
    }

    /// Maps a file that the peer created, after checking that it is what [`Map::create`] makes.
    pub(super) fn attach(file: &OwnedFd, wait: u64) -> Result<Self, LinkError> {
        let map = Self(Mapping::attach(file, SIZE)?);
        let shared = map.shared();
        let found = (shared.magic.load(Ordering::Acquire), shared.version.load(Ordering::Relaxed));
        if found != (MAGIC, VERSION) {
            return Err(LinkError::Protocol(format!(
                "its shared memory is not a ring of version {VERSION} (found mark {:#x}, version {}): both sides must run the same pipegauge",
                found.0, found.1
            )));
        }
        if shared.geometry.load(Ordering::Relaxed) != GEOMETRY {
            return Err(LinkError::Protocol("its ring has other sizes: both sides must run the same pipegauge".into()));
        }
        if shared.wait.load(Ordering::Relaxed) != wait {
            return Err(LinkError::Protocol(
                "it waits in another way (spin or block) than this side was told to".into(),
            ));
        }
        Ok(map)
    }

    #[inline(always)]
    pub(super) fn shared(&self) -> &Shared {
        // SAFETY: the mapping is larger than Shared, aligned to a page, lives as long as `self`, and Shared is made of
        // atomics only, for which every bit pattern is a value and concurrent writes by the peer are allowed.
        unsafe { self.0.start().cast::<Shared>().as_ref() }
    }

    /// Copies `bytes` into the data ring of `side`, from `at`.
    #[inline]
    pub(super) fn put(&self, side: usize, at: usize, bytes: &[u8]) {
        assert!(at <= DATA && bytes.len() <= DATA - at, "a piece lies within its ring");
        self.0.put(Self::ring(side) + at, bytes);
    }

    /// Copies from the data ring of `side`, from `at`, into `bytes`.
    #[inline]
    pub(super) fn get(&self, side: usize, at: usize, bytes: &mut [u8]) {
        assert!(at <= DATA && bytes.len() <= DATA - at, "a piece lies within its ring");
        self.0.get(Self::ring(side) + at, bytes);
    }

    /// Where the data ring of `side` begins.
    #[inline(always)]
    fn ring(side: usize) -> usize {
        DATA_START + (side & 1) * DATA
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use rustix::fs::{MemfdFlags, SealFlags};

    use super::super::file::SEALS;
    use super::*;

    fn refusal(file: &OwnedFd) -> String {
        match Map::attach(file, 0) {
            Err(LinkError::Protocol(why)) => why,
            Err(other) => panic!("another error: {other}"),
            Ok(_) => panic!("attached"),
        }
    }

    fn file(size: u64, seals: SealFlags) -> OwnedFd {
        let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&file, size).unwrap();
        rustix::fs::fcntl_add_seals(&file, seals).unwrap();
        file
    }

    #[test]
    fn the_created_file_attaches_and_cannot_shrink() {
        let (_map, fd) = Map::create(0).unwrap();
        assert!(Map::attach(&fd, 0).is_ok());
        assert!(rustix::fs::ftruncate(&fd, 0).is_err());
    }

    #[test]
    fn other_files_are_refused_before_they_are_believed() {
        let size = SIZE as u64;
        assert!(refusal(&file(size, SealFlags::empty())).contains("change size"));
        assert!(refusal(&file(size, SealFlags::SHRINK)).contains("change size"));
        assert!(refusal(&file(size - 1, SEALS)).contains("instead of"));
        assert!(refusal(&file(size + 4096, SEALS)).contains("instead of"));
        assert!(refusal(&file(size, SEALS)).contains("not a ring"));
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        assert!(refusal(&pipe).contains("not shared memory"));
    }

    #[test]
    fn another_version_or_wait_is_refused() {
        let (map, fd) = Map::create(0).unwrap();
        map.shared().wait.store(1, Ordering::Relaxed);
        assert!(refusal(&fd).contains("waits"));
        map.shared().geometry.store(GEOMETRY + 1, Ordering::Relaxed);
        assert!(refusal(&fd).contains("sizes"));
        map.shared().version.store(VERSION + 1, Ordering::Relaxed);
        assert!(refusal(&fd).contains("version 2"));
    }

    #[test]
    fn the_lines_that_both_sides_write_are_apart() {
        assert_eq!(std::mem::offset_of!(Shared, sides) % 128, 0);
        assert_eq!(std::mem::offset_of!(Shared, lanes) % 128, 0);
        assert_eq!(size_of::<Side>() % 128, 0);
        assert_eq!(size_of::<Lane>() % 128, 0);
    }
}
