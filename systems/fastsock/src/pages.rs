//! Memory that is not the C library's: for what may run in a handler that interrupted its `malloc`.

use std::ptr::NonNull;

/// Zeros, given back when dropped.
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
}

impl Pages {
    /// Room for `count` values of a kind. None if the system has no memory for it.
    pub fn of<T>(count: usize) -> Option<Self> {
        let len = count.checked_mul(size_of::<T>())?.max(1);
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping; it overlaps nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, prot, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self { start: NonNull::new(start.cast())?, len })
    }

    /// Where it begins: aligned to a page.
    pub fn start<T>(&self) -> *const T {
        self.start.as_ptr().cast_const().cast()
    }

    /// The same, to be written.
    pub fn start_mut<T>(&mut self) -> *mut T {
        self.start.as_ptr().cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `of` with this length; what it lent lived no longer.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
