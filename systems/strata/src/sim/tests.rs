//! Five hundred seeds, and what the simulator itself promises.

use super::{Limits, Scenario, run, shrink};

fn play(seed: u64) -> super::Outcome {
    run(&Scenario::new(seed, &Limits::default()).unwrap())
}

#[test]
fn five_hundred_seeds_keep_all_promises() {
    let mut delivered = 0;
    let mut failed = Vec::new();
    for seed in 0..500 {
        let outcome = play(seed);
        delivered += outcome.delivered;
        if let Some(broken) = outcome.broken {
            let limits = shrink(seed, &Limits::default(), 40);
            let scenario = Scenario::new(seed, &limits).unwrap();
            failed.push(format!("seed {seed} ({}): {broken}\n  play it again: {}", scenario.spec, scenario.command()));
            if failed.len() == 5 {
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // A simulator in which nothing arrives breaks no promise either.
    assert!(delivered > 50_000, "only {delivered} messages were delivered");
}

/// With state transfer: whoever joins, comes back or was cut off has the others' state in the end, and at each point before.
#[test]
fn three_hundred_seeds_hand_the_state_over() {
    let limits = Limits { state: true, ..Limits::default() };
    let (mut failed, mut received, mut told) = (Vec::new(), 0, 0);
    for seed in 0..300 {
        let scenario = Scenario::new(seed, &limits).unwrap();
        let outcome = run(&scenario);
        let lives = &outcome.journal.lives;
        received += lives.iter().skip(1).filter(|l| !l.points.is_empty()).count();
        told += lives.iter().map(|l| l.points.len()).sum::<usize>();
        if let Some(broken) = outcome.broken {
            let limits = shrink(seed, &limits, 40);
            let scenario = Scenario::new(seed, &limits).unwrap();
            failed.push(format!("seed {seed} ({}): {broken}\n  play it again: {}", scenario.spec, scenario.command()));
            if failed.len() == 5 {
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(received > 500, "only {received} members received a state");
    assert!(told > 20_000, "states were compared at only {told} points");
}

#[test]
fn a_seed_plays_the_same_each_time() {
    for seed in [3, 17] {
        let (a, b) = (play(seed), play(seed));
        assert_eq!(format!("{:?}", a.journal), format!("{:?}", b.journal));
        assert_eq!(a.datagrams, b.datagrams);
    }
}

#[test]
fn layers_of_known_types_do_what_boxed_ones_do() {
    for stack in ["MERGE:MBRSHIP:FRAG:NAK:COM:sim", "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"] {
        for seed in 0..30 {
            let limits = Limits { stack: Some(stack.to_owned()), ..Limits::default() };
            let mut scenario = Scenario::new(seed, &limits).unwrap();
            let known = run(&scenario);
            scenario.config.boxed = true;
            let boxed = run(&scenario);
            assert_eq!(format!("{:?}", known.journal), format!("{:?}", boxed.journal), "{stack}, seed {seed}");
            assert_eq!(known.datagrams, boxed.datagrams);
        }
    }
}

#[test]
fn deliveries_are_the_same_with_and_without_fast() {
    let stacks = [
        ("NAK:COM:sim", "FAST:NAK:COM:sim"),
        ("MERGE:MBRSHIP:FRAG:NAK:COM:sim", "MERGE:FAST:MBRSHIP:FRAG:NAK:COM:sim"),
        ("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim", "MERGE:FAST:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        ("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim", "FAST:FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        ("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim", "FC:MERGE:FAST:TOTAL:MBRSHIP:FRAG:NAK:COM:sim"),
        ("MERGE:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:sim", "MERGE:SAFE:STABLE:FAST:MBRSHIP:FRAG:NAK:COM:sim"),
        ("MERGE:CAUSAL:MBRSHIP:FRAG*2:NAK:COM:sim", "MERGE:CAUSAL:FAST:MBRSHIP:FRAG*2:NAK:COM:sim"),
    ];
    for (off, on) in stacks {
        let mut foretold = 0;
        for seed in 0..60 {
            let play = |stack: &str| {
                let limits = Limits { stack: Some(stack.to_owned()), ..Limits::default() };
                run(&Scenario::new(seed, &limits).unwrap())
            };
            let (off, with) = (play(off), play(on));
            assert_eq!(format!("{:?}", off.journal), format!("{:?}", with.journal), "{on}, seed {seed}");
            assert_eq!(off.datagrams, with.datagrams);
            assert_eq!(off.foretold, 0);
            foretold += with.foretold;
        }
        // A packing FC between FAST and the rest foretells nothing.
        assert_eq!(foretold > 1_000, !on.starts_with("FAST:FC"), "{on}: {foretold} casts on the short way");
    }
}
