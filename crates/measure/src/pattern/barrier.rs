//! Barrier: no member goes on before all have come. It has no contents, and so one size.

use transport::{Collective, LinkError};

use super::Facts;
use super::collective::{Operation, Place, facts, halves};

pub(super) const FACTS: Facts = Facts {
    sized: false,
    largest: |_, _| 1,
    blocks: |_| (1, 1),
    ..facts("All members of a group wait for each other: time until the slowest goes on")
};

struct Barrier;

impl Operation for Barrier {
    #[inline(always)]
    fn step<L: Collective>(link: &mut L, _: &mut [u8], _: &mut [u8]) -> Result<(), LinkError> {
        link.barrier()
    }

    fn fill(_: &mut [u8], _: Place) {}

    fn wrong(_: &[u8], _: Place) -> Option<u64> {
        None
    }
}

halves!(Barrier);
