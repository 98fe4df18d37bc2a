//! How a side waits: it spins, yields or sleeps, and from time to time asks whether waiting still makes sense.

use std::time::{Duration, Instant};

use crate::arena::Side;
use crate::guard::{Guard, Scene};
use crate::options::Wait;
use crate::sync::Ordering;

/// Looks between two looks at the clock: some hundred nanoseconds, so that a spin does not end late.
const POLLS: u32 = 64;
/// How long a wait that never sleeps looks before it yields. With a CPU for each side a yield costs a fraction of a microsecond;
/// where the scheduler has put both sides on one CPU, it is what lets the other one run.
const YIELD: Duration = Duration::from_micros(20);
/// How often a wait that never sleeps asks whether the peer still is there.
const CARE: Duration = Duration::from_millis(1);
/// The sleeps after which the question is asked again: the first, and the longest.
const SLEEP: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(80));

/// What a side keeps from wait to wait.
#[derive(Debug, Clone, Copy)]
pub struct Waiter {
    wait: Wait,
    guard: Guard,
    epoch: Instant,
}

/// A wait under way.
#[derive(Debug)]
pub struct Turn {
    cpu: u32,
    /// How long it may still spin: the first time only, unless it never sleeps.
    budget: Option<Duration>,
    never_sleeps: bool,
    care: bool,
    cared: Option<Instant>,
    limit: Duration,
}

/// The CPU on which this thread runs, plus one; 0 if the system does not say.
fn cpu() -> u32 {
    // SAFETY: takes nothing, touches nothing.
    u32::try_from(unsafe { libc::sched_getcpu() }).map_or(0, |cpu| cpu + 1)
}

impl Waiter {
    pub fn new(wait: Wait) -> Self {
        Self { wait, guard: Guard::default(), epoch: Instant::now() }
    }

    /// How.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// A wait begins. Publishes on which CPU.
    pub fn begin(&mut self, mine: &Side, peers: &Side, peer_waits: bool) -> Turn {
        let cpu = cpu();
        if mine.cpu.load(Ordering::Relaxed) != cpu {
            mine.cpu.store(cpu, Ordering::Relaxed);
        }
        let budget = match self.wait {
            Wait::Sleep => None,
            Wait::Spin => Some(YIELD),
            Wait::Guarded(budget) => {
                let same_cpu = cpu != 0 && peers.cpu.load(Ordering::Relaxed) == cpu;
                let scene = Scene { now: self.epoch.elapsed(), same_cpu, peer_waits };
                self.guard.may_spin(scene).then_some(budget)
            }
        };
        let never_sleeps = self.wait == Wait::Spin;
        Turn { cpu, budget, never_sleeps, care: false, cared: None, limit: SLEEP.0 }
    }
}

impl Turn {
    /// Looks until there is news (true), or as long as it may.
    #[inline(always)]
    pub fn spin(
        &mut self,
        waiter: &mut Waiter,
        peers: &Side,
        until: Option<Instant>,
        mut news: impl FnMut() -> bool,
    ) -> bool {
        let Some(budget) = self.budget else { return news() };
        // The usual spin ends before the clock is ever read.
        for _ in 0..POLLS {
            if news() {
                waiter.guard.paid();
                return true;
            }
            std::hint::spin_loop();
        }
        let begun = Instant::now();
        let mut now = begun;
        loop {
            for _ in 0..POLLS {
                if news() {
                    waiter.guard.paid();
                    return true;
                }
                std::hint::spin_loop();
            }
            let before = now;
            now = Instant::now();
            let over = now.duration_since(begun) >= budget || until.is_some_and(|until| now >= until);
            let same_cpu = self.cpu != 0 && peers.cpu.load(Ordering::Relaxed) == self.cpu;
            if self.never_sleeps {
                if over || same_cpu {
                    rustix::thread::sched_yield();
                    self.care = now.duration_since(*self.cared.get_or_insert(now)) >= CARE;
                    if self.care {
                        self.cared = Some(now);
                    }
                    return news();
                }
                continue;
            }
            let lost = waiter.guard.jumped(before.duration_since(waiter.epoch), now.duration_since(waiter.epoch));
            if over || lost || same_cpu {
                waiter.guard.failed(now.duration_since(waiter.epoch));
                self.budget = None;
                return news();
            }
        }
    }

    /// Whether it is time to ask after the peer.
    pub fn care(&mut self) -> bool {
        std::mem::take(&mut self.care)
    }

    /// How long to sleep now, if at all.
    pub fn sleep(&mut self, until: Option<Instant>) -> Option<Duration> {
        if self.never_sleeps {
            return None;
        }
        let limit = self.limit;
        self.limit = (limit * 2).min(SLEEP.1);
        self.care = true;
        Some(until.map_or(limit, |until| limit.min(until.saturating_duration_since(Instant::now()))))
    }
}
