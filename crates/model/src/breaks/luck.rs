//! Whether a jump is made of stray rounds alone. Sizes are visited in random order, so on a smooth curve a round that strays (a slow state
//! of the machine, a long tail) falls on any size alike, whatever the distribution of the noise. The share of all rounds that stray as far
//! as half of a jump says how many of a side's rounds do so by chance.

use super::jump::{Jump, sides};
use super::rough::Rough;

/// Probability that a jump anywhere on the curve is made of stray rounds alone.
const LUCK: f64 = 0.003;

/// A round has strayed by a jump where it lies beyond this share of it.
const HALF: f64 = 0.45;

/// The stretch on each side whose rounds must show the jump, as a logarithm of size.
const BESIDE: f64 = 0.5;

/// How far about a jump the noise may differ from that of the rest of the curve, as a logarithm of size.
const ABOUT: f64 = 1.4;

/// Places on each side that are looked at for it.
const MOST: usize = 60;

/// A size alone on its side whose rounds fall into two groups, one of them at its neighbours' level, has a median of either by chance. So
/// the rounds of a size alone must lie beyond this share of the jump, more of them than half by more than this probability allows.
const QUARTER: f64 = 0.25;
const BY_HALVES: f64 = 0.02;
/// Rounds from which on they can.
const TELLING: usize = 6;

/// The jumps that stray rounds do not explain. The likeliest to be made of them is dropped first: its neighbours' sides then reach farther.
pub(super) fn believed(rough: &Rough, mut jumps: Vec<Jump>) -> Vec<Jump> {
    loop {
        let luck = (0..jumps.len()).map(|i| (i, luck(rough, &jumps, i)));
        match luck.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((i, chance)) if !is_believed(rough, chance) => jumps.remove(i),
            _ => return jumps,
        };
    }
}

/// Whether a jump is real where stray rounds make one with this probability ([`luck`]).
pub(super) fn is_believed(rough: &Rough, chance: f64) -> bool {
    chance * rough.slopes.len() as f64 <= LUCK
}

/// Probability that as many rounds stray by chance on that side of a jump that has fewer rounds.
pub(super) fn luck(rough: &Rough, jumps: &[Jump], i: usize) -> f64 {
    let (left, right) = sides(rough, jumps, i, BESIDE);
    let count = |side: &[usize]| side.iter().map(|p| rough.places[*p].rounds.len()).sum::<usize>();
    let height = jumps[i].height;
    // The side with fewer rounds lies above the other, or below.
    let (few, many, way) =
        if count(&left) < count(&right) { (left, right, -height.signum()) } else { (right, left, height.signum()) };
    let reach = HALF * height.abs();
    let level = |at: usize| {
        let from = |p: &usize| {
            let growth = if *p < at { rough.growth(*p, at) } else { -rough.growth(at, *p) };
            rough.places[*p].y + growth
        };
        stats::median(&many.iter().map(from).collect::<Vec<_>>())
    };
    let (mut strayed, mut all) = (0, 0);
    for place in &few {
        let (level, rounds) = (level(*place), &rough.places[*place].rounds);
        let beyond = |reach: f64| rounds.iter().filter(|b| way * (**b - level) > reach).count();
        if few.len() == 1
            && rounds.len() >= TELLING
            && tail(rounds.len(), beyond(QUARTER * height.abs()), 0.5) > BY_HALVES
        {
            return 1.0;
        }
        strayed += beyond(reach);
        all += rounds.len();
    }
    // Where the machine has two states, the median of a place's rounds may lie in either: strays both ways count.
    let far = |p: usize| rough.strays[p].iter().filter(|s| s.abs() > reach).count();
    let sum = |places: &mut dyn Iterator<Item = usize>| {
        places.fold((0, 0), |(strays, of), p| (strays + far(p), of + rough.strays[p].len()))
    };
    let own = sum(&mut few.iter().copied());
    let every = rough.far.len() - rough.far.partition_point(|s| *s <= reach);
    let rest = (1 + every.saturating_sub(own.0)) as f64 / (1 + rough.far.len().saturating_sub(own.1)) as f64;
    let (first, last) = (few[0].saturating_sub(MOST), (few[0] + MOST).min(rough.places.len() - 1));
    let close = |p: &usize| (rough.places[*p].x - rough.places[few[0]].x).abs() <= ABOUT && !few.contains(p);
    let near = sum(&mut (first..=last).filter(close));
    let each = rest.max(near.0 as f64 / near.1.max(1) as f64);
    tail(all, strayed, each)
}

/// Probability of so many of `all` or more, each with probability `each` (binomial).
fn tail(all: usize, at_least: usize, each: f64) -> f64 {
    if at_least == 0 || each >= 1.0 {
        return 1.0;
    }
    let mut term = (1.0 - each).ln() * all as f64;
    let mut sum = 0.0;
    for k in 0..=all {
        if k >= at_least {
            sum += term.exp();
        }
        term += ((all - k) as f64 / (k + 1) as f64).ln() + (each / (1.0 - each)).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn a_tail_is_that_of_the_binomial_distribution() {
        assert!((tail(3, 2, 0.2) - 0.104).abs() < 1e-12);
        assert_eq!(tail(5, 0, 0.3), 1.0);
        assert!((tail(9, 9, 0.5) - 0.5f64.powi(9)).abs() < 1e-15);
        assert_eq!(tail(0, 1, 0.5), 0.0);
    }
}
