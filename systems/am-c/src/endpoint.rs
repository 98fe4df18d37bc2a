//! Listeners and endpoints behind pointers.

use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

use am::{Endpoint, Listener, Region, RemoteRegion};

use crate::convert::{AmError, AmOptions, Failure, name, options, run, slice};
use crate::handlers::{AmReplyHandler, AmRequestHandler, handlers};

/// `struct am_listener`.
pub struct AmListener(pub(crate) Listener);

/// `struct am_endpoint`, with the regions it registered.
pub struct AmEndpoint(Endpoint<()>, Vec<Region>);

pub(crate) const NULL: Failure = Failure::Refused("the endpoint or listener is a null pointer");

/// A value on the heap as C holds it.
pub(crate) fn out<T>(made: Result<T, c_int>) -> *mut T {
    made.map_or(std::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// `am_listen` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_listen(
    under: *const c_char,
    with: *const AmOptions,
    error: *mut AmError,
) -> *mut AmListener {
    // SAFETY: the caller's promise.
    out(unsafe { run(error, || Ok(AmListener(Listener::bind(name(under)?, options(with)?)?))) })
}

/// `am_listener_free` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_listener_free(listener: *mut AmListener) {
    if !listener.is_null() {
        // SAFETY: made by `out`, and the caller gives it up.
        drop(unsafe { Box::from_raw(listener) });
    }
}

/// `am_accept` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_accept(
    listener: *mut AmListener,
    requests: *const AmRequestHandler,
    replies: *const AmReplyHandler,
    error: *mut AmError,
) -> *mut AmEndpoint {
    // SAFETY: the caller's promise.
    out(unsafe {
        run(error, || {
            let listener = listener.as_ref().ok_or(NULL)?;
            Ok(AmEndpoint(listener.0.accept(handlers(requests, replies))?, Vec::new()))
        })
    })
}

/// `am_connect` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_connect(
    to: *const c_char,
    requests: *const AmRequestHandler,
    replies: *const AmReplyHandler,
    with: *const AmOptions,
    error: *mut AmError,
) -> *mut AmEndpoint {
    // SAFETY: the caller's promise.
    out(unsafe {
        run(error, || {
            let endpoint = Endpoint::connect(name(to)?, handlers(requests, replies), options(with)?)?;
            Ok(AmEndpoint(endpoint, Vec::new()))
        })
    })
}

/// `am_endpoint_free` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_endpoint_free(endpoint: *mut AmEndpoint) {
    if !endpoint.is_null() {
        // SAFETY: made by `out`, and the caller gives it up.
        drop(unsafe { Box::from_raw(endpoint) });
    }
}

/// `am_medium` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_medium(endpoint: *const AmEndpoint) -> usize {
    // SAFETY: the caller's promise.
    unsafe { endpoint.as_ref() }.map_or(0, |endpoint| endpoint.0.medium())
}

/// `am_request` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_request(
    endpoint: *mut AmEndpoint,
    handler: u16,
    arguments: *const u64,
    argument_count: usize,
    payload: *const c_void,
    len: usize,
    error: *mut AmError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let endpoint = endpoint.as_mut().ok_or(NULL)?;
            let (arguments, payload) = (slice(arguments, argument_count)?, slice(payload.cast::<u8>(), len)?);
            Ok(endpoint.0.request(&mut (), handler, arguments, payload)?)
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}

/// `am_put` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_put(
    endpoint: *mut AmEndpoint,
    token: u64,
    at: usize,
    bytes: *const c_void,
    len: usize,
    handler: u16,
    arguments: *const u64,
    argument_count: usize,
    error: *mut AmError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let endpoint = endpoint.as_mut().ok_or(NULL)?;
            let (arguments, bytes) = (slice(arguments, argument_count)?, slice(bytes.cast::<u8>(), len)?);
            let region = RemoteRegion::from_token(token);
            Ok(endpoint.0.put(&mut (), region, at, bytes, handler, arguments)?)
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}

/// `am_poll` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_poll(endpoint: *mut AmEndpoint, error: *mut AmError) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe { run(error, || Ok(endpoint.as_mut().ok_or(NULL)?.0.poll(&mut ())?)) };
    outcome.map_or_else(|code| code, |handled| handled as c_int)
}

/// `am_wait_for` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_wait_for(endpoint: *mut AmEndpoint, limit_ms: c_int, error: *mut AmError) -> c_int {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    // SAFETY: the caller's promise.
    let outcome = unsafe { run(error, || Ok(endpoint.as_mut().ok_or(NULL)?.0.wait(&mut (), limit)?)) };
    outcome.map_or_else(|code| code, |handled| handled as c_int)
}

/// `am_register` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_register(
    endpoint: *mut AmEndpoint,
    len: usize,
    token: *mut u64,
    error: *mut AmError,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let AmEndpoint(endpoint, regions) = endpoint.as_mut().ok_or(NULL)?;
            let token = token.as_mut().ok_or(Failure::Refused("the token is a null pointer"))?;
            let region = endpoint.register(len)?;
            let address = endpoint.address(region)?;
            regions.push(region);
            *token = region.token();
            Ok(address.as_ptr().cast())
        })
    };
    outcome.unwrap_or(std::ptr::null_mut())
}

/// `am_release` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_release(endpoint: *mut AmEndpoint, token: u64) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(std::ptr::null_mut(), || {
            let AmEndpoint(endpoint, regions) = endpoint.as_mut().ok_or(NULL)?;
            let index = regions.iter().position(|region| region.token() == token);
            let region = regions.swap_remove(index.ok_or(Failure::Refused("no such region"))?);
            endpoint.release(region);
            Ok(())
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}
