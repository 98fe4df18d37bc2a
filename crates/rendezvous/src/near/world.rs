//! The ranks of a person's own launcher, as the sides of a run share them: a world of ranks begins once.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use transport::{Name, Settings};

use super::seats::Seats;
use crate::allocation::{Place, Ranks};

/// One path's ranks, where a launcher started this command, and which of the run's sides this is.
#[derive(Clone)]
pub(crate) struct World {
    ranks: Rc<RefCell<Option<Rc<Ranks>>>>,
    side: usize,
    sides: usize,
}

impl World {
    /// Of a path that so many sides measure: one for each.
    pub(crate) fn shared(sides: usize) -> Vec<Self> {
        let ranks = Rc::default();
        (0..sides).map(|side| Self { ranks: Rc::clone(&ranks), side, sides }).collect()
    }

    /// Seats of this side among the ranks, which begin with the first that are asked for.
    pub(super) fn seats(&self, place: Place, transport: Name, settings: &Settings) -> io::Result<Seats> {
        let mut ranks = self.ranks.borrow_mut();
        let ranks = match &*ranks {
            Some(ranks) => Rc::clone(ranks),
            None => Rc::clone(ranks.insert(Rc::new(Ranks::begin(place, transport, settings, self.sides)?))),
        };
        Ok(Seats::of(ranks, self.side))
    }
}
