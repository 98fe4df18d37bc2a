//! Receive posting behind pointers.

use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

use am::Region;
use am::posting::{Posting, Received};

use crate::convert::{AmError, AmOptions, Failure, name, options, run, slice};
use crate::endpoint::{AmListener, NULL, out};

/// `struct am_posting`: the connection, its buffers, and the message that was received last through the ring.
pub struct AmPosting {
    connection: Posting,
    buffers: Vec<Region>,
    last: Vec<u8>,
}

/// `struct am_received`.
#[repr(C)]
pub struct AmReceived {
    bytes: *const c_void,
    len: usize,
    token: u64,
    in_place: c_int,
}

/// `struct am_copied`.
#[repr(C)]
pub struct AmCopied {
    into_posted: u64,
    into_ring: u64,
    out_of_ring: u64,
}

impl AmPosting {
    /// Of a connection, with no buffers yet.
    pub fn new(connection: Posting) -> Self {
        Self { connection, buffers: Vec::new(), last: Vec::new() }
    }

    fn buffer(&self, token: u64) -> Result<Region, Failure> {
        let found = self.buffers.iter().find(|buffer| buffer.token() == token);
        found.copied().ok_or(Failure::Refused("no such buffer"))
    }
}

/// `am_posting_accept` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_accept(listener: *mut AmListener, error: *mut AmError) -> *mut AmPosting {
    // SAFETY: the caller's promise.
    out(unsafe { run(error, || Ok(AmPosting::new(Posting::accept(&listener.as_ref().ok_or(NULL)?.0)?))) })
}

/// `am_posting_connect` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_connect(
    to: *const c_char,
    with: *const AmOptions,
    error: *mut AmError,
) -> *mut AmPosting {
    // SAFETY: the caller's promise.
    out(unsafe { run(error, || Ok(AmPosting::new(Posting::connect(name(to)?, options(with)?)?))) })
}

/// `am_posting_free` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_free(posting: *mut AmPosting) {
    if !posting.is_null() {
        // SAFETY: made by `out`, and the caller gives it up.
        drop(unsafe { Box::from_raw(posting) });
    }
}

/// `am_posting_buffer` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_buffer(
    posting: *mut AmPosting,
    len: usize,
    token: *mut u64,
    error: *mut AmError,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let posting = posting.as_mut().ok_or(NULL)?;
            let token = token.as_mut().ok_or(Failure::Refused("the token is a null pointer"))?;
            let buffer = posting.connection.buffer(len)?;
            let address = posting.connection.address(buffer)?;
            posting.buffers.push(buffer);
            *token = buffer.token();
            Ok(address.as_ptr().cast())
        })
    };
    outcome.unwrap_or(std::ptr::null_mut())
}

/// `am_posting_release` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_release(posting: *mut AmPosting, token: u64) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(std::ptr::null_mut(), || {
            let posting = posting.as_mut().ok_or(NULL)?;
            let buffer = posting.buffer(token)?;
            if !posting.connection.release(buffer) {
                return Err(Failure::Refused("the buffer is posted"));
            }
            posting.buffers.retain(|other| *other != buffer);
            Ok(())
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}

/// `am_post` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_post(posting: *mut AmPosting, token: u64, error: *mut AmError) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let posting = posting.as_mut().ok_or(NULL)?;
            let buffer = posting.buffer(token)?;
            Ok(posting.connection.post(buffer)?)
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}

/// `am_send` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_send(
    posting: *mut AmPosting,
    bytes: *const c_void,
    len: usize,
    error: *mut AmError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome =
        unsafe { run(error, || Ok(posting.as_mut().ok_or(NULL)?.connection.send(slice(bytes.cast::<u8>(), len)?)?)) };
    outcome.map_or_else(|code| code, c_int::from)
}

/// `am_receive` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_receive(
    posting: *mut AmPosting,
    limit_ms: c_int,
    received: *mut AmReceived,
    error: *mut AmError,
) -> c_int {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let posting = posting.as_mut().ok_or(NULL)?;
            let to = received.as_mut().ok_or(Failure::Refused("the place for the message is a null pointer"))?;
            *to = match posting.connection.receive(limit)? {
                None => return Ok(0),
                Some(Received::InPlace { buffer, len }) => {
                    let bytes = posting.connection.address(buffer)?.as_ptr().cast_const().cast();
                    AmReceived { bytes, len, token: buffer.token(), in_place: 1 }
                }
                Some(Received::Bytes(bytes)) => {
                    posting.last = bytes;
                    let last = &posting.last;
                    AmReceived { bytes: last.as_ptr().cast(), len: last.len(), token: 0, in_place: 0 }
                }
            };
            Ok(1)
        })
    };
    outcome.unwrap_or_else(|code| code)
}

/// `am_posting_copied` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_posting_copied(posting: *const AmPosting, copied: *mut AmCopied) {
    // SAFETY: the caller's promise.
    unsafe {
        if let (Some(posting), Some(to)) = (posting.as_ref(), copied.as_mut()) {
            let copied = posting.connection.copied();
            *to = AmCopied {
                into_posted: copied.into_posted,
                into_ring: copied.into_ring,
                out_of_ring: copied.out_of_ring,
            };
        }
    }
}
