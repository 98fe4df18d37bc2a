//! Whether one sample lies above another, whatever the noise looks like.

/// How many standard deviations the number of pairs in which a value of `b` exceeds one of `a` lies from half of them
/// (Mann and Whitney 1947, normal approximation, ties counted half): positive where `b` lies higher. It asks nothing of the
/// noise's shape, so that a path with two levels is not taken for one that changed. 0 where either is empty.
pub fn rank_deviation(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len() as f64, b.len() as f64);
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let mut sorted = a.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let above: f64 =
        b.iter().map(|v| (sorted.partition_point(|s| s < v) + sorted.partition_point(|s| s <= v)) as f64 / 2.0).sum();
    (above - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_apart_is_as_far_as_their_number_allows() {
        let (low, high): (Vec<f64>, Vec<f64>) = ((0..28).map(f64::from).collect(), (100..107).map(f64::from).collect());
        assert!((rank_deviation(&low, &high) - 4.04).abs() < 0.01, "{}", rank_deviation(&low, &high));
        assert_eq!(rank_deviation(&low, &high), -rank_deviation(&high, &low));
    }

    #[test]
    fn equal_samples_do_not_differ() {
        assert_eq!(rank_deviation(&[1.0, 1.0, 2.0], &[1.0, 2.0, 1.0]), 0.0);
        assert_eq!(rank_deviation(&[], &[1.0]), 0.0);
    }
}
