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

/// The lock is this thread's until [`after_fork`], so that a child finds it free.
pub fn before_fork() {
    TAKING.hold();
}

pub fn after_fork(child: bool) {
    if child {
        TAKING.renew();
    } else {
        TAKING.release();
    }
}

/// Memory for one connection, as long as its rings are small; given back when dropped.
pub struct Share(());

impl Share {
    /// One connection more, if there is room for it.
    pub fn take() -> Option<Self> {
        // Not `then_some`: what gives back when it goes must not come to be where nothing was taken.
        take(arena::FIRST as u64).then(|| Self(()))
    }

    /// From now on the slot's, which gives it back.
    pub fn keep(self, slot: &Slot) {
        std::mem::forget(self);
        slot.share.store(arena::FIRST as u32, Ordering::Release);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        give_back(arena::FIRST as u32);
    }
}

/// A connection takes more. False if there is no room for it.
pub fn more(slot: &Slot, bytes: usize) -> bool {
    let taken = take(bytes as u64);
    if taken {
        slot.share.fetch_add(bytes as u32, Ordering::AcqRel);
    }
    taken
}

/// Gives back what a slot kept.
pub fn give_back(bytes: u32) {
    let before = USED.fetch_sub(u64::from(bytes), Ordering::SeqCst);
    report::memory(before - u64::from(bytes));
}

fn take(bytes: u64) -> bool {
    let room = |used: u64| (used + bytes <= settings::get().memory).then_some(used + bytes);
    let Ok(before) = USED.fetch_update(Ordering::SeqCst, Ordering::SeqCst, room) else { return false };
    while u64::from(TICKETS.load(Ordering::SeqCst)) * TICKET < before + bytes {
        if TAKING.with(|()| ticket()) != Some(true) {
            USED.fetch_sub(bytes, Ordering::SeqCst);
            return false;
        }
    }
    report::memory(before + bytes);
    true
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
                let kept = own::hold(socket);
                TICKETS.fetch_add(u32::from(kept), Ordering::SeqCst);
                return kept;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asleep;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_child_of_a_thread_beside_one_that_takes_memory_can_take_some() {
        let [taken, forked, leaves] = [const { AtomicBool::new(false) }; 3];
        let forks = asleep::number();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                TAKING.with(|()| {
                    taken.store(true, Ordering::SeqCst);
                    // Until the fork waits for this; one that does not is over at once.
                    asleep::until_waits(forks, TAKING.word(), &forked);
                    leaves.store(true, Ordering::SeqCst);
                })
            });
            while !taken.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            // SAFETY: the child makes no call but those that a child of a process with several threads may.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    libc::alarm(20);
                    libc::_exit(i32::from(TAKING.with(|()| ()).is_none()));
                }
                let waited = leaves.load(Ordering::SeqCst);
                forked.store(true, Ordering::SeqCst);
                assert!(waited, "the fork came amid what the thread does");
                let mut status = -1;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                assert_eq!(status, 0, "the child waits for a thread that it does not have");
            }
        });
    }
}
