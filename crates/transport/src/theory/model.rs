//! The formula of the modelled path, and one direction of it as a line that is busy or free.

use super::Theory;
use super::dice::Dice;

impl Theory {
    /// Packets of a message of `n` bytes; an empty message still takes one.
    pub fn packets(&self, n: u64) -> u64 {
        n.div_ceil(self.packet.max(1)).max(1)
    }

    /// Product of the factors of all dips that `n` lies in.
    pub fn dip_factor(&self, n: u64) -> f64 {
        self.dips.iter().filter(|d| (d.from..d.to).contains(&n)).map(|d| d.factor).product()
    }

    /// Seconds for which a message of `n` bytes occupies the line, without noise.
    pub fn line_time(&self, n: u64) -> f64 {
        let bytes = self.packets(n) as f64 * self.header as f64 + n as f64;
        // A rate of 0 would stop time; `check` refuses it, and here it costs nothing.
        if self.rate > 0.0 { bytes * 8.0 / self.rate * self.dip_factor(n) } else { 0.0 }
    }

    /// Seconds from the moment a message of `n` bytes is given to its first byte arriving, without noise.
    pub fn delay(&self, n: u64) -> f64 {
        let ways = if self.eager.is_some_and(|limit| n > limit) { 3.0 } else { 1.0 };
        ways * self.latency * self.dip_factor(n)
    }

    /// Seconds from a message's first byte leaving to its last byte arriving, without noise:
    /// `delay + (packets * header + n) * 8 / rate * dip factor`.
    pub fn one_way_time(&self, n: u64) -> f64 {
        self.delay(n) + self.line_time(n)
    }

    /// Bits of payload a second in an endless stream of messages of `n` bytes, without noise.
    pub fn stream_rate(&self, n: u64) -> f64 {
        n as f64 * 8.0 / self.line_time(n)
    }
}

/// A message's way over a line. Times are nanoseconds of virtual time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage {
    /// The first byte leaves.
    pub begin: f64,
    /// The last byte has left: the sender is free again.
    pub sent: f64,
    /// The first byte arrives.
    pub first: f64,
    /// The last byte arrives.
    pub last: f64,
    /// The message never arrives.
    pub lost: bool,
}

/// One direction of the path: one message after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    free: f64,
    latest: f64,
    /// Messages of loading flows, and their size in bytes, that lie before each message.
    load: (u32, u64),
    /// Size, latency, line time and wait behind the load of the last message: sizes rarely change from one message to the next.
    known: Option<(u64, f64, f64, f64)>,
}

impl Line {
    /// Forgets what is under way.
    pub fn idle(&mut self) {
        self.free = 0.0;
        self.latest = 0.0;
    }

    /// Lets each message wait for `messages` others of `size` bytes: one of each flow that loads the line.
    pub fn load(&mut self, messages: u32, size: u64) {
        self.load = (messages, size);
        self.known = None;
    }

    /// Forgets what the last size cost: the path has changed.
    pub fn known_no_more(&mut self) {
        self.known = None;
    }

    /// Sends `n` bytes at `at`, or when the line is free. Messages never overtake each other.
    #[inline]
    pub fn carry(&mut self, theory: &Theory, dice: &mut Dice, at: f64, n: u64) -> Passage {
        let (latency, line, behind) = match self.known {
            Some((size, latency, line, behind)) if size == n => (latency, line, behind),
            _ => {
                let (latency, line) = (theory.delay(n) * 1e9, theory.line_time(n) * 1e9);
                let behind = f64::from(self.load.0) * theory.line_time(self.load.1) * 1e9;
                self.known = Some((n, latency, line, behind));
                (latency, line, behind)
            }
        };
        let factor = dice.factor();
        let begin = at.max(self.free) + behind;
        let sent = begin + line * factor;
        let first = begin + latency * factor;
        let last = (begin + (latency + line) * factor).max(self.latest);
        self.free = sent;
        let lost = dice.lost();
        if !lost {
            self.latest = last;
        }
        Passage { begin, sent, first, last, lost }
    }

    /// The way of the last message, `first`, to one more receiver of it: its noise and its loss are its own.
    #[inline]
    pub fn also(&self, dice: &mut Dice, first: &Passage) -> Passage {
        let (latency, line) = self.known.map_or((0.0, 0.0), |(_, latency, line, _)| (latency, line));
        let factor = dice.factor();
        let begin = first.begin;
        Passage {
            first: begin + latency * factor,
            last: begin + (latency + line) * factor,
            lost: dice.lost(),
            ..*first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dip, Mover};
    use super::*;

    fn theory() -> Theory {
        Theory { latency: 5e-6, rate: 8e9, packet: 1000, header: 50, ..Theory::default() }
    }

    #[test]
    fn the_formula_by_hand() {
        // 8 Gbit/s is one byte a nanosecond.
        let t = theory();
        for (n, packets, ns) in [(0, 1, 50), (1, 1, 51), (1000, 1, 1050), (1001, 2, 1101), (10_000, 10, 10_500)] {
            assert_eq!(t.packets(n), packets);
            assert!((t.line_time(n) * 1e9 - f64::from(ns)).abs() < 1e-6, "{n}");
            assert!((t.one_way_time(n) * 1e9 - f64::from(ns) - 5000.0).abs() < 1e-6, "{n}");
        }
        assert!((t.stream_rate(1000) - 8e9 * 1000.0 / 1050.0).abs() < 1.0);
    }

    #[test]
    fn what_is_larger_than_the_eager_limit_takes_a_round_trip_more() {
        let (eager, plain) = (Theory { eager: Some(8192), ..theory() }, theory());
        assert_eq!(eager.one_way_time(8192), plain.one_way_time(8192));
        let more = eager.one_way_time(8193) - plain.one_way_time(8193);
        assert!((more / (2.0 * plain.latency) - 1.0).abs() < 1e-9, "{more}");
        assert_eq!(eager.stream_rate(8193), plain.stream_rate(8193));
    }

    #[test]
    fn a_dip_begins_and_ends_where_it_says() {
        let t = Theory { dips: vec![Dip { from: 100, to: 200, factor: 5.0, moved_by: None }], ..theory() };
        let plain = theory();
        for (n, factor) in [(99, 1.0), (100, 5.0), (199, 5.0), (200, 1.0)] {
            assert!((t.one_way_time(n) / plain.one_way_time(n) - factor).abs() < 1e-12, "{n}");
        }
        let both = Theory { dips: vec![Dip { from: 100, to: 200, factor: 5.0, moved_by: None }; 2], ..theory() };
        assert_eq!(both.dip_factor(150), 25.0);
    }

    #[test]
    fn a_dip_moves_with_what_moves_it() {
        let dip = |moved_by| Dip { from: 1000, to: 2000, factor: 5.0, moved_by };
        let t = Theory { dips: vec![dip(None), dip(Some(Mover::Sockbuf)), dip(Some(Mover::Align))], ..theory() };
        assert!(t.listens_to(Mover::Sockbuf) && !theory().listens_to(Mover::Sockbuf));
        let doubled = t.with_sockbuf(Some(128 << 10));
        assert_eq!(
            doubled.dips.iter().map(|d| (d.from, d.to)).collect::<Vec<_>>(),
            [(1000, 2000), (2000, 4000), (1000, 2000)]
        );
        assert_eq!(t.with_sockbuf(None), t);
        assert_eq!((t.with_messages_at_pages(true).dips.len(), t.with_messages_at_pages(false).dips.len()), (2, 3));
    }

    #[test]
    fn a_message_waits_for_one_of_each_loading_flow() {
        let (t, mut line) = (theory(), Line::default());
        let mut dice = Dice::new(&t);
        let idle = line.carry(&t, &mut dice, 0.0, 950).last;
        line.idle();
        line.load(3, 1950);
        // Two packets each: 2050 ns.
        let loaded = line.carry(&t, &mut dice, 0.0, 950);
        assert!((loaded.last - idle - 3.0 * 2050.0).abs() < 1e-6 && (loaded.begin - 6150.0).abs() < 1e-6, "{loaded:?}");
        line.idle();
        line.load(0, 1950);
        assert!((line.carry(&t, &mut dice, 0.0, 950).last - idle).abs() < 1e-6);
    }

    #[test]
    fn a_busy_line_makes_the_next_message_wait() {
        let (t, mut line) = (theory(), Line::default());
        let mut dice = Dice::new(&t);
        let a = line.carry(&t, &mut dice, 0.0, 950);
        let b = line.carry(&t, &mut dice, 10.0, 950);
        assert!((a.sent - 1000.0).abs() < 1e-6 && (a.first - 5000.0).abs() < 1e-6 && (a.last - 6000.0).abs() < 1e-6);
        assert!((b.begin - 1000.0).abs() < 1e-6 && (b.last - 7000.0).abs() < 1e-6);
    }
}
