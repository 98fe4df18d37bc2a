//! Back to the kernel: for calls that the ring can't serve.

use std::sync::atomic::Ordering;

use crate::arena::control;
use crate::carry::Carried;
use crate::slot::{self, Held, Slot};
use crate::table::{self, Why};
use crate::{activate, back, guests, late, receive, recycle, report, sandbox, transmit};

/// The connection is the kernel's from here on, as far as this side can say: it sends over TCP, and asks the peer to.
///
/// What the peer wrote before it heard that is still in the ring; it comes first.
pub fn retire(slot: &Slot) {
    activate::give_up(slot, Why::Call);
    recycle::withdraw(slot, false);
    if !slot.active() {
        return;
    }
    let Some((_, memory)) = slot.parts() else { return };
    report::state(slot, table::BACK);
    transmit::retire(slot);
    let control = control(memory);
    let me = slot.me();
    if back::want(&control.sides[me].wants_tcp) {
        // A send that may not have seen the wish ends soon; one whose process died within, or is stopped there, never does. What it still writes this process
        // reads from the ring as ever; nobody else does (`carry`).
        for _ in 0..10_000 {
            if back::quiet(&control.ways[1 - me].busy.0) {
                break;
            }
            std::thread::yield_now();
        }
        control.ways[1 - me].room.ring(slot.peers_event());
    }
}

/// The same, for a connection in sets in a way that can't be followed.
pub fn for_sets(slot: &Slot) {
    report::why(slot, Why::Sets);
    retire(slot);
}

/// The same for a descriptor, if it means a connection.
#[inline(always)]
pub fn retire_fd(fd: i32) -> Option<Held> {
    let slot = slot::of(fd)?;
    recycle::over(fd, &slot);
    retire(&slot);
    transmit::pay_all(fd, &slot);
    Some(slot)
}

/// The same for a descriptor that the C library's own streams read and write (standard input, output and error), by calls that nobody sees.
pub fn for_streams(fd: i32) {
    if (0..3).contains(&fd) {
        hand_back(fd);
    }
}

/// All go back to the kernel, and none becomes fast any more: the process is about to forbid itself calls that this library makes.
pub fn for_sandbox(strict: bool) {
    sandbox::enter(strict);
    slot::each(0, usize::MAX, |fd| {
        if let Some(slot) = retire_fd(fd) {
            receive::settle(&slot);
        }
    });
}

/// The same for a process or thread that this library can't follow, and that is about to share this process's memory or, with a memory of its own (`numbers`), its
/// descriptors.
pub fn for_strangers(numbers: bool) {
    recycle::end();
    sandbox::enter(false);
    slot::each(0, usize::MAX, |fd| {
        if let Some(slot) = hand_back(fd) {
            receive::settle(&slot);
            // One that has bytes which the peer can't send again is read from the ring still.
            if slot.listens.load(Ordering::Relaxed) == 0 && receive::by_kernel(&slot) {
                slot.mode.store(slot::KERNEL, Ordering::SeqCst);
            }
        }
    });
    guests::strangers(numbers);
}

/// Whether bytes wait that the kernel does not know of.
pub fn readable(slot: &Slot) -> bool {
    slot.active() && receive::in_ring(slot) > 0
}

/// Connections that a new program will have, all that are not closed when it starts, go back to the kernel. What is left in their rings is
/// to be handed to it, or comes over TCP, should that fail. `knows_rings`: whether it will have the library, asked where that matters.
pub fn before_exec(knows_rings: impl FnOnce() -> bool) -> Carried {
    // Threads end with a new program.
    late::finish();
    let mut fast = false;
    each_inherited(|fd| fast |= slot::of(fd).is_some_and(|slot| slot.active()));
    let mut carried = Carried::new(fast && knows_rings());
    each_inherited(|fd| _ = hand_back(fd));
    each_inherited(|fd| carried.add(fd));
    carried
}

/// The same for a program that is begun beside this one, which keeps what is left in the rings until the peer has sent it once more.
pub fn before_spawn() {
    each_inherited(|fd| _ = hand_back(fd));
}

fn each_inherited(mut work: impl FnMut(i32)) {
    slot::each(0, usize::MAX, |fd| {
        // SAFETY: asks for flags.
        let flags = unsafe { crate::real::fcntl(fd, libc::F_GETFD, 0) };
        if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
            work(fd);
        }
    });
}

/// [`retire_fd`], for somebody who reads by calls that nobody sees: the peer sends over TCP once more what is left in the ring, as soon as it hears of it.
pub fn hand_back(fd: i32) -> Option<Held> {
    receive::ask_back(fd, &*slot::of(fd)?);
    retire_fd(fd)
}
