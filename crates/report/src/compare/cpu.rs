//! The CPU time of a transfer, compared between the sides.

use model::{Comparison, CurvePoint, Estimate};
use schemars::JsonSchema;
use serde::Serialize;

use super::ratios::{bounded, interval};

/// CPU time of a transfer on one side of the path: that of the second side of the comparison over that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuRatio {
    /// `near` or `far`.
    pub end: String,
    /// The ratio over all sizes together; below 1 the second side takes less. Of sides that took no turns it has no interval.
    pub ratio: Estimate,
    /// Whether the sides differ beyond chance; none where nothing tells how far chance reaches: of sides that took no turns, and of too
    /// few rounds.
    pub differs: Option<bool>,
}

impl CpuRatio {
    /// For two sides of one run, or two paths of one, whose rounds took turns. None where they have no size or no round in common.
    pub fn paired(end: &str, first: &[CurvePoint], second: &[CurvePoint]) -> Option<Self> {
        let found = Comparison::paired(first, second)?;
        let paired = found.paired.filter(|p| p.rounds > 0)?;
        let known = found.few_rounds.is_none() && bounded(found.whole);
        Some(Self { end: end.to_owned(), ratio: found.whole, differs: known.then_some(paired.differs) })
    }

    /// For separate runs: the median over the sizes that both have. None where they have none in common.
    pub fn separate(end: &str, first: &[CurvePoint], second: &[CurvePoint]) -> Option<Self> {
        let of = |p: &CurvePoint| Some(p.seconds / first.iter().find(|f| f.size == p.size)?.seconds);
        let ratios: Vec<f64> = second.iter().filter_map(of).collect();
        let ratio = Estimate { value: stats::median(&ratios), low: f64::NEG_INFINITY, high: f64::INFINITY };
        (!ratios.is_empty()).then(|| Self { end: end.to_owned(), ratio, differs: None })
    }

    /// A sentence: the second side's CPU time as a share of the first's.
    pub(super) fn words(&self) -> String {
        let (end, ratio) = (&self.end, interval(self.ratio));
        let verdict = match self.differs {
            Some(true) => "",
            Some(false) if self.ratio.low > 1.0 || self.ratio.high < 1.0 => ", which so few rounds may do by chance",
            Some(false) => ", which is no sure difference",
            None => "; no verdict, since nothing tells how far chance reaches",
        };
        format!("CPU time of a transfer, {end} side: {ratio} of that of the first{verdict}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(times: f64) -> Vec<CurvePoint> {
        let point = |i: u64| {
            let size = 64 << i;
            let seconds = 1e-6 * (1.0 + i as f64) * times;
            let noise = |round: u32| 1.0 + 0.004 * f64::from((round * 7 + i as u32 * 5) % 11) / 11.0;
            CurvePoint {
                size,
                seconds,
                rounds: (1..=20).map(|round| (round, seconds * noise(round))).collect(),
                throughput: size as f64 * 8.0 / seconds,
                interval: None,
                rounding: 0.0,
            }
        };
        (0..12).map(point).collect()
    }

    #[test]
    fn sides_that_took_turns_get_a_verdict_and_others_a_ratio() {
        let less = CpuRatio::paired("near", &curve(1.0), &curve(0.8)).unwrap();
        assert!((less.ratio.value - 0.8).abs() < 0.01 && less.differs == Some(true), "{less:?}");
        assert!(!less.words().contains("verdict") && less.words().contains("near side: 80"), "{}", less.words());
        let same = CpuRatio::paired("far", &curve(1.0), &curve(1.0)).unwrap();
        assert!(same.differs == Some(false) && same.words().contains("no sure difference"), "{same:?}");
        let apart = CpuRatio::separate("far", &curve(1.0), &curve(0.8)).unwrap();
        assert!((apart.ratio.value - 0.8).abs() < 1e-9 && apart.differs.is_none(), "{apart:?}");
        assert!(apart.words().contains("no interval") && apart.words().contains("no verdict"), "{}", apart.words());
    }

    #[test]
    fn what_has_no_cpu_time_has_no_ratio() {
        assert_eq!(CpuRatio::paired("near", &[], &curve(1.0)), None);
        assert_eq!(CpuRatio::separate("near", &curve(1.0), &[]), None);
    }
}
