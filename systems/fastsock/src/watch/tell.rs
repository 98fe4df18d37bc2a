//! What a wait brings, turned into what the program asked for.

use std::mem::MaybeUninit;
use std::time::Duration;

use super::change::take_out;
use super::*;
use crate::wait;

/// What a wait brought.
struct Batch<'a> {
    /// The kernel's events first, then the program's.
    events: &'a mut [epoll_event],
    told: usize,
    /// The kernel has been asked for more than it was when it brought this.
    asked_more: bool,
}

/// What became of what the kernel brought.
pub struct Told {
    /// Events that the program gets.
    pub events: usize,
    /// The kernel may have more to tell now, and what it told was about connections alone.
    pub more: bool,
}

impl Entry {
    /// Tells of it, if of anything. False if it is told of already, where this comes to the rest.
    fn tell(&mut self, tell: u32, number: u32, batch: &mut Batch<'_>) -> bool {
        if tell == 0 {
            return false;
        }
        if self.told.0 == number && self.told.1 < batch.told && batch.events[self.told.1].u64 == self.word {
            batch.events[self.told.1].events |= tell;
            return false;
        }
        self.told = (number, batch.told);
        batch.events[batch.told] = epoll_event { events: tell, u64: self.word };
        batch.told += 1;
        true
    }
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
    pub(super) fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) != 0 || self.outside.load(Ordering::SeqCst) != 0
    }

    /// Whether other processes may have it, and put things into it of which this one knows nothing.
    pub fn is_shared(&self) -> bool {
        self.others.load(Ordering::SeqCst) != 0
    }

    /// Whether a wait is no more than the kernel's.
    #[inline(always)]
    pub fn plain(&self) -> bool {
        self.fast.load(Ordering::SeqCst) == 0 && self.nested.load(Ordering::SeqCst) == 0
    }

    /// Turns what the kernel brought, from `told` on, into what the program asked for; how many there are then.
    pub fn translate(&self, set_fd: c_int, events: &mut [epoll_event], told: usize, fresh: bool) -> Told {
        let marked = |event: &epoll_event| event.u64 & MARK_BITS == mark();
        if !events[told..].iter().any(marked) {
            return Told { events: events.len(), more: false };
        }
        let alone = events[told..].iter().all(marked);
        self.with(|state| {
            if fresh {
                state.batch = state.batch.wrapping_add(1);
            }
            let mut batch = Batch { events, told, asked_more: false };
            for at in told..batch.events.len() {
                let event = batch.events[at];
                if marked(&event) {
                    self.one(set_fd, state, event, &mut batch);
                } else {
                    batch.events[batch.told] = event;
                    batch.told += 1;
                }
            }
            Told { events: batch.told, more: batch.asked_more && alone }
        })
        .unwrap_or(Told { events: told, more: false })
    }

    /// One entry's token.
    fn one(&self, set_fd: c_int, state: &mut State, event: epoll_event, batch: &mut Batch<'_>) {
        let number = state.batch;
        // One that is no more.
        let Some((id, entry)) = state.find(event.u64) else { return };
        let of_bell = event.u64 & (1 << 43) != 0;
        if entry.slot == GONE {
            // What its event descriptor tells of can't be looked at.
            let told = if of_bell { READ | WRITE } else { event.events };
            let tell = told & (entry.events | ALWAYS);
            entry.tell(tell, number, batch);
            return;
        }
        let Some(held) = slot::numbered(entry.slot) else { return };
        if entry.done {
            // Of a single event that was told just now by the other of the two, this is the rest.
            let now = !of_bell && entry.told.0 == number && entry.told.1 < batch.told;
            if now && batch.events[entry.told.1].u64 == entry.word {
                batch.events[entry.told.1].events |= event.events & (entry.events | ALWAYS) & !WRITE;
            }
            return;
        }
        if entry.parked {
            take_out(self, set_fd, state, id, Some(&held));
            return;
        }
        if of_bell && held.plain_words() && !retire::readable(&held) {
            // The ring is empty for good.
            control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            entry.bell_flags = None;
            return;
        }
        let wants = entry.wants();
        let mut tell = if of_bell { 0 } else { event.events & (entry.events | ALWAYS) };
        // The way of the sending direction may have changed since, or more was asked of the kernel than is wanted by now.
        let events = entry.for_kernel(&held);
        let unwanted = if of_bell { 0 } else { event.events & !(events | ALWAYS) };
        if entry.kernel.is_some_and(|now| events & !now != 0 || unwanted != 0)
            && place(set_fd, entry.fd, entry.kernel, events, entry.kernels_word(id, &held))
        {
            entry.kernel = Some(events);
            batch.asked_more = true;
        }
        let through_ring = wants & OUT != 0 && ready::sends_through_ring(&held);
        if through_ring {
            tell &= !WRITE;
        }
        let mut granted = if wants == 0 {
            0
        } else if entry.events & ET != 0 {
            // Armed first, so that whatever comes after the look is another edge.
            if !crate::planted::is("an edge not armed") {
                ready::watch(&held, wants);
            }
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
                if place(set_fd, entry.fd, entry.kernel, events, entry.kernels_word(id, &held)) {
                    entry.kernel = Some(events);
                }
            }
        }
        tell |= entry.told_of(granted, &held);
        if tell == 0 {
            // An event descriptor whose ring has nothing.
            if of_bell {
                if entry.events & ET == 0
                    && let Armed::Ready(granted) = ready::arm(&held, wants, true)
                {
                    tell = entry.told_of(granted, &held);
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
        if entry.events & ONESHOT != 0 && !crate::planted::is("once is twice") {
            // The other of the two may tell no more, either.
            entry.done = true;
            ready::interest(&held, wants, false);
            control(set_fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
            entry.bell_flags = None;
            control(set_fd, libc::EPOLL_CTL_DEL, entry.fd, 0, 0);
            entry.kernel = None;
        }
        if entry.tell(tell, number, batch) && entry.level() {
            state.look_at(id);
        }
    }

    /// What the rings of entries told of lately grant, without asking the kernel.
    pub fn collect(&self, set_fd: c_int, events: &mut [MaybeUninit<epoll_event>]) -> Told {
        self.with(|state| {
            state.batch = state.batch.wrapping_add(1);
            let (mut told, mut more) = (0, false);
            for at in 0..state.recent.len() {
                let id = state.recent[at];
                let Some(entry) = state.entries[id as usize].as_mut() else { continue };
                let Some(held) = slot::numbered(entry.slot) else { continue };
                // With the program's own words the kernel tells all.
                if told == events.len() || !entry.level() || held.plain_words() {
                    continue;
                }
                // The way of the sending direction may have changed: then room is the kernel's to tell.
                if entry.events & WRITE != 0
                    && let Some(now) = entry.kernel.filter(|now| entry.events & !now != 0)
                {
                    let wanted = entry.for_kernel(&held);
                    if wanted & !now != 0 && place(set_fd, entry.fd, Some(now), wanted, entry.kernels_word(id, &held)) {
                        entry.kernel = Some(wanted);
                        more = true;
                    }
                }
                let tell = entry.told_of(ready::conditions(&held, entry.wants()), &held);
                if tell != 0 {
                    events[told].write(epoll_event { events: tell, u64: entry.word });
                    entry.told = (state.batch, told);
                    told += 1;
                }
            }
            Told { events: told, more }
        })
        .unwrap_or(Told { events: 0, more: false })
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
                    && !held.plain_words()
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
        // The kernel's set still has what the program took out (`State::park`), and would be readable by it.
        for id in 0..state.entries.len() as u32 {
            if state.parked(id) {
                let held = state.slot(id).and_then(slot::numbered);
                take_out(set, fd, state, id, held.as_deref());
            }
        }
        for (id, entry) in state.entries.iter_mut().enumerate() {
            let Some(entry) = entry.as_mut().filter(|entry| entry.bell >= 0 && !entry.done) else { continue };
            if let Some(held) = slot::numbered(entry.slot) {
                // The way of the sending direction may have changed: then room is the kernel's to tell. Nor is it to tell more than is wanted, of which a wait in the
                // set itself would take no notice.
                let events = entry.for_kernel(&held);
                let other = |now: u32| events & !now != 0 || (entry.level() && events != now);
                if !entry.parked
                    && entry.kernel.is_some_and(other)
                    && place(fd, entry.fd, entry.kernel, events, entry.kernels_word(id as u32, &held))
                {
                    entry.kernel = Some(events);
                }
                if entry.wants() == 0 {
                    // Another set may have it as well, and make the event descriptor readable: here that would mean something. It is back once more is asked for.
                    if entry.bell_flags.take().is_some() {
                        control(fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
                    }
                } else if ready::conditions(&held, entry.wants()) == 0 {
                    if ready::arm(&held, entry.wants(), true) == Armed::Noisy {
                        // Somebody else waits for something else, and the event descriptor says that it has it. With the kernel, that says no
                        // more than that bytes are left in the ring.
                        retire::for_sets(&held);
                        if entry.wants() & IN == 0 && entry.bell_flags.take().is_some() {
                            control(fd, libc::EPOLL_CTL_DEL, entry.bell, 0, 0);
                        }
                        let events = entry.for_kernel(&held);
                        if let Some(now) = entry.kernel.filter(|now| events & !now != 0)
                            && place(fd, entry.fd, Some(now), events, entry.kernels_word(id as u32, &held))
                        {
                            entry.kernel = Some(events);
                        }
                        ready::arm(&held, entry.wants(), true);
                    }
                } else if entry.level() {
                    ready::tell(&held);
                }
            }
        }
        state.inner.clone()
    });
    inner.unwrap_or_default().iter().for_each(|&fd| settle_all(fd, depth - 1));
}
