//! Fewer faults and casts that still break a promise.

use super::{Limits, Scenario, run};

/// The limits under which a failing seed still fails, with as little as a greedy search finds; at most `tries` runs.
pub fn shrink(seed: u64, limits: &Limits, tries: usize) -> Limits {
    shrink_by(seed, limits, tries, |scenario| run(scenario).broken.is_some())
}

/// The same, where `fails` says what a failure is.
fn shrink_by(seed: u64, limits: &Limits, tries: usize, fails: impl Fn(&Scenario) -> bool) -> Limits {
    let mut best = limits.clone();
    let mut left = tries;
    let mut fails = |limits: &Limits| {
        left = left.saturating_sub(1);
        left > 0 && Scenario::new(seed, limits).is_ok_and(|s| fails(&s))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Mutant;

    fn broken(mutant: Mutant, seed: u64, limits: &Limits) -> Option<String> {
        let mut scenario = Scenario::new(seed, limits).unwrap();
        scenario.config.mutant = Some(mutant);
        run(&scenario).broken
    }

    /// Members with a mistake: what is left of a script still fails, is less, and is the whole of what must be told to play the failure again.
    #[test]
    fn what_is_left_of_a_failing_script_fails_alike_each_time_and_is_less() {
        for (mutant, stack) in [
            (Mutant::NakSkipsGap, "MERGE:MBRSHIP:FRAG:NAK:COM:sim"),
            (Mutant::DeafToProblems, "MERGE:MBRSHIP:FRAG:NAK:COM:sim"),
            (Mutant::TotalByArrival, "MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        ] {
            let whole = Limits { stack: Some(stack.to_owned()), ..Limits::default() };
            let failing = (0..2000).filter(|&seed| {
                Scenario::new(seed, &whole).unwrap().faults.len() > 2 && broken(mutant, seed, &whole).is_some()
            });
            let (mut before, mut after) = ([0; 2], [0; 2]);
            for seed in failing.take(3) {
                let fails = |scenario: &Scenario| {
                    let mut scenario = scenario.clone();
                    scenario.config.mutant = Some(mutant);
                    run(&scenario).broken.is_some()
                };
                let less = shrink_by(seed, &whole, 60, fails);
                let why = broken(mutant, seed, &less);
                assert!(why.is_some(), "{mutant:?}: seed {seed} with {less:?}");
                assert_eq!(broken(mutant, seed, &less), why, "{mutant:?}: it plays alike each time");
                assert!(run(&Scenario::new(seed, &less).unwrap()).broken.is_none(), "the mistake's failure, no other");
                for (sum, limits) in [(&mut before, &whole), (&mut after, &less)] {
                    let scenario = Scenario::new(seed, limits).unwrap();
                    sum[0] += scenario.faults.len();
                    sum[1] += scenario.casts.len();
                }
            }
            println!("{mutant:?}: faults and casts {before:?}, and {after:?} are left");
            assert!(
                before[0] > 0 && after[0] * 2 < before[0] && after[1] < before[1],
                "{mutant:?}: {before:?}, {after:?}"
            );
        }
    }

    #[test]
    fn what_does_not_fail_is_left_as_it_is() {
        let limits = Limits { casts: Some(5), ..Limits::default() };
        assert_eq!(shrink(1, &limits, 60), limits);
    }
}
