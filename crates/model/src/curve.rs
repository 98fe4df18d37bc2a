//! A curve made fit for computing: sorted, without unusable values, its blocks numbered from 0.

use rand_chacha::ChaCha8Rng;
use stats::median;

use crate::CurvePoint;

/// One size.
pub(crate) struct Point {
    pub size: u64,
    /// Median of all blocks, seconds.
    pub seconds: f64,
    /// (index of the block, seconds).
    pub blocks: Vec<(usize, f64)>,
    /// Bits that one transfer stands for: throughput times seconds.
    pub bits: f64,
}

impl Point {
    /// Throughput at a time other than the median, bits a second.
    pub fn throughput(&self, seconds: f64) -> f64 {
        self.bits / seconds
    }

    /// The times of all blocks.
    pub fn times(&self) -> Vec<f64> {
        self.blocks.iter().map(|b| b.1).collect()
    }
}

/// The whole curve, ascending in size.
pub(crate) struct Curve {
    pub points: Vec<Point>,
    /// For each point, its blocks without what its blocks have in common with those of all sizes.
    alone: Vec<Vec<f64>>,
    /// How many different blocks there are.
    pub blocks: usize,
}

impl Curve {
    /// Takes the points that have a time and a throughput; times of 0 or less, infinite or NaN are left out.
    pub fn of(points: &[CurvePoint]) -> Self {
        let usable = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        let mut numbers: Vec<u32> = points.iter().flat_map(|p| p.blocks.iter().map(|b| b.0)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut points: Vec<Point> = points
            .iter()
            .filter(|p| usable(p.seconds) && p.throughput.is_finite() && p.throughput >= 0.0)
            .map(|p| Point {
                size: p.size,
                seconds: p.seconds,
                blocks: (p.blocks.iter().filter(|b| usable(b.1)))
                    .map(|b| (numbers.binary_search(&b.0).unwrap_or_default(), b.1))
                    .collect(),
                bits: p.throughput * p.seconds,
            })
            .collect();
        points.sort_by_key(|p| p.size);
        let by_point: Vec<Vec<(u32, f64)>> =
            points.iter().map(|p| p.blocks.iter().map(|(b, t)| (*b as u32, *t)).collect()).collect();
        let levels: std::collections::BTreeMap<u32, f64> = stats::block_levels(&by_point).into_iter().collect();
        let level = |block: u32| levels.get(&block).copied().unwrap_or(0.0);
        let alone = by_point.iter().map(|p| p.iter().map(|(b, t)| t / level(*b).exp()).collect()).collect();
        Self { points, alone, blocks: numbers.len() }
    }

    /// The blocks of a point without what they have in common with those of all sizes, seconds.
    pub fn alone(&self, point: usize) -> &[f64] {
        &self.alone[point]
    }

    /// Draws blocks whole, with replacement, and tells every point's median over the drawn ones. Blocks and not trials
    /// are drawn, because what differs between connections is common to all sizes measured on one. A point that none
    /// of the drawn blocks visited is resampled among its own.
    pub fn resample(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn, medians: &mut Vec<f64>) {
        stats::draw(rng, self.blocks, &mut drawn.indices);
        drawn.counts.clear();
        drawn.counts.resize(self.blocks, 0);
        drawn.indices.iter().for_each(|i| drawn.counts[*i] += 1);
        medians.clear();
        for point in &self.points {
            drawn.times.clear();
            for (block, seconds) in &point.blocks {
                drawn.times.extend(std::iter::repeat_n(*seconds, drawn.counts[*block]));
            }
            if drawn.times.is_empty() {
                stats::draw(rng, point.blocks.len(), &mut drawn.indices);
                drawn.times.extend(drawn.indices.iter().map(|i| point.blocks[*i].1));
            }
            medians.push(if drawn.times.is_empty() { point.seconds } else { median(&drawn.times) });
        }
    }
}

impl Curve {
    /// As [`Curve::resample`], but every point draws among its own blocks, without what those have in common with other
    /// sizes: the spread that each size has by itself.
    pub fn resample_apart(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn, medians: &mut Vec<f64>) {
        medians.clear();
        for (point, alone) in self.points.iter().zip(&self.alone) {
            stats::draw(rng, alone.len(), &mut drawn.indices);
            drawn.times.clear();
            drawn.times.extend(drawn.indices.iter().map(|i| alone[*i]));
            medians.push(if drawn.times.is_empty() { point.seconds } else { median(&drawn.times) });
        }
    }
}

/// Buffers of a resample, and which blocks it drew.
#[derive(Default)]
pub(crate) struct Drawn {
    indices: Vec<usize>,
    /// How often each block was drawn.
    pub counts: Vec<usize>,
    times: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn point(size: u64, blocks: &[(u32, f64)]) -> CurvePoint {
        CurvePoint { size, seconds: 2.0, blocks: blocks.to_vec(), throughput: 8.0 * size as f64 / 2.0 }
    }

    #[test]
    fn unusable_values_are_left_out_and_points_sorted() {
        let mut bad = point(5, &[]);
        bad.seconds = f64::NAN;
        let curve = Curve::of(&[point(7, &[(3, 1.0), (9, 0.0), (4, f64::NAN), (5, 3.0)]), bad, point(2, &[])]);
        assert_eq!(curve.points.iter().map(|p| p.size).collect::<Vec<_>>(), [2, 7]);
        assert_eq!(curve.points[1].times(), [1.0, 3.0]);
        assert_eq!(curve.points[1].throughput(1.0), 56.0);
    }

    #[test]
    fn a_block_is_drawn_at_all_sizes_together() {
        let curve = Curve::of(&[point(1, &[(0, 1.0), (1, 2.0)]), point(2, &[(0, 10.0), (1, 20.0)])]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
        let mut seen = Vec::new();
        for _ in 0..100 {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            assert_eq!(medians[1], 10.0 * medians[0]);
            seen.push(medians[0]);
        }
        assert!(seen.contains(&1.0) && seen.contains(&1.5) && seen.contains(&2.0));
    }

    #[test]
    fn points_that_no_drawn_block_visited_keep_a_median_of_their_own() {
        let curve = Curve::of(&[point(1, &[(0, 1.0)]), point(2, &[(1, 5.0)]), point(3, &[])]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut drawn, mut medians) = (Drawn::default(), Vec::new());
        for _ in 0..20 {
            curve.resample(&mut rng, &mut drawn, &mut medians);
            assert_eq!(medians, [1.0, 5.0, 2.0]);
        }
    }
}
