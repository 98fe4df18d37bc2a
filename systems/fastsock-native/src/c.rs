//! What `systems/fastsock/include/fastsock.h` declares beside `am.h`.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use am::posting::Posting;
use am::{Error, Options};
use am_c::convert::{AmError, AmOptions, Failure, options, run};
use am_c::posting::AmPosting;

/// Runs one of the two with a descriptor.
///
/// # Safety
/// As the header says.
unsafe fn with(
    meet: fn(&BorrowedFd<'_>, Options) -> Result<Posting, Error>,
    socket: c_int,
    given: *const AmOptions,
    error: *mut AmError,
) -> *mut AmPosting {
    // SAFETY: the caller's promise.
    let made = unsafe {
        run(error, || {
            if socket < 0 {
                return Err(Failure::Refused("the socket is no descriptor"));
            }
            // Asked only what it is: a number that means nothing is refused by the system.
            Ok(AmPosting::new(meet(&BorrowedFd::borrow_raw(socket), options(given)?)?))
        })
    };
    made.map_or(std::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// `fastsock_accepted` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastsock_accepted(
    socket: c_int,
    options: *const AmOptions,
    error: *mut AmError,
) -> *mut AmPosting {
    // SAFETY: the caller's promise.
    unsafe { with(|socket, options| crate::accepted(socket, options), socket, options, error) }
}

/// `fastsock_connected` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastsock_connected(
    socket: c_int,
    options: *const AmOptions,
    error: *mut AmError,
) -> *mut AmPosting {
    // SAFETY: the caller's promise.
    unsafe { with(|socket, options| crate::connected(socket, options), socket, options, error) }
}
