//! One attempt at a view, on its leader's side: who reported, what is to be delivered, who did. Pure.

use std::collections::BTreeMap;

use crate::addr::Endpoint;
use crate::view::ViewId;

/// A member's answer to FLUSH: of which view, at which rank, how many casts of each stream.
#[derive(Debug, Clone)]
pub(super) struct Report {
    pub view: ViewId,
    pub rank: u16,
    pub counts: Vec<u64>,
}

pub(super) struct Lead {
    pub attempt: ViewId,
    /// In the order of the new view.
    pub participants: Vec<Endpoint>,
    reports: BTreeMap<Endpoint, Report>,
    reached: BTreeMap<Endpoint, bool>,
    /// What was worked out for each view that takes part: it is the same for all of its members.
    targets: BTreeMap<(ViewId, usize), Vec<(u64, u16)>>,
}

impl Lead {
    pub(super) fn new(attempt: ViewId, participants: Vec<Endpoint>) -> Self {
        Self { attempt, participants, reports: BTreeMap::new(), reached: BTreeMap::new(), targets: BTreeMap::new() }
    }

    /// Whether all have reported now and had not before.
    pub(super) fn report(&mut self, from: Endpoint, report: Report) -> bool {
        if !self.participants.contains(&from) || self.cutting() {
            return false;
        }
        self.reports.insert(from, report);
        self.cutting()
    }

    /// Whether all have reported: reports stand from then on.
    pub(super) fn cutting(&self) -> bool {
        self.reports.len() == self.participants.len()
    }

    /// Whether all have delivered.
    pub(super) fn reached(&mut self, from: Endpoint) -> bool {
        if self.cutting() && self.participants.contains(&from) {
            self.reached.insert(from, true);
        }
        self.reached.len() == self.participants.len()
    }

    /// Who has not answered what was last asked.
    pub(super) fn waits_for(&self) -> Vec<Endpoint> {
        let cutting = self.cutting();
        let answered = |m: &Endpoint| if cutting { self.reached.contains_key(m) } else { self.reports.contains_key(m) };
        self.participants.iter().filter(|m| !answered(m)).copied().collect()
    }

    /// What a participant has to deliver of its view: of each stream the most that anyone of that view has who takes part, and the rank of one who has it, the origin if it
    /// does. Never less than anyone delivered, so that all who come from that view have the same. To be asked when all have reported. `least` is a mutant's.
    pub(super) fn targets(&mut self, of: &Endpoint, least: bool) -> Option<Vec<(u64, u16)>> {
        let own = self.reports.get(of)?;
        let view = (own.view, own.counts.len());
        if let Some(known) = self.targets.get(&view) {
            return Some(known.clone());
        }
        let group: Vec<_> =
            self.reports.values().filter(|r| r.view == own.view && r.counts.len() == own.counts.len()).collect();
        let of_stream = |stream: usize| {
            let counts = group.iter().map(|r| r.counts[stream]);
            let most = if least { counts.min() } else { counts.max() }.unwrap_or(0);
            let has = |r: &&&Report| r.counts[stream] >= most;
            let origin = group.iter().filter(has).find(|r| usize::from(r.rank) == stream);
            let holder = origin.or_else(|| group.iter().find(has)).map_or(own.rank, |r| r.rank);
            (most, holder)
        };
        let targets: Vec<_> = (0..own.counts.len()).map(of_stream).collect();
        self.targets.insert(view, targets.clone());
        Some(targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(n: u64) -> Endpoint {
        Endpoint { addr: "10.0.0.1:1".parse().unwrap(), born: n }
    }

    #[test]
    fn the_cut_is_the_most_that_anyone_of_the_same_view_has() {
        let (a, b, c) = (endpoint(1), endpoint(2), endpoint(3));
        let old = ViewId { number: 4, leader: a };
        let other = ViewId { number: 2, leader: c };
        let mut lead = Lead::new(ViewId { number: 9, leader: a }, vec![a, b, c]);
        assert!(!lead.report(a, Report { view: old, rank: 0, counts: vec![5, 2, 7] }));
        assert!(!lead.report(b, Report { view: old, rank: 1, counts: vec![4, 3, 8] }));
        assert!(!lead.reached(a), "not before all have reported");
        assert!(lead.report(c, Report { view: other, rank: 0, counts: vec![99] }));
        assert_eq!(lead.targets(&a, false).unwrap(), [(5, 0), (3, 1), (8, 1)]);
        assert_eq!(lead.targets(&c, false).unwrap(), [(99, 0)]);
        assert!(!lead.reached(a) && !lead.reached(c));
        assert_eq!(lead.waits_for(), [b]);
        assert!(lead.reached(b));
    }
}
