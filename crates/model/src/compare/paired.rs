//! Two sides of one run whose rounds took turns: round k of the one and round k of the other are neighbours in time.
//!
//! What the machine does hits both, so what is compared is their ratio, round by round: at each size the logarithm of the second
//! side's time less that of the first. From there on the estimators are those of a curve: what the ratios of all sizes share in a
//! round is the round's level, [`Moves`] tells the error of the mean level, and each size has its own error beside it. Paired and
//! interleaved trials compare 2.3 to 12.5 times as surely as separate ones (Bulej and others 2020, *Duet Benchmarking*, ICPE).

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{
    CONFIDENCE, Local, Moves, Shared, StandardError, holm, mean, median, median_interval, own_error, point_interval,
    round_distances, student_p, variance,
};

use super::align::EXPECTED;
use super::{Compared, Comparison, EveryRound, LEVEL, NOTHING, Side, stretches};
use crate::smooth::headline_size;
use crate::{CurvePoint, Estimate};

/// Iterations in which sizes and levels are estimated in turn: a state that changed between the two turns of a round moves the median of
/// every size a little the same way, until its level is known.
const TURNS: usize = 3;

/// Levels farther off than so many standard deviations (from the median distance) are clamped.
const FAR: f64 = 3.0;

/// Standard error of the mean of the middle half of normal values, in units of that of their mean.
const OF_MIDDLE_HALF: f64 = 1.09;

/// Share of both tails together that leaves a fifth in one: what lies so far beyond an interval's end is found four times in five.
const FOUND_BEYOND: f64 = 0.6;

/// Rounds from which on fewer than one of twenty orders of the sides make all rounds go one way.
const TELLING_ROUNDS: usize = 6;

/// A size's neighbours on either side are this part of all sizes.
const NEIGHBOURS: usize = 16;

/// Variance of the median of normal values, in units of that of their mean.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// Standard deviation of normal values, in units of their median distance from their median.
const OF_DISTANCE: f64 = 1.4826;

/// Draws that tell how far noise moves what is chosen by it.
const DRAWS: usize = 100;

/// So many standard errors are noise.
const SURELY: f64 = 2.0;

/// Two states of a machine lie no further apart than this, as a logarithm.
const STATES: f64 = std::f64::consts::LN_2;

/// What a comparison of two sides, or of two paths, of one run rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paired {
    /// Rounds that both sides have.
    pub rounds: u32,
    /// The curves as wholes differ: the 95% interval of their ratio leaves out 1, and the order of the sides makes so many rounds go one way in
    /// fewer than one of twenty runs.
    pub differs: bool,
    /// The smallest difference of the whole curve that a comparison as noisy as this one finds with a probability of 80%, as a share:
    /// 0.02 is 2%. None where nothing tells the error.
    pub finds: Option<f64>,
    /// The same of a single size, taken by itself: the median over the sizes.
    pub finds_at_a_size: Option<f64>,
}

/// One size: the rounds that both sides have, as (round, second over first).
struct Pairs<'a> {
    first: &'a CurvePoint,
    second: &'a CurvePoint,
    ratios: Vec<(u32, f64)>,
}

impl Pairs<'_> {
    /// Logarithm of the median ratio; none without a round.
    fn typical(&self) -> Option<f64> {
        let rounds: Vec<f64> = self.ratios.iter().map(|(_, ratio)| ratio.ln()).collect();
        (!rounds.is_empty()).then(|| median(&rounds))
    }
}

/// Rounds of which all may have gone one way by chance: fewer than chance does in one of twenty, at a factor that machines in states have.
fn by_chance(rounds: usize, ln: f64) -> f64 {
    if rounds < TELLING_ROUNDS && ln.abs() < STATES { 2f64.powi(1 - rounds as i32) } else { 0.0 }
}

/// A logarithm of a ratio, with the range that its error reaches on either side of it, and the error itself.
struct Found {
    ln: f64,
    /// The mean level less the median one: the truth may lie at either.
    shift: f64,
    error: Option<StandardError>,
    interval: Option<stats::Interval>,
    /// Rounds that it rests on.
    rounds: usize,
    /// Probability that the order of the sides, which is drawn in each round, makes as many rounds go one way.
    chance: f64,
}

/// Probability that so many rounds or more of `n` go one way, either one, where each goes either way as likely (the sign test).
fn one_way(n: usize, most: usize) -> f64 {
    if 2 * most <= n {
        return 1.0;
    }
    let ways = |k: usize| (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
    let share: f64 = (0..=n - most).map(|k| ways(k) * 0.5f64.powi(n as i32)).sum();
    (2.0 * share).min(1.0)
}

impl Found {
    /// Probability of a ratio as far from 1 by chance; at least [`LEVEL`] where the interval holds 1.
    fn probability(&self) -> f64 {
        let Some((error, interval)) = self.error.zip(self.interval) else { return 1.0 };
        let least = if interval.contains(1.0) { LEVEL } else { 0.0 };
        self.without_interval(error).max(least).max(self.chance)
    }

    fn without_interval(&self, error: StandardError) -> f64 {
        let (a, b) = (self.ln, self.ln + self.shift);
        let off = if a * b <= 0.0 { 0.0 } else { a.abs().min(b.abs()) };
        match error.value {
            _ if off < NOTHING => 1.0,
            e if e > 0.0 => student_p(off / e, error.degrees),
            _ => 0.0,
        }
    }

    /// The interval leaves out 1, and neither rounding alone nor the order of few rounds may do that.
    fn differs(&self) -> bool {
        self.ln.abs() >= NOTHING && self.chance < LEVEL && self.interval.is_some_and(|i| !i.contains(1.0))
    }

    /// The interval leaves out 1, and the order of few rounds may do that.
    fn by_order(&self) -> bool {
        self.ln.abs() >= NOTHING && self.chance >= LEVEL && self.interval.is_some_and(|i| !i.contains(1.0))
    }

    fn estimate(&self) -> Estimate {
        let value = self.ln.exp();
        self.interval.map_or(Estimate::unbounded(value), |i| Estimate::new(value, i.low, i.high))
    }

    /// The smallest share that is found with a probability of 80%: the 95% interval must leave out 1 that often.
    fn finds(&self) -> Option<f64> {
        let (error, interval) = self.error.zip(self.interval)?;
        let half = (interval.high / interval.low).ln() / 2.0;
        let reach = half.max(error.reach(CONFIDENCE)) + error.reach(FOUND_BEYOND);
        let least = if by_chance(self.rounds, 0.0) < LEVEL { 0.0 } else { STATES };
        Some(reach.max(least).exp_m1()).filter(|share| share.is_finite())
    }
}

impl Comparison {
    /// Compares two paths of one run, each a side of one run alone. Their rounds took turns, so that they are compared as by
    /// [`Comparison::paired`], but for two cases: most sizes are those of one path alone (each path has sizes of its own where its curve
    /// jumps), or the paths have no round in common, as where a file keeps no trials. None as of [`Comparison::of`].
    pub fn of_paths(first: Side<'_>, second: Side<'_>) -> Option<Self> {
        let ([a], [b]) = (first.runs, second.runs) else { return Self::of(first, second) };
        let fewer = usable(a).count().min(usable(b).count());
        let paired = Self::paired(a, b).filter(|c| {
            (c.sizes.len() + c.unvisited) as f64 >= EXPECTED * fewer as f64 && c.paired.is_some_and(|p| p.rounds > 0)
        });
        paired.or_else(|| Self::of(first, second))
    }

    /// Compares two sides of one run whose rounds took turns, `second` with `first`: rounds of one number are neighbours in time.
    /// None where the sides have no size in common.
    pub fn paired(first: &[CurvePoint], second: &[CurvePoint]) -> Option<Self> {
        let by_size: BTreeMap<u64, &CurvePoint> = usable(second).map(|p| (p.size, p)).collect();
        let mut pairs: Vec<Pairs<'_>> = usable(first)
            .filter_map(|p| Some(Pairs { first: p, second: by_size.get(&p.size)?, ratios: Vec::new() }))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        pairs.sort_by_key(|p| p.first.size);
        pairs.iter_mut().for_each(|p| p.ratios = ratios(p.first, p.second));
        let left_out = usable(first).count() + by_size.len() - 2 * pairs.len();
        let common = pairs.len();
        // Where no size was visited at all the first looks are all there is, and there is no verdict.
        if pairs.iter().any(|p| !p.ratios.is_empty()) {
            pairs.retain(|p| !p.ratios.is_empty());
        }
        let unvisited = common - pairs.len();

        let seen = EveryRound::of(pairs.iter().filter(|p| !p.ratios.is_empty()).map(|p| {
            let ratios = || p.ratios.iter().map(|(_, ratio)| *ratio);
            (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max))
        }));
        let wholes = whole_rounds(&pairs);
        // Of ratios, whose logarithms it takes: of these themselves it would take them once more where all are positive.
        let drawn = median_interval(&wholes.iter().map(|ln| ln.exp()).collect::<Vec<_>>(), CONFIDENCE);
        let levels = levels(&pairs);
        for (round, ratio) in pairs.iter_mut().flat_map(|p| &mut p.ratios) {
            *ratio /= levels.get(round).copied().unwrap_or(0.0).exp();
        }
        let mut moves = Moves::of(&drawn_in(&levels.values().copied().collect::<Vec<_>>()));
        // Which side went first was drawn, so that whatever the machine does, in step with the turns, too, makes a round of the same thing
        // longer on either side as often: the order statistics of the rounds know that (the sign test), and their variance need not.
        let typical = middle_half(pairs.iter().filter_map(Pairs::typical).collect());
        moves.ends = (moves.ends.0.min(drawn.low.ln() - typical), moves.ends.1.max(drawn.high.ln() - typical));
        // A state that changed between two sides' turns makes a round differ by chance, which the correlation of the levels does not show:
        // the degrees of freedom are those of the slowest waves of the series alone.
        moves.error.degrees = moves.error.degrees.min(stats::slow_waves(moves.rounds as usize));
        let at_level: Vec<Vec<(u32, f64)>> = pairs.iter().map(|p| p.ratios.clone()).collect();
        // A state of one side may touch a part of the sizes.
        let local = stats::local(&at_level, |round| levels.get(&round).copied().unwrap_or(0.0));
        let mut shared = Shared { moves, ..Shared::noise_of(&stats::freed(&at_level, &local)) };
        moves.error = with_own_states(moves.error, &pairs, &shared);
        shared.moves = moves;

        let mut found: Vec<Found> =
            pairs.iter().zip(&local).map(|(p, local)| at_size(p, &shared, local.as_ref())).collect();
        let whole = over_all(&found, &pairs, &shared, &wholes);
        if let Some(level) = whole.interval {
            let alike = |f: &Found| f.interval.is_some_and(|i| i.contains(whole.ln.exp()));
            for f in found.iter_mut() {
                // What chance does to all sizes it does to each that says no more than they.
                if whole.chance >= LEVEL && alike(f) {
                    f.chance = f.chance.max(whole.chance);
                }
                // What is not known of the level is not known of any size.
                f.interval = f.interval.map(|i| stats::Interval {
                    low: i.low.min((f.ln - whole.ln).exp() * level.low),
                    high: i.high.max((f.ln - whole.ln).exp() * level.high),
                });
            }
        }
        let probabilities = holm(&found.iter().map(Found::probability).collect::<Vec<_>>());
        let sizes: Vec<Compared> = (pairs.iter().zip(&found).zip(probabilities))
            .map(|((p, f), probability)| Compared {
                size: p.first.size,
                first: p.first.seconds,
                second: p.second.seconds,
                ratio: f.estimate(),
                effect: if shared.sigma > NOTHING { f.ln / shared.sigma } else { 0.0 },
                probability,
                significant: probability < LEVEL,
                by_order: f.by_order(),
                first_interpolated: false,
                second_interpolated: false,
            })
            .collect();
        let of_sizes: Vec<f64> = found.iter().filter_map(Found::finds).collect();
        // Sizes that one round visited give no level, but that round was seen.
        let rounds = if moves.rounds == 0 { wholes.len() as u32 } else { moves.rounds };
        let paired = Paired {
            rounds,
            differs: whole.differs(),
            finds: whole.finds(),
            finds_at_a_size: (!of_sizes.is_empty()).then(|| median(&of_sizes)),
        };
        let stretches = stretches::stretches(&sizes);
        let crossovers = stretches::crossovers(&sizes, &stretches);
        let compared = Self {
            left_out,
            unvisited,
            machine: Vec::new(),
            drift: None,
            disturbed: None,
            between: None,
            few_rounds: moves.few().then_some(rounds),
            seen: whole.interval.is_none().then_some(seen),
            paired: Some(paired),
            whole: whole.estimate(),
            throughput: throughput(&pairs, &found, &shared),
            sizes,
            stretches,
            crossovers,
        };
        Some(compared.beyond_the_clock(&[first], &[second]))
    }
}

fn usable(curve: &[CurvePoint]) -> impl Iterator<Item = &CurvePoint> {
    curve.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite())
}

/// Second over first in each round that both have.
fn ratios(first: &CurvePoint, second: &CurvePoint) -> Vec<(u32, f64)> {
    let good = |p: &CurvePoint| -> BTreeMap<u32, f64> {
        p.rounds.iter().copied().filter(|(_, t)| *t > 0.0 && t.is_finite()).collect()
    };
    let of_second = good(second);
    good(first).into_iter().filter_map(|(round, t)| Some((round, of_second.get(&round)? / t))).collect()
}

/// Logarithm of the second side over the first in each round: the mean of the middle half of the sizes that it visited, without any notion of
/// what a round usually does. Where the ratio depends on the size, a round of other sizes has another mean: what the sizes that it visited
/// usually have more than all sizes counts as nothing of the round's, as far as it is more than their own noise. It is read from each size
/// and its neighbours, since a size by itself may have been visited in few other rounds.
fn whole_rounds(pairs: &[Pairs<'_>]) -> Vec<f64> {
    let typical: Vec<Option<f64>> = pairs.iter().map(Pairs::typical).collect();
    let near = (typical.len() / NEIGHBOURS).max(1);
    let about = |i: usize| {
        let of: Vec<f64> =
            typical[i.saturating_sub(near)..(i + near + 1).min(typical.len())].iter().flatten().copied().collect();
        if of.is_empty() { 0.0 } else { median(&of) }
    };
    let usual: Vec<f64> = (0..typical.len()).map(about).collect();
    let all = middle_half(usual.clone());
    let off: Vec<f64> = typical.iter().zip(&usual).filter_map(|(typical, usual)| Some((*typical)? - usual)).collect();
    let noise = if off.len() > 1 { variance(&off).sqrt() } else { 0.0 };
    let mut rounds = BTreeMap::<u32, (Vec<f64>, Vec<f64>)>::new();
    for (p, usual) in pairs.iter().zip(usual) {
        for (round, ratio) in &p.ratios {
            let (visited, usually) = rounds.entry(*round).or_default();
            visited.push(ratio.ln());
            usually.push(usual);
        }
    }
    let of_round = |(visited, usually): (Vec<f64>, Vec<f64>)| {
        let noise = SURELY * noise / (visited.len() as f64).sqrt();
        let more = middle_half(usually) - all;
        middle_half(visited) - more.signum() * (more.abs() - noise).max(0.0)
    };
    rounds.into_values().map(of_round).collect()
}

/// What the ratios of all sizes share in each round, as a logarithm about the median round: [`stats::round_levels`] in turns. Over the
/// sizes it is the mean of the middle half, not the median: each size has a round or two that is its own median, at a distance of 0, and
/// with about as many sizes as rounds these would draw the median over the sizes to 0.
fn levels(pairs: &[Pairs<'_>]) -> BTreeMap<u32, f64> {
    let mut levels = BTreeMap::<u32, f64>::new();
    for _ in 0..TURNS {
        let level = |round: u32| levels.get(&round).copied().unwrap_or(0.0);
        let distances = round_distances(pairs.iter().map(|p| p.ratios.as_slice()), level);
        levels = distances.into_iter().map(|(round, d)| (round, middle_half(d))).collect();
        let middle = if levels.is_empty() { 0.0 } else { median(&levels.values().copied().collect::<Vec<_>>()) };
        levels.values_mut().for_each(|level| *level -= middle);
    }
    levels
}

/// Clamps levels beyond [`FAR`]. A state that changed between the two turns of a round sets that round apart, up or down as likely, since
/// which side goes first is random: clamping both alike leaves the middle where it is. Rounds next to each other that lie far off on one
/// side are no such change, but a state of one side that lasts: they count as they are.
fn drawn_in(levels: &[f64]) -> Vec<f64> {
    let mut off: Vec<f64> = levels.iter().map(|l| l.abs()).collect();
    off.sort_unstable_by(f64::total_cmp);
    let typical = off.get(levels.len() * 3 / 4).map_or(0.0, |off| off / 1.15);
    let most = FAR * typical;
    let side = |i: Option<usize>| i.and_then(|i| levels.get(i)).filter(|l| l.abs() > most).map(|l| l.signum());
    let alike = |i: usize| [i.checked_sub(1), Some(i + 1)].into_iter().any(|near| side(near) == side(Some(i)));
    levels.iter().enumerate().map(|(i, l)| if alike(i) { *l } else { l.clamp(-most, most) }).collect()
}

/// Mean of the middle half of the values, at least one.
fn middle_half(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let quarter = (values.len() / 4).min(values.len().saturating_sub(1) / 2);
    mean(&values[quarter..values.len() - quarter])
}

/// The ratio at one size: the median of its rounds, all at one level.
fn at_size(pairs: &Pairs<'_>, shared: &Shared, local: Option<&Local>) -> Found {
    let rounds: Vec<f64> = pairs.ratios.iter().map(|(_, ratio)| *ratio).collect();
    if rounds.is_empty() {
        // Sides without a common round have a ratio of which the error is unknown.
        let ln = (pairs.second.seconds / pairs.first.seconds).ln();
        return Found { ln, shift: 0.0, error: None, interval: None, rounds: 0, chance: 1.0 };
    }
    let moves = &shared.moves;
    let (own, interval) = match local {
        Some(local) => (local.error(&pairs.ratios, shared), local.interval(&pairs.ratios, shared, CONFIDENCE)),
        None => (own_error(&rounds, shared), point_interval(&rounds, shared, CONFIDENCE)),
    };
    let error = own.map(|own| {
        StandardError::of_sum(&[(own.value.powi(2), own.degrees), (moves.error.value.powi(2), moves.error.degrees)])
    });
    // Of an even number of rounds the middle of two is that of their logarithms, so that both sides see the same.
    let ln = median(&rounds.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>());
    Found { ln, shift: moves.mean, error, interval, rounds: rounds.len(), chance: by_chance(rounds.len(), ln) }
}

/// The error of the level, with what the sizes' own states add to it where these last. They move the levels of the rounds as well, but few
/// rounds estimate the correlation of neighbouring levels poorly, and all sizes together estimate it better: the mean over the sizes errs
/// by as much more as their medians do than those of independent rounds.
fn with_own_states(level: StandardError, pairs: &[Pairs<'_>], shared: &Shared) -> StandardError {
    if shared.lasting <= 1.0 {
        return level;
    }
    let rounds = |p: &Pairs<'_>| p.ratios.iter().map(|(_, ratio)| *ratio).collect::<Vec<f64>>();
    let squares: Vec<f64> = pairs.iter().filter_map(|p| Some(own_error(&rounds(p), shared)?.value.powi(2))).collect();
    // Sizes of which no two rounds are known say nothing of their own states.
    if squares.is_empty() {
        return level;
    }
    let mean = (OF_MIDDLE_HALF / squares.len() as f64).powi(2) * squares.iter().sum::<f64>();
    let added = mean * (1.0 - shared.lasting.powi(-2));
    // How long states last is known no better than the number of rounds allows.
    StandardError::of_sum(&[(level.value.powi(2), level.degrees), (added, f64::from(shared.moves.rounds))])
}

/// The ratio of the curves as wholes: the mean of the middle half of the sizes. Its error is that of the level, which all sizes' noise is in.
fn over_all(sizes: &[Found], pairs: &[Pairs<'_>], shared: &Shared, rounds: &[f64]) -> Found {
    let moves = &shared.moves;
    let ln = middle_half(sizes.iter().map(|f| f.ln).collect());
    let known = !moves.few() && !moves.slow(shared.sigma);
    let interval = known.then(|| {
        let ends = moves.held(1.0, 0.0, moves.error.reach(CONFIDENCE));
        let Chosen { off, least, most } = chosen(sizes, pairs);
        // The level's error is that of all sizes alike: what single sizes do beside it is independent of it.
        let (least, most) = (least - off, most - off);
        let (low, high) = (-ends.0.hypot(most) - off.max(0.0), ends.1.hypot(least) - off.min(0.0));
        stats::Interval { low: (ln + low).exp(), high: (ln + high).exp() }
    });
    // Of rounds in two states alone the order statistics between two of them know nothing: the count of rounds does.
    let (slower, faster) =
        (rounds.iter().filter(|r| **r > NOTHING).count(), rounds.iter().filter(|r| **r < -NOTHING).count());
    let chance = if ln.abs() < STATES { one_way(slower + faster, slower.max(faster)) } else { 0.0 };
    Found { ln, shift: moves.mean, error: Some(moves.error), interval, rounds: moves.rounds as usize, chance }
}

/// What noise does to the mean of the middle half, as logarithms: how far it moves it on average, where that is sure, and from where to where
/// in 19 of 20 cases.
struct Chosen {
    off: f64,
    least: f64,
    most: f64,
}

/// How far the mean of the middle half lies off, as a logarithm, because noise chooses which sizes are in it. Where the ratio has one value at
/// some sizes and another at the rest, of which one are noisier, the half has the upper end of the one and the lower end of the others. The
/// sizes' ratios as their neighbours have them stand for the truth, and each size's own error, at the level of its rounds, is drawn about it.
fn chosen(sizes: &[Found], pairs: &[Pairs<'_>]) -> Chosen {
    let near = (sizes.len() / NEIGHBOURS).max(1);
    let around = |i: usize| i.saturating_sub(near)..(i + near + 1).min(sizes.len());
    let truth: Vec<f64> =
        (0..sizes.len()).map(|i| median(&sizes[around(i)].iter().map(|f| f.ln).collect::<Vec<_>>())).collect();
    // Of each size by itself and its neighbours: pooled over all, the noisy ones would seem quieter than they are.
    // By the median distance, since a median is no farther off for a few rounds that lie far away.
    let spread = |p: &Pairs<'_>| {
        let rounds: Vec<f64> = p.ratios.iter().map(|(_, ratio)| ratio.ln()).collect();
        let middle = if rounds.is_empty() { f64::NAN } else { median(&rounds) };
        let apart: Vec<f64> = rounds.iter().map(|r| (r - middle).abs()).collect();
        if apart.len() > 1 { (OF_DISTANCE * median(&apart)).powi(2) } else { f64::NAN }
    };
    let spreads: Vec<f64> = pairs.iter().map(spread).collect();
    let error = |i: usize| (OF_MEDIAN * mean(&spreads[around(i)]) / pairs[i].ratios.len().max(1) as f64).sqrt();
    let errors: Vec<f64> = (0..pairs.len()).map(error).map(|e| if e.is_finite() { e } else { 0.0 }).collect();
    let all = middle_half(truth.clone());
    let mut rng = ChaCha8Rng::seed_from_u64(sizes.len() as u64);
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    // Each draw and its mirror image, so that sides change places without another answer.
    let mut draws: Vec<f64> = Vec::with_capacity(2 * DRAWS);
    for _ in 0..DRAWS {
        let noise: Vec<f64> = errors.iter().map(|e| e * normal()).collect();
        let drawn = |sign: f64| middle_half(truth.iter().zip(&noise).map(|(t, e)| t + sign * e).collect()) - all;
        draws.extend([drawn(1.0), drawn(-1.0)]);
    }
    let (off, error) = (mean(&draws), StandardError::of_mean(&draws).value);
    let off = if off.abs() > SURELY * error { off } else { 0.0 };
    draws.sort_unstable_by(f64::total_cmp);
    let outer = DRAWS / 20;
    Chosen { off, least: draws[outer], most: draws[2 * DRAWS - 1 - outer] }
}

/// The highest throughput of the second side over that of the first, each at the size where the summary has it.
fn throughput(pairs: &[Pairs<'_>], found: &[Found], shared: &Shared) -> Option<Estimate> {
    let top = |of: fn(&Pairs<'_>) -> CurvePoint| -> Option<usize> {
        let size = headline_size(&pairs.iter().map(of).collect::<Vec<_>>())?;
        pairs.iter().position(|p| p.first.size == size)
    };
    let (a, b) = (top(|p| p.first.clone())?, top(|p| p.second.clone())?);
    // The second side's top over the first side's at the same size, as the rounds pair them, and the first side's own ratio of the two
    // sizes, which its states leave as it is. Each side's own medians may be of two states.
    let ln = (pairs[b].first.throughput / pairs[a].first.throughput).ln() - found[b].ln;
    let (Some(at_a), Some(at_b)) = (found[a].error, found[b].error) else {
        return Some(Estimate::unbounded(ln.exp()));
    };
    if found[a].interval.is_none() || found[b].interval.is_none() {
        return Some(Estimate::unbounded(ln.exp()));
    }
    let error = match a == b {
        true => at_a,
        // The tops lie at two sizes, and no round pairs them: both sizes' errors count.
        false => StandardError::of_sum(&[(at_a.value.powi(2), at_a.degrees), (at_b.value.powi(2), at_b.degrees)]),
    };
    let reach = error.reach(CONFIDENCE);
    let own = (error.value.powi(2) - shared.moves.error.value.powi(2)).max(0.0).sqrt();
    let own = StandardError { value: own, ..error }.reach(CONFIDENCE);
    // A higher level of time is a lower throughput.
    let (low, high) = shared.moves.held(-1.0, own, reach);
    Some(Estimate::new(ln.exp(), (ln + low).exp(), (ln + high).exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_which_nothing_is_known_add_nothing_to_the_levels_error() {
        let level = StandardError::of_sum(&[(0.01, 9.0)]);
        let shared = Shared { lasting: 2.0, ..Shared::default() };
        let with = with_own_states(level, &[], &shared);
        assert_eq!((with.value, with.degrees), (level.value, level.degrees));
    }
}
