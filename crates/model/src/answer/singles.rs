//! Percentiles of single transfers, with what the blocks say of them.

use super::Unanswered;
use crate::Estimate;
use crate::resampled::CONFIDENCE;

/// The time that a share `q` of all single transfers stays within, from (seconds, count) of each block. Its interval is that of
/// the blocks' own percentiles, because what is common to a connection is common to all that it carried; where a block has too
/// few transfers to have such a percentile, nothing bounds it.
pub fn quantile(blocks: &[Vec<(f64, u64)>], q: f64) -> Result<Estimate, Unanswered> {
    let count = |pairs: &[(f64, u64)]| pairs.iter().map(|p| p.1).sum::<u64>();
    let all: Vec<(f64, u64)> = blocks.iter().flatten().copied().collect();
    let total = count(&all);
    if total == 0 {
        return Err(Unanswered::TooLittle("single transfers were not timed"));
    }
    // As many as one must lie beyond, or the longest stands for a percentile that it is not.
    let beyond = 1.0 - q;
    if beyond > 0.0 && (total as f64) * beyond < 1.0 {
        return Err(Unanswered::TooLittle("too few single transfers were timed for this percentile"));
    }
    let value = at(&all, q, total);
    let each: Vec<f64> =
        blocks.iter().filter(|b| beyond > 0.0 && count(b) as f64 * beyond >= 1.0).map(|b| at(b, q, count(b))).collect();
    if each.len() < 2 || each.len() < blocks.iter().filter(|b| !b.is_empty()).count() {
        // The longest seen is at least that of the path.
        return Ok(if beyond > 0.0 { Estimate::unbounded(value) } else { Estimate::new(value, value, f64::INFINITY) });
    }
    let interval = stats::rounds_interval(&each, CONFIDENCE).unwrap_or(stats::Interval::UNBOUNDED);
    Ok(Estimate::new(value, interval.low.min(value), interval.high.max(value)))
}

/// The smallest time with at least a share `q` at or below it.
fn at(pairs: &[(f64, u64)], q: f64, total: u64) -> f64 {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = (q * total as f64).ceil();
    let mut seen = 0;
    for (seconds, n) in &sorted {
        seen += n;
        if seen as f64 >= wanted {
            return *seconds;
        }
    }
    sorted.last().map_or(0.0, |p| p.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_all_blocks_with_the_spread_between_them() {
        let block = |scale: f64| (1..=1000).map(|i| (f64::from(i) * scale, 1)).collect::<Vec<_>>();
        let blocks: Vec<_> = [0.9, 1.0, 1.1, 1.0, 0.95, 1.05].into_iter().map(block).collect();
        let found = quantile(&blocks, 0.99).unwrap();
        assert!(
            (980.0..1060.0).contains(&found.value) && found.low < found.value && found.high > found.value,
            "{found:?}"
        );
        assert!(found.low >= 850.0 && found.high <= 1150.0, "{found:?}");
    }

    #[test]
    fn fewer_than_four_rounds_bound_nothing() {
        let block = |scale: f64| (1..=1000).map(|i| (f64::from(i) * scale, 1)).collect::<Vec<_>>();
        for rounds in 1..4 {
            let found = quantile(&vec![block(1.0); rounds], 0.9).unwrap();
            assert_eq!((found.value, found.high), (900.0, f64::INFINITY), "{rounds}");
        }
    }

    #[test]
    fn what_too_few_say_is_not_claimed() {
        let few = vec![vec![(1.0, 5)], vec![(2.0, 5)]];
        assert!(quantile(&few, 0.99).is_err() && quantile(&[], 0.5).is_err());
        assert_eq!(quantile(&few, 1.0).unwrap(), Estimate::new(2.0, 2.0, f64::INFINITY));
        assert_eq!(quantile(&[vec![(1.0, 500)], vec![]], 0.5).unwrap().high, f64::INFINITY);
    }
}
