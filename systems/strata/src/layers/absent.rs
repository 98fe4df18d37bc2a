//! Addresses where MERGE looks for members that are not in the view, and how often. Pure.
//!
//! A partition may last for days, so that none is forgotten because of its age; but most that are absent for long have gone for good. So each is asked less and less often: after a sixteenth of the time for which nothing was heard there,
//! and after 64 times `probe` at the latest. Of more than can be kept those go first of which nothing was heard for longest; those whom this member only heard of by what anybody can send have places of their own, so that they push out no contact and no former member, and are forgotten when they answered nothing for a few questions: a source may be forged. Who was parted from this member before they met asks again by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::addr::Addr;
use crate::time::Time;

/// Addresses that are kept of each kind.
const MOST: usize = 4096;
/// The longest time between two questions, in times `probe`.
const SELDOM: u32 = 64;
/// Questions that a stranger may leave without an answer: at first one each `probe`.
const PATIENCE: u32 = 16;

struct Place {
    heard: Time,
    asked: Option<Time>,
    /// How often since then.
    questions: u32,
}

#[derive(Default)]
pub(super) struct Absent {
    /// Contacts, and who was in a view with this member.
    known: BTreeMap<Addr, Place>,
    /// Who sent a probe.
    strangers: BTreeMap<Addr, Place>,
}

/// Keeps an address, in the place of the one of which nothing was heard for longest.
fn keep(places: &mut BTreeMap<Addr, Place>, at: Addr, now: Time) {
    if places.len() >= MOST
        && !places.contains_key(&at)
        && let Some(oldest) = places.iter().min_by_key(|(_, place)| place.heard).map(|(at, _)| *at)
    {
        places.remove(&oldest);
    }
    places.insert(at, Place { heard: now, asked: None, questions: 0 });
}

impl Absent {
    /// A contact, or a member that was here until now.
    pub(super) fn knows(&mut self, at: Addr, now: Time) {
        self.strangers.remove(&at);
        keep(&mut self.known, at, now);
    }

    /// A probe came from there.
    pub(super) fn heard(&mut self, at: Addr, now: Time) {
        let places = if self.known.contains_key(&at) { &mut self.known } else { &mut self.strangers };
        keep(places, at, now);
    }

    /// Whom to ask now, of those who are not here; it counts as asked.
    pub(super) fn due(&mut self, now: Time, probe: Duration, here: impl Fn(&Addr) -> bool) -> Vec<Addr> {
        let mut due = Vec::new();
        self.strangers.retain(|at, place| here(at) || place.questions < PATIENCE);
        for (at, place) in self.known.iter_mut().chain(&mut self.strangers).filter(|(at, _)| !here(at)) {
            let wait = (now.since(place.heard) / 16).min(probe * SELDOM);
            if place.asked.is_none_or(|asked| now.since(asked) >= wait) {
                place.asked = Some(now);
                place.questions += 1;
                due.push(*at);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(n: u16) -> Addr {
        ([10, 0, 0, 1], n).into()
    }

    const PROBE: Duration = Duration::from_millis(500);

    #[test]
    fn who_is_away_for_long_is_asked_seldom_and_never_forgotten() {
        let mut absent = Absent::default();
        let mut now = Time(0);
        absent.knows(addr(1), now);
        let mut times = |of: Duration| {
            let until = now + of;
            let mut times = 0;
            while now < until {
                now = now + PROBE;
                times += absent.due(now, PROBE, |_| false).len();
            }
            times
        };
        assert_eq!(times(Duration::from_secs(8)), 16, "at first each time");
        let day = Duration::from_secs(24 * 3600);
        times(day);
        let hour = times(Duration::from_secs(3600));
        assert!((100..=113).contains(&hour), "{hour} times an hour");
    }

    #[test]
    fn who_is_here_is_not_asked_and_many_who_have_gone_push_nobody_out_who_was_heard_later() {
        let mut absent = Absent::default();
        for n in 0..5000 {
            absent.knows(addr(n), Time(u64::from(n)));
        }
        let now = Time(1) + PROBE;
        let due = absent.due(now, PROBE, |a| *a == addr(4998));
        assert_eq!(due.len(), MOST - 1);
        assert!(due.contains(&addr(4999)) && !due.contains(&addr(4998)) && !due.contains(&addr(1)));
    }

    #[test]
    fn a_stranger_that_answers_nothing_is_forgotten_and_who_answers_is_not() {
        let mut absent = Absent::default();
        absent.heard(addr(1), Time(0));
        absent.heard(addr(2), Time(0));
        absent.knows(addr(3), Time(0));
        let (mut now, mut asked) = (Time(0), [0; 3]);
        for _ in 0..7200 {
            now = now + PROBE;
            for at in absent.due(now, PROBE, |_| false) {
                asked[usize::from(at.port()) - 1] += 1;
                if at == addr(2) {
                    absent.heard(at, now);
                }
            }
        }
        assert_eq!(absent.due(now + PROBE * SELDOM, PROBE, |_| false), [addr(3), addr(2)], "after an hour");
        assert_eq!(asked[0], PATIENCE);
        assert_eq!(asked[1], 7200, "it was heard each time");
    }

    #[test]
    fn strangers_push_out_no_contact() {
        let mut absent = Absent::default();
        absent.knows(addr(9000), Time(0));
        for n in 0..5000 {
            absent.heard(addr(n), Time(u64::from(n) + 1));
        }
        let due = absent.due(Time(1) + PROBE, PROBE, |_| false);
        assert_eq!(due.len(), MOST + 1);
        assert!(due.contains(&addr(9000)));
    }
}
