//! Calls that move bytes in ways of their own: the kernel's, on a connection that is the kernel's from then on.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use libc::{c_char, c_int, c_uint, c_void, off_t, off64_t};

use crate::{real, retire};

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sendfile(out: c_int, from: c_int, at: *mut off_t, count: usize) -> isize {
    if !crate::planted::is("a file past the ring") {
        retire::retire_fd(out);
    }
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { real::sendfile(out, from, at, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sendfile64(out: c_int, from: c_int, at: *mut off64_t, count: usize) -> isize {
    retire::retire_fd(out);
    // SAFETY: as above.
    unsafe { real::sendfile64(out, from, at, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn splice(
    from: c_int,
    from_at: *mut off64_t,
    to: c_int,
    to_at: *mut off64_t,
    len: usize,
    flags: c_uint,
) -> isize {
    retire::retire_fd(to);
    if let Some(slot) = retire::retire_fd(from)
        && retire::readable(&slot)
        && len > 0
    {
        // What the ring still holds comes first, by a copy: looked at, written, and only as much taken as was written.
        let mut bytes = [0_u8; 4096];
        // SAFETY: room for as many bytes as are asked for.
        unsafe {
            let most = len.min(bytes.len());
            let there = super::data::recv(from, bytes.as_mut_ptr().cast(), most, libc::MSG_PEEK | libc::MSG_DONTWAIT);
            if there <= 0 {
                return there;
            }
            let written = real::write(to, bytes.as_ptr().cast(), there as usize);
            if written > 0 {
                super::data::recv(from, bytes.as_mut_ptr().cast(), written as usize, libc::MSG_DONTWAIT);
            }
            return written;
        }
    }
    // SAFETY: as above.
    unsafe { real::splice(from, from_at, to, to_at, len, flags) }
}

// A list of arguments is passed as an address (x86-64).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn vdprintf(fd: c_int, form: *const c_char, arguments: *mut c_void) -> c_int {
    retire::retire_fd(fd);
    // SAFETY: as above.
    unsafe { real::vdprintf(fd, form, arguments) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __vdprintf_chk(
    fd: c_int,
    flag: c_int,
    form: *const c_char,
    arguments: *mut c_void,
) -> c_int {
    retire::retire_fd(fd);
    // SAFETY: as above.
    unsafe { real::__vdprintf_chk(fd, flag, form, arguments) }
}
