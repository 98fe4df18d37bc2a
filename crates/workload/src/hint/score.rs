//! Net QUIPS: a curve in one number.

/// The area below QUIPS over logarithmic time (`seeds/004`, appendix A), as the original sums it: the last QUIPS, and for each
/// point before it its QUIPS times what it leads the next one by, as a share of the next one's time. `points` are (seconds,
/// QUIPS) by ascending subintervals. None without a point, or where a time or QUIPS is no positive number.
pub fn net(points: &[(f64, f64)]) -> Option<f64> {
    let last = points.last()?.1;
    if points.iter().any(|(t, q)| !(t.is_finite() && q.is_finite() && *t > 0.0 && *q > 0.0)) {
        return None;
    }
    Some(last + points.windows(2).map(|w| w[0].1 * (1.0 - w[0].0 / w[1].0)).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_by_hand() {
        assert_eq!(net(&[(1.0, 5.0)]), Some(5.0));
        // 4 + 8 (1 - 1/2) + 6 (1 - 2/8)
        assert_eq!(net(&[(1.0, 8.0), (2.0, 6.0), (8.0, 4.0)]), Some(12.5));
        // Points at one time count once: the last of them.
        assert_eq!(net(&[(1.0, 5.0), (1.0, 7.0)]), Some(7.0));
        assert_eq!(net(&[]), None);
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert_eq!(net(&[(1.0, 5.0), (bad, 7.0)]), None);
            assert_eq!(net(&[(1.0, bad), (2.0, 7.0)]), None);
        }
    }

    #[test]
    fn it_stands_for_the_area_over_logarithmic_time() {
        // Ten QUIPS from 1 s to e^3 s in small steps: 10 at the end and an area of 10 * 3.
        let points: Vec<(f64, f64)> = (0..=3000).map(|i| ((f64::from(i) / 1000.0).exp(), 10.0)).collect();
        assert!((net(&points).unwrap() - 40.0).abs() < 0.05);
    }
}
