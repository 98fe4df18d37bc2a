//! A run prepared for a comparison: its median and error at each size, and the spread of its rounds.

use std::collections::{BTreeMap, BTreeSet};

use stats::{Shared, StandardError, own_error, round_levels};

use super::align::Sizes;
use crate::CurvePoint;
use crate::smooth::headline_size;

/// Sizes on either side of one from whose rounds it is told whether they alternate between two states ([`Shared::hollow`]).
const NEAR: usize = 4;

/// A prepared run: for each size the logarithm of its median and the error of that, and the spread of its rounds' levels.
pub(super) struct Ready {
    pub sizes: Sizes,
    /// Its noise is that about the levels of the rounds: the levels are judged by themselves, and must not count twice.
    pub shared: Shared,
    /// Rounds of the run.
    pub rounds: u32,
    /// Logarithm of the highest throughput, at the size where the summary has it, the error of the median it comes from, and its size.
    pub top: Option<((f64, StandardError), u64)>,
    near: BTreeMap<u64, Near>,
}

/// What a size shows beside its median.
#[derive(Clone, Copy)]
struct Near {
    /// Standard deviation of what its neighbours share with it in a round, beyond the level of all.
    shared: f64,
    /// Rounds that visited it.
    rounds: u32,
}

impl Ready {
    pub fn of(points: &[CurvePoint]) -> Self {
        let headline = headline_size(points);
        let mut points: Vec<&CurvePoint> = points.iter().filter(|p| p.seconds > 0.0 && p.seconds.is_finite()).collect();
        points.sort_by_key(|p| p.size);
        let good = |p: &&CurvePoint| -> Vec<(u32, f64)> {
            p.rounds.iter().copied().filter(|(_, t)| *t > 0.0 && t.is_finite()).collect()
        };
        let rounds: Vec<Vec<(u32, f64)>> = points.iter().map(good).collect();
        let levels: BTreeMap<u32, f64> = round_levels(&rounds).into_iter().collect();
        let level = |round: &u32| levels.get(round).copied().unwrap_or(0.0);
        let at_level: Vec<Vec<(u32, f64)>> =
            rounds.iter().map(|r| r.iter().map(|(k, t)| (*k, t / level(k).exp())).collect()).collect();
        // States of the whole curve, and those that neighbours share, are judged by themselves: they are none of a size's own.
        let own = Shared::noise_of(&stats::freed(&at_level, &stats::local(&at_level, |round| level(&round))));
        let sigma = Shared::noise_of(&at_level).sigma;
        let shared = Shared { sigma, lasting: own.lasting, ..Shared::of(&rounds) };
        let error = |i: usize| {
            let about = &at_level[i.saturating_sub(NEAR)..(i + NEAR + 1).min(at_level.len())];
            let times: Vec<f64> = at_level[i].iter().map(|(_, t)| *t).collect();
            let unknown = StandardError { value: f64::INFINITY, degrees: 1.0 };
            own_error(&times, &Shared { hollow: Shared::noise_of(about).hollow, ..shared }).unwrap_or(unknown)
        };
        let errors: Vec<StandardError> = (0..points.len()).map(error).collect();
        let logs: Vec<Vec<(u32, f64)>> =
            at_level.iter().map(|r| r.iter().map(|(k, t)| (*k, t.ln())).collect()).collect();
        let sizes = points.iter().zip(&errors).map(|(p, e)| (p.size, (p.seconds.ln(), *e))).collect();
        let near = (points.iter().zip(stats::shared_nearby(&logs)).zip(&rounds))
            .map(|((p, shared), r)| (p.size, Near { shared, rounds: r.len() as u32 }))
            .collect();
        let top = points.iter().zip(&errors).find(|(p, _)| Some(p.size) == headline);
        let seen: BTreeSet<u32> = rounds.iter().flatten().map(|(k, _)| *k).collect();
        Self {
            sizes,
            shared,
            rounds: seen.len() as u32,
            top: top.map(|(p, e)| ((p.throughput.ln(), *e), p.size)),
            near,
        }
    }

    /// What the sizes about this one share in a round, beyond the level of all: a standard deviation.
    pub fn shared_at(&self, size: u64) -> f64 {
        self.about(size).map(|near| near.shared).fold(0.0, f64::max)
    }

    /// Rounds that visited this size; of a size between two that were measured, the fewest of both.
    pub fn rounds_at(&self, size: u64) -> u32 {
        self.about(size).map(|near| near.rounds).min().unwrap_or(0)
    }

    fn about(&self, size: u64) -> impl Iterator<Item = Near> {
        let below = self.near.range(..=size).next_back();
        let above = self.near.range(size..).next();
        below.into_iter().chain(above).map(|(_, near)| *near)
    }
}
