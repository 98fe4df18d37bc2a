//! Work on all CPUs, as far as the system gives threads: where it gives none, the caller's thread does it all.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls `job` with each number below `jobs`, on at most `most` threads.
pub fn each(jobs: usize, most: usize, job: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                n if n < jobs => job(n),
                _ => return,
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(jobs).min(most);
    thread::scope(|scope| {
        // A limit on threads or memory leaves fewer.
        for _ in 1..workers {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}
