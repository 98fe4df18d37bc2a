//! What the points of a path have in common: the noise of a round, the machine's states that their trials met, the clock.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use stats::{Levels, Local, Moves, Shared};
use transport::Name;

use super::{by_round, typical};
use crate::event::{Calibration, Plan, Schedule, Trial};

/// What the points of a path have in common. Only rounds count for it, not the short trials of the survey and of warming up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Common {
    /// Noise of a round about its level, and how the rounds' levels moved.
    pub shared: Shared,
    /// The clock's cost and resolution.
    pub clock: Calibration,
    /// State of each trial's moment less its round's level, as a logarithm, by (bits of its time, size).
    within: Vec<((u64, u64), f64)>,
    /// Level of each round, as a logarithm.
    rounds: BTreeMap<u32, f64>,
    /// Rounds of so few sizes that they show no level of the machine.
    thin: Vec<u32>,
    /// By size: a state that it shares with its neighbours and not with the whole curve.
    local: BTreeMap<u64, Local>,
    /// By size: how far each of its trials lay off their median, as a logarithm, with the machine's states in it.
    off: BTreeMap<u64, Vec<f64>>,
    /// So few rounds may all be of one of two states ([`stats::in_two_groups`]).
    split: bool,
}

/// A round shows the machine's level where it visited at least this share of the sizes that the median round did: two sizes of a hundred
/// may have levels of their own.
const TELLS: f64 = 0.2;

/// Sizes on either side of one that count as near it.
const NEARBY: usize = 4;

/// What is used of a trial that is no warm-up.
struct Seen {
    size: u64,
    round: u32,
    at: f64,
    seconds: f64,
}

impl Common {
    /// From all trials of a path, a slice a size, and the clock's calibration. Each slice is read once.
    pub fn of<T: Borrow<[Trial]>>(
        plan: &Plan,
        kind: Name,
        clock: Calibration,
        points: impl Iterator<Item = T>,
    ) -> Self {
        let (mut seen, mut sizes) = (Vec::new(), Vec::new());
        for point in points {
            let mut counted = point.borrow().iter().filter(|t| !t.warmup).peekable();
            sizes.extend(counted.peek().map(|t| t.size));
            let one =
                |t: &Trial| Some(Seen { size: t.size, round: t.round, at: t.at, seconds: typical(plan, kind, t)? });
            seen.extend(counted.filter_map(one));
        }
        sizes.sort_unstable();
        seen.sort_by_key(|t| t.size);
        let clock = clock.of_path(kind);
        let untold = Self { clock, ..Self::default() };
        match plan.schedule {
            // Trials of one number at two sizes were not measured at the same moment.
            Schedule::Netpipe => Self { shared: Shared::noise_of(&untold.rounds_of(plan, &sizes, &seen)), ..untold },
            // Nothing else was measured that would tell the machine's states from those of the path: each size keeps its own intervals,
            // however alike neighbours are.
            Schedule::Soak => untold,
            // HINT keeps the best of successive trials, and no state of the machine makes that better than it is.
            Schedule::Hint => {
                let by_point = untold.rounds_of(plan, &sizes, &seen);
                let levels = stats::round_levels(&by_point).into_iter().collect();
                untold.levelled(&sizes, by_point, levels)
            }
            Schedule::Adaptive => {
                let moment = |t: &Seen| stats::Moment { size: t.size, round: t.round, at: t.at, log: t.seconds.ln() };
                let levels = Levels::of(&seen.iter().map(moment).collect::<Vec<_>>());
                let mut within: Vec<_> = seen.iter().map(|t| moment_of(t.at, t.size)).zip(levels.within).collect();
                within.sort_by_key(|(moment, _)| *moment);
                let mut off = BTreeMap::<u64, Vec<f64>>::new();
                seen.iter().for_each(|t| off.entry(t.size).or_default().push(t.seconds.ln()));
                for logs in off.values_mut() {
                    let middle = stats::median(logs);
                    logs.iter_mut().for_each(|log| *log -= middle);
                }
                // A single trial lies off nothing; there may be a million of them.
                off.retain(|_, logs| logs.len() > 1);
                let told = Self { within, off, ..untold };
                let by_point = told.rounds_of(plan, &sizes, &seen);
                // States that last for some trials are taken off single trials, but a round's level is that of the state that most of it
                // met, and so few rounds may all be of one. Shorter states stay in the sizes' rounds, and their intervals know them.
                let split = stats::may_be_of_one(levels.rounds.len()) && {
                    let read = Self { clock, ..Self::default() }.rounds_of(plan, &sizes, &seen);
                    let two = |points| stats::in_two_groups(&by_level(points, &levels.rounds));
                    two(read) && !two(by_point.clone())
                };
                let told = Self { split, ..told };
                drop(seen);
                told.levelled(&sizes, by_point, levels.rounds.into_iter().collect())
            }
        }
    }

    /// The rounds of each size, as [`super::rounds`] has them. What was seen is ascending by size.
    fn rounds_of(&self, plan: &Plan, sizes: &[u64], mut seen: &[Seen]) -> Vec<Vec<(u32, f64)>> {
        let of = |size: &u64| {
            let (these, others) = seen.split_at(seen.partition_point(|t| t.size <= *size));
            seen = others;
            by_round(plan, these.iter().map(|t| (t.round, t.seconds / self.state(t.at, t.size).exp())).collect())
        };
        sizes.iter().map(of).collect()
    }

    fn levelled(mut self, sizes: &[u64], mut points: Vec<Vec<(u32, f64)>>, levels: BTreeMap<u32, f64>) -> Self {
        let mut visits: BTreeMap<u32, f64> = levels.keys().map(|round| (*round, 0.0)).collect();
        for (round, _) in points.iter().flatten() {
            if let Some(n) = visits.get_mut(round) {
                *n += 1.0;
            }
        }
        self.rounds = levels;
        if !visits.is_empty() {
            let middle = stats::median(&visits.values().copied().collect::<Vec<_>>());
            self.thin = visits.into_iter().filter(|(_, n)| *n < TELLS * middle).map(|(round, _)| round).collect();
        }
        // Sizes of one round each show neither noise nor what they share: there may be a million of them.
        if points.iter().all(|rounds| rounds.len() < 2) {
            points.clear();
        }
        points.iter_mut().flatten().for_each(|(round, t)| *t /= self.level(*round).exp());
        let series: Vec<f64> = self.levels().map(|(_, level)| level).collect();
        let local = stats::local(&points, |round| self.level(round));
        let moves = Moves { split: self.split, ..Moves::of(&series) };
        self.shared = Shared { moves, ..Shared::noise_of(&stats::freed(&points, &local)) };
        self.local = sizes.iter().zip(local).filter_map(|(size, local)| Some((*size, local?))).collect();
        self
    }

    /// (number, level) of each round that shows one, as logarithms about the run's middle, in order of time: of all but those that visited
    /// hardly any size.
    pub fn levels(&self) -> impl Iterator<Item = (u32, f64)> {
        let told = |(round, _): &(&u32, &f64)| !self.thin.contains(round);
        self.rounds.iter().filter(told).map(|(round, level)| (*round, *level))
    }

    /// Level of a round, as a logarithm; 0 of one that is not known.
    pub fn level(&self, round: u32) -> f64 {
        self.rounds.get(&round).copied().unwrap_or(0.0)
    }

    /// The state that a size shares with its neighbours and not with the whole curve; none of most.
    pub fn local(&self, size: u64) -> Option<&Local> {
        self.local.get(&size)
    }

    /// The sizes that have such a state, ascending.
    pub fn locals(&self) -> impl Iterator<Item = (u64, &Local)> {
        self.local.iter().map(|(size, local)| (*size, local))
    }

    /// How far the trials of the sizes near this one lay off their sizes' medians, as logarithms, with the machine's states in it.
    pub(super) fn nearby(&self, size: u64) -> Vec<f64> {
        let below = self.off.range(..size).rev().take(NEARBY);
        let above = self.off.range(size + 1..).take(NEARBY);
        below.chain(above).flat_map(|(_, logs)| logs.iter().copied()).collect()
    }

    /// State of a trial's moment less its round's level, as a logarithm; 0 of a trial that is not known.
    pub fn within(&self, trial: &Trial) -> f64 {
        self.state(trial.at, trial.size)
    }

    fn state(&self, at: f64, size: u64) -> f64 {
        let moment = moment_of(at, size);
        self.within.binary_search_by_key(&moment, |(m, _)| *m).map_or(0.0, |i| self.within[i].1)
    }
}

/// Rounds of each size, divided by their round's level.
fn by_level(mut points: Vec<Vec<(u32, f64)>>, levels: &[(u32, f64)]) -> Vec<Vec<(u32, f64)>> {
    let levels: BTreeMap<u32, f64> = levels.iter().copied().collect();
    points.iter_mut().flatten().for_each(|(round, t)| *t /= levels.get(round).copied().unwrap_or(0.0).exp());
    points
}

fn moment_of(at: f64, size: u64) -> (u64, u64) {
    (at.to_bits(), size)
}
