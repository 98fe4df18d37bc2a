//! The range in which the median of a repeated run falls on this machine, estimated from earlier runs of the same path.
//!
//! The machine's level differs from run to run (virtual CPUs that are moved, clock frequency, placement of memory), and no number of rounds
//! within one run shows by how much. So the range of a repeat has two parts, both between runs: how far whole curves lie apart (one level a
//! run, so the degrees of freedom are the runs but one), and how far each size lies from its run's level, pooled over the sizes.
//!
//! A curve is pairs of a size and the median time there, seconds, ascending by size. Runs need not have their sizes in common:
//! between two near sizes a curve is read off a straight line on logarithmic axes.

use crate::basic::{mean, median, variance};
use crate::foretold;
use crate::interval::Interval;
use crate::spread::{StandardError, log_spread, pooled_log_sigma};

/// Sizes further apart than this ratio are not read between: the schedules' own lie 0.045 decades (1.11) apart.
const NEAR: f64 = 1.25;
/// Log change of the time between two near sizes beyond which it is a jump: a fall by so much, or a rise by so much more than the size's.
const JUMP: f64 = 0.1;
/// Share of a run's sizes that another run must have before it has a level against it: a level is a median over the whole curve.
const ENOUGH: f64 = 0.5;

/// One size of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Message size, bytes.
    pub size: u64,
    /// Median time, seconds, positive.
    pub seconds: f64,
    /// Standard error of its logarithm within the run, where known: a repeat has it too.
    pub error: Option<StandardError>,
}

/// How far runs of one path lie apart: this run and the earlier ones that measured what it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// Logarithm of each run's level against the middle of all; this run's is the last.
    levels: Vec<f64>,
    /// What the runs say at each size of this run.
    sizes: Vec<At>,
    /// Log standard deviation of single sizes between runs beyond the levels, over all sizes.
    shared: f64,
    /// Standard error of this run's own level, which a repeat has, too.
    level_error: Option<StandardError>,
    /// How far runs of other paths of the same machine lie apart.
    alike: Vec<StandardError>,
}

#[derive(Debug, Clone, PartialEq)]
struct At {
    /// Standard error within this run.
    error: Option<StandardError>,
    /// Times of the runs that tell of the size, brought to the same level.
    levelled: Vec<f64>,
    /// Their shortest and longest time as it was.
    seen: Interval,
}

impl Between {
    /// From this run, ascending by size, and the curves of earlier ones. None without an earlier run that has at least half of this run's
    /// sizes.
    pub fn of(run: &[Measured], earlier: &[&[(u64, f64)]]) -> Option<Self> {
        let curve: Vec<(u64, f64)> = run.iter().map(|m| (m.size, m.seconds)).collect();
        let (used, mut levels): (Vec<_>, Vec<f64>) =
            earlier.iter().filter_map(|e| Some((*e, level(&curve, e)?))).unzip();
        if used.is_empty() {
            return None;
        }
        levels.push(0.0);
        let middle = mean(&levels);
        levels.iter_mut().for_each(|l| *l -= middle);
        let at = |m: &Measured| {
            let others = used.iter().zip(&levels).filter_map(|(e, l)| Some((read(e, m.size)?, *l)));
            let all: Vec<(f64, f64)> = others.chain([(m.seconds.ln(), levels[used.len()])]).collect();
            let end = |pick: fn(f64, f64) -> f64| all.iter().map(|a| a.0).reduce(pick).unwrap_or(f64::NAN).exp();
            let levelled = all.iter().map(|(time, level)| (time - level).exp()).collect();
            At { error: m.error, levelled, seen: Interval { low: end(f64::min), high: end(f64::max) } }
        };
        let sizes: Vec<At> = run.iter().map(at).collect();
        let shared = pooled_log_sigma(&sizes.iter().map(|a| a.levelled.clone()).collect::<Vec<_>>());
        Some(Self { levels, sizes, shared, level_error: None, alike: Vec::new() })
    }

    /// Sets the standard error of this run's own level. The ranges are then at least as wide as it makes them: runs that agree better do so
    /// by chance.
    pub fn with_level_error(self, error: StandardError) -> Self {
        Self { level_error: Some(error), ..self }
    }

    /// Sets how far runs of other paths of the machine lie apart ([`level_spread`]): where that is more than runs of this path show, it
    /// widens the ranges.
    pub fn with_alike(self, alike: Vec<StandardError>) -> Self {
        Self { alike, ..self }
    }

    /// Earlier runs that count.
    pub fn earlier(&self) -> usize {
        self.levels.len() - 1
    }

    /// How far whole curves lie apart: the standard deviation of the logarithms of the runs' levels.
    pub fn spread(&self) -> StandardError {
        StandardError { value: variance(&self.levels).sqrt(), degrees: self.earlier() as f64 }
    }

    /// The range in which a repeat's median falls at `confidence` (0.95), seconds, for each size of this run in order. None where no
    /// earlier run has the size.
    ///
    /// It is a prediction interval about the mean of all runs. Its half-width is the levels' part and the size's own part, added in
    /// quadrature. Few runs estimate the spread of the levels poorly, so that what is usual counts beside them (`foretold`). The size's own
    /// part is Student's t times its spread times `sqrt(1 + 1/n)` for n runs. Each part is at least what the error of this run makes of it
    /// (of its level, of the size within it): a repeat has that error too, even where few runs agree by chance. The range also holds every
    /// time that was seen, since what happened to a stray run may happen to a repeat.
    pub fn ranges(&self, confidence: f64) -> Vec<Option<Interval>> {
        let reach = |spread: StandardError, runs: usize| spread.reach(confidence) * (1.0 + 1.0 / runs as f64).sqrt();
        let runs = self.levels.len();
        let of_levels = foretold::reach(confidence, self.spread(), runs, &self.alike);
        let whole = of_levels.max(self.level_error.map_or(0.0, |error| reach(error, runs)));
        let range = |at: &At| {
            let n = at.levelled.len();
            if n < 2 {
                return None;
            }
            let unknown = StandardError { value: 0.0, degrees: 0.0 };
            let (own, within) = (log_spread(&at.levelled, self.shared).unwrap_or(unknown), at.error.unwrap_or(unknown));
            // The error within this run is a lower bound of the spread; its degrees of freedom are those of the spread between runs, which
            // rests on all of them.
            let degrees = if own.value > 0.0 { own.degrees } else { within.degrees };
            let own = reach(StandardError { value: own.value.max(within.value), degrees }, n);
            let middle = mean(&at.levelled.iter().map(|t| t.ln()).collect::<Vec<_>>());
            let reach = whole.hypot(own);
            let (low, high) = ((middle - reach).exp(), (middle + reach).exp());
            Some(Interval { low: low.min(at.seen.low), high: high.max(at.seen.high) })
        };
        self.sizes.iter().map(range).collect()
    }
}

/// How far whole curves of these runs lie apart: the standard deviation of the logarithms of their levels, with as many degrees of freedom
/// as there are runs but one. None unless another run has at least half of the sizes of the last.
pub fn level_spread(runs: &[&[(u64, f64)]]) -> Option<StandardError> {
    let (last, others) = runs.split_last()?;
    let mut levels: Vec<f64> = others.iter().filter_map(|r| level(last, r)).collect();
    if levels.is_empty() {
        return None;
    }
    levels.push(0.0);
    Some(StandardError { value: variance(&levels).sqrt(), degrees: (levels.len() - 1) as f64 })
}

/// A sum of squared deviations of logarithms, and its degrees of freedom.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Squares {
    /// Sum of squares.
    pub sum: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

impl Squares {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, degrees: self.degrees + other.degrees }
    }

    fn variance(self) -> f64 {
        if self.degrees > 0.0 { self.sum / self.degrees } else { 0.0 }
    }
}

/// Squared deviations of the runs' log times at each of `sizes`, after each run's level is taken off. They hold the noise within runs, too.
pub fn squares_beyond_levels(runs: &[&[(u64, f64)]], sizes: &[u64]) -> Vec<Squares> {
    let none = || vec![Squares::default(); sizes.len()];
    let Some((last, others)) = runs.split_last() else { return none() };
    let levelled: Vec<(&[(u64, f64)], f64)> =
        others.iter().filter_map(|r| Some((*r, level(last, r)?))).chain([(*last, 0.0)]).collect();
    if levelled.len() < 2 {
        return none();
    }
    let at = |size: &u64| {
        let all: Vec<f64> = levelled.iter().filter_map(|(r, level)| Some(read(r, *size)? - level)).collect();
        if all.len() < 2 {
            return Squares::default();
        }
        let degrees = (all.len() - 1) as f64;
        Squares { sum: variance(&all) * degrees, degrees }
    };
    sizes.iter().map(at).collect()
}

/// Sizes on either side of one that are pooled with it: few runs estimate the spread at a single size poorly.
const AROUND: usize = 4;

/// Standard errors by which the variance between runs must exceed the noise within them in a neighbourhood, before runs are said to differ
/// there.
const BEYOND: f64 = 2.0;

/// The element at this index and its neighbours on either side.
fn about<T>(all: &[T], i: usize) -> &[T] {
    &all[i.saturating_sub(AROUND)..(i + AROUND + 1).min(all.len())]
}

fn pooled(squares: &[Squares]) -> Squares {
    squares.iter().fold(Squares::default(), |sum, s| sum.and(*s))
}

/// Standard deviation between runs at each size, as a logarithm, without the noise within runs, whose variance at each size is `within`. A
/// size's own squares are pooled with those of its neighbourhood, since few runs estimate it poorly at a single size, and single sizes may
/// vary more than others. 0 where the neighbourhood varies no more than the noise may by chance. A noise that is not known is NaN.
pub fn spread_beyond(squares: &[Squares], within: &[f64]) -> Vec<StandardError> {
    let at = |(i, (own, noise)): (usize, (&Squares, &f64))| {
        // Of a size that was only looked at the noise is not known.
        let known: Vec<f64> = about(within, i).iter().copied().filter(|noise| !noise.is_nan()).collect();
        let (near, of_noise) = (pooled(about(squares, i)), mean(&known));
        let chance = 1.0 + BEYOND * (2.0 / near.degrees.max(1.0)).sqrt();
        if known.is_empty() || near.variance() <= chance * of_noise {
            return StandardError::default();
        }
        let own = StandardError { value: own.variance().sqrt(), degrees: own.degrees };
        own.beside(near.variance().sqrt()).without(*noise)
    };
    squares.iter().zip(within).enumerate().map(at).collect()
}

/// Standard deviation between runs at each size, as a logarithm: of its neighbourhood, or of all sizes where that is more. A state may
/// touch a part of the sizes only.
pub fn windowed(squares: &[Squares]) -> Vec<f64> {
    let all = pooled(squares).variance();
    (0..squares.len()).map(|i| pooled(about(squares, i)).variance().max(all).sqrt()).collect()
}

/// How far `other` as a whole lies above `curve`, as a logarithm: the median over the sizes of `curve`, so that what single sizes do
/// cancels out. None where `other` has fewer than half of them.
fn level(curve: &[(u64, f64)], other: &[(u64, f64)]) -> Option<f64> {
    let apart: Vec<f64> = curve.iter().filter_map(|(size, t)| Some(read(other, *size)? - t.ln())).collect();
    let enough = !apart.is_empty() && apart.len() as f64 >= ENOUGH * curve.len() as f64;
    enough.then(|| median(&apart))
}

/// Logarithm of the time of `curve` at `size`: measured, or read off between two near sizes that no jump parts.
fn read(curve: &[(u64, f64)], size: u64) -> Option<f64> {
    let above = curve.partition_point(|(s, _)| *s < size);
    let (s, t) = curve.get(above)?;
    if *s == size {
        return Some(t.ln());
    }
    let (below, time) = curve.get(above.checked_sub(1)?)?;
    let (gap, rise) = ((*s as f64 / *below as f64).ln(), (t / time).ln());
    let near = gap <= NEAR.ln() && (-JUMP..=gap + JUMP).contains(&rise);
    near.then(|| time.ln() + rise * (size as f64 / *below as f64).ln() / gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(curve: &[(u64, f64)]) -> Vec<Measured> {
        curve.iter().map(|(size, seconds)| Measured { size: *size, seconds: *seconds, error: None }).collect()
    }

    fn curve(level: f64) -> Vec<(u64, f64)> {
        (0..60).map(|i| (64 + 8 * i, level * (1e-5 + 1e-8 * (64 + 8 * i) as f64))).collect()
    }

    #[test]
    fn without_an_earlier_run_nothing_is_known() {
        assert_eq!(Between::of(&run(&curve(1.0)), &[]), None);
        assert_eq!(Between::of(&[], &[&curve(1.0)]), None);
        assert_eq!(Between::of(&run(&curve(1.0)), &[&[]]), None);
        assert_eq!((level_spread(&[]), level_spread(&[&curve(1.0)])), (None, None));
    }

    #[test]
    fn what_runs_do_at_a_part_of_the_sizes_is_told_there_and_their_levels_are_no_part_of_it() {
        let part = |level: f64, times: f64| -> Vec<(u64, f64)> {
            curve(level).iter().enumerate().map(|(i, (s, t))| (*s, t * if i >= 40 { times } else { 1.0 })).collect()
        };
        let runs = [part(1.0, 1.0), part(2.0, 1.3), part(0.5, 1.0), part(1.0, 1.3)];
        let all: Vec<&[(u64, f64)]> = runs.iter().map(Vec::as_slice).collect();
        let sizes: Vec<u64> = runs[0].iter().map(|p| p.0).collect();
        let squares = squares_beyond_levels(&all, &sizes);
        assert!(squares[..40].iter().all(|s| s.sum < 1e-20 && s.degrees == 3.0), "{squares:?}");
        let spread = windowed(&squares);
        let truth = 1.3f64.ln() / 3f64.sqrt();
        assert!(spread[45..].iter().all(|s| (s / truth - 1.0).abs() < 1e-9), "{spread:?}");
        assert!(
            spread[..30].iter().all(|s| *s < 0.7 * truth && *s > 0.0),
            "what all sizes do together counts: {spread:?}"
        );
        assert_eq!(squares_beyond_levels(&all[..1], &sizes), vec![Squares::default(); 60]);
        assert_eq!((squares_beyond_levels(&[], &[7]), windowed(&[])), (vec![Squares::default()], vec![]));
    }

    #[test]
    fn a_size_whose_noise_is_not_known_leaves_its_neighbours_to_theirs() {
        // Runs differ by their noise alone.
        let squares = vec![Squares { sum: 2e-4, degrees: 2.0 }; 9];
        let mut within = vec![1e-4; 9];
        assert!(spread_beyond(&squares, &within).iter().all(|s| s.value == 0.0));
        within[4] = f64::NAN;
        let found = spread_beyond(&squares, &within);
        assert!(found.iter().all(|s| s.value == 0.0), "{found:?}");
    }

    #[test]
    fn two_runs_are_two_values_with_one_degree() {
        let (now, before) = (curve(1.1), curve(1.0));
        let found = Between::of(&run(&now), &[&before]).unwrap();
        let sd = 1.1f64.ln() / 2f64.sqrt();
        let spread = found.spread();
        assert!(found.earlier() == 1 && (spread.value - sd).abs() < 1e-12 && spread.degrees == 1.0, "{spread:?}");
        let range = found.ranges(0.95)[7].unwrap();
        let middle = (now[7].1 * before[7].1).sqrt();
        assert!((range.low * range.high / (middle * middle) - 1.0).abs() < 1e-9, "{range:?}");
        // Student's t would reach 12.7 spreads and more, and normal values of that spread 1.96.
        let reach = (range.high / middle).ln() / (sd * 1.5f64.sqrt());
        assert!((1.96..10.0).contains(&reach), "{reach}");
        assert!((level_spread(&[&before, &now]).unwrap().value - sd).abs() < 1e-12);
    }

    #[test]
    fn equal_runs_of_an_exact_path_fall_on_it_again() {
        let exact = curve(1.0);
        let width = |earlier: &[&[(u64, f64)]]| {
            let range = Between::of(&run(&exact), earlier).unwrap().ranges(0.95)[0].unwrap();
            range.high / range.low
        };
        assert!((width(&[&exact[..]; 3]) - 1.0).abs() < 1e-9, "{}", width(&[&exact[..]; 3]));
        // Two or three runs may read the same off a coarse clock, and may all have met one of two states.
        for earlier in [&[&exact[..]; 1][..], &[&exact[..]; 2]] {
            assert!((width(earlier) / 4.0 - 1.0).abs() < 1e-9, "{} earlier: {}", earlier.len(), width(earlier));
        }
    }

    #[test]
    fn runs_that_agree_by_luck_leave_the_runs_own_error() {
        let error = Some(StandardError { value: 0.03, degrees: 9.0 });
        let now: Vec<Measured> = run(&curve(1.0)).into_iter().map(|m| Measured { error, ..m }).collect();
        let range = Between::of(&now, &[&curve(1.0)]).unwrap().ranges(0.95)[0].unwrap();
        assert!((range.high / range.low).ln() > 2.0 * 1.96 * 0.03, "{range:?}");
    }

    #[test]
    fn runs_whose_levels_agree_by_luck_leave_what_is_usual_and_the_error_of_a_level() {
        let width = |b: &Between| b.ranges(0.95)[0].map(|r| (r.high / r.low).ln()).unwrap();
        let agreed = Between::of(&run(&curve(1.0)), &[&curve(1.0001)]).unwrap();
        // So few may all have met one of two states.
        let twofold = 2.0 * std::f64::consts::LN_2;
        assert!((twofold..twofold + 0.01).contains(&width(&agreed)), "{}", width(&agreed));
        let three = Between::of(&run(&curve(1.0)), &[&curve(1.0001), &curve(0.9999)]).unwrap();
        assert!((twofold..twofold + 0.01).contains(&width(&three)), "{}", width(&three));
        let four = Between::of(&run(&curve(1.0)), &[&curve(1.0001), &curve(0.9999), &curve(1.0)]).unwrap();
        assert!(width(&four) < 0.05, "{}", width(&four));
        let floor = four.with_level_error(StandardError { value: 0.04, degrees: 8.0 });
        assert!((0.2..0.25).contains(&width(&floor)), "{}", width(&floor));
        // What runs showed is not made less.
        let apart = Between::of(&run(&curve(1.0)), &[&curve(1.5)]).unwrap();
        let floor = apart.clone().with_level_error(StandardError { value: 0.04, degrees: 8.0 });
        assert_eq!(width(&apart), width(&floor));
    }

    #[test]
    fn what_runs_of_other_paths_do_tells_of_this_one() {
        let found = Between::of(&run(&curve(1.0)), &[&curve(1.05), &curve(0.97)]).unwrap();
        let width = |b: &Between| b.ranges(0.95)[0].map(|r| r.high / r.low).unwrap();
        let others = |value: f64| found.clone().with_alike(vec![StandardError { value, degrees: 8.0 }; 2]);
        assert_eq!(width(&others(0.02)), width(&found), "quiet paths say nothing of this one");
        assert!(width(&found) < width(&others(0.4)));
        let many = found.clone().with_alike(vec![StandardError { value: 0.4, degrees: 8.0 }; 8]);
        assert!(width(&many) < 1.3 * width(&others(0.4)), "many paths of the same minutes are hardly more than two");
        let unknown = [f64::NAN, f64::INFINITY].map(|value| StandardError { value, degrees: 8.0 });
        let none = StandardError { value: 0.1, degrees: 0.0 };
        assert_eq!(width(&found.clone().with_alike([&unknown[..], &[none]].concat())), width(&found));
    }

    #[test]
    fn runs_vary_at_a_size_beyond_their_noise_where_its_neighbourhood_does() {
        let of = |spread: f64| Squares { sum: 4.0 * spread * spread, degrees: 4.0 };
        let noise = [0.01f64.powi(2); 40];
        assert_eq!(spread_beyond(&[of(0.012); 40], &noise), [StandardError::default(); 40], "by chance");
        let mut squares = [of(0.05); 40];
        let found = spread_beyond(&squares, &noise);
        assert!(found.iter().all(|s| (s.value - 0.049).abs() < 1e-3 && (10.0..12.0).contains(&s.degrees)), "{found:?}");
        // A size that varies more than its neighbours is believed to do so, though few runs tell it.
        squares[20] = of(0.2);
        let found = spread_beyond(&squares, &noise);
        assert!(found[20].value > 0.12 && found[20].degrees < 8.0 && found[10].value < 0.06, "{:?}", found[20]);
        assert_eq!(
            (spread_beyond(&[], &[]), spread_beyond(&[Squares::default()], &[0.0])),
            (vec![], vec![StandardError::default()])
        );
    }

    #[test]
    fn slightly_other_sizes_are_read_between_their_neighbours() {
        let before: Vec<(u64, f64)> =
            curve(1.2).into_iter().map(|(s, _)| (s + 3, 1.2 * (1e-5 + 1e-8 * (s + 3) as f64))).collect();
        let found = Between::of(&run(&curve(1.0)), &[&before]).unwrap();
        assert!((found.levels[0] - found.levels[1] - 1.2f64.ln()).abs() < 1e-3, "{:?}", found.levels);
        let ranges = found.ranges(0.95);
        assert!(ranges[0].is_none(), "below its first size a curve says nothing");
        assert!(ranges[1..].iter().all(Option::is_some));
    }

    #[test]
    fn across_a_jump_a_wide_gap_or_an_end_nothing_is_read() {
        let jump = [(100, 1.0), (110, 3.0), (121, 3.1), (400, 4.0)];
        assert_eq!((read(&jump, 105), read(&jump, 200), read(&jump, 99), read(&jump, 500)), (None, None, None, None));
        assert_eq!(read(&jump, 110), Some(3f64.ln()));
        assert!(read(&jump, 115).is_some_and(|ln| (3f64.ln()..3.1f64.ln()).contains(&ln)));
        assert_eq!(read(&[(0, 1.0), (1, 1.0)], 0), Some(0.0));
        assert_eq!((read(&[], 1), read(&[(0, 1.0), (2, 1.0)], 1)), (None, None));
    }

    #[test]
    fn a_run_of_one_size_is_no_level_of_a_curve() {
        let one = &curve(2.0)[..1];
        assert_eq!(Between::of(&run(&curve(1.0)), &[one]), None);
        let found = Between::of(&run(one), &[&curve(1.0)]).unwrap();
        assert_eq!((found.earlier(), found.ranges(0.95).len()), (1, 1));
    }
}
