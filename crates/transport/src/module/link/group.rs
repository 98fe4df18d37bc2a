//! A module's link as a member of a group that casts.

use std::ffi::c_int;
use std::time::Duration;

use super::{MISSING, ModuleLink};
use crate::module::abi;
use crate::{Delivered, Group, LinkError, Order};

impl ModuleLink {
    /// Whether it is a member of a group that casts.
    #[inline]
    pub(super) fn casts(&self) -> bool {
        self.can.group && self.seat.is_some()
    }
}

impl Group for ModuleLink {
    fn members(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.members)
    }
    fn rank(&self) -> u32 {
        self.seat.as_ref().map_or(0, |seat| seat.rank)
    }
    fn order(&self) -> Order {
        match (self.at.is_null(), self.group.and_then(|table| table.order)) {
            // SAFETY: the link is the module's own.
            (false, Some(order)) if unsafe { order(self.at) } == abi::OF_ALL => Order::Total,
            _ => Order::Sender,
        }
    }
    fn hears_itself(&mut self, asked: bool) -> bool {
        let mut hears: c_int = 0;
        let mut ask = || {
            through!(
                self,
                group.hear_itself,
                "asking for its own casts",
                0,
                Duration::ZERO,
                (c_int::from(asked), &raw mut hears)
            )
        };
        ask().is_ok() && hears != 0
    }
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.queue(message)?;
        crate::Link::flush(self)?;
        Ok(self.seat.as_ref().map_or(0, |seat| seat.casts))
    }
    fn queue(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        through!(self, group.cast, "casting", message.len(), Duration::ZERO, (message.as_ptr().cast(), message.len()))?;
        let Some(seat) = &mut self.seat else { return Err(MISSING) };
        seat.casts = seat.casts.wrapping_add(1);
        Ok(seat.casts)
    }
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        let (mut from, mut number) = (0, 0);
        let (into, len) = (message.as_mut_ptr().cast(), message.len());
        through!(
            self,
            group.deliver,
            "waiting for a cast",
            len,
            Duration::ZERO,
            (into, len, &raw mut from, &raw mut number)
        )?;
        Ok(Delivered { from, number })
    }
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        if to >= self.members() || (to == 0) == (self.rank() == 0) {
            return Err(LinkError::Unsupported("answer a member that it has not met, or itself"));
        }
        through!(
            self,
            group.answer,
            "answering",
            message.len(),
            Duration::ZERO,
            (to, message.as_ptr().cast(), message.len())
        )
    }
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        let (mut from, into, len) = (0, message.as_mut_ptr().cast(), message.len());
        through!(self, group.answered, "waiting for an answer", len, Duration::ZERO, (into, len, &raw mut from))?;
        Ok(from)
    }
}
