//! Axes, cells, and the figures measured in each.

use crate::Estimate;

/// How many levels each axis has. Cells are numbered with the last axis running fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    levels: Vec<usize>,
}

impl Design {
    /// Of axes with so many levels each. An axis without a level leaves no cell.
    pub fn new(levels: Vec<usize>) -> Self {
        Self { levels }
    }

    /// Axes.
    pub fn axes(&self) -> usize {
        self.levels.len()
    }

    /// Levels of an axis; 0 beyond the axes.
    pub fn levels(&self, axis: usize) -> usize {
        self.levels.get(axis).copied().unwrap_or(0)
    }

    /// Cells; none where their number has no room in a `usize`.
    pub fn cells(&self) -> Option<usize> {
        self.levels.iter().try_fold(1usize, |all, n| all.checked_mul(*n))
    }

    /// Distance of the numbers of two cells that differ in an axis by one level.
    fn stride(&self, axis: usize) -> usize {
        self.levels.iter().skip(axis + 1).product()
    }

    /// The level of an axis in a cell.
    pub fn level(&self, cell: usize, axis: usize) -> usize {
        cell / self.stride(axis) % self.levels(axis).max(1)
    }

    /// The levels of all axes in a cell.
    pub fn cell(&self, cell: usize) -> Vec<usize> {
        (0..self.axes()).map(|axis| self.level(cell, axis)).collect()
    }

    /// The cell that differs from this one by the level of an axis.
    pub fn with(&self, cell: usize, axis: usize, level: usize) -> usize {
        let stride = self.stride(axis);
        cell - self.level(cell, axis) * stride + level * stride
    }

    /// In how many axes a cell has another level than the first.
    pub fn changed(&self, cell: usize) -> usize {
        (0..self.axes()).filter(|axis| self.level(cell, *axis) > 0).count()
    }
}

/// One figure, positive, of each cell in each round; none where it was not measured.
#[derive(Debug, Clone)]
pub struct Readings {
    pub(super) design: Design,
    /// By cell, then by round.
    values: Vec<Vec<Option<f64>>>,
}

impl Readings {
    /// Of so many rounds, all missing.
    pub fn new(design: Design, rounds: usize) -> Self {
        let cells = design.cells().unwrap_or(0);
        Self { design, values: vec![vec![None; rounds]; cells] }
    }

    /// Takes a reading; one that is not positive and finite is none, and neither is one beyond the cells and rounds.
    pub fn take(&mut self, cell: usize, round: usize, value: f64) {
        let place = self.values.get_mut(cell).and_then(|rounds| rounds.get_mut(round));
        if let Some(place) = place {
            *place = (value > 0.0 && value.is_finite()).then_some(value);
        }
    }

    /// The axes.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Rounds.
    pub fn rounds(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    pub(super) fn at(&self, cell: usize, round: usize) -> Option<f64> {
        self.values.get(cell)?.get(round).copied().flatten()
    }

    /// Cells that have a reading.
    pub fn read(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|cell| self.values[*cell].iter().any(Option::is_some)).collect()
    }

    /// Rounds that have a reading of a cell.
    pub fn count(&self, cell: usize) -> usize {
        self.values.get(cell).map_or(0, |rounds| rounds.iter().flatten().count())
    }

    /// The median of a cell over the rounds with its 95% interval; none of a cell without a reading.
    pub fn cell(&self, cell: usize) -> Option<Estimate> {
        let rounds: Vec<f64> = self.values.get(cell)?.iter().copied().flatten().collect();
        (!rounds.is_empty()).then(|| over_rounds(&rounds, stats::CONFIDENCE))
    }
}

/// The median of figures of several rounds, in their order, with its interval at `confidence`; unbounded from fewer than four.
pub(super) fn over_rounds(rounds: &[f64], confidence: f64) -> Estimate {
    let middle = stats::median(rounds);
    match stats::rounds_interval(rounds, confidence) {
        Some(found) => Estimate::new(middle, found.low, found.high),
        None => Estimate::unbounded(middle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_one_combination_and_found_again() {
        let design = Design::new(vec![2, 3, 2]);
        assert_eq!(design.cells(), Some(12));
        let all: std::collections::BTreeSet<_> = (0..12).map(|cell| design.cell(cell)).collect();
        assert_eq!(all.len(), 12);
        assert_eq!((design.cell(0), design.cell(11)), (vec![0, 0, 0], vec![1, 2, 1]));
        for cell in 0..12 {
            for axis in 0..3 {
                for level in 0..design.levels(axis) {
                    let other = design.with(cell, axis, level);
                    let mut wanted = design.cell(cell);
                    wanted[axis] = level;
                    assert_eq!(design.cell(other), wanted);
                }
            }
        }
        assert_eq!((design.changed(0), design.changed(11), design.changed(2)), (0, 3, 1));
    }

    #[test]
    fn odd_designs_have_no_cells_and_no_room_for_too_many() {
        assert_eq!(Design::new(vec![2, 0]).cells(), Some(0));
        assert_eq!(Design::new(vec![usize::MAX, 2]).cells(), None);
        assert_eq!(Design::new(Vec::new()).cells(), Some(1), "nothing varied is one cell");
        assert_eq!(Readings::new(Design::new(vec![2, 0]), 3).rounds(), 0);
    }

    #[test]
    fn a_reading_that_is_no_figure_counts_as_missing() {
        let mut read = Readings::new(Design::new(vec![2]), 2);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            read.take(0, 0, value);
        }
        read.take(7, 0, 1.0);
        read.take(1, 9, 1.0);
        assert!(read.read().is_empty() && read.cell(0).is_none() && read.cell(7).is_none());
        read.take(1, 1, 3.0);
        assert_eq!((read.read(), read.cell(1).unwrap().value), (vec![1], 3.0));
        assert_eq!(read.cell(1).unwrap().high, f64::INFINITY, "one round tells no interval");
    }
}
