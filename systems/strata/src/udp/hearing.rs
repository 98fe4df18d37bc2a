//! Whether casts come by multicast at all: a network that carries none, and an interface that sends none, lose them without an error.

use std::net::SocketAddr;
use std::time::Duration;

use crate::time::Time;

const NOTICES: Duration = Duration::from_secs(10);
/// Statuses that each other member casts in a view before their lack tells something.
const STATUSES: u32 = 4;

/// What was heard of others in a view, over a carrier that multicasts.
pub(super) struct Hearing {
    unicast: bool,
    multicast: bool,
    /// How long a view has to be so that multicasts must have come.
    long: Duration,
    /// When the view began, if it has others.
    began: Option<Time>,
    noticed: Option<Time>,
}

impl Hearing {
    /// Of a member whose others cast a status at least so often.
    pub(super) fn new(status: Duration) -> Self {
        Self { unicast: false, multicast: false, long: status * STATUSES, began: None, noticed: None }
    }

    /// A datagram from another member, to this member alone or to all.
    pub(super) fn heard(&mut self, to_all: bool) {
        if to_all { self.multicast = true } else { self.unicast = true }
    }

    /// A view ends, and one of so many members follows: what there is to tell, if it had others, all else came and no multicast did. Nothing is to tell of a member alone, whom those ask that join, and of a view too
    /// short for a status.
    pub(super) fn view_ends(
        &mut self,
        now: Time,
        follows: usize,
        group: SocketAddr,
        interface: SocketAddr,
    ) -> Option<String> {
        let deaf = self.unicast && !self.multicast && self.began.is_some_and(|at| now.since(at) >= self.long);
        (self.unicast, self.multicast) = (false, false);
        self.began = (follows > 1).then_some(now);
        if !deaf || self.noticed.is_some_and(|at| now.since(at) < NOTICES) {
            return None;
        }
        self.noticed = Some(now);
        Some(format!(
            "in the view that ended no multicast of another member came to {group} at {}, though other datagrams came: use an interface and a network that carry multicast, or a stack over udp",
            interface.ip()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_hears_all_but_multicasts_is_told_and_not_at_each_view() {
        let (group, interface) = (([239, 1, 1, 1], 7).into(), ([10, 0, 0, 1], 7).into());
        let mut hearing = Hearing::new(Duration::from_millis(100));
        let mut ends = |heard: &[bool], ms: u64, follows: usize| {
            heard.iter().for_each(|&to_all| hearing.heard(to_all));
            hearing.view_ends(Time(ms * 1_000_000), follows, group, interface).is_some()
        };
        // Alone it was asked; then two had a view for too short a time.
        assert!(!ends(&[false], 1000, 2) && !ends(&[false], 1399, 2));
        assert!(!ends(&[], 2000, 2) && !ends(&[true, false], 3000, 2));
        assert!(ends(&[false], 4000, 2));
        assert!(!ends(&[false], 5000, 2));
        assert!(ends(&[false], 15_000, 1));
        assert!(!ends(&[false], 30_000, 2));
    }
}
