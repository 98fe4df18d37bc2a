//! Median, quantiles, mean and variance.

/// The middle value; of an even number, the mean of the two middle ones. NaN if empty.
pub fn median(values: &[f64]) -> f64 {
    let mut copy = values.to_vec();
    median_in_place(&mut copy)
}

/// [`median`] that may reorder its input, for loops that own a buffer.
pub(crate) fn median_in_place(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = *middle;
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    // Halved before the sum, so that two huge values do not overflow.
    lower / 2.0 + upper / 2.0
}

/// The value below which a share `q` (0 to 1, clamped) of the values lies, interpolated linearly between neighbours
/// (type 7 of Hyndman and Fan 1996, the default of R and NumPy). NaN if empty.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, q)
}

pub(crate) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    // A NaN share clamps to NaN and casts to 0: the smallest value, not a panic.
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let share = place - below as f64;
    if share > 0.0 { sorted[below] + (sorted[above] - sorted[below]) * share } else { sorted[below] }
}

/// The arithmetic mean. NaN if empty.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample variance (divided by n - 1). 0 for one value, NaN if empty.
pub fn variance(values: &[f64]) -> f64 {
    match values.len() {
        0 => f64::NAN,
        1 => 0.0,
        n => {
            let middle = mean(values);
            values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / (n - 1) as f64
        }
    }
}

/// The value at which half of the weight lies below and half above, of (value, weight) pairs, which are sorted in
/// place. Weights of 0 or less count nothing. NaN if no weight is left.
pub fn weighted_median(pairs: &mut [(f64, f64)]) -> f64 {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = pairs.iter().map(|p| p.1.max(0.0)).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let mut counted = pairs.iter().filter(|p| p.1 > 0.0).peekable();
    while let Some((value, weight)) = counted.next() {
        sum += weight;
        if sum > half {
            return *value;
        }
        if sum == half {
            return counted.peek().map_or(*value, |next| value / 2.0 + next.0 / 2.0);
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[f64::MAX, f64::MAX]), f64::MAX);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn quantiles_interpolate() {
        let values = [40.0, 10.0, 20.0, 30.0];
        assert_eq!(quantile(&values, 0.0), 10.0);
        assert_eq!(quantile(&values, 1.0), 40.0);
        assert_eq!(quantile(&values, 0.5), 25.0);
        assert!((quantile(&values, 0.9) - 37.0).abs() < 1e-12);
        assert_eq!(quantile(&values, -3.0), 10.0);
        assert_eq!(quantile(&values, 7.0), 40.0);
        assert_eq!(quantile(&values, f64::NAN), 10.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn mean_and_variance() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), 5.0);
        assert!((variance(&values) - 32.0 / 7.0).abs() < 1e-12);
        assert_eq!(variance(&[3.0]), 0.0);
        assert!(mean(&[]).is_nan() && variance(&[]).is_nan());
    }

    #[test]
    fn weights_move_the_median() {
        assert_eq!(weighted_median(&mut [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]), 2.0);
        assert_eq!(weighted_median(&mut [(3.0, 5.0), (1.0, 1.0), (2.0, 1.0)]), 3.0);
        assert_eq!(weighted_median(&mut [(1.0, 1.0), (5.0, 0.0), (3.0, 1.0)]), 2.0);
        assert!(weighted_median(&mut []).is_nan());
        assert!(weighted_median(&mut [(1.0, 0.0)]).is_nan());
    }
}
