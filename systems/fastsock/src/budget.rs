//! How much memory connections may share with their peers: so much for each process, and so much for all of a user.
//!
//! The user's is a number of tickets, each a bound name in the abstract space, which the kernel takes back when a process ends, however it
//! ends. A process takes tickets as its connections need them and keeps them.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::lock::Lock;
use crate::slot::Slot;
use crate::{arena, own, report, settings};

/// Bytes that a ticket is good for.
pub const TICKET: u64 = 4 << 20;
/// Names that are tried at most: what a user may have is never more than as many tickets.
const MOST: u64 = 4096;

static USED: AtomicU64 = AtomicU64::new(0);
static TICKETS: AtomicU32 = AtomicU32::new(0);
static TAKING: Lock<()> = Lock::new(());

/// Memory for one connection; given back when dropped.
pub struct Share(());

impl Share {
    /// One connection more, if there is room for it.
    pub fn take() -> Option<Self> {
        let bytes = arena::LEN as u64;
        let room = |used: u64| (used + bytes <= settings::get().memory).then_some(used + bytes);
        let before = USED.fetch_update(Ordering::SeqCst, Ordering::SeqCst, room).ok()?;
        let share = Self(());
        while u64::from(TICKETS.load(Ordering::SeqCst)) * TICKET < before + bytes {
            // Dropped, it gives back what was counted.
            if TAKING.with(|()| ticket()) != Some(true) {
                return None;
            }
        }
        report::memory(before + bytes);
        Some(share)
    }
}

impl Share {
    /// From now on the slot's, which gives it back.
    pub fn keep(self, slot: &Slot) {
        std::mem::forget(self);
        slot.share.store(1, Ordering::Release);
    }

    /// Gives back what a slot kept.
    pub fn give_back() {
        drop(Self(()));
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let before = USED.fetch_sub(arena::LEN as u64, Ordering::SeqCst);
        report::memory(before - arena::LEN as u64);
    }
}

/// Binds a name that nobody has.
fn ticket() -> bool {
    let count = (settings::get().memory_of_user / TICKET).min(MOST);
    // SAFETY: plain questions to the system.
    let (user, process) = unsafe { (libc::geteuid(), libc::getpid().cast_unsigned()) };
    for at in 0..count {
        let number = (u64::from(process) + at) % count;
        // SAFETY: a new descriptor; an address of this length.
        unsafe {
            let fd = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
            if fd < 0 {
                return false;
            }
            let socket = OwnedFd::from_raw_fd(fd);
            let (address, len) = crate::meet::abstract_name(&format!("fastsock-memory/{user}/{number}"));
            if libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) == 0 {
                let kept = own::keep(socket).is_some();
                TICKETS.fetch_add(u32::from(kept), Ordering::SeqCst);
                return kept;
            }
        }
    }
    false
}
