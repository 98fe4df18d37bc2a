//! Stretches that no signal handler of the program's runs amid: what a lock guards is whole again at their end.
//!
//! A handler may use the very connection whose call it interrupted, and it may leave by `siglongjmp`, after which the lock would be held for good.
//! Blocking signals takes two system calls. So a stretch only counts itself in a word of its thread's, and a handler that comes meanwhile, which
//! is entered through this library (`hook::signals`), is put off: the signal is noted, and all others are blocked in the mask that the thread gets
//! back when the handler returns. Several come at once where the system enters one handler before another has begun. At the end of the stretch each is
//! sent again to this thread with all that came with it, and the mask is as it was: the system runs the handlers anew, as if the signals had come a
//! moment later. Real-time signals keep the order in which they were sent, so one that was put off can't be sent again behind those that have come since: its
//! handler is run by this library, in the mask that the system gives it. Where it jumps out, those that are left are run at the end of the thread's next stretch.
//!
//! Faults (`SIGSEGV` and its kin) are not put off: the instruction would fault again. Their handler may jump out of the stretch. Handlers that were set by system calls of the program's own
//! are not seen.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use libc::{c_int, c_void, siginfo_t, ucontext_t};

use crate::{late, real, sandbox, solo};

/// What enters the program's handlers.
pub type Handler = extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// The mask of the kernel's (64 signals).
type Mask = u64;

/// Signals that stay as they are while others are blocked: faults, and the two that the C library keeps for itself (nptl's `internal-signals.h`).
const NEVER_BLOCKED: [c_int; 8] =
    [libc::SIGILL, libc::SIGTRAP, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, libc::SIGSYS, 32, 33];

/// The stretches of a thread.
struct Stretches {
    /// How many, one within the other.
    depth: Cell<u32>,
    /// How many signals were put off, and [`LEFT`]. A handler may be entered while another notes its own: each takes a place by one instruction.
    waits: AtomicUsize,
    /// They, and the mask that each found.
    signals: [UnsafeCell<MaybeUninit<(siginfo_t, Mask, Handler)>>; MOST],
    /// Those whose handlers this library is to run, in their order, and how many they are. Touched while all signals are blocked.
    left: [UnsafeCell<MaybeUninit<(siginfo_t, Handler)>>; 2 * MOST],
    count: Cell<usize>,
}

/// Most signals that are put off at once: only those that wait at one moment, as all are blocked afterwards.
const MOST: usize = 8;
/// In `waits`: there are signals in `left`.
const LEFT: usize = 1 << 16;
/// And: a thread of the library's own is to begin (`late`), which may be nowhere within.
const BEGINS: usize = 1 << 17;

impl Stretches {
    const fn new() -> Self {
        let signals = [const { UnsafeCell::new(MaybeUninit::uninit()) }; MOST];
        let left = [const { UnsafeCell::new(MaybeUninit::uninit()) }; 2 * MOST];
        Self { depth: Cell::new(0), waits: AtomicUsize::new(0), signals, left, count: Cell::new(0) }
    }

    /// One more whose handler is to be run. False if there is no place.
    fn leave(&self, info: siginfo_t, handler: Handler) -> bool {
        let at = self.count.get();
        let Some(place) = self.left.get(at) else { return false };
        // SAFETY: all signals are blocked.
        unsafe { (*place.get()).write((info, handler)) };
        self.count.set(at + 1);
        true
    }

    /// The first that is not blocked in this mask.
    fn next(&self, mask: Mask) -> Option<(siginfo_t, Handler)> {
        // SAFETY: all signals are blocked; as many are written.
        let of = |at: usize| unsafe { (*self.left[at].get()).assume_init_read() };
        let count = self.count.get();
        let at = (0..count).find(|&at| mask & 1 << (of(at).0.si_signo - 1) == 0)?;
        let found = of(at);
        for behind in at + 1..count {
            // SAFETY: as above.
            unsafe { (*self.left[behind - 1].get()).write(of(behind)) };
        }
        self.count.set(count - 1);
        Some(found)
    }
}

/// A process with one thread has a word that is reached without asking which thread this is.
struct One(Stretches);
// SAFETY: used only while there is one thread.
unsafe impl Sync for One {}

static ONE: One = One(Stretches::new());
thread_local! {
    static OWN: Stretches = const { Stretches::new() };
}

/// Those of this thread. A call: who has no need of it is not to ask which thread this is, which the compiler would do beforehand.
#[inline(never)]
fn of_thread() -> *const Stretches {
    OWN.with(std::ptr::from_ref)
}

/// A stretch, until it is dropped.
pub struct Stretch {
    /// Of this thread: it is neither sent to another nor outlives it.
    of: *const Stretches,
    /// Whether there is no other thread.
    pub alone: bool,
}

impl Stretch {
    #[inline(always)]
    pub fn begin() -> Self {
        let alone = solo::alone();
        let of = if alone { &raw const ONE.0 } else { of_thread() };
        // SAFETY: a static, or this thread's own.
        let depth = unsafe { &(*of).depth };
        depth.set(depth.get() + 1);
        compiler_fence(Ordering::SeqCst);
        Self { of, alone }
    }
}

impl Drop for Stretch {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: a static, or this thread's own.
        let of = unsafe { &*self.of };
        let left = of.depth.get() - 1;
        of.depth.set(left);
        compiler_fence(Ordering::SeqCst);
        if of.waits.load(Ordering::Relaxed) != 0 && left == 0 {
            send_again(of);
        }
    }
}

/// A stretch that no other thread cancels the thread in, until it is dropped. Calls that move bytes on a fast connection do without: all that they do
/// under a lock are calls that no cancellation ends (`real::whole`).
pub struct Uncancelled(Option<c_int>);

impl Uncancelled {
    pub fn begin() -> Self {
        let mut before = 0;
        // SAFETY: room for a state. With one thread there is nobody to cancel it.
        Self((!solo::alone() && unsafe { pthread_setcancelstate(DISABLE, &raw mut before) } == 0).then_some(before))
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            let mut was = 0;
            // SAFETY: as it was.
            unsafe { pthread_setcancelstate(before, &raw mut was) };
        }
    }
}

/// `PTHREAD_CANCEL_DISABLE` of pthread.h.
const DISABLE: c_int = 1;

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_testcancel();
}

/// A call that waits is about to, or to go on: here a thread that was cancelled ends.
#[inline(always)]
pub fn may_end() {
    if !solo::alone() {
        // SAFETY: takes nothing; what is on the stack is dropped.
        unsafe { pthread_testcancel() };
    }
}

/// [`late::begin`] runs at the end of this thread's outermost stretch.
pub fn begin_late() {
    let of = if solo::alone() { &raw const ONE.0 } else { of_thread() };
    // SAFETY: a static, or this thread's own.
    unsafe { (*of).waits.fetch_or(BEGINS, Ordering::Relaxed) };
}

/// Puts a signal off, if the thread is within a stretch. False if its handler is to run now.
///
/// # Safety
/// Called by a handler that was set with `SA_SIGINFO`, with what it was given. `handler` is what it is.
pub unsafe fn put_off(signal: c_int, info: *mut siginfo_t, context: *mut c_void, handler: Handler) -> bool {
    if ONE.0.depth.get() != 0 {
        // SAFETY: the caller's promise.
        return unsafe { note(&ONE.0, signal, info, context, handler) };
    }
    // SAFETY: the caller's promise.
    OWN.with(|own| own.depth.get() != 0 && unsafe { note(own, signal, info, context, handler) })
}

/// Leaves the stretches of this thread for as long as a handler runs that could not be put off; it may never come back. Returns what [`enter`] takes.
pub fn leave() -> (u32, u32) {
    (ONE.0.depth.replace(0), OWN.with(|own| own.depth.replace(0)))
}

/// Is where it was before [`leave`].
pub fn enter(depths: (u32, u32)) {
    ONE.0.depth.set(depths.0);
    OWN.with(|own| own.depth.set(depths.1));
}

/// # Safety
/// As [`put_off`].
unsafe fn note(of: &Stretches, signal: c_int, info: *mut siginfo_t, context: *mut c_void, handler: Handler) -> bool {
    // SAFETY: the caller's promise. The first 64 bits of the mask are those that the kernel takes back.
    unsafe {
        let fault = NEVER_BLOCKED[..6].contains(&signal) && (*info).si_code > 0;
        if fault || sandbox::entered() {
            return false;
        }
        let Some(place) = of.signals.get(of.waits.fetch_add(1, Ordering::Relaxed) & !(LEFT | BEGINS)) else {
            of.waits.fetch_sub(1, Ordering::Relaxed);
            return false;
        };
        let mask = (&raw mut (*context.cast::<ucontext_t>()).uc_sigmask).cast::<Mask>();
        (*place.get()).write((*info, *mask, handler));
        *mask |= all_blocked();
    }
    true
}

/// Sets the thread's mask; what it was.
unsafe fn set_mask(mask: Mask) -> Mask {
    let mut before: Mask = 0;
    // SAFETY: masks of the kernel's form.
    unsafe {
        real::by_number()(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut before,
            size_of::<Mask>(),
        )
    };
    before
}

/// All that may be blocked.
fn all_blocked() -> Mask {
    NEVER_BLOCKED.iter().fold(!0, |mask, signal| mask & !(1 << (signal - 1)))
}

/// Runs the handler of a signal as the system does where this is the thread's mask.
///
/// # Safety
/// The kernel gave the signal to this handler.
unsafe fn run(info: &mut siginfo_t, mask: Mask, handler: Handler) {
    // SAFETY: room for an action and a context; zero is a value of each part. The first 64 bits of a set are the kernel's mask.
    unsafe {
        let (mut action, mut context): (libc::sigaction, ucontext_t) = (std::mem::zeroed(), std::mem::zeroed());
        real::sigaction(info.si_signo, std::ptr::null(), &raw mut action);
        // Where the thread is by now: what looks at its stack finds one.
        libc::getcontext(&raw mut context);
        let own = if action.sa_flags & libc::SA_NODEFER == 0 { 1 << (info.si_signo - 1) } else { 0 };
        (&raw mut context.uc_sigmask).cast::<Mask>().write(mask);
        set_mask(mask | own | (&raw const action.sa_mask).cast::<Mask>().read());
        handler(info.si_signo, info, (&raw mut context).cast());
    }
}

#[cold]
fn send_again(of: &Stretches) {
    let errno = real::errno();
    let begins;
    // SAFETY: asks for numbers; hands on what the kernel gave; the mask comes to be what it was.
    unsafe {
        // All are blocked since one was put off; not where some are only left.
        let now = set_mask(all_blocked());
        let waits = of.waits.swap(0, Ordering::Relaxed);
        let noted = waits & !(LEFT | BEGINS);
        begins = waits & BEGINS != 0;
        let (process, thread) = (libc::getpid(), real::by_number()(libc::SYS_gettid));
        let send = |info: &siginfo_t| {
            real::by_number()(libc::SYS_rt_tgsigqueueinfo, process, thread, info.si_signo, std::ptr::from_ref(info))
                == 0
        };
        // A handler that was entered on top of another found that one's signals blocked, too.
        let mut mask = if noted == 0 { now } else { !0 };
        for place in &of.signals[..noted.min(MOST)] {
            // SAFETY: written by who took its place.
            let (info, found, handler) = (*place.get()).assume_init_read();
            mask &= found;
            // What can't be sent is forbidden, or too many signals wait.
            if (info.si_signo >= libc::SIGRTMIN() || !send(&info)) && !of.leave(info, handler) {
                send(&info);
            }
        }
        while let Some((mut info, handler)) = of.next(mask) {
            // Should the handler not come back.
            note_left(of);
            run(&mut info, mask, handler);
            set_mask(all_blocked());
        }
        note_left(of);
        set_mask(mask);
    }
    if begins {
        late::begin();
    }
    real::fail(errno);
}

/// Those that are left are found by the end of the next stretch.
fn note_left(of: &Stretches) {
    if of.count.get() > 0 {
        of.waits.fetch_or(LEFT, Ordering::Relaxed);
    } else {
        of.waits.fetch_and(!LEFT, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    static RAN: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

    extern "C-unwind" fn jumps(signal: c_int, _: *mut siginfo_t, _: *mut c_void) {
        RAN[usize::from(signal != libc::SIGRTMIN())].fetch_add(1, Ordering::SeqCst);
        // As `siglongjmp` does, it leaves the stretch's end, with the mask of before.
        // SAFETY: nothing was blocked.
        unsafe { set_mask(0) };
        std::panic::resume_unwind(Box::new(()));
    }

    fn stretch(amid: impl FnOnce()) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _stretch = Stretch::begin();
            amid();
        }))
        .is_err()
    }

    #[test]
    fn a_handler_that_jumps_out_leaves_the_next_signal_to_the_next_stretch() {
        let signals = [libc::SIGRTMIN(), libc::SIGRTMIN() + 1];
        // SAFETY: handlers that live as long as the process; signals to this thread.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = jumps as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            for signal in signals {
                assert_eq!(crate::hook::signals::sigaction(signal, &raw const action, std::ptr::null_mut()), 0);
            }
            // Both are due at one moment: the system enters one handler before the other has begun.
            let jumped = stretch(|| {
                let both = signals.iter().fold(0, |mask, signal| mask | 1 << (signal - 1));
                let before = set_mask(both);
                signals.iter().for_each(|&signal| assert_eq!(libc::pthread_kill(libc::pthread_self(), signal), 0));
                set_mask(before);
            });
            let ran = || [&RAN[0], &RAN[1]].map(|ran| ran.load(Ordering::SeqCst));
            assert!(jumped && ran()[0] + ran()[1] == 1, "{:?} of two", ran());
            assert!(stretch(|| ()));
            assert_eq!(ran(), [1, 1]);
            assert!(!stretch(|| ()));
            assert_eq!(set_mask(0), 0);
        }
    }
}
