//! Confidence intervals of percentiles of single iterations.
//!
//! Iterations of a round are alike: a round has a level of its own, and may have met a slow state of the machine that others did not. So
//! rounds are the evidence, and three things keep an interval from being too narrow. Iterations count for as many independent ones as the
//! spread of the rounds' shares beyond the percentile says ([`Tail::independent`]), and where one or two rounds hold all that lies beyond,
//! it has no upper bound. Levels may lie further apart than those of a few rounds did ([`Tail::spread_out`]). And a slow state that the
//! size's own trials missed may show in those of the sizes nearby ([`Tail::last`]).

use stats::{CONFIDENCE, Interval, Moves, StandardError};

/// Half-width of a histogram's bucket about the time that it is named by, as a share; it may be up to twice as much ([`stats::Histogram`]).
const BUCKET: f64 = 1.0 / 512.0;
/// With fewer rounds than this it is never shown that successive ones are not alike ([`Moves::averaged`]), and the variance of a share
/// beyond may be so many times what they show. A simulation chose it (`tests/truth`): of nine autoregressive rounds (0.5), 14% of the
/// intervals of p90 had two ends without it, of which 81% held, and 5% have with it, of which 90% hold.
const ROUNDS: f64 = 12.0;
const HIDDEN: f64 = 1.6;
/// Equally likely levels that stand for a normal distribution of them.
const LEVELS: usize = 24;
/// Bisection steps of the search for a time.
const HALVINGS: usize = 30;

/// Iterations of a point, by round and all together.
pub(super) struct Tail<'a> {
    /// (seconds, iterations) of each round, ascending.
    pub rounds: &'a [Vec<(f64, u64)>],
    /// What each of them weighs, a share of all.
    pub weights: &'a [f64],
    /// (seconds, share of all) over the rounds, ascending.
    pub all: &'a [(f64, f64)],
    /// What else it rests on.
    pub beside: &'a Beside,
}

/// What the interval of a percentile needs besides the iterations.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Beside {
    /// How far a reading of the clock may lie off the true time, seconds of the point's kind.
    pub rounding: f64,
    /// Typical time of each trial, seconds, ascending.
    pub typical: Vec<f64>,
    /// How far each trial of the sizes nearby lay off its size's median, as a logarithm, ascending.
    pub nearby: Vec<f64>,
}

impl Tail<'_> {
    /// The 95% interval of the time that a share `q` stays within: between order statistics, of as many independent iterations as there are
    /// in effect ([`stats::beyond`]). None as of [`stats::point_interval`].
    pub fn interval(&self, q: f64) -> Option<Interval> {
        let seen = stats::beyond(1.0 - q, self.independent(q)?, CONFIDENCE);
        let low = seen.low.map_or(0.0, |share| quantile(self.all, 1.0 - share));
        let high = seen.high.and_then(|share| self.last(share)).map(|high| high.max(self.spread_out(q)));
        let (high, off) = (high.unwrap_or(f64::INFINITY), self.beside.rounding);
        Some(Interval { low: (low * (1.0 - BUCKET) - off).max(0.0), high: high * (1.0 + BUCKET) + off })
    }

    /// How many independent iterations these count for at a share `q`: by the spread of the rounds' shares (Kish 1965, *Survey Sampling*,
    /// 8.2; Woodruff 1952, *Confidence Intervals for Medians and Other Position Measures*, Journal of the American Statistical Association
    /// 47:635-646) as a series in time, reduced since few rounds estimate that spread poorly (Korn and Graubard 1998, *Confidence Intervals
    /// for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data*, Survey Methodology 24:193-201). Never
    /// more than there are, never fewer than their rounds count for.
    fn independent(&self, q: f64) -> Option<f64> {
        let (k, at) = (self.rounds.len() as f64, quantile(self.all, q));
        let each = self.rounds.iter().zip(self.weights).map(|(r, w)| w * w / many(r) as f64).sum::<f64>();
        // Many may read the same, as where a whole round does: then the shares strictly below count as well.
        let [with, without] = [|t: f64, at: f64| t <= at, |t: f64, at: f64| t < at].map(|inside| {
            let share = |r: &Vec<(f64, u64)>| {
                let inside = r.iter().take_while(|(t, _)| inside(*t, at));
                inside.fold(0, |all: u64, (_, n)| all.saturating_add(*n)) as f64 / many(r) as f64
            };
            let shares = || self.rounds.iter().map(share).zip(self.weights);
            // How far a round moves the share of all: as far as its own lies from it, by what it weighs against a mean one (the linearised ratio of
            // the sources above).
            let whole = shares().map(|(share, weight)| share * weight).sum::<f64>();
            let moves = |(share, weight): (f64, &f64)| match (weight * k - 1.0).abs() < 1e-9 {
                true => share,
                false => whole + (share - whole) * weight * k,
            };
            shares().map(moves).collect::<Vec<f64>>()
        });
        // Variance of the share beyond; that of one independent iteration is 1.
        let of_one = q * (1.0 - q);
        let hidden = if k < ROUNDS { HIDDEN } else { 1.0 };
        let (mut fewest, mut rounds) = (1.0 / each, k);
        for shares in [with, without] {
            let moves = Moves::of(&shares);
            if moves.few() || moves.slow(0.0) {
                return None;
            }
            let seen = (stats::variance(&shares) / k / of_one - each) * k / moves.effective;
            let lasting = (moves.error.value.powi(2) / of_one - each).max(seen).max(0.0) * hidden;
            let both = StandardError::of_sum(&[(each, 1e9), (lasting, moves.error.degrees.max(1.0))]);
            let surer = stats::student_t(CONFIDENCE, 1e9) / stats::student_t(CONFIDENCE, both.degrees.max(1.0));
            fewest = fewest.min((surer / both.value).powi(2));
            rounds = rounds.min(moves.effective);
        }
        Some(fewest.max(rounds).min(1.0 / each))
    }

    /// The shortest time beyond which no more than this share lies; none where all that was measured lies below it. A slow state that this
    /// point's trials missed by chance and those of the sizes nearby met is part of the share.
    fn last(&self, share: f64) -> Option<f64> {
        let Beside { typical, nearby, .. } = self.beside;
        let beyond = |sorted: &[f64], least: f64| {
            (sorted.len() - sorted.partition_point(|t| *t <= least)) as f64 / sorted.len().max(1) as f64
        };
        let middle = if typical.is_empty() { 0.0 } else { stats::median(typical) };
        let missed = |t: f64| (beyond(nearby, (t / middle).ln()) - beyond(typical, t)).max(0.0);
        let mut left = 1.0;
        let found = self.all.iter().find(|(t, each)| {
            left -= each;
            left <= share + 1e-9 && left + missed(*t) <= share + 1e-9
        });
        found.map(|(t, _)| *t)
    }

    /// The time that a share `q` stays within where the levels of rounds lie as far apart, and as high, as the few that were seen leave
    /// possible: slow levels are rare, and rounds that met none of them look alike.
    fn spread_out(&self, q: f64) -> f64 {
        let logs: Vec<f64> = self.rounds.iter().map(|r| middle(r).max(f64::MIN_POSITIVE).ln()).collect();
        let moves = Moves::of(&logs);
        let further = stats::spread_beyond_seen(&moves, CONFIDENCE);
        let (at, off) = (quantile(self.all, q), moves.error.reach(0.9));
        if further <= 0.0 {
            return at;
        }
        let times: Vec<f64> = stats::normal_levels(LEVELS).map(|level| (level * further + off).exp()).collect();
        let beyond = |t: f64| {
            let of = |r: &Vec<(f64, u64)>| {
                let all = many(r) as f64;
                times.iter().map(|times| beyond(r, t / times) / all).sum::<f64>()
            };
            self.rounds.iter().map(of).zip(self.weights).map(|(beyond, weight)| beyond * weight).sum::<f64>()
                / LEVELS as f64
        };
        let (mut low, mut high) = (at, at * (8.0 * further + off).exp());
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if beyond(middle) > 1.0 - q { low = middle } else { high = middle }
        }
        high
    }
}

/// Iterations of a round beyond a time.
fn beyond(r: &[(f64, u64)], t: f64) -> f64 {
    r[r.partition_point(|(at, _)| *at <= t)..].iter().fold(0.0, |all, (_, n)| all + *n as f64)
}

/// The median of a round's iterations.
fn middle(r: &[(f64, u64)]) -> f64 {
    let half = many(r) as f64 / 2.0;
    let mut seen = 0.0;
    let found = r.iter().find(|(_, n)| {
        seen += *n as f64;
        seen >= half
    });
    found.map_or(0.0, |(t, _)| *t)
}

/// How many iterations there are.
pub(super) fn many(pairs: &[(f64, u64)]) -> u64 {
    pairs.iter().fold(0, |all, (_, n)| all.saturating_add(*n))
}

/// The smallest time with at least a share `q` at or below it; the pairs ascend and their shares add up to 1.
pub(super) fn quantile(pairs: &[(f64, f64)], q: f64) -> f64 {
    let mut seen = 0.0;
    // A sum of shares is exact to some 1e-13.
    let found = pairs.iter().find(|(_, share)| {
        seen += share;
        seen >= q - 1e-9
    });
    found.or(pairs.last()).map_or(0.0, |(t, _)| *t)
}
