//! The mean of differences whose signs were drawn: what the machine does to one side of a pair it does to the other as often.

use crate::Interval;

/// Pairs from which on some outcome of the drawn order is as rare as 5%: all of five go one way in one of sixteen orders.
pub const TELLING_PAIRS: usize = 6;

/// Pairs up to which every subset is counted; more follow the normal limit.
const COUNTED: usize = 12;

/// The 97.5th percentile of the standard normal distribution.
const NORMAL: f64 = 1.959_964;

/// Where the true difference lies, of pairs of which chance drew which half came first, at 95% confidence; without any assumption about the
/// halves' noise, however long it lasts or in step with the pairs it is. Of fewer than [`TELLING_PAIRS`] the range of all of them, which
/// holds it less often. Unbounded without a pair.
///
/// About the truth each difference has either sign with the same probability. So the truth lies between any two neighbours of the ordered
/// means of all subsets with equal probability (Hartigan 1969, *Using subsample values as typical values*, JASA 64:1303-1317). Of many
/// pairs: the values at which the sum of the differences lies within the normal limit of random signs.
pub fn drawn_sign_interval(differences: &[f64]) -> Interval {
    let k = differences.len();
    if k == 0 {
        return Interval::UNBOUNDED;
    }
    if k > COUNTED {
        let (n, middle) = (k as f64, crate::mean(differences));
        let squares: f64 = differences.iter().map(|d| (d - middle).powi(2)).sum();
        let reach = NORMAL * (squares / (n * (n - NORMAL * NORMAL))).sqrt();
        return Interval { low: middle - reach, high: middle + reach };
    }
    let subset = |members: u32| {
        let sum: f64 = (0..k).filter(|i| members >> i & 1 == 1).map(|i| differences[i]).sum();
        sum / f64::from(members.count_ones())
    };
    let mut means: Vec<f64> = (1..1u32 << k).map(subset).collect();
    means.sort_unstable_by(f64::total_cmp);
    // Of 2^k gaps, as many are left out at either end.
    let left_out = (((1u32 << k) / 40) as usize).max(1);
    Interval { low: means[left_out - 1], high: means[means.len() - left_out] }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn differences_of_drawn_signs_hold_zero_as_often_as_promised() {
        for pairs in [4, 6, 9, 12, 13, 30] {
            let mut rng = ChaCha8Rng::seed_from_u64(pairs as u64);
            let held = |heavy: bool, rng: &mut ChaCha8Rng| {
                let one = |i: usize| {
                    let size = if heavy { 1.0 / (1.0 - rng.random::<f64>()) } else { 1.0 + 0.01 * i as f64 };
                    if rng.random::<bool>() { size } else { -size }
                };
                drawn_sign_interval(&(0..pairs).map(one).collect::<Vec<_>>()).contains(0.0)
            };
            for heavy in [false, true] {
                let share = (0..2000).filter(|_| held(heavy, &mut rng)).count() as f64 / 20.0;
                let least = if pairs < TELLING_PAIRS { 85.0 } else { 94.0 };
                assert!((least..99.0).contains(&share), "{pairs} pairs, heavy: {heavy}: {share}%");
            }
        }
    }

    #[test]
    fn few_pairs_give_their_range_and_none_nothing() {
        assert_eq!(drawn_sign_interval(&[]), Interval::UNBOUNDED);
        assert_eq!(drawn_sign_interval(&[2.0]), Interval { low: 2.0, high: 2.0 });
        assert_eq!(drawn_sign_interval(&[3.0, 1.0, 2.0]), Interval { low: 1.0, high: 3.0 });
        assert_eq!(drawn_sign_interval(&[0.5; 40]), Interval { low: 0.5, high: 0.5 });
    }
}
