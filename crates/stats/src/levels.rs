//! The machine's state at each moment, estimated from trials of many sizes.
//!
//! The logarithm of a trial's time is its size's, plus the machine's state at that moment, plus noise. A round visits sizes in random
//! order, so the trials just before and after one are of other sizes: where they all took longer than their sizes do, the machine was slow.
//! The median of these neighbours is subtracted from the trial, times a factor that says how well neighbours predict a trial on this path.

use std::collections::BTreeMap;

use crate::basic::{median, median_in_place};
use crate::interval::student_t;

/// Neighbours on each side that tell a moment's state. With fewer, noise comes in; with more, short states are missed.
const NEIGHBOURS: usize = 4;

/// Iterations in which sizes and states are estimated in turn; the result settles after two.
const TURNS: usize = 3;

/// Residuals are clamped to so many typical ones.
const FAR: f64 = 5.0;

/// Confidence at which a round's level differs from the typical one, so that it is not shrunk towards it.
const SURE: f64 = 0.999;

/// Weight, in trials, of the noise of all rounds beside a round's own.
const OF_OTHERS: f64 = 4.0;

/// Standard deviation of a normal variable over its mean distance from the middle, and standard error of a median over that of a mean: both
/// are the root of pi / 2.
const DEVIATION: f64 = 1.2533;

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Message size, bytes: trials of one size are alike but for noise and state.
    pub size: u64,
    /// Number of its round.
    pub round: u32,
    /// When it was measured, seconds from any one moment.
    pub at: f64,
    /// Natural logarithm of its time, seconds.
    pub log: f64,
}

/// The states that a path's trials met, as logarithms about the typical round's: 0.1 is a tenth slower.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels {
    /// Of each trial, in the order given: how its moment differs from its round's level.
    pub within: Vec<f64>,
    /// (number, level) of each round, ascending; the median over rounds is 0.
    pub rounds: Vec<(u32, f64)>,
}

impl Levels {
    /// From all trials of a path that count. Logarithms must be finite.
    pub fn of(trials: &[Moment]) -> Self {
        let mut by_round = BTreeMap::<u32, Vec<usize>>::new();
        for (i, t) in trials.iter().enumerate() {
            by_round.entry(t.round).or_default().push(i);
        }
        // In one list, not one a size: a file may have a million sizes.
        let mut by_size: Vec<usize> = (0..trials.len()).collect();
        by_size.sort_by_key(|i| trials[*i].size);
        let alike = |a: &usize, b: &usize| trials[*a].size == trials[*b].size;
        let mut visits = vec![0; trials.len()];
        for of_size in by_size.chunk_by(alike) {
            of_size.iter().for_each(|i| visits[*i] = of_size.len());
        }
        for of_round in by_round.values_mut() {
            of_round.sort_by(|a, b| trials[*a].at.total_cmp(&trials[*b].at));
        }
        let mut within = vec![0.0; trials.len()];
        let mut rounds: BTreeMap<u32, f64> = by_round.keys().map(|r| (*r, 0.0)).collect();
        for _ in 0..TURNS {
            let mut rest = vec![0.0; trials.len()];
            for of_size in by_size.chunk_by(alike) {
                let free = |i: &usize| trials[*i].log - within[*i] - rounds[&trials[*i].round];
                let usual = median(&of_size.iter().map(free).collect::<Vec<_>>());
                of_size.iter().for_each(|i| rest[*i] = trials[*i].log - usual);
            }
            for (round, of_round) in &by_round {
                let level = median(&of_round.iter().map(|i| rest[*i]).collect::<Vec<_>>());
                rounds.insert(*round, level);
            }
            let told = shrunk(&rounds, &by_round, &rest, |i| visits[i]);
            // The whole level is subtracted from a round's trials, and not the shrunk one: the rest of it would be the same in all trials
            // of the round, and would look like a state that neighbours share.
            rest.iter_mut().zip(trials).for_each(|(r, t)| *r -= rounds[&t.round]);
            rounds = told;
            let centre = median(&rounds.values().copied().collect::<Vec<_>>());
            rounds.values_mut().for_each(|level| *level -= centre);
            within = moments(trials, &by_round, &rest);
        }
        Self { within, rounds: rounds.into_iter().collect() }
    }
}

/// The levels, each shrunk towards the typical one by how poorly its round tells it: as far as it errs more than levels differ (empirical
/// Bayes: Efron and Morris 1973, *Stein's Estimation Rule and Its Competitors*, Journal of the American Statistical Association
/// 68:117-130). The level of a round that visited few sizes, or sizes that hardly another round visited, may be anything where trials were
/// stopped. A level that differs from the typical one with confidence [`SURE`] is kept.
fn shrunk(
    rounds: &BTreeMap<u32, f64>,
    by_round: &BTreeMap<u32, Vec<usize>>,
    rest: &[f64],
    visits: impl Fn(usize) -> usize,
) -> BTreeMap<u32, f64> {
    let distance = |round: u32, i: &usize| (rest[*i] - rounds[&round]).abs();
    let (all, trials) = by_round.iter().fold((0.0, 0.0), |(sum, n), (round, of)| {
        (sum + of.iter().map(|i| distance(*round, i)).sum::<f64>(), n + of.len() as f64)
    });
    let usual = if trials > 0.0 { all / trials } else { 0.0 };
    // (level, its standard error, effective trials): a size that only one round visited says nothing of the round.
    let seen = by_round.iter().map(|(round, of)| {
        let telling: f64 = of.iter().map(|i| 1.0 - 1.0 / visits(*i) as f64).sum();
        let own: f64 = of.iter().map(|i| distance(*round, i)).sum();
        let noise = (own + OF_OTHERS * usual) / (of.len() as f64 + OF_OTHERS);
        let error = if noise > 0.0 { noise * DEVIATION * DEVIATION / telling.sqrt() } else { 0.0 };
        (*round, (rounds[round], error, telling))
    });
    let seen: BTreeMap<u32, (f64, f64, f64)> = seen.collect();
    let middle = median(&rounds.values().copied().collect::<Vec<_>>());
    let apart = median(&seen.values().map(|(level, ..)| (level - middle).powi(2)).collect::<Vec<_>>());
    let erring = median(&seen.values().map(|(_, error, _)| error.powi(2)).collect::<Vec<_>>());
    // The median square of a normal variable is 0.455 of its variance.
    let between = (apart / 0.455 - erring).max(0.0);
    let one = |(round, (level, error, telling)): (u32, (f64, f64, f64))| {
        let off = level - middle;
        let sure = off.abs() > student_t(SURE, telling.max(1.0)) * error;
        let share = if sure || error == 0.0 { 1.0 } else { between / (between + error * error) };
        (round, middle + if share.is_finite() { off * share } else { 0.0 })
    };
    seen.into_iter().map(one).collect()
}

/// The state at each trial: the median residual of its neighbours, times how well neighbours predict trials on this path.
fn moments(trials: &[Moment], by_round: &BTreeMap<u32, Vec<usize>>, rest: &[f64]) -> Vec<f64> {
    let mut said = vec![0.0; trials.len()];
    let mut near = Vec::with_capacity(2 * NEIGHBOURS);
    for of_round in by_round.values() {
        for (place, i) in of_round.iter().enumerate() {
            let others = |j: &&usize| trials[**j].size != trials[*i].size;
            near.clear();
            near.extend(of_round[..place].iter().rev().filter(others).take(NEIGHBOURS).map(|j| rest[*j]));
            near.extend(of_round[place + 1..].iter().filter(others).take(NEIGHBOURS).map(|j| rest[*j]));
            if near.len() >= NEIGHBOURS {
                said[*i] = median_in_place(&mut near);
            }
        }
    }
    // Wiener's factor: the share of the neighbours' variance that is state and not their own noise, and so shows in the trial between them.
    let limit = |values: &[f64]| FAR * median(&values.iter().map(|v| v.abs()).collect::<Vec<_>>());
    let (far, far_said) = (limit(rest), limit(&said));
    let (both, squares) = rest.iter().zip(&said).fold((0.0, 0.0), |(both, squares), (r, s)| {
        let s = s.clamp(-far_said, far_said);
        (both + r.clamp(-far, far) * s, squares + s * s)
    });
    let share = if squares > 0.0 { (both / squares).clamp(0.0, 1.0) } else { 0.0 };
    said.iter().map(|s| s * share).collect()
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// 40 sizes in so many rounds, a trial every 10 ms; `state` tells the logarithm of the machine's state at a moment.
    fn run(rounds: u32, noise: f64, state: impl Fn(f64) -> f64) -> (Vec<Moment>, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let normal = |rng: &mut ChaCha8Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let (mut trials, mut states) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let mut sizes: Vec<u64> = (1..=40).collect();
            sizes.shuffle(&mut rng);
            for size in sizes {
                let at = trials.len() as f64 * 0.01;
                let log = (size as f64).ln() + state(at) + noise * normal(&mut rng);
                trials.push(Moment { size, round, at, log });
                states.push(state(at));
            }
        }
        (trials, states)
    }

    /// Spread of what is left of the trials of a size once state is taken off, typically.
    fn left(trials: &[Moment], levels: &Levels) -> f64 {
        let of = |size: u64| {
            let free: Vec<f64> = (trials.iter().zip(&levels.within))
                .filter(|(t, _)| t.size == size)
                .map(|(t, w)| t.log - w - levels.rounds[t.round as usize].1)
                .collect();
            crate::variance(&free).sqrt()
        };
        median(&(1..=40).map(of).collect::<Vec<_>>())
    }

    #[test]
    fn states_shorter_than_a_round_are_taken_off_the_trials() {
        let slow = |at: f64| if (at / 0.15) as u64 % 2 == 1 { 1.5f64.ln() } else { 0.0 };
        let (trials, _) = run(20, 0.03, slow);
        let raw = Levels { within: vec![0.0; trials.len()], rounds: (0..20).map(|r| (r, 0.0)).collect() };
        let (raw, levelled) = (left(&trials, &raw), left(&trials, &Levels::of(&trials)));
        assert!(raw > 0.18 && levelled < 0.11, "{raw} {levelled}");
    }

    #[test]
    fn states_of_whole_rounds_are_the_rounds_levels() {
        let (trials, _) = run(9, 0.03, |at| if at < 1.6 { 0.0 } else { 1.5f64.ln() });
        let levels = Levels::of(&trials);
        for (round, level) in &levels.rounds {
            let want = if *round < 4 { -(1.5f64.ln()) } else { 0.0 };
            assert!((level - want).abs() < 0.02, "{round}: {level}");
        }
        assert!(left(&trials, &levels) < 0.033);
    }

    #[test]
    fn states_of_whole_rounds_shift_no_trial() {
        // Half of the rounds are slow, by turns or at random: no middle round tells the typical level, and what the trials within a round
        // differ by is noise all the same.
        for (n, seed) in [(30, 0u64), (30, 1), (30, 2), (9, 3), (9, 4), (31, 5)] {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let slow: Vec<bool> = (0..n).map(|i| if seed == 0 { i % 2 == 0 } else { rng.random_bool(0.5) }).collect();
            let state = |at: f64| if slow[((at + 1e-9) / 0.4) as usize] { 1.5f64.ln() } else { 0.0 };
            let (trials, _) = run(n, 0.03, state);
            let within = Levels::of(&trials).within;
            let mean = within.iter().sum::<f64>() / within.len() as f64;
            assert!(mean.abs() < 0.002, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn where_there_is_no_state_little_is_taken_off() {
        let (trials, _) = run(12, 0.05, |_| 0.0);
        let levels = Levels::of(&trials);
        assert!(left(&trials, &levels) < 0.053, "{}", left(&trials, &levels));
        assert!(levels.rounds.iter().all(|(_, l)| l.abs() < 0.03));
    }

    #[test]
    fn a_round_of_few_sizes_that_were_stopped_elsewhere_has_no_level_of_its_own() {
        // Round 0 visits all sizes and is stopped at four of them; round 3 visits those four again, and hardly another.
        let outlier = [2, 5, 8, 11];
        let visits: [&[u64]; 4] = [
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            &[1, 3, 4, 6, 7, 9],
            &[1, 3, 4, 10, 12, 7],
            &[2, 5, 8, 11, 9, 13],
        ];
        let mut trials = Vec::new();
        for (round, sizes) in visits.iter().enumerate() {
            for size in *sizes {
                let stopped = if round == 0 && outlier.contains(size) { 200f64.ln() } else { 0.0 };
                let noise = 0.01 * ((size * 7 + round as u64 * 3) % 5) as f64;
                trials.push(Moment { size: *size, round: round as u32, at: trials.len() as f64, log: stopped + noise });
            }
        }
        let levels = Levels::of(&trials);
        assert!(levels.rounds.iter().all(|(_, l)| l.abs() < 0.5), "{:?}", levels.rounds);
    }

    /// Rounds that lie 1% about the middle, each told by so many trials that scatter by 2% about it.
    fn kept(trials: usize) -> f64 {
        let rounds: BTreeMap<u32, f64> = (1..=8).map(|r| (r, if r % 2 == 0 { 0.01 } else { -0.01 })).collect();
        let by_round: BTreeMap<u32, Vec<usize>> =
            rounds.keys().map(|r| (*r, (0..trials).map(|i| (*r as usize - 1) * trials + i).collect())).collect();
        let rest: Vec<f64> = (0..8 * trials)
            .map(|i| rounds[&((i / trials) as u32 + 1)] + if i % 2 == 0 { 0.02 } else { -0.02 })
            .collect();
        shrunk(&rounds, &by_round, &rest, |_| 8)[&2] / 0.01
    }

    #[test]
    fn a_level_is_kept_as_far_as_many_trials_tell_it() {
        assert!(kept(400) > 0.9, "{}", kept(400));
        assert!(kept(4) < 0.5, "{}", kept(4));
        assert!(kept(400) > kept(100) && kept(100) > kept(16), "{} {} {}", kept(16), kept(100), kept(400));
    }

    #[test]
    fn one_size_and_none_are_taken_as_they_are() {
        let one: Vec<Moment> =
            (0..6).map(|i| Moment { size: 64, round: i, at: f64::from(i), log: f64::from(i) * 0.1 }).collect();
        let levels = Levels::of(&one);
        assert_eq!(levels.within, [0.0; 6]);
        assert!((levels.rounds[5].1 - levels.rounds[0].1 - 0.5).abs() < 1e-12);
        assert_eq!(Levels::of(&[]), Levels::default());
    }
}
