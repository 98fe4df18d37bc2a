//! What waits for something that does not come: a cast that nobody sends again, a token that was lost, a place in the order. Pure.
//!
//! Layers hold messages back until others come, and what is lost on the way is sent again. So nothing waits for long where all datagrams are what their senders sent; but a datagram that was altered or forged may say
//! that there is a cast which never was, or take the place of one. Each layer says what it holds back and how far that has come ([`crate::Layer::waits`]); what came no further for `stall`, in a view that is not ending,
//! waits in vain. The member tells of it and asks for a new view, which begins without what is missing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::view::ViewId;

/// How often is looked, in parts of `stall`.
const LOOKS: u32 = 8;
const NOTICES: Duration = Duration::from_secs(10);
/// How the notice begins.
pub(crate) const IN_VAIN: &str = "waited in vain for";

/// What waits in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stalled {
    /// Whose it is: a rank.
    pub from: u16,
    /// Why, as a clause behind the sender's name.
    pub why: &'static str,
    /// Whether a person is to be told: not so soon after the last time.
    pub tell: bool,
}

/// What the layers of a member hold back at a moment.
#[derive(Default)]
pub struct Waits {
    layer: u16,
    list: BTreeMap<(u16, u32), (u64, u16, &'static str)>,
}

impl Waits {
    /// Something waits: in which of the layer's streams, whose it is, and why, as a clause behind the sender's name. `progress` is a number that grows whenever the stream comes further.
    pub fn add(&mut self, stream: u32, from: u16, progress: u64, why: &'static str) {
        self.list.insert((self.layer, stream), (progress, from, why));
    }

    /// What follows is the layer's at this place.
    pub(crate) fn of(&mut self, layer: u16) -> &mut Self {
        self.layer = layer;
        self
    }
}

/// Since when each of them waits.
#[derive(Default)]
pub(crate) struct Stalls {
    view: Option<ViewId>,
    since: BTreeMap<(u16, u32), (u64, Time)>,
    looked: Option<Time>,
    noticed: Option<Time>,
}

impl Stalls {
    /// How long until the next look.
    pub(crate) fn period(stall: Duration) -> Duration {
        (stall / LOOKS).max(Duration::from_millis(1))
    }

    /// Compares with what waited before; what came no further for `stall`.
    pub(crate) fn look(&mut self, now: Time, view: ViewId, waits: &Waits, stall: Duration) -> Option<Stalled> {
        // After a pause of this member itself the others have had no time to answer.
        let paused = self.looked.is_some_and(|at| now.since(at) > Self::period(stall) * 2);
        self.looked = Some(now);
        if paused || self.view.replace(view) != Some(view) {
            self.since.clear();
        }
        let before = std::mem::take(&mut self.since);
        let since = |(key, (progress, ..)): (&(u16, u32), &(u64, u16, &str))| {
            let same = before.get(key).filter(|(then, _)| then == progress);
            (*key, (*progress, same.map_or(now, |(_, since)| *since)))
        };
        self.since = waits.list.iter().map(since).collect();
        let (key, _) = self.since.iter().find(|(_, (_, since))| now.since(*since) >= stall)?;
        let (_, from, why) = *waits.list.get(key)?;
        // The next view has as long.
        self.since.clear();
        let tell = self.noticed.is_none_or(|at| now.since(at) >= NOTICES);
        if tell {
            self.noticed = Some(now);
        }
        Some(Stalled { from, why, tell })
    }

    /// A view ends, which has bounds of its own.
    pub(crate) fn ends(&mut self, now: Time) {
        self.looked = Some(now);
        self.since.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;

    const STALL: Duration = Duration::from_secs(4);

    /// At which of these moments, in milliseconds, what waits there with this progress waits in vain.
    fn stalls(looks: &[(u64, u64, Option<u64>)]) -> Vec<u64> {
        let leader = Endpoint { addr: ([10, 0, 0, 1], 7).into(), born: 1 };
        let mut stalls = Stalls::default();
        let mut found = Vec::new();
        for &(ms, number, progress) in looks {
            let mut waits = Waits::default();
            if let Some(progress) = progress {
                waits.of(2).add(5, 1, progress, "a token");
            }
            let now = Time(ms * 1_000_000);
            if stalls.look(now, ViewId { number, leader }, &waits, STALL).is_some() {
                found.push(ms);
            }
        }
        found
    }

    fn each(ms: std::ops::RangeInclusive<u64>, number: u64, progress: Option<u64>) -> Vec<(u64, u64, Option<u64>)> {
        ms.step_by(500).map(|ms| (ms, number, progress)).collect()
    }

    #[test]
    fn what_comes_no_further_waits_in_vain_and_again_as_long_after() {
        assert_eq!(stalls(&each(0..=9000, 1, Some(3))), [4000, 8500]);
        assert_eq!(stalls(&each(0..=9000, 1, None)), [0; 0]);
    }

    #[test]
    fn progress_another_view_and_a_pause_begin_anew() {
        let both = |a: Vec<_>, b: Vec<_>| stalls(&[a, b].concat());
        assert_eq!(both(each(0..=3500, 1, Some(3)), each(4000..=8000, 1, Some(4))), [8000]);
        assert_eq!(both(each(0..=3500, 1, Some(3)), each(4000..=8000, 2, Some(3))), [8000]);
        assert_eq!(both(each(0..=3500, 1, Some(3)), each(9000..=13_000, 1, Some(3))), [13_000]);
    }
}
