//! Between C's words and Rust's.

use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use am::{Error, Options, Wait};

/// `struct am_error`.
#[repr(C)]
pub struct AmError {
    text: [c_char; 256],
}

/// `struct am_options`.
#[repr(C)]
pub struct AmOptions {
    ring_bytes: usize,
    region_bytes: usize,
    wait: c_int,
    patience_ms: u32,
}

/// What a call comes to.
pub enum Failure {
    /// The library says why.
    Am(Error),
    /// This interface says why.
    Refused(&'static str),
    /// A second reply.
    Answered,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Am(error)
    }
}

impl Failure {
    fn code(&self) -> c_int {
        match self {
            Self::Am(Error::Closed { .. }) => -1,
            Self::Am(Error::Died { .. }) => -2,
            Self::Am(Error::Stalled { .. }) => -3,
            Self::Am(Error::Protocol(_)) => -4,
            Self::Am(
                Error::Io { .. }
                | Error::OtherUser { .. }
                | Error::Greeting { .. }
                | Error::Memory { .. }
                | Error::NameTaken { .. }
                | Error::NobodyListens { .. },
            ) => -6,
            Self::Am(_) | Self::Refused(_) => -5,
            Self::Answered => -7,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Am(error) => error.to_string(),
            Self::Refused(why) => (*why).to_owned(),
            Self::Answered => "the request was answered already: a handler sends one reply".to_owned(),
        }
    }
}

/// Runs a call; its failure is written into `error`, and its code returned.
///
/// # Safety
/// `error` is null or points to one.
pub unsafe fn run<T>(error: *mut AmError, call: impl FnOnce() -> Result<T, Failure>) -> Result<T, c_int> {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Failure::Refused("a panic: a fault of am")));
    outcome.map_err(|failure| {
        // SAFETY: the caller's promise.
        if let Some(error) = unsafe { error.as_mut() } {
            let text = failure.text();
            error.text.fill(0);
            for (to, from) in error.text[..255].iter_mut().zip(text.bytes()) {
                *to = from.cast_signed();
            }
        }
        failure.code()
    })
}

/// The options that were given, or the defaults.
///
/// # Safety
/// `options` is null or points to one.
pub unsafe fn options(options: *const AmOptions) -> Result<Options, Failure> {
    let mut made = Options::default();
    // SAFETY: the caller's promise.
    let Some(given) = (unsafe { options.as_ref() }) else { return Ok(made) };
    if given.ring_bytes != 0 {
        made.ring_bytes = given.ring_bytes;
    }
    if given.region_bytes != 0 {
        made.region_bytes = given.region_bytes;
    }
    if given.patience_ms != 0 {
        made.patience = Duration::from_millis(given.patience_ms.into());
    }
    made.wait = match given.wait {
        0 => Wait::default(),
        1 => Wait::Sleep,
        2 => Wait::Spin,
        _ => return Err(Failure::Refused("the option wait is none of enum am_wait")),
    };
    Ok(made)
}

/// A name.
///
/// # Safety
/// `name` is null or points to a text that ends with 0.
pub unsafe fn name<'a>(name: *const c_char) -> Result<&'a str, Failure> {
    if name.is_null() {
        return Err(Failure::Refused("the name is a null pointer"));
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Failure::Refused("the name is not UTF-8"))
}

/// `len` values; a null pointer is none.
///
/// # Safety
/// `start` is null or points to `len` values that nobody changes during the call.
pub unsafe fn slice<'a, T>(start: *const T, len: usize) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if start.is_null() || len > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::Refused("a null pointer, or a length that no memory has"));
    }
    // SAFETY: not null, of a possible length, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(start, len) })
}
