//! How many processes hold a connection that was the kernel's when one of them forked. It can be fast as soon as one process alone has it: whoever else still
//! had it would go past the ring.
//!
//! The counts lie in memory that forks share, next to nothing but each other. A process takes itself off when its last descriptor is closed and none of its
//! threads is in a call on the connection, and when it ends by `_exit` with one thread. One that is killed, starts another program, or ends by `exit` without
//! closing (what runs there after this library may still send) never does: then the connection stays the kernel's, and its count is not free again. So it stays
//! where a process gave it up: other programs may have it then, which nobody counts.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Counts of a process and its forks at most; connections beyond them stay with the kernel. 0: free.
const MOST: usize = 4096;

type Counts = [AtomicU32; MOST];

/// In a count: a process gave the connection up, so no other may take itself for the only one.
const KEPT: u32 = 1 << 31;

/// Where a free count was found last.
static LAST: AtomicUsize = AtomicUsize::new(0);
static COUNTS: AtomicPtr<Counts> = AtomicPtr::new(std::ptr::null_mut());

/// Which count a connection has: its number plus one; 0: this process alone holds it.
pub struct Holders(AtomicU32);

impl Holders {
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Whether other processes may hold it.
    pub fn several(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    fn count(&self) -> Option<&'static AtomicU32> {
        at(self.0.load(Ordering::SeqCst).checked_sub(1)? as usize)
    }

    /// One process more holds it. False if it can't be counted.
    pub fn one_more(&self) -> bool {
        if let Some(count) = self.count() {
            let more = change(count, |now| now + 1);
            if !more {
                // Another thread has just found that this process is alone.
                self.0.store(0, Ordering::SeqCst);
            }
            return more;
        }
        let Some(counts) = counts() else { return false };
        let free = |at: &usize| {
            let count = &counts[*at];
            count.load(Ordering::Relaxed) == 0
                && count.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let last = LAST.load(Ordering::Relaxed);
        let Some(found) = (0..MOST).map(|i| (last + i) % MOST).find(free) else { return false };
        LAST.store(found, Ordering::Relaxed);
        self.0.store(found as u32 + 1, Ordering::SeqCst);
        true
    }

    /// The process that was counted has not come to be.
    pub fn one_less(&self) {
        if let Some(count) = self.count() {
            change(count, without_one);
        }
    }

    /// None of those that hold it is to take itself for the only one any more.
    pub fn keep(&self) {
        if let Some(count) = self.count() {
            change(count, |now| now | KEPT);
        }
    }

    /// Whether this process alone holds it by now; then it need not be asked again.
    pub fn alone(&self) -> bool {
        let Some(count) = self.count() else { return true };
        let alone = count.compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
            || crate::planted::is("two take themselves for one");
        if alone {
            self.0.store(0, Ordering::SeqCst);
        }
        alone
    }

    /// This process holds it no more.
    pub fn leave(&self) {
        self.one_less();
        self.0.store(0, Ordering::SeqCst);
    }
}

/// Changes a count that is not free.
fn change(count: &AtomicU32, to: impl Fn(u32) -> u32) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| (now != 0).then(|| to(now))).is_ok()
}

/// The last one frees it.
fn without_one(now: u32) -> u32 {
    if now & !KEPT <= 1 { 0 } else { now - 1 }
}

fn at(number: usize) -> Option<&'static AtomicU32> {
    // SAFETY: mapped once for as long as the process is; atomic integers.
    unsafe { COUNTS.load(Ordering::Acquire).as_ref() }?.get(number)
}

/// The counts, made with the first fork that has need of them.
fn counts() -> Option<&'static Counts> {
    if COUNTS.load(Ordering::Acquire).is_null() {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping; it overlaps nothing. It is given back if another thread was first.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), size_of::<Counts>(), prot, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            let (none, made) = (std::ptr::null_mut(), start.cast());
            if COUNTS.compare_exchange(none, made, Ordering::AcqRel, Ordering::Acquire).is_err() {
                libc::munmap(start, size_of::<Counts>());
            }
        }
    }
    // SAFETY: as above.
    unsafe { COUNTS.load(Ordering::Acquire).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_left_is_alone_and_the_count_is_free_again() {
        let (mine, other) = (Holders::new(), Holders::new());
        assert!(mine.alone() && !mine.several());
        for _ in 0..3 * MOST {
            assert!(mine.one_more() && mine.several());
            // As in a child, and in a child of its own.
            other.0.store(mine.0.load(Ordering::SeqCst), Ordering::SeqCst);
            assert!(other.one_more());
            other.leave();
            assert!(!mine.alone());
            other.0.store(mine.0.load(Ordering::SeqCst), Ordering::SeqCst);
            other.leave();
            assert!(mine.alone() && !mine.several());
        }
    }

    #[test]
    fn nobody_is_alone_with_what_was_given_up_and_nobody_leaves_who_is_not_counted() {
        let (mine, other) = (Holders::new(), Holders::new());
        assert!(mine.one_more() && mine.one_more());
        other.0.store(mine.0.load(Ordering::SeqCst), Ordering::SeqCst);
        other.keep();
        other.leave();
        mine.one_less();
        assert!(!mine.alone() && mine.several());
        other.0.store(mine.0.load(Ordering::SeqCst), Ordering::SeqCst);
        mine.leave();
        // Free: what is not counted neither counts nor leaves.
        other.keep();
        other.one_less();
        assert_eq!(other.count().unwrap().load(Ordering::SeqCst), 0);
        assert!(!other.one_more() && !other.several());
    }
}
