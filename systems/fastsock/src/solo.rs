//! Whether this process has one thread, by the C library's word: then nothing of its own has to be kept from other threads.
//!
//! A locked instruction costs some 5 ns here, and waits until all that this CPU has written has reached memory that the peer's CPU holds. A call on a fast
//! connection of a program with one thread does without. What such a program still has is signal handlers, which run between any two instructions, so
//! changes that must be whole are single instructions.

use std::arch::asm;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

/// What is believed until the C library was asked, and of one that does not tell (older than 2.32).
static UNKNOWN: AtomicU8 = AtomicU8::new(0);
static WORD: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// Looks where the C library tells. Called when loaded.
pub fn begin() {
    // SAFETY: a name that ends with 0.
    let word = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    if !word.is_null() {
        WORD.store(word.cast(), Ordering::Relaxed);
    }
}

/// There may be others of which the C library knows nothing (`guests`): it is not believed until [`believe`].
pub fn doubt() {
    WORD.store((&raw const UNKNOWN).cast_mut(), Ordering::SeqCst);
}

/// It is believed again.
pub fn believe() {
    begin();
}

/// Whether the calling thread is the only one.
#[inline(always)]
pub fn alone() -> bool {
    // SAFETY: a byte of the C library's (glibc's sys/single_threaded.h), or this module's own; both live as long as the process.
    unsafe { (*WORD.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

/// Adds one, unless the word is 0; whether it did. Whole towards other threads if there are any.
#[inline(always)]
pub fn add_unless_zero(word: &AtomicU32) -> bool {
    let mut now = word.load(Ordering::Acquire);
    while now != 0 {
        if !alone() {
            match word.compare_exchange_weak(now, now + 1, Ordering::SeqCst, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
            continue;
        }
        let mut found = now;
        // SAFETY: compares and exchanges one aligned word that `word` lends; no other thread is there to see it.
        unsafe {
            asm!("cmpxchg dword ptr [{word}], {new:e}", word = in(reg) word.as_ptr(), new = in(reg) now + 1,
                inout("eax") found, options(nostack));
        }
        if found == now {
            return true;
        }
        now = found;
    }
    false
}

/// Takes one away; whether that leaves 0. Whole towards other threads if there are any.
#[inline(always)]
pub fn take_one(word: &AtomicU32) -> bool {
    if !alone() {
        return word.fetch_sub(1, Ordering::AcqRel) == 1;
    }
    let zero: u8;
    // SAFETY: changes one aligned word that `word` lends; no other thread is there to see it.
    unsafe {
        asm!("sub dword ptr [{word}], 1", "setz {zero}", word = in(reg) word.as_ptr(), zero = out(reg_byte) zero, options(nostack));
    }
    zero != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_right_with_one_thread_and_with_two() {
        let one = AtomicU8::new(1);
        for word in [(&raw const one).cast_mut(), (&raw const UNKNOWN).cast_mut()] {
            WORD.store(word, Ordering::Relaxed);
            let count = AtomicU32::new(1);
            assert!(add_unless_zero(&count) && count.load(Ordering::Relaxed) == 2);
            assert!(!take_one(&count) && take_one(&count));
            assert!(!add_unless_zero(&count) && count.load(Ordering::Relaxed) == 0);
        }
        WORD.store((&raw const UNKNOWN).cast_mut(), Ordering::Relaxed);
    }
}
