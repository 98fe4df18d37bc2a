//! Broken layers, each of which some seed must catch: else the oracles, or the faults, are too weak to tell.

use super::{Fault, FaultKind, Limits, Scenario, run};
use crate::mutant::Mutant;

/// Seeds that are tried for each mistake.
const SEEDS: u64 = 2000;

fn caught(mutant: Mutant, stack: &str) -> Option<(u64, String)> {
    use Mutant::{GoneAsLeft, JoinerForgets, MinorityRules, SnapshotLate, TokenStays};
    let state = matches!(mutant, SnapshotLate | JoinerForgets | TokenStays | MinorityRules | GoneAsLeft);
    let limits = Limits { stack: Some(stack.to_owned()), state, ..Limits::default() };
    (0..SEEDS).find_map(|seed| {
        let mut scenario = Scenario::new(seed, &limits).unwrap();
        if mutant == Mutant::TokenEarly {
            // A token that runs ahead of casts does harm only where those are then lost with all who had them.
            scenario.loss = 0.3;
            let at = scenario.heal / 2;
            scenario.faults = (1..scenario.members).map(|node| Fault { at, kind: FaultKind::Crash(node) }).collect();
        }
        scenario.config.mutant = Some(mutant);
        run(&scenario).broken.map(|why| (seed, why))
    })
}

#[test]
fn every_mistake_is_caught() {
    use Mutant::*;
    let plain = "MERGE:MBRSHIP:FRAG:NAK:COM:sim";
    let total = "MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim";
    let safe = "MERGE:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim";
    let mistakes = [
        (NakDuplicates, plain),
        (NakSkipsGap, plain),
        (NakForgetsEarly, plain),
        (NakThaws, plain),
        (NakNoTail, plain),
        (FragCutsShort, plain),
        (CutAtLeast, plain),
        (InstallWithoutCut, plain),
        (LeaderForgotten, plain),
        (DeafToProblems, plain),
        (TokenEarly, total),
        (TotalByArrival, total),
        (LeftoversByArrival, "MERGE:SEQ:MBRSHIP:FRAG:NAK:COM:sim"),
        (CausalFifoOnly, "MERGE:CAUSAL:MBRSHIP:FRAG:NAK:COM:sim"),
        (SafeByOne, safe),
        (StableEager, safe),
        (FastSkipsNumber, "MERGE:FAST:MBRSHIP:FRAG:NAK:COM:sim"),
        (FastSkipsOrder, "MERGE:FAST:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        (FastKeeps, "MERGE:FAST:MBRSHIP:FRAG:NAK:COM:sim"),
        (FastForgets, "MERGE:FAST:MBRSHIP:FRAG:NAK:COM:sim"),
        (PackDropsLast, "FC:MERGE:MBRSHIP:FRAG:NAK:COM:sim"),
        (SnapshotLate, total),
        (JoinerForgets, total),
        (TokenStays, total),
        (MinorityRules, "MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim"),
        (GoneAsLeft, "MERGE:SEQ:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim"),
        (LeavesUndrained, "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        (AbsentForgotten, plain),
    ];
    let mut missed = Vec::new();
    for (mutant, stack) in mistakes {
        match caught(mutant, stack) {
            Some((seed, why)) => println!("{mutant:?}: seed {seed}: {why}"),
            None => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "no seed below {SEEDS} catches {missed:?}");
}
