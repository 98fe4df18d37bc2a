//! A curve made fit for computing: sorted, without unusable values, its blocks numbered from 0.

use rand_chacha::ChaCha8Rng;

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
    /// For each point, its blocks by ascending time: a median of drawn blocks is then found by counting, and resampling, of
    /// which all intervals are made, sorts nothing.
    sorted: Vec<Vec<(usize, f64)>>,
    /// The same without what its blocks have in common with those of all sizes, and for each block its place in that order.
    alone: Vec<(Vec<f64>, Vec<usize>)>,
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
        let alone = by_point.iter().map(|p| ranked(p.iter().map(|(b, t)| t / level(*b).exp()).collect())).collect();
        let sorted = points.iter().map(|p| {
            let mut blocks = p.blocks.clone();
            blocks.sort_by(|a, b| a.1.total_cmp(&b.1));
            blocks
        });
        let sorted = sorted.collect();
        Self { points, sorted, alone, blocks: numbers.len() }
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
        for (point, sorted) in self.points.iter().zip(&self.sorted) {
            let middle = median(sorted.iter().map(|(block, seconds)| (*seconds, drawn.counts[*block]))).or_else(|| {
                stats::draw(rng, sorted.len(), &mut drawn.indices);
                let mut times: Vec<f64> = drawn.indices.iter().map(|i| point.blocks[*i].1).collect();
                times.sort_by(f64::total_cmp);
                median(times.iter().map(|t| (*t, 1)))
            });
            medians.push(middle.unwrap_or(point.seconds));
        }
    }
}

impl Curve {
    /// As [`Curve::resample`], but every point draws among its own blocks, without what those have in common with other
    /// sizes: the spread that each size has by itself.
    pub fn resample_apart(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn, medians: &mut Vec<f64>) {
        medians.clear();
        for (point, (sorted, places)) in self.points.iter().zip(&self.alone) {
            stats::draw(rng, sorted.len(), &mut drawn.indices);
            drawn.indices.iter_mut().for_each(|i| *i = places[*i]);
            count(&drawn.indices, sorted.len(), &mut drawn.own);
            let middle = median(sorted.iter().copied().zip(drawn.own.iter().copied()));
            medians.push(middle.unwrap_or(point.seconds));
        }
    }
}

/// Buffers of a resample, and which blocks it drew.
#[derive(Default)]
pub(crate) struct Drawn {
    indices: Vec<usize>,
    /// How often each block was drawn.
    pub counts: Vec<usize>,
    /// The same of a point that draws among its own blocks.
    own: Vec<usize>,
}

/// How often each of `n` things was drawn.
fn count(drawn: &[usize], n: usize, counts: &mut Vec<usize>) {
    counts.clear();
    counts.resize(n, 0);
    drawn.iter().for_each(|i| counts[*i] += 1);
}

/// The values ascending, and the place that each had moved to.
fn ranked(values: Vec<f64>) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut places = vec![0; values.len()];
    order.iter().enumerate().for_each(|(place, i)| places[*i] = place);
    (order.iter().map(|i| values[*i]).collect(), places)
}

/// Median of ascending values, each counted so often: what [`stats::median`] says of them all. None if none counts.
fn median(ascending: impl Iterator<Item = (f64, usize)> + Clone) -> Option<f64> {
    let n: usize = ascending.clone().map(|v| v.1).sum();
    let (below, above) = (n.checked_sub(1)? / 2, n / 2);
    let (mut seen, mut lower) = (0, None);
    for (value, times) in ascending {
        seen += times;
        if seen > below && lower.is_none() {
            lower = Some(value);
        }
        if seen > above {
            return Some(if below == above { value } else { lower.unwrap_or(value) / 2.0 + value / 2.0 });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn point(size: u64, blocks: &[(u32, f64)]) -> CurvePoint {
        CurvePoint { size, seconds: 2.0, blocks: blocks.to_vec(), throughput: 8.0 * size as f64 / 2.0 }
    }

    #[test]
    fn a_counted_median_is_the_median_of_all() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut drawn = Vec::new();
        for n in 1..30 {
            stats::draw(&mut rng, n, &mut drawn);
            let values: Vec<f64> = drawn.iter().map(|i| 1.5f64.powi(*i as i32)).collect();
            let (sorted, places) = ranked(values.clone());
            assert!(values.iter().zip(&places).all(|(v, p)| sorted[*p] == *v));
            stats::draw(&mut rng, n, &mut drawn);
            let all: Vec<f64> = drawn.iter().map(|i| sorted[*i]).collect();
            let mut counts = Vec::new();
            count(&drawn, n, &mut counts);
            assert_eq!(median(sorted.iter().copied().zip(counts.iter().copied())), Some(stats::median(&all)));
        }
        assert_eq!(median(std::iter::empty()), None);
        assert_eq!(median([(1.0, 0), (2.0, 0)].into_iter()), None);
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
