//! Waiting: what a side does between two looks at the ring.

use std::time::{Duration, Instant};

#[cfg(not(loom))]
use rustix::{thread::futex, time::Timespec};

use super::bell::Futex;
use super::sync::AtomicU32;

/// Looks at the ring between two looks at the clock. Some microseconds: far more than a small message's round trip.
const POLLS: u32 = 2048;
/// The same when both sides share one CPU: nothing can change while this side looks.
const CROWDED_POLLS: u32 = 16;
/// Rounds of [`POLLS`] between two `sched_yield`. With a CPU for each side a yield costs a fraction of a microsecond in
/// some 20; where the scheduler has put both sides on one CPU, it is what lets the other one run.
const YIELD_ROUNDS: u32 = 8;
/// How long a side that may sleep spins first. Longer than the round trip of a small message between two CPUs, shorter
/// than what a sleep and a wake-up cost together.
pub(super) const BRIEF: Duration = Duration::from_micros(10);
/// After this long without progress a side looks at its patience, its stop flag and its peer, and again this often.
const CARE: Duration = Duration::from_millis(1);

/// News that may come to nothing, one after another, before a wait looks at its patience all the same.
const VAIN: u32 = 1024;

/// A wait in progress: from the last piece that moved on.
#[derive(Debug, Default)]
pub(super) struct Idle {
    rounds: u32,
    /// News since something moved.
    news: u32,
    /// Messages that the peer had taken when it was last asked.
    taken: u64,
    since: Option<Instant>,
    cared: Option<Instant>,
}

/// What is due after a round of looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// When the wait began, to within a round.
    pub(super) since: Instant,
    /// Now.
    pub(super) now: Instant,
    /// Time to look at patience and peer.
    pub(super) care: bool,
}

impl Idle {
    /// Looks at the ring that make a round.
    pub(super) fn polls(crowded: bool) -> u32 {
        if crowded { CROWDED_POLLS } else { POLLS }
    }

    /// The peer has taken this many messages; one more is progress too.
    pub(super) fn taken(&mut self, messages: u64) {
        if messages != self.taken {
            *self = Self { taken: messages, ..Self::default() };
        }
    }

    /// Whether news are worth to be followed. A peer that shows a message and takes it back, again and again, must not
    /// keep this side from looking at its patience.
    pub(super) fn follows(&mut self) -> bool {
        self.news = self.news.wrapping_add(1);
        !self.news.is_multiple_of(VAIN)
    }

    /// Ends a round without progress: gives the CPU away where that is due.
    pub(super) fn round(&mut self, crowded: bool) -> Due {
        self.rounds = self.rounds.wrapping_add(1);
        if crowded || self.rounds.is_multiple_of(YIELD_ROUNDS) {
            rustix::thread::sched_yield();
        }
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let care = now.duration_since(self.cared.unwrap_or(since)) >= CARE;
        if care {
            self.cared = Some(now);
        }
        Due { since, now, care }
    }
}

/// The kernel's futex on shared memory, with a limit to the sleep: a peer that dies rings no bell.
pub(super) struct Kernel {
    /// Longest sleep.
    pub(super) limit: Duration,
}

impl Futex for Kernel {
    #[cfg(not(loom))]
    fn wait(&self, word: &AtomicU32, value: u32) {
        let limit = Timespec { tv_sec: self.limit.as_secs() as i64, tv_nsec: self.limit.subsec_nanos().into() };
        // Every outcome (woken, no longer armed, time is up, a signal) means the same: look again.
        let _ = futex::wait(word, futex::Flags::empty(), value, Some(&limit));
    }
    #[cfg(not(loom))]
    fn wake(&self, word: &AtomicU32) {
        // The peer alone sleeps here. Waking fails only for memory that is not mapped, and this is.
        let _ = futex::wake(word, futex::Flags::empty(), 1);
    }
    // Under loom the ring is checked by itself; the link around it only has to compile.
    #[cfg(loom)]
    fn wait(&self, _word: &AtomicU32, _value: u32) {
        std::thread::sleep(self.limit);
    }
    #[cfg(loom)]
    fn wake(&self, _word: &AtomicU32) {}
}

/// The only CPU that this thread may run on, plus one; 0 if there are several, or the system does not say.
pub(super) fn home() -> u32 {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return 0 };
    if set.count() != 1 {
        return 0;
    }
    (0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| set.is_set(cpu)).map_or(0, |cpu| cpu as u32 + 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn care_comes_again_and_again_but_not_at_once() {
        let mut idle = Idle::default();
        assert!(!idle.round(false).care);
        for _ in 0..2 {
            let start = Instant::now();
            while !idle.round(false).care {
                assert!(start.elapsed() < Duration::from_secs(60));
            }
        }
    }

    #[test]
    fn a_message_taken_is_progress_and_news_alone_are_not() {
        let mut idle = Idle::default();
        let since = idle.round(false).since;
        std::thread::sleep(Duration::from_millis(1));
        idle.taken(0);
        let followed = (0..VAIN).filter(|_| idle.follows()).count();
        assert_eq!(followed as u32, VAIN - 1, "now and then the wait looks at its patience");
        assert_eq!(idle.round(false).since, since);
        idle.taken(1);
        assert!(idle.round(false).since > since);
    }

    #[test]
    fn a_thread_with_one_cpu_is_at_home_there() {
        std::thread::spawn(|| {
            let allowed = rustix::thread::sched_getaffinity(None).unwrap();
            let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|&c| allowed.is_set(c)).unwrap();
            let mut one = rustix::thread::CpuSet::new();
            one.set(cpu);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            assert_eq!(home(), cpu as u32 + 1);
        })
        .join()
        .unwrap();
    }
}
