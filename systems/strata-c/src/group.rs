//! Groups behind pointers.

use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use strata::net::{Group, Replica};

use crate::convert::{Failure, StrataError, StrataMember, StrataOptions, asked, bytes, options, run};
use crate::event::{StrataEvent, Told};

enum Member {
    Plain(Box<Group>),
    WithState(Box<Replica>),
}

/// `struct strata_group`.
pub struct StrataGroup {
    member: Member,
    told: Told,
}

/// The group behind a pointer.
///
/// # Safety
/// `group` is null or was returned by [`strata_join`] and not freed, and no other thread uses it.
unsafe fn at<'a>(group: *mut StrataGroup) -> Result<&'a mut StrataGroup, Failure> {
    // SAFETY: the caller's promise.
    unsafe { group.as_mut() }.ok_or_else(|| asked("the group is a null pointer"))
}

fn code<T>(outcome: Result<T, c_int>, done: impl FnOnce(T) -> c_int) -> c_int {
    outcome.map_or_else(|code| code, done)
}

/// `strata_join` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_join(with: *const StrataOptions, error: *mut StrataError) -> *mut StrataGroup {
    // SAFETY: the caller's promise.
    let made = unsafe {
        run(error, || {
            let (options, state) = options(with)?;
            let member = if state {
                Member::WithState(Box::new(Replica::join(options)?))
            } else {
                Member::Plain(Box::new(Group::join(options)?))
            };
            Ok(StrataGroup { member, told: Told::default() })
        })
    };
    made.map_or(std::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// `strata_free` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_free(group: *mut StrataGroup) {
    if !group.is_null() {
        // SAFETY: made by `strata_join`, and the caller gives it up.
        drop(unsafe { Box::from_raw(group) });
    }
}

/// `strata_self` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_self(
    group: *const StrataGroup,
    this: *mut StrataMember,
    error: *mut StrataError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let group = group.as_ref().ok_or_else(|| asked("the group is a null pointer"))?;
            let this = this.as_mut().ok_or_else(|| asked("the member is a null pointer"))?;
            *this = match &group.member {
                Member::Plain(member) => member.me(),
                Member::WithState(member) => member.me(),
            }
            .into();
            Ok(())
        })
    };
    code(outcome, |()| 0)
}

/// `strata_cast` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_cast(
    group: *mut StrataGroup,
    start: *const c_void,
    len: usize,
    error: *mut StrataError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let body = bytes(start, len)?.to_vec();
            match &mut at(group)?.member {
                Member::Plain(member) => member.try_cast(body)?,
                Member::WithState(member) => member.try_cast(body)?,
            }
            Ok(())
        })
    };
    code(outcome, |()| 0)
}

/// `strata_send` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_send(
    group: *mut StrataGroup,
    to: *const StrataMember,
    start: *const c_void,
    len: usize,
    error: *mut StrataError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let body = bytes(start, len)?.to_vec();
            let to = to.as_ref().ok_or_else(|| asked("the member is a null pointer"))?.endpoint()?;
            match &mut at(group)?.member {
                Member::Plain(member) => member.try_send(to, body)?,
                Member::WithState(member) => member.try_send(to, body)?,
            }
            Ok(())
        })
    };
    code(outcome, |()| 0)
}

/// `strata_flush` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_flush(group: *mut StrataGroup, error: *mut StrataError) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            match &mut at(group)?.member {
                Member::Plain(member) => member.flush(),
                Member::WithState(member) => member.flush(),
            }
            Ok(())
        })
    };
    code(outcome, |()| 0)
}

/// `strata_next` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_next(
    group: *mut StrataGroup,
    limit_ms: u32,
    event: *mut StrataEvent,
    error: *mut StrataError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let event = event.as_mut().ok_or_else(|| asked("the event is a null pointer"))?;
            let StrataGroup { member, told } = at(group)?;
            let until = Instant::now() + Duration::from_millis(limit_ms.into());
            loop {
                let left = until.saturating_duration_since(Instant::now());
                let next = match member {
                    Member::Plain(member) => member.poll(left)?.map(|event| told.of_event(&event)),
                    Member::WithState(member) => member.poll(left)?.map(|news| told.of_news(&news)),
                };
                match next {
                    None => return Ok(0),
                    // Something that C is not told.
                    Some(None) => {}
                    Some(Some(next)) => {
                        *event = next;
                        return Ok(1);
                    }
                }
            }
        })
    };
    code(outcome, |count| count)
}

/// `strata_fd` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_fd(group: *mut StrataGroup, error: *mut StrataError) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            Ok(match &mut at(group)?.member {
                Member::Plain(member) => member.descriptor()?.as_raw_fd(),
                Member::WithState(member) => member.descriptor()?.as_raw_fd(),
            })
        })
    };
    code(outcome, |fd| fd)
}

/// `strata_give` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_give(
    group: *mut StrataGroup,
    start: *const c_void,
    len: usize,
    error: *mut StrataError,
) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            let state = bytes(start, len)?.to_vec();
            match &mut at(group)?.member {
                Member::Plain(_) => Err(asked("this group has no state: set the option state as you join")),
                Member::WithState(member) => Ok(member.give(state)),
            }
        })
    };
    code(outcome, c_int::from)
}

/// `strata_leave` of the header.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_leave(group: *mut StrataGroup, error: *mut StrataError) -> c_int {
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        run(error, || {
            match &mut at(group)?.member {
                Member::Plain(member) => member.leave(),
                Member::WithState(member) => member.leave(),
            }
            Ok(())
        })
    };
    code(outcome, |()| 0)
}
