//! The connections of this process, and which descriptors mean them.
//!
//! A descriptor's entry is the number of a slot, or 0. Slots are never unmapped, so that a thread may look at one that another thread
//! gives up: it counts itself in, and looks again whether the descriptor still means the slot.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use am::memory::Memory;

use crate::holders::Holders;
use crate::page::{self, Page};
use crate::{across, budget, guests, own, report, sandbox, solo, table, tcp};

/// Descriptors from this number on stay with the kernel.
const FDS: usize = 1 << 16;
/// Connections of a process beyond these stay with the kernel.
const SLOTS: usize = 1 << 14;

/// So many receives without a send between them are a stream.
const STREAM: u32 = 8;

/// Where a connection's calls go.
pub const KERNEL: u32 = 0;
pub const ACTIVE: u32 = 1;

/// Which side of the connection this process is.
pub const ACCEPTED: usize = 0;
pub const CONNECTED: usize = 1;

/// What the kernel said of a socket, until that changes. Low two bits: the answer plus one, or 0; above: how often it changed.
pub struct Known(AtomicU32);

impl Known {
    const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// A mark for [`Self::learn`], and the answer if it is known.
    #[inline(always)]
    fn get(&self) -> (u32, Option<bool>) {
        let word = self.0.load(Ordering::SeqCst);
        (word, (word & 3 != 0).then_some(word & 3 == 2))
    }

    /// The kernel's answer, unless it has changed since `mark`.
    fn learn(&self, mark: u32, answer: bool) {
        let word = mark & !3 | (1 + u32::from(answer));
        let _ = self.0.compare_exchange(mark, word, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// It is this now.
    fn set(&self, answer: bool) {
        let new = |word: u32| Some((word & !3).wrapping_add(4) | (1 + u32::from(answer)));
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new);
    }

    /// It may have changed.
    pub fn ask_again(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |word| Some((word & !3).wrapping_add(4)));
    }
}

/// One connection.
pub struct Slot {
    /// Descriptors of this process that mean it.
    fds: AtomicU32,
    /// Calls under way, and one as long as there are descriptors.
    users: AtomicU32,
    /// [`KERNEL`] or [`ACTIVE`].
    pub mode: AtomicU32,
    /// Not 0: never to become fast.
    pub never: AtomicU32,
    /// Side of this process.
    pub me: AtomicU32,
    /// Calls that moved data, up to now.
    pub ops: AtomicU32,
    /// Receives since the last send, at most [`STREAM`]. Only a hint.
    streak: AtomicU32,
    /// Processes that hold it since a fork; not 0 in `forked`: there was one.
    pub holders: Holders,
    pub forked: AtomicU32,
    /// Threads in the kernel's receive and send.
    pub receiving: AtomicU32,
    pub sending: AtomicU32,
    /// Not 0: a thread tries to make it fast.
    trying: AtomicU32,
    /// The listening socket under which the accepting side may find this one; -1.
    pub knock: AtomicI32,
    /// Between network namespaces (`across`): the socket that takes copies of its packets, -1; what these told, and how often the same.
    pub raw: AtomicI32,
    pub begins: AtomicU64,
    pub looked: AtomicU32,
    /// Event descriptors of both sides, this process's numbers; -1.
    pub events: [AtomicI32; 2],
    /// Whether calls are not to wait, and whether none has a time limit.
    pub nonblocking: Known,
    pub unlimited: Known,
    /// Not 0: this side made its event descriptor readable by itself.
    pub told: AtomicU32,
    /// What watches it (`watch`), 0: nothing.
    pub watch: AtomicU64,
    /// It is used again when both sides have closed it (`recycle`): the turn, and whether that may be.
    pub turn: AtomicU64,
    pub again: AtomicU32,
    pub never_again: AtomicU32,
    /// Its place among those that the kernel connected to one address, as long as nothing has come from there; 0.
    pub order: AtomicU32,
    /// Not 0: its next calls look for the other side, long before it has earned to be fast.
    pub eager: AtomicU32,
    /// Whether `TCP_NODELAY` is set, as far as this library saw.
    pub nodelay: AtomicU32,
    /// The hall of the listener that it is, or that accepted it; 0: none.
    pub hall: AtomicU64,
    /// Not 0: it is no connection but a listener.
    pub listens: AtomicU32,
    /// Event descriptor of the peer's listener; -1.
    pub door: AtomicI32,
    /// Bytes that it has of the memory that connections may take.
    pub share: AtomicU32,
    /// The socket's number.
    inode: AtomicU64,
    /// What both sides share, once there is such, and where that lies: in no memory of the C library's, which a handler that forks may have interrupted.
    memory: AtomicPtr<Memory>,
    place: UnsafeCell<MaybeUninit<Memory>>,
    pub page: AtomicPtr<Page>,
    /// The next free slot.
    next: AtomicU32,
}

// SAFETY: all is atomic but `place`, which is written by who gives the connection its memory, before `memory` says so, and then lent as that is.
unsafe impl Sync for Slot {}

static ENTRIES: [AtomicU32; FDS] = [const { AtomicU32::new(0) }; FDS];
static TABLE: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];
/// The first free slot that was used before (low half), and a count against confusion (high half).
static FREE: AtomicU64 = AtomicU64::new(0);
/// Slots ever used; number 0 means none.
static USED: AtomicU32 = AtomicU32::new(1);

impl Slot {
    const fn new() -> Self {
        Self {
            fds: AtomicU32::new(0),
            users: AtomicU32::new(0),
            mode: AtomicU32::new(KERNEL),
            never: AtomicU32::new(0),
            me: AtomicU32::new(0),
            ops: AtomicU32::new(0),
            streak: AtomicU32::new(0),
            holders: Holders::new(),
            forked: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            sending: AtomicU32::new(0),
            trying: AtomicU32::new(0),
            knock: AtomicI32::new(-1),
            raw: AtomicI32::new(-1),
            begins: AtomicU64::new(0),
            looked: AtomicU32::new(0),
            events: [const { AtomicI32::new(-1) }; 2],
            nonblocking: Known::new(),
            unlimited: Known::new(),
            told: AtomicU32::new(0),
            watch: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            again: AtomicU32::new(0),
            never_again: AtomicU32::new(0),
            order: AtomicU32::new(0),
            eager: AtomicU32::new(0),
            nodelay: AtomicU32::new(0),
            hall: AtomicU64::new(0),
            listens: AtomicU32::new(0),
            door: AtomicI32::new(-1),
            share: AtomicU32::new(0),
            inode: AtomicU64::new(0),
            memory: AtomicPtr::new(std::ptr::null_mut()),
            place: UnsafeCell::new(MaybeUninit::uninit()),
            page: AtomicPtr::new(std::ptr::null_mut()),
            next: AtomicU32::new(0),
        }
    }

    /// Its place in the table.
    pub fn number(&self) -> u32 {
        ((std::ptr::from_ref(self) as usize - TABLE.as_ptr() as usize) / size_of::<Self>()) as u32
    }

    /// The socket's number.
    pub fn inode(&self) -> u64 {
        self.inode.load(Ordering::Relaxed)
    }

    /// Side of this process.
    #[inline(always)]
    pub fn me(&self) -> usize {
        self.me.load(Ordering::Relaxed) as usize & 1
    }

    /// Counts the caller in, only where somebody is still: a slot with none is being given up.
    #[inline(always)]
    fn hold(&self) -> bool {
        solo::add_unless_zero(&self.users)
    }

    /// Page and memory of a connection that has them.
    #[inline(always)]
    pub fn parts(&self) -> Option<(&Page, &Memory)> {
        let (page, memory) = (self.page.load(Ordering::Acquire), self.memory.load(Ordering::Acquire));
        // SAFETY: set once to what lives until the slot is given up, and the caller is counted in.
        unsafe { Some((page.as_ref()?, memory.as_ref()?)) }
    }

    /// What both sides share from now on. To be called once in its life, by who made it its own (`try_alone`, or as nobody else knows it).
    pub fn share_memory(&self, memory: Memory) {
        // SAFETY: it has none, so nobody reads there.
        let place = unsafe { (*self.place.get()).write(memory) };
        self.memory.store(place, Ordering::SeqCst);
    }

    /// Whether its calls go through the ring, or may have to.
    #[inline(always)]
    pub fn active(&self) -> bool {
        self.mode.load(Ordering::SeqCst) == ACTIVE
    }

    /// One thread at a time tries to make it fast: this one until the answer is dropped, also if it is cancelled meanwhile. None if another does.
    pub fn try_alone(&self) -> Option<Trying<'_>> {
        (self.trying.swap(1, Ordering::Acquire) == 0).then(|| Trying(&self.trying))
    }

    /// A receive brought something.
    #[inline(always)]
    pub fn received(&self) {
        let streak = self.streak.load(Ordering::Relaxed);
        if streak < STREAM {
            self.streak.store(streak + 1, Ordering::Relaxed);
        }
    }

    /// A send took something.
    #[inline(always)]
    pub fn sent(&self) {
        self.streak.store(0, Ordering::Relaxed);
    }

    /// Whether nothing was received since the last send. Only a hint.
    #[inline(always)]
    pub fn sends_again(&self) -> bool {
        self.streak.load(Ordering::Relaxed) == 0
    }

    /// Whether this side receives a stream: nothing that it sends waits for an answer.
    #[inline(always)]
    pub fn streams(&self) -> bool {
        self.streak.load(Ordering::Relaxed) == STREAM
    }

    /// Closes the listening socket under which it may be found.
    pub fn stop_knocking(&self) {
        let (knock, raw) = (self.knock.swap(-1, Ordering::AcqRel), self.raw.swap(-1, Ordering::AcqRel));
        if knock >= 0 {
            if raw >= 0 {
                across::leave(knock);
            }
            own::close(knock);
        }
        if raw >= 0 {
            own::close(raw);
            self.looked.store(0, Ordering::Relaxed);
        }
    }

    /// The event descriptor of this side.
    #[inline(always)]
    pub fn event(&self) -> i32 {
        self.events[self.me()].load(Ordering::Relaxed)
    }

    /// The event descriptor of the peer.
    #[inline(always)]
    pub fn peers_event(&self) -> i32 {
        self.events[1 - self.me()].load(Ordering::Relaxed)
    }

    /// Whether no other process may have changed what the socket is set to.
    fn alone(&self) -> bool {
        self.parts().is_some_and(|(page, _)| page.shared.load(Ordering::Relaxed) == 0)
    }

    /// Whether another process may hold it, too.
    pub fn shared(&self) -> bool {
        self.parts().is_some_and(|(page, _)| page.shared.load(Ordering::Relaxed) != 0)
    }

    /// Whether sets of epoll have the program's own words for it, not the library's (`watch`).
    pub fn plain_words(&self) -> bool {
        self.parts().is_some_and(|(page, _)| page.plain_words.load(Ordering::SeqCst) != 0)
    }

    /// They do from now on, in all processes that hold it.
    pub fn use_plain_words(&self) {
        if let Some((page, _)) = self.parts() {
            page.plain_words.store(1, Ordering::SeqCst);
        }
    }

    /// Whether calls on it are not to wait.
    #[inline(always)]
    pub fn nonblocking(&self, fd: i32) -> bool {
        let known = self.nonblocking.get();
        if let (Some(known), true) = (known.1, self.alone()) {
            return known;
        }
        let now = tcp::nonblocking(fd);
        self.nonblocking.learn(known.0, now);
        now
    }

    /// Its time limit of this name (`SO_RCVTIMEO`, `SO_SNDTIMEO`), nanoseconds; none if it has none.
    pub fn limit(&self, fd: i32, name: i32) -> Option<i64> {
        let unlimited = self.unlimited.get();
        if unlimited.1 == Some(true) && self.alone() {
            return None;
        }
        let limit = tcp::limit(fd, name).filter(|_| !crate::planted::is("no time limit"));
        if unlimited.1.is_none() {
            let other = if name == libc::SO_RCVTIMEO { libc::SO_SNDTIMEO } else { libc::SO_RCVTIMEO };
            self.unlimited.learn(unlimited.0, limit.is_none() && tcp::limit(fd, other).is_none());
        }
        limit
    }

    fn give_up(&'static self) {
        report::state(self, 0);
        self.holders.leave();
        if sandbox::silent() {
            return;
        }
        self.stop_knocking();
        for event in &self.events {
            own::close(event.swap(-1, Ordering::AcqRel));
        }
        own::close(self.door.swap(-1, Ordering::AcqRel));
        let memory = self.memory.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !memory.is_null() {
            // SAFETY: it lies in `place`, and nobody is counted in.
            unsafe { memory.drop_in_place() };
        }
        if let Some(page) = NonNull::new(self.page.swap(std::ptr::null_mut(), Ordering::AcqRel)) {
            // SAFETY: nobody is counted in.
            unsafe { page::free(page) };
        }
        budget::give_back(self.share.swap(0, Ordering::AcqRel));
        let number = self.number();
        let mut first = FREE.load(Ordering::Acquire);
        loop {
            self.next.store(first as u32, Ordering::Relaxed);
            let new = (first >> 32).wrapping_add(1) << 32 | u64::from(number);
            match FREE.compare_exchange_weak(first, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }
}

/// That a thread tries to make a connection fast.
pub struct Trying<'a>(&'a AtomicU32);

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// The connection of a slot's number, if it is still one.
pub fn numbered(number: u32) -> Option<Held> {
    let slot = TABLE.get(number as usize)?;
    // Not `then_some`: what counts out when it goes must not come to be where nobody was counted in.
    slot.hold().then(|| Held { slot, number })
}

/// A slot that the holder is counted into.
pub struct Held {
    slot: &'static Slot,
    number: u32,
}

impl std::ops::Deref for Held {
    type Target = Slot;
    #[inline(always)]
    fn deref(&self) -> &Slot {
        self.slot
    }
}

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        if solo::take_one(&self.slot.users) {
            self.slot.give_up();
        }
    }
}

impl Held {
    /// Whether one descriptor means it, and no other call than the caller's is under way.
    pub fn sole(&self) -> bool {
        self.slot.fds.load(Ordering::SeqCst) == 1 && self.slot.users.load(Ordering::SeqCst) == 2
    }

    /// Whether no descriptor means it, and nobody but the holder knows it.
    pub fn alone_with_it(&self) -> bool {
        self.slot.users.load(Ordering::SeqCst) == 1
    }

    /// Whether it is the connection that this descriptor, which the program has connected, was before: one that is not fast, of the same socket.
    pub fn goes_on(&self, fd: i32) -> bool {
        let slot = self.slot;
        slot.listens.load(Ordering::Relaxed) == 0
            && slot.me() == CONNECTED
            && !slot.active()
            && slot.parts().is_none()
            && slot.inode() == tcp::inode(fd)
    }

    /// Whether the descriptor still means this connection.
    pub fn still(&self, fd: i32) -> bool {
        entry(fd).is_some_and(|entry| entry.load(Ordering::SeqCst) == self.number)
    }
}

#[inline(always)]
fn entry(fd: i32) -> Option<&'static AtomicU32> {
    ENTRIES.get(usize::try_from(fd).ok()?)
}

/// Whether a descriptor means a connection.
#[inline(always)]
pub fn tracked(fd: i32) -> bool {
    entry(fd).is_some_and(|entry| entry.load(Ordering::Relaxed) != 0)
}

/// The connection that a descriptor means.
#[inline(always)]
pub fn of(fd: i32) -> Option<Held> {
    let entry = entry(fd)?;
    loop {
        let number = entry.load(Ordering::Acquire);
        if number == 0 {
            return None;
        }
        let slot = &TABLE[number as usize];
        if slot.hold() {
            let held = Held { slot, number };
            if entry.load(Ordering::SeqCst) == number {
                return (!guests::doubted() || guests::means(fd, slot.inode())).then_some(held);
            }
        }
    }
}

/// A descriptor means a new connection.
pub fn track(fd: i32, me: usize) {
    let Some(entry) = entry(fd).filter(|_| !guests::apart()) else { return };
    forget(fd);
    if sandbox::silent() {
        return;
    }
    let Some(number) = take_free() else { return };
    let slot = &TABLE[number as usize];
    slot.mode.store(KERNEL, Ordering::Relaxed);
    let words = [&slot.never, &slot.ops, &slot.streak, &slot.receiving, &slot.sending, &slot.trying];
    for word in words.into_iter().chain([
        &slot.again,
        &slot.never_again,
        &slot.order,
        &slot.eager,
        &slot.nodelay,
        &slot.listens,
        &slot.told,
        &slot.forked,
    ]) {
        word.store(0, Ordering::Relaxed);
    }
    slot.turn.store(0, Ordering::Relaxed);
    slot.hall.store(0, Ordering::Relaxed);
    slot.me.store(me as u32, Ordering::Relaxed);
    slot.watch.store(0, Ordering::Relaxed);
    slot.nonblocking.ask_again();
    slot.unlimited.ask_again();
    slot.fds.store(1, Ordering::Relaxed);
    slot.inode.store(tcp::inode(fd), Ordering::Relaxed);
    slot.users.store(1, Ordering::SeqCst);
    report::begin(fd, slot);
    entry.store(number, Ordering::SeqCst);
}

fn take_free() -> Option<u32> {
    let mut first = FREE.load(Ordering::Acquire);
    while first as u32 != 0 {
        let next = TABLE[first as u32 as usize].next.load(Ordering::Relaxed);
        let new = (first >> 32).wrapping_add(1) << 32 | u64::from(next);
        match FREE.compare_exchange_weak(first, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(first as u32),
            Err(other) => first = other,
        }
    }
    let number = USED.fetch_add(1, Ordering::Relaxed);
    if (number as usize) < SLOTS {
        return Some(number);
    }
    USED.store(SLOTS as u32, Ordering::Relaxed);
    None
}

/// `to` means what `from` means. False if it can't be followed there.
pub fn share(from: i32, to: i32) -> bool {
    forget(to);
    let Some(held) = of(from) else { return true };
    let Some(entry) = entry(to) else { return false };
    if held.slot.fds.fetch_add(1, Ordering::SeqCst) == 0 {
        // The last descriptor was closed meanwhile: the count that stands for descriptors again.
        held.slot.users.fetch_add(1, Ordering::SeqCst);
    }
    entry.store(held.number, Ordering::SeqCst);
    true
}

/// A descriptor means nothing any more. The connection, if that was its last descriptor in this process.
pub fn forget(fd: i32) -> Option<Held> {
    let entry = entry(fd)?;
    let held = of(fd)?;
    if entry.compare_exchange(held.number, 0, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return None;
    }
    fence(Ordering::SeqCst);
    if held.slot.fds.fetch_sub(1, Ordering::SeqCst) == 1 {
        // The count that stood for the descriptors; this call's own keeps the slot.
        held.slot.users.fetch_sub(1, Ordering::SeqCst);
        return Some(held);
    }
    None
}

/// A connection that no descriptor meant gets one again, like a socket that was just made.
pub fn revive(held: &Held, fd: i32, nonblocking: bool) {
    let Some(entry) = entry(fd) else { return };
    forget(fd);
    held.slot.fds.store(1, Ordering::SeqCst);
    held.slot.users.fetch_add(1, Ordering::SeqCst);
    held.slot.nonblocking.set(nonblocking);
    held.slot.unlimited.set(true);
    report::state(held, table::FAST);
    report::descriptor(held.number, fd);
    entry.store(held.number, Ordering::SeqCst);
}

/// A descriptor of the library's has another number now. Whether a connection had it.
pub fn renumber(from: i32, to: i32) -> bool {
    let renumbered = |word: &AtomicI32| word.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    TABLE[..used()].iter().any(|slot| slot.events.iter().chain([&slot.knock, &slot.raw, &slot.door]).any(renumbered))
}

/// Every connection that descriptors of this process mean, once.
pub fn each_meant(mut work: impl FnMut(&Held)) {
    for number in 1..used() as u32 {
        if let Some(held) = numbered(number).filter(|held| held.slot.fds.load(Ordering::SeqCst) != 0) {
            work(&held);
        }
    }
}

fn used() -> usize {
    (USED.load(Ordering::Relaxed) as usize).min(SLOTS)
}

/// The calling thread, which is in no call on a connection, is the only one since a fork: who was in a call then is not here to count itself out.
pub fn only_thread() {
    for slot in &TABLE[..used()] {
        slot.fds.store(0, Ordering::SeqCst);
    }
    for entry in &ENTRIES {
        let number = entry.load(Ordering::SeqCst);
        if number != 0 {
            TABLE[number as usize].fds.fetch_add(1, Ordering::SeqCst);
        }
    }
    for (number, slot) in TABLE[..used()].iter().enumerate() {
        if slot.users.load(Ordering::SeqCst) == 0 {
            continue;
        }
        [&slot.receiving, &slot.sending, &slot.trying].into_iter().for_each(|word| word.store(0, Ordering::SeqCst));
        slot.users.store(1, Ordering::SeqCst);
        if slot.fds.load(Ordering::SeqCst) == 0 {
            drop(Held { slot, number: number as u32 });
        }
    }
}

/// A descriptor that means this connection.
#[cold]
pub fn descriptor(slot: &Slot) -> Option<i32> {
    let number = slot.number();
    ENTRIES.iter().position(|entry| entry.load(Ordering::SeqCst) == number).map(|fd| fd as i32)
}

/// Every descriptor that means a connection. `first` and `last` bound the numbers.
pub fn each(first: usize, last: usize, mut work: impl FnMut(i32)) {
    if USED.load(Ordering::Relaxed) == 1 {
        return;
    }
    for (fd, entry) in ENTRIES.iter().enumerate().take(last.saturating_add(1).min(FDS)).skip(first) {
        if entry.load(Ordering::Relaxed) != 0 {
            work(fd as i32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_copy_with_a_number_beyond_the_table_is_not_followed() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (fd, copy) = (socket.as_raw_fd(), FDS as i32 - 1);
        track(fd, CONNECTED);
        assert!(share(fd, copy) && tracked(copy) && !share(fd, FDS as i32));
        drop(forget(copy));
        drop(forget(fd));
        assert!(share(fd, FDS as i32), "there is nothing to be followed");
    }
}
