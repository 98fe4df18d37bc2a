//! liburing's calls that make a ring. Its own system calls go by the instruction, which nobody sees, but these names are looked up as others are: also where a program was not
//! linked with liburing and looks whether it is there, so that each says what a kernel says that has no rings.

#![allow(clippy::missing_safety_doc, reason = "each is liburing's call of the same name, with its rules")]

use std::mem::transmute;

use libc::{c_int, c_uint, c_void};

use super::numbered::ring_made;
use crate::real::Symbol;

/// Declares functions that call the next definition of a symbol, where there is one, and then know of the ring that it made.
macro_rules! makes_ring {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                static SYMBOL: Symbol = {
                    // SAFETY: a literal that ends with 0 and has no other.
                    Symbol::new(unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) })
                };
                let Some(found) = SYMBOL.find() else { return -libc::ENOSYS };
                // SAFETY: the symbol of this name has this type, and the caller's promise.
                let made = unsafe { transmute::<*mut c_void, unsafe extern "C-unwind" fn($($type),*) -> c_int>(found.as_ptr())($($argument),*) };
                ring_made(made >= 0);
                made
            }
        )*
    };
}

makes_ring! {
    io_uring_setup(entries: c_uint, parameters: *mut c_void);
    io_uring_queue_init(entries: c_uint, ring: *mut c_void, flags: c_uint);
    io_uring_queue_init_params(entries: c_uint, ring: *mut c_void, parameters: *mut c_void);
    io_uring_queue_init_try_nosqarr(entries: c_uint, ring: *mut c_void, parameters: *mut c_void);
    io_uring_queue_init_mem(entries: c_uint, ring: *mut c_void, parameters: *mut c_void, memory: *mut c_void, len: usize);
}
