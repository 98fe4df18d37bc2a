//! The size of whose throughput most is sure, for where the most of all sizes is not resolved.

use model::answer;
use model::{CurvePoint, Estimate};
use stats::student_t;
use units::{Bytes, Kind, RESOLVED};

use super::asked::{Asked, figure};

/// Chance that any of the sizes carries less than what it surely carries.
const CHANCE: f64 = 0.05;
/// That of an interval.
const OF_ONE: f64 = 0.05;

/// One of the sizes of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surest {
    pub size: u64,
    /// What it moves, bits a second, with its own interval.
    pub moves: Estimate,
    /// What it surely moves, chosen as it is from all sizes.
    pub least: f64,
}

/// Whether a figure's interval keeps its order of magnitude.
pub fn resolved(e: Estimate) -> bool {
    e.low > 0.0 && e.high.is_finite() && e.high <= RESOLVED * e.low
}

impl Surest {
    /// Of a curve's sizes, `kept` making of their throughput what is asked about; none where no size's is resolved.
    pub fn of(curve: &[CurvePoint], kept: impl Fn(u64, Estimate) -> Estimate) -> Option<Self> {
        Self::all(curve, kept).into_iter().max_by(|a, b| a.least.total_cmp(&b.least))
    }

    /// The smallest size that surely moves so many bits a second.
    pub fn smallest(curve: &[CurvePoint], rate: f64) -> Option<Self> {
        Self::all(curve, |_, e| e).into_iter().filter(|s| s.least >= rate).min_by_key(|s| s.size)
    }

    /// All sizes whose throughput is resolved.
    fn all(curve: &[CurvePoint], kept: impl Fn(u64, Estimate) -> Estimate) -> Vec<Self> {
        let normal = f64::INFINITY;
        // Of many sizes one lies above its truth by luck (Bonferroni).
        let wider = student_t(1.0 - CHANCE / curve.len().max(1) as f64, normal) / student_t(1.0 - OF_ONE, normal);
        let one = |p: &CurvePoint| {
            let moves = kept(p.size, answer::throughput(curve, p.size).ok()?.0);
            resolved(moves).then(|| Self {
                size: p.size,
                moves,
                least: moves.value * (moves.low / moves.value).powf(wider),
            })
        };
        curve.iter().filter_map(one).collect()
    }
}

/// The most that a path moves and at which size, as the summary has it (`at`) where that is resolved, else the size of which most is sure; and
/// what is to be said of that, which ends with a comma.
pub fn known(p: &Asked<'_>, most: Estimate, at: u64) -> (Estimate, u64, String) {
    match Surest::of(p.lasting(), |_, e| e).filter(|_| !resolved(most)) {
        None => (most, at, String::new()),
        Some(s) => {
            let unknown = figure(most, Kind::BitsPerSecond);
            (s.moves, s.size, format!("the most it moves is {unknown} at {}, ", Bytes(at)))
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    /// Sizes with their throughput and its ends, Gbit/s.
    fn curve(points: &[(u64, f64, f64, f64)]) -> Vec<CurvePoint> {
        let one = |&(size, value, low, high): &(u64, f64, f64, f64)| {
            let seconds = |gbit: f64| size as f64 * 8.0 / (gbit * 1e9);
            let interval = Some(Interval { low: seconds(high), high: seconds(low) });
            CurvePoint { interval, ..CurvePoint::of(size, seconds(value), Vec::new()) }
        };
        points.iter().map(one).collect()
    }

    #[test]
    fn the_size_of_which_most_is_sure_is_not_the_noisy_maximum() {
        let all = curve(&[(1024, 2.0, 1.9, 2.1), (65_536, 22.4, 19.0, 26.0), (131_072, 37.0, 4.24, 326.0)]);
        let found = Surest::of(&all, |_, e| e).unwrap();
        assert_eq!(found.size, 65_536);
        assert!((found.moves.low / 19e9 - 1.0).abs() < 1e-9, "its own interval is told");
        assert!(found.least < 19e9 && found.least > 17e9, "and one of three is no surer than that: {found:?}");
        let halved = Surest::of(&all, |_, e| Estimate { value: e.value / 2.0, low: e.low / 2.0, high: e.high / 2.0 });
        assert!((halved.unwrap().least / found.least - 0.5).abs() < 1e-9);
        assert_eq!(Surest::of(&all[2..], |_, e| e), None);
        assert_eq!(Surest::of(&[], |_, e| e), None);
        let smallest = |gbit: f64| Surest::smallest(&all, gbit * 1e9).map(|s| s.size);
        assert_eq!([1.5, 15.0, 25.0].map(smallest), [Some(1024), Some(65_536), None]);
    }
}
