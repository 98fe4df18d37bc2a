//! All-to-all: each member has a message for each, itself among them.

use transport::{Collective, LinkError};

use super::Facts;
use super::collective::{Operation, Place, facts, for_all, halves, members, took_part};
use crate::TrialSpec;
use crate::content::{self, Writer};

pub(super) const FACTS: Facts = Facts {
    memory: for_all,
    bytes: |trial, _| trial.size.saturating_mul(took_part(trial)).saturating_mul(took_part(trial) - 1),
    startup: Some("all-to-alls"),
    ..facts("A message of its own from each member of a group to each: time until the slowest has all")
};

struct AllToAll;

impl Operation for AllToAll {
    fn messages(spec: &TrialSpec) -> (u64, u64) {
        let all = spec.size.saturating_mul(members(spec));
        (all, all)
    }

    #[inline(always)]
    fn step<L: Collective>(link: &mut L, out: &mut [u8], into: &mut [u8]) -> Result<(), LinkError> {
        link.all_to_all(out, into)
    }

    fn fill(out: &mut [u8], place: Place) {
        let size = out.len() / place.members.max(1) as usize;
        for (to, message) in (0..).zip(out.chunks_mut(size.max(1))) {
            content::fill(message, place.seed, place.number(place.rank, to), Writer::Near);
        }
    }

    fn wrong(into: &[u8], place: Place) -> Option<u64> {
        let size = into.len() / place.members.max(1) as usize;
        (0u64..).zip(into.chunks(size.max(1))).find_map(|(from, message)| {
            content::first_wrong(message, place.seed, place.number(from, place.rank), Writer::Near, 0)
        })
    }
}

halves!(AllToAll);
