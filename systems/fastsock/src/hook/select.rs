//! `select` and `pselect`, by way of poll where they concern a connection that is followed.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::time::{Duration, Instant};

use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, c_int, c_ulong, fd_set, pollfd, sigset_t, timespec, timeval,
};

use super::poll;
use crate::{real, slot, watch};

/// For each set: what is asked of a descriptor in it, and what counts as an answer.
const KINDS: [(i16, i16); 3] = [
    (POLLIN | libc::POLLRDNORM | libc::POLLRDBAND, POLLIN | libc::POLLRDNORM | libc::POLLRDBAND | POLLHUP | POLLERR),
    (POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND, POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND | POLLERR),
    (POLLPRI, POLLPRI),
];
const BITS: usize = c_ulong::BITS as usize;

/// The program's three sets, each null or with room for `count` descriptors.
struct Sets {
    sets: [*mut c_ulong; 3],
    count: usize,
}

impl Sets {
    fn has(&self, kind: usize, fd: usize) -> bool {
        let set = self.sets[kind];
        // SAFETY: the set has room for the descriptor.
        !set.is_null() && unsafe { *set.add(fd / BITS) } >> (fd % BITS) & 1 != 0
    }

    fn put(&self, kind: usize, fd: usize) {
        // SAFETY: as above; asked of this set, which is not null.
        unsafe { *self.sets[kind].add(fd / BITS) |= 1 << (fd % BITS) };
    }

    fn clear(&self) {
        for set in self.sets.into_iter().filter(|set| !set.is_null()) {
            // SAFETY: as above.
            unsafe { std::ptr::write_bytes(set, 0, self.count.div_ceil(BITS)) };
        }
    }

    fn concern(&self) -> bool {
        (0..self.count).any(|fd| {
            (slot::tracked(fd as c_int) || watch::set_of(fd as c_int).is_some())
                && (0..3).any(|kind| self.has(kind, fd))
        })
    }
}

/// Selects by polling.
fn by_poll(sets: &Sets, limit: Option<Duration>, mask: *const sigset_t) -> c_int {
    let mut fds: Vec<pollfd> = Vec::new();
    for fd in 0..sets.count {
        let events = (0..3).filter(|&kind| sets.has(kind, fd)).fold(0, |events, kind| events | KINDS[kind].0);
        if events != 0 {
            fds.push(pollfd { fd: fd as c_int, events, revents: 0 });
        }
    }
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let found = poll::poll_in(&mut fds, left, mask, |fds| {
            let time = left.map(poll::timespec_of);
            let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: as many entries; a time or none; the program's mask.
            unsafe { real::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, time, mask) }
        });
        if found < 0 {
            return found;
        }
        if fds.iter().any(|ask| ask.revents & POLLNVAL != 0) {
            return real::fail(libc::EBADF) as c_int;
        }
        let answers: Vec<(usize, usize)> = fds
            .iter()
            .flat_map(|ask| (0..3).map(move |kind| (kind, ask)))
            .filter(|&(kind, ask)| ask.revents & KINDS[kind].1 != 0 && sets.has(kind, ask.fd as usize))
            .map(|(kind, ask)| (kind, ask.fd as usize))
            .collect();
        if answers.is_empty() && found > 0 {
            // A hang-up that no set asks about: the others go on.
            fds.retain(|ask| ask.revents == 0);
            continue;
        }
        sets.clear();
        answers.iter().for_each(|&(kind, fd)| sets.put(kind, fd));
        return answers.len() as c_int;
    }
}

fn sets(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set) -> Sets {
    Sets { sets: [read.cast(), write.cast(), except.cast()], count: usize::try_from(count).unwrap_or(0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe {
        let sets = sets(count, read, write, except);
        let time = timeout.as_ref().and_then(|time| {
            Some(
                Duration::new(u64::try_from(time.tv_sec).ok()?, 0)
                    + Duration::from_micros(u64::try_from(time.tv_usec).ok()?),
            )
        });
        if !sets.concern() || (time.is_none() && !timeout.is_null()) {
            return real::select(count, read, write, except, timeout);
        }
        let begun = Instant::now();
        let found = real::keeping_errno(|| by_poll(&sets, time, std::ptr::null()));
        if let (Some(timeout), Some(time)) = (timeout.as_mut(), time) {
            let left = time.saturating_sub(begun.elapsed());
            (timeout.tv_sec, timeout.tv_usec) = (left.as_secs() as i64, i64::from(left.subsec_micros()));
        }
        found
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: as above.
    unsafe { select(count, read, write, except, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let sets = sets(count, read, write, except);
        let time = timeout.as_ref().and_then(poll::duration);
        if !sets.concern() || (time.is_none() && !timeout.is_null()) {
            return real::pselect(count, read, write, except, timeout, mask);
        }
        real::keeping_errno(|| by_poll(&sets, time, mask))
    }
}
