//! Which sizes are measured: the paper's schedule with perturbation (`seeds/004`, section 2), and sizes between.

use crate::amounts::LOAD;
use crate::event::Plan;

/// A size of the paper's schedule and the increment in force when it was reached, which NetPIPE's repeat rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Message size, bytes.
    pub size: u64,
    /// Increment of the unperturbed size.
    pub increment: u64,
    /// The unperturbed size.
    pub around: u64,
}

/// NetPIPE's sizes from `from` while the unperturbed size is at most `to`, with perturbation `p`.
/// 1 to 10,000,000 with p = 3 gives 124 sizes, 46 with p = 0.
pub fn netpipe(from: u64, to: u64, p: u64) -> Vec<Step> {
    let from = from.max(1);
    let (mut increment, mut n) = if from > 1 { (from / 2, 1u64) } else { (1, 0) };
    let mut len = from;
    let mut steps = Vec::new();
    while len <= to && len < u64::MAX {
        if n > 2 && n % 2 == 1 {
            increment = increment.saturating_mul(2);
        }
        let around = if p > 0 && increment - 1 > p { vec![len - p, len, len.saturating_add(p)] } else { vec![len] };
        steps.extend(around.into_iter().map(|size| Step { size, increment, around: len }));
        len = len.saturating_add(increment);
        n += 1;
    }
    steps
}

/// Largest distance between neighbouring sizes, in decades: a dip of a twentieth of a decade can't hide between two.
pub const GAP: f64 = 0.045;

/// The sizes with geometric steps put where neighbours lie more than [`GAP`] apart.
pub fn filled(sizes: &[u64]) -> Vec<u64> {
    let mut all = sizes.to_vec();
    for pair in sizes.windows(2) {
        let (a, b) = (pair[0] as f64, pair[1] as f64);
        let parts = ((b / a).log10() / GAP).ceil().max(1.0);
        all.extend((1..parts as u64).map(|i| (a * (b / a).powf(i as f64 / parts)).round() as u64));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Largest message that can be asked for, bytes.
pub const MOST: u64 = 1 << 46;

/// Most sizes of a plan.
pub const MANY: usize = 100_000;

/// Iterations of a size over a run that are planned for where an open loop's schedule decides how long each takes: three in each of twelve
/// rounds, which are fewer than other runs have.
const VISITS: f64 = 36.0;

/// Trials at an offered rate that are planned for a size.
const LOADS: f64 = 6.0;

/// Seconds of the budget that a size takes if every round visits it.
const A_SIZE: f64 = 0.016;

/// The sizes that a plan starts from, ascending, none above `most` (the transport's limit, bytes). A short budget takes fewer: a size that
/// few rounds visit has no useful interval.
pub fn planned(plan: &Plan, most: u64) -> Vec<u64> {
    if !plan.pattern.facts().sized {
        return vec![1];
    }
    let to = plan.to.min(most).min(MOST);
    let mut sizes = match (&plan.sizes, plan.step) {
        (Some(sizes), _) => sizes.clone(),
        (None, Some(step)) => (plan.from..=to).step_by(step.max(1) as usize).take(MANY).collect(),
        (None, None) => {
            let loads = if plan.offered.is_some() { LOADS * LOAD } else { 0.0 };
            let a_size = plan.rate.map_or(A_SIZE, |rate| A_SIZE.max(VISITS / rate)).max(loads);
            let afford = (plan.budget / a_size) as usize;
            let all = filled(&paper(plan, to, plan.perturb));
            // A perturbation that was asked for is kept; gaps are filled where the time allows it.
            if all.len() <= afford { all } else { paper(plan, to, plan.perturb) }
        }
    };
    sizes.retain(|s| *s <= most);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The paper's sizes within the plan's range, and its end.
fn paper(plan: &Plan, to: u64, perturb: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = netpipe(plan.from, to, perturb).into_iter().map(|s| s.size).collect();
    sizes.push(to);
    sizes.retain(|s| (plan.from..=to).contains(s));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_124_sizes_of_netpipe_come_out() {
        let sizes: Vec<u64> = netpipe(1, 10_000_000, 3).into_iter().map(|s| s.size).collect();
        assert_eq!(sizes.len(), 124);
        assert_eq!(sizes[..12], [1, 2, 3, 4, 6, 8, 12, 13, 16, 19, 21, 24]);
        assert_eq!(*sizes.last().unwrap(), 8_388_611);
        assert_eq!(netpipe(1, 10_000_000, 0).len(), 46);
    }

    #[test]
    fn sizes_at_the_end_of_what_a_number_holds_come_to_an_end() {
        let last = netpipe(1, u64::MAX, u64::MAX).last().unwrap().size;
        assert!(last > u64::MAX / 4);
        assert!(netpipe(u64::MAX, u64::MAX, 3).is_empty(), "no room above: nothing to step to");
    }

    #[test]
    fn no_gap_is_wider_than_a_dip_of_a_twentieth_of_a_decade() {
        let sizes = filled(&netpipe(1, 8 << 20, 3).iter().map(|s| s.size).collect::<Vec<_>>());
        for pair in sizes.windows(2) {
            let apart = (pair[1] as f64 / pair[0] as f64).log10();
            assert!(apart < 0.05 || pair[1] == pair[0] + 1, "{pair:?} lie {apart} decades apart");
        }
    }
}
