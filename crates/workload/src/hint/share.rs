//! Who does which part of the work, and what a process found.

/// Chunks that a process of several starts from.
pub(super) const CHUNKS: u32 = 4;

/// One of the processes that share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    /// Processes, a power of two, so that the chunks have a whole width.
    pub processes: u32,
    /// Which one, from 0.
    pub rank: u32,
}

impl Team {
    /// One process that does it all.
    pub const ALONE: Team = Team { processes: 1, rank: 0 };

    /// One of two.
    pub const fn of_two(rank: u32) -> Team {
        Team { processes: 2, rank }
    }

    /// Fewest subintervals of a process: 1 alone, of several the chunks that it starts from.
    pub fn chunks(self) -> u64 {
        if self.processes > 1 { u64::from(CHUNKS) } else { 1 }
    }

    /// Fewest subintervals that say anything of the time an answer takes: 2 alone (one says that the area lies between 0
    /// and 1), of several 4.
    pub fn fewest(self) -> u64 {
        self.chunks().max(2)
    }
}

/// What a process found: squares that lie below the curve for certain, and squares that may.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Lower bound (`sl`).
    pub low: f64,
    /// Upper bound (`sh`).
    pub high: f64,
}

impl Sums {
    /// The two numbers as they travel: upper bound, lower bound, little-endian.
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.high.to_le_bytes());
        bytes[8..].copy_from_slice(&self.low.to_le_bytes());
        bytes
    }

    /// The two numbers of a message of 16 bytes; zeros of any other.
    pub fn read(message: &[u8]) -> Sums {
        let number =
            |at: usize| message.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0.0, f64::from_le_bytes);
        Sums { high: number(0), low: number(8) }
    }

    /// The sum over two processes.
    pub fn plus(self, other: Sums) -> Sums {
        Sums { low: self.low + other.low, high: self.high + other.high }
    }
}
