//! Which datagrams are missing, late or double, from the numbers that they carry.

/// What an arriving number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The next one, or a later one with this many missing before it.
    Fresh {
        /// Numbers skipped.
        missed: u32,
    },
    /// One that was missing.
    Late,
    /// One that was here before.
    Double,
    /// Behind what was expected by a single byte: late, double, or the first after a gap of almost 256.
    Unclear,
}

/// How far behind a number of a single byte may be and still be taken for an old one. Only 256 numbers can be told apart,
/// and a fast sender's losses come in longer runs than a path's reordering: what lies further back is a gap.
const BEHIND: u64 = 8;

/// Follows numbers that count up by one and wrap. A number may be cut to its lowest 1 to 3 bytes. With two or three, a gap of
/// up to 7/8 of their range is told from an old number; with one, a gap of up to 247, and of what is old nobody can say
/// whether it is late, double or not old at all.
#[derive(Debug, Clone)]
pub(crate) struct Tracker {
    /// The number expected next.
    next: u32,
    /// Bit i: number `next - 1 - i` has arrived.
    seen: u128,
}

impl Tracker {
    /// Expects `first` next.
    pub fn new(first: u32) -> Self {
        // What came before the first is not missing.
        Self { next: first, seen: u128::MAX }
    }

    /// Takes note of a number of which the lowest `bytes` (1 to 4) bytes are `low`.
    #[inline]
    pub fn arrived(&mut self, low: u32, bytes: usize) -> Arrival {
        let range = 1u64 << (8 * bytes.clamp(1, 4));
        let ahead = u64::from(low.wrapping_sub(self.next)) & (range - 1);
        let behind = range - ahead;
        if behind > if bytes == 1 { BEHIND } else { range / 8 } {
            // `ahead` is below 7/8 of 2^32, so it fits.
            let missed = ahead as u32;
            self.seen = self.seen.checked_shl(missed.saturating_add(1)).unwrap_or(0) | 1;
            self.next = self.next.wrapping_add(missed).wrapping_add(1);
            return Arrival::Fresh { missed };
        }
        if bytes == 1 {
            return Arrival::Unclear;
        }
        // Beyond the window nobody knows; late is the likelier.
        let bit = u32::try_from(behind - 1).ok().and_then(|shift| 1u128.checked_shl(shift)).unwrap_or(0);
        if self.seen & bit != 0 {
            return Arrival::Double;
        }
        self.seen |= bit;
        Arrival::Late
    }
}

/// What one side's receives saw since the link was made. Datagrams of a single byte are never counted as reordered or
/// duplicated: their numbers don't reach far enough to tell. One that is behind is dropped, and stays counted as lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// Numbers that never came (so far): a later one did.
    pub lost: u64,
    /// Datagrams that came after a later one. They were dropped, and are not counted as lost.
    pub reordered: u64,
    /// Datagrams that came again. They were dropped.
    pub duplicated: u64,
    /// Datagrams of another size than the message asked for: remains of an earlier trial. They were dropped.
    pub mismatched: u64,
    /// Datagrams that nobody of this measurement sent. They were dropped.
    pub strangers: u64,
}

/// The counters behind [`DatagramCounts`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    missed: u64,
    late: u64,
    double: u64,
    mismatched: u64,
    /// Datagrams that nobody of this measurement sent.
    pub strangers: u64,
}

impl Counters {
    pub fn counts(&self) -> DatagramCounts {
        DatagramCounts {
            lost: self.missed.saturating_sub(self.late),
            reordered: self.late,
            duplicated: self.double,
            mismatched: self.mismatched,
            strangers: self.strangers,
        }
    }

    /// Counts what came, of the size asked for if `fits`; whether it is to be returned.
    #[cold]
    pub fn note(&mut self, arrival: Arrival, fits: bool) -> bool {
        match arrival {
            Arrival::Fresh { missed } => {
                self.missed += u64::from(missed);
                self.mismatched += u64::from(!fits);
                return fits;
            }
            Arrival::Late => self.late += 1,
            Arrival::Double => self.double += 1,
            Arrival::Unclear => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(numbers: &[u32], bytes: usize) -> Vec<Arrival> {
        let mut t = Tracker::new(numbers[0]);
        let mask = ((1u64 << (8 * bytes)) - 1) as u32;
        numbers.iter().map(|n| t.arrived(n & mask, bytes)).collect()
    }

    const NEXT: Arrival = Arrival::Fresh { missed: 0 };

    #[test]
    fn in_order_is_fresh_at_every_width_and_through_the_wrap() {
        for bytes in 1..=4 {
            let numbers: Vec<u32> = (0..1000).map(|i| (u32::MAX - 500).wrapping_add(i)).collect();
            assert!(follow(&numbers, bytes).iter().all(|a| *a == NEXT), "{bytes}");
        }
    }

    #[test]
    fn gaps_late_ones_and_doubles_are_told_apart() {
        for bytes in 2..=4 {
            assert_eq!(
                follow(&[10, 13, 11, 11, 13, 12, 14, 10], bytes),
                [
                    NEXT,
                    Arrival::Fresh { missed: 2 },
                    Arrival::Late,
                    Arrival::Double,
                    Arrival::Double,
                    Arrival::Late,
                    NEXT,
                    Arrival::Double
                ],
                "{bytes}"
            );
        }
    }

    #[test]
    fn a_single_byte_tells_gaps_and_little_else() {
        for missed in [1, 100, 224, 247] {
            assert_eq!(follow(&[0, missed + 1], 1)[1], Arrival::Fresh { missed });
        }
        let got = follow(&[10, 13, 11, 13, 14, 5], 1);
        let unclear = Arrival::Unclear;
        assert_eq!(got, [NEXT, Arrival::Fresh { missed: 2 }, unclear, unclear, NEXT, Arrival::Fresh { missed: 246 }]);
        assert_eq!(follow(&[0, 249], 1)[1], unclear, "an old number by this byte alone");
    }

    #[test]
    fn heavy_loss_of_single_bytes_is_neither_duplication_nor_reordering() {
        // Every gap that a burst of losses may leave, each followed by 300 that arrive.
        let (mut counters, mut sent) = (Counters::default(), 0u32);
        let mut tracker = Tracker::new(sent);
        for gap in 0..1000 {
            sent += gap;
            for _ in 0..300 {
                let arrival = tracker.arrived(sent & 0xff, 1);
                counters.note(arrival, true);
                sent += 1;
            }
        }
        let counts = counters.counts();
        assert_eq!((counts.reordered, counts.duplicated), (0, 0));
        assert!(counts.lost > 0);
    }

    #[test]
    fn a_gap_wider_than_the_window_forgets_it() {
        let got = follow(&[0, 1000, 1, 1000, 999], 4);
        assert_eq!(got[1..], [Arrival::Fresh { missed: 999 }, Arrival::Late, Arrival::Double, Arrival::Late]);
    }

    #[test]
    fn widths_may_change_from_message_to_message() {
        let mut t = Tracker::new(70_000);
        assert_eq!(t.arrived(70_000, 4), NEXT);
        assert_eq!(t.arrived(70_001 & 0xff, 1), NEXT);
        assert_eq!(t.arrived(70_004 & 0xffff, 2), Arrival::Fresh { missed: 2 });
        assert_eq!(t.arrived(70_002, 4), Arrival::Late);
    }
}
