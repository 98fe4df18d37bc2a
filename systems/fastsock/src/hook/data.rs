//! Calls that move bytes: `read`, `write` and their kin.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use libc::{c_int, c_void, iovec, sockaddr, socklen_t};

use super::{receiving, sending};
use crate::real;

#[inline(always)]
fn one(start: *const c_void, len: usize) -> [iovec; 1] {
    [iovec { iov_base: start.cast_mut(), iov_len: len }]
}

/// The program's list of buffers; empty if the list can't be one, which is the kernel's to say.
///
/// # Safety
/// `iov` points to `count` entries.
unsafe fn list<'a>(iov: *const iovec, count: c_int) -> &'a [iovec] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count <= 1024 && !iov.is_null() => unsafe { std::slice::from_raw_parts(iov, count) },
        _ => &[],
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, into: *mut c_void, len: usize) -> isize {
    // SAFETY: the caller's promise, here and in what follows: each call hands on what it was given.
    unsafe { receiving(fd, &one(into, len), 0, || real::read(fd, into, len)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __read(fd: c_int, into: *mut c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { read(fd, into, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __read_chk(fd: c_int, into: *mut c_void, len: usize, room: usize) -> isize {
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
pub unsafe extern "C" fn write(fd: c_int, from: *const c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, &one(from, len), 0, || real::write(fd, from, len)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __write(fd: c_int, from: *const c_void, len: usize) -> isize {
    // SAFETY: as above.
    unsafe { write(fd, from, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn readv(fd: c_int, iov: *const iovec, count: c_int) -> isize {
    // SAFETY: as above.
    unsafe { receiving(fd, list(iov, count), 0, || real::readv(fd, iov, count)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(fd: c_int, iov: *const iovec, count: c_int) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, list(iov, count), 0, || real::writev(fd, iov, count)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(fd: c_int, into: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { receiving(fd, &one(into, len), flags, || real::recv(fd, into, len, flags)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recv(fd: c_int, into: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { recv(fd, into, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recv_chk(fd: c_int, into: *mut c_void, len: usize, room: usize, flags: c_int) -> isize {
    fits(len, room);
    // SAFETY: as above.
    unsafe { recv(fd, into, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { sending(fd, &one(from, len), flags, || real::send(fd, from, len, flags)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { send(fd, from, len, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvfrom(
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
pub unsafe extern "C" fn __recvfrom_chk(
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
pub unsafe extern "C" fn sendto(
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
