//! The least and the most that the rounds of a size measured. Where rounds give no interval, these still decide about a limit far from
//! both.

use crate::CurvePoint;

/// Fewest rounds for that.
const FEWEST: usize = 2;
/// Beyond this factor a limit counts as far from what was seen. It is a choice: a repeat in another state of the machine may lie farther off.
const FAR: f64 = 3.0;

/// The range of what rounds measured: of the size that is asked about, or of those on either side of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRange {
    /// Rounds; of several sizes the fewest.
    pub rounds: usize,
    /// The least that any of them measured, seconds or bits a second.
    pub least: f64,
    /// The most, in the same unit.
    pub most: f64,
}

impl RoundRange {
    /// Times at these sizes, seconds. None where one was not measured, or in too few rounds.
    pub fn times(points: &[CurvePoint], sizes: &[u64]) -> Option<Self> {
        Self::of(points, sizes, |_, seconds| seconds)
    }

    /// Throughput at these sizes, bits a second.
    pub fn rates(points: &[CurvePoint], sizes: &[u64]) -> Option<Self> {
        Self::of(points, sizes, |p, seconds| p.throughput * p.seconds / seconds)
    }

    fn of(points: &[CurvePoint], sizes: &[u64], value: impl Fn(&CurvePoint, f64) -> f64) -> Option<Self> {
        let mut all: Option<Self> = None;
        for size in sizes {
            let p = points.iter().find(|p| p.size == *size).filter(|p| p.rounds.len() >= FEWEST)?;
            let values = || p.rounds.iter().map(|b| value(p, b.1));
            let found = Self {
                rounds: p.rounds.len(),
                least: values().fold(f64::INFINITY, f64::min),
                most: values().fold(0.0, f64::max),
            };
            all = Some(all.map_or(found, |a| Self {
                rounds: a.rounds.min(found.rounds),
                least: a.least.min(found.least),
                most: a.most.max(found.most),
            }));
        }
        all.filter(|a| a.least > 0.0 && a.most.is_finite())
    }

    /// The range of times that are `low` to `high` times as long.
    pub fn times_as_long(self, low: f64, high: f64) -> Self {
        Self { least: self.least * low, most: self.most * high, ..self }
    }

    /// Whether all lies far below a limit (true) or far above it (false); none where it does not.
    pub fn below(&self, limit: f64) -> Option<bool> {
        match () {
            () if self.most * FAR < limit => Some(true),
            () if self.least > FAR * limit => Some(false),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_far_from_all_rounds_is_kept_or_missed_without_an_interval() {
        let of = |size: u64, times: &[f64]| {
            CurvePoint::of(size, times[0], (0..).zip(times).map(|(round, t)| (round, *t)).collect())
        };
        let curve = [of(64, &[10e-6, 12e-6]), of(128, &[11e-6, 20e-6, 15e-6]), of(256, &[30e-6])];
        let seen = RoundRange::times(&curve, &[64, 128]).unwrap();
        assert_eq!(seen, RoundRange { rounds: 2, least: 10e-6, most: 20e-6 });
        assert_eq!([1e-3, 59e-6, 15e-6, 4e-6, 1e-6].map(|limit| seen.below(limit)), {
            [Some(true), None, None, None, Some(false)]
        });
        assert_eq!(seen.times_as_long(1.0, 2.0).most, 40e-6);
        assert_eq!(RoundRange::times(&curve, &[128, 256]), None, "one round says nothing");
        assert_eq!(RoundRange::times(&curve, &[100]), None);
        let rates = RoundRange::rates(&curve, &[64]).unwrap();
        assert!((rates.most / (512.0 / 10e-6) - 1.0).abs() < 1e-12 && rates.below(1e9) == Some(true), "{rates:?}");
    }
}
