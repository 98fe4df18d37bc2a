//! Where one path overtakes another.

use crate::smooth::split;

/// One size of two paths, held against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Bytes.
    pub size: u64,
    /// Whether the median of the first path is the shorter one.
    pub first: bool,
    /// Which is surely the faster one, the first (true) or the other; none where that is not sure.
    pub sure: Option<bool>,
}

/// Which of two paths is the faster one, and from which size on the other is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overtaken {
    /// The first path is the faster one at the smallest sizes.
    pub first: bool,
    /// The sizes between which it is overtaken, bytes: the last at which the one surely is faster and the first at which the other is.
    /// None where one of them is the faster one all along, by all that is sure.
    pub between: Option<(u64, u64)>,
    /// Stretches of sizes where the other one surely is the faster one all the same, bytes.
    pub but: Vec<(u64, u64)>,
    /// Sizes at which it is sure which is faster.
    pub sure: usize,
}

impl Overtaken {
    /// Of sizes in ascending order; none where no size surely tells the two apart.
    ///
    /// The sizes that are sure are split in two where the least stretch of them is on the wrong side, so that one odd size is no crossing.
    pub fn of(held: &[Held]) -> Option<Self> {
        let sure: Vec<(u64, bool)> = held.iter().filter_map(|h| Some((h.size, h.sure?))).collect();
        let logs: Vec<f64> = sure.iter().map(|s| (s.0.max(1) as f64).ln()).collect();
        let side = |first: bool| {
            let beyond: Vec<bool> = sure.iter().map(|s| s.1 != first).collect();
            let at = split(&logs, &beyond);
            (at, sure.iter().enumerate().filter(|(i, s)| (s.1 == first) != (*i < at)).count())
        };
        // The way round that leaves fewer on the wrong side; one that begins with nothing is the other one throughout.
        let ways = [true, false].map(|first| (first, side(first)));
        let (first, (at, _)) = ways.into_iter().filter(|(_, (at, _))| *at > 0).min_by_key(|(_, (_, wrong))| *wrong)?;
        let right = |i: usize| (sure[i].1 == first) == (i < at);
        let last = (0..at).rev().find(|i| right(*i)).map(|i| sure[i].0);
        let next = (at..sure.len()).find(|i| right(*i)).map(|i| sure[i].0);
        let mut but: Vec<(u64, u64)> = Vec::new();
        for i in (0..sure.len()).filter(|i| !right(*i)) {
            match but.last_mut().filter(|_| i > 0 && !right(i - 1)) {
                Some(stretch) => stretch.1 = sure[i].0,
                None => but.push((sure[i].0, sure[i].0)),
            }
        }
        Some(Self { first, between: last.zip(next), but, sure: sure.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sides: &str) -> Option<Overtaken> {
        let held = |(i, c): (usize, char)| Held {
            size: 1 << i,
            first: c == 'a' || c == '<',
            sure: (c.is_alphabetic()).then_some(c == 'a'),
        };
        Overtaken::of(&sides.chars().enumerate().map(held).collect::<Vec<_>>())
    }

    #[test]
    fn a_path_is_overtaken_between_what_is_sure_and_one_odd_size_is_no_crossing() {
        let plain = of("aaaa<<>>bbbb").unwrap();
        assert_eq!((plain.first, plain.between, plain.sure), (true, Some((8, 256)), 8));
        assert!(!of("bbb><aaa").unwrap().first);
        let odd = of("aabaaa>bbbb").unwrap();
        assert_eq!((odd.between, odd.but), (Some((32, 128)), vec![(4, 4)]));
        for never in ["aaaa<<<", "aaa>>>>", "aaabaaa"] {
            assert_eq!(of(never).map(|o| (o.first, o.between)), Some((true, None)), "{never}");
        }
        assert_eq!(of("><><"), None);
    }
}
