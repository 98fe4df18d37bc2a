//! Barrier: no member goes on before all have come. It has no contents, and so one size.

use transport::{Collective, LinkError};

use super::collective::{Operation, Place, facts, halves};
use super::{Facts, Sizes};

/// What stands in place of a size.
const NO_SIZE: &str = "none";

pub(super) const FACTS: Facts = Facts {
    sized: false,
    largest: |_, _| 1,
    messages: |_| (1, 1),
    bytes: |_, _| 0,
    size: Sizes { cell: |_| NO_SIZE.to_owned(), brief: |_| NO_SIZE.to_owned(), ..Sizes::BYTES },
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
