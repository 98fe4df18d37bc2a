//! Allreduce: the messages of all members are added up, as whole numbers of 64 bits, and each member gets the sums. A size is rounded up to whole words.

use transport::{Collective, LinkError, WORD};

use super::Facts;
use super::collective::{Operation, Place, facts, halves, took_part};
use crate::TrialSpec;
use crate::content::{self, Writer};

pub(super) const FACTS: Facts = Facts {
    messages: |spec: &TrialSpec| (whole_words(spec.size), whole_words(spec.size)),
    bytes: |trial, _| whole_words(trial.size).saturating_mul(took_part(trial)),
    startup: Some("allreduces"),
    ..facts("The sums of all members' numbers to each of them: time until the slowest has them")
};

fn whole_words(size: u64) -> u64 {
    size.max(1).div_ceil(WORD as u64).saturating_mul(WORD as u64)
}

struct Allreduce;

impl Operation for Allreduce {
    #[inline(always)]
    fn step<L: Collective>(link: &mut L, out: &mut [u8], into: &mut [u8]) -> Result<(), LinkError> {
        link.allreduce(out, into)
    }

    fn fill(out: &mut [u8], place: Place) {
        content::fill(out, place.seed, place.number(place.rank, 0), Writer::Near);
    }

    fn wrong(into: &[u8], place: Place) -> Option<u64> {
        let mut sums = vec![0u64; into.len() / WORD];
        let mut message = vec![0; into.len()];
        for rank in 0..place.members {
            content::fill(&mut message, place.seed, place.number(rank, 0), Writer::Near);
            for (sum, word) in sums.iter_mut().zip(message.chunks_exact(WORD)) {
                *sum = sum.wrapping_add(word.try_into().map_or(0, u64::from_ne_bytes));
            }
        }
        let right = sums.iter().flat_map(|sum| sum.to_ne_bytes());
        into.iter().zip(right).position(|(came, right)| *came != right).map(|at| at as u64)
    }
}

halves!(Allreduce);
