//! The shared memory itself: a sealed memfd, its layout and its mapping.
//!
//! The peer is another process and may be hostile. The seals keep it from shrinking the file under this side's feet (a
//! read beyond the end would kill the process), the size is checked before mapping, and everything within is atomic
//! integers or raw bytes, so that whatever the peer writes is a value and not undefined behaviour.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use super::bell::Bell;
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
/// The file can neither shrink nor grow nor lose its seals. (Writing stays allowed: it is what the file is for.)
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
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

/// The mapping; unmapped on drop.
pub(super) struct Map {
    start: NonNull<u8>,
}

// SAFETY: the mapping is plain memory reached through atomics and raw copies; it belongs to no thread.
unsafe impl Send for Map {}

impl Map {
    /// A fresh file, sealed and mapped, with the memory really there. `wait` must be what the attacher has.
    pub(super) fn create(wait: u64) -> Result<(Self, OwnedFd), LinkError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("pipegauge-shm", flags)
            .map_err(|e| LinkError::io("creating shared memory (memfd_create)", e))?;
        // Reserved now: in a container with little memory this is an error here rather than a killed process later.
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, SIZE as u64)
            .map_err(|e| LinkError::io(format!("reserving {SIZE} bytes of shared memory"), e))?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|e| LinkError::io("sealing shared memory", e))?;
        let map = Self::of(&file)?;
        let shared = map.shared();
        shared.version.store(VERSION, Ordering::Relaxed);
        shared.geometry.store(GEOMETRY, Ordering::Relaxed);
        shared.wait.store(wait, Ordering::Relaxed);
        shared.magic.store(MAGIC, Ordering::Release);
        Ok((map, file))
    }

    /// Maps a file that the peer created, after checking that it is what [`Map::create`] makes.
    pub(super) fn attach(file: &OwnedFd, wait: u64) -> Result<Self, LinkError> {
        let seals = rustix::fs::fcntl_get_seals(file)
            .map_err(|e| LinkError::Protocol(format!("what it sent is not shared memory that can be sealed ({e})")))?;
        if !seals.contains(SEALS) {
            return Err(LinkError::Protocol(format!("its shared memory can still change size (seals: {seals:?})")));
        }
        let size = rustix::fs::fstat(file).map_err(|e| LinkError::io("looking at shared memory", e))?.st_size;
        if size != SIZE as i64 {
            return Err(LinkError::Protocol(format!("its shared memory has {size} bytes instead of {SIZE}")));
        }
        let map = Self::of(file)?;
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

    fn of(file: &OwnedFd) -> Result<Self, LinkError> {
        // POPULATE: no page fault falls into a measurement.
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping of SIZE bytes at an address the kernel chooses; it overlaps nothing.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), SIZE, ProtFlags::READ | ProtFlags::WRITE, flags, file.as_fd(), 0)
        };
        let start = start.map_err(|e| LinkError::io(format!("mapping {SIZE} bytes of shared memory"), e))?;
        let start = NonNull::new(start.cast()).ok_or_else(|| {
            LinkError::io("mapping shared memory", std::io::Error::other("the system gave address 0"))
        })?;
        Ok(Self { start })
    }

    #[inline(always)]
    pub(super) fn shared(&self) -> &Shared {
        // SAFETY: the mapping is larger than Shared, aligned to a page, lives as long as `self`, and Shared is made of
        // atomics only, for which every bit pattern is a value and concurrent writes by the peer are allowed.
        unsafe { self.start.cast::<Shared>().as_ref() }
    }

    /// Copies `bytes` into the data ring of `side`, from `at`.
    #[inline]
    pub(super) fn put(&self, side: usize, at: usize, bytes: &[u8]) {
        assert!(at <= DATA && bytes.len() <= DATA - at, "a piece lies within its ring");
        // SAFETY: the destination lies within the mapping (asserted; `side` is 0 or 1 by `ring`), the source is private
        // memory. A peer that breaks the rules may read or write the same bytes meanwhile: the contents of a message are
        // then wrong, as they would be had it sent others; no reference to these bytes ever exists.
        unsafe { self.ring(side).add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Copies from the data ring of `side`, from `at`, into `bytes`.
    #[inline]
    pub(super) fn get(&self, side: usize, at: usize, bytes: &mut [u8]) {
        assert!(at <= DATA && bytes.len() <= DATA - at, "a piece lies within its ring");
        // SAFETY: as in `put`, in the other direction.
        unsafe { self.ring(side).add(at).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) }
    }

    #[inline(always)]
    fn ring(&self, side: usize) -> *mut u8 {
        let start = DATA_START + (side & 1) * DATA;
        // SAFETY: DATA_START + 2 * DATA is the size of the mapping, so both rings lie within it.
        unsafe { self.start.as_ptr().add(start) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `of` with this size, and no reference into it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), SIZE) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
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
    fn foreign_files_are_refused_before_they_are_believed() {
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
