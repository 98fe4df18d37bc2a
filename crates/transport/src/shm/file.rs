//! A sealed file in memory, and a mapping of it.
//!
//! The peer is another process and may be hostile. The seals keep it from shrinking the file under this side's feet (a read beyond the end
//! would kill the process), and file system and size are checked before mapping: a file of the other file system that takes seals could run
//! out of huge pages at any access. What the peer writes is copied, or read as atomic integers: no reference to these bytes ever exists.

use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::LinkError;

/// The file can neither shrink nor grow nor lose its seals. (Writing stays allowed: it is what the file is for.)
pub(super) const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// The file system of memory in ordinary pages (`TMPFS_MAGIC` of linux/magic.h).
const TMPFS: u64 = 0x0102_1994;

/// A mapping of a whole file; unmapped on drop.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is plain memory reached through atomics and raw copies; it belongs to no thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// A fresh file of `len` zeros, sealed and mapped, with the memory really there.
    pub(super) fn create(name: &str, len: usize) -> Result<(Self, OwnedFd), LinkError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(name, flags)
            .map_err(|e| LinkError::io("creating shared memory (memfd_create)", e))?;
        // Reserved now: in a container with little memory this is an error here rather than a killed process later.
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, len as u64)
            .map_err(|e| LinkError::io(format!("reserving {len} bytes of shared memory"), e))?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|e| LinkError::io("sealing shared memory", e))?;
        Ok((Self::of(&file, len)?, file))
    }

    /// Maps a file that the peer created, once it is known to be one that [`Mapping::create`] could have made with `len` bytes.
    pub(super) fn attach(file: &OwnedFd, len: usize) -> Result<Self, LinkError> {
        let seals = rustix::fs::fcntl_get_seals(file)
            .map_err(|e| LinkError::Protocol(format!("what it sent is not shared memory that can be sealed ({e})")))?;
        if !seals.contains(SEALS) {
            return Err(LinkError::Protocol(format!("its shared memory can still change size (seals: {seals:?})")));
        }
        let system = rustix::fs::fstatfs(file).map_err(|e| LinkError::io("looking at shared memory", e))?.f_type;
        if system as u64 != TMPFS {
            return Err(LinkError::Protocol("its shared memory is not of ordinary pages".to_owned()));
        }
        let size = rustix::fs::fstat(file).map_err(|e| LinkError::io("looking at shared memory", e))?.st_size;
        if u64::try_from(size) != Ok(len as u64) {
            return Err(LinkError::Protocol(format!("its shared memory has {size} bytes instead of {len}")));
        }
        Self::of(file, len)
    }

    fn of(file: &OwnedFd, len: usize) -> Result<Self, LinkError> {
        // POPULATE: no page fault falls into a measurement.
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address the kernel chooses; it overlaps nothing.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags, file.as_fd(), 0)
        };
        let start = start.map_err(|e| LinkError::io(format!("mapping {len} bytes of shared memory"), e))?;
        let start = NonNull::new(start.cast()).ok_or_else(|| {
            LinkError::io("mapping shared memory", std::io::Error::other("the system gave address 0"))
        })?;
        Ok(Self { start, len })
    }

    /// Where it begins: at a page.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies `from` to `at`. The caller has checked that it lies within: it is asserted.
    #[inline(always)]
    pub(super) fn put(&self, at: usize, from: &[u8]) {
        assert!(at <= self.len && from.len() <= self.len - at, "bytes lie within their mapping");
        // SAFETY: the destination lies within the mapping (asserted), the source is private memory. A peer that breaks the rules may read or
        // write the same bytes meanwhile: the contents of a message are then wrong, as they would be had it sent others; no reference to
        // these bytes ever exists.
        unsafe { self.start.as_ptr().add(at).copy_from_nonoverlapping(from.as_ptr(), from.len()) }
    }

    /// Copies from `at` into `into`, likewise.
    #[inline(always)]
    pub(super) fn get(&self, at: usize, into: &mut [u8]) {
        assert!(at <= self.len && into.len() <= self.len - at, "bytes lie within their mapping");
        // SAFETY: as in `put`, in the other direction.
        unsafe { self.start.as_ptr().add(at).copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `of` with this length, and no reference into it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
