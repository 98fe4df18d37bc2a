//! How far this member's own casts have come: for who leaves, and says how many the others may lack. Pure.
//!
//! NAK knows how many of its numbered casts all have, and the top of the stack which of the application's casts were given here; layers in between pack, cut and hold back. As one is given here, all of it
//! stands below NAK's next number: it is everywhere when all have what is below that.

use std::collections::VecDeque;

#[derive(Default)]
pub(crate) struct Spread {
    /// NAK's next number in this view.
    next: u64,
    /// Below it all members of the view have them.
    everywhere: u64,
    /// The same of those alone who do not go along into the next view, when the view ends: the others have the same as this member then.
    dropped: Option<u64>,
    /// What was given here and is not everywhere: below which number, and how many.
    given: VecDeque<(u64, u64)>,
}

impl Spread {
    /// NAK's next number.
    pub(crate) fn numbered(&mut self, next: u64) {
        self.next = next;
    }

    /// So many casts were given to the application of this member, which had cast them.
    pub(crate) fn given(&mut self, casts: u64) {
        if self.next <= self.everywhere {
            return;
        }
        match self.given.back_mut() {
            Some((below, count)) if *below == self.next => *count += casts,
            _ => self.given.push_back((self.next, casts)),
        }
    }

    /// All members have what is below this number.
    pub(crate) fn stable(&mut self, below: u64) {
        self.everywhere = below;
        while self.given.front().is_some_and(|(number, _)| *number <= below) {
            self.given.pop_front();
        }
    }

    /// The view ends, perhaps: of those who do not go along each has what is below this number; all do where there is none.
    pub(crate) fn ends(&mut self, dropped: Option<u64>) {
        self.dropped = Some(dropped.unwrap_or(u64::MAX));
    }

    /// How many were given here that some may lack who are not in the next view, where the view ends now.
    pub(crate) fn lacking(&self) -> u64 {
        let below = self.dropped.unwrap_or(self.everywhere);
        self.given.iter().filter(|(number, _)| *number > below).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_here_is_counted_until_all_have_it_or_go_along() {
        let mut spread = Spread::default();
        // A pack of three, one in two pieces, and one that was held back until others were numbered.
        for (next, casts) in [(1, 3), (3, 1), (5, 1)] {
            spread.numbered(next);
            spread.given(casts);
        }
        assert_eq!(spread.lacking(), 5);
        spread.stable(2);
        assert_eq!(spread.lacking(), 2, "half of one is none");
        spread.ends(None);
        assert_eq!(spread.lacking(), 0, "all go along");
        spread.ends(Some(3));
        assert_eq!(spread.lacking(), 1);
        spread.ends(Some(0));
        assert_eq!(spread.lacking(), 2);
    }

    #[test]
    fn what_is_alone_in_its_view_has_nothing_to_lack() {
        let mut spread = Spread::default();
        for next in 1..100 {
            spread.numbered(next);
            spread.given(1);
            spread.stable(next);
        }
        assert_eq!((spread.lacking(), spread.given.len()), (0, 0));
    }
}
