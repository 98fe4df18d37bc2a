//! What the points of a path have in common: the noise of a round, the machine's states that their trials met, the clock.

use std::collections::BTreeMap;

use stats::{Levels, Local, Moves, Shared};
use transport::Name;

use super::{rounds, typical};
use crate::event::{Calibration, Plan, Schedule, Trial};

/// What the points of a path have in common. The short looks of the survey and of warming up say nothing here: only rounds do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Common {
    /// Noise of a round about its level, and how the rounds' levels moved.
    pub shared: Shared,
    /// What the clock that timed them can tell.
    pub clock: Calibration,
    /// How the state of each trial's moment differs from its round's, as a logarithm, by (bits of its time, size).
    within: Vec<((u64, u64), f64)>,
    /// Level of each round, as a logarithm.
    rounds: BTreeMap<u32, f64>,
    /// Rounds of so few sizes that they tell no level of the machine's.
    thin: Vec<u32>,
    /// By size: a state that it shares with its neighbours and not with the whole curve.
    local: BTreeMap<u64, Local>,
    /// By size: how far each of its trials lay off their median, as a logarithm, whatever the machine's state.
    off: BTreeMap<u64, Vec<f64>>,
}

/// A round tells the machine's level where it visited this share of what the middle one did: two sizes of a hundred may have a fate of
/// their own.
const TELLS: f64 = 0.2;

/// Sizes on either side of one that count as near it.
const NEARBY: usize = 4;

impl Common {
    /// From all trials of a path, a slice a size, and what the clock can tell.
    pub fn of<'a>(plan: &Plan, kind: Name, clock: Calibration, points: impl Iterator<Item = &'a [Trial]>) -> Self {
        let mut points: Vec<Vec<&Trial>> = points
            .map(|trials| trials.iter().filter(|t| !t.warmup).collect::<Vec<_>>())
            .filter(|trials| !trials.is_empty())
            .collect();
        points.sort_by_key(|trials| trials[0].size);
        let sizes: Vec<u64> = points.iter().map(|trials| trials[0].size).collect();
        let untold = Self { clock, ..Self::default() };
        match plan.schedule {
            // The third trial of one size is no moment that it has in common with the third of another.
            Schedule::Netpipe => {
                let by_point: Vec<_> = points.iter().map(|p| rounds(plan, kind, p, &untold)).collect();
                Self { shared: Shared::noise_of(&by_point), ..untold }
            }
            // Nothing else was measured by which the states of the machine could be told from those of the path: each size is left to
            // its own intervals, however alike neighbours are.
            Schedule::Soak => untold,
            // Of trials that follow each other HINT keeps the best, which no moment's state may make better.
            Schedule::Hint => {
                let by_point: Vec<_> = points.iter().map(|p| rounds(plan, kind, p, &untold)).collect();
                let levels = stats::block_levels(&by_point).into_iter().collect();
                untold.levelled(&sizes, by_point, levels)
            }
            Schedule::Adaptive => {
                let used: Vec<(&Trial, f64)> =
                    points.iter().flatten().filter_map(|t| Some((*t, typical(plan, kind, t)?))).collect();
                let moment = |(t, seconds): &(&Trial, f64)| stats::Moment {
                    size: t.size,
                    round: t.block,
                    at: t.at,
                    log: seconds.ln(),
                };
                let levels = Levels::of(&used.iter().map(moment).collect::<Vec<_>>());
                let mut within: Vec<_> = used.iter().map(|(t, _)| moment_of(t)).zip(levels.within).collect();
                within.sort_by_key(|(moment, _)| *moment);
                let mut off = BTreeMap::<u64, Vec<f64>>::new();
                used.iter().for_each(|(t, seconds)| off.entry(t.size).or_default().push(seconds.ln()));
                for logs in off.values_mut() {
                    let middle = stats::median(logs);
                    logs.iter_mut().for_each(|log| *log -= middle);
                }
                let told = Self { within, off, ..untold };
                let by_point = points.iter().map(|p| rounds(plan, kind, p, &told)).collect();
                told.levelled(&sizes, by_point, levels.rounds.into_iter().collect())
            }
        }
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
        points.iter_mut().flatten().for_each(|(round, t)| *t /= self.level(*round).exp());
        let series: Vec<f64> = self.levels().map(|(_, level)| level).collect();
        let local = stats::local(&points, |round| self.level(round));
        self.shared = Shared { moves: Moves::of(&series), ..Shared::noise_of(&stats::freed(&points, &local)) };
        self.local = sizes.iter().zip(local).filter_map(|(size, local)| Some((*size, local?))).collect();
        self
    }

    /// (number, level) of each round that tells one, as logarithms about the run's middle, in the order of time: of all but those that
    /// visited hardly any size.
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

    /// How far the trials of the sizes near this one lay off their sizes' medians, as logarithms, whatever the machine's state.
    pub(super) fn nearby(&self, size: u64) -> Vec<f64> {
        let below = self.off.range(..size).rev().take(NEARBY);
        let above = self.off.range(size + 1..).take(NEARBY);
        below.chain(above).flat_map(|(_, logs)| logs.iter().copied()).collect()
    }

    /// How the state of a trial's moment differs from its round's, as a logarithm; 0 of a trial that is not known.
    pub fn within(&self, trial: &Trial) -> f64 {
        let moment = moment_of(trial);
        self.within.binary_search_by_key(&moment, |(m, _)| *m).map_or(0.0, |i| self.within[i].1)
    }
}

fn moment_of(trial: &Trial) -> (u64, u64) {
    (trial.at.to_bits(), trial.size)
}
