//! Throughput over sizes, smoothed so that no single size decides by chance.
//!
//! On a plateau of thirty sizes the highest of thirty noisy medians lies one and a half standard errors above each of them on average, and
//! the first of many to pass a level does so by chance, far below where the curve does. A line through the neighbours of each size has
//! neither error. A size that lies farther from that line than noise explains keeps its own value: a spike is no noise.

use std::f64::consts::LN_2;

use rand_chacha::ChaCha8Rng;
use stats::median;

use crate::CurvePoint;
use crate::curve::{Curve, Drawn, Point};
use crate::resampled::{reach, typical_rounds};
use crate::shape::{last_decade, rise};

/// Half of the window, as a logarithm of size: a seventh of a decade.
const WINDOW: f64 = 0.33;

/// Standard errors of a median beyond which a size does not follow its neighbours. Of 155 normal ones, one lies so far off in one of a
/// hundred runs.
const NOT_LUCK: f64 = 4.0;

/// Errors of a smoothed value within which a size can't be told from the highest: the highest of many equal ones lies about two above their
/// middle, and the lowest as far below it.
const ALIKE: f64 = 4.0;

/// Resamples of the bootstrap that tells whether a curve still rises. The standard deviation of 500 values is itself known to 3%.
const RESAMPLES: usize = 500;

/// Least rise of throughput from the lower to the upper half of the last decade that counts. On the ideal curve `B / (t0 + b B)`, 5% here
/// leaves about 1.3% to be gained beyond the largest size.
const WORTH: f64 = 0.05;

/// How far off the smoothed curve a size that few rounds visited may lie, as a logarithm, to stand for its maximum.
const BY_LUCK: f64 = 0.2;

/// How far, as a logarithm, what a share of the maximum is taken of may lie from the maximum that is told.
const SAME: f64 = 0.03;

/// Rounds from which on a size's own noise is known.
const ENOUGH: usize = 4;

/// The smoothed curve of throughput: sizes that carry something, ascending.
pub(crate) struct Smooth {
    /// Indices of the curve's points.
    pub points: Vec<usize>,
    /// Natural logarithm of each size.
    pub logs: Vec<f64>,
    /// Log standard error of each median.
    errors: Vec<f64>,
    /// Whether enough rounds visited each to tell a spike from chance; the others count as the median of five neighbours.
    many: Vec<bool>,
}

/// The most that a curve reaches, as natural logarithms of throughput (bits a second), from all sizes that can't be told from the highest
/// of the smoothed curve.
pub(crate) struct Most {
    /// Index of the highest.
    pub top: usize,
    /// A line through all of them, read there: on a plateau their middle. It lies below a peak.
    pub plateau: f64,
    /// Lines through those on either side, read there: the height of a peak. On a plateau it is a little too high by chance.
    pub peak: f64,
    /// The same of the curve before smoothing, which lowers a sharp peak.
    pub sharp: f64,
}

/// Those of `points` that several rounds measured, where these reach to the largest: the largest of sizes with one round each would be
/// large by chance only. All where they don't.
fn known(curve: &Curve, points: Vec<usize>) -> Vec<usize> {
    let rounds = |i: &usize| curve.points[*i].rounds.len();
    let reaches = points.last().is_some_and(|last| rounds(last) >= ENOUGH);
    if reaches { points.into_iter().filter(|i| rounds(i) > 1).collect() } else { points }
}

/// The size whose throughput is the curve's maximum ([`Smooth::headline`]), as the summary has it; none of a curve that carries nothing.
pub(crate) fn headline_size(points: &[CurvePoint]) -> Option<u64> {
    let curve = Curve::of(points);
    let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
    let smooth = Smooth::of(&curve);
    smooth.headline(&curve, &seconds).map(|at| curve.points[smooth.points[at]].size)
}

impl Smooth {
    pub fn of(curve: &Curve) -> Self {
        let carries = |i: &usize| curve.points[*i].size > 0 && curve.points[*i].bits > 0.0;
        let all: Vec<usize> = (0..curve.points.len()).filter(carries).collect();
        let points = known(curve, all);
        let logs = points.iter().map(|i| (curve.points[*i].size as f64).ln()).collect();
        let error =
            |i: &usize| stats::median_log_error(curve.alone(*i), curve.sigma).map_or(f64::INFINITY, |e| e.value);
        let errors = points.iter().map(error).collect();
        // Where no size has many rounds, none is smoothed away: a coarse run of one round is no plateau of thirty sizes.
        let most = points.iter().map(|i| curve.points[*i].rounds.len()).max().unwrap_or(0);
        let many = points.iter().map(|i| curve.points[*i].rounds.len() >= ENOUGH.min(most)).collect();
        Self { points, logs, errors, many }
    }

    /// Natural logarithm of each size's throughput, where the curve's medians are these (seconds, of all its points): as it was read.
    pub fn read(&self, curve: &Curve, seconds: &[f64]) -> Vec<f64> {
        let read: Vec<f64> = self.points.iter().map(|i| curve.points[*i].throughput(seconds[*i]).ln()).collect();
        let steady = |i: usize| {
            if self.many[i] {
                return read[i];
            }
            // Only of those close by: between sizes far apart a curve may do anything.
            let near = (i.saturating_sub(2)..(i + 3).min(read.len()))
                .filter(|k| (self.logs[*k] - self.logs[i]).abs() <= WINDOW);
            median(&near.map(|k| read[k]).collect::<Vec<_>>())
        };
        (0..read.len()).map(steady).collect()
    }

    /// [`Smooth::read`], smoothed.
    pub fn rates(&self, curve: &Curve, seconds: &[f64]) -> Vec<f64> {
        let raw = self.read(curve, seconds);
        let one = |i: usize| {
            let smooth = self.at(&raw, i);
            if self.many[i] && (raw[i] - smooth).abs() > NOT_LUCK * self.errors[i] { raw[i] } else { smooth }
        };
        (0..raw.len()).map(one).collect()
    }

    /// The size whose own throughput stands for the maximum, as an index: where the smoothed curve is highest, of the sizes that are
    /// themselves about as high. One that a round or two saw may have been held up, or lucky, and its neighbours speak for the curve but not for it.
    pub fn headline(&self, curve: &Curve, seconds: &[f64]) -> Option<usize> {
        self.headline_of(curve, seconds, &self.rates(curve, seconds))
    }

    /// The same by smoothed rates ([`Smooth::rates`]).
    pub fn headline_of(&self, curve: &Curve, seconds: &[f64], rates: &[f64]) -> Option<usize> {
        let stands = |i: usize| self.many[i] || (self.own(curve, seconds, i) - rates[i]).abs() <= BY_LUCK;
        let standing: Vec<f64> =
            rates.iter().enumerate().map(|(i, rate)| if stands(i) { *rate } else { f64::NEG_INFINITY }).collect();
        highest(&standing).map(|(at, _)| at)
    }

    /// Natural logarithm of a size's own throughput.
    fn own(&self, curve: &Curve, seconds: &[f64], i: usize) -> f64 {
        curve.points[self.points[i]].throughput(seconds[self.points[i]]).ln()
    }

    /// Where a share of the maximum is reached, and what that moves, as logarithms of size and throughput: of the maximum that is told, a
    /// size's own ([`Smooth::headline`]), so that the two figures are of one thing. Up to [`SAME`] all sizes about the top tell it better
    /// (`most`, its logarithm by these, and `rates` their smoothed ones). The curve on which it is looked for is the smoothed one up to that size. None of nothing.
    pub fn reached(
        &self,
        (curve, seconds): (&Curve, &[f64]),
        rates: &[f64],
        share: f64,
        most: f64,
    ) -> Option<(f64, f64)> {
        let at = self.headline_of(curve, seconds, rates)?;
        let own = self.own(curve, seconds, at);
        let level = most.clamp(own - SAME, own + SAME) + share.ln();
        Some((crossing(&self.logs[..=at], &rates[..=at], level), level))
    }

    /// The most that a curve reaches, without the bias of the highest of many, from [`Smooth::read`] and its smoothed rates
    /// ([`Smooth::rates`]). None of nothing.
    pub fn most(&self, read: &[f64], rates: &[f64]) -> Option<Most> {
        let (top, highest) = highest(rates)?;
        let within = highest - ALIKE * self.error(top);
        // Without an error, sizes can't be said to be as high.
        let alike: Vec<usize> =
            (0..rates.len()).filter(|i| *i == top || (within.is_finite() && rates[*i] >= within)).collect();
        let line = |sizes: &[usize], values: &[f64]| {
            let points: Vec<(f64, f64, f64)> = sizes.iter().map(|i| (self.logs[*i], values[*i], 1.0)).collect();
            let line = stats::weighted_line(&points).filter(|_| points.len() > 2);
            line.map(|l| (l.at(self.logs[top]), points.len() as f64))
        };
        let at = alike.partition_point(|i| *i < top);
        let sides = |values: &[f64]| {
            let both = [line(&alike[..=at], values), line(&alike[at..], values)];
            let many: f64 = both.iter().flatten().map(|s| s.1).sum();
            if many > 0.0 { both.iter().flatten().map(|s| s.0 * s.1).sum::<f64>() / many } else { highest }
        };
        let plateau = line(&alike, rates).map_or(highest, |(level, _)| level.min(highest));
        Some(Most { top, plateau, peak: sides(rates).min(highest), sharp: sides(read) })
    }

    /// Where half of the most is reached, and where the most is, as logarithms of size, where the curve's medians are these (seconds, of
    /// all its points). None of nothing.
    pub fn half(&self, curve: &Curve, seconds: &[f64]) -> Option<(f64, f64)> {
        let rates = self.rates(curve, seconds);
        let Most { top, peak, .. } = self.most(&self.read(curve, seconds), &rates)?;
        Some((crossing(&self.logs[..=top], &rates[..=top], peak - LN_2), self.logs[top]))
    }

    /// Whether the curve still rises at its largest size, as [`crate::Summary::still_rising`] has it; none where the maximum has no interval.
    pub fn still_rising(&self, curve: &Curve, rng: &mut ChaCha8Rng) -> Option<bool> {
        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let rates = self.rates(curve, &seconds);
        let (at, _) = highest(&rates)?;
        let top = &curve.points[self.points[at]];
        if !top.estimate.high.is_finite() || top.estimate.low <= 0.0 {
            return None;
        }
        let rate = |p: &Point| p.throughput(p.seconds);
        // Only a curve that is highest at its end may rise beyond it.
        let at_end =
            at + 1 == self.points.len() && curve.points.iter().all(|p| p.size <= top.size && rate(p) <= rate(top));
        let halves = last_decade(&self.logs);
        let risen = rise(&halves, &rates);
        if !at_end || risen <= WORTH.ln_1p() {
            return Some(false);
        }
        let (mut drawn, mut medians, mut rises) = (Drawn::default(), Vec::new(), Vec::new());
        for _ in 0..RESAMPLES {
            curve.resample(rng, &mut drawn, &mut medians);
            rises.push(rise(&halves, &self.rates(curve, &medians)));
        }
        let rounds = typical_rounds(self.points[halves.0.start..].iter().map(|i| &curve.points[*i]));
        Some(reach(&rises, rounds).is_some_and(|reach| risen > reach))
    }

    /// Log standard error of one size's smoothed value.
    fn error(&self, i: usize) -> f64 {
        let weights: Vec<f64> = self.near(i).map(|(_, weight)| weight).collect();
        if weights.len() < 3 {
            return self.errors[i];
        }
        self.errors[i] * weights.iter().map(|w| w * w).sum::<f64>().sqrt() / weights.iter().sum::<f64>()
    }

    /// The sizes in the window about one, and how much each counts: less towards the window's ends (tricube: Cleveland 1979).
    fn near(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let (logs, x) = (&self.logs, self.logs[i]);
        let (from, to) = (logs.partition_point(|l| *l < x - WINDOW), logs.partition_point(|l| *l <= x + WINDOW));
        (from..to).map(move |j| (j, (1.0 - ((logs[j] - x).abs() / (WINDOW * 1.001)).powi(3)).powi(3)))
    }

    /// The value at one size of a line through its neighbours in the window. A size without neighbours keeps its own.
    fn at(&self, values: &[f64], i: usize) -> f64 {
        let near: Vec<(f64, f64, f64)> = self.near(i).map(|(j, weight)| (self.logs[j], values[j], weight)).collect();
        if near.len() < 3 { values[i] } else { stats::weighted_line(&near).map_or(values[i], |l| l.at(self.logs[i])) }
    }
}

/// Index and value of the highest; of equals, the first. None of nothing.
pub(crate) fn highest(values: &[f64]) -> Option<(usize, f64)> {
    values.iter().copied().enumerate().rev().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// How many of the first sizes lie before the split that leaves the least stretch of sizes on the wrong side, where `beyond` says of each
/// which side it belongs to. So neither one size nor one dip decides. Of equal splits the first.
pub(crate) fn split(logs: &[f64], beyond: &[bool]) -> usize {
    let n = logs.len();
    // A size without neighbours has a width, too.
    let width = |i: usize| ((logs[(i + 1).min(n - 1)] - logs[i.saturating_sub(1)]) / 2.0).max(1e-9);
    let wrong = |i: usize, near: bool| if beyond[i] == near { width(i) } else { 0.0 };
    // The split before the first: all lie beyond.
    let mut cost: f64 = (0..n).map(|i| wrong(i, false)).sum();
    let mut best = (cost, 0);
    for i in 0..n {
        cost += wrong(i, true) - wrong(i, false);
        if cost < best.0 - 1e-12 {
            best = (cost, i + 1);
        }
    }
    best.1
}

/// Logarithm of the size that parts values below `level` from those above: their split, and from there the straight line between the two.
pub(crate) fn crossing(logs: &[f64], values: &[f64], level: f64) -> f64 {
    let n = logs.len();
    match split(logs, &values.iter().map(|v| *v >= level).collect::<Vec<_>>()) {
        0 => logs[0],
        i if i == n => logs[n - 1],
        i => {
            let (a, b) = (values[i - 1], values[i]);
            let share = if b > a { ((level - a) / (b - a)).clamp(0.0, 1.0) } else { 0.5 };
            logs[i - 1] + share * (logs[i] - logs[i - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CurvePoint;

    /// 10 us and 1 ns a byte, 0.1 decades apart, seen by so many rounds; every size takes so many times as long as the line.
    fn curve(rounds: impl Fn(usize) -> u32, times: impl Fn(usize, u32) -> f64) -> Curve {
        let point = |i: usize| {
            let size = 10f64.powf(0.1 * i as f64) as u64;
            let line = 1e-5 + size as f64 * 1e-9;
            let medians: Vec<(u32, f64)> = (0..rounds(i)).map(|r| (r, line * times(i, r))).collect();
            let seconds = median(&medians.iter().map(|b| b.1).collect::<Vec<_>>());
            CurvePoint::of(size, seconds, medians)
        };
        Curve::of(&(10..60).map(point).collect::<Vec<_>>())
    }

    fn top(curve: &Curve) -> u64 {
        let smooth = Smooth::of(curve);
        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let (at, _) = highest(&smooth.rates(curve, &seconds)).unwrap();
        curve.points[smooth.points[at]].size
    }

    /// Noise of 2% that differs by size and round.
    fn noise(i: usize, r: u32) -> f64 {
        1.0 + 0.02 * f64::from((i as u32 * 7 + r * 5) % 9) / 8.0
    }

    #[test]
    fn sizes_far_apart_keep_their_own_values() {
        let point = |(i, seconds): (usize, f64)| CurvePoint::of(1 << (4 * i), seconds, vec![(0, seconds)]);
        let four = |i: usize| (0..4).map(move |r| (r, 1e-5 * (1 << i) as f64)).collect::<Vec<_>>();
        let mut points: Vec<CurvePoint> = [1e-5, 1e-5, 1e-5, 1e-4, 8e-2].into_iter().enumerate().map(point).collect();
        points[0].rounds = four(0);
        let curve = Curve::of(&points);
        let seconds: Vec<f64> = curve.points.iter().map(|p| p.seconds).collect();
        let smooth = Smooth::of(&curve);
        let best = smooth.points[smooth.headline(&curve, &seconds).unwrap()];
        assert_eq!(curve.points[best].size, 4096, "64 KiB at 8 ms carries less");
    }

    #[test]
    fn one_lucky_round_is_not_the_maximum_and_a_spike_that_all_rounds_saw_is() {
        let rounds = |i: usize| if i > 45 { 1 } else { 9 };
        let lucky = |i: usize, r: u32| noise(i, r) * if i == 50 { 0.25 } else { 1.0 };
        assert!(top(&curve(rounds, lucky)) > 500_000, "the end of a rising curve, and not the lucky one of 10^5 B");
        let held_up = curve(rounds, |i, r| noise(i, r) * if i == 59 { 20.0 } else { 1.0 });
        let seconds: Vec<f64> = held_up.points.iter().map(|p| p.seconds).collect();
        let smooth = Smooth::of(&held_up);
        let headline = smooth.points[smooth.headline(&held_up, &seconds).unwrap()];
        assert!((46..49).contains(&headline), "{headline}: one of the last that were not held up");
        let hurried = curve(rounds, |i, r| noise(i, r) * if i == 59 { 0.5 } else { 1.0 });
        let seconds: Vec<f64> = hurried.points.iter().map(|p| p.seconds).collect();
        let smooth = Smooth::of(&hurried);
        let headline = smooth.points[smooth.headline(&hurried, &seconds).unwrap()];
        assert!((46..49).contains(&headline), "{headline}: one of the last that luck did not make fast");
        let spike = |i: usize, r: u32| noise(i, r) * if i == 40 { 0.05 } else { 1.0 };
        assert_eq!(top(&curve(|_| 9, spike)), 10_000);
        assert_eq!(top(&curve(|_| 1, |i, _| if i == 40 { 0.05 } else { 1.0 })), 10_000, "all that one round can say");
    }
}
