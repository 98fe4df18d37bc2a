//! What a side knows of its fast connection, out of the peer's reach, in memory that a fork shares: parent and child read and write the
//! same connection, as they do with a kernel's socket.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use libc::c_int;

use crate::ring::{Sink, Source};
use crate::section::Stretch;
use crate::{real, tcp};

/// What the sending direction needs. Under its lock.
pub struct Out {
    pub sink: Sink,
    /// Bytes sent over TCP.
    pub tcp: u64,
    pub phase: u32,
    /// Sends since it was last asked whether the peer still is there.
    pub unasked: u32,
    /// How far the peer had read then, by what it says.
    pub read: u64,
    /// The peer's `leaving` when it was last asked.
    pub left: u32,
    /// What goes over TCP before anything else.
    pub again: Option<Again>,
}

/// What the peer asked for once more, and the kernel has had no room for yet.
pub struct Again {
    /// Where it begins in the ring.
    pub source: Source,
    pub bytes: usize,
    /// The program has ended the direction: that is told once all is gone.
    pub ends: bool,
}

/// What the receiving direction needs. Under its lock.
pub struct In {
    pub source: Source,
    /// Bytes received over TCP.
    pub tcp: u64,
    pub phase: u32,
    /// Bytes that come over TCP before the ring's first, once the peer has said so.
    pub moved_at: Option<u64>,
    /// What is left in the ring was asked to come over TCP: until the peer has heard that, it may be read from the ring all the same.
    pub asked: bool,
    /// The kernel has the end of the stream, or an error, which comes after what is in the ring.
    pub ended: bool,
}

/// A value and the lock of its direction, which outlives a thread or process that dies with it. A process that has the connection to itself, and one
/// thread, only marks that it is within: for signal handlers that were set unseen.
pub struct Locked<T> {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// Not 0 once another process may hold the connection, too.
    shared: AtomicU32,
    within: AtomicU32,
    value: UnsafeCell<T>,
}

/// The page of a side.
pub struct Page {
    pub out: Locked<Out>,
    pub inward: Locked<In>,
    /// Not 0 once another process may hold the connection, too.
    pub shared: AtomicU32,
    /// Who waits for bytes and for room beside other descriptors (`ready`).
    pub interest: [AtomicU32; 2],
    /// Not 0: sets of epoll that hold the connection have the program's own words.
    pub plain_words: AtomicU32,
    /// Not 0 as long as there is something in [`Out::again`].
    pub owed: AtomicU32,
    /// Not 0 once the peer broke the rules, or a process died within a lock.
    pub broken: AtomicU32,
}

impl Page {
    /// Another process is about to hold the connection, too.
    pub fn share(&self) {
        for shared in [&self.shared, &self.out.shared, &self.inward.shared] {
            shared.store(1, Ordering::Relaxed);
        }
    }

    /// The peer broke the rules, or a process died in the midst: nothing is believed any more, and the connection of this descriptor ends.
    pub fn break_off(&self, fd: c_int) {
        self.broken.store(1, Ordering::Relaxed);
        // SAFETY: a descriptor of the program's; a wrong one is refused.
        unsafe { real::shutdown(fd, libc::SHUT_RDWR) };
    }

    /// The same, so that both sides are told of an error, not of an end of file: also who knows of no ring.
    pub fn break_with_error(&self, fd: c_int) {
        if !tcp::reset(fd) {
            return self.break_off(fd);
        }
        self.broken.store(1, Ordering::Relaxed);
    }
}

impl<T> Locked<T> {
    /// Runs `work` with the value. None if a holder died meanwhile: the value may be half changed.
    #[inline(always)]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        // No handler runs amid: it might use the connection, or never come back.
        let stretch = Stretch::begin();
        if stretch.alone && self.shared.load(Ordering::Relaxed) == 0 {
            if self.within.load(Ordering::Relaxed) != 0 {
                return None;
            }
            self.within.store(1, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            // SAFETY: no other thread or process has the value, and a handler that is not put off (`section`) sees the mark.
            let done = work(unsafe { &mut *self.value.get() });
            compiler_fence(Ordering::SeqCst);
            self.within.store(0, Ordering::Relaxed);
            return Some(done);
        }
        self.with_lock(work)
    }

    /// Where the word lies that whoever wants it waits for.
    #[cfg(test)]
    pub fn word(&self) -> usize {
        self.mutex.get() as usize
    }

    fn new(value: T) -> Self {
        let mutex = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Self { mutex, shared: AtomicU32::new(0), within: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    fn with_lock<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: the mutex was made by `Page::new` and lives as long as `self`.
        let taken = unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        if taken != 0 {
            if taken == libc::EOWNERDEAD {
                // Not made consistent: nobody gets it any more.
                // SAFETY: this thread holds it.
                unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
            }
            return None;
        }
        // SAFETY: under the lock, which nobody else holds.
        let done = work(unsafe { &mut *self.value.get() });
        // SAFETY: this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
        Some(done)
    }
}

/// Makes a page; none if the system has no memory for it.
pub fn new() -> Option<NonNull<Page>> {
    let shared = if crate::planted::is("a page of one's own") { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, shared | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping; it overlaps nothing.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Page>(), prot, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let page = NonNull::new(start.cast::<Page>())?;
    let out = Out { sink: Sink::new(false), tcp: 0, phase: 0, unasked: 0, read: 0, left: 0, again: None };
    let inward = In { source: Source::new(), tcp: 0, phase: 0, moved_at: None, asked: false, ended: false };
    // SAFETY: fresh memory of this size, aligned to a page; each part is written before it is used.
    unsafe {
        page.write(Page {
            out: Locked::new(out),
            inward: Locked::new(inward),
            shared: AtomicU32::new(0),
            interest: [const { AtomicU32::new(0) }; 2],
            plain_words: AtomicU32::new(0),
            owed: AtomicU32::new(0),
            broken: AtomicU32::new(0),
        });
        let page = page.as_ref();
        let mut attributes = std::mem::zeroed();
        libc::pthread_mutexattr_init(&raw mut attributes);
        libc::pthread_mutexattr_setpshared(&raw mut attributes, libc::PTHREAD_PROCESS_SHARED);
        libc::pthread_mutexattr_setrobust(&raw mut attributes, libc::PTHREAD_MUTEX_ROBUST);
        // A signal handler that was set unseen, and uses the connection it interrupted, gets an error instead of a deadlock.
        libc::pthread_mutexattr_settype(&raw mut attributes, libc::PTHREAD_MUTEX_ERRORCHECK);
        libc::pthread_mutex_init(page.out.mutex.get(), &raw const attributes);
        libc::pthread_mutex_init(page.inward.mutex.get(), &raw const attributes);
        libc::pthread_mutexattr_destroy(&raw mut attributes);
    }
    Some(page)
}

/// Gives a page back.
///
/// # Safety
/// Nobody of this process uses it any more.
pub unsafe fn free(page: NonNull<Page>) {
    // SAFETY: mapped by `new` with this length; the caller's promise.
    unsafe { libc::munmap(page.as_ptr().cast(), size_of::<Page>()) };
}
