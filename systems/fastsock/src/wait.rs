//! How a call waits: it spins where that has paid of late, then sleeps until the peer tells, or the kernel that the stream has ended.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use am::guard::{BUDGET, Guard, Scene};

use crate::arena::{Side, control};
use crate::bell::{Bell, Woken};
use crate::config::Policy;
use crate::hook::signals;
use crate::ready::{self, Armed, Seen};
use crate::settings;
use crate::slot::{Held, Slot};
use crate::watch::Set;

/// The sleeps after which the kernel is asked again, nanoseconds: the first, and the longest.
const SLEEP: (i64, i64) = (1_000_000, 64_000_000);
/// How long who receives a stream lets come together what comes, before it looks. Each look fetches the line that the sender writes next, so that
/// who looks at once moves every message's lines between the CPUs by themselves.
pub const GATHER: Duration = Duration::from_micros(2);
/// With [`Policy::Yielding`] and [`Policy::Polite`], how long a call spins before it yields: longer than an answer takes of a peer that does nothing else.
const ALONE: Duration = Duration::from_micros(3);
/// Who yields and has its CPU back sooner was alone on it.
const SHARED: Duration = Duration::from_micros(5);
/// Who hands its CPU to a peer and has it back later has handed it to somebody else.
const AWAY: Duration = Duration::from_micros(50);
/// Looks between two looks at the clock.
const POLLS: u32 = 64;

thread_local! {
    static GUARD: Cell<Guard> = Cell::new(Guard::default());
    /// For waits for one of several.
    static SEVERAL: Cell<Guard> = Cell::new(Guard::default());
    /// Room that is used again.
    static HOT: RefCell<Vec<(Held, Seen)>> = const { RefCell::new(Vec::new()) };
}

/// Until when no thread of this process spins or yields, nanoseconds: what one has found out others need not, and each time costs a turn of everybody who
/// wants the CPU.
static CONTENDED: AtomicU64 = AtomicU64::new(0);

/// A yield has taken long: the other threads are told how long to leave the CPU alone.
fn tell_others(guard: &Guard) {
    let until = guard.contended_until().as_nanos() as u64;
    if until > CONTENDED.load(Ordering::Relaxed) {
        CONTENDED.store(until, Ordering::Relaxed);
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Look again.
    Look,
    /// The socket's time limit has passed.
    Late,
    /// A signal handler ran.
    Signal,
}

/// A call that waits, perhaps several times.
pub struct Wait {
    fd: i32,
    limit_name: i32,
    until: Option<Option<Instant>>,
    slice: i64,
    spun: bool,
    /// Signal handlers that had run when it first waited.
    ran: Option<signals::Ran>,
    /// The last sleep ended as this side's event descriptor was readable.
    rang: bool,
}

pub fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Says on which CPU this thread is; which.
fn publish<'a>(sides: impl Iterator<Item = &'a Side>) -> u32 {
    // SAFETY: takes nothing, touches nothing.
    let cpu = u32::try_from(unsafe { libc::sched_getcpu() }).map_or(0, |cpu| cpu + 1);
    for side in sides {
        if side.cpu.load(Ordering::Relaxed) != cpu {
            side.cpu.store(cpu, Ordering::Relaxed);
        }
    }
    cpu
}

/// Lets a moment pass, if it has not.
fn pause_until(moment: Duration) {
    while now() < moment {
        std::hint::spin_loop();
    }
}

/// Gives the CPU to whoever else wants it; how long that took, from `from` to the moment that it returns.
fn give_way(from: Duration) -> (Duration, Duration) {
    // SAFETY: takes nothing, touches nothing.
    unsafe { libc::sched_yield() };
    let back = now();
    (back.saturating_sub(from), back)
}

/// Spins as long as policy and guard allow, looking at the clock after `polls` looks, `before` having passed. True if there is news.
fn spin(
    guard: &Cell<Guard>,
    polls: u32,
    before: Duration,
    same_cpu: impl Fn() -> bool,
    news: impl Fn() -> bool,
) -> bool {
    let policy = settings::get().wait;
    if policy == Policy::Sleep {
        return news();
    }
    let (cell, begun) = (guard, now());
    let mut guard = cell.get();
    guard.contend(Duration::from_nanos(CONTENDED.load(Ordering::Relaxed)));
    let scene = Scene { now: begun, same_cpu: policy != Policy::Blind && same_cpu(), peer_waits: false };
    if policy != Policy::Blind && !guard.may_spin(scene) {
        let hands = matches!(policy, Policy::Handing | Policy::Polite) && scene.same_cpu && !guard.crowded(begun);
        return if hands { hand_over(cell, begun, news) } else { news() };
    }
    let mut time = begun;
    pause_until(begun + before);
    let found = loop {
        if (0..polls).any(|_| {
            std::hint::spin_loop();
            news()
        }) {
            guard.paid();
            break true;
        }
        let last = std::mem::replace(&mut time, now());
        if policy == Policy::Blind && time - begun < BUDGET {
            continue;
        }
        if guard.jumped(last, time) || same_cpu() || time - begun >= BUDGET {
            guard.failed(time);
            break news();
        }
        if matches!(policy, Policy::Yielding | Policy::Polite) && time - begun >= ALONE {
            let (away, back) = give_way(time);
            if away >= SHARED {
                guard.given_up(back, away);
                tell_others(&guard);
                break news();
            }
            time = back;
        }
    };
    cell.set(guard);
    found
}

/// Lets a peer on this CPU run. True if there is news. If the CPU went to somebody else, or stayed away for long, nobody does so for a while.
fn hand_over(cell: &Cell<Guard>, begun: Duration, news: impl Fn() -> bool) -> bool {
    let (away, back) = give_way(begun);
    let found = news();
    let mut guard = cell.get();
    if !found || away > AWAY {
        guard.crowd(back, away);
        tell_others(&guard);
    } else {
        guard.handed();
    }
    cell.set(guard);
    found
}

/// Spins until one of several connections has news. False if none has, or there is none.
pub fn spin_for_any(hot: &[(Held, Seen)]) -> bool {
    if hot.is_empty() {
        return false;
    }
    let sides = |which: fn(&Held) -> usize| {
        hot.iter().filter_map(move |(held, _)| Some(&control(held.parts()?.1).sides[which(held)]))
    };
    let cpu = publish(sides(|held| held.me()));
    let same_cpu = || cpu != 0 && sides(|held| 1 - held.me()).any(|side| side.cpu.load(Ordering::Relaxed) == cpu);
    let polls = (POLLS / hot.len() as u32).max(1);
    SEVERAL
        .with(|guard| spin(guard, polls, Duration::ZERO, same_cpu, || hot.iter().any(|(held, seen)| seen.news(held))))
}

/// Spins until an entry of a set that was told of lately has news.
pub fn spin_for(set: &Set) -> bool {
    HOT.with_borrow_mut(|hot| {
        set.hot(hot);
        let found = spin_for_any(hot);
        hot.clear();
        found
    })
}

/// That this thread waits for bytes, until it is dropped: also if the thread is cancelled.
struct Interest<'a>(&'a Slot);

impl<'a> Interest<'a> {
    fn begin(slot: &'a Slot) -> Self {
        ready::interest(slot, ready::IN, true);
        Self(slot)
    }
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        ready::interest(self.0, ready::IN, false);
    }
}

impl Wait {
    /// `limit_name` is the socket's option that limits the wait.
    pub fn new(fd: i32, limit_name: i32) -> Self {
        Self { fd, limit_name, until: None, slice: SLEEP.0, spun: false, ran: None, rang: false }
    }

    /// Whether it has not slept yet, or only before something moved.
    pub fn is_fresh(&self) -> bool {
        self.slice == SLEEP.0
    }

    /// Something moved: the next sleep is a short one again.
    pub fn moved(&mut self) {
        (self.slice, self.spun) = (SLEEP.0, false);
    }

    /// Spins, once for each thing that it waits for, `before` having passed. True if there is news.
    pub fn spin(&mut self, mine: &Side, peers: &Side, before: Duration, news: impl Fn() -> bool) -> bool {
        self.ran.get_or_insert_with(signals::ran);
        if self.spun {
            return news();
        }
        self.spun = true;
        let cpu = publish([mine].into_iter());
        GUARD.with(|guard| spin(guard, POLLS, before, || cpu != 0 && peers.cpu.load(Ordering::Relaxed) == cpu, news))
    }

    /// How long the next sleep may take; none if the time is up.
    fn next(&mut self, slot: &Slot) -> Option<i64> {
        let (fd, name) = (self.fd, self.limit_name);
        let until = *self.until.get_or_insert_with(|| {
            slot.limit(fd, name).map(|limit| Instant::now() + Duration::from_nanos(limit.unsigned_abs()))
        });
        let slice = self.slice;
        self.slice = (slice * 2).min(SLEEP.1);
        match until {
            None => Some(slice),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now()).as_nanos() as i64;
                (left > 0).then_some(slice.min(left))
            }
        }
    }

    /// Sleeps until the bell rings, or for a while.
    pub fn sleep(&mut self, slot: &Slot, bell: &Bell, ready: impl FnOnce() -> bool) -> End {
        let Some(limit) = self.next(slot) else { return End::Late };
        // One that ran between two sleeps.
        if self.interrupted() {
            return End::Signal;
        }
        crate::report::waits(slot, true);
        match bell.sleep(limit, ready) {
            Woken::Signal if self.interrupted() => End::Signal,
            Woken::Signal => End::Look,
            Woken::Look | Woken::Late => End::Look,
        }
    }

    /// Whether a handler ran since it first waited that ends it. With a time limit any does (signal(7)).
    fn interrupted(&mut self) -> bool {
        let now = signals::ran();
        let ran = *self.ran.get_or_insert(now);
        (now.interrupting != ran.interrupting && !crate::planted::is("deaf to signals"))
            || (self.until.flatten().is_some() && now.any != ran.any)
    }

    /// Sleeps in the kernel until the socket or the ring has bytes, or the stream ends.
    pub fn poll_both(&mut self, slot: &Slot) -> End {
        let _interest = Interest::begin(slot);
        // A peer may write to the event descriptor long after it took the arming away: what that was for has been found meanwhile, and nobody but this
        // side makes it unreadable again.
        match ready::arm(slot, ready::IN, std::mem::take(&mut self.rang)) {
            Armed::Ready(_) => End::Look,
            armed => {
                let mut ask = [self.fd, slot.event()].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
                let end = self.poll_for(slot, armed == Armed::Quiet, &mut ask);
                self.rang = ask[1].revents != 0;
                end
            }
        }
    }

    /// Sleeps in the kernel until the socket has `events`, for at most a few milliseconds, for a peer that does not ring yet.
    pub fn poll(&mut self, slot: &Slot, events: i16) -> End {
        self.poll_for(slot, false, &mut [libc::pollfd { fd: self.fd, events, revents: 0 }])
    }

    fn poll_for(&mut self, slot: &Slot, told: bool, ask: &mut [libc::pollfd]) -> End {
        self.slice = self.slice.min(8_000_000);
        let Some(limit) = self.next(slot) else { return End::Late };
        // A timer is dear: none, where whatever ends the wait is told.
        let limit = match self.until {
            Some(None) if told => -1,
            _ => (limit / 1_000_000).max(1) as i32,
        };
        if self.interrupted() {
            return End::Signal;
        }
        crate::report::waits(slot, true);
        // SAFETY: as many entries.
        let found = unsafe { crate::real::poll(ask.as_mut_ptr(), ask.len() as libc::nfds_t, limit) };
        if found < 0 && self.interrupted() { End::Signal } else { End::Look }
    }
}
