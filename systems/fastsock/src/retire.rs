//! Back to the kernel: for calls that the ring can't serve.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::arena::{Way, control};
use crate::carry::Carried;
use crate::slot::{self, Held, Slot};
use crate::table::{self, Why};
use crate::{activate, back, guests, late, receive, recycle, report, sandbox, tcp, transmit};

/// How long a send of the peer's that is under way is waited for: by yielding so often, then by sleeping so long between looks.
const PATIENCE: Duration = Duration::from_secs(2);
const YIELDS: u32 = 10_000;
const NAP: Duration = Duration::from_millis(1);

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
        await_settled(slot, &control.ways[1 - me]);
        control.ways[1 - me].room.ring(slot.peers_event());
    }
}

/// A send that may not have seen the wish ends soon, but its process may be kept from the CPU amid it, on a busy machine for long; one whose process died within,
/// or is stopped there, never ends. What it still writes this process reads from the ring as ever; nobody else does (`carry`).
fn await_settled(slot: &Slot, way: &Way) {
    let (until, mut looks) = (Instant::now() + PATIENCE, 0);
    while !back::settled(&way.busy.0, &way.back) {
        looks += 1;
        if looks < YIELDS {
            std::thread::yield_now();
        } else if Instant::now() < until && !slot::descriptor(slot).is_some_and(tcp::peer_ended) {
            std::thread::sleep(NAP);
        } else {
            break;
        }
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
pub fn for_sandbox() {
    recycle::end();
    sandbox::enter();
    slot::each(0, usize::MAX, |fd| {
        if let Some(slot) = retire_fd(fd) {
            receive::settle(&slot);
            slot.eager.store(0, Ordering::Relaxed);
        }
    });
    sandbox::be_silent();
}

/// The same for a ring of the system's, through which calls are made that nobody sees, on any descriptor (io_uring).
pub fn for_ring() {
    recycle::end();
    sandbox::enter_for_ring();
    slot::each(0, usize::MAX, |fd| {
        if let Some(slot) = slot::of(fd) {
            report::why(&slot, Why::Ring);
        }
        give_to_kernel(fd);
    });
}

/// [`hand_back`], for calls that this library does not see from now on.
fn give_to_kernel(fd: i32) {
    let Some(slot) = hand_back(fd) else { return };
    receive::settle(&slot);
    // One that has bytes which the peer can't send again is read from the ring still.
    if slot.listens.load(Ordering::Relaxed) == 0 && receive::by_kernel(&slot) {
        slot.mode.store(slot::KERNEL, Ordering::SeqCst);
    }
}

/// The same for a process or thread that this library can't follow, and that is about to share this process's memory or, with a memory of its own (`numbers`), its
/// descriptors.
pub fn for_strangers(numbers: bool) {
    recycle::end();
    sandbox::enter();
    slot::each(0, usize::MAX, give_to_kernel);
    guests::strangers(numbers);
}

/// Whether bytes wait that the kernel does not know of.
pub fn readable(slot: &Slot) -> bool {
    slot.active() && receive::in_ring(slot) > 0
}

/// Connections that a new program will have, all that are not closed when it starts, go back to the kernel. What is left in their rings is
/// to be handed to it, or comes over TCP, should that fail. `knows_rings`: whether it will have the library, asked where that matters.
pub fn before_exec(knows_rings: impl FnOnce() -> bool) -> Carried {
    before_end();
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
    each_inherited(|fd| _ = lend(fd));
}

/// This process makes no call on its connections any more: what a peer has asked for is sent first, as it is before a close.
pub fn before_end() {
    if !sandbox::entered() {
        slot::each_meant(|slot| {
            if slot.active() {
                transmit::give_back(slot);
            }
        });
    }
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

/// [`hand_back`], where another process may have it from then on, which is not known to this one: nobody knows who closes last.
pub fn lend(fd: i32) -> Option<Held> {
    let held = hand_back(fd)?;
    if let Some((page, _)) = held.parts() {
        page.share();
    }
    Some(held)
}

/// After [`hand_back`] or [`lend`], for somebody who is known to be about to read so: what is left in the ring and can't come over TCP is not left out, but the
/// connection ends with an error.
pub fn never_without_rest(fd: i32, held: &Held) {
    if let Some((page, _)) = held.parts().filter(|_| receive::is_out_of_reach(held)) {
        page.break_with_error(fd);
    }
}
