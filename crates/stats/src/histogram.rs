//! Times of single iterations, to 1%.

use std::fmt;

use hdrhistogram::Histogram as Hdr;

/// Shortest and longest time that is told apart: 1 ns and 1000 s.
const SPAN: (u64, u64) = (1, 1_000_000_000_000);

/// Counts of times in nanoseconds. A value is kept to within 1% (two significant digits, log-linear buckets); times
/// outside 1 ns to 1000 s count as the nearest end.
#[derive(Clone)]
pub struct Histogram {
    counts: Hdr<u64>,
}

impl Histogram {
    /// An empty histogram. It holds about 35 kB and never grows, so it can be made before the hot loop and reused.
    pub fn new() -> Self {
        let counts = Hdr::new_with_bounds(SPAN.0, SPAN.1, 2).expect("the bounds and the digits are constant and valid");
        Self { counts }
    }

    /// Counts one time. Never allocates.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counts.saturating_record(ns.max(SPAN.0));
    }

    /// The recorded times, ascending, each with its count. A bucket is named by its middle, so that feeding the pairs
    /// to [`Histogram::add_pairs`] gives the same histogram.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        self.counts
            .iter_recorded()
            .map(|step| (self.counts.median_equivalent(step.value_iterated_to()), step.count_at_value()))
            .collect()
    }

    /// Adds counts, as from [`Histogram::pairs`] of another trial.
    pub fn add_pairs(&mut self, pairs: &[(u64, u64)]) {
        for (ns, count) in pairs {
            self.counts.saturating_record_n((*ns).max(SPAN.0), *count);
        }
    }

    /// The time below or at which a share `q` (0 to 1, clamped) of all counts lies, to within 1%. 0 if empty.
    pub fn quantile(&self, q: f64) -> u64 {
        if self.is_empty() {
            return 0;
        }
        self.counts.median_equivalent(self.counts.value_at_quantile(q.clamp(0.0, 1.0)))
    }

    /// How many times were counted.
    pub fn len(&self) -> u64 {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.reset();
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p50, p99) = (self.quantile(0.5), self.quantile(0.99));
        write!(f, "Histogram {{ len: {}, p50: {p50} ns, p99: {p99} ns }}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_kept_to_one_percent() {
        let mut time = 1.0f64;
        while time < 1e12 {
            let mut h = Histogram::new();
            h.record(time as u64);
            let kept = h.quantile(0.5) as f64;
            assert!((kept / (time as u64) as f64 - 1.0).abs() < 0.01, "{time}: {kept}");
            time *= 1.003;
        }
    }

    #[test]
    fn quantiles_of_a_uniform_range() {
        let mut h = Histogram::new();
        (1..=10_000).for_each(|ns| h.record(ns * 100));
        for q in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let exact = q * 1e6;
            assert!((h.quantile(q) as f64 / exact - 1.0).abs() < 0.012, "{q}: {}", h.quantile(q));
        }
        assert_eq!(h.quantile(-1.0), h.quantile(0.0));
        assert_eq!(h.quantile(9.0), h.quantile(1.0));
    }

    #[test]
    fn pairs_rebuild_the_same_histogram_and_add_up() {
        let mut h = Histogram::new();
        for i in 1..5000u64 {
            h.record(i * i * 17);
        }
        let mut rebuilt = Histogram::new();
        rebuilt.add_pairs(&h.pairs());
        assert_eq!(rebuilt.pairs(), h.pairs());
        assert_eq!(rebuilt.len(), 4999);
        assert!(h.pairs().is_sorted());
        rebuilt.add_pairs(&h.pairs());
        assert_eq!(rebuilt.len(), 9998);
        assert_eq!(rebuilt.quantile(0.9), h.quantile(0.9));
        rebuilt.clear();
        assert!(rebuilt.is_empty() && rebuilt.pairs().is_empty());
    }

    #[test]
    fn times_beyond_the_span_count_as_its_ends() {
        let mut h = Histogram::new();
        h.record(0);
        h.record(u64::MAX);
        h.add_pairs(&[(u64::MAX, 2), (0, 1)]);
        assert_eq!(h.len(), 5);
        assert_eq!(h.quantile(0.0), 1);
        assert!(h.quantile(1.0) >= 990_000_000_000);
    }

    #[test]
    fn an_empty_histogram_has_no_times() {
        let h = Histogram::default();
        assert_eq!((h.len(), h.quantile(0.5)), (0, 0));
        assert!(h.is_empty() && h.pairs().is_empty());
    }
}
