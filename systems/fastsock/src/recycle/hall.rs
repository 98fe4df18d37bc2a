//! Connections that a listener's process accepted, closed, and keeps.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::*;
use crate::bell::Bell;
use crate::lock::Lock;
use crate::ready::Armed;
use crate::wait::{End, Wait};
use crate::{guests, ready, wait, watch};

/// Listeners beyond these keep nothing.
const HALLS: usize = 64;
/// Of so many connections one looks for an eager peer.
const LOOK: u32 = 16;
/// How long an offer waits to be taken.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(10);
/// Of so many accepts one looks whether the kernel has something that came before.
const ROW: u32 = 32;

/// What is kept for a listener.
struct Hall {
    /// Of the listener whose it is, times [`HALLS`], with its own number; 0: nobody's.
    id: AtomicU64,
    listener: AtomicU32,
    backlog: AtomicU32,
    nodelay: AtomicU32,
    /// Accepts wait for kept connections, too.
    on: AtomicU32,
    /// Nothing is kept any more.
    off: AtomicU32,
    /// Threads in the kernel's accept alone.
    in_kernel: AtomicU32,
    accepted: AtomicU32,
    /// The last offer was taken.
    luck: AtomicU32,
    /// Offers that were found, but not taken, since one was.
    missed: AtomicU32,
    row: AtomicU32,
    /// Threads that wait for an accept, and one for all who wait by other means, once there were such.
    waiting: AtomicU32,
    others: AtomicU32,
    /// When the kernel was first seen to have a connection that waits still, nanoseconds; 0.
    seen: AtomicU64,
    parked: Lock<Vec<Parked>>,
    accepting: Lock<()>,
}

static TABLE: [Hall; HALLS] = [const { Hall::new() }; HALLS];
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Hall {
    const fn new() -> Self {
        Self {
            id: AtomicU64::new(0),
            listener: AtomicU32::new(0),
            backlog: AtomicU32::new(0),
            nodelay: AtomicU32::new(0),
            on: AtomicU32::new(0),
            off: AtomicU32::new(0),
            in_kernel: AtomicU32::new(0),
            accepted: AtomicU32::new(0),
            luck: AtomicU32::new(0),
            missed: AtomicU32::new(0),
            row: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            others: AtomicU32::new(0),
            seen: AtomicU64::new(0),
            parked: Lock::new(Vec::new()),
            accepting: Lock::new(()),
        }
    }

    fn keeps(&self) -> bool {
        self.on.load(Ordering::SeqCst) != 0 && self.off.load(Ordering::SeqCst) == 0
    }

    /// Spins, where that has paid of late, for the next turn of whoever closed last. True if one has begun.
    fn spin(&self, wait: &mut Wait) -> bool {
        let begun = || self.parked.with(|parked| parked.iter().any(Parked::begun)) == Some(true);
        let last = self.parked.with(|parked| parked.last().map(|parked| parked.slot.number())).flatten();
        let Some(last) = last.and_then(slot::numbered) else { return false };
        let Some((_, memory)) = last.parts() else { return false };
        let sides = &control(memory).sides;
        wait.spin(&sides[ACCEPTED], &sides[CONNECTS], std::time::Duration::ZERO, begun)
    }

    /// Somebody waits by a poll or a set.
    fn by_others(&self) {
        if self.others.swap(1, Ordering::SeqCst) == 0 {
            self.waiting.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whether there is, or may be, more to accept than the kernel has.
    fn waits(&self) -> bool {
        self.on.load(Ordering::SeqCst) != 0
            && (self.off.load(Ordering::SeqCst) == 0 || self.parked.with(|parked| parked.is_empty()) == Some(false))
    }

    /// The connection that has waited longest for an accept.
    fn first(&self) -> Option<Parked> {
        self.parked
            .with(|parked| {
                let begun = |parked: &Parked| Some(control(parked.memory()?).turn.begun.load(Ordering::Relaxed));
                let open = parked.iter().enumerate().filter(|(_, parked)| parked.begun());
                let (at, first) = open.min_by_key(|(_, parked)| begun(parked))?;
                let kernels = self.seen.load(Ordering::Relaxed);
                if kernels != 0 && begun(first).is_none_or(|begun| begun > kernels) {
                    return None;
                }
                Some(parked.remove(at))
            })
            .flatten()
    }

    /// No turn begins from now on; those that have begun wait to be accepted, unless `all` go.
    fn clear(&self, all: bool) {
        self.off.store(1, Ordering::SeqCst);
        self.drop_all(|parked| parked.put_end() || all, Parked::let_go);
    }

    /// Those of a kind go, one after the other: no memory is taken or given back, as a handler that forks may have interrupted who does that.
    fn drop_all(&self, which: impl Fn(&Parked) -> bool, go: impl Fn(Parked)) {
        let next = |parked: &mut Vec<Parked>| parked.iter().position(&which).map(|at| parked.remove(at));
        while let Some(parked) = self.parked.with(next).flatten() {
            go(parked);
        }
    }
}

impl Parked {
    fn bell(&self) -> Option<&Bell> {
        Some(&control(self.memory()?).turn.bell)
    }

    /// Whether the next turn has begun.
    fn begun(&self) -> bool {
        let turn = self.slot.turn.load(Ordering::Relaxed);
        self.memory().is_some_and(|memory| turns::has_begun(&control(memory).turn.number, turn))
    }

    /// No turn begins. False if it has.
    pub(super) fn put_end(&self) -> bool {
        let turn = self.slot.turn.load(Ordering::Relaxed);
        let Some(memory) = self.memory() else { return true };
        turns::put_end(&control(memory).turn.number, turn)
    }
}

/// The hall of a slot, as long as its listener is open.
fn of(slot: &Slot) -> Option<&'static Hall> {
    let id = slot.hall.load(Ordering::Acquire);
    let hall = &TABLE[id as usize % HALLS];
    (id != 0 && hall.id.load(Ordering::SeqCst) == id).then_some(hall)
}

/// A socket listens.
pub fn listened(fd: c_int, backlog: c_int) {
    let backlog = u32::try_from(backlog).unwrap_or(0);
    if let Some(slot) = slot::of(fd) {
        if let Some(hall) = of(&slot) {
            hall.backlog.store(backlog, Ordering::Relaxed);
        }
        return;
    }
    let Some(nodelay) = tcp::nodelay(fd).filter(|_| on() && activate::in_process()) else { return };
    if tcp::shares_port(fd) {
        // The kernel chooses among the processes that listen there, each time anew.
        return;
    }
    let free = |hall: &&Hall| hall.id.compare_exchange(0, u64::MAX, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    let Some((at, hall)) = TABLE.iter().enumerate().find(|(_, hall)| free(hall)) else { return };
    for word in [
        &hall.on,
        &hall.off,
        &hall.in_kernel,
        &hall.accepted,
        &hall.luck,
        &hall.missed,
        &hall.row,
        &hall.waiting,
        &hall.others,
    ] {
        word.store(0, Ordering::Relaxed);
    }
    hall.backlog.store(backlog, Ordering::Relaxed);
    hall.nodelay.store(u32::from(nodelay), Ordering::Relaxed);
    slot::track(fd, ACCEPTED);
    let Some(slot) = slot::of(fd) else { return hall.id.store(0, Ordering::SeqCst) };
    slot.never.store(1, Ordering::SeqCst);
    slot.listens.store(1, Ordering::SeqCst);
    report::state(&slot, table::LISTENER);
    let id = NEXT.fetch_add(1, Ordering::Relaxed) * HALLS as u64 + at as u64;
    hall.listener.store(slot.number(), Ordering::Relaxed);
    hall.id.store(id, Ordering::SeqCst);
    slot.hall.store(id, Ordering::SeqCst);
    watch::adopt(fd);
}

/// A listener is no longer this process's alone, or is waited for in a way that kept connections can't be told by. `closed`: it is gone.
pub fn withdraw(slot: &Slot, closed: bool) {
    if slot.listens.load(Ordering::Relaxed) == 0 {
        return;
    }
    let Some(hall) = of(slot) else { return };
    hall.clear(closed);
    if closed {
        hall.id.store(0, Ordering::SeqCst);
    }
}

/// The same for all.
pub fn end() {
    TABLE.iter().filter(|hall| hall.id.load(Ordering::SeqCst) != 0).for_each(|hall| hall.clear(false));
}

/// Whether a listener has a connection that waits to be accepted.
pub fn pending(slot: &Slot) -> bool {
    of(slot)
        .inspect(|hall| hall.by_others())
        .is_some_and(|hall| hall.parked.with(|parked| parked.iter().any(Parked::begun)) == Some(true))
}

/// As `ready::watch`, for a listener.
pub fn watch(slot: &Slot) {
    if let Some(hall) = of(slot) {
        hall.by_others();
        hall.parked.with(|parked| parked.iter().filter_map(Parked::bell).for_each(Bell::watch));
    }
}

/// As `ready::arm`, for a listener.
pub fn arm(slot: &Slot, rang: bool) -> Armed {
    let told = slot.told.swap(0, Ordering::SeqCst) != 0;
    let armed = of(slot).and_then(|hall| {
        hall.parked.with(|parked| {
            let bells = || parked.iter().filter_map(Parked::bell);
            if rang || told || bells().any(|bell| !bell.watched()) {
                bell::drain(slot.event());
            }
            bells().for_each(Bell::watch);
            fence(Ordering::SeqCst);
            parked.iter().any(Parked::begun)
        })
    });
    if armed == Some(true) {
        ready::tell(slot);
        return Armed::Ready(ready::IN);
    }
    Armed::Quiet
}

/// A connection was accepted by the kernel.
fn accepted(fd: c_int, hall: Option<&Hall>) -> c_int {
    if fd >= 0 && !settings::get().off {
        slot::track(fd, ACCEPTED);
        if let (Some(hall), Some(slot)) = (hall, slot::of(fd)) {
            slot.hall.store(hall.id.load(Ordering::SeqCst), Ordering::Release);
            slot.nodelay.store(hall.nodelay.load(Ordering::Relaxed), Ordering::Relaxed);
            let count = hall.accepted.fetch_add(1, Ordering::Relaxed) + 1;
            let looks = hall.luck.load(Ordering::Relaxed) != 0
                || count.is_multiple_of(LOOK << hall.missed.load(Ordering::Relaxed).min(6));
            if looks && hall.off.load(Ordering::Relaxed) == 0 {
                slot.eager.store(1, Ordering::Release);
            }
        }
    }
    fd
}

/// Accepts. `kernel` is the call as the program made it.
///
/// # Safety
/// As the system's `accept4`.
pub unsafe fn accept(
    fd: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
    kernel: impl Fn() -> c_int,
) -> c_int {
    let known = flags & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) == 0;
    let known = known && !guests::apart();
    let held = slot::of(fd).filter(|slot| known && slot.listens.load(Ordering::Relaxed) != 0);
    let Some((slot, hall)) = held.and_then(|slot| Some((of(&slot)?, slot))).map(|(hall, slot)| (slot, hall)) else {
        return accepted(kernel(), None);
    };
    if !hall.waits() {
        hall.in_kernel.fetch_add(1, Ordering::SeqCst);
        let made = if hall.waits() { None } else { Some(kernel()) };
        hall.in_kernel.fetch_sub(1, Ordering::SeqCst);
        if let Some(made) = made {
            return accepted(made, Some(hall));
        }
    }
    let mut wait = Wait::new(fd, libc::SO_RCVTIMEO);
    loop {
        if hall.row.fetch_add(1, Ordering::Relaxed).is_multiple_of(ROW) && readable(fd) {
            let now = wait::now().as_nanos() as u64;
            let _ = hall.seen.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
        if let Some(parked) = hall.first() {
            // SAFETY: the caller's promise.
            return unsafe { take(hall, parked, address, len, flags) };
        }
        // One thread at a time, so that the kernel's accept does not wait.
        let made = hall.accepting.with(|()| {
            hall.seen.store(0, Ordering::Relaxed);
            readable(fd).then(&kernel)
        });
        match made {
            None => return accepted(kernel(), Some(hall)),
            Some(Some(made)) => {
                reap(hall);
                return accepted(made, Some(hall));
            }
            Some(None) if hall.parked.with(|parked| parked.iter().any(Parked::begun)) == Some(true) => continue,
            Some(None) => {}
        }
        if slot.nonblocking(fd) {
            return real::fail(libc::EAGAIN) as c_int;
        }
        if hall.spin(&mut wait) {
            continue;
        }
        hall.waiting.fetch_add(1, Ordering::SeqCst);
        let end = wait.poll_both(&slot);
        hall.waiting.fetch_sub(1, Ordering::SeqCst);
        if !slot.still(fd) {
            return real::fail(libc::EBADF) as c_int;
        }
        match end {
            End::Look => {}
            End::Late => return real::fail(libc::EAGAIN) as c_int,
            End::Signal => return real::fail(libc::EINTR) as c_int,
        }
    }
}

/// Whether the kernel's accept would not wait.
fn readable(fd: c_int) -> bool {
    let mut ask = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { real::poll(&raw mut ask, 1, 0) != 0 }
}

/// A turn that has begun becomes the program's.
///
/// # Safety
/// As the system's `accept4`.
unsafe fn take(hall: &Hall, parked: Parked, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
    let command = if flags & libc::SOCK_CLOEXEC != 0 { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
    // SAFETY: a new descriptor for the program.
    let fd = unsafe { real::fcntl(parked.fd, command, 0) };
    if fd < 0 {
        // None is left: it waits.
        hall.parked.with(|all| all.push(parked));
        return fd;
    }
    let errno = real::errno();
    own::close(parked.fd);
    let slot = &parked.slot;
    slot.turn.fetch_add(1, Ordering::Relaxed);
    if !renew(slot)
        && let Some((page, _)) = slot.parts()
    {
        page.break_off(fd);
    }
    let nonblocking = flags & libc::SOCK_NONBLOCK != 0;
    fit(fd, slot, hall.nodelay.load(Ordering::Relaxed) != 0, nonblocking);
    slot::revive(slot, fd, nonblocking);
    if !address.is_null() {
        // SAFETY: the caller's promise.
        unsafe { libc::getpeername(fd, address, len) };
    }
    real::fail(errno);
    fd
}

/// Connections whose peer has gone are closed.
fn reap(hall: &Hall) {
    hall.drop_all(|parked| tcp::peer_ended(parked.fd) && parked.put_end(), Parked::let_go);
}

pub fn has_room(slot: &Slot) -> bool {
    let Some(hall) = of(slot).filter(|hall| hall.keeps()) else { return false };
    let most = MOST.min(hall.backlog.load(Ordering::Relaxed) as usize + 1);
    let room = || hall.parked.with(|parked| parked.len() < most) == Some(true);
    room() || {
        reap(hall);
        room()
    }
}

pub fn park(parked: Parked) {
    match of(&parked.slot) {
        Some(hall) => {
            hall.parked.with(|all| {
                all.push(parked);
                // Whoever waits already, waits for this one, too.
                if hall.waiting.load(Ordering::SeqCst) != 0 {
                    all.iter().filter_map(Parked::bell).for_each(Bell::watch);
                    fence(Ordering::SeqCst);
                    if all.iter().any(Parked::begun)
                        && let Some(listener) = slot::numbered(hall.listener.load(Ordering::Relaxed))
                    {
                        ready::tell(&listener);
                    }
                }
            });
            if !hall.keeps() {
                hall.clear(false);
            }
        }
        None => {
            parked.put_end();
            parked.let_go();
        }
    }
}

/// A send on an eager connection: whoever connected may be waiting to be found.
pub fn offer(fd: c_int, slot: &Slot, sends: bool) -> Option<c_int> {
    if !sends {
        return None;
    }
    slot.eager.store(0, Ordering::Relaxed);
    let hall = of(slot)?;
    hall.luck.store(0, Ordering::Relaxed);
    if slot.never_again.load(Ordering::Relaxed) != 0 || watch::in_several(slot) || !activate::in_process() {
        return None;
    }
    let ends = tcp::local_ends(fd).filter(|ends| activate::allowed(ends) && !settings::user_is_off())?;
    let door = open(hall)?;
    let Some(share) = Share::take() else {
        activate::give_up(slot, Why::Memory);
        return None;
    };
    let met = meet::offer(&ends, Some(door))?;
    if !install(slot, met, true, share) {
        activate::give_up(slot, Why::Room);
        return None;
    }
    let (_, memory) = slot.parts()?;
    let until = std::time::Instant::now() + PATIENCE;
    while control(memory).sides[CONNECTS].ready.load(Ordering::SeqCst) == 0 {
        if std::time::Instant::now() >= until {
            hall.missed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        std::thread::yield_now();
    }
    hall.luck.store(1, Ordering::Relaxed);
    hall.missed.store(0, Ordering::Relaxed);
    start(fd, slot);
    None
}

/// The listener's event descriptor, from which on accepts wait for kept connections as well. None if they can't.
fn open(hall: &Hall) -> Option<c_int> {
    if hall.off.load(Ordering::SeqCst) != 0 {
        return None;
    }
    let listener = slot::numbered(hall.listener.load(Ordering::Relaxed))?;
    if of(&listener).is_none_or(|own| !std::ptr::eq(own, hall)) {
        return None;
    }
    if hall.on.load(Ordering::SeqCst) != 0 {
        return Some(listener.event());
    }
    hall.on.store(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    if hall.in_kernel.load(Ordering::SeqCst) != 0 || listener.receiving.load(Ordering::SeqCst) != 0 {
        hall.on.store(0, Ordering::SeqCst);
        return None;
    }
    let Some(door) = door() else {
        hall.on.store(0, Ordering::SeqCst);
        return None;
    };
    listener.events[ACCEPTED].store(door, Ordering::SeqCst);
    watch::attach(&listener);
    listener.mode.store(slot::ACTIVE, Ordering::SeqCst);
    Some(door)
}

pub fn before_fork() {
    for hall in &TABLE {
        hall.parked.hold();
        hall.accepting.hold();
    }
}

pub fn after_fork(child: bool) {
    for hall in &TABLE {
        if child {
            hall.parked.renew();
            hall.accepting.renew();
            hall.off.store(1, Ordering::SeqCst);
            hall.drop_all(|_| true, Parked::disown);
        } else {
            hall.parked.release();
            hall.accepting.release();
            if hall.id.load(Ordering::SeqCst) != 0 {
                hall.clear(false);
            }
        }
    }
}
