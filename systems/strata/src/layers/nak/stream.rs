//! What one member has of another's stream: what was delivered and is kept for others, what came too early, and what is known to exist. Pure.

use std::collections::{BTreeMap, VecDeque};

use crate::message::Msg;
use crate::time::Time;

#[derive(Default)]
pub(super) struct Stream {
    /// Delivered, and not yet known to be everywhere.
    log: VecDeque<Msg>,
    /// The number of the first in the log.
    base: u64,
    bytes: usize,
    /// Beyond a gap.
    early: BTreeMap<u64, Msg>,
    /// How many there are, as far as anybody said.
    exist: u64,
    /// When to ask for what lacks.
    pub(super) ask: Option<Time>,
    /// How often was asked since anything came.
    pub(super) tries: u32,
}

impl Stream {
    /// The number of the next to be delivered: how many were.
    pub(super) fn next(&self) -> u64 {
        self.base + self.log.len() as u64
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// One's own cast: delivered at once.
    pub(super) fn append(&mut self, msg: Msg) -> u64 {
        let number = self.next();
        self.bytes += msg.len();
        self.log.push_back(msg);
        self.exist = self.exist.max(number + 1);
        number
    }

    /// Whether it is new, and not too far ahead to be kept.
    pub(super) fn accept(&mut self, number: u64, msg: Msg, window: u64) -> bool {
        if number == u64::MAX {
            return false;
        }
        let next = self.next();
        if number >= next.saturating_add(window) {
            return false;
        }
        self.exist = self.exist.max(number + 1);
        if number < next || self.early.contains_key(&number) {
            return false;
        }
        self.early.insert(number, msg);
        true
    }

    /// The next in order, below the limit. `skip` is a mutant's.
    pub(super) fn deliver(&mut self, limit: u64, skip: bool) -> Option<Msg> {
        let next = self.next();
        if next >= limit {
            return None;
        }
        if skip && let Some((&at, _)) = self.early.iter().next() {
            let msg = self.early.remove(&at)?;
            self.base += at - next;
            self.bytes += msg.len();
            self.log.push_back(msg.clone());
            return Some(msg);
        }
        let msg = self.early.remove(&next)?;
        self.bytes += msg.len();
        self.log.push_back(msg.clone());
        self.tries = 0;
        Some(msg)
    }

    /// Somebody says that there are so many.
    pub(super) fn exists(&mut self, count: u64) {
        self.exist = self.exist.max(count);
    }

    /// Whether something is known to exist that was not delivered.
    pub(super) fn lacks(&self) -> bool {
        self.exist > self.next()
    }

    pub(super) fn ask_at(&mut self, at: Time) {
        self.ask = Some(at);
        self.tries = 0;
    }

    /// Ranges of numbers that lack below the limit, from and to (not included); at most `most` of them.
    pub(super) fn gaps(&self, limit: u64, window: u64, most: usize) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut from = self.next();
        let end = self.exist.min(limit).min(from.saturating_add(window));
        for &have in self.early.keys().take_while(|&&k| k < end) {
            if have > from {
                gaps.push((from, have));
            }
            from = have + 1;
            if gaps.len() == most {
                return gaps;
            }
        }
        if from < end {
            gaps.push((from, end));
        }
        gaps
    }

    /// A delivered one that is still kept.
    pub(super) fn kept(&self, number: u64) -> Option<&Msg> {
        self.log.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// Everybody has those below: bytes that were freed.
    pub(super) fn free(&mut self, below: u64) -> usize {
        let mut freed = 0;
        while self.base < below
            && let Some(msg) = self.log.pop_front()
        {
            self.base += 1;
            freed += msg.len();
        }
        self.bytes -= freed;
        freed
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn held(&self) -> usize {
        self.log.len() + self.early.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn msg(n: u8) -> Msg {
        Msg::new(vec![n])
    }

    #[test]
    fn what_comes_early_waits_and_gaps_are_told() {
        let mut s = Stream::default();
        for n in [0, 2, 3, 6] {
            assert!(s.accept(n, msg(n as u8), 100));
        }
        assert!(!s.accept(2, msg(2), 100), "twice");
        assert!(!s.accept(200, msg(0), 100), "beyond the window");
        assert!(s.deliver(u64::MAX, false).is_some());
        assert!(s.deliver(u64::MAX, false).is_none());
        s.exists(9);
        assert_eq!(s.gaps(u64::MAX, 100, 10), [(1, 2), (4, 6), (7, 9)]);
        assert_eq!(s.gaps(5, 100, 10), [(1, 2), (4, 5)]);
        assert_eq!(s.gaps(u64::MAX, 100, 2), [(1, 2), (4, 6)]);
        assert!(s.accept(1, msg(1), 100));
        assert!(s.deliver(2, false).is_some());
        assert!(s.deliver(2, false).is_none(), "the limit holds");
    }

    #[test]
    fn what_all_have_is_freed_and_no_more() {
        let mut s = Stream::default();
        for n in 0..4 {
            assert_eq!(s.append(msg(n)), u64::from(n));
        }
        assert_eq!(s.free(3), 3);
        assert_eq!((s.base(), s.next(), s.bytes()), (3, 4, 1));
        assert!(s.kept(2).is_none() && s.kept(3).is_some() && s.kept(4).is_none());
        assert_eq!(s.free(9), 1, "not beyond what was delivered");
    }
}
