//! Sealed shared memory, and copies into and out of it.
//!
//! The peer is another process and may be hostile. The seals keep it from shrinking the file under this side's feet (a read beyond the end
//! would kill the process), and file system and size are checked before mapping: a file of another file system that takes seals could run
//! out of huge pages at any access. What the peer writes is copied, or read as atomic integers: no reference to these bytes ever exists.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::Error;
use crate::fetch;
use crate::ring::{Lane, Span};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The file can neither shrink nor grow nor lose its seals. (Writing stays allowed: it is what the file is for.)
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// The file system of memory in ordinary pages (`TMPFS_MAGIC` of linux/magic.h).
const TMPFS: u64 = 0x0102_1994;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// What may be looked at in memory that a hostile peer writes at the same time.
///
/// # Safety
/// Implemented by types made of atomic integers only, of alignment at most a page's: every bit pattern is a value, and all
/// access is atomic.
pub unsafe trait Shared {}

// SAFETY: an atomic integer.
unsafe impl Shared for AtomicU32 {}
// SAFETY: an atomic integer.
unsafe impl Shared for AtomicU64 {}
// SAFETY: two atomic integers.
unsafe impl Shared for Lane {}
// SAFETY: an atomic integer.
unsafe impl Shared for crate::bell::Bell {}
// SAFETY: an array of what is shared.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// Whether a file of this process may have `len` bytes (`RLIMIT_FSIZE`). To be asked first: whoever goes beyond the limit is killed by `SIGXFSZ`, in
/// memory as on a disk.
#[must_use]
pub fn may_have(len: usize) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for one limit.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    asked == 0 && len as u64 <= limit.rlim_cur
}

/// A mapping of a whole sealed file; unmapped on drop.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is plain memory reached through atomics and raw copies; it belongs to no thread.
unsafe impl Send for Memory {}
// SAFETY: as above; what lies in it is never lent as a plain reference.
unsafe impl Sync for Memory {}

impl Memory {
    /// A fresh file of `len` zeros, sealed and mapped, with the memory really there: in a container with little memory this is an
    /// error here rather than a killed process later. The file has no name and is gone with its last user.
    ///
    /// # Errors
    /// What the system refused.
    pub fn create(name: &str, len: usize) -> Result<(Self, OwnedFd), Error> {
        Self::create_partly(name, len, len)
    }

    /// The same, with only the first `there` bytes really there. Others are to be reserved before they are used ([`Memory::reserve`]).
    ///
    /// # Errors
    /// What the system refused.
    pub fn create_partly(name: &str, len: usize, there: usize) -> Result<(Self, OwnedFd), Error> {
        if !may_have(len) {
            let found = io::Error::from_raw_os_error(libc::EFBIG);
            return Err(Error::io(format!("giving shared memory {len} bytes under the limit on file sizes"), found));
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(name, flags).map_err(|e| Error::io("creating shared memory", e))?;
        rustix::fs::ftruncate(&file, len as u64).map_err(|e| Error::io("giving shared memory its size", e))?;
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, there as u64)
            .map_err(|e| Error::io(format!("reserving {there} bytes of shared memory"), e))?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|e| Error::io("sealing shared memory", e))?;
        Ok((Self::map(&file, len)?, file))
    }

    /// Maps a file that the peer created, once it is known to be one that [`Memory::create`] could have made with `len` bytes.
    ///
    /// # Errors
    /// What is wrong with the file, or what the system refused.
    pub fn attach(file: &OwnedFd, len: usize) -> Result<Self, Error> {
        let refuse = |found: String| Error::Memory { found };
        let seals = rustix::fs::fcntl_get_seals(file)
            .map_err(|e| refuse(format!("is not shared memory that can be sealed ({e})")))?;
        if !seals.contains(SEALS) {
            return Err(refuse(format!("can still change size (its seals: {seals:?})")));
        }
        let system = rustix::fs::fstatfs(file).map_err(|e| Error::io("looking at shared memory", e))?.f_type;
        if system as u64 != TMPFS {
            return Err(refuse("is not made of ordinary pages".to_owned()));
        }
        let size = rustix::fs::fstat(file).map_err(|e| Error::io("looking at shared memory", e))?.st_size;
        if u64::try_from(size) != Ok(len as u64) {
            return Err(refuse(format!("has {size} bytes instead of {len}")));
        }
        Self::map(file, len)
    }

    /// Fresh zeros for this process and those that it forks, in no file: no limit on files' sizes holds for them.
    ///
    /// # Errors
    /// What the system refused.
    pub fn without_file(len: usize) -> Result<Self, Error> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address the kernel chooses; it overlaps nothing.
        Self::mapped(unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, prot, flags) }, len)
    }

    fn map(file: &OwnedFd, len: usize) -> Result<Self, Error> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address the kernel chooses; it overlaps nothing.
        Self::mapped(unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, prot, flags, file.as_fd(), 0) }, len)
    }

    fn mapped(start: rustix::io::Result<*mut std::ffi::c_void>, len: usize) -> Result<Self, Error> {
        let start = start.map_err(|e| Error::io(format!("mapping {len} bytes of shared memory"), e))?;
        let start = NonNull::new(start.cast())
            .ok_or_else(|| Error::io("mapping shared memory", io::Error::other("the system gave address 0")))?;
        Ok(Self { start, len })
    }

    /// Makes sure that `len` bytes from `at` on are really there (Linux 5.14). False if the system has no memory for them, or can't say.
    ///
    /// # Panics
    /// If they do not lie within, or do not begin at a page.
    pub fn reserve(&self, at: usize, len: usize) -> bool {
        let start = self.address(at, len);
        // SAFETY: within the mapping; it changes no byte.
        unsafe { rustix::mm::madvise(start.as_ptr().cast(), len, Advice::LinuxPopulateWrite) }.is_ok()
    }

    /// Bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: an empty file can't be mapped.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What lies at `at`.
    ///
    /// # Panics
    /// If it does not lie within, or is not aligned.
    #[inline(always)]
    pub fn object<T: Shared>(&self, at: usize) -> &T {
        assert!(at <= self.len && size_of::<T>() <= self.len - at, "an object lies within its memory");
        assert!(at.is_multiple_of(align_of::<T>()), "an object is aligned");
        // SAFETY: within the mapping and aligned (asserted; the mapping starts at a page), which lives as long as `self`; T is made
        // of atomics only, for which every bit pattern is a value and concurrent writes by the peer are allowed.
        unsafe { self.start.add(at).cast::<T>().as_ref() }
    }

    /// The address of `at`, for who wants to look at registered memory without a copy.
    ///
    /// # Panics
    /// If `len` bytes from there do not lie within.
    pub fn address(&self, at: usize, len: usize) -> NonNull<u8> {
        assert!(at <= self.len && len <= self.len - at, "an address lies within its memory");
        // SAFETY: within the mapping (asserted).
        unsafe { self.start.add(at) }
    }

    /// Copies `from` to `at`.
    ///
    /// # Panics
    /// If it does not fit there.
    #[inline(always)]
    pub fn put(&self, at: usize, from: &[u8]) {
        assert!(at <= self.len && from.len() <= self.len - at, "bytes lie within their memory");
        // SAFETY: the destination lies within the mapping (asserted), the source is private memory. A peer that breaks the rules may read or
        // write the same bytes meanwhile: the contents of a message are then wrong, as they would be had it sent others; no reference to
        // these bytes ever exists.
        unsafe { self.start.as_ptr().add(at).copy_from_nonoverlapping(from.as_ptr(), from.len()) }
    }

    /// Copies from `at` into `into`.
    ///
    /// # Panics
    /// If there are not that many bytes.
    #[inline(always)]
    pub fn get(&self, at: usize, into: &mut [u8]) {
        assert!(at <= self.len && into.len() <= self.len - at, "bytes lie within their memory");
        // SAFETY: as in `put`, in the other direction.
        unsafe { self.start.as_ptr().add(at).copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) }
    }

    /// Copies `from` into the ring whose bytes start at `ring`.
    ///
    /// # Panics
    /// If the span has another length.
    #[inline(always)]
    pub fn put_span(&self, ring: usize, span: Span, from: &[u8]) {
        let (first, second) = from.split_at(span.first);
        assert_eq!(second.len(), span.second, "a span is as long as its bytes");
        self.put(ring + span.at, first);
        if !second.is_empty() {
            self.put(ring, second);
        }
    }

    /// Copies from the ring whose bytes start at `ring`.
    ///
    /// # Panics
    /// If the span has another length.
    #[inline(always)]
    pub fn get_span(&self, ring: usize, span: Span, into: &mut [u8]) {
        let (first, second) = into.split_at_mut(span.first);
        assert_eq!(second.len(), span.second, "a span is as long as its bytes");
        self.get(ring + span.at, first);
        if !second.is_empty() {
            self.get(ring, second);
        }
    }

    /// Asks the CPU for the lines of `len` bytes from `at`, which are to be read: what lies in another CPU's cache comes while this one does something else.
    #[inline(always)]
    pub fn fetch_to_read(&self, at: usize, len: usize) {
        for line in (0..len).step_by(LINE) {
            fetch::to_read(self.start.as_ptr().wrapping_add(at + line));
        }
    }

    /// The same of bytes that are to be written.
    #[inline(always)]
    pub fn fetch_to_write(&self, at: usize, len: usize) {
        for line in (0..len).step_by(LINE) {
            fetch::to_write(self.start.as_ptr().wrapping_add(at + line));
        }
    }

    /// The word at `at`, loaded once.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.object::<AtomicU64>(at).load(Ordering::Relaxed)
    }

    /// Stores a word.
    #[inline(always)]
    pub fn set_word(&self, at: usize, word: u64) {
        self.object::<AtomicU64>(at).store(word, Ordering::Relaxed);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and no reference into it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 8192;

    fn refusal(file: &OwnedFd) -> String {
        match Memory::attach(file, LEN) {
            Err(Error::Memory { found }) => found,
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
    fn the_created_file_attaches_shares_its_bytes_and_cannot_change_size() {
        let (one, file) = Memory::create("test", LEN).unwrap();
        let two = Memory::attach(&file, LEN).unwrap();
        one.put(LEN - 3, b"abc");
        let mut got = [0; 3];
        two.get(LEN - 3, &mut got);
        assert_eq!(&got, b"abc");
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
        assert!(rustix::fs::ftruncate(&file, 2 * LEN as u64).is_err());
        assert!(rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE).is_err());
    }

    #[test]
    fn what_is_not_there_yet_can_be_reserved() {
        let (memory, file) = Memory::create_partly("test", LEN, LEN / 2).unwrap();
        let there = || rustix::fs::fstat(&file).unwrap().st_blocks as usize * 512;
        assert_eq!((memory.len(), there()), (LEN, LEN / 2));
        assert!(memory.reserve(LEN / 2, LEN / 2));
        assert_eq!(there(), LEN);
        assert!(Memory::attach(&file, LEN).is_ok());
    }

    #[test]
    fn other_files_are_refused_before_they_are_believed() {
        let size = LEN as u64;
        assert!(refusal(&file(size, SealFlags::empty())).contains("change size"));
        assert!(refusal(&file(size, SealFlags::SHRINK)).contains("change size"));
        assert!(refusal(&file(size - 1, SEALS)).contains("instead of"));
        assert!(refusal(&file(size + 4096, SEALS)).contains("instead of"));
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        assert!(refusal(&pipe).contains("not shared memory"));
    }

    #[test]
    fn what_is_asked_for_ahead_stays_as_it_is_and_nothing_faults() {
        let (memory, _file) = Memory::create("test", LEN).unwrap();
        memory.put(0, b"abc");
        // Beyond its end, too: a hint.
        for (at, len) in [(0, 3), (0, LEN), (LEN - 1, 200), (1 << 40, 64), (5, 0)] {
            memory.fetch_to_write(at, len);
            memory.fetch_to_read(at, len);
        }
        let mut got = [0; 3];
        memory.get(0, &mut got);
        assert_eq!(&got, b"abc");
    }

    #[test]
    fn a_span_that_goes_over_the_end_is_copied_in_two() {
        let (memory, _file) = Memory::create("test", LEN).unwrap();
        let span = Span { at: 60, first: 4, second: 3 };
        memory.put_span(4096, span, b"abcdefg");
        let (mut end, mut start, mut all) = ([0; 4], [0; 3], [0; 7]);
        memory.get(4096 + 60, &mut end);
        memory.get(4096, &mut start);
        memory.get_span(4096, span, &mut all);
        assert_eq!((&end, &start, &all), (b"abcd", b"efg", b"abcdefg"));
    }

    #[test]
    #[should_panic(expected = "lie within")]
    fn nothing_is_copied_beyond_the_end() {
        let (memory, _file) = Memory::create("test", LEN).unwrap();
        memory.put(LEN - 1, b"ab");
    }
}
