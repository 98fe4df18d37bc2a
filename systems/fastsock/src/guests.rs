//! Processes that `clone` made and that share this one's memory: what the tables say of descriptors may be wrong for them, as each may have descriptors of its own.
//!
//! A *guest* has this process's memory while the thread that made it waits (`CLONE_VM` with `CLONE_VFORK`, what `vfork` is to the kernel), and its own
//! descriptors: what it closes or copies there is nothing to the tables. While there is one, a number is believed to mean a connection only where the
//! kernel says that it is that socket. One that shares the descriptors as well (`CLONE_FILES`) is *kin*: it acts as the thread would that waits for it. With
//! *strangers*, of whom nothing of the kind is known, all connections are the kernel's (`retire::for_strangers`), and numbers are asked about for good.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use crate::{activate, real, solo, tcp};

/// Not 0: numbers may mean something else than the tables say.
static DOUBTS: AtomicU32 = AtomicU32::new(0);
/// Guests and kin that there are, and whether there may be strangers.
static COUNT: AtomicU32 = AtomicU32::new(0);
static STRANGERS: AtomicBool = AtomicBool::new(false);
/// Another process has these descriptors, but not this memory.
static NUMBERS_SHARED: AtomicBool = AtomicBool::new(false);
/// The numbers of kin; -1: taken for one that has not begun yet, 0: free.
static KIN: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];

/// Whether a descriptor is to be compared with what the tables say.
#[inline(always)]
pub fn doubted() -> bool {
    DOUBTS.load(Ordering::Relaxed) != 0
}

/// Whether the calling process's descriptor of this number is the socket.
#[cold]
pub fn means(fd: i32, inode: u64) -> bool {
    let errno = real::errno();
    let same = tcp::inode(fd) == inode;
    real::fail(errno);
    same
}

/// Whether the caller is one of those that have this process's memory, but are not this process.
pub fn is_one() -> bool {
    (COUNT.load(Ordering::SeqCst) != 0 || STRANGERS.load(Ordering::SeqCst)) && !activate::own_process()
}

/// Whether the caller is one of those with descriptors of its own.
pub fn apart() -> bool {
    is_one() && !activate::in_process()
}

/// Whether it has this process's descriptors as well, and its maker waits for it.
pub fn is_kin(process: i32) -> bool {
    KIN.iter().any(|kin| kin.load(Ordering::SeqCst) == process)
}

/// That there is a guest, until it is dropped.
pub struct Guest(());

impl Guest {
    pub fn begin() -> Self {
        COUNT.fetch_add(1, Ordering::SeqCst);
        doubt();
        Self(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::SeqCst);
        if DOUBTS.fetch_sub(1, Ordering::SeqCst) == 1 {
            solo::believe();
        }
    }
}

/// That there is kin, until it is dropped.
pub struct Kin(usize);

impl Kin {
    /// None if there are too many.
    pub fn begin() -> Option<Self> {
        let free = |kin: &AtomicI32| kin.compare_exchange(0, -1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let at = KIN.iter().position(free)?;
        COUNT.fetch_add(1, Ordering::SeqCst);
        Some(Self(at))
    }

    /// It is the calling process.
    pub fn enter(&self) {
        // SAFETY: asks for a number.
        KIN[self.0].store(unsafe { libc::getpid() }, Ordering::SeqCst);
    }
}

impl Drop for Kin {
    fn drop(&mut self) {
        KIN[self.0].store(0, Ordering::SeqCst);
        COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

/// From now on there are. `numbers`: such a process has the descriptors, and a memory of its own.
pub fn strangers(numbers: bool) {
    NUMBERS_SHARED.fetch_or(numbers, Ordering::SeqCst);
    if !STRANGERS.swap(true, Ordering::SeqCst) {
        doubt();
    }
}

/// Whether the library's own descriptors are to stay open: another process knows them by their numbers, and not that they are closed.
pub fn keep_numbers() -> bool {
    NUMBERS_SHARED.load(Ordering::Relaxed)
}

fn doubt() {
    solo::doubt();
    DOUBTS.fetch_add(1, Ordering::SeqCst);
}
