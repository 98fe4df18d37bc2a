//! Fewer faults and casts that still break a promise.

use super::{Limits, Scenario, run};

/// The limits under which a failing seed still fails, with as little as a greedy search finds; at most `tries` runs.
pub fn shrink(seed: u64, limits: &Limits, tries: usize) -> Limits {
    let mut best = limits.clone();
    let mut left = tries;
    let mut fails = |limits: &Limits| {
        left = left.saturating_sub(1);
        left > 0 && Scenario::new(seed, limits).is_ok_and(|s| run(&s).broken.is_some())
    };
    let Ok(whole) = Scenario::new(seed, limits) else { return best };
    let calm = Limits { calm: true, ..best.clone() };
    if fails(&calm) {
        best = calm;
    }
    let mut kept: Vec<usize> = limits.faults.clone().unwrap_or_else(|| (0..whole.faults.len()).collect());
    let mut at = 0;
    while at < kept.len() {
        let mut fewer = kept.clone();
        fewer.remove(at);
        let limits = Limits { faults: Some(fewer.clone()), ..best.clone() };
        if fails(&limits) {
            (kept, best) = (fewer, limits);
        } else {
            at += 1;
        }
    }
    let (mut low, mut high) = (0, whole.casts.len());
    while low < high {
        let middle = (low + high) / 2;
        let limits = Limits { casts: Some(middle), ..best.clone() };
        if fails(&limits) {
            (high, best) = (middle, limits);
        } else {
            low = middle + 1;
        }
    }
    best
}
