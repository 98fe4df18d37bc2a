//! What the calling thread has used of the CPU so far, as the kernel counts it.

use rustix::time::{ClockId, clock_getres, clock_gettime};

use crate::counters;

/// The thread's counters at a moment. Times are nanoseconds.
///
/// The kernel counts the CPU time of a thread in nanoseconds, and on most kernels finds out how it divides into user and system time by
/// looking at each tick ([`tick`]): single trials tell nothing of that division, sums over many ticks do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The moment, on the monotonic clock.
    pub at: u64,
    /// CPU time.
    pub cpu: u64,
    /// Of it, outside the kernel.
    pub user: u64,
    /// Of it, in the kernel.
    pub system: u64,
    /// Times that it gave up its CPU to wait.
    pub voluntary: u64,
    /// Times that its CPU was taken from it.
    pub involuntary: u64,
    /// CPU cycles since the thread first counted them; 0 where the kernel does not let it ([`counters`]).
    pub cycles: u64,
    /// Instructions, likewise.
    pub instructions: u64,
}

impl Spent {
    /// Reads the counters before something that is to be measured: what reading costs falls before it, but for the last clock's.
    pub fn before() -> Self {
        let usage = usage().counted();
        let cpu = now(ClockId::ThreadCPUTime);
        Self { at: now(ClockId::Monotonic), cpu, ..usage }
    }

    /// Reads them after it: in the other order, so that what reading costs falls after it.
    pub fn after() -> Self {
        let at = now(ClockId::Monotonic);
        let cpu = now(ClockId::ThreadCPUTime);
        Self { at, cpu, ..usage().counted() }
    }

    fn counted(self) -> Self {
        let counters::Counts { cycles, instructions } = counters::read();
        Self { cycles, instructions, ..self }
    }
}

/// The time between two ticks of the kernel, nanoseconds.
pub fn tick() -> u64 {
    nanoseconds(clock_getres(ClockId::MonotonicCoarse))
}

fn now(clock: ClockId) -> u64 {
    nanoseconds(clock_gettime(clock))
}

fn nanoseconds(t: rustix::time::Timespec) -> u64 {
    (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec as u64)
}

/// User and system time and switches of the thread; all 0 where the kernel does not tell them.
fn usage() -> Spent {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer leads to memory of the type that the call fills, and all zeros are a valid value of it where it fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time =
        |t: libc::timeval| (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_usec as u64 * 1000);
    Spent {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        voluntary: usage.ru_nvcsw as u64,
        involuntary: usage.ru_nivcsw as u64,
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// CPU time and no wall-clock time is asked for: a busy machine makes this test longer and not different.
    #[test]
    fn a_thread_that_works_has_used_cpu_time_and_one_that_sleeps_has_not() {
        let (begin, mut end) = (Spent::before(), Spent::after());
        while end.cpu - begin.cpu < 50 * MILLISECOND {
            end = Spent::after();
        }
        assert!(end.at - begin.at >= 49 * MILLISECOND, "{begin:?} {end:?}");
        // The division lags behind by ticks.
        let divided = (end.user + end.system) - (begin.user + begin.system);
        assert!(divided + 2 * tick() >= 50 * MILLISECOND, "{begin:?} {end:?}");
        let begin = Spent::before();
        std::thread::sleep(Duration::from_millis(50));
        let end = Spent::after();
        assert!(end.cpu - begin.cpu < 20 * MILLISECOND && end.at - begin.at >= 50 * MILLISECOND, "{begin:?} {end:?}");
        assert!(end.voluntary > begin.voluntary, "who sleeps gives up the CPU");
    }

    #[test]
    fn other_threads_do_not_count() {
        let begin = Spent::before();
        std::thread::spawn(|| {
            let begin = Spent::before();
            while Spent::after().cpu - begin.cpu < 50 * MILLISECOND {}
        })
        .join()
        .unwrap();
        assert!(Spent::after().cpu - begin.cpu < 20 * MILLISECOND);
    }

    #[test]
    fn a_tick_is_as_long_as_a_kernel_can_have_it() {
        assert!((1..=20 * MILLISECOND).contains(&tick()), "{}", tick());
    }
}
