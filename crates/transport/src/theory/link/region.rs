//! One-sided access to the modelled far side.
//!
//! A put goes there as a message does, and a fence waits until a packet without payload has come back from where the last put arrived. A get is a
//! packet without payload there, and the bytes back. The far side does nothing.

use std::borrow::Cow;
use std::time::Duration;

use super::{Theory, TheoryLink};
use crate::{LinkError, OneSided};

/// What the modelled far side exposes.
#[derive(Debug, Default)]
pub(super) struct Exposed {
    len: usize,
    /// Its contents, where they are kept.
    contents: Option<Vec<u8>>,
    /// When all puts will have arrived, nanoseconds.
    arrived: f64,
    /// One of them never will.
    lost: bool,
}

impl Exposed {
    /// Keeps contents from now on, or doesn't.
    pub fn keep_contents(&mut self, keep: bool) {
        self.contents = keep.then(Vec::new);
        self.len = 0;
    }

    /// Forgets what is under way and what is exposed.
    pub fn clear(&mut self) {
        *self = Self { contents: self.contents.take(), ..Self::default() };
    }

    fn within(&self, offset: usize, len: usize) -> Result<(), LinkError> {
        let exposed = self.len;
        let all = offset <= exposed && len <= exposed - offset;
        if all { Ok(()) } else { Err(LinkError::Outside { offset, len, exposed }) }
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        self.within(at, from.len())?;
        if let Some(contents) = &mut self.contents {
            contents[at..at + from.len()].copy_from_slice(from);
        }
        Ok(())
    }

    fn read(&self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        self.within(at, into.len())?;
        if let Some(contents) = &self.contents {
            into.copy_from_slice(&contents[at..at + into.len()]);
        }
        Ok(())
    }
}

/// The model where no receiver is asked before a message is sent: memory is exposed already.
fn unasked(theory: &Theory) -> Cow<'_, Theory> {
    match theory.eager {
        None => Cow::Borrowed(theory),
        Some(_) => Cow::Owned(Theory { eager: None, ..theory.clone() }),
    }
}

impl OneSided for TheoryLink {
    fn reserve(&mut self, len: usize) -> Result<(), LinkError> {
        self.expose(len)
    }

    fn expose(&mut self, len: usize) -> Result<(), LinkError> {
        self.usable("exposing memory")?;
        let exposed = &mut self.exposed;
        exposed.len = exposed.len.max(len);
        if let Some(contents) = &mut exposed.contents {
            contents.resize(exposed.len, 0);
        }
        Ok(())
    }

    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        self.exposed.write(at, from)
    }

    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        self.exposed.read(at, into)
    }

    /// One process plays both ends: who asks is not putting.
    fn withdraw(&mut self, _: Duration) -> Result<bool, LinkError> {
        self.usable("waiting").map(|()| true)
    }

    /// What the far side is asked for it exposes.
    fn reach(&mut self, len: usize) -> Result<(), LinkError> {
        self.expose(len)
    }

    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        self.usable("putting")?;
        self.exposed.within(at, from.len())?;
        self.sync();
        let passage = self.out.carry(&unasked(&self.theory), &mut self.dice, self.now, from.len() as u64);
        if passage.lost {
            self.exposed.lost = true;
        } else {
            self.exposed.write(at, from)?;
            self.exposed.arrived = passage.last;
        }
        self.move_to(passage.sent);
        Ok(())
    }

    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        self.usable("getting")?;
        self.exposed.within(at, into.len())?;
        self.sync();
        let there = self.out.carry(&self.theory, &mut self.dice, self.now, 0);
        let back = self.back.carry(&unasked(&self.theory), &mut self.dice, there.last, into.len() as u64);
        self.arrives(there.lost || back.lost, back.last)?;
        self.exposed.read(at, into)
    }

    fn fence(&mut self) -> Result<(), LinkError> {
        self.usable("putting")?;
        self.sync();
        let from = self.exposed.arrived.max(self.now);
        let back = self.back.carry(&self.theory, &mut self.dice, from, 0);
        let lost = std::mem::take(&mut self.exposed.lost) || back.lost;
        self.arrives(lost, back.last)
    }

    fn leave(&mut self) -> Result<(), LinkError> {
        self.usable("leaving")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::theory::Theory;

    /// One byte a nanosecond, 50 bytes of header, a microsecond.
    fn link(theory: Theory) -> TheoryLink {
        TheoryLink::new(&Theory { latency: 1e-6, rate: 8e9, packet: 1000, header: 50, ..theory }, 0.5)
    }

    #[test]
    fn a_put_is_complete_when_word_is_back_and_a_get_when_the_bytes_are() {
        let mut link = link(Theory::default());
        let clock = link.clock();
        link.reach(5000).unwrap();
        let mut took = |act: &mut dyn FnMut(&mut TheoryLink)| {
            let begin = clock.now();
            act(&mut link);
            clock.now() - begin
        };
        assert_eq!(took(&mut |link| link.put(0, &[1; 1000]).unwrap()), 1050, "the memory is free once it has left");
        assert_eq!(took(&mut |link| link.fence().unwrap()), 1000 + 1050);
        assert_eq!(took(&mut |link| link.get(0, &mut [0; 100]).unwrap()), 1050 + 1150);
        // Of two puts under way one fence waits for the last.
        assert_eq!(took(&mut |link| (0..2).for_each(|_| link.put(0, &[1; 1000]).unwrap())), 2100);
        assert_eq!(took(&mut |link| link.fence().unwrap()), 2050);
    }

    #[test]
    fn contents_are_where_they_were_put() {
        let mut link = link(Theory::default());
        link.keep_contents(true);
        link.reach(10).unwrap();
        link.put(3, b"abc").unwrap();
        link.fence().unwrap();
        let mut all = [9; 10];
        link.get(0, &mut all).unwrap();
        assert_eq!(&all, b"\0\0\0abc\0\0\0\0");
        for (at, len) in [(0, 11), (11, 0), (10, 1), (usize::MAX, 2)] {
            assert!(matches!(link.put(at, &vec![0; len]), Err(LinkError::Outside { exposed: 10, .. })), "{at} {len}");
            assert!(matches!(link.get(at, &mut vec![0; len]), Err(LinkError::Outside { .. })), "{at} {len}");
        }
        link.connect(1);
        assert!(matches!(link.put(0, b"a"), Err(LinkError::Outside { exposed: 0, .. })), "a fresh one exposes nothing");
    }

    #[test]
    fn what_is_lost_is_told_by_the_fence() {
        let mut link = link(Theory { loss: 1.0, ..Theory::default() });
        let clock = link.clock();
        link.reach(10).unwrap();
        link.put(0, &[1]).unwrap();
        assert!(matches!(link.fence(), Err(LinkError::Lost)));
        assert!(matches!(link.get(0, &mut [1]), Err(LinkError::Lost)));
        assert!(clock.now() > 1_000_000_000, "each waited for what did not come");
    }
}
