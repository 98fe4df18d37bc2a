//! A curve prepared for computing: sorted, without unusable values, its rounds numbered from 0.

use std::f64::consts::FRAC_PI_2;

use rand_chacha::ChaCha8Rng;
use stats::{Interval, Local, Moves, Shared};

use crate::{CONFIDENCE, CurvePoint, Estimate};

/// Most sizes of a curve. Smoothing, knees and edges look at windows of sizes, again in every resample, so that their work grows with the
/// square of the number; a run at the closest distance of its schedule has a quarter as many over nine decades.
pub(crate) const MOST: usize = 1024;

/// The points that a curve is made of: all, or, of more than [`MOST`], those nearest to as many places evenly spread over the logarithm of
/// size, ascending. Points without a usable time or throughput take no place there.
fn thinned(points: &[CurvePoint]) -> Vec<&CurvePoint> {
    let mut kept: Vec<&CurvePoint> = points.iter().collect();
    if kept.len() <= MOST {
        return kept;
    }
    kept.retain(|p| fit(p));
    kept.sort_by_key(|p| p.size);
    let log = |p: &CurvePoint| (p.size.max(1) as f64).ln();
    let (Some(first), Some(last)) = (kept.first().map(|p| log(p)), kept.last().map(|p| log(p))) else { return kept };
    let mut places: Vec<usize> = (0..MOST)
        .map(|k| {
            let at = first + (last - first) * k as f64 / (MOST - 1) as f64;
            let above = kept.partition_point(|p| log(p) < at).min(kept.len() - 1);
            let below = above.saturating_sub(1);
            if at - log(kept[below]) < log(kept[above]) - at { below } else { above }
        })
        .collect();
    places.dedup();
    places.into_iter().map(|i| kept[i]).collect()
}

fn usable(seconds: f64) -> bool {
    seconds.is_finite() && seconds > 0.0
}

fn fit(p: &CurvePoint) -> bool {
    usable(p.seconds) && p.throughput.is_finite() && p.throughput >= 0.0
}

/// One size.
pub(crate) struct Point {
    pub size: u64,
    /// Median of all rounds, seconds.
    pub seconds: f64,
    /// (index of the round, seconds).
    pub rounds: Vec<(usize, f64)>,
    /// The median with its interval.
    pub estimate: Estimate,
    /// As [`CurvePoint::rounding`].
    pub rounding: f64,
    /// Bits that one transfer stands for: throughput times seconds.
    pub bits: f64,
    /// Every round of the curve visited it, once.
    whole: bool,
    /// It came without an interval: median and interval are computed here from its rounds at the typical level.
    untold: bool,
}

impl Point {
    /// Throughput at a time other than the median, bits a second.
    pub fn throughput(&self, seconds: f64) -> f64 {
        self.bits / seconds
    }
}

/// The whole curve, ascending in size.
pub(crate) struct Curve {
    pub points: Vec<Point>,
    /// For each point, its times at the typical level ascending, and the rounds they are of: a median of drawn rounds is then found by
    /// counting, without sorting, in every resample.
    sorted: Vec<(Vec<f64>, Vec<u32>)>,
    /// For each point, its times without what its rounds have in common with those of all sizes, ascending, and for each round its place in
    /// that order.
    alone: Vec<(Vec<f64>, Vec<u32>)>,
    /// How many different rounds there are.
    pub rounds: usize,
    /// How the levels moved, in the order of the rounds.
    pub moves: Moves,
    /// Variance of what moves a part of the sizes over that of independent rounds, because states that they share ([`stats::local`]) last:
    /// 1 where there are none.
    pub lasting: f64,
    /// Standard error of a size's median over that of independent rounds, because each size has states of its own that last
    /// ([`Shared::lasting`]).
    pub own_lasting: f64,
    /// For each point, what it shares with its neighbours in each round beyond the level of the whole curve; none where that may be chance.
    pub local: Vec<Option<Local>>,
    /// States that sizes share outlast what so many rounds average over.
    pub outlasting: bool,
    /// Log standard deviation of a size's rounds about their levels, pooled over the sizes.
    pub sigma: f64,
    /// The same of the medians of sizes with too few rounds, from how far they lie from their neighbours: 0 where too few such sizes follow
    /// each other.
    scattered: f64,
}

impl Curve {
    /// Takes the points that have a time and a throughput, [`MOST`] at most; times of 0 or less, infinite or NaN are left out.
    pub fn of(points: &[CurvePoint]) -> Self {
        let points = thinned(points);
        let mut numbers: Vec<u32> = points.iter().flat_map(|p| p.rounds.iter().map(|b| b.0)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut points: Vec<Point> = points
            .iter()
            .filter(|p| fit(p))
            .map(|p| Point {
                size: p.size,
                seconds: p.seconds,
                estimate: p.estimate(),
                rounds: (p.rounds.iter().filter(|b| usable(b.1)))
                    .map(|b| (numbers.binary_search(&b.0).unwrap_or_default(), b.1))
                    .collect(),
                rounding: p.rounding,
                bits: p.throughput * p.seconds,
                whole: false,
                untold: p.interval.is_none(),
            })
            .collect();
        points.sort_by_key(|p| p.size);
        for point in &mut points {
            let mut of: Vec<usize> = point.rounds.iter().map(|b| b.0).collect();
            of.sort_unstable();
            point.whole = of.len() == numbers.len() && of.iter().enumerate().all(|(i, round)| i == *round);
        }
        let by_point: Vec<Vec<(u32, f64)>> =
            points.iter().map(|p| p.rounds.iter().map(|(b, t)| (*b as u32, *t)).collect()).collect();
        let levels: std::collections::BTreeMap<u32, f64> = stats::round_levels(&by_point).into_iter().collect();
        let level = |round: u32| levels.get(&round).copied().unwrap_or(0.0);
        let alone: Vec<_> =
            by_point.iter().map(|p| ranked(p.iter().map(|(b, t)| t / level(*b).exp()).collect())).collect();
        let sorted = by_point.iter().map(|p| {
            let mut rounds: Vec<(u32, f64)> = p.iter().map(|(b, t)| (*b, t / level(*b).exp())).collect();
            rounds.sort_by(|a, b| a.1.total_cmp(&b.1));
            rounds.into_iter().map(|(b, t)| (t, b)).unzip()
        });
        let sorted = sorted.collect();
        let levels: Vec<f64> = (0..numbers.len() as u32).map(level).collect();
        let moves = Moves { split: is_split(&points, numbers.len()), ..Moves::of(&levels) };
        let at_level: Vec<Vec<(u32, f64)>> =
            by_point.iter().map(|p| p.iter().map(|(b, t)| (*b, t / level(*b).exp())).collect()).collect();
        let local = stats::local(&at_level, level);
        let shared = Shared { moves, ..Shared::noise_of(&stats::freed(&at_level, &local)) };
        let untold = points.iter_mut().zip(&at_level).zip(&local).filter(|((p, t), _)| p.untold && !t.is_empty());
        for ((point, rounds), local) in untold {
            let times: Vec<f64> = rounds.iter().map(|(_, t)| *t).collect();
            point.seconds = stats::median(&times);
            let interval = match local {
                Some(local) => local.interval(rounds, &shared, CONFIDENCE),
                None => stats::point_interval(&times, &shared, CONFIDENCE),
            };
            let interval = interval.unwrap_or(Interval::UNBOUNDED);
            point.estimate = Estimate::new(point.seconds, interval.low, interval.high);
        }
        let lasting = local.iter().flatten().map(Local::inflation).fold(1.0, f64::max);
        let outlasting = local.iter().flatten().any(|l| l.alone.slow(shared.sigma));
        let (own_lasting, sigma) = (shared.lasting, shared.sigma);
        let scattered = scattered(&points, &alone);
        let rounds = numbers.len();
        Self { points, sorted, alone, rounds, moves, lasting, own_lasting, local, outlasting, sigma, scattered }
    }

    /// The rounds of a point without what they have in common with those of all sizes, seconds, ascending.
    pub fn alone(&self, point: usize) -> &[f64] {
        &self.alone[point].0
    }

    /// The rounds of a point at the typical level: number among all rounds, and seconds.
    pub fn at_level(&self, point: usize) -> impl Iterator<Item = (u32, f64)> {
        let (times, rounds) = &self.sorted[point];
        rounds.iter().copied().zip(times.iter().copied())
    }

    /// Draws rounds whole, with replacement, and gives every point's median over the drawn ones at the typical level. Rounds and not trials
    /// are drawn, because what differs between connections is common to many sizes measured on one. A point that none of the drawn rounds
    /// visited is resampled among its own.
    pub fn resample(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn, medians: &mut Vec<f64>) {
        stats::draw(rng, self.rounds, &mut drawn.indices);
        drawn.counts.clear();
        drawn.counts.resize(self.rounds, 0);
        drawn.indices.iter().for_each(|i| drawn.counts[*i] += 1);
        medians.clear();
        for (point, (times, rounds)) in self.points.iter().zip(&self.sorted) {
            let counts = || rounds.iter().map(|round| drawn.counts[*round as usize]);
            // A point that every round visited has all that were drawn.
            let n = if point.whole { self.rounds } else { counts().sum() };
            let middle = median(times, counts(), n).or_else(|| {
                stats::draw(rng, point.rounds.len(), &mut drawn.indices);
                let mut own: Vec<f64> = drawn.indices.iter().map(|i| times[*i]).collect();
                own.sort_by(f64::total_cmp);
                median(&own, own.iter().map(|_| 1), own.len())
            });
            medians.push(middle.unwrap_or(point.seconds));
        }
    }

    /// As [`Curve::resample`], but every point draws among its own rounds, without what those have in common with other sizes: the spread
    /// that each size has by itself. Fewer than four rounds hardly vary when drawn again: then it is the noise of all sizes, or how far
    /// such sizes lie from each other where that is more, since large messages are visited seldom and may be noisier than the many small
    /// ones.
    pub fn resample_apart(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn, medians: &mut Vec<f64>) {
        medians.clear();
        for (point, (times, places)) in self.points.iter().zip(&self.alone) {
            stats::draw(rng, times.len(), &mut drawn.indices);
            drawn.own.clear();
            drawn.own.resize(times.len(), 0);
            drawn.indices.iter().for_each(|i| drawn.own[places[*i] as usize] += 1);
            let middle = median(times, drawn.own.iter().copied(), times.len()).unwrap_or(point.seconds);
            let noise = match times.len() {
                n if n < stats::FEWEST_ROUNDS => {
                    (self.sigma * (FRAC_PI_2 / n.max(1) as f64).sqrt()).max(self.scattered) * stats::normal(rng)
                }
                _ => 0.0,
            };
            medians.push(middle * noise.exp());
        }
    }
}

/// Whether so few rounds may be of one of two states of the machine ([`Moves::split`]): whoever computed the points' intervals saw single
/// trials, and gave none to any size that enough rounds visited.
fn is_split(points: &[Point], rounds: usize) -> bool {
    let visited = || points.iter().filter(|p| p.rounds.len() >= stats::FEWEST_ROUNDS);
    stats::may_be_of_one(rounds)
        && visited().next().is_some()
        && visited().all(|p| !p.untold && p.estimate.high.is_infinite())
}

/// Sizes in a row with too few rounds from which on their scatter about each other is used.
const ROW: usize = 6;

/// Log standard deviation of the medians of sizes that fewer than four rounds visited: of those whose neighbours are such sizes, too, how
/// far they lie off the line between the two on logarithmic axes. Sizes lie so close that a curve hardly bends from one to the next.
fn scattered(points: &[Point], alone: &[(Vec<f64>, Vec<u32>)]) -> f64 {
    let off = |i: usize| -> Option<f64> {
        let three = [i - 1, i, i + 1];
        if three.iter().any(|k| alone[*k].0.is_empty() || alone[*k].0.len() >= stats::FEWEST_ROUNDS) {
            return None;
        }
        let [(x0, y0), (x1, y1), (x2, y2)] =
            three.map(|k| ((points[k].size.max(1) as f64).ln(), stats::median(&alone[k].0).ln()));
        let share = (x1 - x0) / (x2 - x0);
        let off = y1 - y0 - share * (y2 - y0);
        Some(off.abs() / (1.0 + share.powi(2) + (1.0 - share).powi(2)).sqrt())
    };
    let all: Vec<f64> = (1..points.len().saturating_sub(1)).filter_map(off).collect();
    if all.len() + 2 < ROW { 0.0 } else { stats::median(&all) / 0.6745 }
}

/// Buffers of a resample, and which rounds it drew.
#[derive(Default)]
pub(crate) struct Drawn {
    indices: Vec<usize>,
    /// How often each round was drawn.
    pub counts: Vec<usize>,
    /// The same of a point that draws among its own rounds.
    own: Vec<usize>,
}

/// The values ascending, and the place that each had moved to.
fn ranked(values: Vec<f64>) -> (Vec<f64>, Vec<u32>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut places = vec![0; values.len()];
    order.iter().enumerate().for_each(|(place, i)| places[*i] = place as u32);
    (order.iter().map(|i| values[*i]).collect(), places)
}

/// Median of ascending values, each counted so often, `n` times in all, as [`stats::median`] defines it. None if none counts.
fn median(ascending: &[f64], mut counts: impl Iterator<Item = usize>, n: usize) -> Option<f64> {
    let (below, above) = (n.checked_sub(1)? / 2, n / 2);
    let (mut seen, mut at) = (0, 0);
    while seen <= below {
        seen += counts.next()?;
        at += 1;
    }
    let lower = ascending[at - 1];
    if below == above {
        return Some(lower);
    }
    while seen <= above {
        seen += counts.next()?;
        at += 1;
    }
    Some(lower / 2.0 + ascending[at - 1] / 2.0)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn point(size: u64, rounds: &[(u32, f64)]) -> CurvePoint {
        CurvePoint::of(size, 2.0, rounds.to_vec())
    }

    #[test]
    fn a_counted_median_is_the_median_of_all() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut drawn = Vec::new();
        for n in 1..30 {
            stats::draw(&mut rng, n, &mut drawn);
            let values: Vec<f64> = drawn.iter().map(|i| 1.5f64.powi(*i as i32)).collect();
            let (sorted, places) = ranked(values.clone());
            assert!(values.iter().zip(&places).all(|(v, p)| sorted[*p as usize] == *v));
            stats::draw(&mut rng, n, &mut drawn);
            let all: Vec<f64> = drawn.iter().map(|i| sorted[*i]).collect();
            let counts = (0..n).map(|i| drawn.iter().filter(|d| **d == i).count());
            assert_eq!(median(&sorted, counts, n), Some(stats::median(&all)));
        }
        assert_eq!(median(&[], std::iter::empty(), 0), None);
        assert_eq!(median(&[1.0, 2.0], [0, 0].into_iter(), 0), None);
    }

    #[test]
    fn resamples_are_the_medians_of_what_was_drawn() {
        // Sizes that all rounds, some, one and none visited; one round twice.
        let of = |rounds: &[u32]| rounds.iter().map(|b| (*b, 1.0 + f64::from(b * 7 % 5) * 0.1)).collect::<Vec<_>>();
        let visits = [&[0, 1, 2, 3, 4][..], &[1, 3, 4], &[2], &[], &[0, 1, 1, 2, 3]];
        let points: Vec<CurvePoint> = visits.iter().zip(1..).map(|(b, size)| point(size, &of(b))).collect();
        let curve = Curve::of(&points);
        let (mut ours, mut theirs) = (ChaCha8Rng::seed_from_u64(4), ChaCha8Rng::seed_from_u64(4));
        let (mut drawn, mut medians, mut indices) = (Drawn::default(), Vec::new(), Vec::new());
        let of_all = |times: Vec<f64>, p: &Point| if times.is_empty() { p.seconds } else { stats::median(&times) };
        for _ in 0..200 {
            curve.resample(&mut ours, &mut drawn, &mut medians);
            stats::draw(&mut theirs, curve.rounds, &mut indices);
            let whole = indices.clone();
            for ((p, (sorted, of)), found) in curve.points.iter().zip(&curve.sorted).zip(&medians) {
                let at_level: Vec<(usize, f64)> = of.iter().map(|b| *b as usize).zip(sorted.iter().copied()).collect();
                let times = |round: &usize| at_level.iter().filter(|b| b.0 == *round).map(|b| b.1).collect::<Vec<_>>();
                let mut times: Vec<f64> = whole.iter().flat_map(times).collect();
                if times.is_empty() {
                    let mut ascending: Vec<f64> = at_level.iter().map(|b| b.1).collect();
                    ascending.sort_by(f64::total_cmp);
                    stats::draw(&mut theirs, p.rounds.len(), &mut indices);
                    times = indices.iter().map(|i| ascending[*i]).collect();
                }
                assert_eq!(*found, of_all(times, p), "size {}", p.size);
            }
            curve.resample_apart(&mut ours, &mut drawn, &mut medians);
            for ((p, (sorted, places)), found) in curve.points.iter().zip(&curve.alone).zip(&medians) {
                stats::draw(&mut theirs, sorted.len(), &mut indices);
                let times = indices.iter().map(|i| sorted[places[*i] as usize]).collect();
                assert_eq!(*found, of_all(times, p), "size {}", p.size);
            }
        }
    }

    /// What is done with a curve grows with the square of its sizes: a file may have any number of them.
    #[test]
    fn a_curve_has_no_more_sizes_than_can_be_worked_with() {
        let all: Vec<CurvePoint> = (1..=100_000).rev().map(|size| point(size, &[(0, 1.0)])).collect();
        let curve = Curve::of(&all);
        let sizes: Vec<u64> = curve.points.iter().map(|p| p.size).collect();
        assert!((MOST / 2..=MOST).contains(&sizes.len()), "{}", sizes.len());
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (1, 100_000));
        assert!(sizes.windows(2).all(|w| w[0] < w[1] && (w[1] <= 100 || (w[1] as f64) < w[0] as f64 * 1.03)));
        let few = Curve::of(&all[..MOST]);
        assert_eq!(few.points.len(), MOST, "as many as there are");
    }

    #[test]
    fn unusable_values_are_left_out_and_points_sorted() {
        let mut bad = point(5, &[]);
        bad.seconds = f64::NAN;
        let curve = Curve::of(&[point(7, &[(3, 1.0), (9, 0.0), (4, f64::NAN), (5, 3.0)]), bad, point(2, &[])]);
        assert_eq!(curve.points.iter().map(|p| p.size).collect::<Vec<_>>(), [2, 7]);
        assert_eq!(curve.points[1].rounds.iter().map(|b| b.1).collect::<Vec<_>>(), [1.0, 3.0]);
        assert_eq!(curve.points[1].throughput(1.0), 56.0);
    }

    #[test]
    fn a_round_is_drawn_at_all_sizes_together() {
        // Two sizes slow down together, and two the other way round: no level of the whole curve.
        let (up, down) = ([(0, 1.0), (1, 2.0)], [(0, 20.0), (1, 10.0)]);
        let curve = Curve::of(&[point(1, &up), point(2, &up), point(3, &down), point(4, &down)]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
        let mut seen = Vec::new();
        for _ in 0..100 {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            assert_eq!(medians[1], medians[0]);
            assert!((medians[2] + 10.0 * medians[0] - 30.0).abs() < 1e-9);
            seen.push(medians[0]);
        }
        assert!([1.0, 1.5, 2.0].iter().all(|want| seen.iter().any(|s| (s - want).abs() < 1e-9)), "{seen:?}");
    }

    #[test]
    fn points_that_no_drawn_round_visited_keep_a_median_of_their_own() {
        let curve = Curve::of(&[point(1, &[(0, 1.0)]), point(2, &[(1, 5.0)]), point(3, &[])]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
        for _ in 0..20 {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            assert_eq!(medians, [1.0, 5.0, 2.0]);
        }
    }
}
