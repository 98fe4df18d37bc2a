//! Sets of epoll. What they do with fast connections is in `watch`; here is the waiting.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use libc::{c_int, epoll_event, sigset_t, timespec};

use crate::hook::signals;
use crate::watch::{self, Set, Told};
use crate::{real, settings, wait};

/// How long a wait that finds something in rings goes without asking the kernel.
const TRUST: Duration = Duration::from_micros(20);

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_create(size: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    created(unsafe { real::epoll_create(size) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: as above.
    created(unsafe { real::epoll_create1(flags) })
}

fn created(fd: c_int) -> c_int {
    if fd >= 0 && !settings::get().off {
        watch::track_set(fd);
    }
    fd
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_ctl(epoll: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    crate::fresh::spoil(fd);
    if let Some(slot) = crate::slot::of(fd) {
        // SAFETY: the caller's promise.
        let events = if event.is_null() || op == libc::EPOLL_CTL_DEL { 0 } else { unsafe { (*event).events } };
        crate::recycle::waited_for(fd, &slot, watch::hears_the_end(events));
    }
    // SAFETY: as above.
    real::keeping_errno(|| unsafe { watch::ctl(epoll, op, fd, event) })
}

/// Time that is left, for the kernel.
#[derive(Clone, Copy)]
enum Left {
    Forever,
    Until(Instant),
    /// As the program asked: no more than one look.
    Now,
}

impl Left {
    fn of(limit: Option<Duration>) -> Self {
        match limit {
            None => Self::Forever,
            Some(Duration::ZERO) => Self::Now,
            Some(limit) => Instant::now().checked_add(limit).map_or(Self::Forever, Self::Until),
        }
    }

    fn remaining(self) -> Option<Duration> {
        match self {
            Self::Forever => None,
            Self::Until(until) => Some(until.saturating_duration_since(Instant::now())),
            Self::Now => Some(Duration::ZERO),
        }
    }
}

/// How long a wait rests where the kernel's set tells of nothing but what only another process knows.
const FOREIGN: Duration = Duration::from_millis(1);

/// Waits. `kernel` asks the kernel: where to, how many at most, for how long.
///
/// # Safety
/// `events` has room for `count`.
unsafe fn wait_in(
    set: &Set,
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    limit: Option<Duration>,
    kernel: impl Fn(*mut epoll_event, c_int, Option<Duration>) -> c_int,
) -> c_int {
    let (Ok(room), false) = (usize::try_from(count), events.is_null()) else { return kernel(events, count, limit) };
    if set.plain() {
        set.waits(true);
        let found = kernel(events, count, limit);
        set.waits(false);
        // It may have become fast meanwhile.
        if found <= 0 || (set.plain() && !set.is_shared()) {
            return found;
        }
        // SAFETY: as many as the kernel wrote.
        let brought = unsafe { std::slice::from_raw_parts_mut(events, found as usize) };
        let told = set.translate(epoll, brought, 0, true);
        if told.events > 0 {
            return told.events as c_int;
        }
    }
    let (left, ran) = (Left::of(limit), signals::ran());
    set.settle_inner();
    // News that come to nothing are no reason to spin again: the kernel may have what is waited for.
    let mut spun = false;
    loop {
        // SAFETY: the caller's promise.
        let into = unsafe { std::slice::from_raw_parts_mut(events.cast::<MaybeUninit<_>>(), room) };
        let told = set.collect(epoll, into);
        if told.events > 0 {
            return also(set, epoll, events, &told, room, &kernel) as c_int;
        }
        let now = matches!(left, Left::Now);
        if !now {
            if !std::mem::replace(&mut spun, true) && wait::spin_for(set) {
                continue;
            }
            set.waits(true);
            if !set.settle() {
                set.waits(false);
                continue;
            }
            if signals::ran().any != ran.any {
                set.waits(false);
                return real::fail(libc::EINTR) as c_int;
            }
        }
        set.asked();
        let found = kernel(events, count, left.remaining());
        if !now {
            set.waits(false);
        }
        if found <= 0 {
            return found;
        }
        // SAFETY: as many as the kernel wrote.
        let brought = unsafe { std::slice::from_raw_parts_mut(events, found as usize) };
        let told = set.translate(epoll, brought, 0, true);
        let more = told.more && told.events < room;
        let told = if more { ask_again(set, epoll, events, told.events, room, &kernel) } else { told.events };
        if told > 0 || now {
            return told as c_int;
        }
        if let Some(Duration::ZERO) = left.remaining() {
            return 0;
        }
        if set.is_shared() && set.plain() {
            // Of what another process put into it, and goes on.
            std::thread::sleep(FOREIGN);
        }
        spun = false;
    }
}

/// Rings have granted something: the other descriptors get their turn, if they have not had it just now.
fn also(
    set: &Set,
    epoll: c_int,
    events: *mut epoll_event,
    told: &Told,
    room: usize,
    kernel: &impl Fn(*mut epoll_event, c_int, Option<Duration>) -> c_int,
) -> usize {
    if told.events == room || (!told.more && set.asked_within(TRUST)) {
        return told.events;
    }
    ask_again(set, epoll, events, told.events, room, kernel)
}

/// What the kernel has beside what has been told.
fn ask_again(
    set: &Set,
    epoll: c_int,
    events: *mut epoll_event,
    told: usize,
    room: usize,
    kernel: &impl Fn(*mut epoll_event, c_int, Option<Duration>) -> c_int,
) -> usize {
    let (errno, mut told) = (real::errno(), told);
    // Once more where an entry went back to the kernel just now; other descriptors would be told twice.
    for _ in 0..2 {
        // SAFETY: there is room for the rest.
        let found = kernel(unsafe { events.add(told) }, (room - told) as c_int, Some(Duration::ZERO));
        if found <= 0 {
            real::fail(errno);
            break;
        }
        // SAFETY: as many as are written.
        let brought = unsafe { std::slice::from_raw_parts_mut(events, told + found as usize) };
        let after = set.translate(epoll, brought, told, false);
        told = after.events;
        if !after.more || told == room {
            break;
        }
    }
    told
}

fn milliseconds(limit: Option<Duration>) -> c_int {
    match limit {
        None => -1,
        // No less than what is left.
        Some(limit) => c_int::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX),
    }
}

fn duration(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some(set) = watch::set_of(epoll) else { return real::epoll_wait(epoll, events, count, timeout) };
        let kernel = |events, count, limit| real::epoll_wait(epoll, events, count, milliseconds(limit));
        real::keeping_errno(|| wait_in(set, epoll, events, count, duration(timeout), kernel))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some(set) = watch::set_of(epoll) else { return real::epoll_pwait(epoll, events, count, timeout, mask) };
        let kernel = |events, count, limit| real::epoll_pwait(epoll, events, count, milliseconds(limit), mask);
        real::keeping_errno(|| wait_in(set, epoll, events, count, duration(timeout), kernel))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let limit = timeout.as_ref().and_then(super::poll::duration);
        let (Some(set), true) = (watch::set_of(epoll), timeout.is_null() || limit.is_some()) else {
            return real::epoll_pwait2(epoll, events, count, timeout, mask);
        };
        let kernel = |events, count, limit: Option<Duration>| {
            let limit = limit.map(super::poll::timespec_of);
            real::epoll_pwait2(epoll, events, count, limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), mask)
        };
        real::keeping_errno(|| wait_in(set, epoll, events, count, limit, kernel))
    }
}
