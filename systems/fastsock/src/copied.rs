//! A thread in a new process that `clone` made as a fork does. The C library knows nothing of that, and would go on with the number of the thread in the parent,
//! whose locks it would then take for its own: a lock that both processes use (`page`) tells its holder by that number, and is given back by the kernel, should a
//! holder die, from a list that each thread has to name.

use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_void;

use crate::real;

/// How far before its list of locks the C library keeps a thread's number (`struct pthread` of glibc's nptl/descr.h: `tid`, a word that is not used, `robust_prev`,
/// `robust_head`). Believed only where the number is found there.
const BEFORE: usize = 16;

/// Of the calling thread.
#[derive(Clone, Copy)]
pub struct Copied {
    list: *mut c_void,
    len: usize,
}

fn number() -> i32 {
    // SAFETY: asks for a number.
    unsafe { real::by_number()(libc::SYS_gettid) as i32 }
}

impl Copied {
    /// None where the C library keeps its threads in another way.
    pub fn of_this_thread() -> Option<Self> {
        let (mut list, mut len) = (std::ptr::null_mut::<c_void>(), 0_usize);
        // SAFETY: room for both answers.
        let asked = unsafe { real::by_number()(libc::SYS_get_robust_list, 0, &raw mut list, &raw mut len) };
        let own = Self { list, len };
        (asked == 0 && !list.is_null() && own.word().load(Ordering::Relaxed) == number()).then_some(own)
    }

    fn word(&self) -> &AtomicI32 {
        // SAFETY: within the thread's own block, of which the list lies in the midst; a word of this kind, aligned.
        unsafe { &*self.list.byte_sub(BEFORE).cast::<AtomicI32>() }
    }

    /// In the new process, whose only thread is a copy of this one.
    pub fn renew(&self) {
        self.word().store(number(), Ordering::Relaxed);
        // SAFETY: the list is the thread's own, and empty: no lock is held over a `clone`.
        unsafe { real::by_number()(libc::SYS_set_robust_list, self.list, self.len) };
    }
}
