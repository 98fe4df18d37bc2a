//! Descriptors that mean the same, and what is asked of them.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use libc::{c_int, c_ulong};

use super::life::{after_close, before_close};
use crate::{activate, fresh, guests, own, real, receive, recycle, report, retire, slot, tcp, transmit, watch};

fn shared(from: c_int, to: c_int) -> c_int {
    fresh::spoil(from);
    if to >= 0 && to != from && activate::in_process() {
        if !crate::planted::is("a copy not followed") && !slot::share(from, to) {
            // What is read and written there nobody sees.
            retire::hand_back(from);
        }
        watch::share_set(from, to);
        retire::for_streams(to);
    } else if to >= 0 && to != from && guests::apart() {
        // Nor is this one.
        retire::hand_back(from);
    }
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup(fd: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    shared(fd, unsafe { real::dup(fd) })
}

/// `to` is closed and made to mean what `from` means.
fn over(from: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if own::is(from) {
        // Nothing of the program's.
        return real::fail(libc::EBADF) as c_int;
    }
    // SAFETY: asks for flags.
    let works = from != to && unsafe { real::fcntl(from, libc::F_GETFD, 0) } >= 0;
    // The library's, out of the way of all but who asks for just this number.
    let renumber = |new| match watch::renumber(to, new) {
        Some(in_sets) => slot::renumber(to, new) || report::renumber(to, new) || in_sets,
        None => false,
    };
    if works && own::is(to) && !guests::apart() && !own::leave(to, renumber) {
        return real::fail(libc::EBUSY) as c_int;
    }
    let last = if works { before_close(to) } else { None };
    let made = shared(from, call());
    after_close(last);
    made
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup2(from: c_int, to: c_int) -> c_int {
    // SAFETY: as above.
    over(from, to, || unsafe { real::dup2(from, to) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __dup2(from: c_int, to: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { dup2(from, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: as above.
    over(from, to, || unsafe { real::dup3(from, to, flags) })
}

fn duplicates(command: c_int) -> bool {
    command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC
}

/// Whether calls wait may have changed.
fn changed(fd: c_int, may: bool) {
    if may
        && !crate::planted::is("flags remembered")
        && let Some(slot) = slot::of(fd)
    {
        slot.nonblocking.ask_again();
    }
}

/// A socket is not as it was made any more: nor will be the connection.
fn set(fd: c_int) {
    fresh::spoil(fd);
    if let Some(slot) = slot::of(fd) {
        recycle::plain(fd, &slot);
        recycle::withdraw(&slot, false);
    }
}

/// Which signal `O_ASYNC` sends (linux/fcntl.h).
const F_SETSIG: c_int = 10;

/// What `fcntl` sets beside whether calls wait.
fn set_by(fd: c_int, command: c_int, argument: usize) {
    match command {
        // A signal for each change: the kernel sends it, for what it sees.
        libc::F_SETFL if argument & libc::O_ASYNC as usize != 0 => _ = retire::retire_fd(fd),
        F_SETSIG => _ = retire::retire_fd(fd),
        libc::F_GETFL | libc::F_GETFD => {}
        libc::F_SETFD => fresh::spoil(fd),
        libc::F_SETFL if argument & (libc::O_ASYNC | libc::O_DIRECT) as usize == 0 => fresh::spoil(fd),
        _ if duplicates(command) => {}
        _ => set(fd),
    }
}

// The third argument of these is passed as any third argument is, where the library is built for (x86-64, aarch64).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as above.
    let done = unsafe { real::fcntl(fd, command, argument) };
    set_by(fd, command, argument);
    changed(fd, command == libc::F_SETFL);
    if duplicates(command) { shared(fd, done) } else { done }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as above.
    unsafe { fcntl(fd, command, argument) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as above.
    let done = unsafe { real::fcntl64(fd, command, argument) };
    set_by(fd, command, argument);
    changed(fd, command == libc::F_SETFL);
    if duplicates(command) { shared(fd, done) } else { done }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // SAFETY: as above.
    let done = unsafe { real::ioctl(fd, request, argument) };
    changed(fd, request == libc::FIONBIO as c_ulong);
    // SAFETY: the kernel has just read an int there.
    let on = |address: usize| unsafe { *std::ptr::with_exposed_provenance::<c_int>(address) } != 0;
    if request == libc::FIOASYNC as c_ulong && done == 0 && on(argument) {
        retire::retire_fd(fd);
    }
    if request == libc::FIONBIO as c_ulong {
        fresh::spoil(fd);
    } else if request != libc::FIONREAD as c_ulong {
        set(fd);
    }
    if request == tcp::SIOCATMARK
        && done == 0
        && argument != 0
        && slot::of(fd).is_some_and(|slot| retire::readable(&slot))
    {
        // What is in the ring comes before it.
        // SAFETY: the kernel just wrote an int there.
        unsafe { *std::ptr::with_exposed_provenance_mut::<c_int>(argument) = 0 };
    }
    if request == libc::FIONREAD as c_ulong
        && done == 0
        && argument != 0
        && let Some(slot) = slot::of(fd).filter(|slot| slot.active())
    {
        let ring = if crate::planted::is("a ring not counted") { 0 } else { receive::in_ring(&slot) as c_int };
        // SAFETY: the kernel just wrote an int there.
        unsafe { *std::ptr::with_exposed_provenance_mut::<c_int>(argument) += ring };
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sockatmark(fd: c_int) -> c_int {
    let mut mark: c_int = 0;
    // SAFETY: room for an int.
    let asked = unsafe { ioctl(fd, tcp::SIOCATMARK, (&raw mut mark).expose_provenance()) };
    if asked < 0 { asked } else { mark }
}

/// Where the kernel counts bytes in what `TCP_INFO` tells (`struct tcp_info` of linux/tcp.h): those that the peer has, those that have come, those that were sent.
const COUNTS: [(usize, Count); 3] =
    [(120, transmit::through_ring), (128, receive::through_ring), (200, transmit::through_ring)];

/// How many bytes of a direction went through the ring.
type Count = fn(&slot::Slot) -> u64;

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut libc::c_void,
    len: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: as above.
    let done = unsafe { real::getsockopt(fd, level, name, value, len) };
    if (level, name) == (libc::IPPROTO_TCP, libc::TCP_INFO)
        && done == 0
        && let Some(slot) = slot::of(fd).filter(|slot| slot.active())
    {
        // SAFETY: the kernel just wrote as many bytes there, and how many they are.
        let told = unsafe { std::slice::from_raw_parts_mut(value.cast::<u8>(), *len as usize) };
        add_ring(told, &slot);
    }
    done
}

/// What went through the ring is counted with what went over TCP, where this was told.
fn add_ring(told: &mut [u8], slot: &slot::Slot) {
    for (at, count) in COUNTS {
        if let Some(word) = told.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<8>) {
            *word = u64::from_ne_bytes(*word).wrapping_add(count(slot)).to_ne_bytes();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const libc::c_void,
    len: libc::socklen_t,
) -> c_int {
    if tcp::changes_stream(level, name) {
        retire::hand_back(fd);
    }
    // SAFETY: as above.
    let done = unsafe { real::setsockopt(fd, level, name, value, len) };
    if done == 0 {
        // SAFETY: the kernel has just read as many bytes.
        let value = || if len >= 4 { unsafe { value.cast::<c_int>().read_unaligned() } } else { 0 };
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => {
                fresh::nodelay(fd, value() != 0);
                if let Some(slot) = slot::of(fd) {
                    slot.nodelay.store(u32::from(value() != 0), std::sync::atomic::Ordering::Relaxed);
                    recycle::withdraw(&slot, false);
                }
            }
            _ => set(fd),
        }
        if tcp::kernel_serves(level, name, value()) {
            retire::retire_fd(fd);
        }
    }
    if level == libc::SOL_SOCKET
        && let Some(slot) = slot::of(fd)
    {
        slot.unlimited.ask_again();
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fdopen(fd: c_int, mode: *const libc::c_char) -> *mut libc::FILE {
    // A stream reads and writes by calls of its own that nobody sees.
    if let Some(held) = retire::hand_back(fd) {
        // SAFETY: the caller's text.
        let mode = if mode.is_null() { b"" } else { unsafe { std::ffi::CStr::from_ptr(mode) }.to_bytes() };
        if mode.contains(&b'r') || mode.contains(&b'+') {
            retire::never_without_rest(fd, &held);
        }
    }
    // SAFETY: as above.
    unsafe { real::fdopen(fd, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _IO_fdopen(fd: c_int, mode: *const libc::c_char) -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { fdopen(fd, mode) }
}
