//! How a connection becomes fast.
//!
//! Not at once: only after some calls have moved data, so that short conversations and servers that hand a connection to another
//! program never pay for it. A side becomes active at a moment when none of its threads is in the kernel's receive or send on this
//! connection; it then knows from the kernel how many bytes went over TCP each way, and says that it is ready. A direction moves to
//! the ring when its sender is active and its receiver ready (`transmit`).

use std::sync::atomic::{AtomicI32, Ordering, fence};

use crate::arena::control;
use crate::budget::Share;
use crate::section::{Stretch, Uncancelled};
use crate::slot::{ACCEPTED, ACTIVE, KERNEL, Slot};
use crate::table::{self, Why};
use crate::tcp::Ends;
use crate::{across, guests, meet, ready, recycle, report, sandbox, settings, tcp, watch};

/// Calls after which the sides stop looking for each other.
const LAST: u32 = 1 << 16;

/// The process that this library was loaded into, or its latest fork.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Notes which process this is. Called when loaded, and in the child of a fork.
pub fn note_process() {
    if sandbox::silent() {
        return;
    }
    // SAFETY: asks for a number.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// Whether this is the process that was noted, or one that shares its memory and its descriptors while it waits: not a child that shares its memory alone. It is
/// taken for it where it may not ask.
pub fn in_process() -> bool {
    if sandbox::silent() {
        return true;
    }
    // SAFETY: asks for a number.
    let process = unsafe { libc::getpid() };
    process == PROCESS.load(Ordering::Relaxed) || guests::is_kin(process)
}

/// Whether this is the process that was noted; as above.
pub fn own_process() -> bool {
    // SAFETY: asks for a number.
    sandbox::silent() || unsafe { libc::getpid() == PROCESS.load(Ordering::Relaxed) }
}

/// A call is about to move data on a connection that is the kernel's: perhaps it is time.
#[inline(always)]
pub fn consider(fd: i32, slot: &Slot) {
    if slot.never.load(Ordering::Relaxed) == 0 {
        let ops = slot.ops.fetch_add(1, Ordering::Relaxed) + 1;
        if ops >= settings::get().after {
            attempt(fd, slot, ops);
        }
    }
}

/// Whether the other side is looked for with this call, where it was not found before.
fn looks(slot: &Slot, ops: u32) -> bool {
    let after = settings::get().after;
    if slot.raw.load(Ordering::Acquire) >= 0 {
        return across::looks(ops);
    }
    if slot.me() == ACCEPTED {
        // After once, twice, four times ... as many calls, a little later than the other side can be found.
        let ops = ops - (after / 4).min(16);
        (ops / after).is_power_of_two() && ops.is_multiple_of(after)
    } else {
        // Not with each call, if the other side is in no hurry or has no library, and ever less often: each look is a call to the system.
        let often = ops - after < 64 || ops.is_multiple_of(if ops / after < 4 { 16 } else { 256 });
        slot.knock.load(Ordering::Acquire) >= 0 && often
    }
}

#[cold]
fn attempt(fd: i32, slot: &Slot, ops: u32) {
    // Most calls on a connection that stays the kernel's end here, before they ask the system anything.
    if ops < LAST && ops != settings::get().after && slot.parts().is_none() && !looks(slot, ops) {
        return;
    }
    if ops >= LAST || !in_process() {
        return give_up(slot, if ops >= LAST { Why::NoPeer } else { Why::Forked });
    }
    if sandbox::entered() {
        return give_up(slot, if sandbox::has_ring() { Why::Ring } else { Why::Call });
    }
    // What is half done would be left so for good.
    let _stretch = Stretch::begin();
    let _whole = Uncancelled::begin();
    let Some(_trying) = slot.try_alone() else { return };
    if slot.active() {
        // It was found before this call, or by another thread: not once more, as the peer may have ended the stream meanwhile.
        return;
    }
    if slot.holders.several() {
        if !slot.holders.alone() {
            report::why(slot, Why::Forked);
            slot.ops.store(0, Ordering::Relaxed);
            return;
        }
        report::begin(fd, slot);
    }
    let errno = crate::real::errno();
    advance(fd, slot, ops);
    crate::real::fail(errno);
}

/// The connection stays with the kernel, in all processes that hold it: what made this one give it up may have put it into hands that nobody counts.
pub fn give_up(slot: &Slot, why: Why) {
    report::why(slot, why);
    slot.never.store(1, Ordering::SeqCst);
    slot.holders.keep();
    slot.stop_knocking();
}

/// The process is about to fork: who is left alone with the connection may make it fast (`holders`). Not one that a set of both processes has, nor one that
/// is about to become fast: that is so by the end of this, for both processes, or never will be.
pub fn before_fork(slot: &Slot) {
    // One that is fast, and was before this: no thread tries to make it so.
    let settled = slot.active() && slot.try_alone().is_some();
    if slot.parts().is_none() || !slot.active() {
        count_child(slot);
    }
    if let Some((page, _)) = slot.parts() {
        if !settled {
            // Another thread that makes it fast has ended with it, or will see that it may not.
            page.out.with(|_| ());
        }
        page.share();
    }
}

fn count_child(slot: &Slot) {
    let trying = slot.try_alone();
    let free = slot.never.load(Ordering::SeqCst) == 0 && slot.watch.load(Ordering::SeqCst) == 0;
    let apart = trying.is_some() && free && slot.parts().is_none();
    // Each process takes itself off a count that there is, so each is counted there.
    let counted = (apart || slot.holders.several()) && slot.holders.one_more();
    slot.forked.store(1, Ordering::SeqCst);
    if !(apart && counted) {
        give_up(slot, Why::Forked);
    }
}

/// One step further.
fn advance(fd: i32, slot: &Slot, ops: u32) {
    let after = settings::get().after;
    if slot.parts().is_none() {
        if ops == after
            && slot.knock.load(Ordering::Relaxed) < 0
            && slot.raw.load(Ordering::Relaxed) < 0
            && let Err(why) =
                begin(fd, slot).or_else(|why| if why == Why::Unfit { across::begin(fd, slot) } else { Err(why) })
        {
            return give_up(slot, why);
        }
        if !looks(slot, ops) {
            return;
        }
        if settings::user_is_off() {
            return give_up(slot, Why::User);
        }
        let across = slot.raw.load(Ordering::Acquire) >= 0;
        if across && across::ends(ops) {
            return give_up(slot, Why::NoPeer);
        }
        let Some(share) = Share::take() else { return give_up(slot, Why::Memory) };
        let met = if across {
            across::step(fd, slot, ops)
        } else if slot.me() == ACCEPTED {
            tcp::local_ends(fd).and_then(|ends| meet::offer(&ends, None))
        } else {
            meet::take(slot.knock.load(Ordering::Acquire))
        };
        let Some(met) = met else { return };
        slot.stop_knocking();
        if !recycle::install(slot, met, false, share) {
            return give_up(slot, Why::Room);
        }
    }
    let Some((_, memory)) = slot.parts() else { return };
    // The accepting side waits for the connecting one to be ready: it may go on without the library.
    if slot.me() != ACCEPTED || control(memory).sides[1].ready.load(Ordering::SeqCst) != 0 {
        start(fd, slot);
    }
}

/// Whether the connection can be fast at all, or why not; the connecting side can be found from then on.
pub fn begin(fd: i32, slot: &Slot) -> Result<(), Why> {
    if settings::user_is_off() {
        return Err(Why::User);
    }
    let ends = tcp::local_ends(fd).ok_or(Why::Unfit)?;
    if !allowed(&ends) {
        return Err(Why::Port);
    }
    if slot.me() != ACCEPTED {
        let knock = meet::listen(&ends).ok_or(Why::Room)?;
        slot.knock.store(knock, Ordering::Release);
    }
    Ok(())
}

/// Whether no switch speaks against it.
pub fn allowed(ends: &Ends) -> bool {
    let off = |end: &str| tcp::port(end).is_none_or(|port| settings::get().off_ports.contains(&port));
    !off(&ends.here) && !off(&ends.there)
}

/// Becomes active, if no thread is in the kernel on this connection.
pub fn start(fd: i32, slot: &Slot) {
    let Some((page, memory)) = slot.parts() else { return };
    if tcp::is_kernels(fd) {
        return give_up(slot, Why::Call);
    }
    if slot.forked.load(Ordering::SeqCst) != 0 && watch::in_shared_set(slot) {
        return give_up(slot, Why::Sets);
    }
    watch::attach(slot);
    if slot.watch.load(Ordering::SeqCst) != 0 {
        recycle::waited_for(fd, slot, true);
    }
    let started = page.out.with(|out| {
        page.inward.with(|inward| {
            // Whoever sees this waits for the locks.
            slot.mode.store(ACTIVE, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let alone = slot.receiving.load(Ordering::SeqCst) == 0 && slot.sending.load(Ordering::SeqCst) == 0;
            let wanted = slot.never.load(Ordering::SeqCst) == 0 && !slot.holders.several();
            match tcp::bytes(fd) {
                Some(bytes) if alone && wanted => {
                    out.tcp = bytes.sent;
                    inward.tcp = bytes.received;
                    // What waits for it in a set looks at the ring from now on.
                    ready::tell(slot);
                    report::state(slot, table::FAST);
                    control(memory).sides[slot.me()].ready.store(1, Ordering::SeqCst);
                }
                _ => slot.mode.store(KERNEL, Ordering::SeqCst),
            }
        })
    });
    if !matches!(started, Some(Some(()))) {
        give_up(slot, Why::Busy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::CONNECTED;
    use crate::{arena, asleep, page, slot};
    use std::os::fd::AsRawFd;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_fork_waits_for_a_thread_that_makes_the_connection_fast() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        slot::track(socket.as_raw_fd(), CONNECTED);
        let held = slot::of(socket.as_raw_fd()).unwrap();
        held.page.store(page::new().unwrap().as_ptr(), Ordering::SeqCst);
        held.share_memory(am::memory::Memory::without_file(arena::LEN).unwrap());
        let (begun, over, forks) = (AtomicBool::new(false), AtomicBool::new(false), asleep::number());
        std::thread::scope(|scope| {
            // Such a thread is past its look whether it may.
            scope.spawn(|| {
                let out = &held.parts().unwrap().0.out;
                out.with(|_| {
                    begun.store(true, Ordering::SeqCst);
                    // Until the fork waits for this; one that does not is over at once.
                    asleep::until_waits(forks, out.word(), &over);
                    held.mode.store(ACTIVE, Ordering::SeqCst);
                })
            });
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            before_fork(&held);
            let waited = held.active() && held.shared();
            over.store(true, Ordering::SeqCst);
            assert!(waited);
        });
        held.mode.store(KERNEL, Ordering::SeqCst);
        drop(slot::forget(socket.as_raw_fd()));
    }
}
