//! Cycles and instructions of the calling thread, as the processor counts them (`perf_event_open(2)`).

use std::cell::RefCell;
use std::io;

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};

/// Two counts of a thread; both 0 where the kernel does not let it count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// CPU cycles, in the kernel and outside of it.
    pub cycles: u64,
    /// Instructions that were completed, likewise.
    pub instructions: u64,
}

/// What a thread counts with, once it was opened.
type Opened = io::Result<[Counter; 2]>;

thread_local! {
    /// Opened when a thread first counts: each trial that it runs reads the same two.
    static OWN: RefCell<Option<Opened>> = const { RefCell::new(None) };
}

const EVENTS: [Event; 2] = [Event::Hardware(Hardware::CPU_CYCLES), Event::Hardware(Hardware::INSTRUCTIONS)];

/// What the calling thread has counted since it first asked.
pub fn read() -> Counts {
    OWN.with_borrow_mut(|own| match own.get_or_insert_with(|| open(EVENTS)) {
        Ok(both) => counts(both).unwrap_or_default(),
        Err(_) => Counts::default(),
    })
}

/// Why this thread can't count.
///
/// # Errors
///
/// What the kernel answered: no such file where the processor, or the hypervisor, has no such counter; no permission where
/// `/proc/sys/kernel/perf_event_paranoid` keeps the kernel's part from this user.
pub fn available() -> io::Result<()> {
    open(EVENTS).map(drop)
}

/// Counts that leave out the kernel would say nothing of most paths, so that a user who may not see it counts nothing.
fn open(events: [Event; 2]) -> Opened {
    let one = |event: Event| -> io::Result<Counter> {
        let mut builder = Builder::new().kind(event);
        builder.include_kernel();
        let mut counter = builder.build()?;
        counter.enable()?;
        Ok(counter)
    };
    let [first, second] = events;
    Ok([one(first)?, one(second)?])
}

fn counts([cycles, instructions]: &mut [Counter; 2]) -> Option<Counts> {
    Some(Counts { cycles: count(cycles)?, instructions: count(instructions)? })
}

/// A counter that shared the processor's with others counted for a part of the time, for which the whole is worked out.
fn count(counter: &mut Counter) -> Option<u64> {
    let told = counter.read_count_and_time().ok()?;
    let whole = u128::from(told.count) * u128::from(told.time_enabled) / u128::from(told.time_running.max(1));
    u64::try_from(whole).ok()
}

#[cfg(test)]
mod tests {
    use perf_event::events::Software;

    use super::*;

    fn work(n: u64) -> u64 {
        (0..n).fold(1, |a, b| std::hint::black_box(a ^ b.wrapping_mul(a)))
    }

    /// The kernel's own clock counts as the processor's counters do, and is there where these are not.
    #[test]
    fn what_a_thread_does_is_counted_and_what_another_does_is_not() {
        let clock = [Event::Software(Software::TASK_CLOCK), Event::Software(Software::TASK_CLOCK)];
        let mut both = match open(clock) {
            Ok(both) => both,
            Err(why) => return println!("skipped: the kernel lets nobody count here: {why}"),
        };
        let first = counts(&mut both).unwrap();
        std::thread::spawn(|| work(50_000_000)).join().unwrap();
        let other = counts(&mut both).unwrap();
        let mut own = other;
        while own.cycles - other.cycles < 20_000_000 {
            work(100_000);
            own = counts(&mut both).unwrap();
        }
        assert!(own.instructions - other.instructions >= 19_000_000, "{other:?} {own:?}");
        assert!(other.cycles - first.cycles < 20_000_000, "another thread's time counts here: {first:?} {other:?}");
    }

    #[test]
    fn instructions_of_a_loop_are_counted_where_the_processor_counts() {
        if let Err(why) = available() {
            assert_eq!(read(), Counts::default(), "who can't count has counted nothing");
            return println!("skipped: no counters of the processor here: {why}");
        }
        let before = read();
        work(1_000_000);
        let after = read();
        assert!(after.instructions - before.instructions >= 1_000_000, "{before:?} {after:?}");
        assert!(after.cycles > before.cycles, "{before:?} {after:?}");
    }
}
