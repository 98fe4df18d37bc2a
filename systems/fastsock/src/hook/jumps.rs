//! Jumps (`longjmp` and its kin): by one a handler of a signal may be left and never come back.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void};

use super::signals;
use crate::real;

/// Where the C library keeps the place of the stack in a `jmp_buf` (`JB_RSP` of glibc's sysdeps/x86_64/jmpbuf-offsets.h), and by how many bits it turns it
/// (`PTR_MANGLE` of its pointer_guard.h). Believed only where a place of this thread's own is found there.
const STACK: usize = 6;
const TURNED: u32 = 17;
/// More words than a `jmp_buf` has.
const WORDS: usize = 64;
/// How far from a variable of a function's own the function's stack may end.
const NEAR: usize = 4096;

static KNOWN: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn _setjmp(place: *mut c_void) -> c_int;
}

/// Looks where the C library keeps that. Called when loaded.
pub fn begin() {
    let mut own = [0_u64; WORDS];
    // SAFETY: room enough. Nobody jumps there, so it comes back once.
    unsafe { _setjmp(own.as_mut_ptr().cast()) };
    let near = own.as_ptr().addr().checked_sub(stack(own[STACK]));
    KNOWN.store(near.is_some_and(|near| near < NEAR), Ordering::Relaxed);
}

/// What such a word stands for.
fn stack(word: u64) -> usize {
    let guard: u64;
    // SAFETY: reads a word of the thread's own block, where the C library keeps it (`pointer_guard` of its tcb-offsets.h).
    unsafe { asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, readonly, preserves_flags)) };
    (word.rotate_right(TURNED) ^ guard) as usize
}

/// Handlers that the jump to this place leaves are left.
unsafe fn leave(place: *const c_void) {
    if signals::within() && KNOWN.load(Ordering::Relaxed) {
        // SAFETY: the caller's promise: a place that is jumped to.
        signals::jump(stack(unsafe { place.cast::<u64>().add(STACK).read_unaligned() }));
    }
}

/// Functions of these names.
macro_rules! jumps {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(place: *mut c_void, value: c_int) -> ! {
                // SAFETY: the caller's promise.
                unsafe {
                    leave(place);
                    real::$name(place, value)
                }
            }
        )*
    };
}

jumps! { longjmp _longjmp siglongjmp __longjmp_chk }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_stack_is_found_in_a_jmp_buf() {
        begin();
        assert!(KNOWN.load(Ordering::Relaxed), "a C library that keeps it as glibc does");
    }
}
