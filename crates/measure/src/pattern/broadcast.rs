//! Broadcast: a message of one member goes to all others. Where [`super::cast`] waits for their answers, here each member is done when its own part is.

use transport::{Collective, LinkError};

use super::Facts;
use super::collective::{Operation, Place, facts, halves, took_part};
use crate::content::{self, Writer};

pub(super) const FACTS: Facts = Facts {
    bytes: |trial, _| trial.size.saturating_mul(took_part(trial) - 1),
    startup: Some("broadcasts"),
    ..facts("A message of one member to all others of a group: time until the slowest is done")
};

struct Broadcast;

impl Operation for Broadcast {
    #[inline(always)]
    fn step<L: Collective>(link: &mut L, out: &mut [u8], into: &mut [u8]) -> Result<(), LinkError> {
        let message = if link.rank() == 0 { out } else { into };
        link.broadcast(message)
    }

    fn fill(out: &mut [u8], place: Place) {
        if place.rank == 0 {
            content::fill(out, place.seed, place.number(0, 0), Writer::Near);
        }
    }

    fn wrong(into: &[u8], place: Place) -> Option<u64> {
        if place.rank == 0 {
            return None;
        }
        content::first_wrong(into, place.seed, place.number(0, 0), Writer::Near, 0)
    }
}

halves!(Broadcast);
