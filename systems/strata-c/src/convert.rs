//! Between C's words and Rust's.

use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use strata::net::{Failed, Options};
use strata::{Endpoint, Key, Refused};

/// `struct strata_error`.
#[repr(C)]
pub struct StrataError {
    text: [c_char; 512],
}

/// `struct strata_options`.
#[repr(C)]
pub struct StrataOptions {
    group: *const c_char,
    stack: *const c_char,
    bind: *const c_char,
    contacts: *const c_char,
    multicast: *const c_char,
    key: *const u8,
    suspect_ms: u32,
    patience_ms: i32,
    state: c_int,
}

/// `struct strata_member`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StrataMember {
    address: [c_char; 64],
    born: u64,
}

/// What a call comes to.
pub enum Failure {
    /// The group could not be joined, or can't go on.
    Failed(Failed),
    /// A message was not taken.
    Refused(Refused),
    /// This interface says why.
    Asked(String),
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A refusal in this interface's words.
pub fn asked(why: &str) -> Failure {
    Failure::Asked(why.to_owned())
}

impl Failure {
    fn code(&self) -> c_int {
        match self {
            Self::Refused(Refused::WouldBlock { .. }) => -1,
            Self::Failed(Failed::Nobody { .. }) => -3,
            Self::Failed(Failed::Io { .. }) => -4,
            Self::Refused(Refused::Gone) => -5,
            Self::Failed(_) | Self::Refused(_) | Self::Asked(_) => -2,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Failed(failed) => failed.to_string(),
            Self::Refused(refused) => refused.to_string(),
            Self::Asked(why) => why.clone(),
        }
    }
}

/// Runs a call; its failure is written into `error`, and its code returned.
///
/// # Safety
/// `error` is null or points to one.
pub unsafe fn run<T>(error: *mut StrataError, call: impl FnOnce() -> Result<T, Failure>) -> Result<T, c_int> {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(asked("a panic: a fault of strata")));
    outcome.map_err(|failure| {
        // SAFETY: the caller's promise.
        if let Some(error) = unsafe { error.as_mut() } {
            copy(&failure.text(), &mut error.text);
        }
        failure.code()
    })
}

/// As much as fits, and a 0.
fn copy(text: &str, into: &mut [c_char]) {
    let most = into.len() - 1;
    into.fill(0);
    for (to, from) in into[..most].iter_mut().zip(text.bytes()) {
        *to = from.cast_signed();
    }
}

/// The options that were given, or the defaults, and whether the group has a state.
///
/// # Safety
/// `options` is null or points to one, whose texts end with 0 and whose key has 32 bytes.
pub unsafe fn options(options: *const StrataOptions) -> Result<(Options, bool), Failure> {
    let mut made = Options::default();
    // SAFETY: the caller's promise.
    let Some(given) = (unsafe { options.as_ref() }) else { return Ok((made, false)) };
    // SAFETY: the caller's promise, for each text.
    let text = |of: *const c_char, what: &str| unsafe { text(of, what) };
    if let Some(group) = text(given.group, "group")? {
        made.config.group = group.to_owned();
    }
    if let Some(stack) = text(given.stack, "stack")? {
        made.stack = stack.to_owned();
    }
    if let Some(bind) = text(given.bind, "bind")? {
        made.bind = address(bind)?;
    }
    let contacts = text(given.contacts, "contacts")?.unwrap_or_default();
    made.contacts =
        contacts.split(',').map(str::trim).filter(|c| !c.is_empty()).map(address).collect::<Result<_, _>>()?;
    if let Some(multicast) = text(given.multicast, "multicast")? {
        made.multicast = Some(address(multicast)?);
    }
    // SAFETY: null, or 32 bytes by the caller's promise.
    made.config.key = unsafe { given.key.cast::<[u8; 32]>().as_ref() }.map(|key| Key(*key));
    if given.suspect_ms != 0 {
        let suspect = Duration::from_millis(u64::from(given.suspect_ms.max(10)));
        (made.config.suspect, made.config.status, made.config.flush) = (suspect, suspect / 10, suspect / 2);
    }
    if given.patience_ms != 0 {
        made.patience = Duration::from_millis(given.patience_ms.max(0).unsigned_abs().into());
    }
    Ok((made, given.state != 0))
}

/// # Safety
/// `of` is null or points to a text that ends with 0.
unsafe fn text<'a>(of: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if of.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and the caller's promise.
    let text = unsafe { CStr::from_ptr(of) }.to_str();
    text.map(Some).map_err(|_| Failure::Asked(format!("the option {what} is not UTF-8")))
}

fn address<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Asked(format!("{text:?} is no address with a port, such as 127.0.0.1:7000")))
}

/// `len` bytes; a null pointer is none.
///
/// # Safety
/// `start` is null or points to `len` bytes that nobody changes during the call.
pub unsafe fn bytes<'a>(start: *const std::ffi::c_void, len: usize) -> Result<&'a [u8], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if start.is_null() || len > isize::MAX as usize {
        return Err(asked("a null pointer, or a length that no memory has"));
    }
    // SAFETY: not null, of a possible length, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), len) })
}

impl StrataMember {
    pub const NONE: Self = Self { address: [0; 64], born: 0 };

    /// Who that is.
    pub fn endpoint(&self) -> Result<Endpoint, Failure> {
        let text: Vec<u8> = self.address.iter().take_while(|c| **c != 0).map(|c| c.cast_unsigned()).collect();
        let addr = address(&String::from_utf8_lossy(&text))?;
        Ok(Endpoint { addr, born: self.born })
    }
}

impl From<Endpoint> for StrataMember {
    fn from(of: Endpoint) -> Self {
        let mut member = Self { born: of.born, ..Self::NONE };
        copy(&of.addr.to_string(), &mut member.address);
        member
    }
}
