//! What goes into the log and when, without I/O.
//!
//! The group's log is what is in the file and a tail that may still be lost: what came in a view that is not primary, or as a view ended. It goes into the file with the next primary view that this member goes along with. Where the
//! group's log is another one, it takes the place of both.
//!
//! Each line has its sender and a number, and the group's state says how many lines of each sender it has. A line is taken when it is the sender's next. So a member may cast again what it does not find in the log, and nothing is
//! in it twice or out of order. That table has a number for each life of a member that ever wrote: it stays smaller than the log.

use std::collections::{BTreeMap, VecDeque};

use strata::Endpoint;
use strata::wire::{Reader, Short, Writer};

/// Lines of this member that are not in the file yet, at most.
const MOST: usize = 1024;

/// What is to be done to the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Write {
    Append(Vec<u8>),
    Replace(Vec<u8>),
}

pub struct Entries {
    me: Endpoint,
    /// How many lines of each the group's log has.
    taken: BTreeMap<Endpoint, u64>,
    /// Lines from here that are not in the file, the number of the first, and how many of them were cast.
    own: VecDeque<Vec<u8>>,
    first: u64,
    cast: usize,
    primary: bool,
    /// A primary view has begun: all that came before it is certain, unless another log comes.
    begins: bool,
    /// The group's log, in the place of the file's.
    instead: Option<Vec<u8>>,
    tail: Vec<u8>,
    /// How much of the tail is certain, with how many of this member's lines.
    certain: Option<(usize, u64)>,
}

impl Entries {
    pub fn new(me: Endpoint) -> Self {
        Self {
            me,
            taken: BTreeMap::new(),
            own: VecDeque::new(),
            first: 1,
            cast: 0,
            primary: false,
            begins: false,
            instead: None,
            tail: Vec::new(),
            certain: None,
        }
    }

    /// Whether a further line of the input is to be given here.
    pub fn wants(&self) -> bool {
        self.own.len() < MOST
    }

    /// A line of the input.
    pub fn line(&mut self, line: Vec<u8>) {
        self.own.push_back(line);
    }

    /// What is to be cast next.
    pub fn next(&self) -> Option<Vec<u8>> {
        let line = self.own.get(self.cast).filter(|_| self.primary)?;
        let mut to = Writer::new();
        to.u64(self.first + self.cast as u64);
        to.bytes(line);
        Some(to.0)
    }

    /// That was cast.
    pub fn was_cast(&mut self) {
        self.cast += 1;
    }

    /// That can't be cast.
    pub fn drop_next(&mut self) {
        self.own.remove(self.cast);
    }

    /// Lines from here that are not in the file.
    pub fn waiting(&self) -> usize {
        self.own.len()
    }

    pub fn view(&mut self, primary: bool) {
        (self.primary, self.begins) = (primary, primary);
    }

    /// The group's state is another.
    pub fn state(&mut self, state: &[u8]) -> Result<(), Short> {
        let from = &mut Reader(state);
        let lives = from.length(16)?;
        self.taken = (0..lives).map(|_| Ok((Endpoint::read(from)?, from.u64()?))).collect::<Result<_, Short>>()?;
        self.instead = Some(from.0.to_vec());
        self.tail.clear();
        self.certain = None;
        // What is not in it is cast again; what is in it and is cast again is not taken.
        self.cast = 0;
        Ok(())
    }

    /// A message; whether it is certain where the view is primary.
    pub fn message(&mut self, from: Endpoint, body: &[u8], firm: bool) {
        self.settle();
        let body = &mut Reader(body);
        let Ok(number) = body.u64() else { return };
        let taken = self.taken.get(&from).copied().unwrap_or(0);
        if number != taken + 1 {
            return;
        }
        self.taken.insert(from, number);
        self.tail.extend_from_slice(body.0);
        self.tail.push(b'\n');
        if firm && self.primary {
            self.is_certain();
        }
    }

    /// The state for another member, with what the file has.
    pub fn give(&self, file: Vec<u8>) -> Vec<u8> {
        let mut to = Writer::new();
        to.count(self.taken.len() as u64);
        for (who, taken) in &self.taken {
            who.write(&mut to);
            to.u64(*taken);
        }
        to.bytes(self.instead.as_ref().unwrap_or(&file));
        to.bytes(&self.tail);
        to.0
    }

    /// What the file lacks, when all that has come was told.
    pub fn due(&mut self) -> Option<Write> {
        self.settle();
        let (len, own) = self.certain.take()?;
        while self.first <= own && self.own.pop_front().is_some() {
            self.first += 1;
            self.cast = self.cast.saturating_sub(1);
        }
        let more: Vec<_> = self.tail.drain(..len).collect();
        match self.instead.take() {
            Some(all) => Some(Write::Replace([all, more].concat())),
            None => Some(Write::Append(more)).filter(|_| len > 0),
        }
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.begins) {
            self.is_certain();
        }
    }

    fn is_certain(&mut self) {
        self.certain = Some((self.tail.len(), self.taken.get(&self.me).copied().unwrap_or(0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(n: u64) -> Endpoint {
        Endpoint { addr: ([10, 0, 0, 1], 7).into(), born: n }
    }

    fn append(text: &str) -> Option<Write> {
        Some(Write::Append(text.into()))
    }

    /// Casts all that is to be cast.
    fn cast(of: &mut Entries) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| {
            let next = of.next();
            next.is_some().then(|| of.was_cast());
            next
        })
        .collect()
    }

    #[test]
    fn lines_of_a_minority_wait_and_those_that_its_log_lost_are_cast_again_once() {
        let (a, b) = (who(1), who(2));
        let mut at = Entries::new(b);
        at.view(true);
        assert!(at.wants());
        ["one", "two", "three"].into_iter().for_each(|l| at.line(l.into()));
        let said = cast(&mut at);
        at.message(b, &said[0], true);
        assert_eq!(at.due(), append("one\n"));
        // The view ends: the others have the second and not the third, and go on; this member is alone.
        at.message(b, &said[1], false);
        at.view(false);
        at.message(b, &said[2], true);
        assert_eq!(at.due(), None, "nothing that may be lost is in the file");
        assert!(at.next().is_none() && at.waiting() == 2);

        let mut other = Entries::new(a);
        other.view(true);
        said[..2].iter().for_each(|m| other.message(b, m, true));
        at.view(true);
        at.state(&other.give(Vec::new())).unwrap();
        assert_eq!(at.due(), Some(Write::Replace(b"one\ntwo\n".to_vec())));
        let again = cast(&mut at);
        assert_eq!(again, [said[2].clone()]);
        again.iter().chain(&said).for_each(|m| at.message(b, m, true));
        assert_eq!(at.due(), append("three\n"));
        assert_eq!(at.waiting(), 0);
    }

    #[test]
    fn what_came_without_a_majority_is_in_the_file_when_there_is_one_again() {
        let (a, b) = (who(1), who(2));
        let mut at = Entries::new(a);
        at.view(true);
        at.line("one".into());
        let said = cast(&mut at);
        at.view(false);
        at.message(a, &said[0], true);
        assert_eq!(at.due(), None);
        assert!(at.give(Vec::new()).ends_with(b"one\n"), "who joins now gets it");
        at.view(true);
        assert_eq!(at.due(), append("one\n"));
        // Of another sender nothing is taken ahead of what lacks.
        let second = [&2u64.to_le_bytes()[..], b"b2"].concat();
        at.message(b, &second, true);
        assert_eq!(at.due(), None);
        assert!(Entries::new(b).state(&[9]).is_err());
    }
}
