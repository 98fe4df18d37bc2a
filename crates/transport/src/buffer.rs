//! Page-aligned memory with a chosen alignment and offset (`--align`, `--offset`): the paper's figure 9 needs both.

use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// `len` bytes that start `offset` bytes after a multiple of `align`. Parts of it are taken as slices.
pub struct Buffer {
    /// Start and length of the whole mapping.
    map: NonNull<u8>,
    mapped: usize,
    /// Where the caller's bytes start within it, and how many there are.
    start: usize,
    len: usize,
    /// How memory that a link's own domain gave goes back there; none where it is this process's mapping.
    release: Option<Box<dyn FnOnce(*mut u8) + Send + Sync>>,
}

// SAFETY: the mapping belongs to this value alone and is reached only through it, like a `Vec<u8>`.
unsafe impl Send for Buffer {}
// SAFETY: as for `Send`; shared references only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Reserves and touches the memory, so that no page fault falls into a measurement. The bytes are zero.
    ///
    /// `align` must be a power of two (`InvalidInput` otherwise, also where the sum of the three overflows); the system's
    /// own error where it has no such memory.
    pub fn new(len: usize, align: usize, offset: usize) -> io::Result<Self> {
        if !align.is_power_of_two() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("an alignment of {align} bytes is not a power of two (1, 2, 4, ... 4096, ...)"),
            ));
        }
        let page = rustix::param::page_size();
        // A mapping starts at a page, so only a larger alignment needs room to move within it.
        let slack = align.saturating_sub(page);
        let mapped = len
            .checked_add(offset)
            .and_then(|n| n.checked_add(slack))
            .and_then(|n| n.max(1).checked_next_multiple_of(page))
            .filter(|n| *n <= isize::MAX as usize)
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{len} bytes at an offset of {offset} from a multiple of {align} exceed the address space"),
                )
            })?;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing memory.
        let at = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )
        }?;
        let map = NonNull::new(at.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let start = at.addr().next_multiple_of(align) - at.addr() + offset;
        let mut buffer = Self { map, mapped, start, len, release: None };
        // MAP_POPULATE may stop early without saying so; a write to each page can't. The bytes need not start with a page,
        // so the last one may lie on a page of its own.
        for at in touched(len, page) {
            // SAFETY: the reference is valid and exclusive; volatile keeps the write of a zero over a zero.
            unsafe { std::ptr::write_volatile(&mut buffer[at], 0) };
        }
        Ok(buffer)
    }

    /// Memory that a link's own domain gave, and how it goes back there.
    ///
    /// # Safety
    ///
    /// `len` bytes from `at` on belong to this value alone until `release` is called, and are initialised.
    pub(crate) unsafe fn lent(at: NonNull<u8>, len: usize, release: Box<dyn FnOnce(*mut u8) + Send + Sync>) -> Self {
        Self { map: at, mapped: 0, start: 0, len, release: Some(release) }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes at {:?})", self.len, self.as_ptr())
    }
}

/// Places among `len` bytes of which at least one lies on each page that they touch, wherever they start.
fn touched(len: usize, page: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(page).chain(len.checked_sub(1))
}

impl Deref for Buffer {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `start + len` lies within the mapping, which is readable, zeroed by the kernel and lives as long as
        // `self`.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(self.start), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the mapping is writable and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_ptr().add(self.start), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            return release(self.map.as_ptr());
        }
        // SAFETY: this mapping was made by `new` with this length and nothing refers to it any more. It can fail only for
        // a wrong address, which would be our own bug; the memory is then kept, which harms nobody.
        let _ = unsafe { munmap(self.map.as_ptr().cast(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_at_the_offset_from_the_alignment() {
        for align in [1, 8, 64, 4096, 1 << 16, 1 << 21] {
            for offset in [0, 1, 3, 64, 5000] {
                let mut b = Buffer::new(10_000, align, offset).unwrap();
                assert_eq!((b.as_ptr().addr() - offset) % align, 0, "align {align} offset {offset}");
                assert_eq!(b.len(), 10_000);
                assert!(b.iter().all(|x| *x == 0));
                b[9_999] = 7;
                b[0] = 1;
                assert_eq!((b[0], b[9_999]), (1, 7));
            }
        }
    }

    #[test]
    fn every_page_is_touched_wherever_the_bytes_start() {
        for (len, start) in [(4096, 0), (4096, 100), (1, 4095), (8192, 4095), (10_000, 5000), (2, 4095)] {
            let pages: std::collections::BTreeSet<usize> = touched(len, 4096).map(|at| (start + at) / 4096).collect();
            let all = (start / 4096)..=((start + len - 1) / 4096);
            assert!(pages.into_iter().eq(all), "{len} bytes from {start}");
        }
        assert_eq!(touched(0, 4096).count(), 0);
    }

    #[test]
    fn may_be_empty() {
        assert!(Buffer::new(0, 64, 0).unwrap().is_empty());
    }

    #[test]
    fn refuses_what_cannot_be() {
        for align in [0, 3, 100] {
            let e = Buffer::new(10, align, 0).unwrap_err();
            assert!(e.to_string().contains("power of two"), "{e}");
        }
        assert_eq!(Buffer::new(usize::MAX, 1 << 20, 10).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(Buffer::new(1 << 60, 1, 0).is_err());
    }

    #[test]
    fn moves_between_threads() {
        let mut b = Buffer::new(100, 64, 1).unwrap();
        b[50] = 5;
        let b = std::thread::spawn(move || b).join().unwrap();
        assert_eq!(b[50], 5);
    }
}
