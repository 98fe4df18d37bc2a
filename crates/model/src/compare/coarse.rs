//! What the clock's step hides of a comparison: all rounds of a size may read the same, and lie off the truth to the same side.

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

    /// The most that any of the runs' points nearest to this size hides: an interpolated size lies between two.
    fn at(runs: &[Vec<CurvePoint>], size: u64) -> Self {
        let near = runs.iter().flat_map(|run| {
            let below = run.iter().filter(|p| p.size <= size).max_by_key(|p| p.size);
            let above = run.iter().filter(|p| p.size >= size).min_by_key(|p| p.size);
            [below, above].into_iter().flatten()
        });
        near.map(Self::of)
            .fold(Self::default(), |a, b| Self { below: a.below.max(b.below), above: a.above.max(b.above) })
    }
}

fn widened(ratio: Estimate, first: Hidden, second: Hidden) -> Estimate {
    let (low, high) = (second.below + first.above, second.above + first.below);
    Estimate::new(ratio.value, ratio.low * (-low).exp(), ratio.high * high.exp())
}

impl Comparison {
    /// The same with all intervals as much wider as the clocks of both sides hide, and nothing significant that they may have made.
    pub(super) fn beyond_the_clock(mut self, first: &[Vec<CurvePoint>], second: &[Vec<CurvePoint>]) -> Self {
        if !first.iter().chain(second).flatten().any(|p| p.rounding > 0.0) {
            return self;
        }
        let hidden: Vec<(Hidden, Hidden)> =
            self.sizes.iter().map(|s| (Hidden::at(first, s.size), Hidden::at(second, s.size))).collect();
        for (size, (a, b)) in self.sizes.iter_mut().zip(&hidden) {
            let ratio = widened(size.ratio, *a, *b);
            let told = ratio.low > 1.0 || ratio.high < 1.0;
            *size = match told || !size.significant {
                true => Compared { ratio, ..*size },
                false => Compared { ratio, significant: false, probability: 1.0, ..*size },
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
        let top = |runs: &[Vec<CurvePoint>]| {
            let each = runs.iter().filter_map(|run| Some(Hidden::at(runs, headline_size(run)?)));
            each.fold(Hidden::default(), |a, b| Hidden { below: a.below.max(b.below), above: a.above.max(b.above) })
        };
        // A longer time is a lower throughput.
        self.throughput = self.throughput.map(|ratio| widened(ratio, top(second), top(first)));
        self.stretches = stretches(&self.sizes);
        self.crossovers = crossovers(&self.sizes, &self.stretches);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

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
        let found = Comparison::of(Side::of(&a), Side::of(&b)).unwrap();
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
