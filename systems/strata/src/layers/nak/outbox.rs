//! Sends to one member that it has not yet confirmed. Pure.

use std::collections::VecDeque;

use crate::message::Msg;

#[derive(Default)]
pub(super) struct Outbox {
    log: VecDeque<Msg>,
    base: u64,
    bytes: usize,
}

impl Outbox {
    pub(super) fn append(&mut self, msg: Msg) -> u64 {
        self.bytes += msg.len();
        self.log.push_back(msg);
        self.next() - 1
    }

    pub(super) fn next(&self) -> u64 {
        self.base + self.log.len() as u64
    }

    pub(super) fn kept(&self, number: u64) -> Option<&Msg> {
        self.log.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    pub(super) fn free(&mut self, below: u64) {
        while self.base < below
            && let Some(msg) = self.log.pop_front()
        {
            self.base += 1;
            self.bytes -= msg.len();
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn held(&self) -> usize {
        self.log.len()
    }
}
