//! One round of trials: which sizes, in which order, how long each, and when a point is known well enough.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::SessionError;
use crate::amounts::{MIDDLING, rounds};
use crate::event::Why;
use crate::figures::Common;
use crate::path::{LONG, LONGER, PathRun, Point};
use crate::settled;
use crate::teller::RunError;

/// Share of a round that the larger sizes may take. The others may take as much where their trials cost that: many short rounds tell
/// more than a few long ones.
const SHARE: f64 = 0.65;

/// Rounds that visit each size, where the time allows it.
const VISITS: f64 = 8.0;

/// Rounds that should visit a size at least: below four there is no interval, and a plan may fall short by a trial.
const FEWEST_VISITS: f64 = 5.0;

/// The same of several sides on a machine that is too busy for all sizes: below six rounds there is hardly a verdict, and a plan may fall short by some.
const VISITS_OF_SIDES: f64 = 11.0;
const FEWEST_OF_SIDES: f64 = 9.0;

/// While more than this share of the rounds is still to come, it may be decided which sizes are measured.
const DECIDED: f64 = 0.75;

/// At least one of so many successive sizes is measured, however little time there is.
const THINNEST: usize = 16;

/// Length of the next round, and how many rounds there will be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Round {
    /// Seconds that it may take.
    pub(crate) time: f64,
    /// Rounds of the run: those that are over and those that the rest of the budget allows.
    pub(crate) rounds: u32,
    /// Rounds that are still to come, this one included.
    pub(crate) still: f64,
}

/// A round takes at least so many times its opening, and has room for so many trials, where that leaves enough rounds.
const OPENINGS: f64 = 3.0;
const TRIALS: f64 = 10.0;

/// Trials get this share of a round's time even where opening it took all: a stall that no earlier round had foretold.
const TIMED: f64 = 0.25;

/// The same where it would leave fewer rounds than an interval takes, or than a verdict on several sides does.
const LEAST_OPENINGS: f64 = 1.5;
const FEWEST_ROUNDS: [f64; 2] = [5.0, 9.0];

/// A trial that is to be long is worked up to: by warm-ups of so many times the iterations of the longest trial so far, each at most a part of
/// what is to come, so that all of them are less than a third of it. What is left is a trial of less than `STEP * PART` times the longest so far.
const STEP: u64 = 10;
const PART: u64 = 4;

/// The round of this `number` of all `sides`, where `planned` were planned: fewer and longer ones where opening them would take most of the time.
pub(crate) fn next(sides: &[PathRun<'_>], number: u32, planned: u32) -> Round {
    let left = sides.iter().map(PathRun::left).fold(f64::INFINITY, f64::min);
    let over = sides.iter().map(|side| side.overhead).fold(0.0, f64::max);
    let fit = |seconds: f64| left / seconds.max(f64::MIN_POSITIVE);
    let opening = opening(sides);
    let fewest = (FEWEST_ROUNDS[usize::from(sides.len() > 1)] - f64::from(number.saturating_sub(1))).max(1.0);
    let most = fit((OPENINGS * opening).max(opening + TRIALS * over)).max(fewest.min(fit(LEAST_OPENINGS * opening)));
    let still = f64::from((planned + 1).saturating_sub(number)).min(most.floor()).max(1.0);
    Round { time: left / still, rounds: number.saturating_sub(1) + still as u32, still }
}

/// Seconds that a round takes to open on the slowest side.
fn opening(sides: &[PathRun<'_>]) -> f64 {
    sides.iter().map(|side| side.opening).fold(0.0, f64::max)
}

/// The unsettled sizes that the next round visits, in random order: the same for all `sides`, which take turns in it. Up to 64 KiB that is
/// all of them, where their trials cost no more than [`SHARE`] of the round's `time`; on a busy machine a trial takes milliseconds to
/// begin. A size that does not fit, as most larger ones, gets a share of each round's time and is visited when its shares add up to the
/// cost of a trial on the slowest side: the largest sizes in every third or fourth round, each in other rounds. Where there is no time for
/// [`VISITS`] rounds of each, fewer sizes are measured ([`thinned`]), unless they were named: on a machine whose CPUs others hold, rounds
/// take twice what was planned, and most large sizes would end without an interval.
pub(crate) fn order(sides: &mut [PathRun<'_>], Round { time, rounds, still }: Round, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let Some(first) = sides.first() else { return Vec::new() };
    let open = first.points.keys().copied().filter(|size| sides.iter().all(|side| side.wants(*size)));
    let named = first.plan.sizes.is_some();
    let (mut order, mut large): (Vec<u64>, Vec<u64>) = open.partition(|s| *s <= MIDDLING);
    if first.plan.trials.is_some() {
        order.extend(large);
    } else {
        let time = (time - opening(sides)).max(0.0);
        let costs = |of: &[u64]| -> Vec<f64> {
            let least = |size: &u64| sides.iter().map(|side| side.least(*size)).fold(0.0, f64::max);
            of.iter().map(least).collect()
        };
        let (mut small_costs, mut large_costs) = (costs(&order), costs(&large));
        let small = small_costs.iter().sum::<f64>();
        let (for_small, mut for_large) = split(small, large_costs.iter().sum(), time, rounds);
        // Decided early: a size that is added late ends with a round or two, and the rounds of one left out late are wasted. But where all
        // others are settled, the rest of the time is for those that were left out.
        let others_settled = order.iter().chain(&large).all(|size| left_out(sides, size));
        if !named && (others_settled || still > DECIDED * f64::from(rounds)) {
            // Of the sizes up to 64 KiB the smallest must be kept: it stands last here.
            let (small, costs): (Vec<u64>, Vec<f64>) =
                order.iter().copied().zip(small_costs.iter().copied()).rev().unzip();
            leave_out(sides, &small, &costs, for_small * still, still);
            // The time of those left out goes to the larger ones.
            if small.iter().any(|size| left_out(sides, size)) {
                let kept = small.iter().zip(&costs).filter(|(size, _)| !left_out(sides, size)).map(|(_, cost)| cost);
                for_large = for_large.max(time - kept.sum::<f64>().min(for_small));
            }
            leave_out(sides, &large, &large_costs, for_large * still, still);
        }
        let kept = |sizes: Vec<u64>, costs: Vec<f64>, sides: &[PathRun<'_>]| -> (Vec<u64>, Vec<f64>) {
            sizes.into_iter().zip(costs).filter(|(size, _)| !left_out(sides, size)).unzip()
        };
        (large, large_costs) = kept(large, large_costs, sides);
        (order, small_costs) = kept(order, small_costs, sides);
        if small_costs.iter().sum::<f64>() > for_small * (1.0 + 1e-9) {
            let shares = shares(&small_costs, for_small, rounds);
            order = due(sides, &order, &small_costs, &shares, rng);
        }
        let shares = shares(&large_costs, for_large, rounds);
        order.extend(due(sides, &large, &large_costs, &shares, rng));
    }
    order.shuffle(rng);
    order
}

/// Whether any size is still to be measured on all sides.
pub(crate) fn open(sides: &[PathRun<'_>]) -> bool {
    sides.first().is_some_and(|first| first.points.keys().any(|size| sides.iter().all(|side| side.wants(*size))))
}

/// Decides which of `sizes` are left out of the `still` rounds to come, so that the others get their visits within `time` seconds. The last
/// of them is kept before all others. `costs` has the seconds of a trial of each.
fn leave_out(sides: &mut [PathRun<'_>], sizes: &[u64], costs: &[f64], time: f64, still: f64) {
    let several = sides.len() > 1 && sides.iter().any(|side| side.thinned);
    let (most, fewest) = if several { (VISITS_OF_SIDES, FEWEST_OF_SIDES) } else { (VISITS, FEWEST_VISITS) };
    let needed = |visits: f64| -> Vec<f64> {
        let missing = |size: &u64| sides.iter().map(|side| side.missing_visits(*size, visits)).fold(0.0, f64::max);
        sizes.iter().zip(costs).map(|(size, cost)| cost * missing(size).min(still)).collect()
    };
    let time = time * (1.0 + 1e-9);
    // Where even the fewest sizes can't get all of their visits, they get fewer; at the least the last size is kept.
    let kept = thinned(&needed(most), time).or_else(|| thinned(&needed(fewest), time));
    let kept = kept.unwrap_or_else(|| vec![sizes.len().saturating_sub(1)]);
    for (i, size) in sizes.iter().enumerate() {
        let point = sides.first_mut().and_then(|side| side.points.get_mut(size));
        point.into_iter().for_each(|point| point.left_out = kept.binary_search(&i).is_err());
    }
}

/// Whether a size is not measured, as there is too little time for all.
fn left_out(sides: &[PathRun<'_>], size: &u64) -> bool {
    sides.first().and_then(|side| side.points.get(size)).is_some_and(|point| point.left_out)
}

/// Seconds of a round's `time` for the sizes up to 64 KiB and for the larger ones, where one trial of each comes to `small` and `large`
/// seconds: what lets [`VISITS`] and [`FEWEST_VISITS`] of all `rounds` visit them comes first, or as much of it as fits.
fn split(small: f64, large: f64, time: f64, rounds: u32) -> (f64, f64) {
    if small <= 0.0 || large <= 0.0 {
        return (time, time);
    }
    let needed = [small * VISITS, large * FEWEST_VISITS].map(|cost| cost / f64::from(rounds.max(1)));
    // Sizes too large for the budget must not take it from the others.
    let needed = [needed[0].min(time), needed[1].min(time * SHARE)];
    let fit = (time / (needed[0] + needed[1])).min(1.0);
    let [least_small, least_large] = needed.map(|seconds| seconds * fit);
    let for_small = small.min(time * SHARE).max(least_small).min(time - least_large);
    (for_small, (time - for_small).min(time * SHARE).max(least_large))
}

/// Indices of the sizes that are measured, ascending, so that all of these get their visits within `time` seconds. `needed` has the seconds
/// that each size's missing visits cost. The last is taken first, then every 16th, every 8th and so on, so that with less time sizes are
/// left out but none is exchanged. None where there is too little time for every 16th.
fn thinned(needed: &[f64], time: f64) -> Option<Vec<usize>> {
    let step =
        |from_last: usize| if from_last == 0 { THINNEST } else { (1 << from_last.trailing_zeros()).min(THINNEST) };
    let mut first: Vec<usize> = (0..needed.len()).rev().collect();
    first.sort_by_key(|i| std::cmp::Reverse(step(needed.len() - 1 - i)));
    let (mut kept, mut spent) = (Vec::new(), 0.0);
    for i in first {
        spent += needed[i];
        if spent > time {
            if step(needed.len() - 1 - i) == THINNEST {
                return None;
            }
            break;
        }
        kept.push(i);
    }
    kept.sort_unstable();
    Some(kept)
}

/// Which of `sizes` have saved up the cost of a trial, now that each has got its share of the round (seconds). What is saved is kept at the
/// first side.
fn due(sides: &mut [PathRun<'_>], sizes: &[u64], costs: &[f64], shares: &[f64], rng: &mut ChaCha8Rng) -> Vec<u64> {
    let mut due = Vec::new();
    for ((&size, cost), share) in sizes.iter().zip(costs).zip(shares) {
        let Some(point) = sides.first_mut().and_then(|side| side.points.get_mut(&size)) else { continue };
        // The first round of a size is random, so that not all of them fall into one round.
        let saved = point.saved.unwrap_or_else(|| cost * rng.random::<f64>()) + share;
        let ready = saved >= cost * (1.0 - 1e-9);
        point.saved = Some(if ready { saved - cost } else { saved });
        if ready {
            due.push(size);
        }
    }
    due
}

/// Ends the points that all `sides` know well enough, and updates how uncertain the others are. Sides end a point together: a round of one
/// side only has no neighbour to compare it with. An error comes with the number of its side.
pub(crate) fn settle(sides: &mut [PathRun<'_>], round: u32) -> Result<(), (usize, RunError)> {
    let told: Vec<(Common, Vec<u64>)> = sides.iter_mut().map(PathRun::known).collect();
    for (number, (side, (common, known))) in sides.iter_mut().zip(&told).enumerate() {
        for size in known.iter().filter(|size| told.iter().all(|(_, known)| known.contains(size))) {
            side.end_point(*size, Why::Precision, common).map_err(|e| (number, e))?;
        }
    }
    let done = sides.iter().any(|side| !side.wants_more(round));
    sides.iter_mut().for_each(|side| side.done = done);
    Ok(())
}

impl PathRun<'_> {
    /// One round: every size of `order`, within `time` seconds.
    pub fn round(&mut self, round: u32, time: f64, order: &[u64], stop: &AtomicBool) -> Result<(), RunError> {
        let begin = self.session.now();
        self.open(round, order.len() as u32)?;
        if !self.plan.scheduled() {
            self.warm_up(round, MIDDLING, time)?;
        }
        let used = (self.session.now() - begin) as f64 * 1e-9;
        self.opened(used);
        // Trials of a few iterations would tell a moment's speed.
        let slice = self.slice(order, (time - used).max(time * TIMED));
        for &size in order {
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Session { path: self.name.clone(), source: SessionError::Interrupted });
            }
            if size > self.ceiling {
                continue;
            }
            let n = self.repeats(size, slice * self.weight(size));
            let n = self.tried(size, n, round)?;
            self.trial(size, n, round, false)?;
            let spent = (self.session.now() - begin) as f64 * 1e-9;
            if self.plan.trials.is_none() && spent > time * 1.5 && self.spent + spent > self.plan.budget {
                break;
            }
        }
        self.note_taken(round)?;
        self.unload();
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// Iterations for a first long trial of a size: `repeats`, or fewer where longer and longer warm-ups find that they would take far longer
    /// than the typical iteration tells. Where other programs hold the CPUs, a side that spins waits for the other to get one, now and
    /// then for as long as ten thousand round trips: trials of milliseconds may all fall between two waits.
    fn tried(&mut self, size: u64, mut repeats: u64, round: u32) -> Result<u64, RunError> {
        let plan = self.plan;
        let asked = plan.repeats.is_some() || plan.rate.is_some() || plan.offered.is_some();
        let takes = repeats as f64 * self.estimate(size);
        // Members end a trial together when it takes too long.
        if asked || plan.pattern.facts().together || takes <= LONG {
            return Ok(repeats);
        }
        let made = |p: &Point| p.trials.iter().map(|t| t.report.repeats).max();
        let mut known = self.points.get(&size).and_then(made).unwrap_or(0);
        loop {
            known = known.max(1).saturating_mul(STEP);
            if known > repeats / PART {
                return Ok(repeats);
            }
            self.trial(size, known, round, true)?;
            let Some(last) = self.points.get(&size).and_then(|p| p.trials.last()) else { return Ok(repeats) };
            let each = last.report.seconds.max(last.report.far.seconds) / last.report.repeats.max(1) as f64;
            repeats = repeats.min((LONGER * takes / each.max(f64::MIN_POSITIVE)) as u64).max(self.fewest(size));
        }
    }

    /// Ends the load of this path, since another path may have the next turn.
    pub(crate) fn unload(&mut self) {
        if self.plan.load(self.number).is_some() {
            self.session.rest();
        }
    }

    /// Whether a size is still to be measured.
    fn wants(&self, size: u64) -> bool {
        size <= self.ceiling && self.points.get(&size).is_some_and(|p| p.ended.is_none())
    }

    /// Rounds that a size still lacks to `visits`.
    fn missing_visits(&self, size: u64, visits: f64) -> f64 {
        let made = self.points.get(&size).map_or(0, |p| p.trials.iter().filter(|t| !t.warmup).count());
        (visits - made as f64).max(0.0)
    }

    /// Seconds that the shortest trial of a size takes.
    fn least(&self, size: u64) -> f64 {
        // A trial warms up with one iteration.
        (self.fewest(size) + 1) as f64 * self.costs(size) + self.overhead
    }

    /// Weight of a point when time is divided: the more uncertain, the more.
    pub(crate) fn weight(&self, size: u64) -> f64 {
        let width = self.points.get(&size).map_or(0.0, |p| p.width);
        if width <= 0.0 { 1.0 } else { (width / self.plan.precision).sqrt().clamp(0.5, 3.0) }
    }

    /// Seconds for a trial of weight 1, so that all of `order` fit into `time`.
    pub(crate) fn slice(&self, order: &[u64], time: f64) -> f64 {
        let cost = |slice: f64| -> f64 {
            order
                .iter()
                .map(|&s| {
                    let timed = (slice * self.weight(s)).max(self.fewest(s) as f64 * self.takes(s));
                    let longer = self.costs(s) / self.takes(s).max(f64::MIN_POSITIVE);
                    (timed * 1.05 + self.beside() * self.takes(s)) * longer.max(1.0) + self.overhead
                })
                .sum()
        };
        let (mut low, mut high) = (0.0, time.max(1e-6));
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if cost(middle) > time { high = middle } else { low = middle }
        }
        low
    }

    /// Which of the open points are known well enough, now and after the round before; updates how uncertain all are.
    fn known(&mut self) -> (Common, Vec<u64>) {
        let open: Vec<u64> = self.points.iter().filter(|(_, p)| p.ended.is_none()).map(|(s, _)| *s).collect();
        let common = self.common();
        let mut known = Vec::new();
        for size in open {
            let Some(f) = self.figures(size, &common) else { continue };
            let width = f.reach();
            let narrow = settled::known(&f, self.plan.precision);
            let Some(p) = self.points.get_mut(&size) else { continue };
            p.width = width;
            p.known_from = if narrow { Some(p.known_from.unwrap_or(f.rounds)) } else { None };
            if self.plan.trials.is_none() && p.known_from.is_some_and(|from| f.rounds > from) {
                known.push(size);
            }
        }
        (common, known)
    }

    /// Whether another round is worth its time.
    fn wants_more(&self, round: u32) -> bool {
        let open = self.points.values().any(|p| p.ended.is_none());
        match self.plan.trials {
            Some(n) => round < n,
            // Less time than this does not make a round: it would visit few sizes.
            None => {
                open && self.left() > (0.4 * self.plan.budget / f64::from(rounds(self.plan))).max(2.0 * self.opening)
            }
        }
    }
}

/// Seconds of a round's `total` that each size gets: first what gives all of them the same number of visits, [`VISITS`] or as many as the
/// time allows, then equal shares of the rest, none more than a trial costs.
fn shares(costs: &[f64], total: f64, rounds: u32) -> Vec<f64> {
    let all: f64 = costs.iter().sum();
    let visits = (VISITS / f64::from(rounds.max(1))).min(total.max(0.0) / all.max(f64::MIN_POSITIVE)).min(1.0);
    let rest: Vec<f64> = costs.iter().map(|cost| cost * (1.0 - visits)).collect();
    let share = level(&rest, total - visits * all);
    costs.iter().zip(rest).map(|(cost, rest)| cost * visits + share.min(rest)).collect()
}

/// The equal share that uses up `total` when no size takes more than its cost; infinite where all costs together are no more.
fn level(costs: &[f64], total: f64) -> f64 {
    let mut ascending = costs.to_vec();
    ascending.sort_by(f64::total_cmp);
    let mut left = total;
    for (i, cost) in ascending.iter().enumerate() {
        let share = left / (ascending.len() - i) as f64;
        if share < *cost {
            return share.max(0.0);
        }
        left -= cost;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_to_the_total_and_nothing_takes_more_than_it_costs() {
        let costs = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(level(&costs, 15.0), f64::INFINITY);
        assert_eq!(level(&costs, 11.0), 4.0);
        assert_eq!(level(&costs, 9.0), 3.0);
        assert_eq!(level(&costs, 2.0), 0.5);
        assert_eq!((level(&[], 1.0), level(&costs, -1.0)), (f64::INFINITY, 0.0));
    }

    #[test]
    fn a_round_is_split_so_that_all_sizes_get_intervals() {
        assert_eq!(split(0.1, 9.0, 1.0, 30), (0.1, 0.65), "small sizes that cost little are all visited");
        assert_eq!((split(0.0, 9.0, 1.0, 30), split(9.0, 0.0, 1.0, 30)), ((1.0, 1.0), (1.0, 1.0)));
        let (small, large) = split(3.0, 0.6, 1.0, 30);
        assert!((small - 0.8).abs() < 1e-9 && (large - 0.2).abs() < 1e-9, "eight visits first: {small} {large}");
        let (small, large) = split(30.0, 60.0, 1.0, 30);
        assert!((small / large - 1.0 / SHARE).abs() < 1e-9 && (small + large - 1.0).abs() < 1e-9, "{small} {large}");
    }

    #[test]
    fn fewer_large_sizes_are_measured_where_all_would_end_without_an_interval() {
        let needed = [1.0, 2.0, 3.0, 4.0, 5.0];
        let of = |time| thinned(&needed, time);
        assert_eq!(of(15.0), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!((of(14.0), of(9.0)), (Some(vec![0, 2, 3, 4]), Some(vec![0, 2, 4])));
        assert_eq!((of(8.0), of(5.0), of(4.9)), (Some(vec![0, 4]), Some(vec![4]), None));
        assert_eq!((thinned(&[], 1.0), thinned(&[0.0; 3], 0.0)), (Some(vec![]), Some(vec![0, 1, 2])));
        assert_eq!((thinned(&[1.0; 40], 3.0), thinned(&[1.0; 40], 2.9)), (Some(vec![7, 23, 39]), None));
    }

    #[test]
    fn large_sizes_are_visited_alike_before_any_gets_more() {
        let costs = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(shares(&costs, 3.0, 30), costs.map(|c| c * 0.2), "too little for eight visits: the same for all");
        let found = shares(&costs, 7.0, 32);
        assert!((found.iter().sum::<f64>() - 7.0).abs() < 1e-9 && found[3] >= 2.0 && found[0] == 1.0, "{found:?}");
        assert_eq!(shares(&costs, 99.0, 30), costs);
        assert!(shares(&[], 1.0, 30).is_empty() && shares(&costs, -1.0, 0).iter().all(|s| *s <= 0.0));
    }
}
