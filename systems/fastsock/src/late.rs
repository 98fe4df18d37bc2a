//! What a peer asked for once more (`back`), where the kernel's buffer does not hold it: a thread of the library's own sends it on as there is room, and ends with it.
//!
//! Nothing else of the connection goes over TCP before (`transmit`): a program that sends helps, or waits as for any room. The thread has a copy of the descriptor, so the
//! program may close its own, and the end of file comes after the bytes. Who ends the process or begins another program waits for that, for ten seconds at most;
//! a connection that has not got it by then is cut, so that nobody takes what there is for all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use libc::{c_int, c_void, pollfd};

use crate::hook::signals;
use crate::lock::Lock;
use crate::slot::{self, Held, Slot};
use crate::transmit::{self, PATIENCE};
use crate::{guests, own, real, sandbox, section, tcp};

/// Connections at most.
const MOST: usize = 64;
/// How long the thread, or who waits for it, waits for room before it looks whether there is more to be done, milliseconds.
const SLICE: c_int = 50;
/// Of the thread's stack.
const STACK: usize = 256 << 10;

/// A connection that owes something, and a copy of its descriptor.
struct Late {
    fd: c_int,
    held: Held,
}

type List = [Option<Late>; MOST];

static LIST: Lock<List> = Lock::new([const { None }; MOST]);
/// The thread is there, or about to be.
static RUNS: AtomicBool = AtomicBool::new(false);

/// What this connection owes is sent by the thread, which begins once this thread is nowhere within. False if that can't be.
pub fn keep(fd: c_int, slot: &Slot) -> bool {
    // A new thread may be what a process is forbidden, and in one that goes with this call there is none.
    if sandbox::entered() || guests::is_one() {
        return false;
    }
    let kept = LIST.with(|list| {
        let known = list.iter().flatten().any(|late| late.held.number() == slot.number());
        let Some(place) = list.iter_mut().find(|place| place.is_none()).filter(|_| !known) else { return known };
        let (Some(held), Some(fd)) = (slot::numbered(slot.number()), own::copy(fd)) else { return false };
        *place = Some(Late { fd, held });
        true
    });
    if kept == Some(true) {
        section::begin_late();
    }
    kept == Some(true)
}

/// Begins the thread, if there is need of one. Nothing of this thread's is half done.
pub fn begin() {
    if signals::within() {
        // The C library may be amid something that it needs for a new thread, too.
        return section::begin_late();
    }
    if all(&mut [const { None }; MOST]) == 0 || RUNS.swap(true, Ordering::SeqCst) {
        return;
    }
    // SAFETY: masks and attributes of this call's own; a function that lives as long as the process.
    let begun = unsafe {
        let (mut every, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        let (mut thread, mut attributes) = (std::mem::zeroed(), std::mem::zeroed());
        // Signals are the program's own threads' to handle.
        libc::sigfillset(&raw mut every);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
        let begun = libc::pthread_create(&raw mut thread, &raw const attributes, run, std::ptr::null_mut()) == 0;
        libc::pthread_attr_destroy(&raw mut attributes);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        begun
    };
    if !begun {
        RUNS.store(false, Ordering::SeqCst);
        finish();
    }
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    while look(SLICE) {}
    std::ptr::null_mut()
}

/// A copy of a connection's descriptor, and the connection's number.
type Known = Option<(c_int, u32)>;

/// All that there are; how many.
fn all(into: &mut [Known; MOST]) -> usize {
    into.fill(None);
    LIST.with(|list| {
        for (to, late) in into.iter_mut().zip(list.iter()) {
            *to = late.as_ref().map(|late| (late.fd, late.held.number()));
        }
        into.iter().flatten().count()
    })
    .unwrap_or(0)
}

/// Waits for room, for so many milliseconds at most, and sends on. False if there is nothing to be sent any more.
fn look(limit: c_int) -> bool {
    let mut known = [None; MOST];
    let any = LIST.with(|list| {
        let any = list.iter().any(Option::is_some);
        if !any {
            // Under the lock: who adds one afterwards finds that there is no thread.
            RUNS.store(false, Ordering::SeqCst);
        }
        any
    });
    if any != Some(true) || all(&mut known) == 0 {
        return any == Some(true);
    }
    let mut asks = known.map(|known| pollfd { fd: known.map_or(-1, |(fd, _)| fd), events: libc::POLLOUT, revents: 0 });
    // SAFETY: as many entries.
    unsafe { real::whole::poll(asks.as_mut_ptr(), asks.len(), limit) };
    for (fd, number) in known.into_iter().flatten() {
        if slot::numbered(number).is_none_or(|held| transmit::pay(fd, &held)) {
            let_go(number, |_| ());
        }
    }
    true
}

/// A connection is the list's no more, after `last` with what the list had of it.
fn let_go(number: u32, last: impl FnOnce(&Late)) {
    let of = |place: &&mut Option<Late>| place.as_ref().is_some_and(|late| late.held.number() == number);
    if let Some(late) = LIST.with(|list| list.iter_mut().find(of).and_then(Option::take)).flatten() {
        last(&late);
        own::close(late.fd);
    }
}

/// Waits until all is sent, for so long as a process may be kept from its end. Connections that have not got it by then are cut.
pub fn finish() {
    let errno = real::errno();
    let until = Instant::now() + PATIENCE;
    let mut known = [None; MOST];
    while all(&mut known) > 0 && Instant::now() < until {
        look(SLICE);
    }
    for (_, number) in known.into_iter().flatten() {
        let_go(number, |late| {
            // The thread may have sent the last of it meanwhile.
            if transmit::owes(&late.held) {
                tcp::cut(late.fd);
            }
        });
    }
    real::fail(errno);
}

/// The list is this thread's until [`after_fork`].
pub fn before_fork() {
    LIST.hold();
}

/// The parent has the thread, and goes on.
pub fn after_fork(child: bool) {
    if !child {
        return LIST.release();
    }
    LIST.renew();
    RUNS.store(false, Ordering::SeqCst);
    for at in 0..MOST {
        if let Some(late) = LIST.with(|list| list[at].take()).flatten() {
            own::close(late.fd);
            // Who is counted in is counted anew (`slot::only_thread`).
            std::mem::forget(late.held);
        }
    }
}
