//! Which cell to take, and which others may be as good.

use schemars::JsonSchema;
use serde::Serialize;

use super::design::{Readings, over_rounds};
use crate::Estimate;

/// Which figures are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Of times.
    Lower,
    /// Of rates.
    Higher,
}

/// The cell to take.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// The cell whose median is best.
    pub best: usize,
    /// Its figure over the rounds.
    pub value: Estimate,
    /// Cells that are worse beyond doubt, better ones first.
    pub worse: Vec<usize>,
    /// Cells that were not told from the best, better ones first.
    pub alike: Vec<usize>,
    /// Of the best and those alike, the one that changes fewest axes from their first level.
    pub advised: usize,
    /// By what the best multiplies the figure of the first level of all axes, with its interval among all cells compared; none where that
    /// is the best, or was not measured in the same rounds.
    pub over_first: Option<Estimate>,
}

impl Readings {
    /// The best cell, with the cells that it was not told from. Each of the others is compared with it within rounds, all with 95%
    /// confidence at once (Bonferroni; multiple comparisons with the best, Hsu 1981, Annals of Statistics 9:1026-1034). None where no cell
    /// has a reading.
    pub fn choice(&self, better: Better) -> Option<Choice> {
        let mut cells: Vec<(usize, f64)> =
            self.read().into_iter().filter_map(|c| Some((c, self.cell(c)?.value))).collect();
        cells.sort_by(|a, b| match better {
            Better::Lower => a.1.total_cmp(&b.1),
            Better::Higher => b.1.total_cmp(&a.1),
        });
        let best = cells.first()?.0;
        let others: Vec<usize> = cells.iter().skip(1).map(|c| c.0).collect();
        let confidence = 1.0 - 0.05 / others.len().max(1) as f64;
        let (mut worse, mut alike) = (Vec::new(), Vec::new());
        for other in &others {
            let told = self.ratio(best, *other, confidence).is_some_and(|ratio| match better {
                Better::Lower => ratio.high < 1.0,
                Better::Higher => ratio.low > 1.0,
            });
            if told { worse.push(*other) } else { alike.push(*other) }
        }
        let advised = std::iter::once(best).chain(alike.iter().copied()).min_by_key(|cell| self.design.changed(*cell));
        Some(Choice {
            best,
            value: self.cell(best)?,
            worse,
            alike,
            advised: advised.unwrap_or(best),
            over_first: if best == 0 { None } else { self.ratio(best, 0, confidence) },
        })
    }

    /// One cell's figure over another's, in the rounds that have both.
    fn ratio(&self, one: usize, other: usize, confidence: f64) -> Option<Estimate> {
        let ratio = |round| Some(self.at(one, round)? / self.at(other, round)?);
        let ratios: Vec<f64> = (0..self.rounds()).filter_map(ratio).collect();
        (!ratios.is_empty()).then(|| over_rounds(&ratios, confidence))
    }
}
