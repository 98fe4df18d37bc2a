//! Whether casts come by multicast at all: a network that carries none, and an interface that sends none, lose them without an error.
//!
//! That none came tells nothing by itself: views may be too short for one, and members too busy to send one. So each member says in its control messages, which go by unicast,
//! how many datagrams it has multicast. Who is told of several more, of which none came, is deaf to that member, however long that took.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::addr::Endpoint;
use crate::time::Time;

const NOTICES: Duration = Duration::from_secs(10);
/// Multicasts in a row that a network that carries them does not lose.
const ENOUGH: u64 = 8;
/// Members that are watched at once. Who is found deaf is so to most.
const MOST: usize = 64;

/// What a member said how many it has multicast, none of which has come since it first said so.
struct Silent {
    born: u64,
    first: u64,
    /// By its last word and by the one before. What it has just said may have overtaken multicasts, which have a way of their own.
    before: u64,
    last: u64,
}

/// What was heard of others over a carrier that multicasts.
#[derive(Default)]
pub(super) struct Hearing {
    silent: BTreeMap<SocketAddr, Silent>,
    noticed: Option<Time>,
}

impl Hearing {
    /// A multicast came.
    #[inline]
    pub(super) fn heard(&mut self, from: SocketAddr) {
        if !self.silent.is_empty() {
            self.silent.remove(&from);
        }
    }

    /// A member says how many it has multicast.
    pub(super) fn told(&mut self, by: Endpoint, multicasts: u64) {
        let room = self.silent.len() < MOST;
        let new = Silent { born: by.born, first: multicasts, before: multicasts, last: multicasts };
        match self.silent.get_mut(&by.addr) {
            // Datagrams overtake each other.
            Some(silent) if silent.born == by.born && multicasts > silent.last => {
                (silent.before, silent.last) = (silent.last, multicasts);
            }
            Some(silent) if silent.born == by.born => silent.before = silent.last,
            Some(silent) => *silent = new,
            None if room => _ = self.silent.insert(by.addr, new),
            None => {}
        }
    }

    /// All multicasts that are here were taken: what there is to tell.
    pub(super) fn taken(&mut self, now: Time, group: SocketAddr, interface: SocketAddr) -> Option<String> {
        if self.silent.is_empty() || self.noticed.is_some_and(|at| now.since(at) < NOTICES) {
            return None;
        }
        let (who, silent) = self.silent.iter_mut().find(|(_, silent)| silent.before - silent.first >= ENOUGH)?;
        let missed = silent.before - silent.first;
        silent.first = silent.before;
        self.noticed = Some(now);
        Some(format!(
            "no multicast of another member came to {group} at {}, though {who} says to have sent {missed}: use an interface and a network that carry multicast, or a stack over udp",
            interface.ip()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens to a member, after which it is asked whether there is something to tell.
    enum Did {
        /// A multicast of this host came.
        Heard(u8),
        /// The member at this host, of this life, says to have multicast so many.
        Told(u8, u64, u64),
        Passed(Duration),
    }
    use Did::{Heard, Passed, Told};

    /// After which of these there is something to tell.
    fn tells(all: &[Did]) -> Vec<usize> {
        let at = |host| SocketAddr::from(([10, 0, 0, host], 7));
        let (mut hearing, mut now) = (Hearing::default(), Time(0));
        let mut tells = Vec::new();
        for (i, did) in all.iter().enumerate() {
            match did {
                Heard(host) => hearing.heard(at(*host)),
                Told(host, born, multicasts) => hearing.told(Endpoint { addr: at(*host), born: *born }, *multicasts),
                Passed(time) => now = now + *time,
            }
            if let Some(text) = hearing.taken(now, ([239, 1, 1, 1], 7).into(), at(1)) {
                assert!(text.contains("239.1.1.1:7") && text.contains("at 10.0.0.1"), "{text}");
                tells.push(i);
            }
        }
        tells
    }

    #[test]
    fn who_is_told_of_multicasts_that_never_come_is_deaf() {
        // Whatever they were, those before its first word may have been sent before this member was there.
        assert_eq!(tells(&[Told(2, 9, 500), Told(2, 9, 500), Told(2, 9, 500)]), [0; 0]);
        // Over several views; the last word counts once another follows it.
        assert_eq!(tells(&[Told(2, 9, 0), Told(2, 9, 5), Told(2, 9, 12), Told(2, 9, 12)]), [3]);
        assert_eq!(tells(&[Told(2, 9, 0), Told(2, 9, 12), Passed(Duration::from_secs(60))]), [0; 0]);
        // A life of its own, which has sent none yet.
        assert_eq!(tells(&[Told(2, 9, 0), Told(2, 8, 12), Told(2, 8, 12)]), [0; 0]);
    }

    #[test]
    fn one_that_comes_disproves_it_however_few_came_and_however_long_it_took() {
        let all = [Told(2, 9, 0), Told(2, 9, 900), Heard(2), Told(2, 9, 900), Told(2, 9, 907), Told(2, 9, 907)];
        assert_eq!(tells(&all), [0; 0]);
        // Another member's prove nothing of this one's.
        assert_eq!(tells(&[Told(2, 9, 0), Told(2, 9, 900), Heard(3), Told(2, 9, 900)]), [3]);
        // Members that are too busy to multicast, or alone, say so.
        let busy = |i: u64| [Told(2, 9, i / 8), Passed(Duration::from_secs(3600))];
        assert_eq!(tells(&(0..64).flat_map(busy).collect::<Vec<_>>()), [0; 0]);
    }

    #[test]
    fn it_is_not_said_again_at_once_nor_without_new_ones() {
        let deaf = |from: u64| [Told(2, 9, from), Told(2, 9, from + 8), Told(2, 9, from + 8)];
        let pause = || [Passed(NOTICES)];
        let all: Vec<_> = deaf(0).into_iter().chain(deaf(8)).chain(pause()).chain(pause()).chain(deaf(16)).collect();
        assert_eq!(tells(&all), [2, 6, 10]);
    }
}
