//! Whether a signal handler ran while a call waited.
//!
//! The kernel's `recv` ends with `EINTR` when a handler ran that does not restart calls, and with a time limit after any. A wait of this
//! library is made of several sleeps, so a handler may run between two, and a sleep with a limit ends with `EINTR` whatever the handler's
//! flags are. So handlers are entered through a function that counts, for the thread on which they run.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use libc::{c_int, c_void, sighandler_t, siginfo_t};

use crate::real;

/// Numbers of signals end below this.
const SIGNALS: usize = 65;

/// The program's handlers, and their flags.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
static FLAGS: [AtomicI32; SIGNALS] = [const { AtomicI32::new(0) }; SIGNALS];

/// Handlers that ran on this thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// All.
    pub any: u32,
    /// Those that do not restart calls.
    pub interrupting: u32,
}

thread_local! {
    static RAN: Cell<Ran> = const { Cell::new(Ran { any: 0, interrupting: 0 }) };
}

/// How many ran so far.
pub fn ran() -> Ran {
    RAN.get()
}

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

extern "C" fn enter(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(index) = usize::try_from(signal).ok().filter(|&index| index < SIGNALS) else { return };
    let ran = RAN.get();
    let interrupts = FLAGS[index].load(Ordering::Relaxed) & libc::SA_RESTART == 0;
    RAN.set(Ran { any: ran.any.wrapping_add(1), interrupting: ran.interrupting.wrapping_add(u32::from(interrupts)) });
    let handler = HANDLERS[index].load(Ordering::Acquire);
    if handler > libc::SIG_IGN {
        // SAFETY: the program's handler. One that takes the signal's number alone is called in the same way (x86-64).
        let handler: Handler = unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    let Some(index) = usize::try_from(signal).ok().filter(|&index| index < SIGNALS) else {
        // SAFETY: the caller's promise, here and in what follows.
        return unsafe { real::sigaction(signal, new, old) };
    };
    let before = (HANDLERS[index].load(Ordering::Acquire), FLAGS[index].load(Ordering::Relaxed));
    // SAFETY: as above.
    let done = unsafe {
        let handler = if new.is_null() { 0 } else { (*new).sa_sigaction };
        if handler > libc::SIG_IGN {
            let mut counted = *new;
            counted.sa_sigaction = enter as *const () as usize;
            counted.sa_flags |= libc::SA_SIGINFO;
            HANDLERS[index].store(handler, Ordering::Release);
            FLAGS[index].store((*new).sa_flags, Ordering::Relaxed);
            let done = real::sigaction(signal, &raw const counted, old);
            if done != 0 {
                HANDLERS[index].store(before.0, Ordering::Release);
                FLAGS[index].store(before.1, Ordering::Relaxed);
            }
            done
        } else {
            real::sigaction(signal, new, old)
        }
    };
    // SAFETY: as above.
    unsafe {
        if done == 0 && !old.is_null() && (*old).sa_sigaction == enter as *const () as usize {
            (*old).sa_sigaction = before.0;
            if before.1 & libc::SA_SIGINFO == 0 {
                (*old).sa_flags &= !libc::SA_SIGINFO;
            }
        }
    }
    done
}

/// Sets a handler; what was set before.
fn set(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    // SAFETY: integers only; the handler is the program's.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        if flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&raw mut new.sa_mask, signal);
        }
        if sigaction(signal, &raw const new, &raw mut old) == 0 { old.sa_sigaction } else { libc::SIG_ERR }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    set(signal, handler, libc::SA_RESTART)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    set(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
    // SAFETY: integers only.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if sigaction(signal, std::ptr::null(), &raw mut now) != 0 {
            return -1;
        }
        now.sa_flags = if interrupts != 0 { now.sa_flags & !libc::SA_RESTART } else { now.sa_flags | libc::SA_RESTART };
        sigaction(signal, &raw const now, std::ptr::null_mut())
    }
}
