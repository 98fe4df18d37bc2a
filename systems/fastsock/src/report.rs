//! The table of this process's connections (`table`), made with the first of them.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::slot::Slot;
use crate::table::{HEAD, KERNEL, MAGIC, NAME, ROW, ROWS, Why};
use crate::{activate, own, real, sandbox};

#[repr(C)]
struct Head {
    magic: AtomicU64,
    process: AtomicU32,
    version: AtomicU32,
    memory: AtomicU64,
}

/// A row. Each counter is written under the lock of its direction, or may lose a count.
#[repr(C)]
pub struct Row {
    fd: AtomicI32,
    state: AtomicU32,
    why: AtomicU32,
    inode: AtomicU32,
    pub sent: [AtomicU64; 2],
    pub received: [AtomicU64; 2],
    waits: AtomicU64,
    sleeps: AtomicU64,
}

const _: () = assert!(size_of::<Row>() == ROW && size_of::<Head>() <= HEAD);

static TABLE: AtomicPtr<Head> = AtomicPtr::new(std::ptr::null_mut());
static FILE: AtomicI32 = AtomicI32::new(-1);
/// It could not be made, or is being made.
static NEVER: AtomicU32 = AtomicU32::new(0);

/// The row of a slot's number.
#[inline(always)]
fn row(number: u32) -> Option<&'static Row> {
    let head = TABLE.load(Ordering::Acquire);
    if head.is_null() || number as usize >= ROWS {
        return None;
    }
    // SAFETY: mapped with this many rows, for as long as the process is.
    unsafe { Some(&*head.cast::<u8>().add(HEAD).cast::<Row>().add(number as usize)) }
}

/// Makes the table.
#[cold]
fn make() -> Option<()> {
    if NEVER.swap(1, Ordering::SeqCst) != 0 {
        return None;
    }
    let len = HEAD + ROW * ROWS;
    if !am::memory::may_have(len) {
        return None;
    }
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new descriptor and a new mapping; pages that nothing is written to take no memory.
    unsafe {
        let low = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if low < 0 {
            return None;
        }
        let low = OwnedFd::from_raw_fd(low);
        // Whoever reads it can't make it shorter.
        if libc::ftruncate(low.as_raw_fd(), len as i64) != 0
            || real::fcntl(low.as_raw_fd(), libc::F_ADD_SEALS, (libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) as usize) != 0
        {
            return None;
        }
        let start = libc::mmap(std::ptr::null_mut(), len, prot, flags, low.as_raw_fd(), 0);
        if start == libc::MAP_FAILED {
            return None;
        }
        FILE.store(own::keep(low)?, Ordering::SeqCst);
        let head = start.cast::<Head>();
        (*head).process.store(libc::getpid().cast_unsigned(), Ordering::Relaxed);
        (*head).version.store(u32::from(crate::meet::VERSION), Ordering::Relaxed);
        (*head).magic.store(MAGIC, Ordering::Release);
        TABLE.store(head, Ordering::SeqCst);
    }
    NEVER.store(0, Ordering::SeqCst);
    Some(())
}

/// A descriptor means a connection (or listener) of this slot.
pub fn begin(fd: i32, slot: &Slot) {
    // The rows are those of the process that made the table.
    if sandbox::silent() || !activate::in_process() {
        return;
    }
    if TABLE.load(Ordering::Relaxed).is_null() {
        let errno = real::errno();
        make();
        real::fail(errno);
    }
    if let Some(row) = row(slot.number()) {
        let counters = [&row.sent[0], &row.sent[1], &row.received[0], &row.received[1], &row.waits, &row.sleeps];
        counters.into_iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
        // One on which all calls are made there would never learn of it.
        let why = if sandbox::has_ring() { Why::Ring } else { Why::None };
        row.why.store(why as u32, Ordering::Relaxed);
        row.fd.store(fd, Ordering::Relaxed);
        // (It has 32 bits.)
        row.inode.store(slot.inode() as u32, Ordering::Relaxed);
        row.state.store(KERNEL, Ordering::Release);
    }
}

/// Its state is another one.
pub fn state(slot: &Slot, state: u32) {
    if let Some(row) = row(slot.number()) {
        row.state.store(state, Ordering::Release);
    }
}

/// Another descriptor means it.
pub fn descriptor(number: u32, fd: i32) {
    if let Some(row) = row(number) {
        row.fd.store(fd, Ordering::Relaxed);
    }
}

/// Why it is not fast; the first reason counts.
pub fn why(slot: &Slot, why: Why) {
    if let Some(row) = row(slot.number()) {
        let _ = row.why.compare_exchange(0, why as u32, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[inline(always)]
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// A call sent as many bytes.
#[inline(always)]
pub fn sent(slot: &Slot, bytes: usize) {
    if let Some(row) = row(slot.number()) {
        add(&row.sent[0], 1);
        add(&row.sent[1], bytes as u64);
    }
}

/// A call received as many.
#[inline(always)]
pub fn received(slot: &Slot, bytes: usize) {
    if let Some(row) = row(slot.number()) {
        add(&row.received[0], 1);
        add(&row.received[1], bytes as u64);
    }
}

/// A call waits; `sleeps`: in the kernel.
pub fn waits(slot: &Slot, sleeps: bool) {
    if let Some(row) = row(slot.number()) {
        add(if sleeps { &row.sleeps } else { &row.waits }, 1);
    }
}

/// Bytes that this process's connections share.
pub fn memory(bytes: u64) {
    let head = TABLE.load(Ordering::Acquire);
    if !head.is_null() {
        // SAFETY: as long as the process is.
        unsafe { (*head).memory.store(bytes, Ordering::Relaxed) };
    }
}

/// Its descriptor has another number now. Whether it had this one.
pub fn renumber(from: i32, to: i32) -> bool {
    FILE.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// A child has none: its parent's is taken away. It stays in one of which the C library does not know (`clone` as a system call: vsftpd), which
/// must be able to go on writing.
pub fn in_child() {
    let head = TABLE.swap(std::ptr::null_mut(), Ordering::SeqCst);
    if sandbox::silent() {
        return;
    }
    if !head.is_null() {
        // SAFETY: mapped by `make` with this length, and nobody else in a new process looks at it.
        unsafe { libc::munmap(head.cast(), HEAD + ROW * ROWS) };
    }
    NEVER.store(0, Ordering::SeqCst);
    own::close(FILE.swap(-1, Ordering::SeqCst));
}
