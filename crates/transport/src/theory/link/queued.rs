//! Queued sends on the modelled path: a post takes no time, and is complete when its last byte has left.

use std::collections::VecDeque;
use std::time::Duration;

use super::TheoryLink;
use crate::{LinkError, Queued};

/// Posts under way.
#[derive(Debug, Default)]
pub(super) struct Posts {
    /// When each of them will have left, nanoseconds.
    leave: VecDeque<f64>,
    posted: u64,
}

impl Posts {
    fn complete(&mut self, now: f64) -> u64 {
        while self.leave.front().is_some_and(|at| *at <= now) {
            self.leave.pop_front();
        }
        self.posted - self.leave.len() as u64
    }
}

impl Queued for TheoryLink {
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let sent = self.carry(message)?;
        self.posts.leave.push_back(sent);
        self.posts.posted += 1;
        Ok(())
    }

    fn posted(&self) -> u64 {
        self.posts.posted
    }

    fn poll(&mut self, until: u64, wait: Duration) -> Result<u64, LinkError> {
        self.usable("waiting for posts")?;
        self.sync();
        let complete = self.posts.complete(self.now);
        let Some(next) = self.posts.leave.front().filter(|_| complete < until && !wait.is_zero()) else {
            return Ok(complete);
        };
        let at = next.min(self.now + wait.as_nanos() as f64);
        self.move_to(at);
        Ok(self.posts.complete(self.now))
    }

    fn copied(&self) -> Option<(u64, u64)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::theory::{FarRole, Theory};

    #[test]
    fn posts_follow_each_other_on_the_line_and_complete_in_their_order() {
        // One byte a nanosecond, no headers, one microsecond.
        let mut link = TheoryLink::new(&Theory { latency: 1e-6, rate: 8e9, header: 0, ..Theory::default() }, 0.5);
        let clock = link.clock();
        link.set_role(FarRole::Sink);
        (0..3).for_each(|_| link.post(&[1; 1000]).unwrap());
        assert_eq!(
            (clock.now(), link.posted(), link.poll(3, Duration::ZERO).unwrap()),
            (0, 3, 0),
            "a post takes no time"
        );
        assert_eq!((link.poll(1, Duration::from_secs(1)).unwrap(), clock.now()), (1, 1000));
        assert_eq!((link.poll(3, Duration::from_nanos(10)).unwrap(), clock.now()), (1, 1010), "no longer than that");
        assert_eq!((link.poll(3, Duration::from_secs(1)).unwrap(), clock.now()), (2, 2000));
        assert_eq!((link.poll(3, Duration::from_secs(1)).unwrap(), clock.now()), (3, 3000));
        assert_eq!((link.poll(9, Duration::from_secs(1)).unwrap(), clock.now()), (3, 3000), "nothing is under way");
        assert_eq!((link.far_report().received, link.far_report().last_byte_ns), (3, 4000));
    }
}
