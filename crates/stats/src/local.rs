//! What neighbouring sizes have in common in a round, beyond the level of the whole curve.
//!
//! Some states of a machine touch a part of the sizes only: another user of the memory's bandwidth slows large messages, and small ones
//! hardly. The level of the whole curve does not show it, and a single size can't tell it from noise of its own, which many rounds average
//! away. But sizes that such a state touches go up and down together, and one whole run may have met more of it than another. So the
//! covariance of neighbouring sizes is computed: noise of their own has none, and the mean product of their deviations in the same round is
//! the variance of what they share.

use std::collections::BTreeMap;

use crate::basic::{mean, median, quantile};
use crate::common::Shared;
use crate::interval::{Interval, own_error, point_interval};
use crate::moves::{FEWEST_ROUNDS, Moves};
use crate::spread::StandardError;

/// Sizes that are neighbours of each other.
const NEAR: usize = 8;
/// Rounds are clamped to so many typical distances from their size's middle: one very long delay is no state.
const FAR: f64 = 5.0;
/// But not closer than so many times the distance within which the share [`OFTEN`] of the rounds lies: two alternating states lie far
/// apart, though most rounds may lie near one of them.
const OFTEN_FAR: f64 = 1.5;
const OFTEN: f64 = 0.85;
/// Pairs without covariance that are added to those seen, so that a few pairs show little.
const ADDED: f64 = 20.0;
/// Standard errors beyond which a covariance is not taken for chance: on a quiet machine one run in a hundred has any beyond it among its
/// three hundred neighbourhoods.
const SURE: f64 = 4.0;

/// A state that a size shares with its neighbours and not with the whole curve: the level of each round about the curve's.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// Standard deviation of the levels, as logarithms, freed of the sizes' own noise.
    pub spread: f64,
    /// Level of each round beyond the whole curve's, as a logarithm about their middle, shrunk by the share of its variance that is the
    /// sizes' own noise.
    levels: BTreeMap<u32, f64>,
    /// How these levels moved, in the order of time.
    pub alone: Moves,
    /// How the levels of such a size moved: the whole curve's and these together, or these alone where their mean errs more.
    pub moves: Moves,
}

impl Local {
    /// Level of a round beyond the whole curve's, as a logarithm; 0 of one in which these sizes were not measured.
    pub fn level(&self, round: u32) -> f64 {
        self.levels.get(&round).copied().unwrap_or(0.0)
    }

    /// The rounds in which these sizes were measured, ascending.
    pub fn rounds(&self) -> impl Iterator<Item = u32> {
        self.levels.keys().copied()
    }

    /// The interval of a size's median in this run, as [`point_interval`], where its state is these levels' as well: from its rounds at the
    /// whole curve's level, and from what the path's points share.
    pub fn interval(&self, rounds: &[(u32, f64)], shared: &Shared, confidence: f64) -> Option<Interval> {
        let (wider, (low, high)) = (self.seldom(rounds.len()), self.moves.ends);
        let error = self.erring(self.moves.error, rounds.len());
        let moves = Moves { error, ends: (low * wider, high * wider), ..self.moves };
        let shared = Shared { moves, ..*shared };
        let mut found = point_interval(&self.freed(rounds), &shared, confidence)?;
        if wider > 1.0 {
            // Nor do neighbours that other rounds visited tell what these saw: its own times do.
            let times: Vec<f64> = rounds.iter().map(|(_, t)| *t).collect();
            let own = point_interval(&times, &shared, confidence)?;
            found = Interval { low: found.low.min(own.low), high: found.high.max(own.high) };
        }
        let middle = median(&rounds.iter().map(|(_, t)| *t).collect::<Vec<_>>());
        Some(Interval { low: found.low.min(middle), high: found.high.max(middle) })
    }

    /// Standard error of the logarithm of a size's median at the whole curve's level, as [`own_error`], with that of these levels.
    pub fn error(&self, rounds: &[(u32, f64)], shared: &Shared) -> Option<StandardError> {
        let (own, levels) = (own_error(&self.freed(rounds), shared)?, self.erring(self.alone.error, rounds.len()));
        Some(StandardError::of_sum(&[(own.value.powi(2), own.degrees), (levels.value.powi(2), levels.degrees)]))
    }

    /// By how much more these levels' mean errs for a size that so many of their rounds visited: large sizes are visited in some alone, and
    /// those of the same rounds are centred on what these rounds saw.
    fn seldom(&self, visits: usize) -> f64 {
        (self.levels.len() as f64 / visits.max(1) as f64).max(1.0).sqrt()
    }

    /// The error of these levels' mean for such a size.
    fn erring(&self, error: StandardError, visits: usize) -> StandardError {
        let degrees =
            if self.seldom(visits) > 1.0 { error.degrees.min(visits.max(2) as f64 - 1.0) } else { error.degrees };
        StandardError { value: error.value * self.seldom(visits), degrees }
    }

    /// A size's rounds without these levels, seconds.
    fn freed(&self, rounds: &[(u32, f64)]) -> Vec<f64> {
        rounds.iter().map(|(round, t)| t / self.level(*round).exp()).collect()
    }

    /// Variance of the mean of these levels over that of as many independent rounds: 1 or more.
    pub fn inflation(&self) -> f64 {
        let independent = self.alone.spread.powi(2) / f64::from(self.alone.rounds.max(1));
        if independent > 0.0 { (self.alone.error.value.powi(2) / independent).max(1.0) } else { 1.0 }
    }
}

/// What each size shares with its neighbours and not with the whole curve; none where that may be chance, or too few rounds tell of it.
/// `points` are the sizes, ascending, each with its rounds: number, and time at the whole curve's level. `level` is that level, as a
/// logarithm; numbers must mean the same round at all sizes.
pub fn local(points: &[Vec<(u32, f64)>], level: impl Fn(u32) -> f64) -> Vec<Option<Local>> {
    let logs = points.iter().map(|p| p.iter().filter(|(_, t)| *t > 0.0).map(|(round, t)| (*round, t.ln())).collect());
    let centred: Vec<Vec<(u32, f64)>> = logs.map(|rounds: Vec<_>| centred(&rounds)).collect();
    let neighbours = Neighbours::of(&centred);
    let one = |i: usize| {
        let (sizes, seen) = neighbours.at(i);
        if seen.is_chance() { None } else { seen.local(sizes, &level) }
    };
    (0..points.len()).map(one).collect()
}

/// Each size's rounds, freed of what it shares with its neighbours.
pub fn freed(points: &[Vec<(u32, f64)>], local: &[Option<Local>]) -> Vec<Vec<(u32, f64)>> {
    let free = |(rounds, local): (&Vec<(u32, f64)>, &Option<Local>)| {
        let level = |round| local.as_ref().map_or(0.0, |l| l.level(round));
        rounds.iter().map(|(round, t)| (*round, t / level(*round).exp())).collect()
    };
    points.iter().zip(local).map(free).collect()
}

/// The rounds of all sizes, centred, and what each window of `near` neighbouring sizes has in common.
struct Neighbours<'a> {
    sizes: &'a [Vec<(u32, f64)>],
    near: usize,
    seen: Vec<Seen>,
}

impl<'a> Neighbours<'a> {
    fn of(sizes: &'a [Vec<(u32, f64)>]) -> Self {
        let near = NEAR.min(sizes.len()).max(1);
        Self { sizes, near, seen: sizes.windows(near).map(Seen::of).collect() }
    }

    /// The window for the size at this index: the one that begins with it or the one that ends with it, whichever has more in common, since
    /// a state may begin or end at any size. There must be a size.
    fn at(&self, i: usize) -> (&'a [Vec<(u32, f64)>], &Seen) {
        let (above, below) = (i.min(self.seen.len() - 1), (i + 1).saturating_sub(self.near));
        let first = if self.seen[above].shared >= self.seen[below].shared { above } else { below };
        (&self.sizes[first..first + self.near], &self.seen[first])
    }
}

/// Variance and covariance of a window of neighbouring sizes.
struct Seen {
    /// Variance of what they share in a round.
    shared: f64,
    /// Variance of all that they show.
    all: f64,
    /// Pairs of sizes in the same round that `shared` is computed from.
    pairs: f64,
}

impl Seen {
    fn of(sizes: &[Vec<(u32, f64)>]) -> Self {
        let (products, pairs) = products(sizes);
        let values = || sizes.iter().flatten().map(|(_, log)| log * log);
        let all = values().sum::<f64>() / values().count().max(1) as f64;
        Self { shared: (products / (pairs + ADDED)).max(0.0), all, pairs }
    }

    /// Whether independent noise of the sizes could show this covariance by chance.
    fn is_chance(&self) -> bool {
        self.shared <= SURE * self.all / self.pairs.max(1.0).sqrt()
    }

    fn local(&self, sizes: &[Vec<(u32, f64)>], level: &dyn Fn(u32) -> f64) -> Option<Local> {
        let mut rounds = BTreeMap::<u32, Vec<f64>>::new();
        sizes.iter().flatten().for_each(|(round, log)| rounds.entry(*round).or_default().push(*log));
        if rounds.len() < FEWEST_ROUNDS {
            return None;
        }
        let own = (self.all - self.shared).max(0.0);
        let drawn = |logs: Vec<f64>| mean(&logs) * self.shared / (self.shared + own / logs.len() as f64);
        let mut levels: BTreeMap<u32, f64> = rounds.into_iter().map(|(round, logs)| (round, drawn(logs))).collect();
        let series = |levels: &BTreeMap<u32, f64>, of: &dyn Fn(u32) -> f64| -> Vec<f64> {
            levels.iter().map(|(round, l)| l + of(*round)).collect()
        };
        let middle = median(&series(&levels, level));
        levels.values_mut().for_each(|l| *l -= middle);
        let (alone, both) = (Moves::of(&series(&levels, &|_| 0.0)), Moves::of(&series(&levels, level)));
        // Sizes that the curve's state does not touch have its level with the opposite sign here, so that the sum varies too little: then
        // these alone count.
        let moves = if both.error.value < alone.error.value { alone } else { both };
        Some(Local { spread: self.shared.sqrt(), levels, alone, moves })
    }
}

/// The standard deviation of what each size shares with its neighbours in a round. `rest` are the sizes, ascending, each with its
/// rounds: number, and logarithm without the level of the whole curve. Numbers must mean the same round at all sizes.
pub fn shared_nearby(rest: &[Vec<(u32, f64)>]) -> Vec<f64> {
    let centred: Vec<Vec<(u32, f64)>> = rest.iter().map(|rounds| centred(rounds)).collect();
    let neighbours = Neighbours::of(&centred);
    (0..rest.len()).map(|i| neighbours.at(i).1.shared.sqrt()).collect()
}

/// A size's rounds about their middle, clamped; none of a single round.
fn centred(rounds: &[(u32, f64)]) -> Vec<(u32, f64)> {
    if rounds.len() < 2 {
        return Vec::new();
    }
    let logs: Vec<f64> = rounds.iter().map(|(_, log)| *log).collect();
    let middle = median(&logs);
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let limit = (FAR * median(&distances)).max(OFTEN_FAR * quantile(&distances, OFTEN));
    let near: Vec<f64> = logs.iter().map(|log| (log - middle).clamp(-limit, limit)).collect();
    let centre = mean(&near);
    // Subtracting their own mean makes few rounds vary too little (Bessel's correction).
    let grown = (rounds.len() as f64 / (rounds.len() - 1) as f64).sqrt();
    rounds.iter().zip(near).map(|((k, _), log)| (*k, (log - centre) * grown)).collect()
}

/// The products of all pairs of sizes in the same round, summed, and how many there are.
fn products(sizes: &[Vec<(u32, f64)>]) -> (f64, f64) {
    let mut rounds = BTreeMap::<u32, (f64, f64, f64)>::new();
    for (round, log) in sizes.iter().flatten() {
        let (sum, squares, n) = rounds.entry(*round).or_default();
        (*sum, *squares, *n) = (*sum + log, *squares + log * log, *n + 1.0);
    }
    rounds.values().fold((0.0, 0.0), |(products, pairs), (sum, squares, n)| {
        (products + (sum * sum - squares) / 2.0, pairs + n * (n - 1.0) / 2.0)
    })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// So many sizes in so many rounds: noise of their own of 0.03, and a state of ±0.1 that the sizes from 20 on share.
    fn rounds(sizes: usize, rounds: u32, state: f64) -> Vec<Vec<(u32, f64)>> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let states: Vec<f64> = (0..rounds).map(|_| if rng.random::<bool>() { state } else { -state }).collect();
        let mut own = || 0.03 * ((0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0);
        let at = |i: usize, k: u32| if i >= 20 { states[k as usize] } else { 0.0 };
        (0..sizes).map(|i| (0..rounds).map(|k| (k, i as f64 + at(i, k) + own())).collect()).collect()
    }

    #[test]
    fn what_a_part_of_the_sizes_shares_is_told_where_it_is_and_noise_of_their_own_is_none() {
        let found = shared_nearby(&rounds(40, 30, 0.1));
        assert!(found[20..].iter().all(|s| (0.08..0.12).contains(s)), "{found:?}");
        assert!(found[..12].iter().all(|s| *s < 0.01), "{found:?}");
        let found = shared_nearby(&rounds(40, 30, 0.0));
        assert!(found.iter().all(|s| *s < 0.01), "{found:?}");
    }

    #[test]
    fn a_wild_round_of_one_size_and_too_few_rounds_or_sizes_share_nothing() {
        let mut outlier = rounds(40, 30, 0.0);
        outlier[5][3].1 += 10.0;
        outlier[6][3].1 += 10.0;
        assert!(shared_nearby(&outlier).iter().all(|s| *s < 0.02));
        assert_eq!(shared_nearby(&rounds(40, 1, 0.1)), [0.0; 40]);
        assert_eq!(shared_nearby(&rounds(1, 9, 0.1)), [0.0]);
        assert_eq!(shared_nearby(&[]), [0.0; 0]);
        assert_eq!(shared_nearby(&[vec![], vec![(1, 0.5)]]), [0.0; 2]);
    }

    /// Rounds of 40 sizes as [`rounds`], as times, where the sizes from 28 on share states of ±0.1 with this correlation from round to round.
    fn lasting(seed: u64, n: u32, alike: f64) -> Vec<Vec<(u32, f64)>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = move || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let mut state = normal();
        let states: Vec<f64> = (0..n)
            .map(|_| {
                state = alike * state + (1.0 - alike * alike).sqrt() * normal();
                0.1 * state
            })
            .collect();
        let mut at = |i: usize, k: u32| 0.03 * normal() + if i >= 28 { states[k as usize] } else { 0.0 };
        (0..40).map(|i| (0..n).map(|k| (k, at(i, k).exp())).collect()).collect()
    }

    #[test]
    fn states_that_last_err_farther_than_as_many_independent_ones() {
        let inflations = |alike| -> Vec<f64> {
            let of = |seed| local(&lasting(seed, 60, alike), |_| 0.0)[35].as_ref().map(Local::inflation);
            (0..20).filter_map(of).collect()
        };
        let (short, long) = (crate::median(&inflations(0.0)), crate::median(&inflations(0.8)));
        assert!(short >= 1.0 && long > 2.0 * short, "{short} {long}");
    }

    #[test]
    fn sizes_without_a_state_of_their_own_have_none_and_those_with_one_are_told() {
        let quiet = (0..200).filter(|seed| {
            let n = if seed % 2 == 0 { 9 } else { 30 };
            let points = &lasting(1000 + seed, n, 0.0)[..28];
            local(points, |_| 0.0).iter().any(Option::is_some)
        });
        assert!(quiet.count() <= 6);
        for seed in 0..20 {
            let found = local(&lasting(seed, 30, 0.8), |_| 0.0);
            // So many sizes move the curve's level by part of the others' noise.
            assert!(found[..20].iter().flatten().all(|l| l.spread < 0.025), "{seed}");
            assert!(found[28..].iter().filter(|l| l.as_ref().is_some_and(|l| l.spread > 0.03)).count() == 12, "{seed}");
        }
    }

    /// A size's trials, each with its round.
    type Rounds = Vec<(u32, f64)>;

    /// The rounds of all sizes at the whole curve's level, what neighbours share beyond it, and what all share.
    fn levelled(points: &[Rounds]) -> (Vec<Rounds>, Vec<Option<Local>>, Shared) {
        let levels: BTreeMap<u32, f64> = crate::round_levels(points).into_iter().collect();
        let level = |round: u32| levels[&round];
        let at_level: Vec<Rounds> =
            points.iter().map(|p| p.iter().map(|(k, t)| (*k, t / level(*k).exp())).collect()).collect();
        let local = local(&at_level, level);
        let moves = Moves::of(&levels.values().copied().collect::<Vec<_>>());
        let shared = Shared { moves, ..Shared::noise_of(&freed(&at_level, &local)) };
        (at_level, local, shared)
    }

    #[test]
    fn sizes_that_some_rounds_visit_err_as_those_rounds_do() {
        // The sizes from 24 on are slow by 0.59 (x1.8) in three rounds of ten, and those from 28 on are visited in every third round.
        let (mut held, mut given) = (0, 0);
        for seed in 0..200 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let slow: Vec<bool> = (0..30).map(|_| rng.random::<f64>() < 0.3).collect();
            let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let mut points = Vec::new();
            for size in 0..40 {
                let visited = (0..30u32).filter(|k| size < 28 || (k + size) % 3 == 0);
                let state = |k: u32| if size >= 24 && slow[k as usize] { 0.59 } else { 0.0 };
                points.push(visited.map(|k| (k, (0.03 * normal() + state(k)).exp())).collect::<Vec<_>>());
            }
            let (at_level, local, shared) = levelled(&points);
            for (rounds, local) in at_level.iter().zip(&local).skip(28) {
                let found = local.as_ref().and_then(|local| local.interval(rounds, &shared, 0.95));
                given += u32::from(found.is_some());
                held += u32::from(found.is_some_and(|i| i.contains(1.0)));
            }
        }
        let share = f64::from(held) / f64::from(given);
        assert!(given > 1500 && share >= 0.9, "{held} of {given}");
    }

    #[test]
    fn intervals_hold_the_truth_where_a_part_of_the_sizes_shares_states_that_last() {
        let coverage = |n: u32, alike: f64, first: usize| {
            let (mut held, mut given) = (0.0, 0.0);
            for seed in 0..400 {
                let points = lasting(seed, n, alike);
                let (at_level, local, shared) = levelled(&points);
                for (rounds, local) in at_level.iter().zip(&local).skip(first).take(12) {
                    let times: Vec<f64> = rounds.iter().map(|(_, t)| *t).collect();
                    let found = match local {
                        Some(local) => local.interval(rounds, &shared, 0.95),
                        None => point_interval(&times, &shared, 0.95),
                    };
                    given += f64::from(u8::from(found.is_some()));
                    held += f64::from(u8::from(found.is_some_and(|i| i.contains(1.0))));
                }
            }
            100.0 * held / given
        };
        for (n, alike, least) in [(30, 0.0, 94.0), (30, 0.5, 90.0), (30, 0.8, 78.0), (9, 0.0, 94.0), (9, 0.5, 86.0)] {
            let (with, without) = (coverage(n, alike, 28), coverage(n, alike, 0));
            assert!(with >= least && without >= 94.0, "{n} rounds, {alike}: {with:.1}%, others {without:.1}%");
        }
    }
}
