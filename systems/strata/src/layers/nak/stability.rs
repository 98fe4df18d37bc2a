//! Who has how many of each stream. Pure.

/// A column for each stream: how many of it each member has; none where nothing was cast, so that idle members of large groups cost no room.
#[derive(Default)]
pub(super) struct Matrix {
    n: usize,
    has: Vec<Vec<u64>>,
    stable: Vec<u64>,
}

impl Matrix {
    pub(super) fn new(n: usize) -> Self {
        Self { n, has: vec![Vec::new(); n], stable: vec![0; n] }
    }

    /// A member says how many it has of a stream. Whether more of it is stable now. What is told never shrinks: statuses overtake each other. `eager` is a mutant's.
    pub(super) fn tell(&mut self, member: usize, stream: usize, count: u64, eager: bool) -> bool {
        if count <= self.has(member, stream) {
            return false;
        }
        let column = &mut self.has[stream];
        column.resize(self.n, 0);
        let before = std::mem::replace(&mut column[member], count);
        if eager {
            let second = (0..self.n).filter(|&m| m != stream).map(|m| column[m]).max();
            self.stable[stream] = second.unwrap_or(count).max(self.stable[stream]);
            return true;
        }
        // Only who had the least can raise the least.
        if before > self.stable[stream] {
            return false;
        }
        let least = column.iter().copied().min().unwrap_or(0);
        let grew = least > self.stable[stream];
        self.stable[stream] = least;
        grew
    }

    /// How many all have.
    pub(super) fn stable(&self, stream: usize) -> u64 {
        self.stable[stream]
    }

    pub(super) fn has(&self, member: usize, stream: usize) -> u64 {
        self.has[stream].get(member).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_is_what_the_last_has() {
        let mut m = Matrix::new(3);
        assert!(!m.tell(0, 1, 5, false) && !m.tell(1, 1, 7, false));
        assert!(m.tell(2, 1, 4, false));
        assert_eq!(m.stable(1), 4);
        assert!(!m.tell(2, 1, 3, false), "an old status changes nothing");
        assert!(m.tell(2, 1, 9, false));
        assert_eq!((m.stable(1), m.has(2, 1)), (5, 9));
    }
}
