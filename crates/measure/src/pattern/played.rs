//! A group of tests of patterns: what comes to one member is written down before.

use std::collections::VecDeque;
use std::time::Duration;

use transport::{Capabilities, Delivered, Group, Link, LinkError, Order};

/// A member of a group of three that plays back what it was given: one order of all casts.
pub(crate) struct Played {
    pub rank: u32,
    /// Casts of this member so far.
    pub casts: u32,
    /// The messages of those of this trial.
    pub cast: Vec<Vec<u8>>,
    pub order: Order,
    pub reliable: bool,
    /// Whose casts come, which of its casts they are, and the number in them.
    pub delivers: VecDeque<(u32, u32, u64)>,
    /// Who answers what.
    pub answers: VecDeque<(u32, Vec<u8>)>,
}

impl Link for Played {
    fn capabilities(&self) -> Capabilities {
        Capabilities { group: true, reliable: self.reliable, ..Capabilities::plain() }
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.cast(message).map(drop)
    }
    fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
        Err(LinkError::Lost)
    }
    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        Err(LinkError::Lost)
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(false)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
    fn group(&mut self) -> Option<&mut dyn Group> {
        Some(self)
    }
}

impl Group for Played {
    fn members(&self) -> u32 {
        3
    }
    fn rank(&self) -> u32 {
        self.rank
    }
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.casts = self.casts.wrapping_add(1);
        self.cast.push(message.to_vec());
        Ok(self.casts)
    }
    fn order(&self) -> Order {
        self.order
    }
    fn hears_itself(&mut self, asked: bool) -> bool {
        asked && self.order == Order::Total
    }
    fn leave_out(&mut self, casts: u32) -> Option<u32> {
        self.casts = self.casts.wrapping_add(casts);
        (!self.reliable).then_some(self.casts)
    }
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        let (from, number, says) = self.delivers.pop_front().ok_or(LinkError::Lost)?;
        message.copy_from_slice(&says.to_le_bytes()[..message.len()]);
        Ok(Delivered { from, number })
    }
    fn answer(&mut self, _: u32, _: &[u8]) -> Result<(), LinkError> {
        Ok(())
    }
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        let (from, answer) = self.answers.pop_front().ok_or(LinkError::Lost)?;
        message.copy_from_slice(&answer);
        Ok(from)
    }
}
