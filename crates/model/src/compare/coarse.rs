//! What the clock's step hides of a comparison: all rounds of a size may read the same, and lie off the truth to the same side.

use std::collections::BTreeMap;

use stats::median;

use super::stretches::{crossovers, stretches};
use super::{Compared, Comparison};
use crate::smooth::headline_size;
use crate::{CurvePoint, Estimate};

/// How far a time may lie below and above what was read, as logarithms.
#[derive(Clone, Copy, Default)]
struct Hidden {
    below: f64,
    above: f64,
}

impl Hidden {
    fn of(point: &CurvePoint) -> Self {
        let share = (point.rounding / point.seconds).max(0.0);
        if !share.is_finite() {
            return Self::default();
        }
        Self { below: -(1.0 - share.min(1.0)).ln(), above: share.ln_1p() }
    }

    fn most(self, other: Self) -> Self {
        Self { below: self.below.max(other.below), above: self.above.max(other.above) }
    }
}

/// What is hidden at each size of a side: the most of its runs.
struct Side(BTreeMap<u64, Hidden>);

impl Side {
    fn of<C: AsRef<[CurvePoint]>>(runs: &[C]) -> Self {
        let mut sizes = BTreeMap::<u64, Hidden>::new();
        for point in runs.iter().flat_map(|run| run.as_ref()) {
            let at = sizes.entry(point.size).or_default();
            *at = at.most(Hidden::of(point));
        }
        Self(sizes)
    }

    /// At this size, or the most of the two that it lies between.
    fn at(&self, size: u64) -> Hidden {
        let (below, above) = (self.0.range(..=size).next_back(), self.0.range(size..).next());
        [below, above].into_iter().flatten().fold(Hidden::default(), |most, (_, hidden)| most.most(*hidden))
    }
}

fn widened(ratio: Estimate, first: Hidden, second: Hidden) -> Estimate {
    let (low, high) = (second.below + first.above, second.above + first.below);
    Estimate::new(ratio.value, ratio.low * (-low).exp(), ratio.high * high.exp())
}

impl Comparison {
    /// The same with all intervals as much wider as the clocks of both sides hide, and nothing significant that they may have made.
    pub(super) fn beyond_the_clock<C: AsRef<[CurvePoint]>>(mut self, first: &[C], second: &[C]) -> Self {
        if !first.iter().chain(second).flat_map(|run| run.as_ref()).any(|p| p.rounding > 0.0) {
            return self;
        }
        let (a, b) = (Side::of(first), Side::of(second));
        let hidden: Vec<(Hidden, Hidden)> = self.sizes.iter().map(|s| (a.at(s.size), b.at(s.size))).collect();
        for (size, (first, second)) in self.sizes.iter_mut().zip(&hidden) {
            let ratio = widened(size.ratio, *first, *second);
            let told = ratio.low > 1.0 || ratio.high < 1.0;
            *size = match told || !(size.significant || size.by_order) {
                true => Compared { ratio, ..*size },
                false => Compared { ratio, significant: false, by_order: false, probability: 1.0, ..*size },
            };
        }
        let middle = |of: fn(&(Hidden, Hidden)) -> Hidden| {
            let each = |part: fn(Hidden) -> f64| median(&hidden.iter().map(|h| part(of(h))).collect::<Vec<_>>());
            Hidden { below: each(|h| h.below), above: each(|h| h.above) }
        };
        if !hidden.is_empty() {
            self.whole = widened(self.whole, middle(|h| h.0), middle(|h| h.1));
        }
        if let Some(paired) = &mut self.paired {
            paired.differs &= self.whole.low > 1.0 || self.whole.high < 1.0;
        }
        let top = |side: &Side, runs: &[C]| {
            let each = runs.iter().filter_map(|run| Some(side.at(headline_size(run.as_ref())?)));
            each.fold(Hidden::default(), Hidden::most)
        };
        // A longer time is a lower throughput.
        self.throughput = self.throughput.map(|ratio| widened(ratio, top(&b, second), top(&a, first)));
        self.stretches = stretches(&self.sizes);
        self.crossovers = crossovers(&self.sizes, &self.stretches);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side as Runs;

    /// Sizes that take 10 us and `factor` times as long, all rounds read with a clock of 20 us a step over two transfers.
    fn curve(factor: f64, rounding: f64) -> Vec<CurvePoint> {
        let point = |i: u64| {
            let seconds = 10e-6 * factor;
            CurvePoint { rounding, ..CurvePoint::of(64 << i, seconds, (0..9).map(|k| (k, seconds)).collect()) }
        };
        (0..8).map(point).collect()
    }

    #[test]
    fn what_a_coarse_clock_hides_is_in_every_interval_and_no_verdict_comes_of_it() {
        let runs = |factor: f64, rounding| vec![curve(factor, rounding); 3];
        let (a, b) = (runs(1.0, 5e-6), runs(1.0, 5e-6));
        let found = Comparison::of(Runs::of(&a), Runs::of(&b)).unwrap();
        for ratio in found.sizes.iter().map(|s| s.ratio).chain([found.whole, found.throughput.unwrap()]) {
            assert!(ratio.low < 0.4 && ratio.high > 2.9, "5 to 15 us against 5 to 15: {ratio:?}");
        }
        assert!(!found.finding(false).is_verdict(), "{:?}", found.finding(false));
        let (a, b) = (curve(1.0, 5e-6), curve(1.5, 5e-6));
        let turns = Comparison::paired(&a, &b).unwrap();
        assert!(turns.whole.low < 1.0 && turns.whole.high > 3.0, "{:?}", turns.whole);
        assert!(turns.sizes.iter().all(|s| !s.significant) && !turns.finding(false).is_verdict());
        let fine = Comparison::paired(&curve(1.0, 1e-9), &curve(1.5, 1e-9)).unwrap();
        assert!(fine.paired.unwrap().differs && fine.whole.low > 1.49, "{:?}", fine.whole);
    }
}
