//! From sizes to stretches of one verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Compared;

/// Sizes in a row that must agree before a stretch of its own is made of them; fewer belong to what lies around them.
const AGREE: usize = 3;
/// Nor is a stretch narrower than this ratio of sizes: a size and its perturbed neighbours are one place of the curve.
const SPAN: f64 = 1.25;

/// A stretch of sizes with one verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// Smallest size, bytes.
    pub from: u64,
    /// Largest size, bytes.
    pub to: u64,
    /// Median ratio of times, second over first.
    pub ratio: f64,
    /// Whether the sides differ here.
    pub differs: bool,
}

/// The verdict at a size: -1 the second is faster, 1 it is slower, 0 no difference.
fn sign(c: &Compared) -> i8 {
    match c.significant {
        false => 0,
        true if c.ratio.value < 1.0 => -1,
        true => 1,
    }
}

/// Sizes in a row with one sign: the sign, the first, and the one behind the last.
type Row = (i8, usize, usize);

/// Neighbours of one sign become one row.
fn joined(rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        match all.last_mut() {
            Some(last) if last.0 == row.0 => last.2 = row.2,
            _ => all.push(row),
        }
    }
    all
}

/// A stretch that differs begins and ends with sizes that do: short rows that were merged into it at its ends become rows of their own
/// again.
fn trimmed(sizes: &[Compared], (said, start, end): Row) -> Vec<Row> {
    let says = |i: &usize| sign(&sizes[*i]) == said;
    let (Some(first), Some(last)) = ((start..end).find(says), (start..end).rev().find(says)) else {
        return vec![(said, start, end)];
    };
    if said == 0 {
        return vec![(said, start, end)];
    }
    let alone = |i: usize| (sign(&sizes[i]), i, i + 1);
    (start..first).map(alone).chain([(said, first, last + 1)]).chain((last + 1..end).map(alone)).collect()
}

/// Stretches of one verdict, ascending. `sizes` ascend.
pub(super) fn stretches(sizes: &[Compared]) -> Vec<Stretch> {
    let mut runs = joined(sizes.iter().enumerate().map(|(i, c)| (sign(c), i, i + 1)));
    // The shortest stretch is merged first, into the longer of its neighbours.
    while runs.len() > 1 {
        let short = |i: &usize| {
            let (_, start, end) = runs[*i];
            end - start < AGREE || (sizes[end - 1].size as f64) < SPAN * sizes[start].size as f64
        };
        let Some(i) = (0..runs.len()).filter(short).min_by_key(|i| runs[*i].2 - runs[*i].1) else { break };
        let length = |j: usize| runs.get(j).map_or(0, |r| r.2 - r.1);
        let left = if i == 0 { 0 } else { length(i - 1) };
        let into = if i == 0 || length(i + 1) > left { i + 1 } else { i - 1 };
        let (start, end) = (runs[i].1.min(runs[into].1), runs[i].2.max(runs[into].2));
        runs[into] = (runs[into].0, start, end);
        runs.remove(i);
        runs = joined(runs);
    }
    joined(runs.into_iter().flat_map(|row| trimmed(sizes, row)))
        .into_iter()
        .map(|(sign, start, end)| Stretch {
            from: sizes[start].size,
            to: sizes[end - 1].size,
            ratio: stats::median(&sizes[start..end].iter().map(|c| c.ratio.value).collect::<Vec<_>>()),
            differs: sign != 0,
        })
        .collect()
}

/// Between which two sizes the faster side changes: the last that clearly says the one and the first after it that clearly
/// says the opposite; what lies between says neither.
pub(super) fn crossovers(sizes: &[Compared], stretches: &[Stretch]) -> Vec<(u64, u64)> {
    let clear: Vec<&Stretch> = stretches.iter().filter(|s| s.differs).collect();
    clear
        .windows(2)
        .filter(|w| (w[0].ratio < 1.0) != (w[1].ratio < 1.0))
        .map(|w| {
            let says = |c: &&Compared, of: &Stretch| c.significant && (c.ratio.value < 1.0) == (of.ratio < 1.0);
            let from = sizes.iter().filter(|c| c.size <= w[0].to).rev().find(|c| says(c, w[0]));
            let to = sizes.iter().filter(|c| c.size >= w[1].from).find(|c| says(c, w[1]));
            (from.map_or(w[0].to, |c| c.size), to.map_or(w[1].from, |c| c.size))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    fn sizes(signs: &[i8]) -> Vec<Compared> {
        let one = |(i, s): (usize, &i8)| Compared {
            size: 1 << i,
            first: 1.0,
            second: 1.0,
            ratio: Estimate::unbounded(1.0 + 0.5 * f64::from(*s)),
            effect: 0.0,
            probability: 1.0,
            significant: *s != 0,
            by_order: false,
            first_interpolated: false,
            second_interpolated: false,
        };
        signs.iter().enumerate().map(one).collect()
    }

    #[test]
    fn lone_sizes_belong_to_what_lies_around_them() {
        let sizes = sizes(&[0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1]);
        let found = stretches(&sizes);
        assert_eq!(
            found.iter().map(|s| (s.from, s.to, s.differs)).collect::<Vec<_>>(),
            [(1, 64, false), (128, 4096, true)]
        );
        assert!(crossovers(&sizes, &found).is_empty());
    }

    #[test]
    fn a_crossover_lies_between_opposite_stretches() {
        let three = sizes(&[1, 1, 1, 0, 0, 0, -1, -1, -1]);
        assert_eq!(stretches(&three).len(), 3);
        assert_eq!(crossovers(&three, &stretches(&three)), [(4, 64)]);
        let two = sizes(&[1, 1, 1, 0, 0, -1, -1, -1]);
        assert_eq!(
            crossovers(&two, &stretches(&two)),
            [(4, 32)],
            "two sizes between them say how sure the crossing is"
        );
    }

    #[test]
    fn the_ends_of_a_stretch_that_differs_are_sizes_that_do() {
        let of = |signs: &[i8]| -> Vec<(u64, u64, bool)> {
            stretches(&sizes(signs)).iter().map(|s| (s.from, s.to, s.differs)).collect()
        };
        assert_eq!(of(&[1, 1, 0]), [(1, 2, true), (4, 4, false)], "a lone size without a difference");
        assert_eq!(of(&[0, 1, 1]), [(1, 1, false), (2, 4, true)]);
        assert_eq!(of(&[1, 1, 1, 0, 0]), [(1, 4, true), (8, 16, false)]);
        assert_eq!(of(&[1, -1]), [(1, 1, true), (2, 2, true)], "opposite sizes agree on nothing");
        assert_eq!(of(&[1, 1, 0, 1, 1]), [(1, 16, true)], "a lone size amid others belongs to them");
        assert_eq!(of(&[0, 0, 1]), [(1, 4, false)]);
    }

    #[test]
    fn few_sizes_still_have_a_verdict() {
        assert_eq!(stretches(&sizes(&[1])).len(), 1);
        assert!(stretches(&[]).is_empty());
    }
}
