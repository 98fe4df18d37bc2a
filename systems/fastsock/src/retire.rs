//! Back to the kernel: for calls that the ring can't serve.

use std::sync::atomic::{Ordering, fence};

use crate::arena::control;
use crate::carry::Carried;
use crate::slot::{self, Held, Slot};
use crate::table::{self, Why};
use crate::{activate, receive, recycle, report, transmit};

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
    if control.sides[me].wants_tcp.swap(1, Ordering::SeqCst) == 0 {
        fence(Ordering::SeqCst);
        // A send that may not have seen the wish ends soon; one whose process died within never does.
        for _ in 0..10_000 {
            if control.ways[1 - me].busy.0.load(Ordering::Acquire) == 0 {
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
    Some(slot)
}

/// Whether bytes wait that the kernel does not know of.
pub fn readable(slot: &Slot) -> bool {
    slot.active() && receive::in_ring(slot) > 0
}

/// Connections that a new program will have, all that are not closed when it starts, go back to the kernel. What is left in their rings is
/// to be handed to it.
pub fn before_exec() -> Carried {
    let mut fds = Vec::new();
    slot::each(0, usize::MAX, |fd| {
        // SAFETY: asks for flags.
        let flags = unsafe { crate::real::fcntl(fd, libc::F_GETFD, 0) };
        if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
            retire_fd(fd);
            fds.push(fd);
        }
    });
    Carried::of(&fds)
}
