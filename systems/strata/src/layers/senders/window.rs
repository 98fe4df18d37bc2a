//! Which counters of a sender were seen: the highest, and a window of those before it. Pure.

const WORDS: usize = 16;
const BITS: u64 = WORDS as u64 * 64;

pub(super) struct Window {
    highest: u64,
    /// Bit `c % BITS` for counter `c`, of those within [`BITS`] below the highest.
    seen: [u64; WORDS],
}

impl Window {
    /// What is not above this counter counts as seen.
    pub(super) fn after(counter: u64) -> Self {
        Self { highest: counter, seen: [u64::MAX; WORDS] }
    }

    /// Whether it was not seen before; it is from now on.
    pub(super) fn fresh(&mut self, counter: u64) -> bool {
        if counter.saturating_add(BITS) <= self.highest {
            return false;
        }
        if counter > self.highest {
            let skipped = (self.highest + 1..counter).rev().take(BITS as usize);
            skipped.for_each(|c| self.seen[Self::word(c)] &= !Self::bit(c));
            self.highest = counter;
            self.seen[Self::word(counter)] |= Self::bit(counter);
            return true;
        }
        let (word, bit) = (Self::word(counter), Self::bit(counter));
        let fresh = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        fresh
    }

    fn word(counter: u64) -> usize {
        (counter % BITS / 64) as usize
    }

    fn bit(counter: u64) -> u64 {
        1 << (counter % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_once_and_none_before_the_window() {
        let mut w = Window::after(10);
        assert!(!w.fresh(10) && !w.fresh(3));
        assert!(w.fresh(13) && w.fresh(11) && w.fresh(12));
        assert!(!w.fresh(11) && !w.fresh(12) && !w.fresh(13));
        assert!(w.fresh(5000));
        assert!(!w.fresh(5000 - BITS) && w.fresh(5000 - BITS + 1) && !w.fresh(5000 - BITS + 1));
        assert!(w.fresh(u64::MAX) && !w.fresh(u64::MAX) && !w.fresh(4999));
    }

    #[test]
    fn it_agrees_with_a_set_of_all_that_was_seen() {
        let mut rng = crate::rng::Rng::new(5);
        let (mut w, mut seen, mut highest) = (Window::after(0), std::collections::BTreeSet::from([0]), 0u64);
        for _ in 0..20_000 {
            let c = (highest + rng.below(40)).saturating_sub(rng.below(1200));
            let fresh = c + BITS > highest.max(c) && !seen.contains(&c);
            assert_eq!(w.fresh(c), fresh, "{c} with {highest}");
            if fresh {
                seen.insert(c);
                highest = highest.max(c);
            }
        }
    }
}
