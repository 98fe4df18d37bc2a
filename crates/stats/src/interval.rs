//! Where the true median lies, from the medians of independent rounds.

use crate::basic::{mean, median};
use crate::common::Shared;
use crate::moves::{FEWEST_ROUNDS, Moves};
use crate::spread::{StandardError, log_spread, median_log_error};
pub use crate::student::{student_p, student_t};

/// A range of values. `high` is infinite where nothing bounds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// What is known of a positive quantity without evidence: 0 to infinity.
    pub const UNBOUNDED: Self = Self { low: 0.0, high: f64::INFINITY };

    /// Whether `value` lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Interval of the median at `confidence` (0.95), from independent round medians.
///
/// With enough rounds for the confidence (6 at 95%), the interval runs between order statistics, which needs no
/// assumption on the noise but its independence, and interpolates between the two nearest pairs so that the
/// confidence is met and not exceeded (Hettmansperger and Sheather 1986, Statistics and Probability Letters 4:75-79).
/// With fewer rounds no pair of order statistics reaches the confidence; then it is Student's t interval of the mean
/// logarithm, which for log-normal noise is the median's. Values of 0 or less have no logarithm; then t is taken on
/// the values themselves.
///
/// One round says nothing about the spread between rounds: [`Interval::UNBOUNDED`], as for none. The median of the
/// rounds always lies within. A confidence of 1 or more is unbounded, of 0 or less the median itself.
pub fn median_interval(rounds: &[f64], confidence: f64) -> Interval {
    let k = rounds.len();
    if k < 2 || confidence.is_nan() || confidence >= 1.0 {
        return Interval::UNBOUNDED;
    }
    let middle = median(rounds);
    if confidence <= 0.0 {
        return Interval { low: middle, high: middle };
    }
    let found = order_interval(rounds, confidence).unwrap_or_else(|| t_interval(rounds, confidence));
    Interval { low: found.low.min(middle), high: found.high.max(middle) }
}

/// Independent rounds from which on a median is taken to lie between the shortest and the longest of them.
const EXTREMES: f64 = 7.0;

/// Standard errors between the mean level and the median level beyond which noise about one level does not explain their distance: half of
/// one is typical of normal levels.
const APART: f64 = 1.5;

/// Standard error, in units of the spread, whose 95% interval reaches from either of two equally likely states to the middle between them.
const HALF_APART: f64 = 0.55;

/// Interval of a point's median in this run, at `confidence` (0.95), from what its rounds read at one level of the machine
/// (`rounds`: each divided by its round's level) and from what the path's points share.
///
/// Two errors add up: the point's own, from its rounds and those of all points ([`median_log_error`]), and that of the level
/// of the whole curve, from how the levels of all rounds moved ([`crate::Moves`]), which knows that rounds are alike where
/// states last. Degrees of freedom are those of the sum (Satterthwaite 1946).
///
/// None from fewer than four rounds, of the point or of the path, or where the machine's states outlast what the run can
/// average over ([`crate::Moves::slow`]): the run then saw a state or two, and nothing tells how often each comes.
pub fn point_interval(rounds: &[f64], shared: &Shared, confidence: f64) -> Option<Interval> {
    let moves = &shared.moves;
    if rounds.len() < FEWEST_ROUNDS || moves.few() || moves.slow(shared.sigma) {
        return None;
    }
    let own = own_error(rounds, shared)?;
    let both =
        StandardError::of_sum(&[(own.value.powi(2), own.degrees), (moves.error.value.powi(2), moves.error.degrees)]);
    let middle = median(rounds);
    if both.value <= 0.0 {
        return Some(Interval { low: middle, high: middle });
    }
    let (low, high) = moves.held(1.0, own.reach(confidence), both.reach(confidence));
    let mut found = Interval { low: middle * low.exp(), high: middle * high.exp() };
    // A size whose own rounds fall into two groups, where other sizes' do not, has a median of either group by chance.
    if let Some(of_rounds) = order_interval(rounds, confidence) {
        (found.low, found.high) = (found.low.min(of_rounds.low), found.high.max(of_rounds.high));
    }
    if moves.effective < EXTREMES || (rounds.len() as f64) < EXTREMES {
        return Some(found);
    }
    // Needs no assumption on the noise: seven rounds all lie on one side of the median in one run of 64. Where rounds agree by chance, the
    // noise pooled over all sizes widens the bounds.
    let of_level = moves.error.reach(confidence);
    let usual = shared.sigma * (std::f64::consts::FRAC_PI_2 / rounds.len() as f64).sqrt();
    let of_noise = student_t(confidence, both.degrees) * usual.hypot(moves.error.value);
    let seen = |pick: fn(f64, f64) -> f64| rounds.iter().copied().reduce(pick).unwrap_or(middle);
    // Where mean and median level differ by more than noise explains, the bounds hold both: of two states either may be the median one by
    // chance.
    let off = if moves.mean.abs() > APART * moves.error.value { moves.mean } else { 0.0 };
    let (below, above) = (off.min(0.0), off.max(0.0));
    let least = (seen(f64::min) * (below - of_level).exp()).min(middle * (below - of_noise).exp());
    let most = (seen(f64::max) * (above + of_level).exp()).max(middle * (above + of_noise).exp());
    Some(Interval { low: found.low.max(least), high: found.high.min(most) })
}

/// Standard error of the logarithm of a point's median, from what its rounds read at one level of the machine: [`median_log_error`], more
/// where rounds alternate between two states ([`Shared::hollow`]) or states last ([`Shared::lasting`]). None as of that.
pub fn own_error(rounds: &[f64], shared: &Shared) -> Option<StandardError> {
    let mut own = median_log_error(rounds, shared.sigma)?;
    own.value *= shared.lasting;
    if shared.hollow > 1.0 {
        // Between two alternating states the median can't err farther than half their distance, which is the spread.
        let spread = log_spread(rounds, shared.sigma)?.value;
        own.value = own.value.max((own.value * shared.hollow).min(HALF_APART * spread));
    }
    Some(own)
}

/// Interval of a median from its rounds alone, at `confidence` (0.95), where no other sizes were measured that would tell the machine's
/// states from the rounds' noise: all of the spread is taken for states, which may last. None from fewer than four rounds, or where one
/// change of the level is all that they show; rounds of 0 or less have no logarithm and no interval.
pub fn rounds_interval(rounds: &[f64], confidence: f64) -> Option<Interval> {
    if rounds.iter().any(|t| t.is_nan() || *t <= 0.0) {
        return None;
    }
    let moves = Moves::of(&rounds.iter().map(|t| t.ln()).collect::<Vec<_>>());
    let still = vec![median(rounds); rounds.len()];
    point_interval(&still, &Shared { moves, ..Shared::default() }, confidence)
}

/// Interval between interpolated order statistics; none if even the extremes do not reach the confidence.
fn order_interval(rounds: &[f64], confidence: f64) -> Option<Interval> {
    let k = rounds.len();
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // The interval from the d-th smallest to the d-th largest misses the median with probability 2 P(Bin(k, 1/2) < d).
    let mut probability = 0.5f64.powi(i32::try_from(k).ok()?);
    if probability == 0.0 {
        // Beyond a thousand rounds the binomial underflows; the normal limit is exact enough by far.
        let reach = student_t(confidence, k as f64) * (k as f64).sqrt() / 2.0;
        let d = (k as f64 / 2.0 - reach).floor().clamp(0.0, (k - 1) as f64 / 2.0) as usize;
        return Some(Interval { low: sorted[d], high: sorted[k - 1 - d] });
    }
    let mut below = 0.0;
    let mut wider = None;
    for d in 1..=k.div_ceil(2) {
        below += probability;
        probability *= (k - d + 1) as f64 / d as f64;
        let covered = (1.0 - 2.0 * below).max(0.0);
        if covered >= confidence {
            wider = Some((d, covered));
            continue;
        }
        let (outer, outer_covered) = wider?;
        let share = (outer_covered - confidence) / (outer_covered - covered);
        let (kf, df) = (k as f64, outer as f64);
        let inward = (kf - df) * share / (df + (kf - 2.0 * df) * share);
        let mix = |outer: f64, inner: f64| outer + (inner - outer) * inward;
        return Some(Interval {
            low: mix(sorted[outer - 1], sorted[outer]),
            high: mix(sorted[k - outer], sorted[k - outer - 1]),
        });
    }
    None
}

/// Student's t interval: on logarithms where every value is positive.
fn t_interval(rounds: &[f64], confidence: f64) -> Interval {
    let spread = |values: &[f64]| {
        let reach = StandardError::of_mean(values).reach(confidence);
        (mean(values) - reach, mean(values) + reach)
    };
    if rounds.iter().all(|b| *b > 0.0) {
        let logs: Vec<f64> = rounds.iter().map(|b| b.ln()).collect();
        let (low, high) = spread(&logs);
        Interval { low: low.exp(), high: high.exp() }
    } else {
        let (low, high) = spread(rounds);
        Interval { low, high }
    }
}

/// Holm's correction (1979, Scandinavian Journal of Statistics 6:65-70): the probabilities made larger so that taking
/// every one below 5% as a finding gives a false one in at most 5% of families, whatever their dependence.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut so_far: f64 = 0.0;
    for (rank, i) in order.into_iter().enumerate() {
        so_far = so_far.max(probabilities[i] * (probabilities.len() - rank) as f64).min(1.0);
        corrected[i] = so_far;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn student_t_agrees_with_the_tables() {
        let table = [
            (1.0, 12.706_205),
            (2.0, 4.302_653),
            (3.0, 3.182_446),
            (4.0, 2.776_445),
            (10.0, 2.228_139),
            (30.0, 2.042_272),
            (9999.0, 1.960_202),
            (10_001.0, 1.960_201),
            (1e9, 1.959_964),
        ];
        for (degrees, factor) in table {
            let found = student_t(0.95, degrees);
            assert!((found / factor - 1.0).abs() < 1e-5, "{degrees}: {found}");
        }
        assert!((student_t(0.99, 4.0) - 4.604_095).abs() < 1e-4);
        assert_eq!(student_t(0.95, 0.0), f64::INFINITY);
        assert_eq!(student_t(1.0, 5.0), f64::INFINITY);
    }

    #[test]
    fn student_p_turns_student_t_round() {
        for degrees in [1.0, 4.0, 18.0, 1e7] {
            assert!((student_p(student_t(0.95, degrees), degrees) - 0.05).abs() < 1e-6, "{degrees}");
        }
        assert_eq!((student_p(f64::NAN, 5.0), student_p(3.0, 0.0), student_p(0.0, 5.0)), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_median_lies_between_the_extremes_of_enough_rounds() {
        // Two of nine rounds were stopped for a long time: nothing speaks for a median below all that was seen.
        let rounds = [39e-6, 41e-6, 44e-6, 46e-6, 50e-6, 60e-6, 76e-6, 2e-3, 2.1e-3];
        let levels: Vec<f64> = (0..9).map(|i| 0.01 * f64::from(i % 3)).collect();
        let shared = Shared { sigma: 0.1, moves: Moves::of(&levels), hollow: 1.0, ..Shared::default() };
        let found = point_interval(&rounds, &shared, 0.95).unwrap();
        assert!(found.low > 37e-6 && found.contains(50e-6) && found.high < 2.2e-3, "{found:?}");
        let few = point_interval(&rounds[3..], &shared, 0.95).unwrap();
        assert!(few.low < 40e-6, "six rounds miss their median too often: {few:?}");
    }

    /// Rounds fall into one of two states by turns, three times as long as each other, and each lasts for about three rounds: the middle of
    /// both is what the machine does in the long run, and the median round is of either.
    #[test]
    fn an_interval_between_two_states_reaches_their_middle() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (apart, mut held, mut all) = (3f64.ln(), 0, 0);
        for _ in 0..300 {
            let mut slow: bool = rng.random();
            let states: Vec<f64> = (0..30)
                .map(|_| {
                    slow ^= rng.random_bool(1.0 / 3.0);
                    if slow { apart } else { 0.0 }
                })
                .collect();
            let middle = median(&states);
            let levels: Vec<f64> = states.iter().map(|s| s - middle + rng.random_range(-0.01..0.01)).collect();
            let shared = Shared { sigma: 0.02, moves: Moves::of(&levels), ..Shared::default() };
            let rounds: Vec<f64> = (0..30).map(|_| f64::exp(rng.random_range(-0.03..0.03))).collect();
            let Some(found) = point_interval(&rounds, &shared, 0.95) else { continue };
            all += 1;
            held += u32::from(found.contains((apart / 2.0 - middle).exp()));
        }
        assert!(all > 200 && f64::from(held) >= 0.9 * f64::from(all), "{held} of {all}");
    }

    /// Two of five rounds of one size take twice as long, and those of the other sizes do not.
    #[test]
    fn an_interval_of_a_size_with_two_groups_of_rounds_holds_their_median() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let shared = Shared { sigma: 0.03, moves: Moves::of(&[0.0; 30]), ..Shared::default() };
        let held = (0..400).filter(|_| {
            let one = |_| f64::exp(rng.random_range(-0.05..0.05)) * if rng.random_bool(0.4) { 2.0 } else { 1.0 };
            let rounds: Vec<f64> = (0..30).map(one).collect();
            // The median of such rounds: five sixths of the way through the faster group, whose logarithms are uniform.
            point_interval(&rounds, &shared, 0.95).unwrap().contains(f64::exp(-0.05 + 0.1 * 5.0 / 6.0))
        });
        let held = held.count();
        assert!(held >= 372, "{held} of 400");
    }

    #[test]
    fn holms_example() {
        // 4 x 0.005, then 3 x 0.01, then 2 x 0.03, and no later one below an earlier.
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (f, w) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((f - w).abs() < 1e-12, "{found:?}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn few_rounds_use_t_on_logarithms() {
        // exp(mean +- 4.302653 * s / sqrt 3) of ln 1, ln 2, ln 4: mean ln 2, s = ln 2.
        let found = median_interval(&[4.0, 1.0, 2.0], 0.95);
        let reach = 4.302_653 / 3f64.sqrt();
        assert!((found.low.log2() - (1.0 - reach)).abs() < 1e-4, "{found:?}");
        assert!((found.high.log2() - (1.0 + reach)).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn six_rounds_interpolate_order_statistics() {
        // 1..6: [1, 6] covers 0.96875 and [2, 5] 0.78125. The share inwards is 5 I / (1 + 4 I) with I = 0.1.
        let found = median_interval(&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0], 0.95);
        let inward = 0.5 / 1.4;
        assert!((found.low - (1.0 + inward)).abs() < 1e-9, "{found:?}");
        assert!((found.high - (6.0 - inward)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn without_evidence_nothing_is_bounded() {
        assert_eq!(median_interval(&[], 0.95), Interval::UNBOUNDED);
        assert_eq!(median_interval(&[3.0], 0.95), Interval::UNBOUNDED);
        assert_eq!(median_interval(&[3.0, 4.0], 1.0), Interval::UNBOUNDED);
        assert_eq!(median_interval(&[3.0, 4.0], f64::NAN), Interval::UNBOUNDED);
        assert_eq!(median_interval(&[3.0, 5.0], 0.0), Interval { low: 4.0, high: 4.0 });
    }

    #[test]
    fn equal_rounds_give_a_point_and_the_median_lies_within() {
        for k in 2..40 {
            let found = median_interval(&vec![0.1; k], 0.95);
            assert!(found.contains(0.1) && (found.high - found.low) < 1e-12, "{k}: {found:?}");
        }
        let found = median_interval(&[0.0, -1.0, 3.0], 0.95);
        assert!(found.low < -1.0 && found.high > 3.0, "{found:?}");
    }

    #[test]
    fn thousands_of_rounds_neither_underflow_nor_widen() {
        let many: Vec<f64> = (0..5000).map(f64::from).collect();
        let found = median_interval(&many, 0.95);
        assert!(found.low > 2400.0 && found.high < 2600.0 && found.contains(2499.5), "{found:?}");
        let hundreds = median_interval(&many[..1000], 0.95);
        assert!(hundreds.low > 465.0 && hundreds.high < 535.0 && hundreds.high - hundreds.low > 55.0, "{hundreds:?}");
    }
}
