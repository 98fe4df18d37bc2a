//! Whether casts come by multicast at all: a network that carries none, and an interface that sends none, lose them without an error.

use std::net::SocketAddr;
use std::time::Duration;

use crate::time::Time;

const NOTICES: Duration = Duration::from_secs(10);

/// What was heard of others in a view, over a carrier that multicasts.
#[derive(Default)]
pub(super) struct Hearing {
    unicast: bool,
    multicast: bool,
    noticed: Option<Time>,
}

impl Hearing {
    /// A datagram from another member, to this member alone or to all.
    pub(super) fn heard(&mut self, to_all: bool) {
        if to_all { self.multicast = true } else { self.unicast = true }
    }

    /// A view of more than one ends: what there is to tell, if all else came and no multicast did.
    pub(super) fn view_ends(&mut self, now: Time, group: SocketAddr, interface: SocketAddr) -> Option<String> {
        let deaf = self.unicast && !self.multicast;
        (self.unicast, self.multicast) = (false, false);
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
        let mut hearing = Hearing::default();
        let mut ends = |heard: &[bool], at: u64| {
            heard.iter().for_each(|&to_all| hearing.heard(to_all));
            hearing.view_ends(Time(at * 1_000_000_000), group, interface).is_some()
        };
        assert!(!ends(&[], 1) && !ends(&[true, false], 2));
        assert!(ends(&[false], 3));
        assert!(!ends(&[false], 4));
        assert!(ends(&[false], 14));
    }
}
