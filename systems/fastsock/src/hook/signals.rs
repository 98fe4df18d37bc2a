//! Whether a signal handler ran while a call waited.
//!
//! The kernel's `recv` ends with `EINTR` when a handler ran that does not restart calls, and with a time limit after any. A wait of this
//! library is made of several sleeps, so a handler may run between two, and a sleep with a limit ends with `EINTR` whatever the handler's
//! flags are. So handlers are entered through a function that counts, for the thread on which they run.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use libc::{c_int, c_void, sighandler_t, siginfo_t, ucontext_t};

use super::within;
use crate::real;
use crate::section::{self, Handler};

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

thread_local! {
    /// Handlers that this thread is in.
    static WITHIN: within::Handlers = const { within::Handlers::new() };
}

/// Whether this thread may be in a handler.
pub fn within() -> bool {
    WITHIN.with(within::Handlers::any)
}

/// This thread is about to go on with its stack at this place.
pub fn jump(at: usize) {
    WITHIN.with(|handlers| handlers.jump(at));
}

/// That this thread is in a handler, until it is dropped: also where that ends by an exception.
struct Entered(usize);

impl Entered {
    /// # Safety
    /// The context is what the handler was given.
    unsafe fn begin(context: *const c_void) -> Self {
        // SAFETY: the caller's promise.
        let own = unsafe { (*context.cast::<ucontext_t>()).uc_stack };
        let from = own.ss_sp.addr();
        let handler = within::Handler::new(context.addr(), from..from.saturating_add(own.ss_size));
        Self(WITHIN.with(|handlers| handlers.begin(handler)))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        WITHIN.with(|handlers| handlers.end(self.0));
    }
}

/// How many ran so far.
pub fn ran() -> Ran {
    RAN.get()
}

extern "C-unwind" fn enter(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(index) = usize::try_from(signal).ok().filter(|&index| index < SIGNALS) else { return };
    // SAFETY: what the system gave, as it was asked to.
    if unsafe { section::put_off(signal, info, context, enter) } {
        return;
    }
    let (ran, flags) = (RAN.get(), FLAGS[index].load(Ordering::Relaxed));
    let interrupts = flags & libc::SA_RESTART == 0;
    RAN.set(Ran { any: ran.any.wrapping_add(1), interrupting: ran.interrupting.wrapping_add(u32::from(interrupts)) });
    let handler = HANDLERS[index].load(Ordering::Acquire);
    if flags & libc::SA_RESETHAND != 0 {
        // SAFETY: an action of integers. The system does so before the handler begins; asked to, it would have when this one was put off.
        unsafe {
            let none: libc::sigaction = std::mem::zeroed();
            real::sigaction(signal, &raw const none, std::ptr::null_mut());
        }
    }
    if handler > libc::SIG_IGN {
        // SAFETY: the program's handler. One that takes the signal's number alone is called in the same way (x86-64).
        let handler: Handler = unsafe { std::mem::transmute(handler) };
        let depths = section::leave();
        // SAFETY: what the system gave, or what was made like it (`section`).
        let entered = unsafe { Entered::begin(context) };
        handler(signal, info, context);
        drop(entered);
        section::enter(depths);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
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
            counted.sa_flags = counted.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
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
            (*old).sa_flags |= before.1 & libc::SA_RESETHAND;
            if before.1 & libc::SA_SIGINFO == 0 {
                (*old).sa_flags &= !libc::SA_SIGINFO;
            }
        }
    }
    done
}

/// Sets a handler; what was set before.
fn set(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    if handler == libc::SIG_ERR {
        real::fail(libc::EINVAL);
        return libc::SIG_ERR;
    }
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

/// Signals whose handlers `signal` sets so that they interrupt calls, from now on (`siginterrupt`).
static INTERRUPT: [AtomicBool; SIGNALS] = [const { AtomicBool::new(false) }; SIGNALS];

fn interrupts(signal: c_int) -> Option<&'static AtomicBool> {
    INTERRUPT.get(usize::try_from(signal).ok()?)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: as above.
    unsafe { sigaction(signal, new, old) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    let interrupts = interrupts(signal).is_some_and(|interrupts| interrupts.load(Ordering::Relaxed));
    set(signal, handler, if interrupts { 0 } else { libc::SA_RESTART })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn bsd_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: as above.
    unsafe { signal(number, handler) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ssignal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: as above.
    unsafe { signal(number, handler) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    set(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: as above.
    unsafe { __sysv_signal(signal, handler) }
}

/// What `sigset` takes and returns for a signal that is blocked (bits/signum-generic.h).
const SIG_HOLD: sighandler_t = 2;

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigset(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: sets of signals of this call's own; the handler is the program's.
    unsafe {
        let (mut one, mut blocked): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        if libc::sigaddset(&raw mut one, signal) != 0 {
            return libc::SIG_ERR;
        }
        let holds = handler == SIG_HOLD;
        new.sa_sigaction = handler;
        let how = if holds { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
        // The handler is there before a signal that was blocked comes.
        if sigaction(signal, if holds { std::ptr::null() } else { &raw const new }, &raw mut old) != 0
            || libc::pthread_sigmask(how, &raw const one, &raw mut blocked) != 0
        {
            return libc::SIG_ERR;
        }
        if libc::sigismember(&raw const blocked, signal) == 1 { SIG_HOLD } else { old.sa_sigaction }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
    // SAFETY: integers only.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if sigaction(signal, std::ptr::null(), &raw mut now) != 0 {
            return -1;
        }
        if let Some(word) = self::interrupts(signal) {
            word.store(interrupts != 0, Ordering::Relaxed);
        }
        now.sa_flags = if interrupts != 0 { now.sa_flags & !libc::SA_RESTART } else { now.sa_flags | libc::SA_RESTART };
        sigaction(signal, &raw const now, std::ptr::null_mut())
    }
}
