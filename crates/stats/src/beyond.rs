//! Intervals of a quantile between order statistics, as shares of a sample that counts for a number of independent values.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

use crate::moves::Moves;

/// Expected values on the smaller side of the quantile above which the binomial is replaced by its normal limit.
const NORMAL: f64 = 60.0;
/// Halvings by which an end is found: to 1e-15 of the sample.
const HALVINGS: usize = 60;

/// Shares of a sample that lie beyond the ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beyond {
    /// Beyond the lower end; none where it may lie below all of the sample.
    pub low: Option<f64>,
    /// Beyond the upper end; none where it may lie above all of the sample.
    pub high: Option<f64>,
}

/// The confidence interval, at `confidence` (0.95), of the value that a share `beyond` (above 0, below 1) of the population exceeds: as the
/// shares of the sample that lie beyond its ends. The sample counts for `independent` values, which need not be a whole number. How many of
/// them exceed the true value is binomial (Wilks 1948, *Order Statistics*, Bulletin of the American Mathematical Society 54:6-50); between
/// whole numbers the binomial is the incomplete beta function. Where it is too probable that none of them does, no value of the sample is
/// an end.
pub fn beyond(beyond: f64, independent: f64, confidence: f64) -> Beyond {
    let (n, p, miss) = (independent, beyond, (1.0 - confidence) / 2.0);
    if !(n > 0.0 && p > 0.0 && p < 1.0 && miss > 0.0) {
        return Beyond { low: None, high: None };
    }
    if n * p.min(1.0 - p) > NORMAL {
        let reach = -Normal::standard().inverse_cdf(miss) * (p * (1.0 - p) / n).sqrt();
        return Beyond { low: Some((p + reach).min(1.0)), high: Some((p - reach).max(0.0)) };
    }
    Beyond { low: fewest(n, 1.0 - p, miss).map(|share| 1.0 - share), high: fewest(n, p, miss) }
}

/// The largest share `c / n` for which it has probability `miss` or less that only `c` of `n` values lie beyond a value which a share `p`
/// of the population exceeds; none where that is more probable even for `c` = 0.
fn fewest(n: f64, p: f64, miss: f64) -> Option<f64> {
    if n * (-p).ln_1p() > miss.ln() {
        return None;
    }
    // Of `n` at most `c` lie beyond.
    let at_most = |c: f64| checked_beta_reg(n - c, c + 1.0, 1.0 - p).unwrap_or(1.0);
    let (mut low, mut high) = (0.0, n * p);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if at_most(middle) <= miss { low = middle } else { high = middle }
    }
    Some(low / n)
}

/// By how much the spread of levels may exceed that of the rounds seen, at `confidence` (0.95, one-sided, chi-squared): the standard
/// deviation, as a logarithm, of what must be added to each level seen to reach it. 0 where levels do not differ, or where there are too
/// few.
pub fn spread_beyond_seen(moves: &Moves, confidence: f64) -> f64 {
    let degrees = (moves.effective - 1.0).max(1.0);
    if moves.few() || moves.spread <= 0.0 {
        return 0.0;
    }
    // The variance about the run's own mean lacks the variance of that mean.
    let variance =
        moves.spread.powi(2) / (1.0 - 1.0 / moves.effective.max(2.0)) * (1.0 - 1.0 / f64::from(moves.rounds));
    let most = ChiSquared::new(degrees).map_or(0.0, |chi| degrees / chi.inverse_cdf(1.0 - confidence));
    (variance * most - moves.spread.powi(2)).max(0.0).sqrt()
}

/// `n` equally probable values that stand for a normal distribution of standard deviation 1: its quantiles at the middles of `n` equal
/// shares.
pub fn normal_levels(n: usize) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| Normal::standard().inverse_cdf((i as f64 + 0.5) / n as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_the_binomial() {
        // Of 100 values, a tenth beyond: at most 4 with probability 0.0237, at most 5 with 0.0576; 16 or more with 0.0399, 17 or more with 0.0206.
        let found = beyond(0.1, 100.0, 0.95);
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!((0.04..0.05).contains(&high) && (0.16..0.17).contains(&low), "{found:?}");
        // The other way round it is the same.
        let turned = beyond(0.9, 100.0, 0.95);
        assert!((turned.high.unwrap() - (1.0 - low)).abs() < 1e-9 && (turned.low.unwrap() - (1.0 - high)).abs() < 1e-9);
    }

    #[test]
    fn no_end_is_seen_where_none_of_all_may_lie_beyond() {
        // 0.9^36 is 0.0225, 0.9^35 is 0.0250.
        assert_eq!(beyond(0.1, 34.0, 0.95).high, None);
        assert!(beyond(0.1, 36.0, 0.95).high.is_some_and(|share| share < 0.01));
        assert!(beyond(0.1, 5.0, 0.95).low.is_some_and(|share| (0.4..0.6).contains(&share)));
        assert_eq!(beyond(0.99, 30.0, 0.95).low, None);
        assert_eq!((beyond(0.1, 0.0, 0.95).low, beyond(0.0, 9.0, 0.95).high), (None, None));
    }

    #[test]
    fn levels_of_few_rounds_may_lie_further_apart_than_those_of_many() {
        let of = |k: i32| {
            spread_beyond_seen(&Moves::of(&(0..k).map(|i| 0.03 * f64::from(i * 7 % 5 - 2)).collect::<Vec<_>>()), 0.95)
        };
        assert!(of(6) > of(12) && of(12) > of(60) && of(60) > 0.0, "{} {} {}", of(6), of(12), of(60));
        assert_eq!((of(3), spread_beyond_seen(&Moves::of(&[0.0; 9]), 0.95)), (0.0, 0.0));
        let levels: Vec<f64> = normal_levels(24).collect();
        let variance = levels.iter().map(|l| l * l).sum::<f64>() / 24.0;
        assert!(levels.is_sorted() && (0.9..1.0).contains(&variance), "{variance}");
    }

    #[test]
    fn many_values_join_the_normal_limit_without_a_step() {
        for p in [0.1, 0.01, 0.001] {
            let [exact, normal] = [0.99, 1.01].map(|times| beyond(p, NORMAL / p * times, 0.95));
            let (a, b) = (exact.high.unwrap() / p, normal.high.unwrap() / p);
            let (c, d) = (exact.low.unwrap() / p, normal.low.unwrap() / p);
            assert!((a - b).abs() < 0.03 && (c - d).abs() < 0.03, "{p}: {a} {b}, {c} {d}");
        }
    }
}
