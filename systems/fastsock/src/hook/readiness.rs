//! Calls that ask which descriptors are ready. A connection that is asked about is the kernel's from then on; what it left in the ring makes it
//! readable until it is read.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::Mutex;

use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use crate::{real, retire, slot};

/// Bytes left in a ring make this many of the descriptors readable.
///
/// # Safety
/// `fds` points to `count` entries.
unsafe fn left(fds: *mut pollfd, count: nfds_t) -> bool {
    let mut any = false;
    for i in 0..count as usize {
        // SAFETY: the caller's promise.
        let ask = unsafe { &*fds.add(i) };
        if let Some(slot) = retire::retire_fd(ask.fd) {
            any |= ask.events & (libc::POLLIN | libc::POLLRDNORM) != 0 && retire::readable(&slot);
        }
    }
    any
}

/// Adds what the rings make readable to what the kernel found.
///
/// # Safety
/// As above.
unsafe fn add_left(fds: *mut pollfd, count: nfds_t, found: c_int) -> c_int {
    let mut found = found.max(0);
    for i in 0..count as usize {
        // SAFETY: the caller's promise.
        let ask = unsafe { &mut *fds.add(i) };
        let wanted = ask.events & (libc::POLLIN | libc::POLLRDNORM);
        if wanted != 0 && slot::of(ask.fd).is_some_and(|slot| retire::readable(&slot)) {
            found += c_int::from(ask.revents == 0);
            ask.revents |= wanted;
        }
    }
    found
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe {
        if !fds.is_null() && left(fds, count) {
            let found = real::poll(fds, count, 0);
            return add_left(fds, count, found);
        }
        real::poll(fds, count, timeout)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { poll(fds, count, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: usize) -> c_int {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: ends the process, as the C library does.
        unsafe { libc::abort() };
    }
    // SAFETY: as above.
    unsafe { poll(fds, count, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if !fds.is_null() && left(fds, count) {
            let now = timespec { tv_sec: 0, tv_nsec: 0 };
            let found = real::ppoll(fds, count, &raw const now, mask);
            return add_left(fds, count, found);
        }
        real::ppoll(fds, count, timeout, mask)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: usize,
) -> c_int {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: ends the process, as the C library does.
        unsafe { libc::abort() };
    }
    // SAFETY: as above.
    unsafe { ppoll(fds, count, timeout, mask) }
}

/// The connections of a call to `select` go back to the kernel; those with bytes left in the ring.
///
/// # Safety
/// Each set is null or one.
unsafe fn select_left(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set) -> Vec<c_int> {
    let mut left = Vec::new();
    slot::each(0, usize::try_from(count).unwrap_or(0).saturating_sub(1), |fd| {
        // SAFETY: the caller's promise; the set has room for `count` descriptors.
        let among = |set: *mut fd_set| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
        if fd < count && (among(read) || among(write) || among(except)) {
            let slot = retire::retire_fd(fd);
            if among(read) && slot.is_some_and(|slot| retire::readable(&slot)) {
                left.push(fd);
            }
        }
    });
    left
}

/// Adds them to what the kernel found.
///
/// # Safety
/// As above.
unsafe fn select_add(left: &[c_int], read: *mut fd_set, found: c_int) -> c_int {
    let mut found = found.max(0);
    for &fd in left {
        // SAFETY: each was in the set.
        unsafe {
            if !libc::FD_ISSET(fd, read) {
                libc::FD_SET(fd, read);
                found += 1;
            }
        }
    }
    found
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let left = select_left(count, read, write, except);
        if left.is_empty() {
            return real::select(count, read, write, except, timeout);
        }
        let mut now = timeval { tv_sec: 0, tv_usec: 0 };
        let found = real::select(count, read, write, except, &raw mut now);
        select_add(&left, read, found)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let left = select_left(count, read, write, except);
        if left.is_empty() {
            return real::pselect(count, read, write, except, timeout, mask);
        }
        let now = timespec { tv_sec: 0, tv_nsec: 0 };
        let found = real::pselect(count, read, write, except, &raw const now, mask);
        select_add(&left, read, found)
    }
}

/// What an epoll watches of a connection that left bytes in the ring.
struct Watched {
    epoll: c_int,
    fd: c_int,
    event: epoll_event,
}

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_ctl(epoll: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    let slot = retire::retire_fd(fd);
    if retire::any_left()
        && let Ok(mut watched) = WATCHED.lock()
    {
        watched.retain(|one| (one.epoll, one.fd) != (epoll, fd));
        if op != libc::EPOLL_CTL_DEL && !event.is_null() && slot.is_some_and(|slot| retire::readable(&slot)) {
            // SAFETY: the caller's promise.
            watched.push(Watched { epoll, fd, event: unsafe { *event } });
        }
    }
    // SAFETY: as above.
    unsafe { real::epoll_ctl(epoll, op, fd, event) }
}

/// Events for bytes left in rings, as many as fit.
///
/// # Safety
/// `events` has room for `count`.
unsafe fn epoll_left(epoll: c_int, events: *mut epoll_event, count: c_int) -> c_int {
    let Ok(mut watched) = WATCHED.lock() else { return 0 };
    let mut found = 0;
    watched.retain(|one| {
        if one.epoll != epoll {
            return true;
        }
        let wants = one.event.events & libc::EPOLLIN as u32 != 0;
        let left = slot::of(one.fd).is_some_and(|slot| retire::readable(&slot));
        if left && wants && found < count {
            // SAFETY: the caller's promise.
            unsafe { *events.add(found as usize) = epoll_event { events: libc::EPOLLIN as u32, u64: one.event.u64 } };
            found += 1;
            // An edge, or a single event, is told once.
            return one.event.events & (libc::EPOLLET | libc::EPOLLONESHOT) as u32 == 0;
        }
        left
    });
    found
}

/// # Safety
/// As `epoll_pwait`.
unsafe fn epoll_both(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    kernel: impl Fn(*mut epoll_event, c_int, c_int) -> c_int,
) -> c_int {
    if !retire::any_left() || events.is_null() {
        return kernel(events, count, timeout);
    }
    // SAFETY: the caller's promise.
    let left = unsafe { epoll_left(epoll, events, count) };
    if left == 0 || left == count {
        return if left == 0 { kernel(events, count, timeout) } else { left };
    }
    // SAFETY: there is room for the rest.
    left + kernel(unsafe { events.add(left as usize) }, count - left, 0).max(0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(epoll: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        epoll_both(epoll, events, count, timeout, |events, count, timeout| {
            real::epoll_wait(epoll, events, count, timeout)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        epoll_both(epoll, events, count, timeout, |events, count, timeout| {
            real::epoll_pwait(epoll, events, count, timeout, mask)
        })
    }
}
