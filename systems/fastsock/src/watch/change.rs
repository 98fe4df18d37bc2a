//! `epoll_ctl`.

use super::life::{enter, entries_of, packed, refresh};
use super::*;

/// `epoll_ctl`.
///
/// # Safety
/// As the system's.
pub unsafe fn ctl(set_fd: c_int, op: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    let kernel = || unsafe { real::epoll_ctl(set_fd, op, fd, event) };
    let (set, held) = (set_of(set_fd), slot::of(fd));
    let Some(set) = set else {
        let done = kernel();
        if op != libc::EPOLL_CTL_DEL
            && done == 0
            && let Some(held) = held
        {
            // A set that this library does not follow.
            retire::for_sets(&held);
        }
        return done;
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
            (libc::EPOLL_CTL_DEL, Some(id))
                if set.others.load(Ordering::SeqCst) == 0 && state.park(id, held.as_deref()) =>
            {
                0
            }
            (libc::EPOLL_CTL_DEL, Some(id)) => {
                if let Some(held) = held.as_ref().filter(|held| set.tells_others(held)) {
                    leave_to_kernel(held);
                }
                let done = if state.done(id) { 0 } else { kernel() };
                set.remove(Some(set_fd), state, id, held.as_deref(), true);
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
    if op != libc::EPOLL_CTL_DEL
        && let Some(held) = held.filter(|held| held.watch.load(Ordering::SeqCst) == MANY)
    {
        let errno = real::errno();
        refresh(&held);
        real::fail(errno);
    }
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
        inherited: false,
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
        retire::for_sets(held);
        return done;
    };
    enter(set, id, held);
    fence(Ordering::SeqCst);
    if set.tells_others(held) {
        set.attach_for_all(set_fd, state, id, held);
    } else if set.others.load(Ordering::SeqCst) & PARENTS == 0 || held.listens.load(Ordering::Relaxed) == 0 {
        // A listener that came from a parent keeps nothing that its set would have to be told of (`recycle`).
        set.attach(set_fd, state, id, held);
    }
    done
}

/// What sets tell of a connection is the kernel's to tell from now on, with the program's own words, in all processes that have it.
pub(super) fn leave_to_kernel(held: &Slot) {
    if !held.plain_words() {
        retire::for_sets(held);
        held.use_plain_words();
    }
}

/// A connection is handed to another process, which may have it longer than this one, and sets of this one's with it: they tell of it as the kernel does.
pub fn hand_over(held: &Slot) {
    if held.watch.load(Ordering::SeqCst) == NONE {
        return;
    }
    leave_to_kernel(held);
    let errno = real::errno();
    entries_of(held, held.number(), |set, state, id| {
        let Some(set_fd) = set.fd() else { return };
        if state.parked(id) {
            return take_out(set, set_fd, state, id, Some(held));
        }
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut) else { return };
        if entry.bell < 0 {
            // It never was fast in this set: there the kernel has the program's own words, perhaps another process's, which has changed them since.
            return;
        }
        if entry.kernel.is_some() && place(set_fd, entry.fd, entry.kernel, entry.events, entry.word) {
            entry.kernel = Some(entry.events);
        } else if entry.done {
            // It is in the set, and tells nothing.
            place(set_fd, entry.fd, None, ONESHOT, entry.word);
        }
        set.change_for_all(set_fd, entry, held);
    });
    real::fail(errno);
}

impl Set {
    /// Whether other processes are told of an entry of this connection that this process makes or changes: those that have the set from the same parent
    /// know the connection, but not the entry nor its token.
    fn tells_others(&self, held: &Slot) -> bool {
        let shared = held.shared() || held.forked.load(Ordering::SeqCst) != 0;
        self.others.load(Ordering::SeqCst) & PARENTS != 0 && shared
    }

    /// As [`Self::attach`], of an entry that other processes are to be told of: the kernel tells it, with the program's own word. So it does of what is left
    /// in the ring, by the event descriptor; whoever takes the last of it makes that unreadable (`receive`).
    fn attach_for_all(&self, set_fd: c_int, state: &mut State, id: u32, held: &Slot) {
        leave_to_kernel(held);
        let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut) else { return };
        if !retire::readable(held) || entry.bell >= 0 {
            return;
        }
        let flags = EPOLLIN as u32 | entry.events & (ET | ONESHOT | EXCLUSIVE);
        if entry.events & READ != 0 && place(set_fd, held.event(), None, flags, entry.word) {
            self.fast.fetch_add(1, Ordering::SeqCst);
            (entry.bell, entry.bell_flags) = (held.event(), Some(flags));
            ready::interest(held, entry.wants(), true);
            ready::tell(held);
        }
    }

    /// An entry was changed that the kernel tells with the program's own word: its event descriptor has the same, as long as anything is left in the ring.
    fn change_for_all(&self, set_fd: c_int, entry: &mut Entry, held: &Slot) {
        let Some(before) = entry.bell_flags else { return };
        let flags = EPOLLIN as u32 | entry.events & (ET | ONESHOT | EXCLUSIVE);
        if entry.events & READ != 0 && retire::readable(held) {
            place(set_fd, entry.bell, Some(before), flags, entry.word);
            entry.bell_flags = Some(flags);
            ready::tell(held);
        } else {
            control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            entry.bell_flags = None;
        }
    }
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
    let all = held;
    let Some(entry) = state.entries[id as usize].as_mut() else { return kernel() };
    if let Some(held) = held.filter(|held| entry.bell >= 0 && set.tells_others(held)) {
        leave_to_kernel(held);
    }
    let Some(held) = held.filter(|held| entry.bell >= 0 && !held.plain_words()) else {
        let done = match entry.kernel {
            None if control(set_fd, libc::EPOLL_CTL_ADD, entry.fd, event.events, event.u64) => 0,
            _ => kernel(),
        };
        if done == 0 {
            (entry.events, entry.word, entry.kernel, entry.done) = (event.events, event.u64, Some(event.events), false);
            if let Some(held) = all.filter(|held| held.plain_words()) {
                set.change_for_all(set_fd, entry, held);
            }
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
        if !place(set_fd, entry.fd, entry.kernel, events, entry.kernels_word(id, held)) {
            return -1;
        }
        entry.kernel = Some(events);
    }
    if !level || entry.bell_flags.is_none() {
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
pub(super) fn take_out(set: &Set, set_fd: c_int, state: &mut State, id: u32, held: Option<&Slot>) {
    let errno = real::errno();
    if let Some(entry) = state.entries.get_mut(id as usize).and_then(Option::as_mut)
        && entry.kernel.take().is_some()
    {
        control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
    }
    set.remove(Some(set_fd), state, id, held, true);
    if let Some(held) = held {
        let _ = held.watch.compare_exchange(packed(set.number, id), NONE, Ordering::SeqCst, Ordering::SeqCst);
    }
    real::fail(errno);
}
