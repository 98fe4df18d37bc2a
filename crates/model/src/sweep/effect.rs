//! The effect of a level, and how it depends on another axis.

use schemars::JsonSchema;
use serde::Serialize;

use super::design::{Readings, over_rounds};
use crate::Estimate;

/// What is nearer to 1 is shown as 1.000. A figure without noise tells two levels apart that differ by less than that.
const LEAST: f64 = 0.0005;

/// By what a level multiplies the figure of its axis's first level, the other axes being equal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Effect {
    /// Axis.
    pub axis: usize,
    /// Level, from 1.
    pub level: usize,
    /// The ratio, with its 95% interval.
    pub ratio: Estimate,
    /// Pairs of cells that tell it in each round.
    pub pairs: usize,
}

/// By what the effect of a level is multiplied where a second axis has another level than its first: 1 where both act alone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Interaction {
    /// Both axes.
    pub axes: [usize; 2],
    /// Their levels, from 1.
    pub levels: [usize; 2],
    /// The ratio of ratios, with its 95% interval.
    pub ratio: Estimate,
    /// Squares of four cells that tell it in each round.
    pub squares: usize,
    /// It is not 1, with 95% confidence for all interactions of the sweep at once (Bonferroni), and by as much as is shown of it.
    pub told: bool,
}

impl Readings {
    /// The effect of each level but the first of each axis, where cells for it were measured.
    pub fn effects(&self) -> Vec<Effect> {
        let of = |axis: usize| (1..self.design.levels(axis)).map(move |level| (axis, level));
        (0..self.design.axes()).flat_map(of).filter_map(|(axis, level)| self.effect(axis, level)).collect()
    }

    fn effect(&self, axis: usize, level: usize) -> Option<Effect> {
        let firsts = self.cells().filter(|cell| self.design.level(*cell, axis) == 0);
        let pairs: Vec<Vec<(usize, f64)>> =
            firsts.map(|cell| vec![(self.design.with(cell, axis, level), 1.0), (cell, -1.0)]).collect();
        let (rounds, pairs) = self.contrast(&pairs)?;
        Some(Effect { axis, level, ratio: over_rounds(&rounds, stats::CONFIDENCE), pairs })
    }

    /// How each two levels of two axes depend on each other, where cells for it were measured.
    pub fn interactions(&self) -> Vec<Interaction> {
        let axes = self.design.axes();
        let levels = |axis: usize| 1..self.design.levels(axis);
        let mut pairs = Vec::new();
        for a in 0..axes {
            for b in a + 1..axes {
                pairs.extend(levels(a).flat_map(|one| levels(b).map(move |other| ([a, b], [one, other]))));
            }
        }
        pairs.iter().filter_map(|(axes, levels)| self.interaction(*axes, *levels, pairs.len())).collect()
    }

    fn interaction(&self, axes: [usize; 2], levels: [usize; 2], among: usize) -> Option<Interaction> {
        let design = &self.design;
        let firsts = self.cells().filter(|cell| axes.iter().all(|axis| design.level(*cell, *axis) == 0));
        let squares: Vec<Vec<(usize, f64)>> = firsts
            .map(|cell| {
                let a = design.with(cell, axes[0], levels[0]);
                let b = design.with(cell, axes[1], levels[1]);
                vec![(design.with(a, axes[1], levels[1]), 1.0), (cell, 1.0), (a, -1.0), (b, -1.0)]
            })
            .collect();
        let (rounds, squares) = self.contrast(&squares)?;
        let sure = over_rounds(&rounds, 1.0 - 0.05 / among as f64);
        let ratio = over_rounds(&rounds, stats::CONFIDENCE);
        let told = (sure.low > 1.0 || sure.high < 1.0) && ratio.value.ln().abs() >= LEAST;
        Some(Interaction { axes, levels, ratio, squares, told })
    }

    fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        0..self.design.cells().unwrap_or(0)
    }

    /// The mean over groups of cells of a sum of logarithms, as a ratio: one a round, and the number of groups. Groups that no round has
    /// whole are left out; so is a round that lacks a group that others have, since its mean would be one of other cells.
    fn contrast(&self, groups: &[Vec<(usize, f64)>]) -> Option<(Vec<f64>, usize)> {
        let whole = |group: &[(usize, f64)], round: usize| -> Option<f64> {
            group.iter().map(|(cell, sign)| Some(sign * self.at(*cell, round)?.ln())).sum()
        };
        let rounds = 0..self.rounds();
        let told: Vec<_> = groups.iter().filter(|g| rounds.clone().any(|round| whole(g, round).is_some())).collect();
        if told.is_empty() {
            return None;
        }
        let mean = |round: usize| -> Option<f64> {
            let sum: f64 = told.iter().map(|group| whole(group, round)).sum::<Option<f64>>()?;
            Some((sum / told.len() as f64).exp())
        };
        let ratios: Vec<f64> = rounds.clone().filter_map(mean).collect();
        (!ratios.is_empty()).then_some((ratios, told.len()))
    }
}
