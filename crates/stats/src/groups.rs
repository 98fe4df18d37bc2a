//! Whether rounds fall into two groups, as those of a machine do that alternates between two states faster than rounds pass.
//!
//! Four rounds of two states, each as likely as the other, are all of one of them in one run of eight, and their median then lies half of
//! the states' distance off. One size can't show that, but the rounds of all sizes together do: between two groups the distances of a
//! size's rounds are either small or about as large as the largest, and hardly any lies between. Of noise with one centre many do.

/// Rounds from which on an interval is made of two groups: so many are all of one group in at most one run of 32.
const ENOUGH: usize = 6;

/// The distance that most distances do not exceed, and the part of it in which two groups leave a gap.
const MOST: f64 = 0.8;
const GAP: (f64, f64) = (0.25, 0.6);

/// Share of all distances in the gap below which rounds fall into two groups. Of normal, uniform and log-normal noise 0.17 and more lie
/// there; of exponential delays in one trial of three 0.05 or less lie there in one run of 100 (simulated, 40 sizes of four rounds).
const EMPTY: f64 = 0.05;

/// Distances from which on their share is told.
const TELLING: usize = 60;

/// Whether so many rounds may all be of one of two groups.
pub fn may_be_of_one(rounds: usize) -> bool {
    rounds < ENOUGH
}

/// Whether the sizes' rounds fall into two groups: a list a size, each time divided by its round's level. Times of 0 or less are left out.
pub fn in_two_groups(points: &[Vec<(u32, f64)>]) -> bool {
    let mut apart: Vec<f64> = points.iter().flat_map(|times| distances(times)).collect();
    if apart.len() < TELLING {
        return false;
    }
    apart.sort_unstable_by(f64::total_cmp);
    let most = apart[(MOST * apart.len() as f64) as usize];
    let within = |most: f64| {
        let below = |share: f64| apart.partition_point(|d| *d <= share * most);
        (below(GAP.1) - below(GAP.0)) as f64 / apart.len() as f64
    };
    // A round's level may itself be of either group: distances are then up to twice that of the groups.
    most > 0.0 && within(most).min(within(most / 2.0)) < EMPTY && !on_a_grid(&apart)
}

/// Distances between the logarithms of each pair of a size's rounds.
fn distances(times: &[(u32, f64)]) -> Vec<f64> {
    let logs: Vec<f64> = times.iter().filter(|(_, t)| *t > 0.0).map(|(_, t)| t.ln()).collect();
    let mut all = Vec::new();
    for (i, one) in logs.iter().enumerate() {
        all.extend(logs[..i].iter().map(|other| (one - other).abs()));
    }
    all
}

/// Whether most rounds are the same to the last digit: those of a coarse clock, whose grid leaves gaps, too.
fn on_a_grid(apart: &[f64]) -> bool {
    2 * apart.partition_point(|d| *d <= 1e-9) > apart.len() / 2
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::normal;

    fn points(k: u32, mut one: impl FnMut() -> f64) -> Vec<Vec<(u32, f64)>> {
        (0..40).map(|_| (0..k).map(|round| (round, one().exp())).collect()).collect()
    }

    #[test]
    fn few_rounds_of_two_states_are_told_and_those_of_one_centre_are_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let (mut told, mut wrong) = (0, 0);
        for _ in 0..50 {
            let states = points(4, || 0.03 * normal(&mut rng) + if rng.random() { 3f64.ln() } else { 0.0 });
            told += u32::from(in_two_groups(&states));
            for spread in [0.001, 0.03, 0.5] {
                wrong += u32::from(in_two_groups(&points(4, || spread * normal(&mut rng))));
            }
            let delays = points(4, || {
                let delay =
                    if rng.random_bool(1.0 / 3.0) { (1.0 - (1.0 - rng.random::<f64>()).ln()).ln() } else { 0.0 };
                0.03 * normal(&mut rng) + delay
            });
            wrong += u32::from(in_two_groups(&delays));
        }
        assert!(told == 50 && wrong <= 2, "{told} told, {wrong} wrong");
    }

    #[test]
    fn a_coarse_clock_and_few_sizes_are_no_two_states() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let clock = points(4, || if rng.random_bool(0.3) { 2f64.ln() } else { 0.0 });
        assert!(!in_two_groups(&clock));
        assert!(!in_two_groups(&points(4, || f64::from(u8::from(rng.random::<bool>())))[..5]));
        assert!(!in_two_groups(&[]));
    }
}
