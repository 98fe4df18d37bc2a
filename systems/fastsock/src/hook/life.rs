//! How connections begin and end: `connect`, `accept`, `shutdown`, `close`.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::Ordering;

use libc::{c_int, c_uint, sockaddr, socklen_t};

use crate::arena::control;
use crate::slot::{self, CONNECTED, Slot};
use crate::{activate, fresh, guests, own, ready, real, receive, recycle, retire, sandbox, settings, transmit, watch};

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    let fd = unsafe { real::socket(family, kind, protocol) };
    // Standard input, output and error stay the kernel's, so that nothing else may take their place (`recycle`).
    if fd > libc::STDERR_FILENO && !settings::get().off && !guests::apart() {
        fresh::made(fd, family, kind, protocol);
    }
    fd
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    fresh::spoil(fd);
    // SAFETY: as above.
    unsafe { real::bind(fd, address, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn listen(fd: c_int, backlog: c_int) -> c_int {
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
pub unsafe extern "C-unwind" fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
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
            // A second call only learns that the connection is made which the first began: sets may hold that.
            if slot::of(fd).is_none_or(|slot| !slot.goes_on(fd)) {
                slot::track(fd, CONNECTED);
                if let Some(slot) = slot::of(fd) {
                    recycle::connected(fd, &slot, if made == 0 { unused } else { 0 }, address, len);
                }
                // It may be in a set already.
                watch::adopt(fd);
            }
            retire::for_streams(fd);
        }
        made
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    unsafe { connect(fd, address, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: as above.
    accepted(|| unsafe { recycle::accept(fd, address, len, 0, || real::accept(fd, address, len)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: as above.
    accepted(|| unsafe { recycle::accept(fd, address, len, flags, || real::accept4(fd, address, len, flags)) })
}

/// What `accept` returns.
fn accepted(accept: impl FnOnce() -> c_int) -> c_int {
    real::keeping_errno(|| {
        let fd = accept();
        retire::for_streams(fd);
        fd
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
pub unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    if let Some(slot) = slot::of(fd) {
        recycle::plain(fd, &slot);
        recycle::withdraw(&slot, false);
    }
    let held = slot::of(fd).filter(|slot| slot.active());
    if held.as_ref().is_some_and(|slot| recycle::is_over(slot)) {
        return real::fail(libc::ENOTCONN) as c_int;
    }
    if let Some((_, memory)) = held.as_ref().and_then(|slot| slot.parts())
        && (how == libc::SHUT_WR || how == libc::SHUT_RDWR)
    {
        held.as_deref().into_iter().for_each(transmit::give_back);
        // Before the end of file, so that who sees that sees this.
        control(memory).sides[held.as_ref().map_or(0, |slot| slot.me())].shut.store(1, Ordering::SeqCst);
    }
    if let Some(slot) = held.as_ref().filter(|_| how == libc::SHUT_RD || how == libc::SHUT_RDWR) {
        if how == libc::SHUT_RDWR {
            receive::asks_no_more(slot);
        }
        // What comes from now on may have to be refused with a reset, which the kernel does.
        retire::retire(slot);
    }
    let later = how != libc::SHUT_RD && held.as_ref().is_some_and(|slot| transmit::ends_later(slot));
    let done = match how {
        libc::SHUT_WR if later => 0,
        // SAFETY: as above.
        _ => unsafe { real::shutdown(fd, if later { libc::SHUT_RD } else { how }) },
    };
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
    if alone && !sandbox::silent() && receive::in_ring(slot) > 0 && !crate::planted::is("no reset") {
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
    if guests::apart() {
        return None;
    }
    watch::forget_set(fd);
    fresh::spoil(fd);
    if slot::of(fd).is_none() || !activate::in_process() {
        return None;
    }
    if let Some(held) = slot::of(fd) {
        transmit::give_back(&held);
        watch::forget(fd, &held);
    }
    let last = slot::forget(fd).inspect(|last| watch::forget_all(fd, last))?;
    if !sandbox::silent() {
        recycle::withdraw(&last, true);
    }
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
pub unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
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
pub unsafe extern "C-unwind" fn __close(fd: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { close(fd) }
}

/// Flags of linux/close_range.h.
const CLOSE_RANGE_UNSHARE: c_int = 2;
const CLOSE_RANGE_CLOEXEC: c_int = 4;

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if first > last || flags & !(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) != 0 {
        return real::fail(libc::EINVAL) as c_int;
    }
    if flags & CLOSE_RANGE_CLOEXEC != 0 {
        // It closes nothing now.
        fresh::closed_by_exec(first, last);
    } else {
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
pub unsafe extern "C-unwind" fn closefrom(first: c_int) {
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
pub unsafe extern "C-unwind" fn fclose(file: *mut libc::FILE) -> c_int {
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

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _IO_fclose(file: *mut libc::FILE) -> c_int {
    // SAFETY: as above.
    unsafe { fclose(file) }
}

/// How many directions of a descriptor's connection go through the ring, or did: for tests, found with `dlsym`.
#[unsafe(no_mangle)]
pub extern "C" fn fastsock_fast_ways(fd: c_int) -> c_int {
    let Some(slot) = slot::of(fd).filter(|slot| slot.active()) else { return 0 };
    let Some((_, memory)) = slot.parts() else { return 0 };
    let fast = |way: &&crate::arena::Way| way.phase.load(Ordering::Relaxed) >= crate::arena::FAST;
    control(memory).ways.iter().filter(fast).count() as c_int
}

/// Whether both do.
#[unsafe(no_mangle)]
pub extern "C" fn fastsock_is_fast(fd: c_int) -> c_int {
    c_int::from(fastsock_fast_ways(fd) == 2)
}
