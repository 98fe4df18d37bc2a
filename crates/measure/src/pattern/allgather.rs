//! Allgather: each member gets the messages of all.

use transport::{Collective, LinkError};

use super::Facts;
use super::collective::{Operation, Place, facts, for_all, halves, members, took_part};
use crate::TrialSpec;
use crate::content::{self, Writer};

pub(super) const FACTS: Facts = Facts {
    memory: for_all,
    bytes: |trial, _| trial.size.saturating_mul(took_part(trial)).saturating_mul(took_part(trial) - 1),
    startup: Some("allgathers"),
    ..facts("A message of each member of a group to all others: time until the slowest has all")
};

struct Allgather;

impl Operation for Allgather {
    fn messages(spec: &TrialSpec) -> (u64, u64) {
        (spec.size, spec.size.saturating_mul(members(spec)))
    }

    #[inline(always)]
    fn step<L: Collective>(link: &mut L, out: &mut [u8], into: &mut [u8]) -> Result<(), LinkError> {
        link.allgather(out, into)
    }

    fn fill(out: &mut [u8], place: Place) {
        content::fill(out, place.seed, place.number(place.rank, 0), Writer::Near);
    }

    fn wrong(into: &[u8], place: Place) -> Option<u64> {
        let size = into.len() / place.members.max(1) as usize;
        (0u64..).zip(into.chunks(size.max(1))).find_map(|(rank, message)| {
            content::first_wrong(message, place.seed, place.number(rank, 0), Writer::Near, 0)
        })
    }
}

halves!(Allgather);
