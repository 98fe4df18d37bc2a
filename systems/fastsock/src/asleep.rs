//! Whether a thread waits for a lock: for tests in which one must. By what it waits in, not by how long something took.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::real;

/// The calling thread's number.
pub fn number() -> i64 {
    // SAFETY: asks for a number.
    unsafe { real::by_number()(libc::SYS_gettid) }
}

/// Waits until a thread of this process waits for this word (futex(2)), or is past that (`over`). False if the system does not tell.
pub fn until_waits(thread: i64, word: usize, over: &AtomicBool) -> bool {
    while !over.load(Ordering::SeqCst) {
        let Ok(call) = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")) else {
            println!("skipped: this system does not tell what a thread waits for (/proc/self/task/{thread}/syscall)");
            return false;
        };
        let mut words = call.split_whitespace();
        let futex = words.next() == Some(&libc::SYS_futex.to_string());
        if futex && words.next() == Some(&format!("{word:#x}")) {
            break;
        }
        std::thread::yield_now();
    }
    true
}
