//! What all members of a group of a module's links do together.

use std::time::Duration;

use super::{MISSING, ModuleLink};
use crate::{Collective, LinkError, WORD};

impl ModuleLink {
    /// Whether a message for each member has this length.
    fn for_each(&self, len: usize, all: usize) -> Result<(), LinkError> {
        let members = self.members() as usize;
        match len.checked_mul(members) == Some(all) {
            true => Ok(()),
            false => Err(LinkError::Outside { offset: 0, len: len.saturating_mul(members), exposed: all }),
        }
    }
}

impl Collective for ModuleLink {
    fn members(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.members)
    }
    fn rank(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.rank)
    }
    fn barrier(&mut self) -> Result<(), LinkError> {
        through!(self, collective.barrier, "waiting at a barrier", 0, Duration::ZERO, ())
    }
    fn broadcast(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let len = message.len();
        through!(self, collective.broadcast, "broadcasting", len, Duration::ZERO, (message.as_mut_ptr().cast(), len))
    }
    fn allreduce(&mut self, mine: &[u8], sums: &mut [u8]) -> Result<(), LinkError> {
        let len = mine.len();
        if len != sums.len() || !len.is_multiple_of(WORD) {
            return Err(LinkError::Outside { offset: 0, len, exposed: sums.len() / WORD * WORD });
        }
        let (from, to) = (mine.as_ptr().cast(), sums.as_mut_ptr().cast());
        through!(self, collective.allreduce, "reducing", len, Duration::ZERO, (from, to, len))
    }
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), LinkError> {
        self.for_each(mine.len(), all.len())?;
        let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
        through!(self, collective.allgather, "gathering", all.len(), Duration::ZERO, (from, to, mine.len()))
    }
    fn all_to_all(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        let len = out.len() / self.members().max(1) as usize;
        self.for_each(len, out.len())?;
        self.for_each(len, into.len())?;
        let (from, to) = (out.as_ptr().cast(), into.as_mut_ptr().cast());
        through!(self, collective.all_to_all, "exchanging with all", into.len(), Duration::ZERO, (from, to, len))
    }
}
