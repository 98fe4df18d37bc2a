//! The largest message that takes no longer than a time.

use super::arrival;
use crate::smooth::split;
use crate::{CurvePoint, Estimate};

/// The largest message that arrives within `period` seconds, by the end of its interval that `which` takes, up to the largest
/// measured, and whether that is the one. None where messages of most sizes take longer. It lies at the split of the sizes that leaves the
/// least stretch of them on the wrong side: one size that an interruption made slow does not end it, nor one that was fast by luck.
pub fn largest_within(points: &[CurvePoint], period: f64, which: impl Fn(&Estimate) -> f64) -> (Option<u64>, bool) {
    let sizes = sizes(points);
    let time = |size: u64| arrival(points, size, None).map_or(f64::INFINITY, |a| which(&a.seconds));
    let logs: Vec<f64> = sizes.iter().map(|s| (*s.max(&1) as f64).ln()).collect();
    let longer: Vec<bool> = sizes.iter().map(|s| time(*s) > period).collect();
    let mut end = split(&logs, &longer);
    // The largest that is fast enough, and the first beyond that is not.
    while end > 0 && longer[end - 1] {
        end -= 1;
    }
    let largest = end.checked_sub(1).map(|i| {
        let (mut low, mut high) = (sizes[i], sizes.get(end).copied().unwrap_or(sizes[i]));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if time(middle) <= period { low = middle } else { high = middle }
        }
        low
    });
    (largest, end == sizes.len())
}

/// The stretches of measured sizes up to `to` that surely take longer than `period` seconds, bytes.
pub fn longer_below(points: &[CurvePoint], period: f64, to: u64) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut follows = false;
    for size in sizes(points).into_iter().filter(|s| *s <= to) {
        let longer = arrival(points, size, None).is_ok_and(|a| a.seconds.low > period && a.seconds.high.is_finite());
        match found.last_mut().filter(|_| longer && follows) {
            Some(stretch) => stretch.1 = size,
            None if longer => found.push((size, size)),
            None => {}
        }
        follows = longer;
    }
    found
}

fn sizes(points: &[CurvePoint]) -> Vec<u64> {
    let mut sorted: Vec<u64> = points.iter().filter(|p| p.seconds > 0.0).map(|p| p.size).collect();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 us and 1 ns a byte, ten sizes a decade up to 10 MB; size number `odd` takes so many times as long.
    fn curve(odd: usize, times: f64) -> Vec<CurvePoint> {
        (0..71)
            .map(|i| {
                let size = 10f64.powf(0.1 * i as f64) as u64;
                let t = (1e-5 + size as f64 * 1e-9) * if i == odd { times } else { 1.0 };
                CurvePoint::of(size, t, (0..8).map(|b| (b, t * (1.0 + 0.001 * f64::from(b)))).collect())
            })
            .collect()
    }

    #[test]
    fn one_odd_size_does_not_end_what_arrives_in_time() {
        let of = |curve: &[CurvePoint]| largest_within(curve, 1e-3, |e| e.value);
        let plain = of(&curve(99, 1.0));
        assert!((plain.0.unwrap() as f64 / 990_000.0 - 1.0).abs() < 0.01 && !plain.1, "{plain:?}");
        for odd in [0, 5, 20, 30, 40] {
            let slow = curve(odd, 300.0);
            assert_eq!(of(&slow), plain, "size number {odd}");
            assert_eq!(longer_below(&slow, 1e-3, 990_000), [(slow[odd].size, slow[odd].size)]);
        }
        // Nor does one that was fast by luck, far beyond.
        assert_eq!(of(&curve(66, 0.01)), plain);
        assert_eq!(longer_below(&curve(99, 1.0), 1e-3, 990_000), []);
        assert_eq!(largest_within(&curve(3, 0.01), 1e-6, |e| e.value), (None, false));
    }
}
