//! How connections begin and end: `connect`, `accept`, `shutdown`, `close`.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::Ordering;

use libc::{c_int, c_uint, sockaddr, socklen_t};

use crate::arena::control;
use crate::slot::{self, CONNECTED, Slot};
use crate::{activate, fresh, own, ready, real, receive, recycle, retire, settings, watch};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    let fd = unsafe { real::socket(family, kind, protocol) };
    if fd >= 0 && !settings::get().off {
        fresh::made(fd, family, kind, protocol);
    }
    fd
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    fresh::spoil(fd);
    // SAFETY: as above.
    unsafe { real::bind(fd, address, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn listen(fd: c_int, backlog: c_int) -> c_int {
    fresh::spoil(fd);
    // SAFETY: as above.
    let done = unsafe { real::listen(fd, backlog) };
    if done == 0 && !settings::get().off && !own::is(fd) {
        let errno = real::errno();
        recycle::listened(fd, backlog);
        real::fail(errno);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    let unused = fresh::take(fd);
    // SAFETY: as above.
    unsafe {
        if unused != 0 && recycle::connect(fd, unused, address, len) {
            return 0;
        }
        let made = real::connect(fd, address, len);
        let tcp = || matches!(c_int::from((*address).sa_family), libc::AF_INET | libc::AF_INET6);
        // One that does not wait goes on by itself; whether it comes to be is seen when bytes move.
        let begun = made == 0 || matches!(real::errno(), libc::EINPROGRESS | libc::EINTR);
        if begun && !address.is_null() && tcp() && !settings::get().off {
            slot::track(fd, CONNECTED);
            if let Some(slot) = slot::of(fd) {
                recycle::connected(fd, &slot, if made == 0 { unused } else { 0 }, address, len);
            }
            // It may be in a set already.
            watch::adopt(fd);
        }
        made
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    unsafe { connect(fd, address, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: as above.
    real::keeping_errno(|| unsafe { recycle::accept(fd, address, len, 0, || real::accept(fd, address, len)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: as above.
    real::keeping_errno(|| unsafe {
        recycle::accept(fd, address, len, flags, || real::accept4(fd, address, len, flags))
    })
}

/// Everybody who waits for this side looks again.
pub fn ring_peer(slot: &Slot) {
    if let Some((_, memory)) = slot.parts() {
        let me = slot.me();
        control(memory).ways[me].bytes.ring(slot.peers_event());
        control(memory).ways[1 - me].room.ring(slot.peers_event());
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    if let Some(slot) = slot::of(fd) {
        recycle::plain(fd, &slot);
        recycle::withdraw(&slot, false);
    }
    let held = slot::of(fd).filter(|slot| slot.active());
    if let Some((_, memory)) = held.as_ref().and_then(|slot| slot.parts())
        && (how == libc::SHUT_WR || how == libc::SHUT_RDWR)
    {
        // Before the end of file, so that who sees that sees this.
        control(memory).sides[held.as_ref().map_or(0, |slot| slot.me())].shut.store(1, Ordering::SeqCst);
    }
    if let Some(slot) = held.as_ref().filter(|_| how == libc::SHUT_RD || how == libc::SHUT_RDWR) {
        // What comes from now on may have to be refused with a reset, which the kernel does.
        retire::retire(slot);
    }
    // SAFETY: as above.
    let done = unsafe { real::shutdown(fd, how) };
    if let Some(slot) = held {
        let errno = real::errno();
        ring_peer(&slot);
        // The kernel wakes who waits on this side, too: an edge.
        ready::tell_own(&slot);
        real::fail(errno);
    }
    done
}

/// A close with bytes unread is a reset (RFC 1122, 4.2.2.13), and what is in the ring the kernel does not know of.
pub fn reset_if_unread(fd: c_int, slot: &Slot) {
    let alone = slot.parts().is_some_and(|(page, _)| page.shared.load(Ordering::Relaxed) == 0);
    if alone && receive::in_ring(slot) > 0 && !crate::planted::is("no reset") {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: an option of this form.
        unsafe {
            libc::setsockopt(
                fd,
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size_of::<libc::linger>() as socklen_t,
            )
        };
    }
}

/// A descriptor is about to be closed. What is to be done afterwards, for the last one of an active connection.
pub fn before_close(fd: c_int) -> Option<slot::Held> {
    watch::forget_set(fd);
    fresh::spoil(fd);
    if slot::of(fd).is_none() || !activate::in_process() {
        return None;
    }
    if let Some(held) = slot::of(fd) {
        watch::forget(fd, &held);
    }
    let last = slot::forget(fd).inspect(watch::forget_all)?;
    recycle::withdraw(&last, true);
    leaves(fd, &last).then_some(last)
}

/// The peer of an active connection is told that it is about to be closed. False if there is nothing to tell.
fn leaves(fd: c_int, slot: &slot::Held) -> bool {
    let Some((_, memory)) = slot.parts().filter(|_| slot.active()) else { return false };
    reset_if_unread(fd, slot);
    control(memory).sides[slot.me()].leaving.fetch_add(1, Ordering::SeqCst);
    true
}

/// Closes a connection's descriptor that means nothing any more.
pub fn close_last(fd: c_int, last: slot::Held) {
    let told = leaves(fd, &last);
    // SAFETY: the program is closing it.
    unsafe { real::close(fd) };
    after_close(told.then_some(last));
}

/// It is closed.
pub fn after_close(last: Option<slot::Held>) {
    if let Some(slot) = last {
        let errno = real::errno();
        ring_peer(&slot);
        drop(slot);
        real::fail(errno);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if own::is(fd) {
        // Nothing of the program's.
        return real::fail(libc::EBADF) as c_int;
    }
    if recycle::close(fd) {
        return 0;
    }
    let last = before_close(fd);
    // SAFETY: as above.
    let closed = unsafe { real::close(fd) };
    after_close(last);
    closed
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __close(fd: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { close(fd) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // CLOSE_RANGE_CLOEXEC (4) closes nothing now.
    if flags & 4 == 0 {
        slot::each(first as usize, last as usize, |fd| {
            // SAFETY: a descriptor within the range that the program closes.
            unsafe { close(fd) };
        });
        watch::forget_sets(first as usize, last as usize);
    }
    let mut done = 0;
    own::around(first, last, |first, last| {
        // SAFETY: as above.
        done |= unsafe { real::close_range(first, last, flags as c_uint) };
    });
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn closefrom(first: c_int) {
    slot::each(usize::try_from(first).unwrap_or(0), usize::MAX, |fd| {
        // SAFETY: a descriptor that the program closes.
        unsafe { close(fd) };
    });
    watch::forget_sets(usize::try_from(first).unwrap_or(0), usize::MAX);
    if !own::any() {
        // SAFETY: as above.
        return unsafe { real::closefrom(first) };
    }
    own::around(c_uint::try_from(first).unwrap_or(0), c_uint::MAX, |first, last| {
        // SAFETY: as above.
        unsafe { real::close_range(first, last, 0) };
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fclose(file: *mut libc::FILE) -> c_int {
    // The C library closes the descriptor by itself.
    // SAFETY: as above.
    unsafe {
        let fd = if file.is_null() { -1 } else { libc::fileno(file) };
        // What the stream still holds is written by the close: over the kernel, as `fdopen` saw to.
        let last = before_close(fd);
        let closed = real::fclose(file);
        after_close(last);
        closed
    }
}

/// Whether a descriptor's bytes go through the ring in both directions, or did: for the contract test, found with `dlsym`.
#[unsafe(no_mangle)]
pub extern "C" fn fastsock_is_fast(fd: c_int) -> c_int {
    let Some(slot) = slot::of(fd).filter(|slot| slot.active()) else { return 0 };
    let Some((_, memory)) = slot.parts() else { return 0 };
    c_int::from(control(memory).ways.iter().all(|way| way.phase.load(Ordering::Relaxed) >= crate::arena::FAST))
}
