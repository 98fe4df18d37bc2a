//! Calls that move bytes: `read`, `write` and their kin.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::{AtomicU64, Ordering};

use libc::{c_int, c_void, iovec, off_t, sockaddr, socklen_t};

use super::{receiving, sending};
use crate::{real, retire, slot};

#[inline(always)]
fn one(start: *const c_void, len: usize) -> [iovec; 1] {
    [iovec { iov_base: start.cast_mut(), iov_len: len }]
}

/// The program's list of buffers; if it can't be one, a list that is none either, for the kernel to refuse the program's.
///
/// # Safety
/// `iov` points to `count` entries.
pub unsafe fn list<'a>(iov: *const iovec, count: usize) -> &'a [iovec] {
    static NONE: [Entry; 1] = [Entry(iovec { iov_base: std::ptr::null_mut(), iov_len: usize::MAX })];
    match count {
        0 => &[],
        // SAFETY: the caller's promise.
        1..=1024 if !iov.is_null() => unsafe { std::slice::from_raw_parts(iov, count) },
        // SAFETY: the same form.
        _ => unsafe { std::slice::from_raw_parts(NONE.as_ptr().cast(), NONE.len()) },
    }
}

/// Whether a list asks for no bytes.
fn wants_none(list: &[iovec]) -> bool {
    list.iter().all(|buffer| buffer.iov_len == 0)
}

/// A buffer that nobody reads or writes, so that threads may share it.
#[repr(transparent)]
struct Entry(iovec);
// SAFETY: its address is null.
unsafe impl Sync for Entry {}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn read(fd: c_int, into: *mut c_void, len: usize) -> isize {
    // SAFETY: the caller's promise, here and in what follows: each call hands on what it was given. One that asks for no bytes does not wait, as
    // `recv` does then.
    unsafe {
        if len == 0 {
            return real::read(fd, into, len);
        }
        receiving(fd, &one(into, len), 0, || real::read(fd, into, len))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __read(fd: c_int, into: *mut c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { read(fd, into, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __read_chk(fd: c_int, into: *mut c_void, len: usize, room: usize) -> isize {
    fits(len, room);
    // SAFETY: as above.
    unsafe { read(fd, into, len) }
}

/// What the C library does where a buffer is too small for what is asked: a fault of the program's.
fn fits(len: usize, room: usize) {
    if len > room {
        // SAFETY: ends the process.
        unsafe { libc::abort() };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn write(fd: c_int, from: *const c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, &one(from, len), 0, || real::write(fd, from, len)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __write(fd: c_int, from: *const c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { write(fd, from, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn readv(fd: c_int, iov: *const iovec, count: c_int) -> isize {
    // SAFETY: as above. A list for a descriptor that is not the library's is the kernel's alone to look at: it may be none.
    unsafe {
        if !slot::tracked(fd) || wants_none(list(iov, count as usize)) {
            return real::readv(fd, iov, count);
        }
        receiving(fd, list(iov, count as usize), 0, || real::readv(fd, iov, count))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn writev(fd: c_int, iov: *const iovec, count: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        if !slot::tracked(fd) {
            return real::writev(fd, iov, count);
        }
        sending(fd, list(iov, count as usize), 0, || real::writev(fd, iov, count))
    }
}

/// `RWF_NOSIGNAL` of linux/fs.h (Linux 6.18).
const RWF_NOSIGNAL: c_int = 0x100;

/// What these flags are for `recv` and `send`. None: such a call is the kernel's alone, which refuses a place in a stream, too.
fn of_vector(fd: c_int, at: off_t, flags: c_int, sends: bool) -> Option<c_int> {
    let fast = || slot::of(fd).is_some_and(|slot| slot.active());
    if at != -1 {
        return None;
    }
    if flags & !libc::RWF_NOWAIT != 0 && fast() {
        match taken(flags, sends) {
            Some(true) => {}
            Some(false) => return None,
            // The kernel says so of the call itself, after what is in the ring.
            None => _ = retire::retire_fd(fd),
        }
    }
    let wait = if flags & libc::RWF_NOWAIT != 0 { libc::MSG_DONTWAIT } else { 0 };
    Some(wait | if sends && flags & RWF_NOSIGNAL != 0 { libc::MSG_NOSIGNAL } else { 0 })
}

/// What the kernel said last, of receiving and of sending: the flags, and in the upper half one more than whether it takes them; 0: nothing yet.
static SAID: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Whether the kernel takes such flags for a socket, where they change nothing then: which it knows differs from one to the next, so it is asked. A program that gives
/// flags gives the same with each call, so that one answer is kept. None: there are no descriptors for asking.
fn taken(flags: c_int, sends: bool) -> Option<bool> {
    let (said, flag_bits) = (&SAID[usize::from(sends)], u64::from(flags.cast_unsigned()));
    let known = said.load(Ordering::Relaxed);
    if known >> 32 != 0 && known & u64::from(u32::MAX) == flag_bits {
        return Some(known >> 32 == 2);
    }
    let takes = ask(flags, sends)?;
    said.store(flag_bits | (1 + u64::from(takes)) << 32, Ordering::Relaxed);
    Some(takes)
}

/// Asks it with two sockets of this call's own.
#[cold]
fn ask(flags: c_int, sends: bool) -> Option<bool> {
    let (errno, mut pair, mut byte) = (real::errno(), [-1; 2], 0_u8);
    let one = iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: new descriptors, closed again; a buffer of one byte.
    let taken = unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) != 0 {
            real::fail(errno);
            return None;
        }
        let sent = real::pwritev2(pair[0], &raw const one, 1, -1, if sends { flags } else { 0 });
        let taken = sent == 1 && (sends || real::preadv2(pair[1], &raw const one, 1, -1, flags) == 1);
        real::close(pair[0]);
        real::close(pair[1]);
        taken
    };
    real::fail(errno);
    Some(taken)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn preadv2(fd: c_int, iov: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        match of_vector(fd, at, flags, false) {
            Some(wait) if slot::tracked(fd) && !wants_none(list(iov, count as usize)) => {
                receiving(fd, list(iov, count as usize), wait, || real::preadv2(fd, iov, count, at, flags))
            }
            _ => real::preadv2(fd, iov, count, at, flags),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn preadv64v2(
    fd: c_int,
    iov: *const iovec,
    count: c_int,
    at: off_t,
    flags: c_int,
) -> isize {
    // SAFETY: as above.
    unsafe { preadv2(fd, iov, count, at, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pwritev2(fd: c_int, iov: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        match of_vector(fd, at, flags, true) {
            Some(wait) if slot::tracked(fd) => {
                sending(fd, list(iov, count as usize), wait, || real::pwritev2(fd, iov, count, at, flags))
            }
            // Refused; of no bytes, perhaps not.
            _ => real::pwritev2(fd, iov, count, at, flags),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pwritev64v2(
    fd: c_int,
    iov: *const iovec,
    count: c_int,
    at: off_t,
    flags: c_int,
) -> isize {
    // SAFETY: as above.
    unsafe { pwritev2(fd, iov, count, at, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn recv(fd: c_int, into: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { receiving(fd, &one(into, len), flags, || real::recv(fd, into, len, flags)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __recv(fd: c_int, into: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { recv(fd, into, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __recv_chk(
    fd: c_int,
    into: *mut c_void,
    len: usize,
    room: usize,
    flags: c_int,
) -> isize {
    fits(len, room);
    // SAFETY: as above.
    unsafe { recv(fd, into, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, &one(from, len), flags, || real::send(fd, from, len, flags)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { send(fd, from, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    into: *mut c_void,
    len: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    // SAFETY: as above.
    unsafe {
        let kernel = || real::recvfrom(fd, into, len, flags, address, address_len);
        // A stream gives no address, and the kernel says so: only it knows what else the descriptor may be.
        if address.is_null() {
            receiving(fd, &one(into, len), flags, kernel)
        } else {
            with_address(fd, into, len, flags, address_len, kernel)
        }
    }
}

/// # Safety
/// As `recvfrom`.
unsafe fn with_address(
    fd: c_int,
    into: *mut c_void,
    len: usize,
    flags: c_int,
    address_len: *mut socklen_t,
    kernel: impl Fn() -> isize,
) -> isize {
    let by_kernel = std::cell::Cell::new(false);
    // SAFETY: the caller's promise.
    let got = unsafe {
        receiving(fd, &one(into, len), flags, || {
            by_kernel.set(true);
            kernel()
        })
    };
    if got >= 0 && !by_kernel.get() && !address_len.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *address_len = 0 };
    }
    got
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __recvfrom_chk(
    fd: c_int,
    into: *mut c_void,
    len: usize,
    room: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    fits(len, room);
    // SAFETY: as above.
    unsafe { recvfrom(fd, into, len, flags, address, address_len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    from: *const c_void,
    len: usize,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, &one(from, len), flags, || real::sendto(fd, from, len, flags, address, address_len)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked_once_for_the_flags_that_a_program_gives_with_each_call() {
        // One that every kernel with the call knows, and one that none does.
        for (flags, takes) in [(libc::RWF_HIPRI, true), (1 << 30, false)] {
            for sends in [false, true] {
                assert_eq!(ask(flags, sends), Some(takes));
                assert_eq!([taken(flags, sends), taken(flags, sends)], [Some(takes); 2]);
                // The answer that is kept counts, and for these flags only.
                let said = &SAID[usize::from(sends)];
                let other = said.load(Ordering::Relaxed) ^ 3 << 32;
                said.store(other, Ordering::Relaxed);
                assert_eq!(taken(flags, sends), Some(!takes));
                assert_eq!(taken(flags | libc::RWF_NOWAIT, sends), Some(takes));
                assert_eq!(taken(flags, sends), Some(takes));
            }
        }
    }
}
