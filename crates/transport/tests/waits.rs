//! How a link waits, as the system sees it: a thread that blocks sleeps, and one that spins takes its CPU.

mod pairs;

use std::time::{Duration, Instant};

use pairs::{name, pair, patience, variants};
use transport::{Link, Wait};

/// State and CPU time (clock ticks) of a thread of this process.
fn stat(thread: i32) -> (char, u64) {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap();
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().unwrap();
    (fields[0].chars().next().unwrap(), ticks(11) + ticks(12))
}

/// Far above what is needed where others hold the CPUs: it only ends a test that would go on for ever.
const LONG: Duration = Duration::from_secs(120);
/// CPU time that shows a spin, clock ticks: a sleeper that wakes ten times a second takes none that is counted.
const SPUN: u64 = 20;

#[test]
fn who_blocks_sleeps_and_who_spins_does_not() {
    for (kind, settings) in variants() {
        let (patience, stop) = patience(600.0);
        let (mut near, far) = pair(kind, &settings, &patience);
        // What took effect: where nothing is asked for it is the transport's own.
        let spins = near.effective().wait == Some(Wait::Spin);
        assert!(
            settings.set.wait().is_none_or(|asked| near.effective().wait == Some(asked)),
            "{}",
            name(kind, &settings)
        );
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::scope(|s| {
            s.spawn(move || {
                tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
                let _ = near.recv(&mut [0; 64]);
            });
            let (thread, began) = (told.recv().unwrap(), Instant::now());
            let what = name(kind, &settings);
            let (mut asleep, mut ticks) = (0, 0);
            // A sleeper is found asleep again and again; who spins is found with CPU time instead.
            while if spins { ticks < SPUN } else { asleep < 20 } {
                let (state, used) = stat(thread);
                ticks = used;
                asleep += u32::from(state == 'S');
                if began.elapsed() > LONG {
                    break;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            // First: a failed assertion would wait for the thread.
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(ticks >= SPUN, spins, "{what}: {asleep} times asleep, {ticks} ticks of CPU time");
        });
        drop(far);
    }
}
