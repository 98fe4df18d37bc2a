//! C functions as handlers, and what they are given.

use std::ffi::{c_int, c_void};

use am::{Handlers, Message, Payload, Reply};

use crate::convert::{AmError, Failure, run, slice};

/// `struct am_message`.
#[repr(C)]
pub struct AmMessage {
    arguments: *const u64,
    argument_count: usize,
    payload: *const AmPayload<'static>,
    payload_len: usize,
}

/// `struct am_payload`.
pub struct AmPayload<'a>(Payload<'a>);

/// `struct am_answer`.
pub struct AmAnswer<'a>(Option<Reply<'a>>);

type OnRequest = Option<unsafe extern "C" fn(*mut c_void, *const AmMessage, *mut AmAnswer<'_>)>;
type OnReply = Option<unsafe extern "C" fn(*mut c_void, *const AmMessage)>;

/// `struct am_request_handler`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AmRequestHandler {
    number: u16,
    run: OnRequest,
    user: *mut c_void,
}

/// `struct am_reply_handler`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AmReplyHandler {
    number: u16,
    run: OnReply,
    user: *mut c_void,
}

/// A pointer of the caller's, handed back to its own functions.
struct User(*mut c_void);

// SAFETY: the header says that an endpoint is used by one thread at a time; the pointer is only handed back.
unsafe impl Send for User {}

impl User {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// Calls `each` with a message in C's form.
fn with_message(message: Message<'_>, each: impl FnOnce(*const AmMessage)) {
    let payload = AmPayload(message.payload());
    let arguments = message.arguments();
    let in_c = AmMessage {
        arguments: arguments.as_ptr(),
        argument_count: arguments.len(),
        payload: (&raw const payload).cast(),
        payload_len: message.payload().len(),
    };
    each(&raw const in_c);
}

/// The tables as handlers.
///
/// # Safety
/// Each is null or an array that ends with a null `run`; the functions and what `user` points to outlive the endpoint.
pub unsafe fn handlers(requests: *const AmRequestHandler, replies: *const AmReplyHandler) -> Handlers<()> {
    let mut handlers = Handlers::new();
    for i in 0.. {
        // SAFETY: the caller's promise: there is one more, as none had a null `run` yet.
        let Some(AmRequestHandler { number, run: Some(run), user }) =
            (!requests.is_null()).then(|| unsafe { *requests.add(i) })
        else {
            break;
        };
        let user = User(user);
        handlers = handlers.on_request(number, move |(), message, reply| {
            let mut answer = AmAnswer(Some(reply));
            // SAFETY: the function that the caller gave for this; what it is given lives until it returns.
            with_message(message, |message| unsafe { run(user.pointer(), message, &raw mut answer) });
        });
    }
    for i in 0.. {
        // SAFETY: as above.
        let Some(AmReplyHandler { number, run: Some(run), user }) =
            (!replies.is_null()).then(|| unsafe { *replies.add(i) })
        else {
            break;
        };
        let user = User(user);
        handlers = handlers.on_reply(number, move |(), message| {
            // SAFETY: as above.
            with_message(message, |message| unsafe { run(user.pointer(), message) });
        });
    }
    handlers
}

/// `am_reply` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_reply(
    answer: *mut AmAnswer<'_>,
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
            let answer = answer.as_mut().ok_or(Failure::Refused("the answer is a null pointer"))?;
            let (arguments, payload) = (slice(arguments, argument_count)?, slice(payload.cast::<u8>(), len)?);
            let reply = answer.0.take().ok_or(Failure::Answered)?;
            Ok(reply.send(handler, arguments, payload)?)
        })
    };
    outcome.map_or_else(|code| code, |()| 0)
}

/// `am_copy` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn am_copy(payload: *const AmPayload<'_>, into: *mut c_void, len: usize) -> usize {
    // SAFETY: the caller's promise.
    let Some(payload) = (unsafe { payload.as_ref() }) else { return 0 };
    if into.is_null() {
        return 0;
    }
    let len = len.min(payload.0.len());
    // SAFETY: the caller's promise: `into` has room for at least this many bytes, and nobody else uses them.
    payload.0.copy_to(unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), len) })
}
