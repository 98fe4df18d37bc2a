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
