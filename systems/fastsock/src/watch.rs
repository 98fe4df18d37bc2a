//! Connections in sets of epoll.
//!
//! The set is the kernel's, and so is what it tells: a fast connection has a second entry in it, its event descriptor (`ready`), with the
//! program's flags. Both entries carry a token instead of the program's word, and what a wait brings with a token is turned into what the
//! program asked for: what the kernel's connection says, but for room to send, and what the ring says. An entry that is told by its level
//! and whose ring has nothing more is armed again before the next sleep.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use std::time::Duration;

use libc::{
    EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, c_int, epoll_event,
};

use crate::lock::Lock;
use crate::ready::{self, Armed, IN, OUT, Seen};
use crate::slot::{self, Held, Slot};
use crate::{real, retire, wait};

/// Descriptors of sets beyond these, and sets, are not followed: connections in them stay with the kernel.
const FDS: usize = 1 << 16;
const SETS: usize = 1 << 12;
/// Entries at most that are looked at before asking the kernel.
const RECENT: usize = 64;

/// What epoll calls readable and writable.
const READ: u32 = (EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITE: u32 = (EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;
const RDHUP: u32 = EPOLLRDHUP as u32;
const ET: u32 = EPOLLET as u32;
const ONESHOT: u32 = EPOLLONESHOT as u32;
const EXCLUSIVE: u32 = EPOLLEXCLUSIVE as u32;

/// `Slot::watch`: nothing, or several entries.
const NONE: u64 = 0;
const MANY: u64 = u64::MAX;

/// A connection in a set.
struct Entry {
    fd: c_int,
    /// 0: not a connection that is followed, or not yet.
    slot: u32,
    /// What the program wants, and its word.
    events: u32,
    word: u64,
    /// The event descriptor in the set; -1 as long as the connection is not fast.
    bell: c_int,
    /// It is a copy of the connection's own, for this entry alone.
    bell_is_copy: bool,
    /// The flags with which it is in the set, if it is.
    bell_flags: Option<u32>,
    /// The events with which the kernel's connection is in the set, if it is.
    kernel: Option<u32>,
    /// A single event has been told: both are out of the set.
    done: bool,
    /// The program has taken it out; in the kernel's set it is still, until it makes itself felt.
    parked: bool,
    /// Its peer has closed its sending direction alone.
    half: bool,
    /// Looked at before asking the kernel.
    recent: bool,
    /// The batch in which it was last told, and where.
    told: (u32, usize),
    generation: u32,
}

#[derive(Default)]
struct State {
    entries: Vec<Option<Entry>>,
    by_fd: HashMap<c_int, u32>,
    generation: u32,
    free: Vec<u32>,
    recent: Vec<u32>,
    batch: u32,
    /// Sets within this one.
    inner: Vec<c_int>,
}

/// A set.
pub struct Set {
    number: u32,
    /// Descriptors of this process that mean it, and one that did lately.
    fds: AtomicU32,
    known: AtomicI32,
    /// Entries that are fast.
    fast: AtomicU32,
    /// Threads that wait.
    waiting: AtomicU32,
    /// Others than waits of this process may ask whether it has anything: a poll, a set that it is in, another process.
    outside: AtomicU32,
    /// Sets within it.
    nested: AtomicU32,
    /// When the kernel was last asked, nanoseconds.
    asked: AtomicU64,
    /// It came from a parent process, which has it as well.
    foreign: AtomicU32,
    state: Lock<Option<State>>,
}

static NUMBERS: [AtomicU32; FDS] = [const { AtomicU32::new(0) }; FDS];
static TABLE: [AtomicPtr<Set>; SETS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SETS];
/// Sets made ever, plus one.
static USED: AtomicU32 = AtomicU32::new(1);
/// Making and giving up sets.
static MAKING: Lock<()> = Lock::new(());

/// Descriptors in sets that are not followed, or not yet.
static WITHIN: [AtomicBool; FDS] = [const { AtomicBool::new(false) }; FDS];

/// What tokens begin with: 20 bits that no pointer and no small number has.
fn mark() -> u64 {
    static MARK: AtomicU64 = AtomicU64::new(0);
    match MARK.load(Ordering::Relaxed) {
        0 => {
            let mut random = [0_u8; 8];
            // SAFETY: room for as many bytes. Should none come, the mark is still no pointer's.
            unsafe { libc::getrandom(random.as_mut_ptr().cast(), random.len(), libc::GRND_NONBLOCK) };
            let mark = (0x5 << 60) | (u64::from_ne_bytes(random) & 0x0fff_f000_0000_0000);
            let _ = MARK.compare_exchange(0, mark, Ordering::Relaxed, Ordering::Relaxed);
            MARK.load(Ordering::Relaxed)
        }
        mark => mark,
    }
}

const MARK_BITS: u64 = !0 << 44;

/// The token of an entry; its event descriptor's if `bell`.
fn token(id: u32, generation: u32, bell: bool) -> u64 {
    mark() | u64::from(bell) << 43 | u64::from(generation & 0x7f_ffff) << 20 | u64::from(id & 0xf_ffff)
}

impl Entry {
    fn wants(&self) -> u32 {
        if self.done || self.parked {
            return 0;
        }
        let bit = |mask: u32, bit| if self.events & mask != 0 { bit } else { 0 };
        bit(READ, IN) | bit(WRITE, OUT)
    }

    fn level(&self) -> bool {
        self.events & (ET | ONESHOT) == 0
    }

    /// What the program is told of what the ring grants.
    fn told_of(&self, granted: u32) -> u32 {
        let read = if granted & IN != 0 { READ } else { 0 };
        let write = if granted & OUT != 0 { (EPOLLOUT | libc::EPOLLWRNORM) as u32 } else { 0 };
        (read | write) & self.events
    }

    /// The events with which the kernel's connection is to be in the set.
    fn for_kernel(&self, slot: &Slot) -> u32 {
        if self.events & WRITE != 0 && ready::sends_through_ring(slot) {
            // Room is the ring's to tell; whether anybody is there who makes it, the kernel's.
            self.events & !WRITE | if self.events & EXCLUSIVE == 0 && !self.half { RDHUP } else { 0 }
        } else {
            self.events
        }
    }
}

fn control(set_fd: c_int, op: c_int, fd: c_int, events: u32, word: u64) -> bool {
    let mut event = epoll_event { events, u64: word };
    // SAFETY: an event.
    unsafe { real::epoll_ctl(set_fd, op, fd, &raw mut event) == 0 }
}

/// Puts a descriptor into a set, or changes it there. An exclusive entry can't be changed.
fn place(set_fd: c_int, fd: c_int, before: Option<u32>, events: u32, word: u64) -> bool {
    match before {
        Some(before) if before & EXCLUSIVE == 0 => control(set_fd, libc::EPOLL_CTL_MOD, fd, events, word),
        Some(_) => {
            control(set_fd, libc::EPOLL_CTL_DEL, fd, 0, 0);
            control(set_fd, libc::EPOLL_CTL_ADD, fd, events, word)
        }
        None => control(set_fd, libc::EPOLL_CTL_ADD, fd, events, word),
    }
}

impl State {
    fn find(&mut self, token: u64) -> Option<(u32, &mut Entry)> {
        let id = (token & 0xf_ffff) as u32;
        let entry = self.entries.get_mut(id as usize)?.as_mut()?;
        (u64::from(entry.generation & 0x7f_ffff) == token >> 20 & 0x7f_ffff).then_some((id, entry))
    }

    fn slot(&self, id: u32) -> Option<u32> {
        Some(self.entries.get(id as usize)?.as_ref()?.slot)
    }

    fn parked(&self, id: u32) -> bool {
        self.entries.get(id as usize).and_then(Option::as_ref).is_some_and(|entry| entry.parked)
    }

    /// Takes an entry out as far as the program can see, if that can be done without the kernel.
    fn park(&mut self, id: u32, held: Option<&Slot>) -> bool {
        let Some(entry) = self.entries.get_mut(id as usize).and_then(Option::as_mut) else { return false };
        let Some(held) = held.filter(|_| entry.bell >= 0 && entry.level() && entry.events & EXCLUSIVE == 0) else {
            return false;
        };
        ready::interest(held, entry.wants(), false);
        entry.parked = true;
        true
    }

    /// The entry is looked at before the next wait sleeps. False if there is no place for that.
    fn look_at(&mut self, id: u32) -> bool {
        let Some(entry) = self.entries.get_mut(id as usize).and_then(Option::as_mut) else { return false };
        if !entry.recent {
            if !entry.level() || self.recent.len() >= RECENT {
                return false;
            }
            entry.recent = true;
            self.recent.push(id);
        }
        true
    }

    fn done(&self, id: u32) -> bool {
        self.entries.get(id as usize).and_then(Option::as_ref).is_some_and(|entry| entry.done)
    }

    fn add(&mut self, entry: Entry) -> Option<u32> {
        let fd = entry.fd;
        let id = match self.free.pop() {
            Some(id) => id,
            None if self.entries.len() < 1 << 20 => {
                self.entries.push(None);
                self.entries.len() as u32 - 1
            }
            None => return None,
        };
        self.generation = self.generation.wrapping_add(1);
        self.entries[id as usize] = Some(Entry { generation: self.generation, ..entry });
        self.by_fd.insert(fd, id);
        Some(id)
    }
}

impl Set {
    /// A descriptor by which this process reaches the set.
    fn fd(&self) -> Option<c_int> {
        let means = |fd: usize| NUMBERS.get(fd).is_some_and(|number| number.load(Ordering::Relaxed) == self.number);
        let known = usize::try_from(self.known.load(Ordering::Relaxed)).ok().filter(|&fd| means(fd));
        let fd = known.or_else(|| (0..FDS).find(|&fd| means(fd)))? as c_int;
        self.known.store(fd, Ordering::Relaxed);
        Some(fd)
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> Option<R> {
        self.state.with(|state| state.as_mut().map(work)).flatten()
    }

    /// An entry's connection has become fast, or is: its event descriptor comes into the set.
    fn attach(&self, set_fd: c_int, state: &mut State, id: u32, held: &Slot) {
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut) else { return };
        if entry.bell >= 0 || held.parts().is_none() || held.event() < 0 {
            return;
        }
        entry.bell = held.event();
        let flags = EPOLLIN as u32 | entry.events & (ET | ONESHOT | EXCLUSIVE);
        let generation = entry.generation;
        let mut placed = place(set_fd, entry.bell, None, flags, token(id, generation, true));
        if !placed && real::errno() == libc::EEXIST {
            // The same connection by another descriptor.
            // SAFETY: a copy of this library's own.
            let copy = unsafe { real::fcntl(entry.bell, libc::F_DUPFD_CLOEXEC, 0) };
            if copy >= 0 {
                // SAFETY: just made.
                let copy = unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(copy) };
                if let Some(copy) = crate::own::keep(copy) {
                    (entry.bell, entry.bell_is_copy) = (copy, true);
                    placed = place(set_fd, copy, None, flags, token(id, generation, true));
                }
            }
        }
        if !placed {
            // No room for it in the kernel.
            if entry.bell_is_copy {
                crate::own::close(entry.bell);
            }
            (entry.bell, entry.bell_is_copy) = (-1, false);
            retire::retire(held);
            return;
        }
        entry.bell_flags = Some(flags);
        if entry.kernel.is_some() {
            let events = entry.for_kernel(held);
            if place(set_fd, entry.fd, entry.kernel, events, token(id, generation, false)) {
                entry.kernel = Some(events);
            }
        }
        self.fast.fetch_add(1, Ordering::SeqCst);
        ready::interest(held, entry.wants(), true);
        ready::tell(held);
    }

    /// Takes an entry out. In the kernel's set the connection's own entry is the caller's to take out.
    fn remove(&self, set_fd: Option<c_int>, state: &mut State, id: u32, held: Option<&Slot>) {
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::take) else { return };
        if state.by_fd.get(&entry.fd) == Some(&id) {
            state.by_fd.remove(&entry.fd);
        }
        state.inner.retain(|&inner| inner != entry.fd);
        state.recent.retain(|&other| other != id);
        state.free.push(id);
        if entry.bell >= 0 {
            self.fast.fetch_sub(1, Ordering::SeqCst);
            if let Some(held) = held {
                ready::interest(held, entry.wants(), false);
            }
            // A set that the parent process has as well keeps its entries: they are the parent's.
            if entry.bell_flags.is_some()
                && self.foreign.load(Ordering::Relaxed) == 0
                && let Some(set_fd) = set_fd
            {
                control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            }
            if entry.bell_is_copy {
                crate::own::close(entry.bell);
            }
        }
    }
}

/// The set that a descriptor means.
#[inline(always)]
pub fn set_of(fd: c_int) -> Option<&'static Set> {
    let number = NUMBERS.get(usize::try_from(fd).ok()?)?.load(Ordering::Acquire);
    if number == 0 { None } else { set_numbered(number) }
}

fn set_numbered(number: u32) -> Option<&'static Set> {
    // SAFETY: sets are made once and never freed.
    unsafe { TABLE.get(number as usize)?.load(Ordering::Acquire).as_ref() }
}

/// A descriptor means a new set.
pub fn track_set(fd: c_int) {
    let Some(entry) = usize::try_from(fd).ok().and_then(|fd| NUMBERS.get(fd)) else { return };
    forget_set(fd);
    MAKING.with(|()| {
        let used = USED.load(Ordering::Relaxed);
        let free = (1..used).filter_map(set_numbered).find(|set| set.fds.load(Ordering::SeqCst) == 0);
        let set = match free {
            Some(set) => set,
            None if (used as usize) < SETS => {
                let set = Box::leak(Box::new(Set {
                    number: used,
                    fds: AtomicU32::new(0),
                    known: AtomicI32::new(-1),
                    fast: AtomicU32::new(0),
                    waiting: AtomicU32::new(0),
                    outside: AtomicU32::new(0),
                    nested: AtomicU32::new(0),
                    asked: AtomicU64::new(0),
                    foreign: AtomicU32::new(0),
                    state: Lock::new(None),
                }));
                TABLE[used as usize].store(set, Ordering::Release);
                USED.store(used + 1, Ordering::Release);
                set
            }
            None => return,
        };
        set.foreign.store(0, Ordering::Relaxed);
        set.nested.store(0, Ordering::Relaxed);
        set.outside.store(0, Ordering::Relaxed);
        set.fast.store(0, Ordering::Relaxed);
        set.state.with(|state| *state = Some(State { generation: set.number << 8, ..State::default() }));
        set.known.store(fd, Ordering::Relaxed);
        set.fds.store(1, Ordering::SeqCst);
        entry.store(set.number, Ordering::Release);
    });
}

/// `to` means the set that `from` means.
pub fn share_set(from: c_int, to: c_int) {
    forget_set(to);
    if let (Some(set), Some(entry)) = (set_of(from), usize::try_from(to).ok().and_then(|to| NUMBERS.get(to))) {
        set.fds.fetch_add(1, Ordering::SeqCst);
        entry.store(set.number, Ordering::Release);
    }
}

/// A descriptor is about to be closed: if it was a set's last, its entries go; if it was in sets, they forget it.
#[inline(always)]
pub fn forget_set(fd: c_int) {
    let within = usize::try_from(fd).ok().and_then(|fd| WITHIN.get(fd));
    if within.is_some_and(|within| within.load(Ordering::Relaxed) && within.swap(false, Ordering::SeqCst)) {
        for set in sets() {
            set.with(|state| {
                if let Some(id) = state.by_fd.get(&fd).copied().filter(|&id| state.slot(id) == Some(0)) {
                    set.remove(None, state, id, None);
                    set.nested.store(state.inner.len() as u32, Ordering::SeqCst);
                }
            });
        }
    }
    if let Some(entry) = usize::try_from(fd).ok().and_then(|fd| NUMBERS.get(fd))
        && entry.load(Ordering::Relaxed) != 0
    {
        forget_known_set(fd, entry);
    }
}

#[cold]
fn forget_known_set(fd: c_int, entry: &AtomicU32) {
    let Some(set) = set_numbered(entry.swap(0, Ordering::SeqCst)) else { return };
    if set.fds.fetch_sub(1, Ordering::SeqCst) != 1 {
        return;
    }
    let errno = real::errno();
    let state = set.state.with(Option::take).flatten();
    if let Some(mut state) = state {
        for id in 0..state.entries.len() as u32 {
            let Some(slot) = state.entries[id as usize].as_ref().map(|entry| entry.slot) else { continue };
            let held = slot::numbered(slot);
            set.remove(Some(fd).filter(|_| slot != 0), &mut state, id, held.as_deref());
            if let Some(held) = held {
                let one = packed(set.number, id);
                let _ = held.watch.compare_exchange(one, NONE, Ordering::SeqCst, Ordering::SeqCst);
            }
        }
    }
    real::fail(errno);
}

/// The same for all descriptors from `first` to `last`.
pub fn forget_sets(first: usize, last: usize) {
    if USED.load(Ordering::Relaxed) > 1 {
        (first..=last.min(FDS - 1)).for_each(|fd| forget_set(fd as c_int));
    }
}

fn packed(set: u32, id: u32) -> u64 {
    (u64::from(set) << 32 | u64::from(id)) + 1
}

/// Runs `work` for each entry of a connection: its set and number.
fn entries_of(held: &Slot, number: u32, mut work: impl FnMut(&'static Set, &mut State, u32)) {
    match held.watch.load(Ordering::SeqCst) {
        NONE => {}
        MANY => {
            for set in sets() {
                set.with(|state| {
                    for id in 0..state.entries.len() {
                        if state.entries[id].as_ref().is_some_and(|entry| entry.slot == number) {
                            work(set, state, id as u32);
                        }
                    }
                });
            }
        }
        one => {
            let (set, id) = (((one - 1) >> 32) as u32, (one - 1) as u32);
            if let Some(set) = set_numbered(set) {
                set.with(|state| {
                    if state.entries.get(id as usize).and_then(Option::as_ref).is_some_and(|entry| entry.slot == number)
                    {
                        work(set, state, id);
                    }
                });
            }
        }
    }
}

/// A connection is about to become fast: sets that hold it get its event descriptor.
pub fn attach(held: &Slot) {
    fence(Ordering::SeqCst);
    entries_of(held, held.number(), |set, state, id| {
        if let Some(fd) = set.fd() {
            set.attach(fd, state, id, held);
        }
    });
}

/// A descriptor of a connection is about to be closed. Its entries stay as long as the connection has another.
pub fn forget(fd: c_int, held: &Held) {
    entries_of(held, held.number(), |set, state, id| {
        if state.by_fd.get(&fd) != Some(&id) {
            return;
        }
        match set.fd() {
            Some(set_fd) if state.parked(id) => take_out(set, set_fd, state, id, Some(held)),
            _ => {
                state.by_fd.remove(&fd);
            }
        }
    });
}

/// A descriptor has become a connection that is followed: sets that hold it learn which.
pub fn adopt(fd: c_int) {
    let within = usize::try_from(fd).ok().and_then(|fd| WITHIN.get(fd));
    let (Some(held), true) = (slot::of(fd), within.is_some_and(|within| within.load(Ordering::SeqCst))) else { return };
    for set in sets() {
        set.with(|state| {
            if let Some(&id) = state.by_fd.get(&fd)
                && let Some(entry) = state.entries[id as usize].as_mut()
            {
                entry.slot = held.number();
                enter(set, id, &held);
            }
        });
    }
}

/// A connection has an entry. One in two sets goes back to the kernel: they may want different things of one event descriptor.
fn enter(set: &Set, id: u32, held: &Held) {
    if held.watch.compare_exchange(NONE, packed(set.number, id), Ordering::SeqCst, Ordering::SeqCst).is_err() {
        held.watch.store(MANY, Ordering::SeqCst);
        retire::retire(held);
    }
}

fn sets() -> impl Iterator<Item = &'static Set> {
    (1..USED.load(Ordering::Acquire)).filter_map(set_numbered)
}

/// The last descriptor of a connection is about to be closed.
pub fn forget_all(held: &Held) {
    let errno = real::errno();
    entries_of(held, held.number(), |set, state, id| set.remove(set.fd(), state, id, Some(held)));
    held.watch.store(NONE, Ordering::SeqCst);
    real::fail(errno);
}

/// All locks are taken, so that a child finds everything whole.
pub fn before_fork() {
    MAKING.hold();
    for set in sets() {
        // What the program has taken out is no entry of the child's.
        set.with(|state| {
            for id in 0..state.entries.len() as u32 {
                if state.parked(id)
                    && let (Some(fd), Some(slot)) = (set.fd(), state.slot(id))
                {
                    take_out(set, fd, state, id, slot::numbered(slot).as_deref());
                }
            }
        });
        set.outside.store(1, Ordering::SeqCst);
        set.state.hold();
    }
}

/// And given back.
pub fn after_fork(child: bool) {
    for set in sets() {
        if child {
            set.state.renew();
        } else {
            set.state.release();
        }
        if child && set.fds.load(Ordering::SeqCst) != 0 {
            set.foreign.store(1, Ordering::Relaxed);
            set.with(|state| {
                for entry in state.entries.iter().flatten().filter(|entry| entry.bell >= 0) {
                    if let Some(held) = slot::numbered(entry.slot) {
                        ready::interest(&held, entry.wants(), true);
                    }
                }
            });
        }
    }
    if child {
        MAKING.renew();
    } else {
        MAKING.release();
    }
}

/// `epoll_ctl`.
///
/// # Safety
/// As the system's.
pub unsafe fn ctl(set_fd: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    let kernel = || unsafe { real::epoll_ctl(set_fd, op, fd, event) };
    let (set, held) = (set_of(set_fd), slot::of(fd));
    let Some(set) = set else {
        if op != libc::EPOLL_CTL_DEL
            && let Some(held) = held
        {
            // A set that this library does not follow.
            retire::retire(&held);
        }
        return kernel();
    };
    if event.is_null() && op != libc::EPOLL_CTL_DEL {
        return kernel();
    }
    // SAFETY: not null where it is read.
    let event = if event.is_null() { epoll_event { events: 0, u64: 0 } } else { unsafe { *event } };
    let done = set.with(|state| {
        let number = held.as_ref().map_or(0, |held| held.number());
        // An entry of a descriptor that was closed unseen is none.
        let id = state.by_fd.get(&fd).copied().filter(|&id| state.slot(id) == Some(number));
        match (op, id) {
            (libc::EPOLL_CTL_ADD, Some(id)) if state.parked(id) => {
                if event.events & (ET | ONESHOT | EXCLUSIVE) == 0 {
                    return modify(set, set_fd, state, id, event, held.as_ref(), kernel);
                }
                take_out(set, set_fd, state, id, held.as_deref());
                add(set, set_fd, state, fd, event, held.as_ref(), kernel)
            }
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, Some(id)) if state.parked(id) => {
                real::fail(libc::ENOENT) as c_int
            }
            (libc::EPOLL_CTL_ADD, Some(id)) if state.done(id) => real::fail(libc::EEXIST) as c_int,
            (libc::EPOLL_CTL_ADD, _) => add(set, set_fd, state, fd, event, held.as_ref(), kernel),
            (libc::EPOLL_CTL_MOD, Some(id)) => modify(set, set_fd, state, id, event, held.as_ref(), kernel),
            (libc::EPOLL_CTL_DEL, Some(id)) if state.park(id, held.as_deref()) => 0,
            (libc::EPOLL_CTL_DEL, Some(id)) => {
                let done = if state.done(id) { 0 } else { kernel() };
                set.remove(Some(set_fd), state, id, held.as_deref());
                if let Some(held) = &held {
                    let one = packed(set.number, id);
                    let _ = held.watch.compare_exchange(one, NONE, Ordering::SeqCst, Ordering::SeqCst);
                }
                set.nested.store(state.inner.len() as u32, Ordering::SeqCst);
                done
            }
            _ => kernel(),
        }
    });
    done.unwrap_or_else(kernel)
}

fn add(
    set: &Set,
    set_fd: c_int,
    state: &mut State,
    fd: c_int,
    event: epoll_event,
    held: Option<&Held>,
    kernel: impl Fn() -> c_int,
) -> c_int {
    let done = kernel();
    if done != 0 {
        return done;
    }
    let entry = Entry {
        fd,
        slot: held.map_or(0, |held| held.number()),
        events: event.events,
        word: event.u64,
        bell: -1,
        bell_is_copy: false,
        bell_flags: None,
        kernel: Some(event.events),
        done: false,
        parked: false,
        half: false,
        recent: false,
        told: (0, 0),
        generation: 0,
    };
    let id = state.add(entry);
    let Some(held) = held else {
        if let Some(within) = usize::try_from(fd).ok().and_then(|fd| WITHIN.get(fd)) {
            within.store(true, Ordering::SeqCst);
        }
        if set_of(fd).is_some() {
            state.inner.push(fd);
            set.nested.store(state.inner.len() as u32, Ordering::SeqCst);
        }
        return done;
    };
    let Some(id) = id else {
        retire::retire(held);
        return done;
    };
    enter(set, id, held);
    fence(Ordering::SeqCst);
    set.attach(set_fd, state, id, held);
    done
}

fn modify(
    set: &Set,
    set_fd: c_int,
    state: &mut State,
    id: u32,
    event: epoll_event,
    held: Option<&Held>,
    kernel: impl Fn() -> c_int,
) -> c_int {
    let Some(entry) = state.entries[id as usize].as_mut() else { return kernel() };
    let Some(held) = held.filter(|_| entry.bell >= 0) else {
        let done = kernel();
        if done == 0 {
            (entry.events, entry.word, entry.kernel, entry.done) = (event.events, event.u64, Some(event.events), false);
        }
        return done;
    };
    if (entry.events | event.events) & EXCLUSIVE != 0 {
        // The kernel says what is wrong with that.
        return kernel();
    }
    let before = entry.wants();
    let level = entry.level() && event.events & (ET | ONESHOT) == 0 && !entry.done;
    (entry.events, entry.word, entry.done, entry.parked) = (event.events, event.u64, false, false);
    let after = entry.wants();
    ready::interest(held, after, true);
    ready::interest(held, before, false);
    let generation = entry.generation;
    // More than is wanted does no harm to who asks for levels: it is not told on, and put right once it comes.
    let events = entry.for_kernel(held);
    let enough = level && entry.kernel.is_some_and(|now| events & !now == 0);
    if !enough {
        if !place(set_fd, entry.fd, entry.kernel, events, token(id, generation, false)) {
            return -1;
        }
        entry.kernel = Some(events);
    }
    if !level {
        let flags = EPOLLIN as u32 | entry.events & (ET | ONESHOT);
        if ready::conditions(held, after) != 0 {
            ready::tell(held);
        } else {
            ready::arm(held, after, true);
        }
        place(set_fd, entry.bell, entry.bell_flags, flags, token(id, generation, true));
        entry.bell_flags = Some(flags);
        return 0;
    }
    // Looked at anew, as the kernel does with what is changed: by the next wait, or by whoever waits now.
    if !state.look_at(id) || set.somebody_waits() {
        if ready::conditions(held, after) != 0 {
            ready::tell(held);
        } else {
            ready::arm(held, after, false);
        }
    }
    0
}

/// Takes an entry out of the kernel's set, too.
fn take_out(set: &Set, set_fd: c_int, state: &mut State, id: u32, held: Option<&Slot>) {
    let errno = real::errno();
    if let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut)
        && entry.kernel.take().is_some()
    {
        control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
    }
    set.remove(Some(set_fd), state, id, held);
    if let Some(held) = held {
        let _ = held.watch.compare_exchange(packed(set.number, id), NONE, Ordering::SeqCst, Ordering::SeqCst);
    }
    real::fail(errno);
}

/// What a wait brought.
struct Batch<'a> {
    /// The kernel's events first, then the program's.
    events: &'a mut [epoll_event],
    told: usize,
}

impl Set {
    /// The kernel is asked now.
    pub fn asked(&self) {
        self.asked.store(wait::now().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Whether it was asked lately; if not, it is now.
    pub fn asked_within(&self, limit: Duration) -> bool {
        let now = wait::now().as_nanos() as u64;
        let lately = now.wrapping_sub(self.asked.load(Ordering::Relaxed)) < limit.as_nanos() as u64;
        if !lately {
            self.asked.store(now, Ordering::Relaxed);
        }
        lately
    }

    /// A thread begins (or ends) to wait.
    pub fn waits(&self, begins: bool) {
        if begins {
            self.waiting.fetch_add(1, Ordering::SeqCst);
        } else {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether anybody may wait for what the kernel's set tells.
    fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) != 0 || self.outside.load(Ordering::SeqCst) != 0
    }

    /// Whether a wait is no more than the kernel's.
    #[inline(always)]
    pub fn plain(&self) -> bool {
        self.fast.load(Ordering::SeqCst) == 0 && self.nested.load(Ordering::SeqCst) == 0
    }

    /// Turns what the kernel brought, from `told` on, into what the program asked for; how many there are then.
    pub fn translate(&self, set_fd: c_int, events: &mut [epoll_event], told: usize, fresh: bool) -> usize {
        let marked = |event: &epoll_event| event.u64 & MARK_BITS == mark();
        if !events[told..].iter().any(marked) {
            return events.len();
        }
        self.with(|state| {
            if fresh {
                state.batch = state.batch.wrapping_add(1);
            }
            let mut batch = Batch { events, told };
            for at in told..batch.events.len() {
                let event = batch.events[at];
                if marked(&event) {
                    self.one(set_fd, state, event, &mut batch);
                } else {
                    batch.events[batch.told] = event;
                    batch.told += 1;
                }
            }
            batch.told
        })
        .unwrap_or(told)
    }

    /// One entry's token.
    fn one(&self, set_fd: c_int, state: &mut State, event: epoll_event, batch: &mut Batch<'_>) {
        let number = state.batch;
        // One that is no more.
        let Some((id, entry)) = state.find(event.u64) else { return };
        let Some(held) = slot::numbered(entry.slot) else { return };
        if entry.done {
            return;
        }
        if entry.parked {
            take_out(self, set_fd, state, id, Some(&held));
            return;
        }
        let of_bell = event.u64 & (1 << 43) != 0;
        let wants = entry.wants();
        let mut tell = if of_bell { 0 } else { event.events & (entry.events | ALWAYS) };
        // The way of the sending direction may have changed since, or more was asked of the kernel than is wanted by now.
        let events = entry.for_kernel(&held);
        let unwanted = if of_bell { 0 } else { event.events & !(events | ALWAYS) };
        if entry.kernel.is_some_and(|now| events & !now != 0 || unwanted != 0)
            && place(set_fd, entry.fd, entry.kernel, events, token(id, entry.generation, false))
        {
            entry.kernel = Some(events);
        }
        let through_ring = wants & OUT != 0 && ready::sends_through_ring(&held);
        if through_ring {
            tell &= !WRITE;
        }
        let mut granted = if wants == 0 {
            0
        } else if entry.events & ET != 0 {
            // Armed first, so that whatever comes after the look is another edge.
            ready::watch(&held, wants);
            fence(Ordering::SeqCst);
            ready::conditions(&held, wants)
        } else {
            ready::conditions(&held, wants)
        };
        if through_ring && !of_bell && event.events & (RDHUP | ALWAYS) != 0 && granted & OUT == 0 {
            if event.events & ALWAYS != 0 || ready::peer_closed(entry.fd, &held) {
                granted |= OUT;
            } else if entry.events & (RDHUP | ET) == 0 {
                // It has closed its sending direction alone, and may go on reading.
                entry.half = true;
                let events = entry.for_kernel(&held);
                if place(set_fd, entry.fd, entry.kernel, events, token(id, entry.generation, false)) {
                    entry.kernel = Some(events);
                }
            }
        }
        tell |= entry.told_of(granted);
        if tell == 0 {
            // An event descriptor whose ring has nothing.
            if of_bell {
                if entry.events & ET == 0
                    && let Armed::Ready(granted) = ready::arm(&held, wants, true)
                {
                    tell = entry.told_of(granted);
                }
                if tell == 0 && entry.events & ONESHOT != 0 {
                    let flags = entry.bell_flags;
                    if let Some(flags) = flags {
                        place(set_fd, entry.bell, Some(flags), flags, token(id, entry.generation, true));
                    }
                }
            }
            if tell == 0 {
                return;
            }
        }
        if entry.events & ONESHOT != 0 {
            // The other of the two may tell no more, either.
            entry.done = true;
            ready::interest(&held, wants, false);
            control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            entry.bell_flags = None;
            control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
            entry.kernel = None;
        }
        let (word, level) = (entry.word, entry.level());
        if entry.told.0 == number && entry.told.1 < batch.told && batch.events[entry.told.1].u64 == word {
            batch.events[entry.told.1].events |= tell;
            return;
        }
        entry.told = (number, batch.told);
        if level {
            state.look_at(id);
        }
        batch.events[batch.told] = epoll_event { events: tell, u64: word };
        batch.told += 1;
    }

    /// What the rings of entries told of lately grant, without asking the kernel; how many events.
    pub fn collect(&self, events: &mut [MaybeUninit<epoll_event>]) -> usize {
        self.with(|state| {
            state.batch = state.batch.wrapping_add(1);
            let mut told = 0;
            for at in 0..state.recent.len() {
                let id = state.recent[at];
                let Some(entry) = state.entries[id as usize].as_mut() else { continue };
                let Some(held) = slot::numbered(entry.slot) else { continue };
                if told == events.len() || !entry.level() {
                    continue;
                }
                let tell = entry.told_of(ready::conditions(&held, entry.wants()));
                if tell != 0 {
                    events[told].write(epoll_event { events: tell, u64: entry.word });
                    entry.told = (state.batch, told);
                    told += 1;
                }
            }
            told
        })
        .unwrap_or(0)
    }

    /// What to look at while spinning.
    pub fn hot(&self, into: &mut Vec<(Held, Seen)>) {
        self.with(|state| {
            for &id in &state.recent {
                if let Some(entry) = state.entries[id as usize].as_ref()
                    && let Some(held) = slot::numbered(entry.slot)
                    && let Some(seen) = ready::seen(&held, entry.wants())
                {
                    into.push((held, seen));
                }
            }
        });
    }

    /// Arms what was told of lately, before a sleep. False if something is granted after all.
    pub fn settle(&self) -> bool {
        self.with(|state| {
            let mut quiet = true;
            let State { recent, entries, .. } = state;
            recent.retain(|&id| {
                let Some(entry) = entries[id as usize].as_mut() else { return false };
                if let Some(held) = slot::numbered(entry.slot)
                    && entry.level()
                    && let Armed::Ready(_) = ready::arm(&held, entry.wants(), false)
                {
                    quiet = false;
                    return true;
                }
                entry.recent = false;
                false
            });
            quiet
        })
        .unwrap_or(true)
    }

    /// Sets within this one are as readable as their rings say.
    pub fn settle_inner(&self) {
        if self.nested.load(Ordering::SeqCst) != 0 {
            let inner = self.with(|state| state.inner.clone()).unwrap_or_default();
            inner.iter().for_each(|&fd| settle_all(fd, 5));
        }
    }
}

/// A set is about to be asked about itself: its event descriptors are readable only where their rings are.
pub fn settle_all(fd: c_int, depth: u32) {
    let Some(set) = set_of(fd).filter(|set| depth > 0 && !set.plain()) else { return };
    set.outside.store(1, Ordering::SeqCst);
    let inner = set.with(|state| {
        for entry in state.entries.iter().flatten().filter(|entry| entry.bell >= 0 && entry.level()) {
            if let Some(held) = slot::numbered(entry.slot) {
                if ready::conditions(&held, entry.wants()) == 0 {
                    ready::arm(&held, entry.wants(), true);
                } else {
                    ready::tell(&held);
                }
            }
        }
        state.inner.clone()
    });
    inner.unwrap_or_default().iter().for_each(|&fd| settle_all(fd, depth - 1));
}
