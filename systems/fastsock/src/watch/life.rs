//! How sets, and the entries of connections in them, begin and end.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use libc::c_int;

use super::change::{leave_to_kernel, take_out};
use super::*;
use crate::guests;

/// A descriptor means a new set.
pub fn track_set(fd: c_int) {
    let Some(entry) = usize::try_from(fd).ok().and_then(|fd| NUMBERS.get(fd)) else { return };
    if guests::apart() {
        return;
    }
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
                    others: AtomicU32::new(0),
                    nested: AtomicU32::new(0),
                    asked: AtomicU64::new(0),
                    state: Lock::new(None),
                }));
                TABLE[used as usize].store(set, Ordering::Release);
                USED.store(used + 1, Ordering::Release);
                set
            }
            None => return,
        };
        set.nested.store(0, Ordering::Relaxed);
        set.outside.store(0, Ordering::Relaxed);
        set.others.store(0, Ordering::Relaxed);
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
                    set.remove(None, state, id, None, false);
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
            set.remove(Some(fd).filter(|_| slot != 0), &mut state, id, held.as_deref(), false);
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
    if USED.load(Ordering::Relaxed) > 1 && !guests::apart() {
        (first..=last.min(FDS - 1)).for_each(|fd| forget_set(fd as c_int));
    }
}

pub(super) fn packed(set: u32, id: u32) -> u64 {
    (u64::from(set) << 32 | u64::from(id)) + 1
}

/// Runs `work` for each entry of a connection: its set and number.
pub(super) fn entries_of(held: &Slot, number: u32, mut work: impl FnMut(&'static Set, &mut State, u32)) {
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

/// A connection in several entries went back to the kernel: each asks it for what the ring told.
pub(super) fn refresh(held: &Slot) {
    entries_of(held, held.number(), |set, state, id| {
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut) else { return };
        let events = entry.for_kernel(held);
        if let (Some(now), Some(set_fd)) = (entry.kernel.filter(|now| entry.bell >= 0 && events & !now != 0), set.fd())
            && place(set_fd, entry.fd, Some(now), events, entry.kernels_word(id, held))
        {
            entry.kernel = Some(events);
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
pub(super) fn enter(set: &Set, id: u32, held: &Held) {
    if held.watch.compare_exchange(NONE, packed(set.number, id), Ordering::SeqCst, Ordering::SeqCst).is_err() {
        held.watch.store(MANY, Ordering::SeqCst);
        retire::for_sets(held);
    }
}

pub(super) fn sets() -> impl Iterator<Item = &'static Set> {
    (1..USED.load(Ordering::Acquire)).filter_map(set_numbered)
}

/// Whether a connection has entries in more than one way that can be followed.
pub fn in_several(held: &Slot) -> bool {
    held.watch.load(Ordering::SeqCst) == MANY
}

/// Whether a connection is in a set that other processes have, too.
pub fn in_shared_set(held: &Slot) -> bool {
    let mut shared = false;
    entries_of(held, held.number(), |set, _, _| shared |= set.others.load(Ordering::SeqCst) != 0);
    shared
}

/// A connection's only descriptor goes, but not the connection: what the kernel does with one that is closed for good.
pub fn leave(held: &Slot) {
    entries_of(held, held.number(), |set, state, id| {
        if let Some(set_fd) = set.fd() {
            take_out(set, set_fd, state, id, Some(held));
        }
    });
}

/// The last descriptor of a connection, this one, is about to be closed.
pub fn forget_all(fd: c_int, held: &Held) {
    let errno = real::errno();
    entries_of(held, held.number(), |set, state, id| {
        stays_with_others(set, state, id, fd, held);
        set.remove(set.fd(), state, id, Some(held), false);
    });
    held.watch.store(NONE, Ordering::SeqCst);
    real::fail(errno);
}

/// Another process may have a connection that is about to be closed here: then the kernel's set tells of it on, and it is to do so with the program's own word. A child
/// leaves its parent's entry as it is.
fn stays_with_others(set: &Set, state: &State, id: u32, fd: c_int, held: &Held) {
    let Some(entry) = state.entries.get(id as usize).and_then(Option::as_ref) else { return };
    // In the kernel's set it has the number by which it came there.
    let own = entry.fd == fd && entry.bell >= 0 && !entry.inherited && !entry.parked;
    let others = held.shared() && !held.plain_words();
    if let (Some(set_fd), Some(now), true) = (set.fd(), entry.kernel, own && others) {
        leave_to_kernel(held);
        place(set_fd, fd, Some(now), entry.events, entry.word);
    }
}

/// An event descriptor of the library's is about to have another number, `to`, which means the same already: the kernel's sets know it by its number. Whether it
/// was a copy made for a set; none if one can't follow, and then all are as they were.
pub fn renumber(from: c_int, to: c_int) -> Option<bool> {
    let (mut all, mut copy) = (true, false);
    let each = |work: &mut dyn FnMut(&Set, c_int, u32, &mut Entry)| {
        for set in sets() {
            let Some(fd) = set.fd() else { continue };
            set.with(|state| {
                for (id, entry) in state.entries.iter_mut().enumerate() {
                    if let Some(entry) = entry.as_mut().filter(|entry| entry.bell == from) {
                        work(set, fd, id as u32, entry);
                    }
                }
            });
        }
    };
    each(&mut |set, fd, id, entry| {
        // Another process that has the set would go on with the number of before.
        let follows = set.others.load(Ordering::SeqCst) == 0;
        let plain = slot::numbered(entry.slot).is_some_and(|held| held.plain_words());
        let word = if plain { entry.word } else { token(id, entry.generation, true) };
        let added = |flags| place(fd, to, None, flags, word);
        all &= follows && entry.bell_flags.is_none_or(added);
    });
    let gone = if all { from } else { to };
    each(&mut |_, fd, _, entry| {
        if entry.bell_flags.is_some() {
            control(fd, libc::EPOLL_CTL_DEL, gone, 0, 0);
        }
        if all {
            entry.bell = to;
            copy |= entry.bell_is_copy;
        }
    });
    all.then_some(copy)
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
        set.others.fetch_or(CHILDREN, Ordering::SeqCst);
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
            set.others.store(PARENTS, Ordering::SeqCst);
            set.with(|state| {
                // Tokens of what this process puts into it are none of its parent's, which goes on counting as well.
                // SAFETY: asks for a number.
                let own = unsafe { libc::getpid() }.unsigned_abs() % 4095 + 1;
                state.generation = state.generation.wrapping_add(own << 11);
                for entry in state.entries.iter_mut().flatten() {
                    entry.inherited = true;
                    if entry.bell >= 0
                        && let Some(held) = slot::numbered(entry.slot)
                    {
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

/// The calling thread, which waits in no set, is the only one since a fork.
pub fn only_thread() {
    sets().for_each(|set| set.waiting.store(0, Ordering::SeqCst));
}

/// A new program is to begin: it will have sets of this one's that are not closed then, and knows nothing of tokens. Who has such a set as well knows the
/// program's words, but not what is said by event descriptors that are there no more: connections that may be in its set go back to the kernel.
pub fn before_exec() {
    open_sets(|set_fd, state| {
        for entry in state.entries.iter_mut().flatten().filter(|entry| entry.bell >= 0) {
            let Some(held) = slot::numbered(entry.slot) else { continue };
            let shared = held.shared();
            if shared {
                retire::for_sets(&held);
                held.use_plain_words();
            }
            // What is left in a ring that others read as well is told of by the event descriptor still.
            if entry.bell_flags.is_some() && !(shared && retire::readable(&held)) {
                control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            }
            if entry.parked {
                control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
                entry.kernel = None;
            } else if entry.kernel.is_some() && place(set_fd, entry.fd, entry.kernel, entry.events, entry.word) {
                entry.kernel = Some(entry.events);
            } else if entry.done {
                // It is in the set, and tells nothing.
                place(set_fd, entry.fd, None, ONESHOT, entry.word);
            }
        }
    });
}

/// It did not.
pub fn no_exec() {
    open_sets(|set_fd, state| {
        for (id, entry) in state.entries.iter_mut().enumerate() {
            let Some(entry) = entry.as_mut().filter(|entry| entry.bell >= 0) else { continue };
            if entry.done {
                control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
            }
            let (Some(flags), id) = (entry.bell_flags, id as u32) else { continue };
            let Some(held) = slot::numbered(entry.slot) else { continue };
            place(set_fd, entry.bell, None, flags, token(id, entry.generation, true));
            if let Some(before) = entry.kernel {
                let events = entry.for_kernel(&held);
                if place(set_fd, entry.fd, Some(before), events, entry.kernels_word(id, &held)) {
                    entry.kernel = Some(events);
                }
                ready::tell(&held);
            }
        }
    });
}

/// Sets that a new program would have.
fn open_sets(mut work: impl FnMut(c_int, &mut State)) {
    for set in sets() {
        let Some(fd) = set.fd() else { continue };
        // SAFETY: asks for flags.
        if unsafe { real::fcntl(fd, libc::F_GETFD, 0) } & libc::FD_CLOEXEC == 0 {
            set.with(|state| work(fd, state));
        }
    }
}
