//! Connections in sets of epoll.
//!
//! The set is the kernel's, and so is what it tells: a fast connection has a second entry in it, its event descriptor (`ready`), with the
//! program's flags. Both entries carry a token instead of the program's word, and what a wait brings with a token is turned into what the
//! program asked for: what the kernel's connection says, but for room to send, and what the ring says. An entry that is told by its level
//! and whose ring has nothing more is armed again before the next sleep. `life` is about how sets and entries begin and end, `change` is
//! `epoll_ctl`, `tell` what a wait brings.

mod change;
mod life;
mod tell;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use libc::{
    EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, c_int, epoll_event,
};

use crate::lock::Lock;
use crate::ready::{self, Armed, IN, OUT, Seen};
use crate::slot::{self, Held, Slot};
use crate::{real, recycle, retire};

pub use change::{ctl, hand_over};
pub use life::{
    adopt, after_fork, attach, before_exec, before_fork, forget, forget_all, forget_set, forget_sets, in_several,
    in_shared_set, leave, no_exec, only_thread, renumber, share_set, track_set,
};
pub use tell::{Told, settle_all};

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

/// `Entry::slot`: it is the parent's alone.
const GONE: u32 = u32::MAX;

/// A connection in a set.
struct Entry {
    fd: c_int,
    /// 0: not a connection that is followed, or not yet. [`GONE`]: one that this process has no more.
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
    /// It came from a parent process, whose entry it is as well.
    inherited: bool,
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

/// `Set::others`: this process has forked since it made the set, or was forked since; then its parent knows nothing of what this one does with it.
const CHILDREN: u32 = 1;
const PARENTS: u32 = 2;

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
    /// Other processes may have it, too: 0, [`CHILDREN`] or [`PARENTS`].
    others: AtomicU32,
    /// Sets within it.
    nested: AtomicU32,
    /// When the kernel was last asked, nanoseconds.
    asked: AtomicU64,
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
    /// The word with which the kernel's connection is in the set.
    fn kernels_word(&self, id: u32, slot: &Slot) -> u64 {
        if slot.plain_words() { self.word } else { token(id, self.generation, false) }
    }

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
    fn told_of(&self, granted: u32, slot: &Slot) -> u32 {
        let read = match granted & IN {
            0 => 0,
            _ if self.events & RDHUP != 0 && recycle::ended(slot) => READ | RDHUP,
            _ => READ,
        };
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

/// Whether an entry that asks for these is told of the end of a stream by what it is told of bytes.
pub fn hears_the_end(events: u32) -> bool {
    events & EXCLUSIVE == 0 && (events & RDHUP == 0 || events & READ != 0)
}

fn control(set_fd: c_int, op: c_int, fd: c_int, events: u32, word: u64) -> bool {
    let mut event = epoll_event { events, u64: word };
    // SAFETY: an event.
    unsafe { real::epoll_ctl(set_fd, op, fd, &raw mut event) == 0 }
}

/// Whether the kernel has told a single event of a descriptor in a set, and waits to be asked anew: then it has only such flags left of what it was asked for.
/// None if it does not say.
fn disarmed(set_fd: c_int, fd: c_int) -> Option<bool> {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{set_fd}")).ok()?;
    let mut words = info.lines().map(str::split_whitespace).find_map(|mut words| {
        let ours = words.next() == Some("tfd:") && words.next()?.parse() == Ok(fd);
        ours.then_some(words)
    })?;
    let events = words.find(|word| *word == "events:").and_then(|_| words.next())?;
    Some(u32::from_str_radix(events, 16).ok()? & !(ONESHOT | ET | EXCLUSIVE | libc::EPOLLWAKEUP as u32) == 0)
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
        // With the program's own words the kernel would tell on, and nobody would see that it is of no entry.
        let fit =
            |held: &&Slot| entry.bell >= 0 && entry.level() && entry.events & EXCLUSIVE == 0 && !held.plain_words();
        let Some(held) = held.filter(fit) else { return false };
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
        let nothing = held.parts().is_none() && held.listens.load(Ordering::Relaxed) == 0;
        if entry.bell >= 0 || nothing || held.event() < 0 || held.plain_words() {
            return;
        }
        // First, so that a thread that waits already turns what the tokens bring into the program's words.
        self.fast.fetch_add(1, Ordering::SeqCst);
        entry.bell = held.event();
        if entry.events & ONESHOT != 0 && entry.kernel.is_some() && disarmed(set_fd, entry.fd) == Some(true) {
            // It was told before the connection became fast.
            entry.done = true;
            entry.kernel = None;
            control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
            return;
        }
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
            self.fast.fetch_sub(1, Ordering::SeqCst);
            retire::for_sets(held);
            return;
        }
        entry.bell_flags = Some(flags);
        if entry.kernel.is_some() {
            let events = entry.for_kernel(held);
            if place(set_fd, entry.fd, entry.kernel, events, entry.kernels_word(id, held)) {
                entry.kernel = Some(events);
            }
        }
        ready::interest(held, entry.wants(), true);
        ready::tell(held);
    }

    /// Takes an entry out. In the kernel's set the connection's own entry is the caller's to take out. One that the parent process has as well stays in
    /// the kernel's set, as it does there, unless the program takes it out itself (`for_all`).
    fn remove(&self, set_fd: Option<c_int>, state: &mut State, id: u32, held: Option<&Slot>, for_all: bool) {
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::take) else { return };
        if state.by_fd.get(&entry.fd) == Some(&id) {
            state.by_fd.remove(&entry.fd);
        }
        state.inner.retain(|&inner| inner != entry.fd);
        state.recent.retain(|&other| other != id);
        if entry.inherited && entry.bell >= 0 && !for_all {
            // The set tells of it on, as the kernel's does, with what the parent put in.
            if let Some(held) = held {
                ready::interest(held, entry.wants(), false);
            }
            if entry.bell_is_copy {
                crate::own::close(entry.bell);
            }
            state.entries[id as usize] = Some(Entry { slot: GONE, bell_is_copy: false, recent: false, ..entry });
            return;
        }
        state.free.push(id);
        if entry.bell >= 0 {
            self.fast.fetch_sub(1, Ordering::SeqCst);
            if let Some(held) = held {
                ready::interest(held, entry.wants(), false);
            }
            if entry.bell_flags.is_some()
                && (for_all || !entry.inherited)
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
