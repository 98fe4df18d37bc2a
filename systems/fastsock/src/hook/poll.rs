//! `poll` and `ppoll`: the kernel's, with the event descriptors of fast connections beside what the program asks about (`ready`).

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, c_int, nfds_t, pollfd, sigset_t, timespec};

use crate::hook::signals;
use crate::ready::{self, Armed, IN, OUT};
use crate::slot::{self, Held};
use crate::{real, recycle, wait, watch};

const READ: i16 = POLLIN | libc::POLLRDNORM;
const WRITE: i16 = POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND;
const ALWAYS: i16 = POLLERR | POLLHUP | POLLNVAL;
/// How long a sleep takes that no event descriptor can end.
const SLICE: Duration = Duration::from_millis(1);
/// Connections at most that a spin looks at.
const SPIN: usize = 16;

/// A connection that is asked about.
struct Ask {
    at: usize,
    held: Held,
    /// The ring may have to tell.
    active: bool,
    wants: u32,
    granted: u32,
    interested: bool,
    /// Its event descriptor was readable.
    rang: bool,
    /// Its peer has closed its sending direction alone.
    half: bool,
}

impl Drop for Ask {
    fn drop(&mut self) {
        if !self.active {
            self.held.receiving.fetch_sub(1, Ordering::SeqCst);
        }
        if self.interested {
            ready::interest(&self.held, self.wants, false);
        }
    }
}

impl Ask {
    fn new(at: usize, ask: &pollfd) -> Option<Self> {
        let held = slot::of(ask.fd)?;
        // One that is not fast does not become so as long as somebody waits for the kernel alone.
        held.receiving.fetch_add(1, Ordering::SeqCst);
        let active = held.active();
        if active {
            recycle::waited_for(ask.fd, &held, ask.events & POLLRDHUP == 0 || ask.events & READ != 0);
            held.receiving.fetch_sub(1, Ordering::SeqCst);
        }
        let bit = |mask: i16, bit| if ask.events & mask != 0 { bit } else { 0 };
        let wants = bit(READ, IN) | bit(WRITE, OUT);
        Some(Self { at, held, active, wants, granted: 0, interested: false, rang: false, half: false })
    }

    /// What the kernel is asked of it.
    fn for_kernel(&self, events: i16) -> i16 {
        if self.wants & OUT != 0 && ready::sends_through_ring(&self.held) {
            events & !WRITE | if self.half { 0 } else { POLLRDHUP }
        } else {
            events
        }
    }

    /// What the program is told, of what the kernel said.
    fn tell(&mut self, asked: &pollfd, kernel: &pollfd) -> i16 {
        let mut told = kernel.revents & (asked.events | ALWAYS);
        if self.wants & OUT != 0 && ready::sends_through_ring(&self.held) {
            told &= !WRITE;
            if kernel.revents & (POLLRDHUP | ALWAYS) != 0 {
                let closed = kernel.revents & ALWAYS != 0 || ready::peer_closed(asked.fd, &self.held);
                self.granted |= if closed { OUT } else { 0 };
                self.half |= !closed;
            }
        }
        let read = match self.granted & IN {
            0 => 0,
            _ if asked.events & POLLRDHUP != 0 && recycle::ended(&self.held) => READ | POLLRDHUP,
            _ => READ,
        };
        let write = if self.granted & OUT != 0 { POLLOUT | libc::POLLWRNORM } else { 0 };
        told | (read | write) & asked.events
    }
}

/// Which of these are connections that are followed; their like in sets is put right.
fn asks(fds: &[pollfd]) -> Vec<Ask> {
    fds.iter().for_each(|ask| watch::settle_all(ask.fd, 5));
    fds.iter().enumerate().filter(|(_, ask)| slot::tracked(ask.fd)).filter_map(|(at, ask)| Ask::new(at, ask)).collect()
}

fn look(asks: &mut [Ask]) -> bool {
    let mut any = false;
    for ask in asks.iter_mut().filter(|ask| ask.active) {
        ask.granted = ready::conditions(&ask.held, ask.wants);
        any |= ask.granted != 0;
    }
    any
}

/// Polls. `plain` is the call as the program made it, for where no connection is fast.
pub fn poll_in(
    fds: &mut [pollfd],
    limit: Option<Duration>,
    mask: *const sigset_t,
    plain: impl Fn(&mut [pollfd]) -> c_int,
) -> c_int {
    let mut asks = asks(fds);
    if !asks.iter().any(|ask| ask.active) {
        return plain(fds);
    }
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let ran = signals::ran();
    let mut kernel: Vec<pollfd> = Vec::with_capacity(fds.len() + asks.len());
    // News that come to nothing are no reason to spin again: the kernel may have what is waited for.
    let mut spun = false;
    loop {
        let mut granted = look(&mut asks);
        let all = asks.len() == fds.len()
            && asks.iter().all(|ask| {
                let more = fds[ask.at].events & !(READ | WRITE) != 0 || !ready::whole(&ask.held);
                ask.active && ask.granted == ask.wants && !more
            });
        if granted && all {
            let nothing = pollfd { fd: -1, events: 0, revents: 0 };
            for ask in &mut asks {
                fds[ask.at].revents = ask.tell(&fds[ask.at], &nothing);
            }
            // One of which nothing is asked is in the list, and not among those that are told of.
            return fds.iter().filter(|ask| ask.revents != 0).count() as c_int;
        }
        let now = limit == Some(Duration::ZERO);
        if !granted && !now {
            let hot: Vec<_> = if asks.iter().filter(|ask| ask.active).count() > SPIN {
                Vec::new()
            } else {
                asks.iter()
                    .filter(|ask| ask.active)
                    .filter_map(|ask| Some((slot::of(fds[ask.at].fd)?, ready::seen(&ask.held, ask.wants)?)))
                    .collect()
            };
            if !std::mem::replace(&mut spun, true) && wait::spin_for_any(&hot) {
                continue;
            }
        }
        kernel.clear();
        kernel.extend(fds.iter().map(|ask| pollfd { revents: 0, ..*ask }));
        for ask in asks.iter().filter(|ask| ask.active) {
            kernel[ask.at].events = ask.for_kernel(fds[ask.at].events);
        }
        let mut slice = None;
        if !granted && !now {
            for ask in asks.iter_mut().filter(|ask| ask.active && ask.wants != 0) {
                if !ask.interested {
                    ask.interested = true;
                    ready::interest(&ask.held, ask.wants, true);
                }
                match ready::arm(&ask.held, ask.wants, ask.rang) {
                    Armed::Ready(bits) => {
                        ask.granted = bits;
                        granted = true;
                    }
                    Armed::Quiet if crate::planted::is("a poll without the ring") => {}
                    Armed::Quiet => kernel.push(pollfd { fd: ask.held.event(), events: POLLIN, revents: 0 }),
                    Armed::Noisy => slice = Some(SLICE),
                }
            }
            if signals::ran().any != ran.any {
                return real::fail(libc::EINTR) as c_int;
            }
        }
        let left = match until {
            _ if granted || now => Some(Duration::ZERO),
            Some(until) => Some(until.saturating_duration_since(Instant::now())),
            None => None,
        };
        let time = left.into_iter().chain(slice).min().map(timespec_of);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: as many entries; a time or none; the program's mask.
        let found = unsafe { real::ppoll(kernel.as_mut_ptr(), kernel.len() as nfds_t, time, mask) };
        if found < 0 && !granted {
            return found;
        }
        let timed_out = found == 0 && slice.is_none();
        if !granted {
            look(&mut asks);
        }
        for ask in asks.iter_mut() {
            let event = ask.held.event();
            ask.rang = kernel[fds.len()..].iter().any(|from| from.fd == event && from.revents != 0);
        }
        let mut told = 0;
        for (ask, from) in fds.iter_mut().zip(&kernel) {
            ask.revents = if found < 0 { 0 } else { from.revents };
        }
        for ask in &mut asks {
            if ask.active {
                let said = pollfd { revents: fds[ask.at].revents, ..fds[ask.at] };
                fds[ask.at].revents = ask.tell(&fds[ask.at], &said);
            }
        }
        told += fds.iter().filter(|ask| ask.revents != 0).count();
        if told > 0 || now || timed_out || left.is_some_and(|left| left.is_zero()) {
            return told as c_int;
        }
        spun = false;
    }
}

/// A duration, unless it is none.
pub fn duration(time: &timespec) -> Option<Duration> {
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    (nanos < 1_000_000_000).then(|| Duration::new(seconds, nanos))
}

pub fn timespec_of(time: Duration) -> timespec {
    timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}

/// Whether a call concerns a connection that is followed, or a set.
///
/// # Safety
/// `fds` points to `count` entries.
pub unsafe fn concerns(fds: *mut pollfd, count: nfds_t) -> bool {
    !fds.is_null()
        && (0..count as usize).any(|i| {
            // SAFETY: the caller's promise.
            let fd = unsafe { (*fds.add(i)).fd };
            slot::tracked(fd) || watch::set_of(fd).is_some()
        })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe {
        if !concerns(fds, count) {
            return real::poll(fds, count, timeout);
        }
        let all = std::slice::from_raw_parts_mut(fds, count as usize);
        let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
        let plain = |fds: &mut [pollfd]| real::poll(fds.as_mut_ptr(), count, timeout);
        real::keeping_errno(|| poll_in(all, limit, std::ptr::null(), plain))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { poll(fds, count, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: usize) -> c_int {
    fits(count, room);
    // SAFETY: as above.
    unsafe { poll(fds, count, timeout) }
}

/// What the C library does where the list is smaller than what is asked: a fault of the program's.
fn fits(count: nfds_t, room: usize) {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: ends the process.
        unsafe { libc::abort() };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let limit = timeout.as_ref().and_then(duration);
        if !concerns(fds, count) || (limit.is_none() && !timeout.is_null()) {
            return real::ppoll(fds, count, timeout, mask);
        }
        let all = std::slice::from_raw_parts_mut(fds, count as usize);
        let plain = |fds: &mut [pollfd]| real::ppoll(fds.as_mut_ptr(), count, timeout, mask);
        real::keeping_errno(|| poll_in(all, limit, mask, plain))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: usize,
) -> c_int {
    fits(count, room);
    // SAFETY: as above.
    unsafe { ppoll(fds, count, timeout, mask) }
}
