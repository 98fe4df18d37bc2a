//! Calls into a module that do not come back: which they are, and the end of a process that is in one.

use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};

/// How often a process is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Time beyond the patience in which a module's call is to have come back: its own waiting ends first, and its words tell more.
const SLACK: Duration = Duration::from_millis(1500);
/// Slowest that a message may move within one call of a module while its process uses the CPU, bytes a second: slower than any path that a
/// person waits for.
const SLOWEST: u64 = 8 << 10;

/// CPU time that this process has used, but for this thread.
pub(crate) fn others_cpu() -> Duration {
    let of = |clock| Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default();
    of(rustix::time::ClockId::ProcessCPUTime).saturating_sub(of(rustix::time::ClockId::ThreadCPUTime))
}

/// CPU time of a thread that wakes up to look at what came, at least; between the readings of two clocks lies less.
const WAKES: Duration = Duration::from_micros(5);

/// The calls into modules that were under way at each look.
///
/// Where both sides of a trial wait within a module that heeds no patience, nobody says a word, and no time is agreed on after which that is
/// wrong: a trial may honestly last for hours (soaks, any `--trials`, a slow path). So not trials are timed but single calls, of which the
/// interface says that they give up where nothing moves for as long as the patience. A call that goes on for longer is honest only while a
/// message moves within it. Where its process uses no CPU at all nothing does; where it does, it has the time in which the message would
/// have moved at [`SLOWEST`]. A process that is stopped makes no looks, and its calls age by looks as well as by the clock.
#[derive(Default)]
pub(crate) struct Calls {
    seen: Vec<Seen>,
    cpu: Duration,
}

/// A call, as it was seen.
struct Seen {
    call: (usize, u64),
    /// Since it was seen first.
    all: Age,
    /// Since the process was last seen to use the CPU.
    still: Age,
}

/// How long ago, by the clock and by looks.
struct Age(Instant, u32);

impl Age {
    fn new() -> Self {
        Self(Instant::now(), 0)
    }

    fn over(&self, limit: Duration) -> bool {
        self.0.elapsed() >= limit && self.1 >= ticks(limit)
    }
}

impl Calls {
    /// Looks at the calls that are under way, in a process that has used so much of the CPU: one that hangs, in words.
    pub(crate) fn look(
        &mut self,
        pending: &[transport::module::Pending],
        cpu: Duration,
        patience: Duration,
    ) -> Option<String> {
        let moved = cpu.saturating_sub(self.cpu) > WAKES;
        if moved {
            self.cpu = cpu;
        }
        self.seen.retain(|seen| pending.iter().any(|p| p.call == seen.call));
        for p in pending {
            let Some(seen) = self.seen.iter_mut().find(|seen| seen.call == p.call) else {
                self.seen.push(Seen { call: p.call, all: Age::new(), still: Age::new() });
                continue;
            };
            seen.all.1 += 1;
            seen.still = if moved { Age::new() } else { Age(seen.still.0, seen.still.1 + 1) };
            let limit = patience.saturating_add(SLACK).saturating_add(p.wait);
            let moving = Duration::from_secs_f64(p.bytes as f64 / SLOWEST as f64);
            if seen.still.over(limit) || seen.all.over(limit.saturating_add(moving)) {
                let seconds = seen.all.0.elapsed().as_secs_f64();
                return Some(format!("the module's {} has not come back for {seconds:.1} s", p.what));
            }
        }
        None
    }
}

/// So many ticks, at least one, and few enough to count on from there.
pub(crate) fn ticks(time: Duration) -> u32 {
    u32::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u32::MAX).clamp(1, u32::MAX / 2)
}

/// For a process that is there to call a module, and that another waits for: where a call does not come back, it says so and ends. `patience` is
/// more than it gives any call.
pub fn ends_where_a_call_hangs(patience: Duration) {
    std::thread::spawn(move || {
        let mut calls = Calls::default();
        loop {
            std::thread::sleep(TICK);
            if let Some(words) = calls.look(&transport::module::pending(), others_cpu(), patience) {
                eprintln!("pipegauge: {words}: it hangs");
                // What the module would do at an orderly end may wait for what hangs.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_call_that_neither_gives_up_nor_moves_hangs_and_a_slow_one_does_not() {
        let call = |number, bytes| transport::module::Pending {
            call: (1, number),
            what: "recv()",
            bytes,
            wait: Duration::ZERO,
            ends: false,
        };
        // Ages a call by the clock as well.
        let looks = |pending: &dyn Fn(u32) -> Vec<transport::module::Pending>,
                     cpu: &dyn Fn(u32) -> u64,
                     seconds: u32| {
            let mut calls = Calls::default();
            (0..seconds * 10).find_map(|n| {
                for seen in &mut calls.seen {
                    seen.all.0 = seen.all.0.checked_sub(TICK).unwrap();
                    seen.still.0 = seen.still.0.checked_sub(TICK).unwrap();
                }
                calls.look(&pending(n), Duration::from_millis(cpu(n)), Duration::from_secs(2)).map(|words| (n, words))
            })
        };
        let (after, words) = looks(&|_| vec![call(1, 64)], &|_| 7, 60).expect("nothing moves");
        assert!((30..50).contains(&after) && words.contains("recv() has not come back for"), "{after}: {words}");
        let (after, _) = looks(&|_| vec![call(1, 64)], &|n| 5 * u64::from(n), 60).expect("it spins");
        assert!((30..50).contains(&after), "{after}");
        // 1 MiB at 16 KiB/s.
        assert!(
            looks(&|n| vec![call(u64::from(n / 640), 1 << 20)], &|n| 5 * u64::from(n), 200).is_none(),
            "a slow message moves"
        );
        assert!(looks(&|n| vec![call(u64::from(n / 20), 64)], &|_| 7, 600).is_none(), "calls come back, if rarely");
        let stopped = looks(&|_| Vec::new(), &|_| 7, 60);
        assert!(stopped.is_none(), "no call");
    }
}
