//! Five hundred seeds, and what the simulator itself promises.

use super::{Fault, FaultKind, Limits, Scenario, run, shrink};

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

/// Stacks that nobody wrote down: what the checker accepts keeps what the checker says.
#[test]
fn any_stack_that_is_well_formed_keeps_its_promises() {
    let mut failed = Vec::new();
    for seed in 0..200 {
        let limits = Limits { any_stack: true, ..Limits::default() };
        let scenario = Scenario::new(seed, &limits).unwrap();
        if let Some(broken) = run(&scenario).broken {
            failed.push(format!("seed {seed} ({}): {broken}\n  play it again: {}", scenario.spec, scenario.command()));
        }
    }
    assert!(failed.is_empty(), "{} of 200: {}", failed.len(), failed.join("\n"));
}

/// What was found so: FRAG above MBRSHIP joined what a sender that had gone left behind, and hid what was transitional.
#[test]
fn pieces_above_membership_are_joined_within_a_view() {
    let seeds = |stack: &str| broken(stack, 0..40);
    assert_eq!(seeds("FRAG:MERGE:MBRSHIP:FRAG:NAK:COM:sim"), [""; 0]);
    assert_eq!(seeds("FRAG:SAFE:STABLE:CAUSAL:MERGE:MBRSHIP:FRAG:NAK:COM:sim"), [""; 0]);
}

/// Datagrams between two of three members are lost one way for two minutes, and the third merges them in vain. It does so less and less often, and they are one again when all is healed.
#[test]
fn a_lasting_one_way_fault_does_not_make_views_flap() {
    const SECOND: u64 = 1_000_000_000;
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let limits = Limits {
            stack: Some("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim".to_owned()),
            members: Some(3),
            faults: Some(Vec::new()),
            casts: Some(0),
            calm: true,
            ..Limits::default()
        };
        let mut scenario = Scenario::new(1, &limits).unwrap();
        scenario.heal = 121 * SECOND;
        scenario.faults = vec![Fault { at: SECOND, kind: FaultKind::Deaf(from, to, 120 * SECOND) }];
        let outcome = run(&scenario);
        assert_eq!(outcome.broken, None, "{from} does not reach {to}");
        let most = outcome.journal.lives.iter().map(|l| l.views().count()).max().unwrap();
        assert!(most < 60, "{from} does not reach {to}: {most} views in two minutes");
    }
}

/// A member casts a lot, more than its credit, and leaves at once: all of it is everywhere, in every stack that may hold it back.
#[test]
fn what_was_cast_just_before_leaving_is_delivered() {
    const SECOND: u64 = 1_000_000_000;
    let mut lost = 0;
    for stack in [
        "MERGE:MBRSHIP:FRAG:NAK:COM",
        "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM",
        "MERGE:SEQ:MBRSHIP:FRAG:NAK:COM",
        "FC:MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM",
        "FC:MERGE:SEQ:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM",
    ] {
        for leaver in 0..3 {
            let stack = Some(format!("{stack}:sim"));
            let limits = Limits { stack, members: Some(3), faults: Some(Vec::new()), calm: true, ..Limits::default() };
            let mut scenario = Scenario::new(1, &limits).unwrap();
            scenario.heal = 2 * SECOND;
            scenario.casts = (0..200).map(|_| (SECOND, leaver, 500, None)).collect();
            scenario.faults = vec![Fault { at: SECOND, kind: FaultKind::Leave(leaver) }];
            let outcome = run(&scenario);
            assert_eq!(outcome.broken, None, "{}", scenario.spec);
            let lives = &outcome.journal.lives;
            assert!(lives[leaver].left && lives[leaver].undelivered == 0, "{}", scenario.spec);
            let given: Vec<_> = lives.iter().map(|l| l.deliveries().count()).collect();
            assert_eq!(given, [200; 3], "{}", scenario.spec);
            // Without time for it the rest is lost, and said to be.
            scenario.config.drain = std::time::Duration::ZERO;
            let outcome = run(&scenario);
            assert_eq!(outcome.broken, None, "{}", scenario.spec);
            lost += outcome.journal.lives[leaver].undelivered;
        }
    }
    assert!(lost > 100, "{lost} casts");
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

/// What breaks a promise on these seeds over a stack.
fn broken(stack: &str, seeds: std::ops::Range<u64>) -> Vec<String> {
    let limits = Limits { stack: Some(stack.to_owned()), ..Limits::default() };
    let one =
        |seed| run(&Scenario::new(seed, &limits).unwrap()).broken.map(|why| format!("{stack}, seed {seed}: {why}"));
    seeds.filter_map(one).collect()
}

#[test]
fn casts_by_multicast_keep_the_promises_and_take_fewer_datagrams() {
    for stack in ["NAK:COM", "MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM", "FC:MERGE:SEQ:MBRSHIP:FRAG:NAK:CHKSUM:COM"] {
        assert_eq!(broken(&format!("{stack}:multicast"), 0..30), [""; 0]);
        let play = |carrier: &str| {
            let stack = Some(format!("{stack}:{carrier}"));
            let limits = Limits { stack, members: Some(8), faults: Some(Vec::new()), ..Limits::default() };
            run(&Scenario::new(1, &limits).unwrap())
        };
        let (one, all) = (play("sim"), play("multicast"));
        assert!(all.delivered > 50, "{stack}: {} messages", all.delivered);
        assert!(all.datagrams < one.datagrams, "{stack}: {} and {}", all.datagrams, one.datagrams);
    }
}

/// Views that a partition parted stay so where nothing looks for them: a stack without MERGE does not promise more.
#[test]
fn one_view_in_the_end_is_demanded_of_stacks_with_merge_only() {
    assert_eq!(broken("TOTAL:MBRSHIP:FRAG:NAK:COM:sim", 0..60), [""; 0]);
    let limits = Limits { stack: Some("MBRSHIP:FRAG:NAK:COM:sim".to_owned()), ..Limits::default() };
    let views = |seed| {
        let outcome = run(&Scenario::new(seed, &limits).unwrap());
        let last = outcome.journal.lives.iter().filter(|l| !l.crashed && !l.left).filter_map(|l| l.views().last());
        last.map(|v| v.id).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!((0..60).any(|seed| views(seed) > 1), "no seed leaves parted views");
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
            assert_eq!((off.datagrams, off.settled), (with.datagrams, with.settled), "{on}, seed {seed}");
            assert_eq!(off.foretold, 0);
            foretold += with.foretold;
        }
        // A packing FC between FAST and the rest foretells nothing.
        assert_eq!(foretold > 1_000, !on.starts_with("FAST:FC"), "{on}: {foretold} casts on the short way");
    }
}
