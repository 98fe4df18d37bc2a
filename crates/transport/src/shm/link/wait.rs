//! How a link waits: it spins, yields, sleeps, and from time to time asks whether waiting still makes sense.

use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::idle::{BRIEF, Idle, Kernel, home};
use super::super::map::Shared;
use super::super::sync::Ordering;
use super::Shm;
use crate::LinkError;
use crate::patience::LOOK;

/// What a wait waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shm) enum Want {
    Message,
    Space,
    Either,
}

impl Shm {
    #[inline(always)]
    pub(super) fn tell_peer(&self) {
        // A peer that spins never sleeps: no fence, no look.
        if self.blocking {
            self.map.shared().sides[1 - self.me].bell.ring(&Kernel { limit: LOOK });
        }
    }

    /// Whether what is wanted may be there: something changed since this side last looked.
    #[inline(always)]
    pub(super) fn wanted(&self, want: Want) -> bool {
        let Shared { lanes, .. } = self.map.shared();
        (want != Want::Space && self.rx.look(&lanes[1 - self.me]).is_some())
            || (want != Want::Message && self.tx.news(&lanes[self.me]))
    }

    /// Waits until something wanted may be there, or until `until` (false). `idle` is the caller's, from the last piece
    /// that moved on: where nothing moves for the whole of the patience, this ends with an error whatever may be there.
    /// None is a wait that begins: all that it costs who never has to wait.
    #[cold]
    #[inline(never)]
    pub(in crate::shm) fn await_news(
        &mut self,
        idle: &mut Option<Idle>,
        want: Want,
        until: Option<Instant>,
        doing: &'static str,
    ) -> Result<bool, LinkError> {
        debug_assert!(self.turn.settled(), "an operation that did not begin");
        // The usual wait ends here, and has nothing to remember but that it was.
        if idle.is_none() && self.look(want) {
            *idle = Some(Idle::default());
            return Ok(true);
        }
        let idle = idle.get_or_insert_default();
        idle.taken(self.tx.freed());
        loop {
            if self.look(want) && idle.follows() {
                return Ok(true);
            }
            let due = idle.round(self.crowded);
            if until.is_some_and(|until| due.now >= until) {
                return Ok(self.wanted(want));
            }
            if due.care {
                self.patience.check(due.since, doing)?;
                self.find_home();
            }
            // Order matters: what the peer sent before it closed or died is still there to receive.
            if (self.peer_closed() || (due.care && self.peer_died())) && !self.wanted(want) {
                return Err(LinkError::Closed { doing });
            }
            if self.blocking && (self.crowded || due.now.duration_since(due.since) >= BRIEF) {
                let limit = until.map_or(LOOK, |until| LOOK.min(until.saturating_duration_since(due.now)));
                self.map.shared().sides[self.me]
                    .bell
                    .sleep(&Kernel { limit }, || self.wanted(want) || self.peer_closed());
            }
        }
    }

    /// Looks for a round. A loop of nothing but the look: with the receive itself in it, the CPU guessed its end wrong each
    /// time, which cost a one-byte ping-pong 8%.
    #[inline(always)]
    fn look(&self, want: Want) -> bool {
        for _ in 0..Idle::polls(self.crowded) {
            if self.wanted(want) {
                return true;
            }
            // The sender waits for many slots at once: a breath between two looks leaves the line to the receiver.
            if want == Want::Space {
                std::hint::spin_loop();
            }
        }
        false
    }

    pub(super) fn peer_closed(&self) -> bool {
        self.map.shared().sides[1 - self.me].closed.load(Ordering::Acquire) != 0
    }

    fn peer_died(&self) -> bool {
        let Some(alive) = &self.alive else { return false };
        let mut fds = [PollFd::new(alive, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).is_ok_and(|found| found > 0)
    }

    /// Publishes where this side runs and learns whether the peer must run on the same CPU. Again from time to time, as a
    /// thread may be pinned after its link was made.
    pub(super) fn find_home(&mut self) {
        let home = home();
        let sides = &self.map.shared().sides;
        sides[self.me].home.store(home, Ordering::Relaxed);
        self.crowded = home != 0 && sides[1 - self.me].home.load(Ordering::Relaxed) == home;
    }
}
