//! Descriptors of the library's own: out of the program's way, few, and never closed by the program, which may close all that it can.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use libc::c_int;

use crate::{guests, real, solo};

/// Numbers of descriptors beyond this are not marked, and not used.
const MOST: usize = 1 << 16;
/// Where they start at most.
const HIGH: u64 = 8000;

static MARKS: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];
/// Those that are only held, and never asked for by their number.
static HELD: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// How many descriptors this process may have, asked now and then.
fn limit() -> u64 {
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let (known, often) = (KNOWN.load(Ordering::Relaxed), ASKED.fetch_add(1, Ordering::Relaxed));
    if known != 0 && !often.is_multiple_of(32) {
        return known;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for one limit.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    KNOWN.store(limit.rlim_cur, Ordering::Relaxed);
    limit.rlim_cur
}

/// Where in a process with this limit the library's descriptors start.
fn first(limit: u64) -> usize {
    (limit / 4 * 3).min(HIGH) as usize
}

/// A descriptor that is this library's from now on, with a number out of the program's way. None if there is no room: the library takes a
/// quarter of what the process may have at most.
pub fn keep(low: OwnedFd) -> Option<RawFd> {
    copy(low.as_raw_fd())
}

/// The same for one that is only held until the process ends. Whether there was room.
pub fn hold(low: OwnedFd) -> bool {
    let kept = copy(low.as_raw_fd());
    if let Some(fd) = kept {
        HELD[fd as usize / 64].fetch_or(1 << (fd % 64), Ordering::Relaxed);
    }
    kept.is_some()
}

/// The program wants this number for something else, and is about to put that in its place: what is there moves to another number, of which `owner`
/// takes note. False if nobody does, or another thread may be about to use the number.
pub fn leave(fd: RawFd, owner: impl FnOnce(RawFd) -> bool) -> bool {
    if !solo::alone() {
        return false;
    }
    let Some(new) = copy(fd) else { return false };
    let (at, bit) = (fd as usize / 64, 1 << (fd % 64));
    let held = HELD[at].load(Ordering::Relaxed) & bit != 0;
    if !held && !owner(new) {
        close(new);
        return false;
    }
    if held {
        HELD[at].fetch_and(!bit, Ordering::Relaxed);
        HELD[new as usize / 64].fetch_or(1 << (new % 64), Ordering::Relaxed);
    }
    MARKS[at].fetch_and(!bit, Ordering::Relaxed);
    COUNT.fetch_sub(1, Ordering::Relaxed);
    true
}

/// The same for a descriptor of the program's, which is closed.
pub fn take(fd: RawFd) -> Option<RawFd> {
    let kept = copy(fd)?;
    // SAFETY: the program is closing it.
    unsafe { real::whole::close(fd) };
    Some(kept)
}

/// A copy of a descriptor, which is this library's.
pub fn copy(low: RawFd) -> Option<RawFd> {
    let limit = limit();
    if u64::from(COUNT.load(Ordering::Relaxed)) >= limit / 4 {
        return None;
    }
    // SAFETY: a copy of a descriptor of this library's own.
    let high = unsafe { real::fcntl(low, libc::F_DUPFD_CLOEXEC, first(limit)) };
    let index = usize::try_from(high).ok()?;
    if index >= MOST {
        // SAFETY: just made.
        unsafe { real::whole::close(high) };
        return None;
    }
    MARKS[index / 64].fetch_or(1 << (index % 64), Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
    Some(high)
}

/// Whether a descriptor is the library's.
#[inline(always)]
pub fn is(fd: RawFd) -> bool {
    usize::try_from(fd).is_ok_and(|at| at < MOST && MARKS[at / 64].load(Ordering::Relaxed) & (1 << (at % 64)) != 0)
}

/// Whether there is any.
#[inline(always)]
pub fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Gives one back.
pub fn close(fd: RawFd) {
    if is(fd) && !guests::keep_numbers() {
        let at = fd as usize;
        MARKS[at / 64].fetch_and(!(1 << (at % 64)), Ordering::Relaxed);
        COUNT.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: this library's own.
        unsafe { real::whole::close(fd) };
    }
}

/// Runs `work` for each run of descriptors from `first` to `last` that has none of the library's.
pub fn around(first: u32, last: u32, mut work: impl FnMut(u32, u32)) {
    let mut from = first;
    if any() {
        for fd in first..=last.min(MOST as u32 - 1) {
            if is(fd as c_int) {
                if fd > from {
                    work(from, fd - 1);
                }
                from = fd + 1;
            }
        }
    }
    if from <= last {
        work(from, last);
    }
}
