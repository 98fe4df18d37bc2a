//! Where one path overtakes another.

use crate::smooth::split;

/// Probability that, of two equally fast paths, a given one seems to be the faster at a size by its 95% interval.
const FALSELY: f64 = 0.025;

/// Probability of finding a crossing where there is none.
const CHANCE: f64 = 0.05;

/// One size of two paths, compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faster {
    /// Bytes.
    pub size: u64,
    /// Whether the median of the first path is the shorter one.
    pub first: bool,
    /// Which path is faster beyond the error, the first (true) or the second (false); none where neither is.
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
    /// Of sizes in ascending order; none where no size tells the two apart beyond the error.
    ///
    /// The sizes that do are split in two where the least stretch of them, by log size, lies on the wrong side. That is a crossing only
    /// where either side has more of them than equal paths would have by chance, wherever they might have crossed: one odd size is none.
    pub fn of(held: &[Faster]) -> Option<Self> {
        let sure: Vec<(u64, bool)> = held.iter().filter_map(|h| Some((h.size, h.sure?))).collect();
        let logs: Vec<f64> = sure.iter().map(|s| (s.0.max(1) as f64).ln()).collect();
        let side = |first: bool| {
            let beyond: Vec<bool> = sure.iter().map(|s| s.1 != first).collect();
            let at = split(&logs, &beyond);
            (at, sure.iter().enumerate().filter(|(i, s)| (s.1 == first) != (*i < at)).count())
        };
        // Of the two orders (which path is the faster at small sizes), the one that leaves fewer sizes on the wrong side; an order whose
        // first part is empty is left out.
        let ways = [true, false].map(|first| (first, side(first)));
        let (first, (at, _)) = ways.into_iter().filter(|(_, (at, _))| *at > 0).min_by_key(|(_, (_, wrong))| *wrong)?;
        let right = |i: usize| (sure[i].1 == first) == (i < at);
        let last = (0..at).rev().find(|i| right(*i)).map(|i| sure[i].0);
        let next = (at..sure.len()).find(|i| right(*i)).map(|i| sure[i].0);
        let between = last.zip(next).filter(|(last, next)| {
            let count = |of: &dyn Fn(u64) -> bool| held.iter().filter(|h| of(h.size)).count();
            let told = |range: std::ops::Range<usize>| range.filter(|i| right(*i)).count();
            let chance = by_chance(told(0..at), count(&|s| s <= *last))
                .max(by_chance(told(at..sure.len()), count(&|s| s >= *next)));
            chance * held.len() as f64 <= CHANCE * (1.0 + 1e-9)
        });
        // No crossing: the path that is faster at more sizes is the faster throughout.
        let firsts = sure.iter().filter(|s| s.1).count();
        let (first, at) = if between.is_some() { (first, at) } else { (2 * firsts >= sure.len(), sure.len()) };
        let right = |i: usize| (sure[i].1 == first) == (i < at);
        let mut but: Vec<(u64, u64)> = Vec::new();
        for i in (0..sure.len()).filter(|i| !right(*i)) {
            match but.last_mut().filter(|_| i > 0 && !right(i - 1)) {
                Some(stretch) => stretch.1 = sure[i].0,
                None => but.push((sure[i].0, sure[i].0)),
            }
        }
        Some(Self { first, between, but, sure: sure.len() })
    }
}

/// Probability that so many or more of `of` sizes are falsely sure (binomial).
fn by_chance(sure: usize, of: usize) -> f64 {
    let (mut term, mut below) = ((1.0 - FALSELY).powi(i32::try_from(of).unwrap_or(i32::MAX)), 0.0);
    for k in 0..sure {
        below += term;
        term *= (of - k.min(of)) as f64 / (k + 1) as f64 * FALSELY / (1.0 - FALSELY);
    }
    (1.0 - below).max(0.0)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    fn of(sides: &str) -> Option<Overtaken> {
        let held = |(i, c): (usize, char)| Faster {
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
        assert_eq!(of("ab").unwrap().between, Some((1, 2)), "two sizes that were asked for");
        for never in ["aaaa<<<", "aaa>>>>", "aaabaaa", "a<<<<b"] {
            assert_eq!(of(never).map(|o| (o.first, o.between)), Some((true, None)), "{never}");
        }
        assert_eq!(of("><><"), None);
    }

    #[test]
    fn paths_that_are_equal_or_never_cross_do_not_cross_by_chance() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        // Equal paths, and one that is surely faster at half of the sizes.
        for faster in [0.0, 0.5] {
            let mut crossed = |sizes: u64| {
                let held: Vec<Faster> = (0..sizes)
                    .map(|i| {
                        let (x, y) = (rng.random::<f64>(), rng.random::<f64>());
                        let sure = if x < faster { Some(true) } else { (y < 2.0 * FALSELY).then_some(y < FALSELY) };
                        Faster { size: i + 1, first: true, sure }
                    })
                    .collect();
                Overtaken::of(&held).is_some_and(|found| found.between.is_some())
            };
            for sizes in [20, 155] {
                let told = (0..1000).filter(|_| crossed(sizes)).count();
                assert!(told <= 50, "{sizes} sizes, {faster} of them faster: {told} of 1000 cross");
            }
        }
    }
}
