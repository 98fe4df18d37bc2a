//! What neighbouring sizes have in common in a round, beyond the level of the whole curve.
//!
//! Some states of a machine touch a part of the sizes alone: a neighbour on the memory's bandwidth slows large messages, and small
//! ones hardly. The level of the whole curve knows nothing of it, and each size by itself takes it for noise of its own, which many
//! rounds average away. But sizes that such a state touches go up and down together, and a whole run may have seen more of it than
//! another. So neighbouring sizes are held against each other: noise of their own is as often alike as opposite, and the mean
//! product of what they show in the same round is the variance of what they share.

use std::collections::BTreeMap;

use stats::{mean, median};

/// Sizes that are neighbours of each other.
const NEAR: usize = 8;
/// Beyond this many typical distances from its size's middle a round counts only so far: a delay without bounds is no state.
const FAR: f64 = 5.0;
/// Pairs that show nothing in common, added to those seen: a few pairs tell little.
const ADDED: f64 = 20.0;

/// The standard deviation of what each size shares with its neighbours in a round. `rest` are the sizes, ascending, each with its
/// rounds: number, and logarithm without the level of the whole curve. Numbers must mean the same round at all sizes.
/// `middles` tells which rounds have a middle of their own: rounds of one number of it are centred together.
pub(super) fn shared(rest: &[Vec<(u32, f64)>], middles: impl Fn(u32) -> u32) -> Vec<f64> {
    let centred: Vec<Vec<(u32, f64)>> = rest.iter().map(|rounds| centred(rounds, &middles)).collect();
    let near = NEAR.min(centred.len());
    let windows: Vec<f64> = centred.windows(near.max(1)).map(variance).collect();
    // A state's edge lies anywhere: the neighbours below and those above are asked apart, and the more alike ones count.
    let window = |first: usize| windows.get(first.min(windows.len().saturating_sub(1))).copied().unwrap_or(0.0);
    (0..rest.len()).map(|i| window(i).max(window((i + 1).saturating_sub(near))).sqrt()).collect()
}

/// A size's rounds about their middles, with none too far out.
fn centred(rounds: &[(u32, f64)], middles: impl Fn(u32) -> u32) -> Vec<(u32, f64)> {
    let mut groups = BTreeMap::<u32, Vec<(u32, f64)>>::new();
    rounds.iter().for_each(|(k, log)| groups.entry(middles(*k)).or_default().push((*k, *log)));
    let about_middle = groups.into_values().filter(|g| g.len() > 1).flat_map(|group| {
        let logs: Vec<f64> = group.iter().map(|(_, log)| *log).collect();
        let middle = median(&logs);
        let limit = FAR * median(&logs.iter().map(|log| (log - middle).abs()).collect::<Vec<_>>());
        let near: Vec<f64> = logs.iter().map(|log| (log - middle).clamp(-limit, limit)).collect();
        let centre = mean(&near);
        // The mean is taken off with them, which makes so many rounds vary too little.
        let grown = (group.len() as f64 / (group.len() - 1) as f64).sqrt();
        group.into_iter().zip(near).map(move |((k, _), log)| (k, (log - centre) * grown)).collect::<Vec<_>>()
    });
    about_middle.collect()
}

/// The variance of what these sizes share in a round: the mean product of two of them; 0 where it is none.
fn variance(sizes: &[Vec<(u32, f64)>]) -> f64 {
    let mut rounds = BTreeMap::<u32, (f64, f64, f64)>::new();
    for (round, log) in sizes.iter().flatten() {
        let (sum, squares, n) = rounds.entry(*round).or_default();
        (*sum, *squares, *n) = (*sum + log, *squares + log * log, *n + 1.0);
    }
    let (products, pairs) = rounds.values().fold((0.0, 0.0), |(products, pairs), (sum, squares, n)| {
        (products + (sum * sum - squares) / 2.0, pairs + n * (n - 1.0) / 2.0)
    });
    (products / (pairs + ADDED)).max(0.0)
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
        let found = shared(&rounds(40, 30, 0.1), |_| 0);
        assert!(found[20..].iter().all(|s| (0.08..0.12).contains(s)), "{found:?}");
        assert!(found[..12].iter().all(|s| *s < 0.01), "{found:?}");
        let found = shared(&rounds(40, 30, 0.0), |_| 0);
        assert!(found.iter().all(|s| *s < 0.01), "{found:?}");
    }

    #[test]
    fn a_wild_round_of_one_size_and_too_few_rounds_or_sizes_share_nothing() {
        let mut wild = rounds(40, 30, 0.0);
        wild[5][3].1 += 10.0;
        wild[6][3].1 += 10.0;
        assert!(shared(&wild, |_| 0).iter().all(|s| *s < 0.02));
        assert_eq!(shared(&rounds(40, 1, 0.1), |_| 0), [0.0; 40]);
        assert_eq!(shared(&rounds(1, 9, 0.1), |_| 0), [0.0]);
        assert_eq!(shared(&[], |_| 0), [0.0; 0]);
        assert_eq!(shared(&[vec![], vec![(1, 0.5)]], |_| 0), [0.0; 2]);
    }

    #[test]
    fn rounds_of_another_middle_are_not_held_against_it() {
        let mut two = rounds(40, 20, 0.0);
        two.iter_mut().flatten().filter(|(k, _)| *k >= 10).for_each(|(_, log)| *log += 1.0);
        assert!(shared(&two, |k| k / 10).iter().all(|s| *s < 0.02));
        assert!(shared(&two, |_| 0).iter().all(|s| *s > 0.4));
    }
}
