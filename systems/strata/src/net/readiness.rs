//! One descriptor that is readable when a member has something to do: an epoll over its sockets and a timer.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

pub(super) struct Readiness {
    epoll: OwnedFd,
    timer: OwnedFd,
}

impl Readiness {
    pub(super) fn over<'a>(sockets: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        for socket in sockets {
            epoll::add(&epoll, socket, EventData::new_u64(0), EventFlags::IN)?;
        }
        epoll::add(&epoll, &timer, EventData::new_u64(0), EventFlags::IN)?;
        Ok(Self { epoll, timer })
    }

    /// Readable at the latest after this, and until then only when a datagram comes. Without one, when a datagram comes.
    pub(super) fn within(&self, due: Option<Duration>) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would mean never.
        let due = due.map_or(zero, |due| {
            let due = due.max(Duration::from_nanos(1));
            Timespec {
                tv_sec: i64::try_from(due.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(due.subsec_nanos()),
            }
        });
        let at = Itimerspec { it_interval: zero, it_value: due };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &at)?;
        Ok(())
    }
}

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
